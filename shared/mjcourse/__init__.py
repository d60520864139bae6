"""mjcourse: what every notebook of the course imports.

Importing this package does one thing: it chooses an OpenGL back end for MuJoCo (`MUJOCO_GL`)
when `mujoco` is not loaded yet and nothing is set.
"""

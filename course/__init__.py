"""The instructor's side of mjcourse: exercises, releases, grading, feedback and reports.

Nothing here is ever shipped to a student; `mjcourse` (in `shared/`) never imports it.
"""

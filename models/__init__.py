"""MJCF scenes of the course: our own, primitive shapes only."""

"""Edits of a robot, each of which returns another robot."""

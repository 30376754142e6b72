"""Walls that points of a robot may strike, as signed distances.

Read shapes.py (what a wall is; flat walls), then quadrics.py (round ones); table.py reads walls from TOML.
"""

from appell.simulation.walls.quadrics import Arc, Circle, Ellipse, Sphere
from appell.simulation.walls.shapes import Line, Plane, Polyline, Segment, SignedDistance, Wall

__all__ = ["Arc", "Circle", "Ellipse", "Line", "Plane", "Polyline", "Segment", "SignedDistance", "Sphere", "Wall"]

"""Walls: obstacles for the contact points of a robot, as signed distances.

Read wall.py (the base class), shapes.py (flat walls), then quadrics.py (curved ones); table.py reads walls from TOML.
"""

from appell.simulation.walls.quadrics import Arc, Circle, Ellipse, Sphere
from appell.simulation.walls.shapes import Line, Plane, Polyline, Segment, SignedDistance
from appell.simulation.walls.wall import Wall

__all__ = ["Arc", "Circle", "Ellipse", "Line", "Plane", "Polyline", "Segment", "SignedDistance", "Sphere", "Wall"]

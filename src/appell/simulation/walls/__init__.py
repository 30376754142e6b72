"""Walls: obstacles for the contact points of a robot, as signed distances.

Read wall.py (the base class), shapes.py (flat walls), quadrics.py (curved ones), then heightfield.py; table.py reads
walls from TOML.
"""

from appell.simulation.walls.heightfield import Heightfield
from appell.simulation.walls.quadrics import Arc, Circle, Ellipse, Sphere
from appell.simulation.walls.shapes import Box, Line, Plane, Polyline, Segment, SignedDistance
from appell.simulation.walls.wall import Wall

__all__ = [
    "Arc",
    "Box",
    "Circle",
    "Ellipse",
    "Heightfield",
    "Line",
    "Plane",
    "Polyline",
    "Segment",
    "SignedDistance",
    "Sphere",
    "Wall",
]

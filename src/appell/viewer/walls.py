"""Walls of a run on the page: outlines and faint surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.results.animation import wires
from appell.shapes.geometry import ribbon
from appell.shapes.palette import WALL
from appell.simulation.walls.quadrics import Sphere
from appell.simulation.walls.shapes import Plane
from appell.simulation.walls.wall import unit
from appell.spatial.scalar import Array
from appell.viewer.scene import Box

FAINT = 0.16
"""The opacity of a wall's surface."""


def draw_walls(server: Any, walls: tuple[Any, ...], box: Box, is_flat: bool) -> list[str]:
    """Draw walls around a box of the world; return remarks on walls that cannot be drawn."""
    remarks = []
    for k, wall in enumerate(walls):
        line = wall.outline()
        name = f"/walls/{k}"
        if line is not None:
            whole = line[np.isfinite(line).all(axis=1)]
            _lines(server, f"{name}/line", [whole], 0.006 * box.size)
            surface = _surface(wall, whole, box, is_flat)
            if surface is not None:
                server.scene.add_mesh_simple(
                    f"{name}/surface",
                    *surface,
                    color=WALL,
                    opacity=FAINT,
                    side="double",
                    cast_shadow=False,
                    receive_shadow=False,
                )
        elif not _net(server, name, wall, box):
            remarks.append(f"wall '{wall.label}' has no outline to draw")
    return remarks


def _lines(server: Any, name: str, lines: list[Array], thickness: float) -> None:
    segments = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines])
    server.scene.add_line_segments(name, segments, WALL, thickness=thickness)


def _surface(wall: Any, line: Array, box: Box, is_flat: bool) -> tuple[Array, Array] | None:
    """Return the triangles of a wall: its own, a band along its axis, a square or a sphere; None for an outline."""
    if (own := getattr(wall, "surface", lambda: None)()) is not None:
        return (own[0], own[1])
    if isinstance(wall, Plane):
        return line[:4], np.array([[0, 1, 2], [0, 2, 3]])
    if isinstance(wall, Sphere):
        from appell.shapes.meshes import import_trimesh  # noqa: PLC0415  # an extra

        ball = import_trimesh().creation.icosphere(subdivisions=4, radius=wall.radius)
        return np.asarray(ball.vertices) + np.asarray(wall.centre, dtype=float), np.asarray(ball.faces)
    if not hasattr(wall, "axis"):
        return None
    axis = unit(wall.label, "axis", wall.axis)
    if is_flat:
        return ribbon(line, -0.03 * box.size * axis, 0.03 * box.size * axis)
    corners = np.array(np.meshgrid(*zip(box.low, box.high, strict=True))).reshape(3, -1).T @ axis
    height = float(line[0] @ axis)
    return ribbon(line, (corners.min() - height) * axis, (corners.max() - height) * axis)


def _net(server: Any, name: str, wall: Any, box: Box) -> bool:
    """Draw a wall given by a distance alone, by its intersections with planes; return whether it was drawn."""
    if not hasattr(wall, "gap"):
        return False
    try:
        lines = [piece for part in wall.parts for piece in wires(part, (box.low, box.high)) if len(piece) > 1]
    except ImportError:  # contourpy comes with matplotlib
        return False
    if lines:
        _lines(server, name, lines, 0.002 * box.size)
    return bool(lines)

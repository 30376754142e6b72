"""One robot in the scene: its bodies as nodes that move, with the shapes on them.

A page has one figure of the robot itself and may have a second, translucent one: the ghost of a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.model.shapes import Colour
from appell.shapes.drawable import Drawable
from appell.shapes.geometry import disc, quaternions, rod
from appell.shapes.meshes import Piece, import_trimesh
from appell.shapes.palette import JOINTS, linear
from appell.spatial.scalar import Array

VISUAL, COLLISION, BOTH = "visual", "collision", "both"
SHAPES = (VISUAL, COLLISION, BOTH)


class Tint(NamedTuple):
    """One colour for all shapes of a figure, and its opacity; a tinted figure casts no shadow."""

    colour: tuple[int, int, int]
    opacity: float


GHOST = Tint((64, 132, 214), 0.32)
COLLIDING = Tint((214, 96, 36), 1.0)


class Figure:
    """The nodes of a robot under `root`; :meth:`place` moves them."""

    def __init__(self, server: Any, drawable: Drawable, poses: Array, root: str = "", tint: Tint | None = None) -> None:
        self._server, self._drawable, self._root, self._tint = server, drawable, root, tint
        self._batches: dict[str, Any] = {}
        self._nodes = [
            server.scene.add_frame(f"{root}/bodies/{k}", show_axes=False) for k in range(len(drawable.names))
        ]
        server.scene.add_frame(f"{root}/world", show_axes=False)
        self._visuals = self._add(drawable.pieces, "piece", tint)
        self._collisions: list[Any] | None = None
        self._add_stick_figure(poses)
        self.place(poses)

    def node(self, body: int) -> str:
        """Return the name of a body's node; -1 is the world."""
        return f"{self._root}/world" if body < 0 else f"{self._root}/bodies/{body}"

    def _add(self, pieces: Sequence[Piece], name: str, tint: Tint | None) -> list[Any]:
        return [
            self._server.scene.add_mesh_simple(
                f"{self.node(piece.body)}/{name}{k}",
                piece.vertices,
                piece.faces,
                color=_bytes(piece.colour) if tint is None else tint.colour,
                opacity=_opacity(piece.colour, tint),
                # the back of a translucent shape would be seen through its front
                side="double" if _opacity(piece.colour, tint) is None else "front",
                cast_shadow=tint is None,
                # shadows of a mesh on itself have the grain of the shadow map, which hides its shading
                receive_shadow=False,
            )
            for k, piece in enumerate(pieces)
        ]

    def _add_stick_figure(self, poses: Array) -> None:
        sticks, tint = self._drawable.stick_figure, self._tint
        if sticks is None:
            return
        style: dict[str, Any] = {"lod": "off", "side": "double", "cast_shadow": tint is None, "receive_shadow": False}
        if tint is not None:
            style["opacity"] = tint.opacity

        def add(
            name: str, shape: tuple[Array, Array], turned: Array, places: Array, colours: Any, **sizes: Any
        ) -> None:
            shown = colours if tint is None else linear(_shares(tint.colour))
            self._batches[name] = self._server.scene.add_batched_meshes_simple(
                f"{self._root}/{name}", *shape, turned, places, batched_colors=shown, **sizes, **style
            )

        if len(sticks.rods):
            start, turned, length = sticks.sticks(poses)
            scales = _scales(sticks.radius, length)
            add("rods", rod(), quaternions(turned), start, sticks.colours, batched_scales=scales)
            ends, colours = sticks.ends
            upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(ends), 1))
            add("ends", _ball(sticks.radius), upright, sticks.points(poses)[ends], colours)
        if len(sticks.hubs):
            place, turned = sticks.turns(poses)
            vertices, faces = disc()
            sized = vertices * np.array([1.55, 1.55, 3.4]) * sticks.radius
            add("hubs", (sized, faces), quaternions(turned), place, linear(JOINTS))

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (n + 1, 4, 4)."""
        turned = quaternions(poses[:, :3, :3])
        with self._server.atomic():
            for k, node in enumerate(self._nodes):
                node.position, node.wxyz = poses[k, :3, 3], turned[k]
            self._place_stick_figure(poses)

    def _place_stick_figure(self, poses: Array) -> None:
        sticks = self._drawable.stick_figure
        if sticks is None:
            return
        if "rods" in self._batches:
            rods, ends = self._batches["rods"], self._batches["ends"]
            start, rotations, length = sticks.sticks(poses)
            rods.batched_positions = start.astype(np.float32)
            rods.batched_wxyzs = quaternions(rotations).astype(np.float32)
            rods.batched_scales = _scales(sticks.radius, length)
            ends.batched_positions = sticks.points(poses)[sticks.ends[0]].astype(np.float32)
        if "hubs" in self._batches:
            place, rotations = sticks.turns(poses)
            self._batches["hubs"].batched_positions = place.astype(np.float32)
            self._batches["hubs"].batched_wxyzs = quaternions(rotations).astype(np.float32)

    def show_shapes(self, shapes: str) -> list[str]:
        """Show visual shapes, collision shapes or both; return remarks on collision shapes that cannot be drawn.

        Collision shapes are read and sent to the page when they are first shown.
        """
        remarks: list[str] = []
        if shapes != VISUAL and self._collisions is None and self._drawable.collisions is not None:
            found = self._drawable.collisions()
            self._collisions = self._add(found.pieces, "collision", COLLIDING)
            remarks = found.remarks if found.pieces else [*found.remarks, "the robot's file has no collision shapes"]
        for handle in (*self._visuals, *self._batches.values()):
            handle.visible = shapes != COLLISION
        for handle in self._collisions or ():
            # as wires beside the visual shapes, with which they often coincide
            handle.visible, handle.wireframe = shapes != VISUAL, shapes == BOTH
        return remarks

    def fade(self, opacity: float) -> None:
        """Draw the visual shapes with a share of their opacity."""
        own = [piece.colour[3] for piece in self._drawable.pieces]
        for handle, whole in zip(self._visuals, own, strict=True):
            handle.opacity = None if opacity * whole >= 1.0 else opacity * whole
        for handle in self._batches.values():
            handle.opacity = None if opacity >= 1.0 else opacity


def _opacity(colour: Colour, tint: Tint | None) -> float | None:
    if tint is not None:
        return None if tint.opacity >= 1.0 else tint.opacity
    return None if colour[3] >= 1.0 else colour[3]


def _scales(radius: float, lengths: Array) -> Array:
    return np.stack([np.full_like(lengths, radius)] * 2 + [np.maximum(lengths, 1e-9)], axis=1).astype(np.float32)


def _ball(radius: float) -> tuple[Array, Array]:
    ball = import_trimesh().creation.icosphere(subdivisions=2, radius=radius)
    return np.asarray(ball.vertices), np.asarray(ball.faces)


def _bytes(colour: Colour) -> tuple[int, int, int]:
    red, green, blue = (round(255 * x) for x in colour[:3])
    return (red, green, blue)


def _shares(colour: tuple[int, int, int]) -> Colour:
    red, green, blue = (x / 255.0 for x in colour)
    return (red, green, blue, 1.0)

"""The scene of the page: background, lights, floor and camera, the figure of a robot, and walls.

A page has one figure of the robot itself and may have a second, translucent one: the ghost of a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.errors import InputError
from appell.model.shapes import Colour
from appell.results.animation import corners, wall_shape
from appell.results.player.page import cloud
from appell.shapes.drawable import Drawable
from appell.shapes.geometry import along, disc, quaternions, rod
from appell.shapes.meshes import Piece, import_trimesh
from appell.shapes.palette import JOINTS, WALL, linear
from appell.simulation.walls.quadrics import Sphere
from appell.spatial.scalar import Array

FOV = np.radians(40.0)
SKY, HORIZON = (176, 188, 203), (226, 231, 237)
"""The background, from the top of the picture to the bottom: darker than white robots, lighter than black ones."""


class Box(NamedTuple):
    """The corners of an axis-aligned box in the world."""

    low: Array
    high: Array

    @property
    def middle(self) -> Array:
        """Return its centre."""
        return np.asarray(0.5 * (self.low + self.high))

    @property
    def size(self) -> float:
        """Return its diagonal [m]."""
        return float(np.linalg.norm(self.high - self.low)) or 1.0


class PageScene:
    """A robot on the page; :meth:`place` moves it."""

    def __init__(self, server: Any, drawable: Drawable, poses: Array) -> None:
        self._server, self._drawable = server, drawable
        light(server, drawable.up)
        server.scene.set_up_direction(tuple(drawable.up.tolist()))
        self.poses = poses
        self.box = extent(drawable, poses)
        self.floor = 0.0
        self.figure = RobotFigure(server, drawable, poses)

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (n + 1, 4, 4)."""
        self.poses = poses
        self.figure.place(poses)

    def look(self, box: Box, across: Array | None = None) -> None:
        """Set camera and floor for a box of the world; `across` is the normal of a motion in a plane."""
        up = self._drawable.up
        side = np.eye(3)[int(np.argmin(np.abs(up)))]
        front = np.cross(up, side)
        view = 0.85 * side - 0.75 * front + 0.55 * up if across is None else across
        span = 1.05 * box.size if across is None else 1.1 * float(np.max(box.high - box.low))
        away = 0.5 * span / np.tan(0.5 * FOV)
        camera = self._server.initial_camera
        camera.position = tuple((box.middle + away * view / np.linalg.norm(view)).tolist())
        camera.look_at = tuple(box.middle.tolist())
        camera.up = tuple(up.tolist())
        camera.fov = float(FOV)
        camera.near, camera.far = 1e-3 * box.size, 200.0 * box.size
        if across is None:
            self._add_floor(box)

    def _add_floor(self, box: Box) -> None:
        up = self._drawable.up
        # a stick figure stands on its rods, whose axes end in the joints; meshes stand on their own feet
        sticks = self._drawable.stick_figure
        below = 1.6 * sticks.radius if sticks is not None else 0.0
        self.floor = min(float((corners(*box) @ up).min()), 0.0) - below
        cell = 10.0 ** np.round(np.log10(0.08 * box.size))
        self._server.scene.add_grid(
            "/floor",
            infinite_grid=True,
            plane="xy",
            cell_size=float(cell),
            section_size=float(5.0 * cell),
            cell_color=(188, 196, 206),
            section_color=(158, 168, 180),
            fade_distance=float(6.0 * box.size),
            shadow_opacity=0.3,
            position=tuple((self.floor * up).tolist()),
            wxyz=quaternions(along(up)),
        )


def light(server: Any, up: Array) -> None:
    """Set background and lights: a sky and two lamps, of which one casts shadows.

    A white surface that faces the brighter lamp is just below the white of the page, and surfaces at right angles to it
    are clearly darker: edges of white robots stay visible. viser's own environment map is off: the page
    fades in once that is loaded, which takes a second, and stays faint where two of them come one after the other.
    """
    scene = server.scene
    scene.configure_default_lights(enabled=False)
    scene.configure_environment_map(None)
    share = np.linspace(0.0, 1.0, 64)[:, None, None]
    gradient = (1.0 - share) * np.array(SKY) + share * np.array(HORIZON)
    scene.set_background_image(np.repeat(gradient, 8, axis=1).astype(np.uint8), format="png")
    side = np.eye(3)[int(np.argmin(np.abs(up)))]
    front = np.cross(up, side)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(120, 116, 110), intensity=0.9)
    for name, intensity, way in (
        ("sun", 3.3, side - 0.25 * front + 1.4 * up),
        ("fill", 0.5, -side - 0.8 * front + 0.6 * up),
    ):
        scene.add_light_directional(
            f"/light/{name}", intensity=intensity, cast_shadow=name == "sun", position=tuple((4.0 * way).tolist())
        )


def extent(drawable: Drawable, poses: Array) -> Box:
    """Return the box around a robot as drawn."""
    (points,) = cloud(drawable, poses[None])
    return Box(points.min(axis=0), points.max(axis=0))


# One robot in the scene

VISUAL, COLLISION, BOTH = "visual", "collision", "both"
SHAPES = (VISUAL, COLLISION, BOTH)


class Tint(NamedTuple):
    """One colour for all shapes of a figure, and its opacity; a tinted figure casts no shadow."""

    colour: tuple[int, int, int]
    opacity: float


GHOST = Tint((64, 132, 214), 0.32)
COLLIDING = Tint((214, 96, 36), 1.0)


class RobotFigure:
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
                color=tuple(round(255 * x) for x in piece.colour[:3]) if tint is None else tint.colour,
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
            red, green, blue = (x / 255.0 for x in tint.colour)
            style["opacity"], tinted = tint.opacity, linear((red, green, blue, 1.0))

        def add(
            name: str, shape: tuple[Array, Array], turned: Array, places: Array, colours: Any, **sizes: Any
        ) -> None:
            shown = colours if tint is None else tinted
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


# Walls

FAINT = 0.16
"""The opacity of a wall's surface."""


def draw_walls(server: Any, walls: tuple[Any, ...], box: Box, is_flat: bool) -> list[str]:
    """Draw walls around a box of the world; return remarks on walls that cannot be drawn."""
    remarks, scene = [], server.scene
    for k, wall in enumerate(walls):
        try:
            lines, surface, is_outline = wall_shape(wall, (box.low, box.high), is_flat)
        except InputError as error:  # a wall without an outline needs contourpy
            remarks.append(str(error))
            continue
        if not lines:
            remarks.append(f"wall '{wall.label}' has no outline to draw")
            continue
        segments = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in lines])
        thickness = (0.006 if is_outline else 0.002) * box.size
        scene.add_line_segments(f"/walls/{k}/line", segments, WALL, thickness=thickness)
        if isinstance(wall, Sphere):
            ball = import_trimesh().creation.icosphere(subdivisions=4, radius=wall.radius)
            surface = np.asarray(ball.vertices) + np.asarray(wall.centre, dtype=float), np.asarray(ball.faces)
        if surface is not None:
            style = {"opacity": FAINT, "side": "double", "cast_shadow": False, "receive_shadow": False}
            scene.add_mesh_simple(f"/walls/{k}/surface", *surface, color=WALL, **style)
    return remarks

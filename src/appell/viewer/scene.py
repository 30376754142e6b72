"""The scene of the page: floor, light, camera, and the robot's bodies as nodes that move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from appell.shapes.drawable import Drawable
from appell.shapes.geometry import along, disc, quaternions, rod
from appell.shapes.meshes import import_trimesh
from appell.shapes.palette import JOINTS, linear
from appell.shapes.visuals import Colour
from appell.spatial.scalar import Array

FOV = np.radians(40.0)


class Box(NamedTuple):
    """What is to be seen: the corners of a box in the world."""

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


class Scene:
    """A robot on the page; :meth:`place` moves it."""

    def __init__(self, server: Any, drawable: Drawable, poses: Array) -> None:
        self._server, self._drawable = server, drawable
        light(server, drawable.up)
        self.poses = poses
        self.box = extent(drawable, poses)
        self._rods: Any = None
        self._balls: Any = None
        self._hubs: Any = None
        server.scene.set_up_direction(tuple(drawable.up.tolist()))
        self._nodes = [self._node(k) for k in range(len(drawable.names))]
        server.scene.add_frame("/world", show_axes=False)
        for k, piece in enumerate(drawable.pieces):
            parent = "/world" if piece.body < 0 else f"/bodies/{piece.body}"
            server.scene.add_mesh_simple(
                f"{parent}/piece{k}",
                piece.vertices,
                piece.faces,
                color=_bytes(piece.colour),
                opacity=None if piece.colour[3] >= 1.0 else piece.colour[3],
                side="double",
            )
        self._add_stick_figure()
        self.place(poses)

    def _node(self, k: int) -> Any:
        length = 0.07 * self.box.size
        return self._server.scene.add_frame(
            f"/bodies/{k}", show_axes=False, axes_length=length, axes_radius=0.035 * length
        )

    def _add_stick_figure(self) -> None:
        stick_figure = self._drawable.stick_figure
        if stick_figure is None:
            return
        add = self._server.scene.add_batched_meshes_simple
        shape = {"lod": "off", "side": "double"}
        if len(stick_figure.rods):
            start, turned, length = stick_figure.sticks(self.poses)
            sized, colours = _scales(stick_figure.radius, length), stick_figure.colours
            self._rods = add(
                "/rods", *rod(), quaternions(turned), start, batched_scales=sized, batched_colors=colours, **shape
            )
            ends, colours = stick_figure.ends
            still = np.tile([1.0, 0.0, 0.0, 0.0], (len(ends), 1))
            places = stick_figure.points(self.poses)[ends]
            self._balls = add("/ends", *_ball(stick_figure.radius), still, places, batched_colors=colours, **shape)
        if len(stick_figure.hubs):
            place, turned = stick_figure.turns(self.poses)
            vertices, faces = disc()
            sized = vertices * np.array([1.55, 1.55, 3.4]) * stick_figure.radius
            self._hubs = add("/hubs", sized, faces, quaternions(turned), place, batched_colors=linear(JOINTS), **shape)

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (n + 1, 4, 4)."""
        self.poses = poses
        turned = quaternions(poses[:, :3, :3])
        with self._server.atomic():
            for k, node in enumerate(self._nodes):
                node.position, node.wxyz = poses[k, :3, 3], turned[k]
            self._place_stick_figure(poses)

    def _place_stick_figure(self, poses: Array) -> None:
        stick_figure = self._drawable.stick_figure
        if stick_figure is not None and self._rods is not None:
            start, rotations, length = stick_figure.sticks(poses)
            self._rods.batched_positions = start.astype(np.float32)
            self._rods.batched_wxyzs = quaternions(rotations).astype(np.float32)
            self._rods.batched_scales = _scales(stick_figure.radius, length)
            self._balls.batched_positions = stick_figure.points(poses)[stick_figure.ends[0]].astype(np.float32)
        if stick_figure is not None and self._hubs is not None:
            place, rotations = stick_figure.turns(poses)
            self._hubs.batched_positions = place.astype(np.float32)
            self._hubs.batched_wxyzs = quaternions(rotations).astype(np.float32)

    def show_frames(self, is_seen: bool) -> None:
        """Draw the axes of every body, or not."""
        for node in self._nodes:
            node.show_axes = is_seen

    def look(self, box: Box, across: Array | None = None) -> None:
        """Set camera, floor and light for a box of the world; `across` is the normal of a motion in a plane."""
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
        # what is drawn by rods stands on them, meshes on their own feet
        stick_figure = self._drawable.stick_figure
        corners = np.array(np.meshgrid(*zip(box.low, box.high, strict=True))).reshape(3, -1).T
        height = min(float((corners @ up).min()), 0.0) - (
            1.6 * stick_figure.radius if stick_figure is not None else 0.0
        )
        cell = 10.0 ** np.round(np.log10(0.08 * box.size))
        self._server.scene.add_grid(
            "/floor",
            infinite_grid=True,
            plane="xy",
            cell_size=float(cell),
            section_size=float(5.0 * cell),
            cell_color=(232, 235, 238),
            section_color=(212, 216, 221),
            fade_distance=float(6.0 * box.size),
            shadow_opacity=0.18,
            position=tuple((height * up).tolist()),
            wxyz=quaternions(along(up)),
        )


def light(server: Any, up: Array) -> None:
    """Set the light: a sky and two lamps, of which one casts shadows.

    Not the page's default, an environment to reflect: the page fades in once that is loaded, which takes a second, and
    stays faint where two of them come one after the other.
    """
    scene = server.scene
    scene.configure_default_lights(enabled=False)
    scene.configure_environment_map(None)
    side = np.eye(3)[int(np.argmin(np.abs(up)))]
    front = np.cross(up, side)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(178, 172, 164), intensity=2.4)
    for name, intensity, way in (
        ("sun", 2.6, 0.9 * side - 0.5 * front + 1.7 * up),
        ("fill", 1.0, -side - 0.8 * front + 0.6 * up),
    ):
        scene.add_light_directional(
            f"/light/{name}", intensity=intensity, cast_shadow=name == "sun", position=tuple((4.0 * way).tolist())
        )


def extent(drawable: Drawable, poses: Array) -> Box:
    """Return the box around all that is drawn of a robot."""
    clouds = [poses[:-1, :3, 3]]
    for piece in drawable.pieces:
        corners = np.array(np.meshgrid(*zip(piece.vertices.min(axis=0), piece.vertices.max(axis=0), strict=True)))
        pose = poses[piece.body]
        clouds.append(corners.reshape(3, -1).T @ pose[:3, :3].T + pose[:3, 3])
    if drawable.stick_figure is not None:
        clouds.append(drawable.stick_figure.points(poses))
    if drawable.pieces and drawable.stick_figure is None:
        clouds = clouds[1:]
    points = np.concatenate(clouds)
    return Box(points.min(axis=0), points.max(axis=0))


def _scales(radius: float, lengths: Array) -> Array:
    return np.stack([np.full_like(lengths, radius)] * 2 + [np.maximum(lengths, 1e-9)], axis=1).astype(np.float32)


def _ball(radius: float) -> tuple[Array, Array]:
    ball = import_trimesh().creation.icosphere(subdivisions=2, radius=radius)
    return np.asarray(ball.vertices), np.asarray(ball.faces)


def _bytes(colour: Colour) -> tuple[int, int, int]:
    red, green, blue = (round(255 * x) for x in colour[:3])
    return (red, green, blue)

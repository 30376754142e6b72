"""The scene of the page: background, lights, floor and camera around the figure of a robot."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from appell.shapes.drawable import Drawable
from appell.shapes.geometry import along, quaternions
from appell.spatial.scalar import Array
from appell.viewer.figure import Figure

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


class Scene:
    """A robot on the page; :meth:`place` moves it."""

    def __init__(self, server: Any, drawable: Drawable, poses: Array) -> None:
        self._server, self._drawable = server, drawable
        light(server, drawable.up)
        server.scene.set_up_direction(tuple(drawable.up.tolist()))
        self.poses = poses
        self.box = extent(drawable, poses)
        self.floor = 0.0
        self.figure = Figure(server, drawable, poses)

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
        corners = np.array(np.meshgrid(*zip(box.low, box.high, strict=True))).reshape(3, -1).T
        below = 1.6 * sticks.radius if sticks is not None else 0.0
        self.floor = min(float((corners @ up).min()), 0.0) - below
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

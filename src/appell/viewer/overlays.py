"""The folder "Show" of both pages: shapes, centre of mass, frames, paths of frames, and the ellipsoid of a frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appell.errors import AppellError
from appell.robot.robot import Robot
from appell.shapes.drawable import Drawable
from appell.shapes.geometry import quaternions
from appell.shapes.palette import HIT
from appell.spatial.scalar import Array
from appell.viewer.ellipsoid import INERTIA, KINDS, Ellipsoid, ellipsoid, end_effector
from appell.viewer.figure import SHAPES, VISUAL
from appell.viewer.frames import CHOICES, FrameAxes
from appell.viewer.frames import NONE as NO_FRAMES
from appell.viewer.html import line, small
from appell.viewer.scene import Scene
from appell.viewer.traces import Paths, Traces

NONE = "none"
SHARE = 0.12
"""The longest semi-axis that an ellipsoid has when it is first shown, in sizes of the robot."""
THINNEST = 0.01
"""The shortest semi-axis drawn, in longest ones: a flat ellipsoid stays a solid."""
CENTRE = (240, 196, 25)


class Overlays:
    """What both pages can show beside the robot."""

    def __init__(
        self,
        server: Any,
        scene: Scene,
        drawable: Drawable,
        wake: Callable[[], None],
        paths: Paths | None = None,
    ) -> None:
        self._server, self._scene, robot = server, scene, drawable.robot
        self._centre = CentreOfMass(server, robot, scene, drawable.up)
        self._axes = FrameAxes(server, drawable, scene.figure, scene.box.size)
        self._shown_shapes, self._shown_opacity = VISUAL, 1.0
        gui = server.gui
        with gui.add_folder("Show"):
            self.shapes = gui.add_dropdown(
                "Shapes", SHAPES, initial_value=VISUAL, visible=drawable.collisions is not None
            )
            self._remarks = gui.add_html("", visible=False)
            self.opacity = gui.add_slider("Opacity", 0.1, 1.0, 0.05, 1.0)
            self.centre = gui.add_checkbox("Centre of mass", False)
            self._mass = gui.add_html("", visible=False)
            self.frames = gui.add_dropdown("Frames", CHOICES, initial_value=NO_FRAMES)
            self.names = gui.add_checkbox("Names", True, visible=False)
            self.words = gui.add_text("containing", "", visible=False, hint="words, one of which a frame's name has")
            self.traces = Traces(server, robot, scene.box.size, wake, paths)
            self.ellipsoid = EllipsoidOverlay(server, scene, robot, wake)
        for handle in (self.shapes, self.opacity, self.centre, self.frames, self.names, self.words):
            handle.on_update(lambda _: wake())

    def update(self, q: Array) -> None:
        """Draw what is chosen at q."""
        if self.shapes.value != self._shown_shapes:
            self._shown_shapes = self.shapes.value
            remarks = self._scene.figure.show_shapes(self._shown_shapes)
            if remarks:
                self._remarks.content, self._remarks.visible = "".join(map(small, remarks)), True
        if self.opacity.value != self._shown_opacity:
            self._shown_opacity = self.opacity.value
            self._scene.figure.fade(self._shown_opacity)
        self.names.visible = self.words.visible = self.frames.value != NO_FRAMES
        self._axes.show(self.frames.value, self.names.value, self.words.value)
        self._mass.visible = self.centre.value
        text = self._centre.show(q if self.centre.value else None)
        if text and text != self._mass.content:
            self._mass.content = text
        self.traces.update(q)
        self.ellipsoid.update(q)


class CentreOfMass:
    """A ball at the centre of mass, and a line down to the floor below it."""

    def __init__(self, server: Any, robot: Robot, scene: Scene, up: Array) -> None:
        self._server, self._robot, self._scene, self._up = server, robot, scene, up
        self._handles: list[Any] = []

    def show(self, q: Array | None) -> str:
        """Draw the centre of mass at q, or remove it; return the line of the panel."""
        if q is None:
            for handle in self._handles:
                handle.remove()
            self._handles = []
            return ""
        try:
            place = np.asarray(self._robot.centre_of_mass(q))
        except AppellError as error:
            return line(str(error))
        size, scene = self._scene.box.size, self._server.scene
        below = place + (self._scene.floor - place @ self._up) * self._up
        if not self._handles:
            self._handles = [
                scene.add_icosphere("/centre_of_mass/ball", 0.018 * size, CENTRE, cast_shadow=False, opacity=0.9),
                scene.add_icosphere("/centre_of_mass/below", 0.009 * size, CENTRE, cast_shadow=False),
                scene.add_line_segments("/centre_of_mass/line", np.zeros((1, 2, 3)), CENTRE, thickness=0.003 * size),
            ]
        ball, foot, drop = self._handles
        with self._server.atomic():
            ball.position, foot.position = place, below
            drop.points = np.array([[place, below]], dtype=np.float32)
        return small(f"{self._robot.total_mass:.4g} kg at {', '.join(f'{x:.3f}' for x in place)} m")


class EllipsoidOverlay:
    """The ellipsoid of inertia or of manipulability at a frame."""

    def __init__(self, server: Any, scene: Scene, robot: Robot, wake: Callable[[], None]) -> None:
        self._server, self._scene, self._robot = server, scene, robot
        self._unit: dict[tuple[str, str], float] = {}
        self._body: Any = None
        gui = server.gui
        self.kind = gui.add_dropdown("Ellipsoid", (NONE, *KINDS), initial_value=NONE)
        self.frame = gui.add_dropdown(
            "at frame", tuple(robot.frame_names), initial_value=end_effector(robot), visible=False
        )
        self._text = gui.add_html("", visible=False)
        for handle in (self.kind, self.frame):
            handle.on_update(lambda _: wake())

    def update(self, q: Array) -> None:
        """Draw the ellipsoid at q, or none."""
        kind = self.kind.value
        self.frame.visible = self._text.visible = kind != NONE
        if kind == NONE:
            self._hide()
            return
        try:
            found = ellipsoid(self._robot, q, self.frame.value, kind)
        except (AppellError, np.linalg.LinAlgError) as error:
            self._hide()
            self._text.content = line(str(error))
            return
        self._draw(found, kind)

    def _draw(self, found: Ellipsoid, kind: str) -> None:
        key = (kind, self.frame.value)
        # the unit is kept while one frame is looked at, so that growing and shrinking is seen
        longest = float(found.lengths[0])
        if key not in self._unit and longest > 0.0:
            self._unit[key] = SHARE * self._scene.box.size / longest
        semi = np.maximum(found.lengths, THINNEST * longest) * self._unit.get(key, 0.0)
        if self._body is None:
            self._body = self._server.scene.add_icosphere(
                "/ellipsoid", 1.0, HIT, subdivisions=4, opacity=0.4, cast_shadow=False
            )
        with self._server.atomic():
            self._body.scale = tuple(np.maximum(semi, 1e-9).tolist())
            self._body.position, self._body.wxyz = found.centre, quaternions(found.axes)
            self._body.visible = True
        meaning = "semi-axes √λ of J M⁻¹Jᵀ" if kind == INERTIA else "semi-axes √λ of J Jᵀ"
        self._text.content = small(f"{found.legend}; {meaning}")

    def _hide(self) -> None:
        if self._body is not None:
            self._body.visible = False

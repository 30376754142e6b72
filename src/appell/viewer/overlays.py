"""What both kinds of page can show beside the robot: frames, and the ellipsoid of a frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appell.errors import AppellError
from appell.robot.robot import Robot
from appell.shapes.geometry import quaternions
from appell.shapes.palette import HIT
from appell.spatial.scalar import Array
from appell.viewer.ellipsoid import INERTIA, KINDS, Ellipsoid, ellipsoid, end_effector
from appell.viewer.html import line, small
from appell.viewer.scene import Scene

NONE = "none"
SHARE = 0.12
"""The longest semi-axis that an ellipsoid has when it is first shown, in sizes of the robot."""
THINNEST = 0.01
"""The shortest semi-axis drawn, in longest ones: a flat ellipsoid stays a solid."""


class Overlays:
    """The folder "Show" of the page."""

    def __init__(self, server: Any, scene: Scene, robot: Robot, wake: Callable[[], None]) -> None:
        self._server, self._scene, self._robot = server, scene, robot
        self._unit: dict[tuple[str, str], float] = {}
        self._body: Any = None
        self._shows_frames = False
        gui = server.gui
        with gui.add_folder("Show"):
            self.frames = gui.add_checkbox("Frames", False)
            self.kind = gui.add_dropdown("Ellipsoid", (NONE, *KINDS), initial_value=NONE)
            self.frame = gui.add_dropdown(
                "at frame", tuple(robot.frame_names), initial_value=end_effector(robot), visible=False
            )
            self._text = gui.add_html("", visible=False)
        for handle in (self.frames, self.kind, self.frame):
            handle.on_update(lambda _: wake())

    def update(self, q: Array) -> None:
        """Draw what is wanted at q."""
        if self.frames.value != self._shows_frames:
            self._shows_frames = self.frames.value
            self._scene.show_frames(self._shows_frames)
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

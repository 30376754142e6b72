"""Paths of frames on the page: of a run the whole path, of a robot the part it has moved along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appell.results.style import COLOURS
from appell.robot.robot import Robot
from appell.spatial.scalar import Array
from appell.viewer.ellipsoid import end_effector
from appell.viewer.figure import GHOST

POINTS = 2000
"""Points of a path that a moved robot leaves; older ones are forgotten."""
STEP = 1e-3
"""The shortest step that a path records, in sizes of the robot."""

Paths = Callable[[str], list[Array]]
"""From the name of a frame to its path (n, 3) and, where the page has a reference, that of the reference."""


class Traces:
    """The paths of chosen frames; `paths` gives them where the motion is known in advance."""

    def __init__(self, server: Any, robot: Robot, size: float, wake: Callable[[], None], paths: Paths | None) -> None:
        self._server, self._robot, self._size, self._wake, self._paths = server, robot, size, wake, paths
        self._wanted: list[str] = []
        self._lines: dict[str, list[Any]] = {}
        self._points: dict[str, list[Array]] = {}
        gui = server.gui
        self.frame = gui.add_dropdown("Trace", tuple(robot.frame_names), initial_value=end_effector(robot))
        buttons = gui.add_button_group("", ("Add trace", "Clear traces"))
        buttons.on_click(lambda event: self._ask(event.target.value))

    @property
    def frames(self) -> tuple[str, ...]:
        """Return the names of the traced frames."""
        return tuple(self._wanted)

    def _ask(self, what: str) -> None:
        if what == "Clear traces":
            self._wanted = []
        else:
            self.add(self.frame.value)
        self._wake()

    def add(self, frame: str) -> None:
        """Trace a frame from now on."""
        if frame not in self._wanted:
            self._wanted = [*self._wanted, frame]

    def update(self, q: Array) -> None:
        """Draw the paths up to q."""
        wanted = self._wanted
        for frame in set(self._lines).difference(wanted):
            for handle in self._lines.pop(frame):
                handle.remove()
        for frame in set(self._points).difference(wanted):
            del self._points[frame]
        for frame in wanted:
            if self._paths is None:
                self._record(frame, np.asarray(self._robot.pose(q, frame))[:3, 3])
            elif frame not in self._lines:
                self._draw(frame, self._paths(frame))

    def _record(self, frame: str, place: Array) -> None:
        points = self._points.setdefault(frame, [])
        if points and float(np.linalg.norm(place - points[-1])) < STEP * self._size:
            return
        points.append(place)
        del points[:-POINTS]
        if len(points) > 1:
            self._draw(frame, [np.array(points)])

    def _draw(self, frame: str, paths: list[Array]) -> None:
        at = self._robot.frame_names.index(frame)
        own = COLOURS[self._wanted.index(frame) % len(COLOURS)] if frame in self._wanted else COLOURS[0]
        colours = [tuple(int(own[k : k + 2], 16) for k in (1, 3, 5)), GHOST.colour]
        self._lines[frame] = [
            self._server.scene.add_line_segments(
                f"/traces/{at}/{k}",
                np.stack([path[:-1], path[1:]], axis=1).astype(np.float32),
                colour,
                thickness=3.0 if k == 0 else 1.5,
                thickness_units="screen",
            )
            for k, (path, colour) in enumerate(zip(paths, colours, strict=False))
        ]

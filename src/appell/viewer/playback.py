"""The page of a run: play, pause, scrub; curves with a marker at the current time; impacts and contact forces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.results.player.page import SPEEDS, default_speed, motion, seen
from appell.results.plots import SLIDES, labels, measures, thinned
from appell.results.run import Run
from appell.results.style import COLOURS
from appell.shapes.drawable import Drawable
from appell.spatial.scalar import Array
from appell.viewer.contacts import Contacts
from appell.viewer.html import heading, pairs, small
from appell.viewer.overlays import Overlays
from appell.viewer.panel import PageOptions, limit_line, robot_limits
from appell.viewer.scene import GHOST, Box, PageScene, RobotFigure, draw_walls

FLASH = 0.5
"""How long an impact is shown [s of the film]."""
MARKS = 15.0
"""Updates of the curves' markers per second."""
SEEN = 400
"""Samples of a run that the camera's box contains, and points of a frame's path."""


class RunPage:
    """A run that is played."""

    def __init__(
        self, server: Any, drawable: Drawable, run: Run, options: PageOptions, wake: Callable[[], None]
    ) -> None:
        self._server, self._drawable, self._run, self._wake = server, drawable, run, wake
        self._begin, self._end = float(run.t[0]), float(run.t[-1])
        self.time = self._begin
        self.is_playing = False
        self._clock = threading.Lock()  # buttons and film set the time, each in a thread of its own
        self.q: Array = run.at(self._begin)[0]
        self._scene = PageScene(server, drawable, drawable.poses(self.q))
        poses = motion(drawable.robot, run.at(np.linspace(run.t[0], run.t[-1], SEEN))[0])
        low, high, across = seen(run, drawable, poses, "auto")
        self._scene.box = box = Box(low, high)
        self._scene.look(box, across)
        self._reference, self._ghost = options.reference, None
        if self._reference is not None:
            self._ghost = RobotFigure(
                server, drawable, drawable.poses(self._reference.at(self._begin)), "/ghost", GHOST
            )
        remarks = draw_walls(server, run.walls, box, across is not None)
        self._since_mark = 0.0
        self._shown_curves = ""
        self._fill([*drawable.remarks, *remarks])
        for frame in options.traces:
            self.overlays.traces.add(frame)

    def _fill(self, remarks: list[str]) -> None:
        gui, run = self._server.gui, self._run
        gui.add_html(heading(run.robot_name, _about(run)))
        with gui.add_folder("Film"):
            self.play = gui.add_button("Play", icon="player-play")
            span = max(self._end - self._begin, 1e-9)
            self.slider = gui.add_slider(
                "Time [s]", self._begin, self._begin + span, float(f"{span / 1000.0:.1g}"), self._begin
            )
            choices = tuple(f"{x:g}×" for x in SPEEDS)
            self.speed = gui.add_dropdown("Speed", choices, initial_value=f"{default_speed(span):g}×")
            self.loop = gui.add_checkbox("Loop", True)
            self._jump = gui.add_button_group("Impact", ("Previous", "Next"), visible=bool(run.impacts))
            self._state = gui.add_html("")
            self._limits = gui.add_html("", visible=False)
        with gui.add_folder("Curves"):
            self.curves = gui.add_dropdown("Show", tuple(CURVES), initial_value=_curves(run))
            self._upper, self._lower = Plot(self._server, 150), Plot(self._server, 110)
            self._folder = gui.add_folder(None)
            with gui.add_folder(None):
                self._lower.show(run.t, run.energy[:, None], ["energy"], "energy [J]")
        self.contacts = Contacts(self._server, run, self._drawable, self._scene.box, self._wake)
        self.overlays = Overlays(self._server, self._scene, self._drawable, self._wake, self._paths)
        for remark in (*remarks, *run.notes, *([run.ended_early] if run.ended_early else [])):
            gui.add_html(small(remark))
        self.play.on_click(lambda _: self.toggle())
        self.slider.on_update(self._scrub)
        self._jump.on_click(lambda event: self._go(event.target.value))
        for handle in (self.speed, self.curves):
            handle.on_update(lambda _: self._wake())

    def _paths(self, frame: str) -> list[Array]:
        """Return the path of a frame's origin, and that of the reference where there is one."""
        t = np.linspace(self._begin, self._end, SEEN)
        paths = [self._run.at(t)[0]]
        if self._reference is not None and self._reference.has_time:
            paths.append(np.array([self._reference.at(x) for x in t.tolist()]))
        return [np.asarray(self._drawable.robot.pose(q, frame))[:, :3, 3] for q in paths]

    # The buttons

    def toggle(self) -> None:
        """Play, or pause."""
        with self._clock:
            if not self.is_playing and self.time >= self._end:
                self.time = self._begin
            self.is_playing = not self.is_playing
        self._wake()

    def seek(self, t: float) -> None:
        """Pause at a time."""
        with self._clock:
            self.is_playing = False
            self.time = float(np.clip(t, self._begin, self._end))
        self._wake()

    def show(self, q: ArrayLike) -> None:
        """Raise: the configurations of a run are fixed."""
        raise InputError("viewer.show: the page shows a run, whose configurations are its own; use viewer.seek(t)")

    def _scrub(self, event: Any) -> None:
        if event.client is not None:  # moved by the user, not by the film
            self.seek(event.target.value)

    def _go(self, which: str) -> None:
        times = sorted({impact.time for impact in self._run.impacts})
        slack = 1e-9 * max(1.0, abs(self._end))
        if which == "Next":
            self.seek(next((t for t in times if t > self.time + slack), self._end))
        else:
            self.seek(next((t for t in reversed(times) if t < self.time - slack), self._begin))

    # The picture

    def tick(self, seconds: float) -> bool:
        """Advance the time if playing, and draw the robot at it."""
        speed = float(self.speed.value.rstrip("×"))
        with self._clock:
            if self.is_playing:
                self._advance(seconds * speed)
        self._draw(speed)
        self._since_mark += seconds
        if not self.is_playing or self._since_mark >= 1.0 / MARKS:
            self._since_mark = 0.0
            self._show_curves()
            self._upper.mark(self.time)
            self._lower.mark(self.time)
            self._show_state()
        label = "Pause" if self.is_playing else "Play"
        if self.play.label != label:
            self.play.label, self.play.icon = label, f"player-{label.lower()}"
        self._server.flush()
        return self.is_playing

    def _advance(self, step: float) -> None:
        t = self.time + step
        span = self._end - self._begin
        if t < self._end:
            self.time = t
        elif self.loop.value and span > 0.0:
            self.time = self._begin + (t - self._begin) % span
        else:
            self.time, self.is_playing = self._end, False

    def _draw(self, speed: float) -> None:
        self.q = self._run.at(self.time)[0]
        poses = self._drawable.poses(self.q)
        self._scene.place(poses)
        if self._ghost is not None and self._reference is not None and self._reference.has_time:
            self._ghost.place(self._drawable.poses(self._reference.at(self.time)))
        self.contacts.update(self.time, FLASH * speed, poses)
        self.slider.value = self.time
        self.overlays.update(self.q)

    def _show_curves(self) -> None:
        name = self.curves.value
        if name != self._shown_curves:
            self._shown_curves = name
            values, names = quantity(self._run, name)
            with self._folder:
                self._upper.show(self._run.t, values, names, f"{name} [{UNITS[name]}]")

    def _show_state(self) -> None:
        run, t = self._run, self.time
        struck = sum(impact.time <= t for impact in run.impacts)
        rows = [("t", f"{t:.4f} s"), ("energy", f"{np.interp(t, run.t, run.energy):.6g} J")]
        if run.impacts:
            rows.append(("impacts", f"{struck} of {len(run.impacts)}"))
        resting = [f"{rest.point} on {rest.wall}" for rest in run.rests if rest.start <= t < rest.end]
        if resting:
            rows.append(("resting", ", ".join(resting)))
        forces = [f"{c.name} {np.linalg.norm(c.at(t)):.4g} N" for c in self.contacts.closed(t)]
        if forces:
            rows.append(("contact", ", ".join(forces)))
        if self._reference is not None:
            rows.append(("off reference", self._deviation(self._reference.at(t))))
        self._state.content = pairs(rows)
        text = limit_line(robot_limits(self._drawable.robot, self.q))
        self._limits.content, self._limits.visible = text, bool(text)

    def _deviation(self, q: Array) -> str:
        """Return the largest difference to a configuration, and the coordinate it belongs to."""
        robot = self._drawable.robot
        off = np.abs(robot.difference(q, self.q))
        k = int(np.argmax(off))
        unit = "m" if measures(robot, robot.independent)[k] == SLIDES else "rad"
        return f"{off[k]:.3g} {unit}, {robot.independent[k]}"


def _curves(run: Run) -> str:
    return "torque" if np.any(run.tau) else "velocity"


def _about(run: Run) -> str:
    impacts = f", {len(run.impacts)} impact{'s' if len(run.impacts) != 1 else ''}" if run.impacts else ""
    return f"{run.t[-1] - run.t[0]:.4g} s{impacts}"


# Curves

POINTS = 400
"""The greatest number of points of a curve on the page."""
CURVES = {"torque": "tau", "velocity": "v", "position": "q", "acceleration": "a"}
UNITS = {"torque": "N·m, N", "velocity": "rad/s, m/s", "position": "rad, m", "acceleration": "rad/s², m/s²"}
LEGENDS = 7
"""The greatest number of curves with a legend."""


class Plot:
    """Curves against time, and a marker.

    uPlot draws curves that share their times: the marker is another curve, with two values at one time and none
    elsewhere.
    """

    def __init__(self, server: Any, height: int) -> None:
        self._server, self._height = server, height
        self._t: Array = np.zeros(0)
        self._curves: Array = np.zeros((0, 0))
        self._handle: Any = None

    def show(self, t: Array, curves: Array, names: Sequence[str], title: str) -> None:
        """Draw curves (n, k) in place of those before."""
        self._t, self._curves = thinned(t, curves, POINTS)
        low, high = _range(self._curves)
        self._low, self._high = low, high
        series: list[dict[str, Any]] = [{"label": "t"}]
        series += [
            {"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 1.5, "points": {"show": False}}
            for k, name in enumerate(names)
        ]
        series.append({"label": " ", "stroke": "#868e96", "width": 2, "points": {"show": False}})
        axes = ({"size": 30, "font": "11px sans-serif"}, {"size": 46, "font": "11px sans-serif"})
        if self._handle is not None:
            self._handle.remove()
        self._handle = self._server.gui.add_uplot(
            self._data(float(self._t[0])),
            tuple(series),
            title=title,
            scales={"x": {"time": False}, "y": {"range": (low, high)}},
            axes=axes,
            legend={"show": 1 < len(names) <= LEGENDS},
            cursor={"drag": {"x": False, "y": False}},
            height=self._height,
            padding=(4, 14, 0, 0),
        )

    def mark(self, t: float) -> None:
        """Move the marker."""
        if self._handle is not None:
            self._handle.data = self._data(t)

    def _data(self, t: float) -> tuple[Array, ...]:
        k = int(np.searchsorted(self._t, t))
        times = np.insert(self._t, k, [t, t])
        at = [float(np.interp(t, self._t, curve)) for curve in self._curves.T]
        marker = np.full(len(times), np.nan)
        marker[k : k + 2] = self._low, self._high
        curves = (np.insert(curve, k, [x, x]) for curve, x in zip(self._curves.T, at, strict=True))
        return (times, *curves, marker)


def quantity(run: Run, name: str) -> tuple[Array, list[str]]:
    """Return curves of a run by the name of the quantity, and their labels."""
    curves = getattr(run, CURVES[name])
    numbered = [str(k) for k in range(curves.shape[-1])]
    return curves, numbered if run.robot is None else labels(run.robot, CURVES[name])


def _range(curves: Array) -> tuple[float, float]:
    low, high = float(curves.min(initial=0.0)), float(curves.max(initial=0.0))
    if curves.size:
        low, high = float(curves.min()), float(curves.max())
    # a curve that is constant but for rounding is a straight line
    room = max(0.06 * (high - low), 1e-3 * max(abs(low), abs(high)), 1e-9)
    return low - room, high + room

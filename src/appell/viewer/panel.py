"""The page of a robot: sliders, one per driven coordinate, a gizmo, and the actuator forces that balance gravity.

The driven coordinates belong to the first of the independent velocities, as many as there are actuator forces: the
joints of an open robot, the motors of a closed one, the Euler angles of a spherical one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.arguments import numbers
from appell.errors import AppellError, AppellWarning, InputError, ModelError
from appell.model.model import WORLD, Joint
from appell.model.parameters import joint_of_velocity
from appell.results.plots import SLIDES, joint_named, labels, measures
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.shapes.drawable import Drawable
from appell.shapes.palette import REST
from appell.spatial.scalar import Array
from appell.viewer.contacts import Arrows, ArrowScale, held_count, stance
from appell.viewer.drag import Drag
from appell.viewer.html import AMBER, RED, bars, heading, line, notice, small
from appell.viewer.overlays import Overlays
from appell.viewer.scene import GHOST, Box, PageScene, RobotFigure, extent

PARTS: dict[str, tuple[str, ...]] = {
    "free": ("x", "y", "z", "roll", "pitch", "yaw"),
    "ball": ("roll", "pitch", "yaw"),
    "planar": ("x", "y", "angle"),
    "cylindrical": ("angle", "slide"),
}
"""The labels of the sliders of joints with several coordinates."""
LENGTHS = ("x", "y", "z", "slide")
TURN = math.pi
SLIDE = 1.0
"""The range of a slider to either side for a joint without limits: [rad], [m]."""
REACHED = 1e-6
"""The largest difference between a driven coordinate and its slider [rad, m]."""


UNMOVED = 1e-9
"""Differences below this are rounding: the robot stays where it is [rad, m]."""


class Slider(NamedTuple):
    """One slider: its label, its range, its unit, and the joint's limits, infinite where there are none."""

    label: str
    low: float
    high: float
    unit: str
    limits: tuple[float, float] = (-math.inf, math.inf)


class Force(NamedTuple):
    """An actuator force: its name, its unit, and its limit, infinite where there is none."""

    name: str
    unit: str
    limit: float


class DrivenJoint(NamedTuple):
    """A joint that sliders move, and the places of its coordinates in q."""

    joint: Joint
    at: list[int]


def settled(robot: Robot, q: ArrayLike, name: str = "q") -> Array:
    """Return a configuration given by the user, checked, with loops closed.

    Raises
    ------
    AppellError
        When the size is not nq, a quaternion is not of length 1, or the loops do not close.
    """
    given = numbers(robot.name, name, (robot.nq,), q).astype(float)
    if given.shape != (robot.nq,) or not np.isfinite(given).all():
        raise InputError(f"{name}: expected {robot.nq} finite numbers, got shape {given.shape}")
    return robot.assemble(given)


class SliderSet:
    """How sliders move a robot; rotations of several degrees of freedom are shown by roll, pitch and yaw.

    >>> import appell
    >>> [slider.label for slider in SliderSet(appell.load("five-bar")).sliders]
    ['mot1', 'mot2']
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._driven: list[DrivenJoint] = []
        self._alone: list[int] = []  # driven velocities of joints that are driven in part
        places = robot.places("q")
        for name, at in robot.places("v").items():
            joint, moved = joint_named(robot, name), [k for k in at if k < len(robot.driven)]
            if len(moved) == joint.type.nv:
                self._driven.append(DrivenJoint(joint, places[name]))
            else:
                self._alone += moved
        neutral, kinds = robot.neutral(), measures(robot, robot.independent)
        self._limited = [slider for one in self._driven for slider in self._sliders(one, neutral)]
        self._limited += [_around(robot.independent[k], kinds[k] == SLIDES) for k in self._alone]
        self.sliders = [widened(slider, x) for slider, x in zip(self._limited, self.values(neutral), strict=True)]

    def _sliders(self, driven: DrivenJoint, neutral: Array) -> list[Slider]:
        (joint, at), limits = driven, self._robot.limits
        if joint.kind in PARTS:
            # at a right angle of pitch, roll and yaw are one
            return [
                _around(f"{joint.name} {part}", part in LENGTHS, 0.499 * TURN if part == "pitch" else TURN)
                for part in PARTS[joint.kind]
            ]
        here, lower, upper = (float(x[at[0]]) for x in (neutral, limits.lower, limits.upper))
        is_length = joint.kind == "prismatic"
        reach = (0.4 * abs(here) or SLIDE) if is_length else TURN
        low = lower if math.isfinite(lower) else min(here - reach, upper - 2.0 * reach)
        high = upper if math.isfinite(upper) else max(here + reach, low + 2.0 * reach)
        return [Slider(joint.name, low, high, "m" if is_length else "rad", (lower, upper))]

    def start(self) -> Array:
        """Return the neutral configuration, moved within the limits where it is outside."""
        neutral = self._robot.neutral()
        at = zip(self._limited, self.values(neutral), strict=True)
        try:
            return self.moved(neutral, [min(max(x, slider.low), slider.high) for slider, x in at])
        except AppellError:  # the loops do not close there
            return neutral

    def values(self, q: Array) -> list[float]:
        """Return the sliders' values at q; for a joint driven in part, its displacement from neutral."""
        own = [x for joint, at in self._driven for x in _shown(joint.kind, q[at])]
        return [*own, *map(float, self._robot.difference(self._robot.neutral(), q)[self._alone])]

    def moved(self, q: Array, wanted: Sequence[float]) -> Array:
        """Return the configuration for values of the sliders; loops stay closed, passive modes unchanged.

        Raises
        ------
        InputError
            When there is no such configuration: the loops do not close, or a leg does not reach.
        """
        goal, left = np.array(q, dtype=float), list(wanted)
        for joint, at in self._driven:
            count = len(PARTS.get(joint.kind, ("",)))
            goal[at] = _coordinates(joint.kind, left[:count])
            left = left[count:]
        n, step = len(self._robot.driven), np.zeros(self._robot.nv)
        step[:n] = self._robot.difference(q, goal)[:n]
        step[self._alone] = np.subtract(left, self.values(q)[len(wanted) - len(left) :])
        if np.abs(step).max(initial=0.0) <= UNMOVED:
            return q
        try:
            found = self._robot.assemble(self._followed(q, step, goal))
        except ModelError:
            found = q
        missed = np.delete(self._robot.difference(found, goal)[:n], self._alone)
        if np.abs(missed).max(initial=0.0) > REACHED:
            raise InputError("no assembly: the loops do not close there; the slider was reset")
        return found

    def _followed(self, q: Array, step: Array, goal: Array) -> Array:
        """Return q moved by a step; the goal itself, to be assembled, where integration fails."""
        try:
            return self._robot.integrate(q, step)
        except (InputError, np.linalg.LinAlgError):
            return goal

    def holding(self, q: Array) -> Array:
        """Return the actuator forces at rest, one per entry of `forces`."""
        return self._robot.inverse_dynamics(q, np.zeros(self._robot.nv), np.zeros(len(self._robot.driven)))

    @property
    def forces(self) -> list[Force]:
        """Return the actuator forces."""
        names = labels(self._robot, "tau")
        known = {body.joint.name for body in self._robot.model.bodies}
        joints = [joint_named(self._robot, joint_of_velocity(name, known)[0]) for name in names]
        rows = zip(names, measures(self._robot, names), joints, strict=True)
        return [Force(name, "N" if kind == SLIDES else "N·m", joint.limits.effort) for name, kind, joint in rows]


def _around(label: str, is_length: bool, turn: float = TURN) -> Slider:
    """Return a slider whose range is centred at zero."""
    reach = SLIDE if is_length else turn
    return Slider(label, -reach, reach, "m" if is_length else "rad")


def widened(slider: Slider, at: float) -> Slider:
    """Return a slider whose range includes a value, even outside the limits, and is not empty."""
    low, high = min(slider.low, at), max(slider.high, at)
    return slider._replace(low=low, high=high if high > low else low + 1e-3)


def _shown(kind: str, q: Array) -> list[float]:
    """Return the sliders' values of one joint's coordinates."""
    if kind in ("free", "ball"):
        angles = scipy.spatial.transform.Rotation.from_quat(q[-4:]).as_euler("xyz").tolist()
        return [*q[:-4].tolist(), *angles]
    return [float(x) for x in q]


def _coordinates(kind: str, values: Sequence[float]) -> Array:
    """Return one joint's coordinates of its sliders' values."""
    if kind in ("free", "ball"):
        turned = scipy.spatial.transform.Rotation.from_euler("xyz", values[-3:]).as_quat()
        return np.concatenate([np.asarray(values[:-3], dtype=float), turned])
    return np.asarray(values, dtype=float)


# Joints near their limits, and their warning colours

NEAR = 0.05
"""A coordinate is near a limit within this share of its range; of a range with one end, within this many rad or m."""
AT = 1e-6
"""A coordinate is at a limit within this share."""


class Near(NamedTuple):
    """A coordinate near a limit: its name, its value, the limit, and whether it is at the limit or beyond."""

    name: str
    value: float
    limit: float
    is_reached: bool


def near_limits(names: Sequence[str], values: Iterable[float], bounds: Iterable[tuple[float, float]]) -> list[Near]:
    """Return the coordinates near a limit, given lower and upper limits, infinite where there are none.

    >>> near_limits(["a", "b", "c"], [0.98, 0.5, -1.0], [(0.0, 1.0), (0.0, 1.0), (-1.0, math.inf)])
    [Near(name='a', value=0.98, limit=1.0, is_reached=False), Near(name='c', value=-1.0, limit=-1.0, is_reached=True)]
    """
    found = []
    for name, x, (low, high) in zip(names, values, bounds, strict=True):
        span = high - low if math.isfinite(high - low) else 1.0
        for limit, gap in ((low, x - low), (high, high - x)):
            if gap < NEAR * span:
                found.append(Near(name, x, limit, gap <= AT * span))
                break
    return found


def robot_limits(robot: Robot, q: Array) -> list[Near]:
    """Return the joints of one coordinate that are near a limit at q.

    >>> import appell
    >>> robot = appell.load("puma560")
    >>> [near.name for near in robot_limits(robot, robot.limits.upper)] == robot.joint_names
    True
    """
    single = [(name, at[0]) for name, at in robot.places("q").items() if len(at) == 1]
    lower, upper = robot.limits.lower, robot.limits.upper
    bounds = [(float(lower[k]), float(upper[k])) for _, k in single]
    return near_limits([name for name, _ in single], [float(q[k]) for _, k in single], bounds)


def limit_line(found: Sequence[Near]) -> str:
    """Return the line of the panel that names the joints near their limits."""
    if not found:
        return ""
    text = ", ".join(f"{near.name} {'at' if near.is_reached else 'near'} {near.limit:.4g}" for near in found)
    return notice(f"limits: {text}", RED if any(near.is_reached for near in found) else AMBER)


def slider_colours(sliders: Sequence[Any], names: Sequence[str], found: Sequence[Near]) -> str:
    """Return a style sheet that colours the sliders of joints near their limits."""
    states = {near.name: near.is_reached for near in found}
    rules = []
    for slider, name in zip(sliders, names, strict=True):
        if name in states:
            colour = RED if states[name] else AMBER
            parts = ", ".join(f'[id="{slider._impl.uuid}"] .mantine-Slider-{part}' for part in ("bar", "thumb"))
            rules.append(f"{parts} {{ background: {colour} !important; border-color: {colour} !important }}")
    return f"<style>{' '.join(rules)}</style>"


# A reference motion


class Reference:
    """A run, a trajectory or a configuration; :meth:`at` returns the configuration of a time.

    >>> import appell
    >>> line = appell.trajectory.JointLine([0.0, 0.0], [1.0, 2.0], 4.0)
    >>> Reference(appell.load("two-link"), line).at(2.0)
    array([0.5, 1. ])
    """

    def __init__(self, robot: Robot, given: Run | Callable[[float], Any] | ArrayLike) -> None:
        self._robot, self._given = robot, given
        self.has_time = isinstance(given, Run) or callable(given)
        if isinstance(given, Run):
            if given.nq != robot.nq or not len(given.t):
                raise InputError(
                    f"reference: expected a run with states of {robot.nq} coordinates for robot '{robot.name}', got "
                    f"{len(given.t)} states of {given.nq}"
                )
            self._q = given.q[0]
        else:
            self._slider_set = SliderSet(robot)
            self._q = robot.neutral() if callable(given) else settled(robot, given, "reference")
            self._q = self.at(0.0)

    def at(self, t: float) -> Array:
        """Return the configuration (nq,) at a time [s]; a run holds its first and last states before and after."""
        given = self._given
        if isinstance(given, Run):
            time = float(np.clip(t, given.t[0], given.t[-1]))
            ends = {float(given.t[-1]): given.q[-1], float(given.t[0]): given.q[0]}
            return np.asarray(ends[time] if time in ends else given.at(time)[0])
        if not callable(given):
            return np.asarray(self._q)
        q = np.asarray(self._called(t), dtype=float)
        if q.shape != (self._robot.nq,) or not np.isfinite(q).all():
            raise InputError(
                f"reference: expected (q, v, a) with q of {self._robot.nq} finite numbers at t = {t:g} s, got q of "
                f"shape {q.shape}"
            )
        if self._robot.closure_names:  # of a trajectory of a closed robot, the motors' coordinates count
            q = self._q = self._slider_set.moved(self._q, self._slider_set.values(q))
        return q

    def _called(self, t: float) -> Any:
        assert callable(self._given)
        try:
            return self._given(t)[0]
        except AppellError:
            raise
        except Exception as error:
            raise InputError(
                f"reference: expected a function of the time that returns (q, v, a); it raised "
                f"{type(error).__name__}: {error}"
            ) from error


class PageOptions(NamedTuple):
    """The options of a page that :func:`appell.view` has checked: all of them may be absent."""

    q: Array | None = None
    reference: Reference | None = None
    traces: tuple[str, ...] = ()
    drag: str | None = None


# The page

REACHES = 12
"""Random configurations that estimate how far an arm reaches."""


class RobotPage:
    """A robot moved by sliders and by a gizmo."""

    def __init__(self, server: Any, drawable: Drawable, options: PageOptions, wake: Callable[[], None]) -> None:
        robot = drawable.robot
        self._server, self._drawable, self._robot, self._wake = server, drawable, robot, wake
        self._slider_set = SliderSet(robot)
        self._rng = np.random.default_rng()
        self._requested: str | Array = ""
        self._greatest = 0.0
        self.q: Array = self._slider_set.start() if options.q is None else options.q
        self.note = ""
        self._scene = PageScene(server, drawable, drawable.poses(self.q))
        self._scene.look(self._scene.box if options.q is not None else self._room())
        if options.reference is not None:
            RobotFigure(server, drawable, drawable.poses(options.reference.at(0.0)), "/ghost", GHOST)
        self._fill(options)

    def _room(self) -> Box:
        """Return the box for the camera: for an arm, midway between the box around it and that of its reach."""
        box = self._scene.box
        if self._robot.closure_names or _floats(self._robot):
            return box
        for q in self._robot.random(np.random.default_rng(0), REACHES):
            seen = extent(self._drawable, self._drawable.poses(q))
            box = Box(np.minimum(box.low, seen.low), np.maximum(box.high, seen.high))
        own = self._scene.box
        return Box(0.5 * (own.low + box.low), 0.5 * (own.high + box.high))

    def _fill(self, options: PageOptions) -> None:
        gui = self._server.gui
        gui.add_html(heading(self._robot.name, _about(self._robot)))
        values = self._slider_set.values(self.q)
        ranges = [widened(one, x) for one, x in zip(self._slider_set.sliders, values, strict=True)]
        with gui.add_folder("Motors" if self._robot.closure_names else "Joints"):
            self.sliders = [_slider(gui, one, x) for one, x in zip(ranges, values, strict=True)]
            buttons = gui.add_button_group("", ("Neutral", "Random"))
            self._line = gui.add_html("", visible=False)
            self._limits = gui.add_html("", visible=False)
            self._colours = gui.add_html("")
        self.drag = Drag(self._server, self._robot, self._scene.box.size, options.drag, self._wake)
        with gui.add_folder("Forces against gravity"):
            self._table = gui.add_html("")
        self._stance = Arrows(self._server, "/contacts/arrows", REST, self._scene.box.size, self._weight())
        self._scale = ArrowScale(self._server, [("contact forces", self._stance, "N")], self._wake)
        self.overlays = Overlays(self._server, self._scene, self._drawable, self._wake)
        for frame in options.traces:
            self.overlays.traces.add(frame)
        for remark in self._drawable.remarks:
            gui.add_html(small(remark))
        for slider in self.sliders:
            slider.on_update(lambda _: self._wake())
        buttons.on_click(lambda event: self._request(event.target.value))

    def _weight(self) -> float:
        """Return the weight that one held frame carries on average [N]; zero where none is held."""
        gravity = float(np.linalg.norm([float(x) for x in self._robot.model.gravity]))
        count = held_count(self._robot)
        return self._robot.total_mass * gravity / count if count else 0.0

    def _request(self, what: str) -> None:
        self._requested = what
        self._wake()

    def show(self, q: ArrayLike) -> None:
        """Go to a configuration."""
        self._requested = settled(self._robot, q)
        self._wake()

    def seek(self, t: float) -> None:
        """Raise: a robot has no time."""
        raise InputError("viewer.seek: the page shows a robot, which has no times; use viewer.show(q)")

    def tick(self, _: float) -> bool:
        """Bring robot, table and overlays to where the sliders or the gizmo are; return whether to go on."""
        requested, self._requested = self._requested, ""
        self.note = ""
        try:
            if not isinstance(requested, str):
                self.q = requested
            elif requested:
                self.q = self._robot.neutral() if requested == "Neutral" else self._robot.random(self._rng)
            elif not self.drag.is_moving:
                self.q = self._slider_set.moved(self.q, [slider.value for slider in self.sliders])
        except (AppellError, AppellWarning) as error:
            self.note = str(error)
        self.q = self.drag.update(self.q)
        self._set_sliders()
        self._scene.place(self._drawable.poses(self.q))
        self.drag.settle(self.q)
        self._show_limits()
        self._show_forces()
        self.overlays.update(self.q)
        self._line.content, self._line.visible = line(self.note), bool(self.note)
        self._server.flush()
        return self.drag.is_moving

    def _show_limits(self) -> None:
        sliders = self._slider_set.sliders
        names = [one.label for one in sliders]
        found = near_limits(names, self._slider_set.values(self.q), [one.limits for one in sliders])
        text, colours = limit_line(found), slider_colours(self.sliders, names, found)
        self._limits.content, self._limits.visible = text, bool(text)
        self._colours.content = colours

    def _set_sliders(self) -> None:
        """Set the sliders to the robot's coordinates: after a button or the gizmo, and where it could not follow."""
        for slider, x in zip(self.sliders, self._slider_set.values(self.q), strict=True):
            if abs(slider.value - x) > UNMOVED:
                slider.min, slider.max = min(slider.min, x), max(slider.max, x)
                slider.value = _rounded(x)

    def _show_forces(self) -> None:
        try:
            held = self._slider_set.holding(self.q)
        except (AppellError, AppellWarning) as error:
            self._table.content = line(str(error))
            return
        self._greatest = max(self._greatest, float(np.abs(held).max(initial=0.0)))
        rows = [
            (name, float(force), unit, most if math.isfinite(most) and most > 0.0 else self._greatest)
            for (name, unit, most), force in zip(self._slider_set.forces, held, strict=True)
        ]
        self._table.content = bars(rows)
        if held_count(self._robot):
            self._scale.update()
            contacts = stance(self._robot, self.q, held)
            places = [contact.position(self._scene.poses) for contact in contacts]
            self._stance.draw(places, [contact.at(0.0) for contact in contacts])


def _rounded(x: float) -> float:
    """Return a value without rounding errors of zero, which the page would print as -0.000."""
    return round(x, 10) + 0.0


def _slider(gui: Any, one: Slider, at: float) -> Any:
    digits = max(0, math.ceil(-math.log10((one.high - one.low) / 500.0)))
    step = 10.0**-digits
    # rounded outwards to whole steps: the page prints the ends of the range in full
    low, high = math.floor(one.low / step) * step, math.ceil(one.high / step) * step
    hint = f"{one.low:.4g} to {one.high:.4g} {one.unit}"
    slider = gui.add_slider(one.label, round(low, digits), round(high, digits), step, _rounded(at), hint=hint)
    slider.precision = digits
    return slider


def _floats(robot: Robot) -> bool:
    return any(
        body.parent == WORLD and body.joint.kind in ("free", "planar", "prismatic") for body in robot.model.bodies
    )


def _about(robot: Robot) -> str:
    label = f", {robot.kind.facts.label}" if robot.kind.facts.label else ""
    return f"{len(robot.link_names)} bodies, {robot.nv} degrees of freedom{label}, {robot.total_mass:.4g} kg"

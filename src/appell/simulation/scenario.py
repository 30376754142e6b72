"""Scenarios: a complete simulation as a TOML file.

The keys are those of :func:`appell.simulate`, and the robot, the initial state, the walls and the control are tables.
SI units; angles in radians, or strings such as ``"90 deg"``::

    title = "a leg dropped on the floor"    # optional, as are all keys below unless marked
    duration = 2.0                          # required [s]

    robot = "puma560"                       # required: a catalogue name, a file relative to this one, or a table:
    # [robot]
    # source = "robot.urdf"                 # required
    # floating = false
    # friction = true                       # false: without joint damping and Coulomb friction
    # armature = true                       # false: without rotor inertia
    # mimic = false
    # gravity = [0.0, 0.0, -9.81]

    restitution = 1.0                       # for walls without their own value: a number, or a table by point
    friction = 0.0                          # likewise
    impact_law = "newton"                   # or "poisson"
    tie_window = 1e-4                       # [s]
    rest_speed = 1e-6                      # [m/s]
    limits = false                          # true, or the restitution at the joint limits
    points = ["tool", { frame = "link3", position = [0.0, 0.0, 0.1], name = "elbow", radius = 0.05 }]
    method = "dop853"                       # or "radau", or "rk4" or "symplectic" with
    # step = 1e-3                           # [s]
    rtol = 1e-10
    atol = 1e-12
    max_steps = 100000                      # the run ends early after this many steps
    timeout = 60.0                          # the run ends early after this wall time [s]

    [start]
    q = "neutral"                           # or a list, or joints by name: { joint2 = "-30 deg" }, others neutral
    v = { joint2 = 1.0 }                    # a list, or joints by name; zero where absent

    [[walls]]                               # any number of them
    kind = "circle"                         # required; walls/table.py: WALLS lists the keys of each kind
    radius = 2.5
    restitution = 0.9                       # for all kinds: restitution, friction, points (names) and name
    points = ["tool"]

    [control]
    kind = "pd"                             # "none", "constant" with tau, or "pd":
    kp = 100.0                              # τ = kp·(goal ⊖ q) − kd·v, a number, a list, or joints by name
    kd = 20.0
    goal = "neutral"                        # as start.q
    gravity = true                          # adds gravity compensation at q
    rate = 500.0                            # [Hz]: sampled and held; continuous where absent

A scalar gain applies to every joint except a floating base, which has no motor. Unknown keys are errors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from appell.arguments import whole
from appell.errors import AppellError, InputError
from appell.files import is_file
from appell.loading import load
from appell.messages import alternatives, shown
from appell.model.parameters import joint_of_velocity
from appell.read.catalogue import names
from appell.read.place import Place, check_keys
from appell.read.toml import tables
from appell.read.values import angle, number, sequence, table, text, vector
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.simulation.contact.impact import IMPACT_LAWS
from appell.simulation.contact.points import Point, resolve
from appell.simulation.laws.joint_laws import PD, PDGravity
from appell.simulation.simulate import METHODS, simulate
from appell.simulation.walls.table import MOST, choice, not_negative, per_point, positive, read_wall, truth
from appell.spatial.scalar import Array

Entries = Mapping[str, object]

NUMBERS = ("tie_window", "rest_speed", "rtol", "atol", "step", "timeout")
OPTIONS = ("restitution", "friction", "impact_law", "limits", "points", "method", "max_steps", *NUMBERS)
TOP_KEYS = ("title", "robot", "duration", "start", "walls", "control", *OPTIONS)
ROBOT_KEYS = ("source", "floating", "friction", "armature", "mimic", "gravity")


@dataclass(frozen=True)
class Scenario:
    """A simulation as data: the robot, its initial state, the duration, and the options of :func:`appell.simulate`."""

    title: str
    robot: Robot
    q: Array
    v: Array
    duration: float
    options: Mapping[str, Any] = field(repr=False)
    place: Place = field(default_factory=Place, repr=False)

    def run(self, *, progress: bool = False) -> Run:
        """Return the simulated run.

        Raises
        ------
        ReadError
            When a point starts beyond a wall, or values do not fit together; the message names the file.
        """
        try:
            return simulate(self.robot, self.q, self.v, self.duration, progress=progress, **self.options)
        except InputError as error:
            raise (self.place.at("start") if "at t = 0" in str(error) else self.place).error(str(error)) from None


def read_scenario(path_or_text: str | os.PathLike[str]) -> Scenario:
    """Read a scenario from a file, or from TOML text (a string of more than one line).

    Parameters
    ----------
    path_or_text : str or path
        The file's path, or its text.

    Returns
    -------
    Scenario
        The robot, its initial state, the duration and the options; ``scenario.run()`` simulates it.

    Raises
    ------
    ReadError
        When the file cannot be read or is not a valid scenario; the message names the file and the key.

    Examples
    --------
    >>> scenario = read_scenario('''
    ... robot = "two-link"
    ... duration = 0.5
    ... [start]
    ... q = { joint1 = "-30 deg" }
    ... ''')
    >>> scenario.run().t[-1]
    np.float64(0.5)
    """
    top, place = tables(path_or_text)
    check_keys(top, TOP_KEYS, place)
    for key in ("robot", "duration"):
        if key not in top:
            raise place.error(f"'{key}' is missing; add it")
    robot = read_robot(top["robot"], place.at("robot"))
    start = table(top.get("start", {}), place.at("start"))
    check_keys(start, ("q", "v"), place.at("start"))
    q = _configuration(start.get("q", "neutral"), robot, place.at("start").at("q"))
    v = _each(start.get("v", {}), "v", robot, place.at("start").at("v"))
    return Scenario(
        text(top.get("title", "-"), place.at("title")),
        robot,
        q,
        v,
        positive(top["duration"], place.at("duration")),
        _options(top, robot, place),
        place,
    )


def read_robot(value: object, place: Place) -> Robot:
    """Return the robot of a TOML file: a catalogue name, a file relative to it, or a table with ``source``."""
    entries: Entries = {"source": value} if isinstance(value, str) else table(value, place)
    check_keys(entries, ROBOT_KEYS, place)
    if "source" not in entries:
        raise place.error("'source' is missing; add a catalogue name or a file")
    at = place.at("source") if not isinstance(value, str) else place
    source = text(entries["source"], at)
    beside = Path(place.source).parent / source
    if source not in names() and place.source != "<text>" and (beside.suffix or is_file(beside)):
        source = str(beside)
    switches = ("floating", "friction", "armature", "mimic")
    options: dict[str, Any] = {key: truth(entries[key], place.at(key)) for key in switches if key in entries}
    if "gravity" in entries:
        options["gravity"] = vector(entries["gravity"], place.at("gravity"))
    try:
        return load(source, **options)
    except AppellError as error:
        raise at.error(str(error)) from None


# State


def _configuration(value: object, robot: Robot, place: Place) -> Array:
    """Return q from a list, from joints by name, or "neutral"."""
    q = robot.neutral()
    if isinstance(value, str):
        if value != "neutral":
            raise place.error(f"expected 'neutral', a list of {robot.nq} numbers or joints by name, got {shown(value)}")
        return q
    if isinstance(value, Mapping):
        _by_name(value, robot.places("q"), q, robot, place)
    else:
        q[:] = _entries(value, robot.nq, place)
    try:
        return robot.assemble(q)
    except AppellError as error:
        raise place.error(str(error)) from None


def _each(value: object, letter: str, robot: Robot, place: Place, *, everywhere: bool = False) -> Array:
    """Return one number per velocity or torque, from a list or by joint name; with `everywhere`, or one for all."""
    places = robot.places(letter)
    result = np.zeros(robot.nv if letter == "v" else robot.nu)
    if isinstance(value, Mapping):
        _by_name(value, places, result, robot, place)
    elif everywhere and not isinstance(value, list):
        result[_has_motor(robot)] = number(value, place)
    else:
        result[:] = _entries(value, len(result), place)
    return result


def _by_name(value: Entries, places: dict[str, list[int]], result: Array, robot: Robot, place: Place) -> None:
    for name, entry in value.items():
        if name not in places:
            raise place.error(f"robot '{robot.name}' has no joint '{name}'; {alternatives(name, places, 40)}")
        result[places[name]] = _entries(entry, len(places[name]), place.at(name))


def _has_motor(robot: Robot) -> Array:
    """Return which torques have a motor, (nu,): all except those of a floating base."""
    free = {body.joint.name for body in robot.model.bodies if body.joint.kind == "free"}
    return np.array([joint_of_velocity(name, free)[0] not in free for name in robot.facts.forces], dtype=bool)


def _entries(value: object, count: int, place: Place) -> list[float]:
    """Return `count` numbers or angles; a joint with one coordinate needs no list."""
    if count == 1 and not isinstance(value, list):
        return [angle(value, place)]
    entries = sequence(value, place)
    if len(entries) != count:
        raise place.error(f"expected {count} numbers, got {len(entries)}")
    return [angle(entry, place.at(k)) for k, entry in enumerate(entries)]


# Options


def _options(top: Entries, robot: Robot, place: Place) -> dict[str, Any]:
    options: dict[str, Any] = {}
    points = None
    if "points" in top:
        points = [
            _point(entry, place.at("points").at(k))
            for k, entry in enumerate(sequence(top["points"], place.at("points")))
        ]
        options["points"] = points
    try:
        known = [point.name for point in resolve(robot, points)]
    except InputError as error:
        raise place.at("points").error(str(error)) from None
    for key, most in MOST.items():
        if key in top:
            options[key] = per_point(top[key], known, place.at(key), most)
    for key, choices in (("impact_law", IMPACT_LAWS), ("method", METHODS)):
        if key in top:
            options[key] = choice(top[key], choices, place.at(key))
    for key in NUMBERS:
        if key in top:
            options[key] = (positive if key in ("step", "rtol", "timeout") else not_negative)(top[key], place.at(key))
    if "max_steps" in top:
        try:
            options["max_steps"] = whole("max_steps", top["max_steps"])
        except InputError as error:
            raise place.error(str(error)) from None
    if "limits" in top:
        options["limits"] = (
            top["limits"] if isinstance(top["limits"], bool) else _share(top["limits"], place.at("limits"))
        )
    walls = sequence(top.get("walls", []), place.at("walls"))
    options["walls"] = [read_wall(entry, known, place.at("walls").at(k)) for k, entry in enumerate(walls)]
    return options | _control(table(top.get("control", {}), place.at("control")), robot, place.at("control"))


def _point(value: object, place: Place) -> str | Point:
    if isinstance(value, str):
        return value
    entries = table(value, place)
    check_keys(entries, ("frame", "position", "name", "radius"), place)
    if "frame" not in entries:
        raise place.error("'frame' is missing; add the name of a link or frame")
    position = vector(entries.get("position", (0.0, 0.0, 0.0)), place.at("position"))
    name = text(entries["name"], place.at("name")) if "name" in entries else ""
    radius = not_negative(entries.get("radius", 0.0), place.at("radius"))
    return Point(text(entries["frame"], place.at("frame")), position, name, radius=radius)


# Control


def _control(entries: Entries, robot: Robot, place: Place) -> dict[str, Any]:
    """Return the control law of a run and its sampling rate."""
    keys = {"none": (), "constant": ("tau",), "pd": ("kp", "kd", "goal", "gravity", "rate")}
    kind = choice(entries.get("kind", "none"), tuple(keys), place.at("kind"))
    check_keys(entries, ("kind", *keys[kind]), place)
    required = {"none": (), "constant": ("tau",), "pd": ("kp", "kd")}[kind]
    missing = [key for key in required if key not in entries]
    if missing:
        raise place.error(f"control of kind '{kind}' needs '{missing[0]}'; add it")
    if kind == "none":
        return {}
    if kind == "constant":
        return {"control": _each(entries["tau"], "tau", robot, place.at("tau"))}
    kp, kd = (_each(entries[key], "tau", robot, place.at(key), everywhere=True) for key in ("kp", "kd"))
    goal = _configuration(entries.get("goal", "neutral"), robot, place.at("goal"))
    is_held = truth(entries.get("gravity", False), place.at("gravity"))
    law, motors = (PDGravity if is_held else PD)(robot, goal, kp, kd), _has_motor(robot)
    control: dict[str, Any] = {"control": law if motors.all() else lambda *state: np.where(motors, law(*state), 0.0)}
    if "rate" in entries:
        control["rate"] = positive(entries["rate"], place.at("rate"))
    return control


def _share(value: object, place: Place) -> float:
    x = not_negative(value, place)
    if x > 1.0:
        raise place.error(f"expected true, false or a restitution from 0 to 1, got {x:g}")
    return x

"""``appell info``: the contents of a robot file, and warnings about the robot."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from appell.cli import terminal
from appell.cli.common import FILES, AsJson, RobotOptions, argument, show, show_json, show_lines, with_robot_options
from appell.messages import listed
from appell.model.mimic import mistake
from appell.model.model import WORLD, Body, Joint, Model
from appell.read.catalogue import file_text, names
from appell.reports.layout import tree
from appell.reports.table import Cell, Table
from appell.robot.robot import Robot
from appell.robot.singular.massless import massless
from appell.spatial.vector import sub

JOINT_PARAMETERS = ("damping", "friction", "armature", "stiffness")


@with_robot_options
def command(
    options: RobotOptions,
    robot: str | None = argument(
        "ROBOT", f"A {FILES}, or a catalogue name such as puma560; without it, the catalogue is listed.", names
    ),
    as_json: AsJson = False,
) -> None:
    """Show the tree, joints, limits and inertias of a robot, with warnings.

    Without a robot: list the catalogue.

    Example: appell info puma560
    """
    if robot is None:
        _list(as_json)
        return
    loaded, reader_warnings = options.load()
    found = [*reader_warnings, *remarks(loaded)]
    facts = describe(loaded, found)
    if as_json:
        show_json(facts)
        return
    label = f"{loaded.kind.facts.label}, " if loaded.kind.facts.label else ""
    sizes = f"nq {facts['nq']}, nv {facts['nv']}, nu {facts['nu']}"
    show(f"{facts['name']}: {label}{sizes}, moving mass {facts['mass']:.6g} kg")
    show(f"gravity {_vector(facts['gravity'])} m/s²", "")
    show_lines([*_tree(loaded.model), ""])
    show(_joints(facts), _bodies(facts))
    if facts["closures"]:
        show(_closures(facts))
    if not set(facts["coordinates"]) <= {joint["name"] for joint in facts["joints"]}:
        show("coordinates:", *facts["order"], "")
    elif facts["actuators"] != facts["coordinates"]:
        show(*(f"{what}: {', '.join(facts[what])}" for what in ("independent", "actuators")))
    show(f"frames: {', '.join(facts['frames']) or 'none'}")
    show("", f"warnings: {len(found) or 'none'}", *(f"  {k}. {remark}" for k, remark in enumerate(found, 1)))


def _list(as_json: bool) -> None:
    """Print the names of the catalogue, each with the source of its numbers."""
    sources = {name: tomllib.loads(file_text(name)).get("source", "") for name in names()}
    if as_json:
        show_json(sources)
    else:
        show(Table("Catalogue of robots", ("name", "source"), tuple(sources.items())))


def describe(robot: Robot, found: list[str]) -> dict[str, Any]:
    """Return the description of a robot as plain values."""
    model = robot.model
    joints, bodies = [], []
    for body in model.bodies:
        joint, mimic = body.joint, body.joint.mimic
        parent = "world" if body.parent == WORLD else model.bodies[body.parent].name
        joints.append(
            {
                **{key: getattr(joint, key) for key in ("name", "kind", "axis")},
                "parent": parent,
                "child": body.name,
                **asdict(joint.limits),
                **{key: getattr(joint, key) for key in JOINT_PARAMETERS},
                "mimic": mimic and {"joint": mimic.joint, "multiplier": mimic.multiplier, "offset": mimic.offset},
            }
        )
        inertia = body.inertia
        bodies.append(
            {"name": body.name, "mass": inertia.mass, "centre": inertia.centre, "inertia": inertia.parameters[4:]}
        )
    ties = [{"name": t.name, "kind": t.kind, "first": t.first, "second": t.second} for t in model.closures]
    return {
        **{key: getattr(robot, key) for key in ("name", "nq", "nv", "nu")},
        "coordinates": robot.joint_names,
        "independent": robot.independent,
        "actuators": robot.actuators,
        "order": [line for line in robot.kind.facts.lines if line],
        "home": robot.neutral(),
        "closures": ties,
        "rank": robot.rank._asdict(),
        "rows": sum(len(t.rows) for t in model.closures),
        "mass": math.fsum(body["mass"] for body in bodies),
        "gravity": model.gravity,
        "base": {"name": model.base.name, "mass": model.base.inertia.mass},
        "is_coupled": model.is_coupled,
        "joints": joints,
        "bodies": bodies,
        "frames": robot.frame_names,
        "warnings": found,
    }


def _tree(model: Model) -> list[str]:
    """Return the bodies below each other, each with its joint and mass."""
    base = f"{model.base.name}, fixed to the world" if model.base.name != "world" else "world"
    labels = []
    for body in model.bodies:
        joint = body.joint
        label = f"{body.name}, {body.inertia.mass:.4g} kg, joint {joint.name} ({joint.kind}"
        if joint.mimic is not None:
            label += f", {'mimics' if model.is_coupled else 'could mimic'} {joint.mimic.joint}"
        labels.append(f"{label})")
    return tree(base, labels, [body.parent for body in model.bodies], terminal.width())


def _joints(facts: dict[str, Any]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    shown = JOINT_PARAMETERS if any(joint["stiffness"] for joint in facts["joints"]) else JOINT_PARAMETERS[:-1]
    for joint in facts["joints"]:
        place = facts["coordinates"].index(joint["name"]) if (joint["name"] in facts["coordinates"]) else None
        span = f"{joint['lower']:.4g} … {joint['upper']:.4g}"
        most = f"{joint['velocity']:.4g}, {joint['effort']:.4g}"
        friction = tuple(joint[key] for key in shown)
        where = f"{joint['parent']} → {joint['child']}"
        mimic = joint["mimic"]
        follows = mimic and f"{mimic['multiplier']:.4g} · {mimic['joint']} + {mimic['offset']:.4g}"
        rows.append(
            (place, joint["name"], joint["kind"], _vector(joint["axis"]), where, span, most, *friction, follows)
        )
    columns = ("", "joint", "kind", "axis", "between", "limits", "velocity, effort", *shown)
    units = "Units: rad, N·m, s for revolute joints; m, N, s for prismatic joints. Axes are in the joint frame."
    if not any(joint["mimic"] for joint in facts["joints"]):
        return Table("Joints in the order of q", columns, tuple(row[:-1] for row in rows), (units,))
    binding = "Mimic joints have no number." if facts["is_coupled"] else "Mimic joints are not coupled (see --mimic)."
    return Table("Joints in the order of q", (*columns, "mimics"), tuple(rows), (units, binding))


def _closures(facts: dict[str, Any]) -> Table:
    rows = tuple((t["name"], t["kind"], t["first"], t["second"]) for t in facts["closures"])
    rank = facts["rank"]
    gap = f"relative singular values fall from {rank['kept']:.2g} to {rank['dropped']:.2g}"
    note = f"Rank {rank['value']} of {facts['rows']} constraint rows"
    note += f"; {gap}." if facts["rows"] > rank["value"] else ", none redundant."
    return Table("Closures", ("closure", "kind", "first frame", "second frame"), rows, (note,))


def _bodies(facts: dict[str, Any]) -> Table:
    rows = [
        (k, body["name"], body["mass"], _vector(body["centre"]), *map(_rounded, body["inertia"]))
        for k, body in enumerate(facts["bodies"])
    ]
    columns = ("", "body", "mass [kg]", "centre [m]", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    notes = (
        "Centre of mass and inertia [kg·m²] in the body frame, inertia about its origin; fixed links are merged in.",
    )
    return Table("Bodies", columns, tuple(rows), notes)


def _vector(values: Any) -> str:
    return " ".join(f"{_rounded(x):.4g}" for x in values)


def _rounded(x: float) -> float:
    """Return a number, zero where rounding alone makes it different."""
    return float(x) if abs(x) > 1e-15 else 0.0


# Warnings, each with its remedy

EARTH = (9.76, 9.84)
"""The range of gravity on Earth [m/s²], with a margin for rounding."""
WIDE = 10.0
"""The ratio of radius of gyration to the size of the largest link beyond which the units are suspect."""


def remarks(robot: Robot) -> list[str]:
    """Return warnings about the data of a robot.

    >>> import appell
    >>> remarks(appell.load("puma560", gravity=(0, 0, 0)))[-1]
    'gravity is zero; give gravity=(0, 0, -9.81) if the robot stands on the ground'
    """
    model = robot.model
    return [*_inertias(robot), *_followers(model), *_limits(robot), *_gravity(model)]


def _inertias(robot: Robot) -> Iterator[str]:
    model = robot.model
    idle, together = massless(robot.independent, robot.mass_matrix(robot.random(np.random.default_rng(0))))
    if together:
        yield (
            f"joints {listed(together)} can move together without moving an inertia: the mass matrix is singular "
            "and forward dynamics is undefined; give the bodies between them mass, or the joints rotor inertia"
        )
    if idle:
        yield (
            f"joints {listed(idle)} move no inertia: the mass matrix is singular and forward dynamics fails; give "
            "their links mass, the joints rotor inertia, or make them fixed"
        )
    moving = [body for body in model.bodies if body.joint.name not in idle and not body.name.endswith("/cross")]
    empty = [b.name for b in moving if not b.inertia.mass and not any(b.inertia.parameters)]
    if empty:
        yield f"bodies {listed(empty)} have no mass and no inertia; add <inertial> if they have any"
    points = [b.name for b in moving if b.inertia.mass and max(_principal(b)) <= 1e-12 * b.inertia.mass]
    if points:
        yield f"bodies {listed(points)} are point masses, with zero inertia about the centre of mass; add the inertia"
    size = max(
        (math.hypot(*x) for b in model.bodies for x in (b.joint.placement.position, b.inertia.centre)), default=0.0
    )
    wide = [b.name for b in moving if size and max(0.0, *_principal(b)) > (WIDE * size) ** 2 * b.inertia.mass > 0.0]
    if wide:
        yield (
            f"bodies {listed(wide)} have an inertia too large for their mass (radius of gyration over {WIDE:g} "
            "times the size of the largest link); check its units"
        )


def _principal(body: Body) -> tuple[float, float, float]:
    """Return the diagonal of the inertia tensor about the centre of mass."""
    mass, c, tensor = body.inertia.mass, body.inertia.centre, body.inertia.tensor
    square = sum(x * x for x in c)
    xx, yy, zz = (float(tensor[k][k] - mass * (square - c[k] * c[k])) for k in range(3))
    return (xx, yy, zz)


def _followers(model: Model) -> Iterator[str]:
    if model.is_coupled:
        return
    joints = {body.joint.name: body.joint for body in model.bodies}
    followers = [(joint, joint.mimic) for joint in joints.values() if joint.mimic is not None]
    bad = [f"{joint.name} → {mimic.joint}" for joint, mimic in followers if mistake(joint, mimic, joints)]
    good = [f"{joint.name} → {mimic.joint}" for joint, mimic in followers if not mistake(joint, mimic, joints)]
    if good:
        yield f"mimic joints ({listed(good)}) are not coupled; mimic=True (--mimic) couples them"
    if bad:
        yield (
            f"mimic joints ({listed(bad)}) name no moving joint with one coordinate and are not coupled; correct the "
            "names to use mimic=True"
        )


def _limits(robot: Robot) -> Iterator[str]:
    joints = [body.joint for body in robot.model.bodies if body.joint.name in robot.joint_names]

    def those(is_so: Callable[[Joint], bool]) -> list[str]:
        return [joint.name for joint in joints if is_so(joint)]

    checks: Iterable[tuple[Callable[[Joint], bool], str]] = (
        (
            lambda j: j.kind in ("revolute", "prismatic") and math.isinf(j.limits.lower) and math.isinf(j.limits.upper),
            "have no position limits; random configurations use ±π or ±1 m; add limits, or make them continuous",
        ),
        (
            lambda j: j.limits.lower == j.limits.upper,
            "have equal lower and upper limits; widen them, or make the joints fixed",
        ),
        (lambda j: j.limits.velocity <= 0.0, "have a velocity limit of zero or less; remove or correct it"),
        (lambda j: j.limits.effort <= 0.0, "have an effort limit of zero or less; remove or correct it"),
    )
    for is_so, problem in checks:
        names = those(is_so)
        if names:
            yield f"joints {listed(names)} {problem}"


def _gravity(model: Model) -> Iterator[str]:
    size = math.hypot(*model.gravity)
    usual = "give gravity=(0, 0, -9.81) if the robot stands on the ground"
    if size == 0.0:
        yield f"gravity is zero; {usual}"
    elif not EARTH[0] <= size <= EARTH[1]:
        yield f"gravity is {size:g} m/s², not that of Earth; {usual}"
    elif math.hypot(*sub(model.gravity, (0.0, 0.0, -size))) > 1e-3 * size:
        along = ", ".join(f"{x:g}" for x in model.gravity)
        yield f"gravity does not point along −z but along ({along}); {usual} with z up"

"""``appell info``: the contents of a robot file."""

from __future__ import annotations

import math
import tomllib
from dataclasses import asdict
from typing import Annotated, Any

from appell.cli import terminal
from appell.cli.common import (
    FILES,
    AsJson,
    RobotOptions,
    argument,
    show,
    show_json,
    show_lines,
    with_robot_options,
)
from appell.cli.remarks import remarks
from appell.model.model import WORLD, Model
from appell.read.catalogue import file_text, names
from appell.reports.layout import tree
from appell.reports.table import Cell, Table
from appell.robot.robot import Robot

Shown = Annotated[
    str | None,
    argument("ROBOT", f"A {FILES}, or a catalogue name such as puma560; without it, the catalogue is listed.", names),
]


JOINT_PARAMETERS = ("damping", "friction", "armature", "stiffness")


@with_robot_options
def command(options: RobotOptions, robot: Shown = None, as_json: AsJson = False) -> None:
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
                "name": joint.name,
                "kind": joint.kind,
                "axis": joint.axis,
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
        "name": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "nu": robot.nu,
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
    is_sprung = any(joint["stiffness"] for joint in facts["joints"])
    shown = JOINT_PARAMETERS if is_sprung else JOINT_PARAMETERS[:-1]
    for joint in facts["joints"]:
        is_own = joint["name"] in facts["coordinates"]
        place = facts["coordinates"].index(joint["name"]) if is_own else None
        span = f"{joint['lower']:.4g} … {joint['upper']:.4g}"
        most = f"{joint['velocity']:.4g}, {joint['effort']:.4g}"
        friction = tuple(joint[key] for key in shown)
        where = f"{joint['parent']} → {joint['child']}"
        follows = _followed(joint["mimic"])
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


def _followed(mimic: dict[str, Any] | None) -> str | None:
    return None if mimic is None else f"{mimic['multiplier']:.4g} · {mimic['joint']} + {mimic['offset']:.4g}"


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

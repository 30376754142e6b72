"""A robot as a notebook shows it: its sizes, and a table of links in the order of the tree, with joints and limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from appell.display import Html, card, folded, table
from appell.model.joints import QUATERNION

if TYPE_CHECKING:
    from appell.robot.properties.records import JointRecord, LinkRecord
    from appell.robot.robot import Robot

OPEN = 60
"""Links up to which the table is unfolded at first."""
COLUMNS = ("link", "mass [kg]", "centre of mass [m]", "joint", "kind", "axis", "range", "velocity", "effort")


def summary(robot: Robot) -> Html:
    """Return a robot as HTML; names are escaped."""
    model = robot.model
    sizes = f"nq {robot.nq}, nv {robot.nv}, {robot.total_mass:.4g} kg"
    label = f"{robot.facts.label}, " if robot.facts.label else ""
    gravity = ", ".join(f"{float(x):g}" for x in model.gravity)
    lines = [f"{len(model.bodies)} bodies, {label}{sizes}, gravity ({gravity}) m/s²"]
    if robot.closure_names:
        lines.append(f"loop closures: {', '.join(robot.closure_names)}; actuators: {', '.join(robot.actuators)}")
    rows = list(_rows(robot))
    return card(f"Robot '{robot.name}'", *lines, folded(f"{len(rows)} links", table(COLUMNS, rows), len(rows) <= OPEN))


def _rows(robot: Robot) -> Iterator[tuple[object, ...]]:
    """Return one row per link, depth first."""
    below: dict[str, list[LinkRecord]] = {}
    for link in robot.links.values():
        below.setdefault(link.parent, []).append(link)
    pending = [(link, 0) for link in reversed(below.get("", []))]
    while pending:
        link, depth = pending.pop()
        centre = ", ".join(f"{float(x):.3g}" for x in link.centre) if link.mass > 0.0 else None
        name = "\u2003" * (depth - 1) + "└ " * (depth > 0) + link.name
        yield name, link.mass, centre, *_joint(robot.joints[link.joint] if link.joint else None, depth)
        pending += [(child, depth + 1) for child in reversed(below.get(link.name, []))]


def _joint(joint: JointRecord | None, depth: int) -> tuple[object, ...]:
    """Return the cells of a joint: name, kind, axis, and limits with their units."""
    if joint is None:
        return None, "fixed" if depth else None, None, None, None, None
    if joint.kind in QUATERNION:
        return joint.name, joint.kind, None, None, None, None
    length, force = ("m", "N") if joint.kind == "prismatic" else ("rad", "N·m")
    limits = joint.limits
    has_range = math.isfinite(limits.lower) or math.isfinite(limits.upper)
    return (
        joint.name,
        joint.kind,
        ", ".join(f"{float(x):.3g}" for x in joint.axis),
        f"{limits.lower:.4g} … {limits.upper:.4g} {length}".replace("-", "−") if has_range else None,
        f"{limits.velocity:.4g} {length}/s" if math.isfinite(limits.velocity) else None,
        f"{limits.effort:.4g} {force}" if math.isfinite(limits.effort) else None,
    )

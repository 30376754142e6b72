"""``appell info``: what is in a robot's file."""

from __future__ import annotations

import math
from typing import Any

from appell.cli.common import AsJson, Gravity, NoFriction, RobotName, open_robot, show, show_json
from appell.model.model import WORLD
from appell.results.table import Table
from appell.robot.robot import Robot


def command(
    robot: RobotName, no_friction: NoFriction = False, gravity: Gravity = None, as_json: AsJson = False
) -> None:
    """Show a robot: joints, bodies, frames, and what is odd about its file.

    Example: appell info puma560
    """
    loaded, remarks = open_robot(robot, no_friction, gravity)
    told = describe(loaded, remarks)
    if as_json:
        show_json(told)
        return
    show(f"{told['name']}: {told['nq']} coordinates, {told['nv']} velocities, {told['mass']:.6g} kg that move")
    show(f"gravity {_vector(told['gravity'])} m/s²", "")
    show(_joints(told), _bodies(told))
    show(f"frames: {', '.join(told['frames']) or 'none'}")
    show("", f"warnings: {len(remarks) or 'none'}", *(f"  {k}. {remark}" for k, remark in enumerate(remarks, 1)))


def describe(robot: Robot, remarks: list[str]) -> dict[str, Any]:
    """Return what there is to say about a robot as plain values."""
    model = robot.model
    joints, bodies = [], []
    for body in model.bodies:
        joint, limits = body.joint, body.joint.limits
        parent = "world" if body.parent == WORLD else model.bodies[body.parent].name
        joints.append(
            {
                "name": joint.name,
                "kind": joint.kind,
                "axis": joint.axis,
                "parent": parent,
                "child": body.name,
                "lower": limits.lower,
                "upper": limits.upper,
                "velocity": limits.velocity,
                "effort": limits.effort,
                "damping": joint.damping,
                "friction": joint.friction,
                "armature": joint.armature,
            }
        )
        inertia = body.inertia
        bodies.append(
            {"name": body.name, "mass": inertia.mass, "centre": inertia.centre, "inertia": inertia.parameters[4:]}
        )
    return {
        "name": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": math.fsum(body["mass"] for body in bodies),
        "gravity": model.gravity,
        "joints": joints,
        "bodies": bodies,
        "frames": robot.frame_names,
        "warnings": remarks,
    }


def _joints(told: dict[str, Any]) -> Table:
    rows = []
    for k, joint in enumerate(told["joints"]):
        span = f"{_bound(joint['lower'])} … {_bound(joint['upper'])}"
        most = f"{_bound(joint['velocity'])}, {_bound(joint['effort'])}"
        friction = (joint["damping"], joint["friction"], joint["armature"])
        where = f"{joint['parent']} → {joint['child']}"
        rows.append((k, joint["name"], joint["kind"], _vector(joint["axis"]), where, span, most, *friction))
    columns = ("", "joint", "kind", "axis", "between", "limits", "speed, effort", "damping", "friction", "armature")
    units = "rad, N·m and seconds for turning joints, m, N and seconds for sliding ones; axes in the joint's frame"
    return Table("Joints, in the order of q and v", columns, tuple(rows), (units,))


def _bodies(told: dict[str, Any]) -> Table:
    rows = [
        (k, body["name"], body["mass"], _vector(body["centre"]), _vector(body["inertia"]))
        for k, body in enumerate(told["bodies"])
    ]
    columns = ("", "body", "mass [kg]", "centre [m]", "Ixx Ixy Iyy Ixz Iyz Izz [kg·m²]")
    notes = ("Centre and inertia in the body's own frame, the inertia about its origin; fixed links are merged in.",)
    return Table("Bodies", columns, tuple(rows), notes)


def _bound(x: float) -> str:
    return f"{x:.4g}" if math.isfinite(x) else "free"


def _vector(values: Any) -> str:
    return " ".join(f"{x:.4g}" if abs(x) > 1e-15 else "0" for x in values)

"""toml files of models."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from appell.model.build import Connection, Link
from appell.model.closure import Closure
from appell.model.model import ROOT, WORLD, Base, Body, Coordinates, Frame, Joint, Limits, Model, Spring
from appell.read.dh import LOSS_KEYS
from appell.read.outline import outline, roll_pitch_yaw
from appell.read.shapes import toml_entries
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.syntax import quoted


def toml_text(model: Model, folder: Path | None = None) -> str:
    """Return a model as the text of a toml file in a folder, numbers with all digits.

    Examples
    --------
    >>> from appell.read.catalogue import read
    >>> print(toml_text(read("two-link")).splitlines()[0])
    name = "two-link"
    """
    tree = _on_ground(model)
    links, connections, shapes = outline(tree)
    lines = [f"name = {toml_value(model.name)}", f"gravity = {toml_value(model.gravity)}"]
    if tree is not model:
        lines.append("floating = true")
    if model.is_coupled:
        lines.append("mimic = true")
    if model.has_joint_columns:
        lines.append("joint_columns = true")
    if model.independent_velocities:
        lines.append(f"independent = {toml_value(model.independent_velocities)}")
    if model.actuators:
        lines.append(f"actuators = {toml_value(model.actuators)}")
    if model.home:
        lines.append(f"home = {toml_value(_coordinates(model.home))}")
    if model.configurations:
        named = {quoted(name): _coordinates(of) for name, of in model.configurations}
        lines.append(f"configurations = {toml_value(named)}")
    for link in links:
        lines += ["", "[[links]]", *_entries(_link(link) | toml_entries(shapes.get(link.name, ()), folder))]
    for connection in connections:
        lines += ["", "[[joints]]", *_entries(_joint(connection))]
    for spring in model.springs:
        lines += ["", "[[springs]]", *_entries(_spring(spring))]
    for closure in model.closures:
        lines += ["", "[[closures]]", *_entries(_closure(closure))]
    return "\n".join(lines) + "\n"


def _coordinates(of: Coordinates) -> dict[str, Any]:
    return {quoted(name): x if len(x) > 1 else x[0] for name, x in of}


def _on_ground(model: Model) -> Model:
    """Return the model without its floating base, or the model itself if its base is fixed."""
    root = Body(model.bodies[0].name, WORLD, Joint(ROOT, "free"), model.bodies[0].inertia) if model.bodies else None
    stands = [body.parent for body in model.bodies[1:]] + [frame.body for frame in model.frames]
    own = Frame(ROOT, 0, Pose())
    if root is None or root != model.bodies[0] or WORLD in stands or own not in model.frames or model.base != Base():
        return model
    bodies = tuple(replace(body, parent=body.parent - 1) for body in model.bodies[1:])
    frames = tuple(replace(frame, body=frame.body - 1) for frame in model.frames if frame != own)
    return replace(model, bodies=bodies, frames=frames, base=Base(root.name, root.inertia))


def _link(link: Link) -> dict[str, Any]:
    given = {"parameters": link.inertia, "included": link.included or Inertia()}
    return {"name": link.name} | {key: x.parameters for key, x in given.items() if x != Inertia()}


def _spring(spring: Spring) -> dict[str, Any]:
    joints = {quoted(name): c for name, c in spring.terms}
    own = {key: getattr(spring, key) for key in ("stiffness", "damping", "reference")}
    return {"name": spring.name, "joints": joints} | {key: x for key, x in own.items() if x}


def _closure(closure: Closure) -> dict[str, Any]:
    if closure.is_coupling:
        terms = tuple({"joint": joint, "coefficient": x} for joint, x in closure.coupling)
        return {"name": closure.name, "coupling": terms, "offset": closure.offset}
    entries: dict[str, Any] = {"name": closure.name, "first": closure.first, "second": closure.second}
    return entries | {"rows": closure.rows} | ({"radius": closure.radius} if closure.is_rolling else {})


def _joint(connection: Connection) -> dict[str, Any]:
    joint = connection.joint
    entries: dict[str, Any] = {"name": joint.name, "kind": joint.kind}
    entries |= {"parent": connection.parent, "child": connection.child}
    if joint.placement != Pose():
        entries["origin"] = {"xyz": joint.placement.position, "rpy": roll_pitch_yaw(joint.placement.rotation)}
    if joint.kind == "fixed":
        return entries
    entries["axis"] = joint.axis
    if joint.limits != Limits():
        given = {key: getattr(joint.limits, key) for key in ("lower", "upper", "velocity", "effort")}
        entries["limits"] = {key: x for key, x in given.items() if math.isfinite(x)}
    if joint.kind == "helical":
        entries["pitch"] = joint.pitch
    if joint.mimic is not None:
        relation = {"multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset}
        entries["mimic"] = {"joint": joint.mimic.joint, **relation}
    own = {key: getattr(joint, key) for key in ("offset", *LOSS_KEYS)}
    return entries | {key: x for key, x in own.items() if x}


def _entries(table: dict[str, Any]) -> list[str]:
    return [f"{key} = {toml_value(value)}" for key, value in table.items()]


def toml_value(value: Any) -> str:
    """Return a value in toml syntax, numbers with all digits."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(_entries(value)) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return str(value) if isinstance(value, int) else repr(float(value))

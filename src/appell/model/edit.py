"""Edits that keep the joints of a model: frames, inertias, joint attributes, parameters.

Each returns another model. An unknown name raises an error that lists the known ones. :mod:`appell.model.merge` locks
joints and combines models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce
from typing import Any

from appell.errors import InputError
from appell.messages import alternatives
from appell.model.build import Link, check_inertia, joint_faults
from appell.model.check import unusable
from appell.model.model import WORLD, Frame, Joint, JointParameters, Limits, Model
from appell.model.parameters import with_parameters as with_traced_parameters
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import msub, outer

ROUNDING = 1e-13
"""Relative size below which a number is a rounded zero."""
LIMITS = tuple(field.name for field in fields(Limits))


# Names


def frame_of(model: Model, name: object, what: str) -> Frame:
    """Return a frame by name."""
    if not isinstance(name, str) or name not in model.frame_index:
        raise InputError(_unknown(model, what, "frame", name, model.frame_index))
    return model.frame_index[name]


def joint_of(model: Model, name: object, what: str) -> int:
    """Return the index of the body that a joint carries."""
    names = [body.joint.name for body in model.bodies]
    if not isinstance(name, str) or name not in names:
        raise InputError(_unknown(model, what, "joint", name, names))
    return names.index(name)


def link_of(model: Model, name: object, what: str) -> int | Frame:
    """Return a link by name: the index of its body, `WORLD` for the base, or the frame of a fixed link."""
    names = [model.base.name, *(body.name for body in model.bodies)]
    if isinstance(name, str) and name in names[1:]:
        return names[1:].index(name)
    if name == model.base.name:
        return WORLD
    frame = model.frame_index.get(name) if isinstance(name, str) else None
    if frame is None or frame.inertia is None:
        fixed = [frame.name for frame in model.frames if frame.inertia is not None]
        raise InputError(_unknown(model, what, "link", name, dict.fromkeys([*names, *fixed])))
    return frame


def link_name(model: Model, body: int) -> str:
    """Return the name of a body, or of the base."""
    return model.base.name if body == WORLD else model.bodies[body].name


def _unknown(model: Model, what: str, kind: str, name: object, names: Any) -> str:
    return f"{what}: robot '{model.name}' has no {kind} {str(name)[:60]!r}; {alternatives(name, names, 40)}"


# Edits


def with_frame(model: Model, name: str, parent: str, pose: Pose) -> Model:
    """Return the model with one more frame, at a pose in a known one."""
    frame = frame_of(model, parent, "with_frame")
    if name in model.frame_index:
        raise InputError(f"with_frame: robot '{model.name}' has a frame '{name}' already; give another name")
    return replace(model, frames=(*model.frames, Frame(name, frame.body, frame.placement.then(pose))))


def with_payload(model: Model, frame: str, payload: Inertia) -> Model:
    """Return the model with a body, its inertia given in a frame, fixed to that frame."""
    check_inertia(Link("payload", payload), "with_payload")
    at = frame_of(model, frame, "with_payload")
    if at.inertia is not None:
        return _with_fixed(model, at, at.inertia.plus(payload))
    return with_inertia(model, at.body, inertia_of(model, at.body).plus(payload.moved(at.placement)))


def with_link(
    model: Model,
    name: str,
    mass: float | None = None,
    centre: Vector | None = None,
    tensor: Matrix | None = None,
) -> Model:
    """Return the model with another mass, mass centre or central inertia of a link; values of None are kept."""
    link = link_of(model, name, "with_link")
    own = own_inertia(model, link)
    changed = Inertia.from_centre(
        own.mass if mass is None else mass,
        own.centre if centre is None else centre,
        central_tensor(own) if tensor is None else tensor,
    )
    check_inertia(Link(name, changed), "with_link")
    if isinstance(link, Frame):
        return _with_fixed(model, link, changed)
    return with_inertia(model, link, reduce(Inertia.plus, _fixed_inertias(model, link), changed))


def _with_fixed(model: Model, frame: Frame, inertia: Inertia) -> Model:
    """Return the model with another inertia of a fixed link, and of the body that it is part of."""
    own = own_inertia(model, frame.body)
    frames = tuple(replace(f, inertia=inertia) if f is frame else f for f in model.frames)
    changed = replace(model, frames=frames)
    return with_inertia(changed, frame.body, reduce(Inertia.plus, _fixed_inertias(changed, frame.body), own))


def own_inertia(model: Model, link: int | Frame) -> Inertia:
    """Return the inertia of a link in its own frame, without that of the links fixed to it."""
    if isinstance(link, Frame):
        return link.inertia or Inertia()
    whole = inertia_of(model, link)
    own = reduce(Inertia.minus, _fixed_inertias(model, link), whole)
    if own is whole or abs(own.mass) > ROUNDING * abs(whole.mass):
        return own
    size = ROUNDING * max(
        abs(x) for row in whole.second for x in row
    )  # rounding would leave a residue of a massless link
    has_second = any(abs(x) > size for row in own.second for x in row)
    return Inertia(0.0, (0.0, 0.0, 0.0), own.second if has_second else NULL)


def _fixed_inertias(model: Model, body: int) -> list[Inertia]:
    """Return the inertias of the links fixed to a body, in its frame."""
    return [f.inertia.moved(f.placement) for f in model.frames if f.body == body and f.inertia is not None]


def central_tensor(inertia: Inertia) -> Matrix:
    """Return the inertia tensor about the mass centre."""
    about_centre = msub(inertia.second, outer(inertia.first, inertia.centre))
    return Inertia(inertia.mass, (0.0, 0.0, 0.0), about_centre).tensor


def with_inertia(model: Model, body: int, inertia: Inertia) -> Model:
    """Return the model with another inertia of a body, or of the base."""
    if body == WORLD:
        return replace(model, base=replace(model.base, inertia=inertia))
    bodies = list(model.bodies)
    bodies[body] = replace(bodies[body], inertia=inertia)
    return replace(model, bodies=tuple(bodies))


def inertia_of(model: Model, body: int) -> Inertia:
    """Return the inertia of a body, or of the base."""
    return model.base.inertia if body == WORLD else model.bodies[body].inertia


def with_joint(model: Model, name: str, changes: Mapping[str, float]) -> Model:
    """Return the model with other attributes of a joint: limits by their names, and joint parameters."""
    i = joint_of(model, name, "with_joint")
    old = model.bodies[i].joint
    own: Any = {key: x for key, x in changes.items() if key not in LIMITS}
    joint = replace(old, limits=replace(old.limits, **{key: changes[key] for key in LIMITS if key in changes}), **own)
    for fault in (*(f": {fault}" for fault in unusable(joint)), *(f" {fault}" for fault in joint_faults(joint))):
        raise InputError(f"with_joint: joint '{name}'{fault}")
    return _with_joints(model, {i: joint})


def with_parameters(model: Model, pi: Sequence[float]) -> Model:
    """Return the model with parameters π, the joint parameters written to the joints."""
    changed = with_traced_parameters(model, pi)
    own, joints = changed.own_joint_parameters, {}
    for i, body in enumerate(model.bodies if own else ()):
        values = {own[k] for k in model.velocities(i)}
        if len(values) > 1:
            raise InputError(
                f"with_parameters: joint '{body.joint.name}' of robot '{model.name}' has one {_attributes()} for all "
                f"of its {body.joint.type.nv} velocities, got different ones; use equal values, or pass parameters= to "
                "the verbs"
            )
        changes: Any = {key: float(x) for key, x in values.pop()._asdict().items()}
        joints[i] = replace(body.joint, **changes)
    return _with_joints(replace(changed, own_joint_parameters=()), joints)


def _attributes() -> str:
    return ", ".join(JointParameters._fields)


def _with_joints(model: Model, joints: Mapping[int, Joint]) -> Model:
    bodies = (replace(body, joint=joints.get(i, body.joint)) for i, body in enumerate(model.bodies))
    return replace(model, bodies=tuple(bodies))

"""Edits that leave the joints of a model where they are: frames, inertias, joint attributes, parameters.

Each returns another model. Names that are not there are refused with a list of those that are; joints are locked and
models put together in :mod:`appell.model.merge`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from appell.errors import InputError
from appell.model.build import Link, check_inertia, joint_faults, listed
from appell.model.check import unusable
from appell.model.model import WORLD, Frame, Joint, JointParameters, Limits, Model
from appell.model.parameters import with_parameters as with_traced_parameters
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import msub, outer

LIMITS = tuple(field.name for field in fields(Limits))


# Names


def frame_of(model: Model, name: object, what: str) -> Frame:
    """Return a frame by name."""
    if not isinstance(name, str) or name not in model.frame_index:
        raise InputError(_unknown(model, what, "frame", name, model.frame_index))
    return model.frame_index[name]


def joint_of(model: Model, name: object, what: str) -> int:
    """Return the body that a joint carries."""
    names = [body.joint.name for body in model.bodies]
    if not isinstance(name, str) or name not in names:
        raise InputError(_unknown(model, what, "joint", name, names))
    return names.index(name)


def link_of(model: Model, name: object, what: str) -> int:
    """Return a moving link by name; the base is `WORLD`."""
    names = [body.name for body in model.bodies]
    if isinstance(name, str) and name in names:
        return names.index(name)
    if name == model.base.name:
        return WORLD
    frame = model.frame_index.get(name) if isinstance(name, str) else None
    fixed = "" if frame is None else f" of its own: '{name}' is fixed to '{link_name(model, frame.body)}'"
    raise InputError(_unknown(model, what, "link", name, names) if not fixed else _fixed(model, what, name, fixed))


def link_name(model: Model, body: int) -> str:
    """Return the name of a body, or of the base."""
    return model.base.name if body == WORLD else model.bodies[body].name


def _unknown(model: Model, what: str, kind: str, name: object, names: Any) -> str:
    return f"{what}: robot '{model.name}' has no {kind} {str(name)[:60]!r}; it has {listed(names, 40)}"


def _fixed(model: Model, what: str, name: object, fixed: str) -> str:
    return (
        f"{what}: robot '{model.name}' has no link {str(name)[:60]!r}{fixed}, whose inertia includes it; name that "
        "link, or add mass at the frame by with_payload"
    )


# Edits


def with_frame(model: Model, name: str, parent: str, pose: Pose) -> Model:
    """Return the model with another frame, at a pose in one that it has."""
    frame = frame_of(model, parent, "with_frame")
    if name in model.frame_index:
        raise InputError(f"with_frame: robot '{model.name}' has a frame '{name}' already; give another name")
    return replace(model, frames=(*model.frames, Frame(name, frame.body, frame.placement.then(pose))))


def with_payload(model: Model, frame: str, payload: Inertia) -> Model:
    """Return the model with a body, its inertia given in a frame, fixed to that frame."""
    check_inertia(Link("payload", payload), "with_payload")
    at = frame_of(model, frame, "with_payload")
    return with_inertia(model, at.body, inertia_of(model, at.body).plus(payload.moved(at.placement)))


def with_link(
    model: Model,
    name: str,
    mass: float | None = None,
    centre: Vector | None = None,
    tensor: Matrix | None = None,
) -> Model:
    """Return the model with another mass, mass centre or inertia about that centre of a link; the others stay."""
    body = link_of(model, name, "with_link")
    own = inertia_of(model, body)
    about_centre = central_tensor(own) if tensor is None else tensor
    changed = Inertia.from_centre(
        own.mass if mass is None else mass, own.centre if centre is None else centre, about_centre
    )
    check_inertia(Link(name, changed), "with_link")
    return with_inertia(model, body, changed)


def central_tensor(inertia: Inertia) -> Matrix:
    """Return the inertia tensor about the mass centre."""
    c, h = inertia.centre, inertia.first
    about_centre = Inertia(inertia.mass, (0.0, 0.0, 0.0), msub(inertia.second, outer(h, c)))
    return about_centre.tensor


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
    """Return the model with parameters π, those of the velocities in its joints."""
    changed = with_traced_parameters(model, pi)
    own, joints = changed.own_joint_parameters, {}
    for i, body in enumerate(model.bodies if own else ()):
        values = {own[k] for k in model.velocities(i)}
        if len(values) > 1:
            raise InputError(
                f"with_parameters: joint '{body.joint.name}' of robot '{model.name}' has one {_attributes()} for all "
                f"of its {body.joint.type.nv} velocities, got different ones; give equal ones, or pass parameters= to "
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

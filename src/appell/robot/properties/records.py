"""Records of joints and links by name, with the values of the robot's file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from appell.errors import InputError
from appell.messages import alternatives, shown
from appell.model.edit import central_tensor, link_name, own_inertia
from appell.model.model import WORLD, Limits, Mimic, Model
from appell.model.shapes import USES, Shape
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Matrix, Vector

Record = TypeVar("Record")


@dataclass(frozen=True)
class JointRecord:
    """A joint: its kind, the links that it joins, its axis in its own frame, limits, friction, rotor inertia, spring.

    Units are those of :meth:`appell.Robot.with_joint`; `limits` are lower, upper, velocity and effort. `mimic` is the
    joint that it follows in the file, if any.
    """

    name: str
    kind: str
    parent: str
    child: str
    axis: Vector
    limits: Limits
    damping: float
    friction: float
    static_friction: float
    stribeck_velocity: float
    armature: float
    stiffness: float
    spring_reference: float
    mimic: Mimic | None


@dataclass(frozen=True)
class LinkRecord:
    """A link of the file: its parent link, the joint between them, mass, mass centre, inertia about that.

    Mass [kg], centre [m] and inertia tensor [kg·m²] are in the link's frame and without the links that are fixed to
    it. For a fixed link `parent` is the moving link that it is part of, and `joint` is empty; for the base both are.
    `visuals` and `collisions` are the link's shapes (:class:`appell.model.shapes.Shape`), at poses in its frame.
    """

    name: str
    parent: str
    joint: str
    mass: float
    centre: Vector
    inertia: Matrix
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()


class Named(dict[str, Record]):
    """Records by name; an unknown name raises an InputError that lists the known ones."""

    def __init__(self, what: str, records: dict[str, Record]) -> None:
        super().__init__(records)
        self.what = what

    def __missing__(self, name: Any) -> Record:
        raise InputError(f"{self.what} {shown(name)}; {alternatives(name, self, 40)}")

    def __reduce__(self) -> Any:
        return Named, (self.what, dict(self))


def joint_records(model: Model) -> Named[JointRecord]:
    """Return the joints in the order of q, followers included."""
    found = {}
    for body in model.bodies:
        joint = body.joint
        found[joint.name] = JointRecord(
            joint.name,
            joint.kind,
            link_name(model, body.parent),
            body.name,
            joint.axis,
            joint.limits,
            joint.damping,
            joint.friction,
            joint.static_friction,
            joint.stribeck_velocity,
            joint.armature,
            joint.stiffness,
            joint.spring_reference,
            joint.mimic,
        )
    return Named(f"robot '{model.name}' has no joint", found)


def link_records(model: Model) -> Named[LinkRecord]:
    """Return the base, the moving links, and the fixed links."""
    shapes = [model.shapes_of(use) for use in USES]

    def link(name: str, parent: str, joint: str, inertia: Inertia) -> LinkRecord:
        own = (tuple(found.get(name, ())) for found in shapes)
        return LinkRecord(name, parent, joint, float(inertia.mass), inertia.centre, central_tensor(inertia), *own)

    found = {model.base.name: link(model.base.name, "", "", own_inertia(model, WORLD))}
    for i, body in enumerate(model.bodies):
        found[body.name] = link(body.name, link_name(model, body.parent), body.joint.name, own_inertia(model, i))
    for frame in model.frames:
        if frame.inertia is not None:
            found[frame.name] = link(frame.name, link_name(model, frame.body), "", frame.inertia)
    return Named(f"robot '{model.name}' has no link", found)

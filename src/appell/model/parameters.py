"""The parameters π of a model, in which its dynamics is linear: their order, their values, and a model with others.

Per body ten inertial parameters m, m·c (3), Ixx Ixy Iyy Ixz Iyz Izz about the joint frame's origin; then, where any
joint has them, rotor inertia, damping and Coulomb friction of every velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from appell.model.model import JointParameters, Model
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Scalar

PER_BODY = 10
PER_VELOCITY = len(JointParameters._fields)


def n_parameters(model: Model) -> int:
    """Return the number of parameters."""
    return PER_BODY * len(model.bodies) + (PER_VELOCITY * model.nv if model.has_friction else 0)


def parameters(model: Model) -> tuple[float, ...]:
    """Return π with τ = Y·π."""
    inertial = [float(x) for body in model.bodies for x in body.inertia.parameters]
    own = model.joint_parameters if model.has_friction else ()
    return (*inertial, *(float(x) for joint in own for x in joint))


def with_parameters(model: Model, pi: Sequence[Scalar]) -> Model:
    """Return the model with parameters π, scalars of any type, in the place of its own.

    >>> from appell.read import from_dh
    >>> model = from_dh([{"a": 0.5, "mass": 2.0}])
    >>> with_parameters(model, [2.0 * x for x in parameters(model)]).bodies[0].inertia.mass
    4.0
    """
    blocks = (tuple(pi[PER_BODY * i : PER_BODY * (i + 1)]) for i in range(len(model.bodies)))
    bodies = tuple(replace(b, inertia=Inertia.from_parameters(x)) for b, x in zip(model.bodies, blocks, strict=True))
    rest = pi[PER_BODY * len(model.bodies) :]
    joints = tuple(JointParameters(*rest[k : k + PER_VELOCITY]) for k in range(0, len(rest), PER_VELOCITY))
    return replace(model, bodies=bodies, own_joint_parameters=joints)


def without_parameters(model: Model) -> Model:
    """Return what is left of a model when its parameters are inputs of a program: geometry alone."""
    bare = model.without_joint_parameters()
    return replace(bare, bodies=tuple(replace(body, inertia=Inertia()) for body in bare.bodies))

"""The parameters π of a model, in which its dynamics is linear: order, names, values, and models with other values.

Per body ten inertial parameters m, m·c (3), Ixx Ixy Iyy Ixz Iyz Izz about the joint frame's origin; then, where any
joint has them or `has_joint_columns` is set, rotor inertia, damping, Coulomb friction and stiffness of every velocity;
then stiffness and damping of every spring between joints. References of springs are geometry.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from appell.model.model import JointParameters, Model
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Scalar

INERTIAL = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
OF_JOINTS = ("Ia", "d", "f", "k")
OF_SPRINGS = ("k", "d")
PER_BODY = len(INERTIAL)
PER_VELOCITY = len(JointParameters._fields)
PER_SPRING = len(OF_SPRINGS)


def n_parameters(model: Model) -> int:
    """Return the number of parameters."""
    own = PER_VELOCITY * model.nv if model.has_joint_parameters else 0
    return PER_BODY * len(model.bodies) + own + PER_SPRING * len(model.springs)


def parameters(model: Model) -> tuple[float, ...]:
    """Return π with τ = Y·π."""
    inertial = [float(x) for body in model.bodies for x in body.inertia.parameters]
    own = model.joint_parameters if model.has_joint_parameters else ()
    between = [x for spring in model.springs for x in (spring.stiffness, spring.damping)]
    return (*inertial, *(float(x) for joint in own for x in joint), *map(float, between))


def parameter_names(model: Model) -> tuple[str, ...]:
    """Return the name of every parameter: its symbol, an underscore, and its link, velocity or spring.

    Symbols are m, mx, my, mz, Ixx … Izz, rotor inertia Ia, damping d, Coulomb friction f and stiffness k.

    >>> from appell.read import from_dh
    >>> parameter_names(from_dh([{"a": 0.5, "mass": 2.0, "stiffness": 8.0}]))[-5:]
    ('Izz_link1', 'Ia_joint1', 'd_joint1', 'f_joint1', 'k_joint1')
    """
    inertial = [f"{symbol}_{body.name}" for body in model.bodies for symbol in INERTIAL]
    own = velocity_names(model) if model.has_joint_parameters else ()
    joints = [f"{symbol}_{name}" for name in own for symbol in OF_JOINTS]
    return (*inertial, *joints, *(f"{symbol}_{spring.name}" for spring in model.springs for symbol in OF_SPRINGS))


def velocity_names(model: Model) -> list[str]:
    """Return one name per velocity: the joint's, with an index if it has several."""
    names = []
    for body in model.bodies:
        n = body.joint.type.nv
        names += [body.joint.name] if n == 1 else [f"{body.joint.name}[{k}]" for k in range(n)]
    return names


def joint_of_velocity(name: str, joints: Container[str]) -> tuple[str, int]:
    """Return the joint of a velocity's name, and the index among the joint's velocities.

    >>> joint_of_velocity("root[2]", ["root", "hip[1]"]), joint_of_velocity("hip[1]", ["root", "hip[1]"])
    (('root', 2), ('hip[1]', 0))
    """
    joint, _, place = name.rpartition("[")
    return (joint, int(place[:-1])) if name not in joints and joint in joints else (name, 0)


def with_parameters(model: Model, pi: Sequence[Scalar]) -> Model:
    """Return the model with other parameters π, scalars of any type.

    >>> from appell.read import from_dh
    >>> model = from_dh([{"a": 0.5, "mass": 2.0}])
    >>> with_parameters(model, [2.0 * x for x in parameters(model)]).bodies[0].inertia.mass
    4.0
    """
    blocks = (tuple(pi[PER_BODY * i : PER_BODY * (i + 1)]) for i in range(len(model.bodies)))
    bodies = tuple(replace(b, inertia=Inertia.from_parameters(x)) for b, x in zip(model.bodies, blocks, strict=True))
    first, last = PER_BODY * len(model.bodies), len(pi) - PER_SPRING * len(model.springs)
    joints = tuple(JointParameters(*pi[k : k + PER_VELOCITY]) for k in range(first, last, PER_VELOCITY))
    springs = tuple(
        replace(spring, stiffness=pi[k], damping=pi[k + 1])
        for spring, k in zip(model.springs, range(last, len(pi), PER_SPRING), strict=True)
    )
    return replace(model, bodies=bodies, springs=springs, own_joint_parameters=joints)


def without_parameters(model: Model) -> Model:
    """Return the geometry of a model whose parameters are inputs of a program."""
    bare = model.without_joint_parameters()
    return replace(bare, bodies=tuple(replace(body, inertia=Inertia()) for body in bare.bodies))

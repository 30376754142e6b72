"""Kinetic and potential energy."""

from __future__ import annotations

from appell.model.model import Model
from appell.model.parameters import PER_SPRING
from appell.recursion.joint_forces import spring_stretches, stretched, stretches
from appell.recursion.kinematics import Scalars, Velocity, placed, posed, velocities
from appell.recursion.momentum import first_moment
from appell.recursion.sweep import Body, Tree
from appell.spatial.inertia import UNITS, Inertia
from appell.spatial.scalar import Scalar
from appell.spatial.vector import cross, dot, matvec, negate, transpose


def body_energy(inertia: Inertia, moving: Velocity) -> Scalar:
    """Return ½ m ṡ² + ṡ·(ω × h) + ½ ω·Iω of one body."""
    omega, speed = moving
    own = inertia.mass * dot(speed, speed) + dot(omega, matvec(inertia.tensor, omega))
    return 0.5 * own + dot(speed, cross(omega, inertia.first))


def kinetic_energy(model: Tree, q: Scalars, v: Scalars) -> Scalar:
    """Return T = Σ ½ m ṡ² + ṡ·(ω × h) + ½ ω·Iω, rotors included."""
    tree = posed(model, q)
    moving = velocities(tree, v)

    def rotors(body: Body) -> Scalar:
        own = zip(body.parameters, body.of(v), strict=True)
        return sum((0.5 * joint.armature * (rate * rate) for joint, rate in own), start=0.0)

    bodies = tree.total(0.0, tree.each(lambda body: body_energy(body.inertia, moving[body])))
    return bodies + tree.total(0.0, tree.each(rotors))


def potential_energy(model: Tree, q: Scalars) -> Scalar:
    """Return V = −Σ g·(m p + R h) + Σ ½k s², of weight and springs.

    It is zero where every mass centre is at the height of the world's origin and no spring is stretched.
    """
    tree = posed(model, q)
    poses = placed(tree)

    def springs(body: Body) -> Scalar:
        own = zip(body.parameters, spring_stretches(body, q), strict=True)
        return sum((0.5 * joint.stiffness * (stretch * stretch) for joint, stretch in own), start=0.0)

    weight = tree.total(0.0, tree.each(lambda body: dot(tree.gravity, first_moment(body.inertia, poses[body]))))
    (between,) = tree.named(between_joints, q, like=(0.0,))
    return tree.total(0.0, tree.each(springs)) + between - weight


def between_joints(model: Model, q: Scalars) -> Scalars:
    """Return Σ ½k s² of springs between joints."""
    total: Scalar = 0.0
    for spring, between in zip(model.springs, model.stretches, strict=True):
        stretch = stretched(between, q)
        total = total + 0.5 * spring.stiffness * (stretch * stretch)
    return (total,)


def energy_regressor(model: Model, q: Scalars, v: Scalars) -> tuple[Scalars, Scalars]:
    """Return the rows Y with T = Y_T·π and V = Y_V·π: the energies of every parameter at 1."""
    kinetic: list[Scalar] = []
    potential: list[Scalar] = []
    tree = posed(model, q)
    for _, moving, pose in zip(model.bodies, velocities(tree, v), placed(tree), strict=False):
        kinetic += [body_energy(unit, moving) for unit in UNITS]
        turned = matvec(transpose(pose.rotation), model.gravity)
        potential += [-dot(model.gravity, pose.position), *negate(turned), *(0.0,) * 6]
    lengths = tree.vector(tree.each(lambda body: stretches(body, q))) if model.has_joint_parameters else ()
    for rate, stretch in zip(v, lengths, strict=False):
        kinetic += [0.5 * (rate * rate), 0.0, 0.0, 0.0]
        potential += [0.0, 0.0, 0.0, 0.5 * (stretch * stretch)]
    for between in model.stretches:
        stretch = stretched(between, q)
        kinetic += (0.0,) * PER_SPRING
        potential += [0.5 * (stretch * stretch), 0.0]
    return tuple(kinetic), tuple(potential)

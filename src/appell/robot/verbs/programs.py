"""The verbs as programs, each written once for every kind of robot.

A program takes an embedding (embedding.py) and scalars. It expands the motion to the tree, runs one of
the tree's recursions, and gathers the result. Where papers compare algorithms, a verb has one program per formulation,
with another recursion of the tree's inverse dynamics or mass matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from appell.model.model import Model
from appell.recursion import (
    articulated,
    coriolis,
    energy,
    forward,
    gibbs,
    inertia_matrix,
    kinematics,
    lagrange,
    mass_centres,
    mixed,
    momentum,
    newton_euler,
    passivity,
    points,
    vector_form,
)
from appell.recursion.coupling import constraints
from appell.recursion.kinematics import Scalars
from appell.robot.verbs.embedding import Embedding, Forces, Posture, Tree, dot, no_growth
from appell.robot.verbs.quantities import (
    Program,
    actuator_jacobian,
    base_regressor,
    gibbs_function,
    of_a,
    of_q,
    of_v,
    point_biases,
    reduced_columns,
    regressor_matrix,
    tree_acceleration,
    tree_wrench_forces,
    wrench_forces,
)
from appell.spatial.scalar import Scalar

InverseDynamics = Callable[[Model, Scalars, Scalars, Scalars], Scalars]
MassMatrix = Callable[[Model, Scalars], Any]


class Formulation(NamedTuple):
    """One algorithm of a verb. `is_of_bodies`: it needs the masses and frames of the file.

    Others also run on the lean model, whose moments are regrouped (:mod:`appell.model.lean`).
    """

    program: Program
    is_of_bodies: bool = False
    competes: bool = True
    """Whether it is a candidate for the default; a paper's own form of another matrix is not."""


# Dynamics


class Solved(NamedTuple):
    """The results of a program that divides by M, and a function of the distance of M from singularity, for a guard."""

    results: Any
    inverse_norm: Callable[[], Scalar]


class Actuated(NamedTuple):
    """The results of a program that solves for actuator forces, and the pivot growth of that system, for a guard."""

    results: Any
    growth: Callable[[], Scalar] = no_growth

    @classmethod
    def of(cls, made: Any) -> Actuated:
        """Return what a program returns; without a growth where it solves no such system."""
        return made if isinstance(made, cls) else cls(made)


class Driven(NamedTuple):
    """A motion with its forces: accelerations and forces of the tree, those of the actuators, and their growth."""

    accelerations: Scalars
    forces: Scalars
    actuators: Forces
    growth: Callable[[], Scalar]


def driven(
    at: Posture,
    tree: InverseDynamics,
    v: Scalars,
    moving: Scalars,
    a: Scalars,
    load: Scalars = (),
    weights: Scalars = (),
) -> Driven:
    """Return the motion with given first independent accelerations, and no force on the passive velocities.

    With τ₀ for zero passive accelerations, τ = τ₀ + M a_p; actuator forces and passive accelerations follow. `load` are
    external forces on the independent velocities, `weights` those of the squared forces of redundant actuators.
    """
    passive = range(len(a), at.n)
    start = at.accelerations(v, moving, (*a, *(0.0 for _ in passive)))
    forces = tree(at.model, at.q, moving, start)
    total = at.gathered(forces)
    if load:
        total = [t - x for t, x in zip(total, load, strict=True)]
    columns = at.columns(passive)
    pushed = [_pushed(at, column) for column in columns]
    actuators, free, growth = at.actuated(total, [at.gathered(push) for push in pushed], weights)
    if not columns:
        return Driven(start, forces, actuators, growth)
    rates = tuple(x + dot([c[k] for c in columns], free) for k, x in enumerate(start))
    loads = tuple(f + dot([p[k] for p in pushed], free) for k, f in enumerate(forces))
    return Driven(rates, loads, actuators, growth)


def _pushed(at: Posture, column: Scalars) -> Scalars:
    """Return M_tree·a for one column of accelerations: the tree's inverse dynamics without gravity and at rest."""
    weightless = at.model.weightless()
    return gibbs.inverse_dynamics(weightless, at.q, (0.0,) * weightless.nv, column)


def inverse_dynamics(tree: InverseDynamics) -> Program:
    """Return the program of the actuator forces for given accelerations, passive velocities moving freely."""

    def program(robot: Embedding, q: Scalars, v: Scalars, a: Scalars, load: Scalars = (), weights: Scalars = ()) -> Any:
        at = robot.at(q)
        found = driven(at, tree, v, at.velocities(v), a, load, weights)
        return Actuated(found.actuators, found.growth)

    return program


def generalised_forces(robot: Embedding, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return M a + C v + G: the forces on all independent velocities."""
    at = robot.at(q)
    moving = at.velocities(v)
    return at.gathered(gibbs.inverse_dynamics(at.model, at.q, moving, at.accelerations(v, moving, a)))


def bias(tree: InverseDynamics) -> Program:
    """Return the program of the forces on the independent velocities at zero acceleration."""

    def program(robot: Embedding, q: Scalars, v: Scalars) -> Any:
        at = robot.at(q)
        return bias_forces(at, tree, v)

    return program


def bias_forces(at: Posture, tree: InverseDynamics, v: Scalars) -> Forces:
    """Return Γᵀ(bias + Mγ)."""
    moving = at.velocities(v)
    return at.gathered(tree(at.model, at.q, moving, at.accelerations(v, moving, (0.0,) * at.n)))


def gravity(tree: InverseDynamics) -> Program:
    """Return the program of G(q): Γᵀ of the tree's inverse dynamics at rest."""

    def program(robot: Embedding, q: Scalars) -> Any:
        at = robot.at(q)
        still = (0.0,) * at.model.nv
        return at.gathered(tree(at.model, at.q, still, still))

    return program


def mass_matrix(tree: MassMatrix) -> Program:
    """Return the program of ΓᵀMΓ."""

    def program(robot: Embedding, q: Scalars) -> Any:
        at = robot.at(q)
        return at.congruent(tree(at.model, at.q))

    return program


def forward_dynamics(mass: MassMatrix, tree: InverseDynamics) -> Program:
    """Return the program of a from M(q)·a = Γ_aᵀτ − bias(q, v), of a formulation of M and one of the bias."""

    def program(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars, load: Scalars = ()) -> Any:
        at = robot.at(q)
        return moved(at, mass, tree, v, tau, load)

    return program


def moved(
    at: Posture,
    mass: MassMatrix,
    tree: InverseDynamics,
    v: Scalars,
    tau: Scalars,
    load: Scalars = (),
) -> Solved:
    """Return the independent accelerations under actuator forces, by LᵀDL."""
    right = [t - b for t, b in zip(at.pushed(tau), bias_forces(at, tree, v), strict=True)]
    if load:
        right = [x + y for x, y in zip(right, load, strict=True)]
    matrix = at.congruent(mass(at.model, at.q))
    factors = forward.factorise(matrix, at.parents)
    a = forward.solve_factorised(*factors, at.parents, tuple(right))
    return Solved(a, partial(forward.inverse_norm, matrix, factors, at.parents))


def articulated_bodies(robot: Tree, q: Scalars, v: Scalars, tau: Scalars, load: Scalars = ()) -> Any:
    """Return a of an open tree by articulated bodies; of a long one also where joints follow others."""
    at = robot.at(q)
    total = tuple(t + x for t, x in zip(tau, load, strict=True)) if load else tau
    found = articulated.solved(at.model, at.q, v, total)
    a = articulated.bound(at.model, at.q, found, constraints(robot.filed))
    return Solved(a, partial(articulated.inverse_norm, at.model, robot.filed, at.q, found.pivots))


def rates(robot: Embedding, q: Scalars, v: Scalars) -> Any:
    """Return q̇."""
    at = robot.at(q)
    return at.rates(v, at.velocities(v))


def motion(dynamics: Program) -> Program:
    """Return the program of q̇ and a, the field that an integrator follows."""

    def program(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars) -> Solved:
        a, inverse_norm = dynamics(robot, q, v, tau)
        return Solved((rates(robot, q, v), a), inverse_norm)

    return program


def coriolis_matrix(robot: Embedding, q: Scalars, v: Scalars) -> Any:
    """Return Γᵀ(CΓ + MΓ̇), with Ṁ − 2C skew."""
    at = robot.at(q)
    moving = at.velocities(v)
    tree = coriolis.coriolis_matrix(at.model, at.q, moving)
    return at.coriolis(tree, inertia_matrix.mass_matrix_composite(at.model, at.q), v, moving)


def passive_inverse_dynamics(robot: Embedding, q: Scalars, v: Scalars, v_r: Scalars, a_r: Scalars) -> Any:
    """Return Γᵀ of the tree's for Γv, Γv_r and Γa_r + Γ̇v_r, with Ṁ − 2C skew."""
    at = robot.at(q)
    moving, wanted = at.velocities(v), at.velocities(v_r)
    (turned,) = at.turned(v, moving, [wanted])
    rates = tuple(x + y for x, y in zip(at.velocities(a_r), turned, strict=True))
    return at.gathered(passivity.passive_inverse_dynamics(at.model, at.q, moving, wanted, rates))


# Actuators and closures


def actuator_forces(robot: Embedding, q: Scalars, force: Scalars) -> Any:
    """Return the actuator forces of given generalised forces, with free passive velocities."""
    at = robot.at(q)
    shares = [at.gathered(_pushed(at, column)) for column in at.columns(range(at.n_driven, at.n))]
    found = at.actuated(force, shares)
    return Actuated(found.forces, found.growth)


def constraint_forces(robot: Embedding, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return the force and moment of each closure on its second frame's body, in the first frame's axes."""
    at = robot.at(q)
    moving = driven(at, gibbs.inverse_dynamics, v, at.velocities(v), a)
    return Actuated(at.held(moving.forces, moving.actuators), moving.growth)


def contact_forces(mass: MassMatrix, tree: InverseDynamics) -> Program:
    """Return the program of the same in the motion under actuator forces, and forces on the joints of the tree."""

    def program(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars, load: Scalars = ()) -> Solved:
        at = robot.at(q)
        moving = at.velocities(v)
        a, inverse_norm = moved(at, mass, tree, v, tau, tuple(at.gathered(load)) if load else ())
        # τ_tree = bias + M(Γa + γ), of terms that the accelerations were computed from
        still = tree(at.model, at.q, moving, at.accelerations(v, moving, (0.0,) * at.n))
        forces = [f + dot(row, a) for f, row in zip(still, at.reduced_columns(mass(at.model, at.q)), strict=True)]
        if load:
            forces = [f - x for f, x in zip(forces, load, strict=True)]
        return Solved(at.held(tuple(forces), tau), inverse_norm)

    return program


# The table


_TREES: dict[str, Formulation] = {
    "gibbs": Formulation(gibbs.inverse_dynamics),
    "vector": Formulation(vector_form.inverse_dynamics, is_of_bodies=True),
    "vector-merged": Formulation(vector_form.inverse_dynamics_merged, is_of_bodies=True, competes=False),
    "mixed": Formulation(mixed.inverse_dynamics, is_of_bodies=True),
    "newton-euler": Formulation(newton_euler.inverse_dynamics, is_of_bodies=True),
    "mata2002": Formulation(mass_centres.inverse_dynamics, is_of_bodies=True, competes=False),
    "lagrange": Formulation(lagrange.inverse_dynamics, is_of_bodies=True, competes=False),
}
_MASSES: dict[str, Formulation] = {
    "gibbs": Formulation(inertia_matrix.mass_matrix_gibbs),
    "composite": Formulation(inertia_matrix.mass_matrix_composite),
    "mixed": Formulation(mixed.mass_matrix, is_of_bodies=True),
    "mata2002": Formulation(mass_centres.mass_matrix, is_of_bodies=True, competes=False),
    "lagrange": Formulation(lagrange.mass_matrix, is_of_bodies=True, competes=False),
}
"""The recursions of the tree. "mata2002" is that paper as written: sections 4.1 and 4.2."""


def each(make: Callable[[Program], Program], table: Mapping[str, Formulation]) -> dict[str, Formulation]:
    """Return a table of formulations with another program made of each."""
    return {name: formulation._replace(program=make(formulation.program)) for name, formulation in table.items()}


def only(program: Program, name: str = "gibbs") -> dict[str, Formulation]:
    """Return the one formulation of a verb."""
    return {name: Formulation(program)}


FORWARD = {
    name: form._replace(program=forward_dynamics(form.program, _TREES.get(name, _TREES["gibbs"]).program))
    for name, form in _MASSES.items()
}
PROGRAMS: dict[str, dict[str, Formulation]] = {
    "inverse_dynamics": each(inverse_dynamics, _TREES),
    "generalised_forces": only(generalised_forces),
    "forward_dynamics": FORWARD,
    "motion": each(motion, FORWARD),
    "mass_matrix": each(mass_matrix, _MASSES),
    "coriolis_matrix": only(coriolis_matrix),
    "gravity": each(gravity, _TREES),
    "bias": each(bias, _TREES),
    "passive_inverse_dynamics": only(passive_inverse_dynamics),
    "regressor": only(regressor_matrix),
    "base_regressor": only(base_regressor(regressor_matrix)),
    "momentum_regressor": only(of_v(momentum.momentum_regressor)),
    "energy_regressor": only(of_v(energy.energy_regressor)),
    "gibbs": only(gibbs_function),
    "kinetic_energy": only(of_v(energy.kinetic_energy)),
    "potential_energy": only(of_q(energy.potential_energy)),
    "centre_of_mass": only(of_q(momentum.centre_of_mass)),
    "momentum": only(of_v(momentum.momentum)),
    "momentum_matrix": only(reduced_columns(momentum.momentum_matrix)),
    "pose": only(of_q(kinematics.pose)),
    "jacobian": only(reduced_columns(kinematics.jacobian)),
    "velocity": only(of_v(momentum.velocity)),
    "acceleration": only(of_a(momentum.acceleration)),
    "wrench_forces": only(wrench_forces),
    "tree_wrench_forces": only(tree_wrench_forces),
    "point_positions": only(of_q(points.positions)),
    "point_velocities": only(of_v(points.point_velocities)),
    "point_biases": only(point_biases),
    "tree_mass_matrix": only(of_q(inertia_matrix.mass_matrix_composite)),
    "constraint_forces": only(constraint_forces),
    "contact_forces": only(contact_forces(_MASSES["composite"].program, _TREES["gibbs"].program), "composite"),
    "tracking_error": only(lambda robot, q, goal: robot.tracking_error(q, goal)),
    "finished_step": only(lambda robot, q: robot.finished(q)),
    "actuator_jacobian": only(actuator_jacobian),
    "actuator_forces": only(actuator_forces),
    "actuation": only(lambda robot, q, tau: robot.at(q).pushed(tau)),
    "tree_velocity": only(lambda robot, q, v: robot.at(q).velocities(v)),
    "tree_acceleration": only(tree_acceleration),
    "coordinate_rates": only(rates),
}
"""The formulations of each verb, for any kind of robot; verbs "…_loaded" and "…_weighted" have those of the verb."""
ARTICULATED = Formulation(articulated_bodies)
"""The additional formulation of forward dynamics for open trees."""

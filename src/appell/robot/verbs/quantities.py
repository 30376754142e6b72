"""Quantities of a robot as programs: those of its tree, with expanded motion and gathered forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from appell.recursion import gibbs, momentum, points, regressor
from appell.recursion.kinematics import Scalars
from appell.robot.verbs.embedding import Embedding

Program = Callable[..., Any]


def regressor_matrix(robot: Embedding, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return ΓᵀY_tree."""
    at = robot.at(q)
    moving = at.velocities(v)
    return at.gathered_rows(regressor.regressor(at.model, at.q, moving, at.accelerations(v, moving, a)))


def base_regressor(regressor: Program) -> Program:
    """Return the program of some columns of a regressor."""

    def program(robot: Embedding, q: Scalars, v: Scalars, a: Scalars, columns: Sequence[int]) -> Any:
        return [[row[k] for k in columns] for row in regressor(robot, q, v, a)]

    return program


def gibbs_function(robot: Embedding, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return S; ∂S/∂a are the forces on the independent velocities."""
    at = robot.at(q)
    moving = at.velocities(v)
    return gibbs.gibbs(at.model, at.q, moving, at.accelerations(v, moving, a))


def of_q(tree: Callable[..., Any]) -> Program:
    """Return the program of a quantity of the tree's configuration."""

    def program(robot: Embedding, q: Scalars, *frame: str) -> Any:
        at = robot.at(q)
        return tree(at.model, at.q, *frame)

    return program


def of_v(tree: Callable[..., Any]) -> Program:
    """Return the program of a quantity of the tree's configuration and velocities."""

    def program(robot: Embedding, q: Scalars, v: Scalars, *frame: str) -> Any:
        at = robot.at(q)
        return tree(at.model, at.q, at.velocities(v), *frame)

    return program


def of_a(tree: Callable[..., Any]) -> Program:
    """Return the program of a quantity of the tree's configuration, velocities and accelerations."""

    def program(robot: Embedding, q: Scalars, v: Scalars, a: Scalars, *frame: str) -> Any:
        at = robot.at(q)
        moving = at.velocities(v)
        return tree(at.model, at.q, moving, at.accelerations(v, moving, a), *frame)

    return program


def reduced_columns(tree: Callable[..., Any]) -> Program:
    """Return the program of a matrix whose columns are velocities."""

    def program(robot: Embedding, q: Scalars, *frame: str) -> Any:
        at = robot.at(q)
        return at.reduced_columns(tree(at.model, at.q, *frame))

    return program


def wrench_forces(robot: Embedding, q: Scalars, wrench: Scalars, frame: str) -> Any:
    """Return the generalised forces of a wrench on a frame."""
    at = robot.at(q)
    return at.gathered(momentum.wrench_forces(at.model, at.q, wrench, frame))


def tree_wrench_forces(robot: Embedding, q: Scalars, wrench: Scalars, frame: str) -> Any:
    """Return the joint forces of the tree for a wrench on a frame."""
    at = robot.at(q)
    return momentum.wrench_forces(at.model, at.q, wrench, frame)


def point_biases(robot: Embedding, q: Scalars, v: Scalars, places: Sequence[points.Place]) -> Any:
    """Return the accelerations of points while the independent velocities do not change."""
    at = robot.at(q)
    moving = at.velocities(v)
    return points.point_accelerations(at.model, at.q, moving, at.accelerations(v, moving, (0.0,) * at.n), places)


def tree_acceleration(robot: Embedding, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return Γa + γ."""
    at = robot.at(q)
    return at.accelerations(v, at.velocities(v), a)


def actuator_jacobian(robot: Embedding, q: Scalars) -> Any:
    """Return the matrix from v to the velocities of the actuators, the transpose of that of their forces."""
    at = robot.at(q)
    return [at.pushed(unit) for unit in units(at.n_actuators)]


def units(n: int) -> list[Scalars]:
    """Return the unit vectors of a dimension."""
    return [tuple(float(i == k) for i in range(n)) for k in range(n)]

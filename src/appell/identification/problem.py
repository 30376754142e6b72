"""The least-squares problem of a fit: torques linear in inertias, rotors and friction, one row per motor and sample.

Every row of a motor j and a sample k is Y_jk·θ = τ_jk. The rows of one motor are condensed by an orthogonal
transformation to a triangle R_j and its right-hand side, Q_jᵀ[Y_j τ_j] = [R_j z_j; 0 ρ_j], which preserves all
least-squares problems in them: weights per motor, bounds and priors then have no cost per sample, and logs may be long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from appell.errors import AppellError, InputError
from appell.identification.base_parameters import (
    BaseParameters,
    base_parameters,
    columns,
    motor_accelerations,
    motor_joints,
    nominal,
    parameter_names,
)
from appell.identification.friction import LENGTHS, LEVER, Sliding, Term, bristles
from appell.logs.prepare import Prepared, zero_phase
from appell.robot.robot import Robot
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array


class MeasuredStates(NamedTuple):
    """States of a robot (n, …), and positions, velocities and torques of its motors (n, motors)."""

    q: Array
    v: Array
    a: Array
    path: Array
    speed: Array
    tau: Array


def motion(robot: Robot, log: Prepared) -> MeasuredStates:
    """Return the states of a robot along a log of its motors.

    With J the motors' Jacobian, v = J⁻¹v_motors and a = J⁻¹(a_motors − J̇v).

    Raises
    ------
    InputError
        When the log does not match the robot.
    """
    if log.q.shape[1] != robot.nu:
        raise InputError(
            f"{log.source or 'log'}: {log.q.shape[1]} columns of q, but robot '{robot.name}' has {robot.nu} motors; "
            "map one column per motor, in the order of robot.actuators"
        )
    if robot.nv != robot.nu:
        raise InputError(
            f"robot '{robot.name}' has {robot.nv - robot.nu} passive velocities that are not measured; fix these "
            "joints in the file, or identify the open chains"
        )
    q = _configurations(robot, log)
    J = robot.actuator_jacobian(q)
    v = np.linalg.solve(J, log.v[..., None])[..., 0]
    bias = motor_accelerations(robot, q, v, np.zeros_like(v))
    a = np.linalg.solve(J, (log.a - bias)[..., None])[..., 0]
    return MeasuredStates(q, v, a, log.q, log.v, log.tau)


def _configurations(robot: Robot, log: Prepared) -> Array:
    """Return the configurations (n, nq) at the measured motor positions, each solved from the previous one."""
    result = np.empty((len(log), robot.nq))
    for segment in log.segments:
        q = robot.neutral()
        for k in range(segment.start, segment.stop):
            try:
                q = result[k] = robot.from_actuators(log.q[k], q)
            except AppellError as error:
                raise InputError(
                    f"{log.source or 'log'}: at {log.t[k]:.3f} s robot '{robot.name}' has no configuration at the "
                    f"measured motor positions; check the order, signs and offsets of the columns of q, or crop "
                    f"the log before a singularity ({error})"
                ) from None
    return result


CHUNK = 4096
"""Samples per chunk of the regressor in memory."""


class Triangle(NamedTuple):
    """The condensed rows of one motor: R·θ[columns] ≈ z with an additional residual `rest`², from `n` rows."""

    columns: Array
    R: Array
    z: Array
    rest: float = 0.0
    n: int = 0

    def grown(self, Y: Array, tau: Array) -> Triangle:
        """Return the triangle with further rows."""
        p = len(self.columns)
        block = np.vstack([np.column_stack([self.R, self.z]), np.column_stack([Y, tau])])
        top = np.asarray(np.linalg.qr(block, mode="r"))
        rest = float(top[p, p]) if len(top) > p else 0.0
        return Triangle(self.columns, top[:p, :p], top[:p, p], float(np.hypot(self.rest, rest)), self.n + len(tau))

    def square(self, theta: Array) -> float:
        """Return the sum of squares of the residuals of its rows."""
        return float(np.sum((self.R @ theta[self.columns] - self.z) ** 2) + self.rest**2)


@dataclass(frozen=True, eq=False)
class Problem:
    """The unknowns θ of a robot: ten per body, optionally one rotor inertia per motor, springs, and friction."""

    robot: Robot
    terms: tuple[Term, ...]
    rotors: bool

    @property
    def beside(self) -> dict[str, bool]:
        """Return the optional unknowns of the rigid-body model: rotors and springs."""
        return {"rotors": self.rotors, "springs": self.robot.model.has_springs}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return one name per unknown: `mcx2` of a body, `Ia1` of a rotor, `viscous 3` for friction of motor 3."""
        inertial = parameter_names(self.robot, **self.beside)
        return (*inertial, *(f"{term.name} {j + 1}" for j in range(self.n_motors) for term in self.terms))

    @property
    def n_motors(self) -> int:
        """Return the number of motors, which is the number of rows per sample."""
        return self.robot.nu

    @cached_property
    def n_rigid(self) -> int:
        """Return the number of unknowns of the rigid-body model, which come first."""
        return len(parameter_names(self.robot, **self.beside))

    @cached_property
    def nominal(self) -> Array:
        """Return θ of the nominal robot, without friction."""
        rigid = nominal(self.robot, **self.beside)
        return np.concatenate([rigid, np.zeros(len(self.names) - self.n_rigid)])

    def friction(self, theta: Array) -> Array:
        """Return the coefficients of friction in θ, (motors, terms)."""
        return theta[self.n_rigid :].reshape(self.n_motors, len(self.terms))

    def rigid(self, q: Array, v: Array, a: Array) -> Array:
        """Return the columns of inertias, rotors and springs, (..., motors, n_rigid)."""
        return columns(self.robot, q, v, a, **self.beside)[..., : self.n_motors, :]

    def friction_values(self, slid: Sliding) -> Array:
        """Return the columns of friction of each motor, (..., motors, terms)."""
        shape = (*slid.v.shape, len(self.terms))
        return np.stack([term.column(slid) for term in self.terms], axis=-1) if self.terms else np.empty(shape)

    def columns(self, motor: int) -> Array:
        """Return the indices in θ of the unknowns of a motor: all inertias, and its own friction."""
        start = self.n_rigid + motor * len(self.terms)
        return np.concatenate([np.arange(self.n_rigid), np.arange(start, start + len(self.terms))])

    def check_rows(self, rows: Array, what: str, where: str, remedy: str) -> None:
        """Raise an error that names a motor with too few rows in motion (motors,)."""
        for name, count in zip(self.robot.actuators, rows, strict=True):
            if count < 2 * len(self.terms) + 2:
                raise InputError(f"{what}: motor '{name}' moves in {int(count)} samples {where}; {remedy}")

    @property
    def turns(self) -> Array:
        """Return which motors are revolute; the others are prismatic."""
        return np.equal(self.levers, 1.0)

    @cached_property
    def levers(self) -> Array:
        """Return 1 for revolute motors, and the equivalent gear radius [m] for prismatic ones."""
        return np.array([LEVER if joint.kind == "prismatic" else 1.0 for joint in motor_joints(self.robot)])

    @cached_property
    def base(self) -> BaseParameters:
        """Return the base parameters of inertias, rotors and springs."""
        return base_parameters(self.robot, **self.beside)


@dataclass(frozen=True, eq=False)
class LogRecord:
    """A prepared log for a fit: states, bristles, and the rows used."""

    problem: Problem
    log: Prepared
    moved: MeasuredStates
    bristles: Array

    @staticmethod
    def of(problem: Problem, log: Prepared, moving: float = 0.0) -> LogRecord:
        """Return the record of a log; with friction, a motor's rows are used where it is faster than `moving`."""
        moved = motion(problem.robot, log)
        if problem.terms:
            log = replace(log, moving=log.moving & (np.abs(moved.speed) > moving * problem.levers))
        return LogRecord(problem, log, moved, bristles(moved.path, np.outer(LENGTHS, problem.levers), log.segments))

    def __len__(self) -> int:
        return len(self.log)

    def friction(self, load: Array) -> Array:
        """Return the columns of friction, (n, motors, terms), filtered as the torques are.

        Friction jumps at a reversal, and the filter smooths the jump in the measured torques.
        """
        values = self.problem.friction_values(Sliding(self.moved.speed, np.abs(load), list(self.bristles)))
        for segment in self.log.segments:
            values[segment] = zero_phase(values[segment], self.log.rate, self.log.cutoff, self.log.order)
        return values

    def rows(self, load: Array) -> Iterator[tuple[slice, Array]]:
        """Yield the regressor of each motor, (samples, motors, n_rigid + terms), by chunks with their slices."""
        friction = self.friction(load)
        for s in _chunks(len(self)):
            yield s, np.concatenate([self._columns(s), friction[s]], axis=-1)

    def rigid(self, theta: Array) -> Array:
        """Return the torques of the rigid-body model, (n, motors): the load on the drives."""
        known = theta[: self.problem.n_rigid]
        return np.concatenate([self._columns(s) @ known for s in _chunks(len(self))])

    def _columns(self, s: slice) -> Array:
        return self.problem.rigid(self.moved.q[s], self.moved.v[s], self.moved.a[s])

    def friction_torque(self, theta: Array, load: Array) -> Array:
        """Return the friction torques under a load, (n, motors)."""
        return np.sum(self.friction(load) * self.problem.friction(theta), axis=-1)

    @one_blas_thread()
    def torque(self, theta: Array) -> Array:
        """Return the torques of the model, (n, motors)."""
        load = self.rigid(theta)
        return load + self.friction_torque(theta, load)

    def triangles(self, load: Array, weights: Array | None = None) -> list[Triangle]:
        """Return the used rows, condensed per motor; `weights` (n, motors) of rows are for robust fits."""
        every = (self.problem.columns(j) for j in range(self.problem.n_motors))
        made = [Triangle(c, np.zeros((0, len(c))), np.zeros(0)) for c in every]
        for s, Y in self.rows(load):
            for j, triangle in enumerate(made):
                keep = self.log.moving[s, j]
                if keep.any():
                    by = np.ones(int(keep.sum())) if weights is None else weights[s, j][keep]
                    made[j] = triangle.grown(Y[keep, j] * by[:, None], by * self.moved.tau[s, j][keep])
        return made


def merged(one: list[Triangle], other: list[Triangle]) -> list[Triangle]:
    """Return the triangles of the rows of both."""
    grown = [a.grown(b.R, b.z) for a, b in zip(one, other, strict=True)]
    both = zip(grown, one, other, strict=True)
    return [c._replace(rest=float(np.hypot(c.rest, b.rest)), n=a.n + b.n) for c, a, b in both]


def _chunks(n: int) -> Iterator[slice]:
    yield from (slice(k, min(k + CHUNK, n)) for k in range(0, n, CHUNK))

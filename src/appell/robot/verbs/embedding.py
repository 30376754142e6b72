"""The motion of the spanning tree as a function of a robot's coordinates, which differs by kind of robot.

Every robot is a tree of bodies whose joint velocities are functions of independent velocities v:

    v_tree = Γ(q)·v,   a_tree = Γ(q)·a + γ(q, v),   τ = Γᵀ·τ_tree.                                            (1)

Γ is the identity for an open tree, constant for a coupled one, the solution of the closures' equations for a robot with
loops or wheels, and a closed form for a spherical robot. S is differentiated by a instead of a_tree, so that by the
chain rule the results of the tree's recursions become those of the robot by Γ and Γᵀ (programs.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from appell.model.joints import QUATERNION
from appell.model.model import Model
from appell.recursion.coupling import expand_q, expand_v, reduce, reduce_columns, reduce_matrix, reduce_rows
from appell.recursion.elimination import is_zero
from appell.recursion.forward import velocity_parents
from appell.recursion.kinematics import Scalars, posed
from appell.recursion.rates import coordinate_rates, speeds
from appell.recursion.sweep import Body, Rows
from appell.robot.verbs.coordinates import normalised, tracking_error
from appell.spatial.scalar import Scalar
from appell.trace.derive import along

Forces = Sequence[Scalar]
Matrix = Sequence[Sequence[Scalar]]


def no_growth() -> Scalar:
    """Return the pivot growth where no system is solved."""
    return 0.0


class Actuation(NamedTuple):
    """Actuator forces, accelerations of the passive modes, and the pivot growth of the system that both solve."""

    forces: Forces
    passive: Scalars = ()
    growth: Callable[[], Scalar] = no_growth


def dot(x: Forces, y: Forces) -> Scalar:
    """Return Σxy without the products that are zero by structure."""
    total: Scalar = 0.0
    for a, b in zip(x, y, strict=True):
        if not is_zero(a) and not is_zero(b):
            total = total + a * b
    return total


class Posture(ABC):
    """A robot at one configuration, on scalars of any type.

    Defaults that follow from the columns of Γ, for robots in which every velocity is actuated.
    """

    model: Model
    """The tree whose recursions are run: its frames, inertias and gravity."""
    own: Scalars
    """The robot's coordinates."""
    q: Scalars
    """The coordinates of the tree."""
    n: int
    """The number of independent velocities."""
    n_actuators: int
    n_driven: int
    """The number of accelerations that inverse dynamics takes, those of the first independent velocities."""

    @property
    def parents(self) -> list[int]:
        """Return, per independent velocity, the one before it on the way to the base: the zeros of M, here none."""
        return list(range(-1, self.n - 1))

    @abstractmethod
    def velocities(self, v: Scalars) -> Scalars:
        """Return Γv."""

    @abstractmethod
    def accelerations(self, v: Scalars, moving: Scalars, a: Scalars) -> Scalars:
        """Return Γa + γ, for velocities v and those of the tree, `moving`."""

    @abstractmethod
    def gathered(self, forces: Forces) -> Forces:
        """Return Γᵀf."""

    @abstractmethod
    def rates(self, v: Scalars, moving: Scalars) -> Scalars:
        """Return q̇ of the robot's own coordinates."""

    def speeds(self, rates: Scalars) -> Scalars:
        """Return the independent velocities of which q̇ is the rate."""
        return rates

    def columns(self, which: Sequence[int]) -> list[Scalars]:
        """Return the columns of Γ of some independent velocities."""
        return [self.velocities(tuple(float(i == k) for i in range(self.n))) for k in which]

    def turned(self, v: Scalars, moving: Scalars, columns: Sequence[Scalars]) -> list[Forces]:
        """Return Γ̇x for several columns Γx, by differentiation along the motion."""
        direction = list(zip(self.own, self.rates(v, moving), strict=True))
        return [[x for (x,) in along(column, [direction])] for column in columns]

    def gathered_rows(self, rows: Matrix) -> Matrix:
        """Return ΓᵀX."""
        parts = list(zip(*rows, strict=True))
        return [[dot(column, part) for part in parts] for column in self.columns(range(self.n))]

    def reduced_columns(self, rows: Matrix) -> Matrix:
        """Return XΓ."""
        columns = self.columns(range(self.n))
        return [[dot(row, column) for column in columns] for row in rows]

    def congruent(self, rows: Matrix) -> Rows:
        """Return ΓᵀXΓ of a symmetric X."""
        columns, n = self.columns(range(self.n)), range(self.n)
        pushed = [[dot(row, column) for row in rows] for column in columns]
        lower = [[dot(columns[i], pushed[j]) if j <= i else 0.0 for j in n] for i in n]
        return tuple(tuple(lower[max(i, j)][min(i, j)] for j in n) for i in n)

    def coriolis(self, tree: Matrix, mass: Matrix, v: Scalars, moving: Scalars) -> Matrix:
        """Return Γᵀ(CΓ + MΓ̇)."""
        columns = self.columns(range(self.n))
        pushed = [
            [dot(c, column) + dot(m, change) for c, m in zip(tree, mass, strict=True)]
            for column, change in zip(columns, self.turned(v, moving, columns), strict=True)
        ]
        return [[dot(column, push) for push in pushed] for column in columns]

    def pushed(self, tau: Scalars) -> Forces:
        """Return the generalised forces of actuator forces."""
        return tau

    def actuated(self, total: Forces, shares: Sequence[Forces], weights: Scalars = ()) -> Actuation:
        """Return actuator forces, and accelerations of the passive modes, that make up forces on all velocities.

        `shares` are the columns of M of the passive modes, on which no force acts. Where there are more actuators than
        accelerations to give, the forces are those of least Σ weight·force², of weights 1 where none are given.
        """
        return Actuation(total)

    def held(self, forces: Scalars, actuators: Forces) -> Sequence[Forces]:
        """Return the constraint force and moment of each closure, for forces of the tree and of the actuators."""
        return ()


class Embedding(Protocol):
    """A robot in the frames of one model: it gives a posture for every configuration."""

    def at(self, q: Scalars) -> Posture:
        """Return the posture of a configuration."""

    def tracking_error(self, q: Scalars, goal: Scalars) -> Scalars:
        """Return goal ⊖ q, one number per actuator: the feedback error of control laws."""

    def finished(self, q: Scalars) -> Forces:
        """Return q after a step of an integrator, corrected: unit quaternions, closed loops."""

    def weightless(self) -> Embedding:
        """Return the robot without gravity and springs."""


class Tree(NamedTuple):
    """A tree, in the frames of one model; if `coupled`, joints follow others by a constant Γ with one entry per row.

    Without followers Γ is the identity (:mod:`appell.recursion.coupling`).
    """

    model: Model
    coupled: Model
    filed: Model
    """The tree with the inertias of its file."""

    def at(self, q: Scalars) -> Posture:
        """Return the posture of a configuration."""
        return TreePosture(self.model, q, self.coupled)

    def tracking_error(self, q: Scalars, goal: Scalars) -> Scalars:
        """Return goal ⊖ q of the independent joints."""
        return tracking_error(self.coupled.independent, q, goal)

    def finished(self, q: Scalars) -> Forces:
        """Return q with unit quaternions."""

        def unit(body: Body) -> Forces:
            places = [QUATERNION[body.joint.kind].start] if body.joint.kind in QUATERNION else []
            return normalised(places, body.at(q))

        tree = posed(self.coupled.independent, q)
        return tree.vector(tree.each(unit))

    def weightless(self) -> Embedding:
        """Return the robot without gravity and springs."""
        return self._replace(model=self.model.weightless())


class TreePosture(Posture):
    """A tree at some coordinates."""

    def __init__(self, model: Model, own: Scalars, coupled: Model) -> None:
        self.model, self.own, self._coupled = model, own, coupled
        self.q = expand_q(coupled, own)
        self.n = self.n_actuators = self.n_driven = coupled.independent.nv

    @property
    def parents(self) -> list[int]:
        """Return the parent of each velocity: a follower couples branches, so that M may be dense."""
        return super().parents if self._coupled.is_coupled else velocity_parents(self.model)

    def velocities(self, v: Scalars) -> Scalars:
        """Return Γv."""
        return expand_v(self._coupled, v)

    def accelerations(self, v: Scalars, moving: Scalars, a: Scalars) -> Scalars:
        """Return Γa."""
        return expand_v(self._coupled, a)

    def gathered(self, forces: Forces) -> Forces:
        """Return Γᵀf."""
        return reduce(self._coupled, forces)

    def rates(self, v: Scalars, moving: Scalars) -> Scalars:
        """Return q̇ of the independent joints."""
        return coordinate_rates(self._coupled.independent, self.own, v)

    def speeds(self, rates: Scalars) -> Scalars:
        """Return the velocities of the independent joints."""
        return speeds(self._coupled.independent, self.own, rates)

    def gathered_rows(self, rows: Matrix) -> Matrix:
        """Return ΓᵀX."""
        return reduce_rows(self._coupled, rows)

    def reduced_columns(self, rows: Matrix) -> Matrix:
        """Return XΓ."""
        return reduce_columns(self._coupled, rows)

    def congruent(self, rows: Matrix) -> Rows:
        """Return ΓᵀXΓ, symmetric to the last bit."""
        reduced, n = reduce_matrix(self._coupled, rows), range(self.n)
        return tuple(tuple(reduced[max(i, j)][min(i, j)] for j in n) for i in n)

    def coriolis(self, tree: Matrix, mass: Matrix, v: Scalars, moving: Scalars) -> Matrix:
        """Return ΓᵀCΓ."""
        return reduce_matrix(self._coupled, tree)

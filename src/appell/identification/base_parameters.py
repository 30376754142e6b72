"""Base parameters, the identifiable combinations of inertial parameters, and those that a log identifies well.

Ten inertial parameters per body, in the order of :attr:`appell.Robot.parameters`; with rotors, also one inertia per
motor, which acts on the motor's acceleration: column j has a_j in row j; with springs, the stiffness of every joint
spring, and stiffness and damping of every spring between joints.

The algorithm is in :mod:`appell.robot.properties.base_columns`.

A base parameter with a large relative standard error has no information and degrades the others. C. Pham and M. Gautier
(Essential parameters of robots, 1991) drop the worst and fit again, until the worst relative standard error is at most
10 to 30 times the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.model.model import Joint
from appell.model.parameters import OF_JOINTS, PER_BODY, PER_SPRING, PER_VELOCITY
from appell.reports.table import Table
from appell.robot.kind import Rank
from appell.robot.properties import base_columns as _base_columns
from appell.robot.properties.base_columns import OF_A_BODY, State
from appell.robot.robot import Robot, checked_robot
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array, frozen

ROTOR = "Ia"


def parameter_names(robot: Robot, *, rotors: bool = False, springs: bool = False) -> tuple[str, ...]:
    """Return one name per column: the parameter and the number of its body, from 1 in the order of `link_names`.

    A rotor inertia is `Ia` with the number of its velocity; springs are named as in `robot.parameter_names`.

    >>> import appell
    >>> parameter_names(appell.load("two-link"), rotors=True)[-5:]
    ('Ixz2', 'Iyz2', 'Izz2', 'Ia1', 'Ia2')
    """
    names = [f"{name}{k}" for k in range(1, len(robot.link_names) + 1) for name in OF_A_BODY]
    between = (robot.parameter_names[k] for k in (spring_places(robot) if springs else ()))
    return (*names, *(f"{ROTOR}{k + 1}" for k in (motors(robot) if rotors else ())), *between)


def spring_places(robot: Robot) -> list[int]:
    """Return the indices in `robot.parameters` of joint springs, and of springs and dampers between joints.

    >>> import appell
    >>> spring_places(appell.load("two-link").with_joint("joint2", stiffness=3.0))
    [27]
    """
    if not robot.model.has_springs:
        return []
    n, start = len(robot.parameters), PER_BODY * len(robot.model.bodies) + OF_JOINTS.index("k")
    own = [start + PER_VELOCITY * k for k, joint in enumerate(robot.model.joint_parameters) if joint.stiffness]
    return [*own, *range(n - PER_SPRING * len(robot.model.springs), n)]


def motors(robot: Robot) -> tuple[int, ...]:
    """Return the indices of the actuators that may have a rotor: all except those of free and ball joints.

    >>> import appell
    >>> motors(appell.load("two-link"))
    (0, 1)
    """
    return tuple(k for k, joint in enumerate(motor_joints(robot)) if joint.kind not in ("free", "ball"))


def motor_joints(robot: Robot) -> list[Joint]:
    """Return the joint of each actuator, (nu).

    >>> import appell
    >>> [joint.name for joint in motor_joints(appell.load("agile-wrist"))]
    ['theta1', 'theta2', 'theta3']
    """
    joints = [body.joint for body in robot.model.bodies for _ in range(body.joint.type.nv)]
    return [joints[k] for k in robot.facts.actuated]


def motor_velocities(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Return the velocities of the motors (..., nu) in states of the robot."""
    return robot.tree_velocity(q, v)[..., list(robot.facts.actuated)]


def motor_accelerations(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Return the accelerations of the motors (..., nu) for accelerations a (..., nv) of the robot."""
    return robot.tree_acceleration(q, v, a)[..., list(robot.facts.actuated)]


def nominal(robot: Robot, *, rotors: bool = False, springs: bool = False) -> Array:
    """Return the nominal value of every column's parameter.

    >>> import appell
    >>> nominal(appell.load("puma560"), rotors=True)[-6:].round(3)
    array([0.784, 2.325, 0.577, 0.191, 0.171, 0.194])
    """
    inertial = np.array(robot.parameters[: PER_BODY * len(robot.link_names)])
    own = robot.parameters[spring_places(robot) if springs else []]
    return np.concatenate([inertial, rotor_inertias(robot) if rotors else [], own])


def rotor_inertias(robot: Robot) -> Array:
    """Return the rotor inertia of every motor in the robot's file [kg·m²], or [kg] for prismatic joints."""
    joints = motor_joints(robot)
    return np.array([joints[k].armature for k in motors(robot)], dtype=float)


def columns(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, rotors: bool = False, springs: bool = False
) -> Array:
    """Return the inertial columns of the regressor (..., rows, 10·nb), then those of rotors and springs if requested.

    >>> import appell
    >>> columns(appell.load("puma560"), [0.0] * 6, [0.0] * 6, [1.0] * 6, rotors=True).shape
    (6, 66)
    """
    whole: Array = robot.regressor(q, v, a)
    inertial = whole[..., : PER_BODY * len(robot.link_names)]
    more = [whole[..., spring_places(robot)]] if springs else []
    if rotors:
        own = rotor_columns(robot, q, v, a)
        more.insert(0, np.broadcast_to(own, (*inertial.shape[:-1], own.shape[-1])))
    return np.concatenate([inertial, *more], axis=-1) if more else inertial


def rotor_columns(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Return the torques of a unit rotor inertia at each motor, (..., rows, motors).

    >>> import appell
    >>> rotor_columns(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], [3.0, 4.0])
    array([[3., 0.],
           [0., 4.]])
    """
    return motor_columns(robot, q, motor_accelerations(robot, q, v, a))


def motor_columns(robot: Robot, q: ArrayLike, forces: Array) -> Array:
    """Return motor torques (..., nu) as columns in the rows of the regressor: (..., rows, motors).

    The rows are generalised forces on the independent velocities, Jᵀτ, or motor torques, depending on the verb.
    """
    rows = robot.verbs["regressor"].outputs[0][1][0]
    share = np.eye(robot.nu) if rows == "u" else np.swapaxes(robot.actuator_jacobian(q), -1, -2)
    return (share * forces[..., None, :])[..., list(motors(robot))]


def random_states(robot: Robot, size: int, rng: np.random.Generator) -> State:
    """Return random states: configurations of `robot.random`, normally distributed velocities and accelerations.

    >>> import appell, numpy as np
    >>> random_states(appell.load("two-link"), 7, np.random.default_rng(0)).a.shape
    (7, 2)
    """
    return _base_columns.random_states(robot.kind, size, rng)


def preference(robot: Robot, *, rotors: bool = False, springs: bool = False) -> list[int]:
    """Return the order of preference of the columns: rotors and springs before the dependent inertial ones.

    >>> import appell
    >>> names = parameter_names(appell.load("two-link"))
    >>> [names[k] for k in preference(appell.load("two-link"))[-3:]]
    ['Iyy2', 'mcz2', 'm2']
    """
    return _base_columns.preference(robot.kind, len(parameter_names(robot, rotors=rotors, springs=springs)))


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The base parameters of a robot, π_b = π[kept] + K·π[rest].

    Parameters
    ----------
    robot_name : str
        The robot's name.
    names : tuple of str
        Names of the parameters π, (p,).
    kept, rest : tuple of int
        Indices in π of the base columns, (n,), and of the dependent ones, (p − n,).
    K : array, shape (n, p − n)
        Coefficients of the dependent columns.
    rank : Rank
        The rank, and the singular values on both sides of the gap relative to the largest.
    condition : float
        Condition number of the kept columns, normalised, at the random states.
    idle : tuple of int
        Zero columns: parameters without effect on the torques.
    rotors, springs : bool
        Whether π includes rotor inertias and springs.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("two-link")
    >>> base = base_parameters(robot)
    >>> print(base)
    two-link: 6 base parameters of 20, 13 without effect
    mcx1 + 0.02 m2
    mcy1
    Izz1 + 0.0004 m2
    mcx2
    mcy2
    Izz2
    >>> base.regressor(robot, [0.1, 0.2], [0.0, 0.0], [1.0, 0.0]).shape, base.table(base.values(robot)).columns[:2]
    ((2, 6), ('parameter', 'definition'))
    """

    robot_name: str
    names: tuple[str, ...]
    kept: tuple[int, ...]
    rest: tuple[int, ...]
    K: Array
    rank: Rank
    condition: float
    idle: tuple[int, ...] = ()
    """Zero columns: parameters without effect on the torques."""
    rotors: bool = False
    springs: bool = False

    def __str__(self) -> str:
        count = f"{self.n} base parameters of {len(self.names)}, {len(self.idle)} without effect"
        return "\n".join([f"{self.robot_name}: {count}", *self.formulas])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    @property
    def n(self) -> int:
        """Return the number of base parameters."""
        return len(self.kept)

    @property
    def gap(self) -> float:
        """Return the ratio of the smallest nonzero singular value to the largest one counted as zero."""
        return self.rank.kept / max(self.rank.dropped, np.finfo(float).eps)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return the name of the leading parameter of each base parameter."""
        return tuple(self.names[k] for k in self.kept)

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """Return every base parameter as a sum of parameters."""
        rest = [self.names[k] for k in self.rest]
        return tuple(formula(name, row, rest) for name, row in zip(self.labels, self.K, strict=True))

    @cached_property
    def matrix(self) -> Array:
        """Return B (n, p) with π_b = B·π."""
        return _base_columns.matrix(self.kept, self.rest, self.K)

    @cached_property
    def nullspace(self) -> Array:
        """Return the null space of the regressor (p, p − n): [−K; 1] in the order of π.

        >>> import appell
        >>> base = base_parameters(appell.load("two-link"))
        >>> float(abs(base.matrix @ base.nullspace).max())
        0.0
        """
        whole = np.zeros((len(self.names), len(self.rest)))
        whole[list(self.kept)] = -self.K
        whole[list(self.rest)] = np.eye(len(self.rest))
        return frozen(whole)

    @cached_property
    def _lift(self) -> Array:
        return np.asarray(np.linalg.pinv(self.matrix).T, dtype=float)

    def reduce(self, Y: ArrayLike) -> Array:
        """Return the base columns of a regressor, with Y·π = reduce(Y)·values(π).

        Parameters
        ----------
        Y : array_like, shape (..., p)
            A regressor.

        Returns
        -------
        array, shape (..., n)
            The kept columns.

        Raises
        ------
        InputError
            When Y does not have p columns.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> base_parameters(robot).reduce(robot.regressor([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])).shape
        (2, 6)
        """
        array = np.asarray(Y, dtype=float)
        if array.ndim < 1 or array.shape[-1] != len(self.names):
            raise InputError(
                f"Y: expected {len(self.names)} columns, of {self.names[0]} to {self.names[-1]}, got shape "
                f"{array.shape}; base.regressor(robot, q, v, a) excludes friction and includes rotors"
            )
        return array[..., list(self.kept)]

    def regressor(self, robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return the base regressor of states.

        Parameters
        ----------
        robot : Robot
            The robot.
        q, v, a : array_like
            Configurations (..., nq), velocities and accelerations (..., nv).

        Returns
        -------
        array, shape (..., rows, n)
            The base regressor.
        """
        return self.reduce(columns(robot, q, v, a, rotors=self.rotors, springs=self.springs))

    def values(self, pi: ArrayLike | Robot) -> Array:
        """Return the values of the base parameters.

        Parameters
        ----------
        pi : array_like or Robot
            Parameters (..., p), or a robot.

        Returns
        -------
        array, shape (..., n)
            π_b.

        Raises
        ------
        InputError
            When `pi` does not have p entries.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> print(*base_parameters(robot).values(robot).round(3).tolist())
        0.201 0.0 0.004 10.0 0.0 13.334
        """
        if isinstance(pi, Robot):
            pi = nominal(pi, rotors=self.rotors, springs=self.springs)
        return _sized("pi", pi, len(self.names)) @ self.matrix.T

    def expand(self, values: ArrayLike, nominal: ArrayLike | None = None) -> Array:
        """Return the parameters nearest to `nominal` that have given base parameters.

        All such π give the same torques; they are not necessarily physically consistent.

        Parameters
        ----------
        values : array_like, shape (n,)
            Base parameters π_b.
        nominal : array_like, shape (p,), optional
            Nominal parameters. Default: zero for the dependent ones.

        Returns
        -------
        array, shape (p,)
            π.

        Raises
        ------
        InputError
            When a size does not match.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> base = base_parameters(robot)
        >>> bool(abs(base.expand(base.values(robot), robot.parameters) - robot.parameters).max() < 1e-12)
        True
        """
        wanted = _sized("values", values, self.n)
        if nominal is None:
            whole = np.zeros((*wanted.shape[:-1], len(self.names)))
            whole[..., list(self.kept)] = wanted
            return whole
        start = _sized("nominal", nominal, len(self.names))
        return start + (wanted - start @ self.matrix.T) @ self._lift

    def table(self, values: ArrayLike | None = None) -> Table:
        """Return the base parameters as a table.

        Parameters
        ----------
        values : array_like, shape (n,), optional
            Their values.

        Returns
        -------
        Table
            Names, definitions and values.
        """
        rows = tuple((name, text) for name, text in zip(self.labels, self.formulas, strict=True))
        note = f"gap {self.gap:.2g} between singular values, condition number {self.condition:.3g}"
        title = f"{self.robot_name}: {self.n} base parameters"
        if values is None:
            return Table(title, ("parameter", "definition"), rows, (note,))
        given = _sized("values", values, self.n)
        valued = tuple((*row, float(x)) for row, x in zip(rows, given, strict=True))
        return Table(title, ("parameter", "definition", "value"), valued, (note,))


@one_blas_thread()
def base_parameters(
    robot: Robot,
    *,
    rotors: bool = False,
    springs: bool = False,
    seed: int | np.random.Generator = 0,
    samples: int | None = None,
) -> BaseParameters:
    """Compute the base parameters of a robot from its regressor at random states.

    Parameters
    ----------
    robot : Robot
        A robot of any kind; only its geometry and gravity are used.
    rotors : bool
        Whether every motor has a rotor inertia, as geared motors do.
    springs : bool
        Whether the stiffness of joint springs, and stiffness and damping between joints, are parameters.
    seed : int or Generator
        Seed or generator of the random states, which are within the joint limits.
    samples : int, optional
        Number of states. Default: six rows per column.

    Returns
    -------
    BaseParameters
        The base parameters.

    Raises
    ------
    ModelError
        When the singular values have no clear gap, so that the rank is ambiguous.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma560")
    >>> base_parameters(robot).n, base_parameters(robot, rotors=True).n
    (36, 40)
    """
    checked_robot("robot", robot)
    rng = np.random.default_rng(seed)
    own = {"rotors": rotors, "springs": springs}
    names = parameter_names(robot, **own)
    count = _base_columns.samples(robot.kind, len(names)) if samples is None else samples
    W = columns(robot, *random_states(robot, count, rng), **own)
    found = base_of(W, names, preference(robot, **own), robot_name=robot.name)
    return replace(found, rotors=rotors, springs=springs)


@one_blas_thread()
def base_of(
    W: ArrayLike, names: Sequence[str], order: Sequence[int] | None = None, *, robot_name: str = "regressor"
) -> BaseParameters:
    """Return the base parameters of any stack of regressors (..., p) whose columns have `names`.

    `order` is the preference for kept columns. Dependencies are those of the given rows: a log with poor excitation has
    fewer base parameters than its robot.

    >>> base_of([[1.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 1.0, 3.0]], ["x", "y", "z"]).formulas
    ('x + z', 'y + 2 z')
    """
    stack = np.asarray(W, dtype=float)
    if stack.ndim < 2 or stack.shape[-1] != len(names) or not np.isfinite(stack).all():
        raise InputError(f"W: expected finite rows of {len(names)} columns, one per name, got shape {stack.shape}")
    rows = stack.reshape(-1, len(names))
    if len(rows) < len(names):
        raise InputError(f"W: expected {len(names)} rows or more, as many as columns, got {len(rows)}")
    found = _base_columns.base_columns(rows, range(len(names)) if order is None else order, robot_name)
    return BaseParameters(robot_name, tuple(names), *found)


def _sized(name: str, x: ArrayLike, size: int) -> Array:
    array = np.asarray(x, dtype=float)
    if array.shape[-1:] != (size,):
        raise InputError(f"{name}: expected (..., {size}), got shape {array.shape}")
    return array


def formula(first: str, coefficients: Array, names: Sequence[str]) -> str:
    """Return `first` and the terms whose coefficient is not zero, rounded to four digits.

    >>> formula("Izz1", np.array([1.0, 0.0, -0.25, 1.0 / 3.0]), ["Iyy2", "m2", "m3", "mcx3"])
    'Izz1 + Iyy2 − 0.25 m3 + 0.3333 mcx3'
    """
    terms = [(x, f"{abs(x):.4g}", name) for x, name in zip(coefficients.tolist(), names, strict=True) if x]
    texts = (f"{'−' if x < 0.0 else '+'} {'' if size == '1' else size + ' '}{name}" for x, size, name in terms)
    return " ".join([first, *texts])


# Essential parameters: the base parameters that a log identifies well

FULL = 1e10
"""Condition number of normalised columns above which they count as dependent."""


class Dropped(NamedTuple):
    """A dropped parameter: its name, its relative standard error, and the relative residual without it.

    `residual` is ‖τ − Wπ‖/‖τ‖ of the weighted fit without it.
    """

    name: str
    relative: float
    residual: float


@dataclass(frozen=True, eq=False)
class Essential:
    """The remaining columns, their values and standard errors, and the dropped ones, worst first.

    `residual` is ‖τ − Wπ‖/‖τ‖ of the fit with all columns; `dropped[-1].residual` that of the last.
    """

    names: tuple[str, ...]
    kept: tuple[int, ...]
    values: Array
    standard_errors: Array
    dropped: tuple[Dropped, ...]
    residual: float

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    @property
    def relative(self) -> Array:
        """Return the relative standard errors."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.standard_errors / np.abs(self.values))

    def table(self) -> Table:
        """Return the fitted parameters and the dropped ones."""
        labels = [self.names[k] for k in self.kept]
        fitted = zip(
            labels, self.values.tolist(), self.standard_errors.tolist(), (100 * self.relative).tolist(), strict=True
        )
        left = ((name, None, None, 100.0 * relative) for name, relative, _ in self.dropped)
        after = self.dropped[-1].residual if self.dropped else self.residual
        return Table(
            f"{len(self.kept)} essential parameters of {len(self.names)}",
            ("parameter", "value", "standard error", "relative [%]"),
            (*fitted, *left),
            (f"relative residual {self.residual:.4g} with all, {after:.4g} with these",),
        )


@one_blas_thread()
def essential(
    W: ArrayLike,
    tau: ArrayLike,
    sigma: ArrayLike | None = None,
    *,
    ratio: float = 30.0,
    names: Sequence[str] | None = None,
) -> Essential:
    """Return the essential parameters of torques (...) and their base regressor (..., n).

    Parameters
    ----------
    W
        The base regressor of the log; it may include friction columns.
    tau
        The measured torques, one per row of W.
    sigma
        Standard deviation of the torques, one or one per joint (it broadcasts to `tau`). Default: one for all, from the
        residual of the fit.
    ratio
        Largest ratio of the worst to the best relative standard error.
    names
        Names of the columns. Default: numbers from 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> W = rng.normal(size=(500, 3))
    >>> tau = W @ [2.0, 1e-4, -1.0] + 0.01 * rng.normal(size=500)
    >>> fit = essential(W, tau, names=["m", "mcx", "mcy"])
    >>> fit.kept, [x.name for x in fit.dropped]
    ((0, 2), ['mcx'])
    """
    rows, right, labels = _checked(W, tau, sigma, names)
    if not ratio >= 1.0:
        raise InputError(f"ratio: expected 1 or more, got {ratio}")
    count = rows.shape[1]
    triangle = np.asarray(np.linalg.qr(np.column_stack([rows, right]), mode="r"))
    R, projected = triangle[:, :count], triangle[:, count]
    _check_rank(R, len(rows))
    size = float(np.linalg.norm(right)) or 1.0

    def fit(kept: list[int]) -> tuple[Array, Array, float]:
        q, r = np.linalg.qr(R[:, kept])
        values = np.linalg.solve(r, q.T @ projected)
        error = float(np.linalg.norm(projected - R[:, kept] @ values))
        scale = 1.0 if sigma is not None else error / np.sqrt(len(rows) - len(kept))
        return values, scale * np.linalg.norm(np.linalg.inv(r), axis=1), error / size  # √diag (RᵀR)⁻¹

    kept = list(range(count))
    values, standard_errors, residual = fit(kept)
    whole, dropped = residual, []
    while len(kept) > 1:
        with np.errstate(divide="ignore"):
            relative = standard_errors / np.abs(values)
        worst = int(np.argmax(relative))
        if relative[worst] <= ratio * relative.min():
            break
        name = labels[kept.pop(worst)]
        values, standard_errors, residual = fit(kept)
        dropped.append(Dropped(name, float(relative[worst]), residual))
    return Essential(labels, tuple(kept), values, standard_errors, tuple(dropped), whole)


def _check_rank(R: Array, rows: int) -> None:
    """Raise unless the columns are numerically independent."""
    lengths, count = np.linalg.norm(R, axis=0), R.shape[1]
    if rows <= count or not lengths.all() or np.linalg.cond(R / lengths) > FULL:
        raise InputError(
            f"W: its {count} columns do not have full rank over {rows} rows; reduce it with base.reduce, or record a "
            "log with more excitation"
        )


def _checked(
    W: ArrayLike, tau: ArrayLike, sigma: ArrayLike | None, names: Sequence[str] | None
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return the rows of W and τ divided by their standard deviations, and the names."""
    stack, forces = np.asarray(W, dtype=float), np.asarray(tau, dtype=float)
    if stack.ndim < 2 or stack.shape[:-1] != forces.shape:
        raise InputError(
            f"tau: expected one torque per row of W, {stack.shape[:-1]}, got {forces.shape}; stack both alike"
        )
    if not (np.isfinite(stack).all() and np.isfinite(forces).all()):
        raise InputError("W, tau: expected finite numbers; drop the rows of a log that are not")
    count = stack.shape[-1]
    labels = tuple(map(str, range(1, count + 1))) if names is None else tuple(names)
    if len(labels) != count:
        raise InputError(f"names: expected {count}, one per column of W, got {len(labels)}")
    if sigma is None:
        return stack.reshape(-1, count), forces.reshape(-1), labels
    try:
        weight = 1.0 / np.broadcast_to(np.asarray(sigma, dtype=float), forces.shape)
    except ValueError:
        raise InputError(f"sigma: expected an array that broadcasts to {forces.shape}, got {np.shape(sigma)}") from None
    if not (np.isfinite(weight) & (weight > 0.0)).all():
        raise InputError("sigma: expected positive standard deviations")
    return (stack * weight[..., None]).reshape(-1, count), (forces * weight).reshape(-1), labels

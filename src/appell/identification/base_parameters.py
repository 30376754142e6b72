"""Base parameters: the identifiable combinations of inertial parameters.

The algorithm is in :mod:`appell.robot.properties.base_columns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.identification import basis as _basis
from appell.identification.basis import Array
from appell.identification.formulas import formula
from appell.reports.table import Table
from appell.robot.kind import Rank
from appell.robot.properties.base_columns import base_columns
from appell.robot.properties.base_columns import matrix as _matrix
from appell.robot.properties.base_columns import samples as _samples
from appell.robot.robot import Robot, checked_robot
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import frozen


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
        return _matrix(self.kept, self.rest, self.K)

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
        return self.reduce(_basis.columns(robot, q, v, a, rotors=self.rotors, springs=self.springs))

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
            pi = _basis.nominal(pi, rotors=self.rotors, springs=self.springs)
        given = _sized("pi", pi, len(self.names))
        result: Array = given @ self.matrix.T
        return result

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
        missing = wanted - start @ self.matrix.T
        result: Array = start + missing @ self._lift
        return result

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
    names = _basis.parameter_names(robot, **own)
    count = _samples(robot.kind, len(names)) if samples is None else samples
    W = _basis.columns(robot, *_basis.random_states(robot, count, rng), **own)
    found = base_of(W, names, _basis.preference(robot, **own), robot_name=robot.name)
    return replace(found, rotors=rotors, springs=springs)


@one_blas_thread()
def base_of(
    W: ArrayLike,
    names: Sequence[str],
    order: Sequence[int] | None = None,
    *,
    robot_name: str = "regressor",
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
    found = base_columns(rows, range(len(names)) if order is None else order, robot_name)
    return BaseParameters(robot_name, tuple(names), *found)


def _sized(name: str, x: ArrayLike, size: int) -> Array:
    array = np.asarray(x, dtype=float)
    if array.shape[-1:] != (size,):
        raise InputError(f"{name}: expected (..., {size}), got shape {array.shape}")
    return array

"""Base parameters: the combinations of inertial parameters that motions can tell.

The columns of a regressor are linearly dependent: W P = [W₁ W₂] with W₂ = W₁K, so that Wπ = W₁(π₁ + Kπ₂), and the sums
π₁ + Kπ₂ are all that torques depend on (M. Gautier, Numerical calculation of the base inertial parameters of robots,
1991). The rank is that of W at random states, by its singular values, which must leave a clear gap. Which columns stand
for the sums is chosen by a QR decomposition with threshold pivoting: of the columns that are nearly as far from the
span of those chosen as any, the one that the literature keeps. So the choice is natural where it may be and stable
against noise where it must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError, ModelError
from appell.identification import basis as _basis
from appell.identification.basis import Array
from appell.identification.formulas import formula
from appell.planning.checks import frozen
from appell.reports.table import Table
from appell.robot.kind import Rank
from appell.robot.robot import Robot
from appell.spatial.blas import one_blas_thread

GAP = 1e3
"""The smallest ratio of two singular values that tells what counts from rounding."""
NOTHING = 1e-10
"""A column this small beside the largest has no effect, and a coefficient that moves so little is zero."""
THRESHOLD = 0.05
"""A column may be chosen whose distance from those chosen is at least this part of the largest."""
ROWS = 6
"""Rows of random samples per column."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The base parameters of a robot, π_b = π[kept] + K·π[rest] for `names` in the order of π.

    `rotors` says whether π ends with rotor inertias. `rank` has the number of base parameters and the singular values
    on both sides of the gap, beside the largest; `condition` is the condition number of the kept columns, each of unit
    length, at the random states they were found from.

    >>> import appell
    >>> base = base_parameters(appell.load("two-link"))
    >>> print(base)
    two-link: 6 base parameters of 20, 13 without effect
    mcx1 + 0.02 m2
    mcy1
    Izz1 + 0.0004 m2
    mcx2
    mcy2
    Izz2
    """

    robot_name: str
    names: tuple[str, ...]
    kept: tuple[int, ...]
    rest: tuple[int, ...]
    K: Array
    rank: Rank
    condition: float
    idle: tuple[int, ...] = ()
    """Columns that are zero: parameters that no motion shows."""
    rotors: bool = False

    def __str__(self) -> str:
        count = f"{self.n} base parameters of {len(self.names)}, {len(self.idle)} without effect"
        return "\n".join([f"{self.robot_name}: {count}", *self.formulas])

    @property
    def n(self) -> int:
        """Return the number of base parameters."""
        return len(self.kept)

    @property
    def gap(self) -> float:
        """Return the ratio of the least singular value that counts to the largest that does not."""
        return self.rank.kept / max(self.rank.dropped, np.finfo(float).eps)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return the name of the parameter that stands for each sum."""
        return tuple(self.names[k] for k in self.kept)

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """Return every base parameter as a sum of parameters."""
        rest = [self.names[k] for k in self.rest]
        return tuple(formula(name, row, rest) for name, row in zip(self.labels, self.K, strict=True))

    @cached_property
    def matrix(self) -> Array:
        """Return B (n, p) with π_b = B·π."""
        whole = np.zeros((self.n, len(self.names)))
        whole[:, list(self.kept)] = np.eye(self.n)
        whole[:, list(self.rest)] = self.K
        return frozen(whole)

    @cached_property
    def nullspace(self) -> Array:
        """Return the changes of π (p, p − n) that no torque shows: [−K; 1] in the order of π.

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
        """Return the columns of a regressor (..., p) that are kept: (..., n), with Y·π = reduce(Y)·values(π).

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> base_parameters(robot).reduce(robot.regressor([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])).shape
        (2, 6)
        """
        array = np.asarray(Y, dtype=float)
        if array.ndim < 1 or array.shape[-1] != len(self.names):
            raise InputError(
                f"Y: expected {len(self.names)} columns, of {self.names[0]} to {self.names[-1]}, got shape "
                f"{array.shape}; base.regressor(robot, q, v, a) leaves friction out and puts rotors in"
            )
        return array[..., list(self.kept)]

    def regressor(self, robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return the base regressor of states, (..., rows, n)."""
        return self.reduce(_basis.columns(robot, q, v, a, rotors=self.rotors))

    def values(self, pi: ArrayLike | Robot) -> Array:
        """Return the base parameters of a vector π (..., p), or a robot's own.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> print(*base_parameters(robot).values(robot).round(3).tolist())
        0.201 0.0 0.004 10.0 0.0 13.334
        """
        if isinstance(pi, Robot):
            pi = _basis.nominal(pi, rotors=self.rotors)
        given = _sized("pi", pi, len(self.names))
        result: Array = given @ self.matrix.T
        return result

    def expand(self, values: ArrayLike, nominal: ArrayLike | None = None) -> Array:
        """Return the π nearest to `nominal` that has given base parameters; one with zeros for the rest without it.

        Any π that has them gives the same torques; none need be a real body's.

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
        """Return the sums as a table, with their values if any are given."""
        rows = tuple((name, text) for name, text in zip(self.labels, self.formulas, strict=True))
        note = f"gap {self.gap:.2g} between singular values, condition number {self.condition:.3g}"
        title = f"{self.robot_name}: {self.n} base parameters"
        if values is None:
            return Table(title, ("parameter", "stands for"), rows, (note,))
        given = _sized("values", values, self.n)
        valued = tuple((*row, float(x)) for row, x in zip(rows, given, strict=True))
        return Table(title, ("parameter", "stands for", "value"), valued, (note,))


@one_blas_thread()
def base_parameters(
    robot: Robot, *, rotors: bool = False, seed: int | np.random.Generator = 0, samples: int | None = None
) -> BaseParameters:
    """Return the base parameters of a robot, open, closed or spherical, found at random states.

    Parameters
    ----------
    robot
        Its geometry and gravity count, its inertial parameters do not.
    rotors
        Whether every motor has a rotor inertia besides, as geared motors do.
    seed
        Of the random states, or a generator of them. They lie within the joints' limits.
    samples
        How many states; as many as give six rows per column, where not said.

    Raises
    ------
    ModelError
        When the singular values leave no clear gap, so that the rank is open.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma560")
    >>> base_parameters(robot).n, base_parameters(robot, rotors=True).n
    (36, 40)
    """
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected a robot, got {type(robot).__name__}")
    rng = np.random.default_rng(seed)
    names = _basis.parameter_names(robot, rotors=rotors)
    count = -(-ROWS * len(names) // max(robot.nv, 1)) + 1 if samples is None else samples
    W = _basis.columns(robot, *_basis.random_states(robot, count, rng), rotors=rotors)
    order = _basis.preference(robot, rotors=rotors)
    return base_of(W, names, order, robot_name=robot.name, rotors=rotors)


@one_blas_thread()
def base_of(
    W: ArrayLike,
    names: Sequence[str],
    order: Sequence[int] | None = None,
    *,
    robot_name: str = "regressor",
    rotors: bool = False,
) -> BaseParameters:
    """Return the base parameters of any stack of regressors (..., p) whose columns have `names`.

    `order` has the columns that are to be kept first; as they come, where it is not given. Relations that a motion does
    not show wrong are taken for true: a log that excites little has fewer base parameters than its robot.

    >>> base_of([[1.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 1.0, 3.0]], ["x", "y", "z"]).formulas
    ('x + z', 'y + 2 z')
    """
    stack = np.asarray(W, dtype=float)
    if stack.ndim < 2 or stack.shape[-1] != len(names) or not np.isfinite(stack).all():
        raise InputError(f"W: expected finite rows of {len(names)} columns, one per name, got shape {stack.shape}")
    rows = stack.reshape(-1, len(names))
    if len(rows) < len(names):
        raise InputError(f"W: expected {len(names)} rows or more, as many as columns, got {len(rows)}")
    unit, lengths, idle = _scaled(rows, robot_name)
    triangle = np.asarray(np.linalg.qr(unit, mode="r"))
    rank = _rank(triangle, robot_name)
    kept = tuple(sorted(_pivots(triangle, rank.value, range(len(names)) if order is None else order)))
    rest = tuple(k for k in range(len(names)) if k not in kept)
    chosen = triangle[:, kept]
    relative = np.linalg.lstsq(chosen, triangle[:, rest], rcond=None)[0]
    relative[np.abs(relative) < 10.0 * max(NOTHING, rank.dropped / rank.kept)] = 0.0
    K = relative * lengths[list(rest)] / lengths[list(kept)][:, None]
    return BaseParameters(
        robot_name=robot_name,
        names=tuple(names),
        kept=kept,
        rest=rest,
        K=frozen(K),
        rank=rank,
        condition=float(np.linalg.cond(chosen)),
        idle=idle,
        rotors=rotors,
    )


def _scaled(rows: Array, robot_name: str) -> tuple[Array, Array, tuple[int, ...]]:
    """Return W with rows and columns of unit length, the columns' lengths, and the columns that are zero.

    A relation of columns holds in every row by itself, so that rows may be scaled: none drowns the others.
    """
    size = np.linalg.norm(rows, axis=1)
    if not size.any():
        raise ModelError(f"robot '{robot_name}': no inertial parameter has any effect on its torques")
    even = rows / np.where(size > NOTHING * size.max(), size, np.inf)[:, None]
    lengths = np.linalg.norm(even, axis=0)
    idle = lengths <= NOTHING * lengths.max()
    even[:, idle] = 0.0
    lengths[idle] = 1.0
    return even / lengths, lengths, tuple(int(k) for k in np.flatnonzero(idle))


def _rank(triangle: Array, robot_name: str) -> Rank:
    """Return the rank at the widest gap of the singular values; raise where none is wide."""
    values = np.linalg.svd(triangle, compute_uv=False)
    values = values / values[0]
    floor = len(values) * np.finfo(float).eps
    ladder = np.append(np.maximum(values, floor), floor)
    gaps = ladder[:-1] / ladder[1:]
    n = int(np.argmax(gaps)) + 1
    if gaps[n - 1] < GAP:
        raise ModelError(
            f"robot '{robot_name}': the number of base parameters is open between {n} and its neighbours: the widest "
            f"gap of the regressor's singular values is {gaps[n - 1]:.2g}, from {ladder[n - 1]:.2g} to "
            f"{ladder[n]:.2g}, and must be {GAP:.0e}; take more samples, or states further apart"
        )
    return Rank(n, float(values[n - 1]), float(values[n]) if n < len(values) else 0.0)


def _pivots(triangle: Array, n: int, order: Sequence[int]) -> list[int]:
    """Return n columns: at each step the first in order whose distance from the chosen ones is not small."""
    left = triangle[:, order]
    squares = exact = (left**2).sum(axis=0)
    basis = np.zeros((n, len(triangle)))
    chosen: list[int] = []
    for k in range(n):
        if squares.max() < 1e-6 * exact.max():  # differences of squares have lost their digits
            left = left - basis[:k].T @ (basis[:k] @ left)
            squares = exact = (left**2).sum(axis=0)
        place = int(np.argmax(squares >= THRESHOLD**2 * squares.max()))
        direction = left[:, place]
        for _ in range(2):  # twice is enough: what rounding leaves of the first projection goes in the second
            direction = direction - basis[:k].T @ (basis[:k] @ direction)
        basis[k] = direction / np.linalg.norm(direction)
        squares = squares - (basis[k] @ left) ** 2
        squares[place] = 0.0
        chosen.append(order[place])
    return chosen


def _sized(name: str, x: ArrayLike, size: int) -> Array:
    array = np.asarray(x, dtype=float)
    if array.shape[-1:] != (size,):
        raise InputError(f"{name}: expected (..., {size}), got shape {array.shape}")
    return array

"""Base columns: linearly independent columns of a regressor, and the others as combinations of them.

The columns of a regressor are linearly dependent: W P = [W₁ W₂] with W₂ = W₁K, so that Wπ = W₁(π₁ + Kπ₂), and joint
torques depend only on the combinations π₁ + Kπ₂ (M. Gautier, Numerical calculation of the base inertial parameters of
robots, 1991). The rank is that of W at random states, by its singular values, which must have a clear gap. The columns
W₁ are chosen by a QR decomposition with threshold pivoting: among the columns that are nearly farthest from the span of
those chosen, the one that the literature keeps. The choice is natural where possible and numerically stable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.errors import InputError, ModelError
from appell.model.model import Joint
from appell.model.parameters import PER_BODY
from appell.robot.kind import Kind, Rank
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array, frozen

GAP = 1e3
"""The smallest ratio of two singular values that separates the rank from rounding errors."""
NOTHING = 1e-10
"""Relative size below which a column has no effect and a coefficient is zero."""
THRESHOLD = 0.05
"""A column may be chosen if its distance from those chosen is at least this fraction of the largest."""
ROWS = 6
"""Rows of random samples per column."""
LARGEST = 2000
"""Largest number of columns for which base columns are computed; the rows then take 200 MB."""
SPEED, ACCELERATION = 2.0, 5.0
"""Standard deviations of random velocities and accelerations [1/s, 1/s²], for forces of similar size."""

OF_A_BODY = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_PRODUCTS = ("Ixy", "Ixz", "Iyz")
_SQUARES = ("Ixx", "Iyy", "Izz")
_FIRST = ("mcx", "mcy", "mcz")


class State(NamedTuple):
    """Coordinates, velocities and accelerations, one row per sample."""

    q: Array
    v: Array
    a: Array


class BaseColumns(NamedTuple):
    """The columns that are kept, the rest, and K with W[rest] = W[kept]·K; both in the order of π.

    `rank` has the singular values on both sides of the gap, relative to the largest; `condition` is the condition
    number of the kept columns, each of unit length; `idle` are the columns that are zero.
    """

    kept: tuple[int, ...]
    rest: tuple[int, ...]
    K: Array
    rank: Rank
    condition: float
    idle: tuple[int, ...]

    @property
    def matrix(self) -> Array:
        """Return B (n, p) with π_b = B·π."""
        return matrix(self.kept, self.rest, self.K)


def matrix(kept: Sequence[int], rest: Sequence[int], K: Array) -> Array:
    """Return [1 K] with its columns in the order of π."""
    whole = np.zeros((len(kept), len(kept) + len(rest)))
    whole[:, list(kept)] = np.eye(len(kept))
    whole[:, list(rest)] = K
    return frozen(whole)


@one_blas_thread()
def robot_columns(kind: Kind, regressor: Callable[..., Any]) -> BaseColumns:
    """Return the base columns of all of a robot's parameters, those of its joints among them."""
    count = kind.facts.sizes["p"]
    if count > LARGEST:
        raise InputError(
            f"regressor: base columns are computed for up to {LARGEST} parameters, robot '{kind.model.name}' has "
            f"{count}; use appell.identification.base_of with regressors at chosen states"
        )
    states = random_states(kind, samples(kind, count), np.random.default_rng(0))
    rows = np.asarray(regressor(*states), dtype=float).reshape(-1, count)
    return base_columns(rows, preference(kind, count), kind.model.name)


def samples(kind: Kind, columns: int) -> int:
    """Return how many random states give :data:`ROWS` rows per column."""
    return -(-ROWS * columns // max(kind.facts.sizes["v"], 1)) + 1


def random_states(kind: Kind, size: int, rng: np.random.Generator) -> State:
    """Return random states: random configurations, normally distributed velocities and accelerations."""
    q, n = kind.random(rng, size), kind.facts.sizes["v"]
    return State(q, SPEED * rng.normal(size=(size, n)), ACCELERATION * rng.normal(size=(size, n)))


def preference(kind: Kind, count: int) -> list[int]:
    """Return `count` columns in the order in which they are to be kept, those that others absorb last.

    As M. Gautier and W. Khalil (1990) regroup: a body that rotates about its z axis passes Iyy, mcz and m to others,
    one that translates its six moments of inertia; bodies nearer the base come first, so that they absorb those further
    out. Columns of joints and springs come between both.
    """
    bodies = kind.model.bodies
    kept: list[int] = []
    absorbed: list[int] = []
    for i, body in enumerate(bodies):
        for group, names in zip((kept, absorbed), _of_joint(body.joint), strict=True):
            group += [PER_BODY * i + OF_A_BODY.index(name) for name in names]
    return [*kept, *range(PER_BODY * len(bodies), count), *absorbed]


def base_columns(rows: Array, order: Sequence[int], name: str) -> BaseColumns:
    """Return the base columns of a stack of regressors (rows, p), preferring those first in `order`."""
    unit, lengths, idle = _scaled(rows, name)
    triangle = np.asarray(np.linalg.qr(unit, mode="r"))
    rank = _rank(triangle, name)
    kept = tuple(sorted(_pivots(triangle, rank.value, order)))
    rest = tuple(k for k in range(rows.shape[1]) if k not in kept)
    chosen = triangle[:, kept]
    relative = np.linalg.lstsq(chosen, triangle[:, rest], rcond=None)[0]
    relative[np.abs(relative) < 10.0 * max(NOTHING, rank.dropped / rank.kept)] = 0.0
    K = relative * lengths[list(rest)] / lengths[list(kept)][:, None]
    return BaseColumns(kept, rest, frozen(K), rank, float(np.linalg.cond(chosen)), idle)


def _scaled(rows: Array, name: str) -> tuple[Array, Array, tuple[int, ...]]:
    """Return W with rows and columns of unit length, the columns' lengths, and the columns that are zero.

    A linear relation of columns holds in each row, so that rows may be scaled to similar size.
    """
    size = np.linalg.norm(rows, axis=1)
    if not size.any():
        raise ModelError(
            f"robot '{name}': no inertial parameter affects its joint torques; check its joints and inertias"
        )
    even = rows / np.where(size > NOTHING * size.max(), size, np.inf)[:, None]
    lengths = np.linalg.norm(even, axis=0)
    idle = lengths <= NOTHING * lengths.max()
    even[:, idle] = 0.0
    lengths[idle] = 1.0
    return even / lengths, lengths, tuple(int(k) for k in np.flatnonzero(idle))


def _rank(triangle: Array, name: str) -> Rank:
    """Return the rank at the widest gap of the singular values; raise if no gap is wide enough."""
    values = np.linalg.svd(triangle, compute_uv=False)
    values = values / values[0]
    floor = len(values) * np.finfo(float).eps
    ladder = np.append(np.maximum(values, floor), floor)
    gaps = ladder[:-1] / ladder[1:]
    n = int(np.argmax(gaps)) + 1
    if gaps[n - 1] < GAP:
        raise ModelError(
            f"robot '{name}': the rank of the regressor is ambiguous near {n}: the widest "
            f"gap of the regressor's singular values is {gaps[n - 1]:.2g}, from {ladder[n - 1]:.2g} to "
            f"{ladder[n]:.2g}, expected {GAP:.0e}; use more samples, or a wider range of states"
        )
    return Rank(n, float(values[n - 1]), float(values[n]) if n < len(values) else 0.0)


def _pivots(triangle: Array, n: int, order: Sequence[int]) -> list[int]:
    """Return n columns: at each step the first in order whose distance from the chosen ones is not small."""
    left = triangle[:, order]
    squares = exact = (left**2).sum(axis=0)
    basis = np.zeros((n, len(triangle)))
    chosen: list[int] = []
    for k in range(n):
        if squares.max() < 1e-6 * exact.max():  # differences of squares have lost precision
            left = left - basis[:k].T @ (basis[:k] @ left)
            squares = exact = (left**2).sum(axis=0)
        place = int(np.argmax(squares >= THRESHOLD**2 * squares.max()))
        direction = left[:, place]
        for _ in range(2):  # twice is enough: the second projection removes the rounding error of the first
            direction = direction - basis[:k].T @ (basis[:k] @ direction)
        basis[k] = direction / np.linalg.norm(direction)
        squares = squares - (basis[k] @ left) ** 2
        squares[place] = 0.0
        chosen.append(order[place])
    return chosen


def _of_joint(joint: Joint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parameters of a body that are kept first, and those that others absorb."""
    if joint.kind == "free":
        return OF_A_BODY, ()
    if joint.kind == "prismatic":
        return ("m", *_FIRST), (*_SQUARES, *_PRODUCTS)
    if joint.kind == "ball":
        return (*_SQUARES, *_PRODUCTS, *_FIRST), ("m",)
    axis = joint.columns[0].angular
    along = int(np.argmax(np.abs(np.array(axis, dtype=float)))) if any(axis) else 2
    one, other = (k for k in range(3) if k != along)
    kept = (_SQUARES[along], _SQUARES[one], *_PRODUCTS, _FIRST[one], _FIRST[other])
    return kept, (_SQUARES[other], _FIRST[along], "m")

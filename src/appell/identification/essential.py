"""Essential parameters: the base parameters that a log identifies well.

A base parameter with a large relative standard error has no information and degrades the others. C. Pham and M. Gautier
(Essential parameters of robots, 1991) drop the worst and fit again, until the worst relative standard error is at most
10 to 30 times the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.reports.table import Table
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array

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

"""Validation of a fit: blocked cross-validation, and analysis of residuals.

Adjacent samples of a log are correlated. Folds are therefore intervals of time, and samples closer to a fold than the
correlation time of the residuals are in neither set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from appell.errors import InputError
from appell.identification.fit import Fit
from appell.identification.identify import again, cut
from appell.identification.prediction import Prediction
from appell.identification.problem import LogRecord
from appell.identification.solve import PERIODS, autocorrelation
from appell.logs.prepare import AnyLog
from appell.reports.table import Cell, Table
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array

LEAST = 0.05
"""Threshold of a hint: fraction of the residual's variance explained by a quantity …"""
SURE = 3.0
"""… and number of standard deviations above the value expected by chance."""
MATTERS = 0.02
"""Residuals below this fraction of the torque give no hints."""
REVERSAL = 1.5
"""Ratio of residuals after reversals to others that indicates wind-up of friction."""
SINCE_REVERSAL = 0.3
"""Duration after a reversal [s]."""


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Predictions of held-out intervals by fits to the other data, and of all data by the fit to it.

    `values` (folds, n) are the values of `names` in each of these fits.
    """

    folds: tuple[Prediction, ...]
    training: Prediction
    names: tuple[str, ...]
    values: Array

    @property
    def relative(self) -> Array:
        """Return the errors ‖error‖/‖torque‖ per fold and motor, (folds, motors)."""
        return np.array([fold.relative for fold in self.folds])

    @property
    def score(self) -> float:
        """Return the mean error of motors and folds."""
        return float(np.nanmean(self.relative))

    def __str__(self) -> str:
        return (
            f"cross-validation in {len(self.folds)} folds: {self.score:.2%} held out, {self.training.score:.2%} "
            "training"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def table(self) -> Table:
        """Return the errors per fold and motor [%]."""
        rows: list[tuple[Cell, ...]] = [
            (f"{k}", f"{fold.t[0]:.1f} to {fold.t[-1]:.1f}", *_percent(fold.relative), 100.0 * fold.score)
            for k, fold in enumerate(self.folds, 1)
        ]
        rows.append(("mean", "", *_percent(np.nanmean(self.relative, axis=0)), 100.0 * self.score))
        rows.append(("training", "", *_percent(self.training.relative), 100.0 * self.training.score))
        columns = ("fold", "t [s]", *self.training.motors, "mean")
        note = "errors [%] on held-out intervals of time"
        return Table(f"cross-validation in {len(self.folds)} folds", columns, tuple(rows), (note,))


def _percent(values: Array) -> list[float | None]:
    return [None if np.isnan(x) else 100.0 * float(x) for x in values]


@one_blas_thread()
def cross_validate(fit: Fit, folds: int = 5, progress: Callable[[int], object] | None = None) -> CrossValidation:
    """Cross-validate a fit on intervals of its own logs.

    Every log is divided into as many intervals as there are folds. Each fold holds out one interval of each log, fits
    the others by the same method, and predicts the held-out one.

    Parameters
    ----------
    fit : Fit
        The fit.
    folds : int
        Number of folds, 2 or more.
    progress : callable, optional
        Called with the number of each finished fold.

    Returns
    -------
    CrossValidation
        Errors per fold and motor.

    Raises
    ------
    InputError
        When there are fewer than two folds, or a motor does not move outside of one.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.identification.identify import identify
    >>> robot, t = appell.load("two-link"), np.arange(0.0, 20.0, 0.01)
    >>> q, v, a = appell.trajectory.Fourier([0.0, 0.5], [[0.8, 0.2], [0.3, -0.6]], [[0.1, 0.5], [0.4, 0.2]], 0.2)(t)
    >>> log = {"t": t, "q": q, "v": v, "tau": robot.inverse_dynamics(q, v, a)}
    >>> print(cross_validate(identify(robot, log, "qr", friction=False, rotors=False), folds=4))
    cross-validation in 4 folds: 0.00% held out, 0.00% training
    """
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise InputError(f"folds: expected an integer of 2 or more, got {folds!r}")
    predictions, values = [], []
    for k in range(folds):
        training, parts = [], []
        for record in fit.records:
            inside, outside = _split(record, k, folds)
            training.append(cut(record, outside))
            parts.append((record, inside))
        _check(fit, training, folds)
        fitted = again(fit, training)
        predictions.append(Prediction.joined([_part(fitted.predicted(record), rows) for record, rows in parts]))
        values.append(np.array([dict(zip(fitted.names, fitted.values, strict=True)).get(x, np.nan) for x in fit.names]))
        if progress is not None:
            progress(k + 1)
    return CrossValidation(tuple(predictions), fit.training, fit.names, np.array(values))


def _split(record: LogRecord, k: int, folds: int) -> tuple[Array, Array]:
    """Return which samples are in the k-th interval, and which are sufficiently far from it."""
    n = len(record)
    if n < 2 * folds:
        raise InputError(f"folds: {record.log.source or 'the log'} has {n} samples, too few for {folds} folds")
    start, stop = (round(n * x / folds) for x in (k, k + 1))
    margin = min(round(PERIODS * record.log.rate / record.log.cutoff), n // (4 * folds))
    at = np.arange(n)
    return (at >= start) & (at < stop), (at < start - margin) | (at >= stop + margin)


def _part(prediction: Prediction, rows: Array) -> Prediction:
    return replace(prediction, **{x: getattr(prediction, x)[rows] for x in ("t", "tau", "measured", "speed")})


def _check(fit: Fit, training: Sequence[LogRecord], folds: int) -> None:
    rows = sum(record.log.moving.sum(axis=0) for record in training)
    remedy = "use more folds, or logs in which every motor moves throughout"
    fit.problem.check_rows(rows, "folds", f"outside of one of {folds} folds", remedy)


# Residuals


class Residual(NamedTuple):
    """The residual of one motor's torque.

    `mean` and `rms` [N·m, N]; `explained` is the explained fraction of the measured torque's variance; `memory` [s] is
    the correlation time of the residual. `shares` are the fractions of the residual's variance explained by functions
    of position, velocity, acceleration and load; `hints` are possible causes.
    """

    motor: str
    mean: float
    rms: float
    explained: float
    memory: float
    shares: dict[str, float]
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Residuals:
    """The residuals of a fit along logs, one :class:`Residual` per motor."""

    motors: tuple[Residual, ...]
    source: str = ""

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def table(self) -> Table:
        """Return the residuals per motor, and the fractions of variance explained by other quantities [%]."""
        names = tuple(self.motors[0].shares)
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                x.motor,
                x.mean,
                x.rms,
                100.0 * x.explained,
                x.memory,
                *(100.0 * share for share in x.shares.values()),
                "; ".join(x.hints) or "no hints",
            )
            for x in self.motors
        )
        columns = (
            "motor",
            "mean [N·m, N]",
            "rms [N·m, N]",
            "explained [%]",
            "memory [s]",
            *(f"{x} [%]" for x in names),
            "hint",
        )
        notes = (
            "explained: fraction of the measured torque's variance; memory: correlation time of the residual",
            f"{', '.join(names)}: fraction of the residual's variance explained by functions of it, load beyond "
            "velocity",
        )
        return Table(f"{self.source or 'log'}: residuals", columns, rows, notes)


@one_blas_thread()
def residuals(fit: Fit, log: AnyLog | None = None) -> Residuals:
    """Analyse the residuals of a fit, along its training logs or along another log.

    Parameters
    ----------
    fit : Fit
        The fit.
    log : str, path, Log, Prepared or mapping, optional
        Another log. Default: the training logs.

    Returns
    -------
    Residuals
        Statistics of the residuals per motor, with hints at their causes.

    Raises
    ------
    InputError
        When the log does not match the robot.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.identification.identify import identify
    >>> robot, t = appell.load("two-link"), np.arange(0.0, 20.0, 0.01)
    >>> q, v, a = appell.trajectory.Fourier([0.0, 0.5], [[0.8, 0.2], [0.3, -0.6]], [[0.1, 0.5], [0.4, 0.2]], 0.2)(t)
    >>> tau = robot.inverse_dynamics(q, v, a) + 20.0 * np.sign(v)
    >>> fit = identify(robot, {"t": t, "q": q, "v": v, "tau": tau}, "qr", friction=False, rotors=False)
    >>> residuals(fit).motors[0].hints
    ('unmodelled friction',)
    """
    records = fit.records if log is None else (fit.record(log),)
    loads = [record.rigid(fit.theta) for record in records]
    errors = [r.moved.tau - load - r.friction_torque(fit.theta, load) for r, load in zip(records, loads, strict=True)]
    found = [_of_motor(fit, records, loads, errors, j) for j in range(fit.problem.n_motors)]
    return Residuals(tuple(found), ", ".join(record.log.source for record in records if record.log.source))


def _of_motor(fit: Fit, records: Sequence[LogRecord], loads: list[Array], errors: list[Array], j: int) -> Residual:
    """Return the residual of one motor over the rows in which it moves.

    Near a reversal the filter mixes friction of both signs: these rows are excluded from the analysis.
    """
    keeps = [record.log.moving[:, j] for record in records]

    def rows(signals: Sequence[Array]) -> Array:
        return np.concatenate([signal[keep, j] for signal, keep in zip(signals, keeps, strict=True)])

    e, tau, load = rows(errors), rows([record.moved.tau for record in records]), rows(loads)
    name = fit.problem.robot.actuators[j]
    if len(e) < 10:
        return Residual(name, 0.0, 0.0, 0.0, 0.0, dict.fromkeys(_HINTS, 0.0), (f"it moves in {len(e)} samples only",))
    memory = _memory(records, errors, j)
    q, v = (rows([getattr(record.moved, x) for record in records]) for x in ("path", "speed"))
    a = rows([record.moved.a[:, : fit.problem.n_motors] for record in records])
    sign = np.sign(v)
    clear = ~np.concatenate(
        [
            _reversed(record, j, 1.0 / record.log.cutoff, 1.0 / record.log.cutoff)[k]
            for record, k in zip(records, keeps, strict=True)
        ]
    )
    functions = {
        "position": [q, np.sin(q), np.cos(q)] if fit.problem.turns[j] else [q, q**2],
        "velocity": [sign, v, sign * np.sqrt(np.abs(v))],
        "acceleration": [a],
        "load": [load, sign * np.abs(load)],
    }
    shares = {what: _share(e, columns, clear) for what, columns in functions.items()}
    both = _share(e, [*functions["velocity"], *functions["load"]], clear)  # sign(v)·|load| is close to sign(v)
    shares["load"] = max(both - shares["velocity"], 0.0)
    independent = max(float(sum(len(x) / record.log.rate for x, record in zip(keeps, records, strict=True))), 1e-9)
    effective = max(independent / max(2.0 * memory, 1e-9), 1.0)
    stands_out = {
        what: share > max(LEAST, (len(functions[what]) + SURE * np.sqrt(2.0 * len(functions[what]))) / effective)
        for what, share in shares.items()
    }
    hints = [_HINTS[what](fit) for what, is_large in stands_out.items() if is_large]
    if not hints and not _has(fit, "bristle1") and _after_reversals(records, errors, j) > REVERSAL:
        hints.append("residuals are large just after reversals, where drives wind up: try friction='full'")
    if np.linalg.norm(e) < MATTERS * np.linalg.norm(tau):
        hints = []
    return Residual(
        motor=name,
        mean=float(e.mean()),
        rms=float(np.sqrt(np.mean(e**2))),
        explained=1.0 - float(np.var(e) / max(float(np.var(tau)), 1e-300)),
        memory=memory,
        shares=shares,
        hints=tuple(hints),
    )


def _velocity_hint(fit: Fit) -> str:
    if not fit.problem.terms:
        return "unmodelled friction"
    if _has(fit, "bristle1"):
        return "friction has changed since the fit, or its type is not in the model"
    return "the friction model is too simple for these speeds: try friction='full'"


def _load_hint(fit: Fit) -> str:
    if _has(fit, "load"):
        return "the residual grows with the torque: a drive gain may be wrong, or the load has changed"
    return "friction grows with the load: try friction='load' or 'full'"


def _acceleration_hint(fit: Fit) -> str:
    if not fit.problem.rotors:
        return "inertia is missing: try rotors=True"
    return "the residual follows the acceleration: a delay between q and the torque, or an elastic joint"


def _has(fit: Fit, term: str) -> bool:
    return any(term == known.name for known in fit.problem.terms)


_HINTS: dict[str, Callable[[Fit], str]] = {
    "position": lambda fit: "the residual depends on the position: a cable, a spring, or gear eccentricity",
    "velocity": _velocity_hint,
    "acceleration": _acceleration_hint,
    "load": _load_hint,
}


def _share(e: Array, columns: Sequence[Array], rows: Array) -> float:
    """Return the fraction R² of the variance of e explained by columns and a constant in some rows."""
    if int(rows.sum()) < 10:
        return 0.0
    e, W = e[rows], np.column_stack([np.ones_like(e), *columns])[rows]
    lengths = np.linalg.norm(W, axis=0)
    W = W / np.where(lengths > 0.0, lengths, 1.0)
    left = e - W @ np.linalg.lstsq(W, e, rcond=None)[0]
    return float(np.clip(1.0 - np.var(left) / max(float(np.var(e)), 1e-300), 0.0, 1.0))


def _memory(records: Sequence[LogRecord], errors: Sequence[Array], j: int) -> float:
    """Return the integral of the residual's autocorrelation up to where it first vanishes [s]."""
    rate = records[0].log.rate
    moved = [error[:, j] * record.log.moving[:, j] for record, error in zip(records, errors, strict=True)]
    parts = [e[part] for record, e in zip(records, moved, strict=True) for part in record.log.segments]
    sums = autocorrelation(parts, max(map(len, parts)))
    if sums[0] <= 0.0:
        return 0.0
    rho = sums / sums[0]
    end = int(np.argmax(rho <= 0.0)) if (rho <= 0.0).any() else len(rho)
    return float((rho[:end].sum() - 0.5) / rate)


def _after_reversals(records: Sequence[LogRecord], errors: Sequence[Array], j: int) -> float:
    """Return the RMS residual after reversals relative to that of the other samples."""
    soon, other = [np.zeros(0)], [np.zeros(0)]
    for record, error in zip(records, errors, strict=True):
        turned = _reversed(record, j, 0.0, SINCE_REVERSAL)
        keep = record.log.moving[:, j]
        soon.append(error[keep & turned, j])
        other.append(error[keep & ~turned, j])
    a, b = np.concatenate(soon), np.concatenate(other)
    if len(a) < 10 or len(b) < 10:
        return 1.0
    return float(np.sqrt(np.mean(a**2) / max(float(np.mean(b**2)), 1e-300)))


def _reversed(record: LogRecord, j: int, before: float, after: float) -> Array:
    """Return the samples from some time before to some time after a reversal of a motor [s]."""
    result = np.zeros(len(record), dtype=bool)
    for k in np.flatnonzero(np.diff(np.sign(record.moved.speed[:, j]))):
        result[max(0, k - round(before * record.log.rate)) : k + 1 + round(after * record.log.rate)] = True
    return result

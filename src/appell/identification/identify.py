"""`appell.identify`: dynamic parameters of a robot from logs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError, warn
from appell.identification.fit import Fit
from appell.identification.friction import friction_terms
from appell.identification.physical import Prior, physical
from appell.identification.problem import LogRecord, Problem, Triangle, merged
from appell.identification.solve import METHODS, covariance, linear, lowered, residual_sigma, shown
from appell.logs.log import PER_VELOCITY, Log
from appell.logs.prepare import AnyLog, Prepared, prepare
from appell.logs.read_log import read_log
from appell.messages import alternatives, listed
from appell.robot.robot import Robot, checked_robot
from appell.robot.verbs.coordinates import joint_limits
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array

PASSES = 12
"""Maximum number of iterations over load, weights and solution."""
SETTLED = 1e-2
"""Change of the torques at convergence, relative to their standard deviation."""
FINEST = 1e-4
"""Sensor resolution relative to a motor's torque: smaller residuals get no more weight in a physical fit, whose solver
would
otherwise fail on rows 1e5 times as large as those of the prior."""
FAR = 10.0
"""Speeds and torques above this multiple of the robot's limits indicate wrong units …"""
FASTEST = 100.0
"""… as do speeds [rad/s, m/s] above this."""
HUBER = 1.345
"""Huber threshold in standard deviations: 95 % efficiency for normal residuals."""


class FitOptions(TypedDict, total=False):
    """Options of a fit; defaults as in :class:`Settings`."""

    columns: Any
    gains: ArrayLike | None
    rotors: bool
    cutoff: float
    rate: float | None
    moving: float
    weights: str
    robust: bool | None
    spread: float
    masses: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Settings:
    """Settings of a fit.

    Attributes
    ----------
    columns
        Map of a file's columns, as for :func:`appell.read_log`.
    gains
        Drive gain of each motor [N·m/A].
    rotors
        Whether every motor has a rotor inertia.
    cutoff, rate
        Cutoff frequency of the filter and sampling rate [Hz], as for :func:`appell.logs.prepare.prepare`.
    moving
        Speed [rad/s] above which a motor's rows are used in a fit with friction, because stiction is not a function of
        the motion; a tenth of it [m/s] for prismatic joints.
    weights
        "noise" divides a motor's rows by the standard deviation of its residuals; "equal" is ordinary least squares.
    robust
        Whether to use Huber weights. Default: only in physical fits.
    spread
        Standard deviation of the prior of a physical fit: expected relative deviation of bodies from the file's.
    masses
        Bounds (lower, upper) [kg] of masses by link name, for a physical fit.
    """

    columns: Any = None
    gains: ArrayLike | None = None
    rotors: bool = True
    cutoff: float = 10.0
    rate: float | None = None
    moving: float = 0.02
    weights: str = "noise"
    robust: bool | None = None
    spread: float = 1.0
    masses: Mapping[str, tuple[float, float]] | None = None

    def record(self, log: AnyLog, problem: Problem) -> LogRecord:
        """Return the record of a log of any type."""
        return LogRecord.of(problem, self.prepared(log, problem), self.moving)

    def read(self, log: AnyLog, problem: Problem) -> Log | Prepared:
        """Return a log of any type, read if it is a file."""
        if isinstance(log, Log | Prepared):
            return log
        if isinstance(log, Mapping):
            _check_names(log)
            return Log.from_arrays(**log)
        if not isinstance(log, str | os.PathLike):
            raise InputError(f"log: expected a file, a Log or a mapping of arrays, got {type(log).__name__}")
        return read_log(log, self.columns, gains=self.gains, robot=problem.robot)

    def prepared(self, log: AnyLog, problem: Problem) -> Prepared:
        """Return a log of any type, uniformly sampled and filtered."""
        log = self.read(log, problem)
        if isinstance(log, Prepared):
            return log
        gains = None if log.tau is not None else self.gains
        rest = self.moving * float(problem.levers.min()) if problem.terms else None
        return prepare(log, cutoff=self.cutoff, rate=self.rate, moving=rest, gains=gains)


@one_blas_thread()
def identify(
    robot: Robot,
    log: AnyLog | Sequence[AnyLog],
    method: str = "physical",
    friction: bool | str | Sequence[str] = True,
    **options: Unpack[FitOptions],
) -> Fit:
    """Identify inertial parameters, rotor inertias, friction and springs of a robot from logs.

    The stiffness of the robot's springs is identified, and the damping of springs between joints.

    Parameters
    ----------
    robot : Robot
        The nominal robot: its geometry and gravity are used, and its inertias as the prior of a physical fit.
    log : str, path, Log, Prepared, mapping or sequence of these
        A file, a :class:`appell.identification.Log`, a mapping of arrays (t, q, v, tau or current), or several.
    method : str
        "physical": physically consistent parameters; "qr", "svd", "pinv" or "ridge": base parameters without bounds.
    friction : bool, str or sequence of str
        True for the full model of geared drives, False for none, the name of a simpler one ("coulomb", "smooth",
        "stribeck", "load"), or a list of terms (:mod:`appell.identification.friction`).
    **options
        Options of :class:`appell.identification.identify.Settings`: columns, gains, rotors, cutoff, rate, moving,
        weights, robust, spread, masses.

    Returns
    -------
    Fit
        Values with standard errors, predictions, and the identified robot.

    Raises
    ------
    InputError
        When a log does not match the robot, or an option is unknown.

    References
    ----------
    P. M. Wensing, S. Kim, J.-J. E. Slotine, *Linear matrix inequalities for physically consistent inertial parameter
    identification*, IEEE Robotics and Automation Letters 3 (2018) 60–67.

    Examples
    --------
    >>> import appell, numpy as np
    >>> robot = appell.load("two-link")
    >>> t = np.arange(0.0, 10.0, 0.01)
    >>> q = np.stack([np.sin(2.0 * t) + 0.5 * np.sin(5.0 * t), np.cos(3.0 * t) - 0.5 * np.cos(7.0 * t)], axis=1)
    >>> v, a = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> tau = robot.inverse_dynamics(q, v, a)
    >>> fit = appell.identify(robot, {"t": t, "q": q, "v": v, "tau": tau}, "qr", friction=False, rotors=False)
    >>> bool(np.allclose(fit.values, fit.base.values(robot), rtol=1e-2, atol=0.02))
    True
    """
    known = (*METHODS, "physical")
    if method not in known:
        raise InputError(f"identify: unknown method '{method}'; {alternatives(method, known)}")
    unknown = [name for name in options if name not in Settings.__dataclass_fields__]
    if unknown:
        hint = alternatives(unknown[0], Settings.__dataclass_fields__, 20)
        raise InputError(f"identify: unknown option '{unknown[0]}'; {hint}")
    settings = Settings(**options)
    if settings.weights not in ("noise", "equal"):
        raise InputError(f"identify: weights: expected 'noise' or 'equal', got '{settings.weights}'")
    problem = Problem(checked_robot("identify", robot), friction_terms(friction), settings.rotors)
    records = [settings.record(one, problem) for one in _logs(log)]
    if not records:
        raise InputError("identify: expected at least one log, got none")
    _check(problem, records)
    _check_units(problem, records)
    return _fitted(problem, records, method, settings)


def _check_names(log: Mapping[str, ArrayLike]) -> None:
    """Raise unless the arrays of a mapping are those of a log."""
    known = ("t", "q", *PER_VELOCITY)
    unknown = [name for name in log if name not in known]
    if unknown or not {"t", "q"} <= set(log):
        wrong = f"unknown quantity {listed(map(str, unknown))}" if unknown else "expected t and q"
        raise InputError(f"log: {wrong}; a mapping has t, q, tau or current, and optionally v")


def _logs(log: AnyLog | Sequence[AnyLog]) -> Sequence[AnyLog]:
    return log if isinstance(log, Sequence) and not isinstance(log, str) else [log]


def _fitted(problem: Problem, records: list[LogRecord], method: str, settings: Settings) -> Fit:
    """Return the fit, iterating over loads, weights and solution."""
    sigma = size = _torque_size(records)
    equal = np.full(problem.n_motors, float(np.sqrt(np.mean(sigma**2))))
    loads = [np.zeros_like(record.moved.tau) for record in records]
    weights: list[Array] | None = None
    is_robust = method == "physical" if settings.robust is None else settings.robust
    tau = [np.zeros_like(record.moved.tau) for record in records]
    per_observation = float(np.mean([record.log.per_observation for record in records]))
    for k in range(PASSES):
        triangles = _condensed(records, loads, weights)
        seen = shown(problem, triangles)
        by = sigma if settings.weights == "noise" else equal
        if method == "physical" and k > 0:  # the first iteration, without bounds, determines the weights
            weighed = np.sqrt(per_observation) * np.maximum(by, FINEST * size)
            theta = _physical(problem, triangles, weighed, settings, records)
        else:
            theta = linear(problem, triangles, by, seen, method)
        sigma = residual_sigma(problem, triangles, theta, len(seen.columns) * per_observation, size)
        loads = [record.rigid(theta) for record in records]
        predicted = [load + record.friction_torque(theta, load) for record, load in zip(records, loads, strict=True)]
        if is_robust:
            weights = _huber(records, predicted)
        change = max(float(np.abs((new - old) / sigma).max()) for new, old in zip(predicted, tau, strict=True))
        tau = predicted
        if change < SETTLED and k > 0:
            break
    spread = covariance(records, loads, theta, seen, sigma)
    if not (np.isfinite(theta).all() and np.isfinite(spread).all()):
        raise InputError(f"identify: the fit by '{method}' has no finite solution; check the units of the log")
    return Fit(problem, theta, seen, lowered(problem, seen, theta), spread, sigma, method, settings, tuple(records))


def _torque_size(records: list[LogRecord]) -> Array:
    """Return the RMS torque of each motor; that of all motors where a motor has none."""
    count = sum(record.log.moving.sum(axis=0) for record in records)
    squares = sum((record.moved.tau**2 * record.log.moving).sum(axis=0) for record in records) / count
    if not squares.max() > 0.0:
        raise InputError("identify: all torques of the log are zero; check the columns of tau or current")
    return np.asarray(np.sqrt(np.where(squares > 0.0, squares, squares.mean())))


def _condensed(records: list[LogRecord], loads: list[Array], weights: list[Array] | None) -> list[Triangle]:
    made: list[Triangle] | None = None
    for k, (record, load) in enumerate(zip(records, loads, strict=True)):
        more = record.triangles(load, None if weights is None else weights[k])
        made = more if made is None else merged(made, more)
    assert made is not None  # at least one record
    return made


def _physical(
    problem: Problem, triangles: list[Triangle], sigma: Array, settings: Settings, records: list[LogRecord]
) -> Array:
    prior = Prior(settings.spread, dict(settings.masses or {}))
    fastest = np.max([np.abs(record.moved.speed).max(axis=0) for record in records], axis=0)
    return physical(problem, triangles, sigma, fastest, prior)


def _huber(records: list[LogRecord], predicted: list[Array]) -> list[Array]:
    """Return √w of every row: 1 up to HUBER robust standard deviations of its motor, decreasing beyond."""
    errors = [record.moved.tau - tau for record, tau in zip(records, predicted, strict=True)]
    counted = [record.log.moving for record in records]
    result = [np.ones_like(error) for error in errors]
    for j in range(records[0].problem.n_motors):
        every = np.concatenate([error[keep[:, j], j] for error, keep in zip(errors, counted, strict=True)])
        size = 1.4826 * float(np.median(np.abs(every)))
        for weight, error in zip(result, errors, strict=True):
            weight[:, j] = np.sqrt(np.minimum(1.0, HUBER * size / np.maximum(np.abs(error[:, j]), 1e-300)))
    return result


def _check(problem: Problem, records: list[LogRecord]) -> None:
    rows = sum(record.log.moving.sum(axis=0) for record in records)
    remedy = "record a motion of every motor (see appell.excite), or lower `moving`"
    problem.check_rows(rows, "identify", "only", remedy)
    total = int(np.sum(rows))
    if total < 2 * (problem.base.n + problem.n_motors * len(problem.terms)):
        raise InputError(
            f"identify: {total} rows in motion for {problem.base.n} base parameters and "
            f"{problem.n_motors * len(problem.terms)} friction terms; record a longer log, or use a simpler "
            "friction model"
        )


@one_blas_thread()
def _check_units(problem: Problem, records: list[LogRecord]) -> None:
    """Warn of speeds and torques far above the robot's limits: a log in degrees, or in other units of torque."""
    limits, at = joint_limits(problem.robot.model), list(problem.robot.facts.actuated)
    for what, words, allowed in (
        ("speed", "speeds [rad/s, m/s]", np.minimum(FASTEST, FAR * limits.velocity[at])),
        ("tau", "torques [N·m, N]", FAR * limits.effort[at]),
    ):
        reached = np.max([np.abs(getattr(record.moved, what)).max(axis=0) for record in records], axis=0)
        beyond = [f"'{m}' {x:.3g}" for m, x, y in zip(problem.robot.actuators, reached, allowed, strict=True) if x > y]
        if beyond:
            warn(
                f"identify: {words} in the log far above the robot's limits: {', '.join(beyond)}; check the units of "
                "its columns (degrees, currents, motor side of gears)"
            )


def again(fit: Fit, records: Sequence[LogRecord]) -> Fit:
    """Return the fit of other records by the same method and settings, for cross-validation."""
    return _fitted(fit.problem, list(records), fit.method, fit.settings)


def cut(record: LogRecord, inside: Array) -> LogRecord:
    """Return a record that uses only its rows in `inside` (n,)."""
    return replace(record, log=replace(record.log, moving=record.log.moving & inside[:, None]))

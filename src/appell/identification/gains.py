"""Drive gains [N·m/A] from two logs of motor currents, without and with a load of known mass.

Currents alone determine a robot's inertias only up to one factor per motor. A known load fixes the factors, and
inertias that act on several motors couple them (M. Gautier and S. Briot, 2014). With k = 1/g, every motor j obeys

    i_j = k_j·(Y_j·θ + P_j·π) + F_j·f_j + noise,                                                                (1)

with θ the base parameters of the unloaded robot, π the ten parameters of the load (in the second log only) and f
friction in amperes, separate for each log since drives warm up. The known entries of π fix the scale of (1). The noise
is in the currents, so that (1) is solved for them: least squares of g·i would bias all gains towards zero.

Friction is linear and separate for each motor. An orthogonal transformation of the rows of a motor, its columns first,

    Qᵀ[F_j  Y_j  P_j  i_j] = [× × × ×; 0 R_Y R_P z],                                                            (2)

leaves a small bilinear problem in θ, π and k, which is solved by the Gauss–Newton method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.identification.friction import friction_terms
from appell.identification.identify import FitOptions, Settings
from appell.identification.payload import carrying_link, known_parameters
from appell.identification.problem import LogRecord, Problem, Triangle
from appell.identification.solve import information, inverse, rating
from appell.logs.prepare import AnyLog, Prepared
from appell.model.parameters import PER_BODY
from appell.reports.table import Table
from appell.robot.robot import Robot, checked_robot
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array

WELL, ROUGHLY = 0.02, 0.1
"""Relative standard errors below which a gain is rated well or roughly identified."""
PASSES = 8
"""Maximum number of iterations over loads, weights and solution."""
SETTLED = 1e-5
"""Relative change of the gains at convergence."""


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Drive gains `gains` (motors,) [N·m/A, N/A], with standard errors.

    A standard error is infinite if the logs do not determine a gain. `sigma` are the standard deviations of the current
    residuals [A]; `load` has the ten identified parameters of the load on `link`, whose mass was given.

    >>> import numpy as np
    >>> print(DriveGains(("a", "b"), np.array([10.0, 5.0]), np.array([0.1, 2.0]), np.ones(2), "hand", np.ones(10)))
    drive gains [N·m/A]: a 10 ± 0.1 (well), b 5 ± 2 (not identified)
    """

    motors: tuple[str, ...]
    gains: Array
    standard_errors: Array
    sigma: Array
    link: str
    load: Array

    def __str__(self) -> str:
        each = zip(self.motors, self.gains, self.standard_errors, self.rating, strict=True)
        return "drive gains [N·m/A]: " + ", ".join(f"{m} {g:.4g} ± {d:.2g} ({rating})" for m, g, d, rating in each)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    @property
    def rating(self) -> tuple[str, ...]:
        """Return the rating of each gain: "well", "roughly" or "not identified"."""
        return tuple(
            rating(float(g), float(d), WELL, ROUGHLY) for g, d in zip(self.gains, self.standard_errors, strict=True)
        )

    def table(self) -> Table:
        """Return gain, standard error and rating per motor."""
        rows = tuple(
            (motor, float(gain), float(error), 100.0 * float(error / abs(gain)), rating, float(sigma))
            for motor, gain, error, rating, sigma in zip(
                self.motors, self.gains, self.standard_errors, self.rating, self.sigma, strict=True
            )
        )
        centre = ", ".join(f"{x:.4f}" for x in self.load[1:4] / self.load[0])
        notes = (
            f"load of {self.load[0]:.4g} kg on '{self.link}', mass centre at ({centre}) m; gains are proportional to "
            "its mass",
            f"well: a standard error of {WELL:.0%} or less; roughly: {ROUGHLY:.0%}",
        )
        columns = ("motor", "gain [N·m/A]", "standard error", "standard error [%]", "rating", "residual [A]")
        return Table("drive gains", columns, rows, notes)


@one_blas_thread()
def drive_gains(  # the known parameters of the load
    robot: Robot,
    log: AnyLog,
    loaded: AnyLog,
    mass: float,
    *,
    link: str | None = None,
    centre: ArrayLike | None = None,
    inertia: ArrayLike | None = None,
    friction: bool | str | Sequence[str] = "load",
    **options: Unpack[FitOptions],
) -> DriveGains:
    """Identify the drive gains of a robot's motors from current logs without and with a known load.

    Parameters
    ----------
    robot : Robot
        The robot; only its geometry and gravity are used.
    log, loaded : str, path, Log, Prepared or mapping
        Logs with currents, of the unloaded and of the loaded robot, preferably of the same motion.
    mass : float
        Mass of the load [kg]. Gains are proportional to it.
    link : str, optional
        The link that carries the load. Default: the last one.
    centre : array_like, shape (3,), optional
        Mass centre of the load in the link's frame [m], if known.
    inertia : array_like, shape (3, 3), optional
        Inertia tensor of the load about its mass centre, in the link's axes [kg·m²], if known.
    friction : bool, str or sequence of str
        The friction model, as for :func:`appell.identify`.
    **options
        Options of :class:`appell.identification.identify.Settings`: columns, rotors, cutoff, rate, moving.

    Returns
    -------
    DriveGains
        Gains [N·m/A, N/A] with standard errors.

    Raises
    ------
    InputError
        When a log has no currents or does not match the robot, or the load is invalid.

    References
    ----------
    M. Gautier, S. Briot, *Global identification of joint drive gains and dynamic parameters of robots*, J. Dyn. Sys.
    Meas. Control 136 (2014) 051025.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from dataclasses import replace
    >>> from appell.spatial.inertia import Inertia
    >>> robot = appell.load("two-link")
    >>> motion = appell.trajectory.Fourier([0.0, 0.5], [[0.8, 0.2], [0.3, -0.6]], [[0.1, 0.5], [0.4, 0.2]], 0.2)
    >>> t = np.arange(0.0, 20.0, 0.01)
    >>> q, v, a = motion(t)
    >>> Y, pi = robot.regressor(q, v, a), robot.parameters.copy()
    >>> empty = {"t": t, "q": q, "v": v, "current": Y @ pi / [40.0, 25.0]}
    >>> pi[10:20] += Inertia.from_centre(3.0, (1.0, 0.0, 0.0), np.eye(3).tolist()).parameters
    >>> loaded = {"t": t, "q": q, "v": v, "current": Y @ pi / [40.0, 25.0]}
    >>> found = drive_gains(robot, empty, loaded, 3.0, centre=(1.0, 0.0, 0.0), friction=False, rotors=False)
    >>> found.gains.round(2)
    array([40., 25.])
    """
    settings = Settings(**options)
    problem = Problem(checked_robot("drive_gains", robot), friction_terms(friction), settings.rotors)
    known = known_parameters(mass, centre, inertia)
    held, start = carrying_link(robot.link_names, link)
    records = [_record(one, problem, settings) for one in (log, loaded)]
    task = _Task(problem, records, known, start)
    _check(task)
    return _solved(task, held)


class _Point(NamedTuple):
    """A solution: base parameters, load (10), 1/g per motor."""

    theta: Array
    load: Array
    k: Array


@dataclass(frozen=True, eq=False)
class _Task:
    """Two records, the known parameters of the load (NaN where unknown), and the first of its columns."""

    problem: Problem
    records: list[LogRecord]
    known: Array
    start: int

    @property
    def n(self) -> int:
        """Return the number of base parameters."""
        return self.problem.base.n

    @property
    def n_friction(self) -> int:
        """Return the number of friction columns of a motor, separate for each log."""
        return len(self.problem.terms) * len(self.records)

    @property
    def free(self) -> Array:
        """Return which parameters of the load are unknown."""
        return np.isnan(self.known)

    def rows(self, which: int, load: Array) -> Iterator[tuple[slice, Array]]:
        """Yield [F Y P] of each motor, (samples, motors, columns), by chunks of a record with loads (n, motors)."""
        n, terms = self.problem.n_rigid, len(self.problem.terms)
        for s, every in self.records[which].rows(load):
            F = np.zeros((*every.shape[:2], self.n_friction))
            F[..., which * terms : (which + 1) * terms] = every[..., n:]
            P = every[..., self.start : self.start + PER_BODY] * float(which)
            yield s, np.concatenate([F, every[..., list(self.problem.base.kept)], P], axis=-1)

    def triangles(self, loads: Sequence[Array]) -> list[Triangle]:
        """Return the used rows of each motor, condensed with their currents on the right-hand side."""
        width = self.n_friction + self.n + PER_BODY
        columns: Array = np.arange(width)
        made = [Triangle(columns, np.zeros((0, width)), np.zeros(0)) for _ in range(self.problem.n_motors)]
        for which, (record, load) in enumerate(zip(self.records, loads, strict=True)):
            for s, Y in self.rows(which, load):
                for j in range(self.problem.n_motors):
                    keep = record.log.moving[s, j]
                    if keep.any():
                        made[j] = made[j].grown(Y[keep, j], record.moved.tau[s, j][keep])
        return made

    def torques(self, point: _Point) -> list[Array]:
        """Return the torques of inertias and load along each record, (n, motors)."""
        with_load = np.concatenate([point.theta, point.load])
        zero = [np.zeros_like(record.moved.tau) for record in self.records]
        return [
            np.concatenate([Y[..., self.n_friction :] @ with_load for _, Y in self.rows(which, zero[which])])
            for which in range(len(self.records))
        ]


def _solved(task: _Task, link: str) -> DriveGains:
    """Return the gains, iterating over friction loads, weights and solution."""
    loads = [np.zeros_like(record.moved.tau) for record in task.records]
    triangles, sigma = task.triangles(loads), np.ones(task.problem.n_motors)
    point = _first(task, triangles)
    for _ in range(PASSES):
        before = point.k
        point = _bilinear(task, triangles, sigma, point)
        sigma = _residual_sigma(task, triangles, point)
        if np.abs(point.k / before - 1.0).max() < SETTLED:
            break
        loads = task.torques(point)
        triangles = task.triangles(loads)
    variance = _variance(task, triangles, loads, sigma, point)
    gains = 1.0 / point.k
    return DriveGains(tuple(task.problem.robot.actuators), gains, np.sqrt(variance) * gains**2, sigma, link, point.load)


def _core(task: _Task, triangle: Triangle) -> tuple[Array, Array, Array]:
    """Return R_Y, R_P and z of Eq. (2)."""
    f = task.n_friction
    R = triangle.R[f:, f:]
    return R[:, : task.n], R[:, task.n :], triangle.z[f:]


def _first(task: _Task, triangles: list[Triangle]) -> _Point:
    """Return the initial point: Y·θ + P·π − g·i = 0 by least squares, linear in θ, π and g."""
    motors, free = task.problem.n_motors, task.free
    blocks, right = [], []
    for j, triangle in enumerate(triangles):
        Y, P, z = _core(task, triangle)
        blocks.append(np.column_stack([Y, P[:, free], -np.outer(z, np.eye(motors)[j])]))
        right.append(-P[:, ~free] @ task.known[~free])
    x = _least_squares(np.vstack(blocks), np.concatenate(right))
    load = task.known.copy()
    load[free] = x[task.n : -motors]
    gains = x[-motors:]
    if not (np.abs(gains) > 0.0).all():
        gains = np.full(motors, max(float(np.abs(gains).max()), 1.0))
    return _Point(x[: task.n], load, 1.0 / gains)


def _bilinear(task: _Task, triangles: list[Triangle], sigma: Array, start: _Point) -> _Point:
    """Return the least-squares solution of Eq. (1), each motor weighted by the standard deviation of its currents."""
    cores = [_core(task, triangle) for triangle in triangles]
    free = task.free

    def unpacked(x: Array) -> _Point:
        load = task.known.copy()
        load[free] = x[task.n : task.n + int(free.sum())]
        return _Point(x[: task.n], load, x[len(x) - len(cores) :])

    def residual(x: Array) -> Array:
        p = unpacked(x)
        parts = [(k * (Y @ p.theta + P @ p.load) - z) / s for (Y, P, z), k, s in zip(cores, p.k, sigma, strict=True)]
        return np.concatenate(parts)

    def jacobian(x: Array) -> Array:
        p = unpacked(x)
        return np.vstack(
            [
                _slope(k, Y, P[:, free], Y @ p.theta + P @ p.load, j, len(cores)) / s
                for j, ((Y, P, _), k, s) in enumerate(zip(cores, p.k, sigma, strict=True))
            ]
        )

    x0 = np.concatenate([start.theta, start.load[free], start.k])
    done = scipy.optimize.least_squares(residual, x0, jacobian, x_scale="jac", xtol=1e-10, ftol=1e-12, gtol=1e-12)
    return unpacked(done.x)


def _slope(k: float, Y: Array, P: Array, torque: Array, motor: int, motors: int) -> Array:
    """Return the derivative of currents by θ, the unknown π, and k."""
    return np.column_stack([k * Y, k * P, np.outer(torque, np.eye(motors)[motor])])


def _friction(task: _Task, triangle: Triangle, k: float, point: _Point) -> Array:
    """Return the friction of a motor for a solution [A]: the upper rows of Eq. (2)."""
    f = task.n_friction
    return _least_squares(
        triangle.R[:f, :f], triangle.z[:f] - k * triangle.R[:f, f:] @ np.concatenate([point.theta, point.load])
    )


def _residual_sigma(task: _Task, triangles: list[Triangle], point: _Point) -> Array:
    """Return the standard deviations of the residuals of each motor [A]."""
    unknowns = task.n + int(task.free.sum()) + task.problem.n_motors * (1 + task.n_friction)
    result = []
    for triangle, k in zip(triangles, point.k, strict=True):
        x = np.concatenate([_friction(task, triangle, k, point), k * point.theta, k * point.load])
        count = max(triangle.n - unknowns / task.problem.n_motors, 1.0)
        result.append(np.sqrt(max(triangle.square(x) / count, 1e-30)))
    return np.array(result)


def _variance(task: _Task, triangles: list[Triangle], loads: list[Array], sigma: Array, point: _Point) -> Array:
    """Return the variances of 1/g with correlated residuals (solve.py); infinite if not observable."""
    free, motors, f = task.free, task.problem.n_motors, task.n_friction
    shared = task.n + int(free.sum()) + motors
    size = shared + motors * f
    H, S = np.zeros((size, size)), np.zeros((size, size))
    whole = np.concatenate([point.theta, point.load])
    for which, record in enumerate(task.records):
        Y = np.concatenate([rows for _, rows in task.rows(which, loads[which])])
        for j, (triangle, k) in enumerate(zip(triangles, point.k, strict=True)):
            mine = np.r_[0:shared, shared + j * f : shared + (j + 1) * f]
            F, rigid, keep = Y[:, j, :f], Y[:, j, f:], record.log.moving[:, j]
            torque = rigid @ whole
            slope = _slope(k, rigid[:, : task.n], rigid[:, task.n :][:, free], torque, j, motors)
            error = record.moved.tau[:, j] - k * torque - F @ _friction(task, triangle, k, point)
            rows = np.column_stack([slope, F]) * (keep / sigma[j])[:, None]
            for whole_sum, part in zip((H, S), information(record.log, rows, error * keep), strict=True):
                whole_sum[np.ix_(mine, mine)] += part
    covariance, hidden = inverse(H)
    places = slice(shared - motors, shared)
    return np.where(hidden, np.inf, np.diag(covariance @ S @ covariance))[places]


def _least_squares(A: Array, b: Array) -> Array:
    """Return the minimum-norm least-squares solution with normalised columns."""
    lengths = np.linalg.norm(A, axis=0)
    lengths[lengths == 0.0] = 1.0
    return np.linalg.lstsq(A / lengths, b, rcond=1e-12)[0] / lengths


def _record(log: AnyLog, problem: Problem, settings: Settings) -> LogRecord:
    """Return a log whose torques are its currents."""
    log = settings.read(log, problem)
    if isinstance(log, Prepared):
        return settings.record(log, problem)
    if log.current is None:
        raise InputError(
            f"drive_gains: {log.source or 'the log'} has no currents; map them, for example current=13:19, or name "
            "them 'current'"
        )
    return replace(settings, gains=1.0).record(replace(log, tau=None), problem)


def _check(task: _Task) -> None:
    for record, word in zip(task.records, ("empty", "loaded"), strict=True):
        remedy = "record a motion of every motor, or lower `moving`"
        task.problem.check_rows(record.log.moving.sum(axis=0), "drive_gains", f"of the {word} log only", remedy)

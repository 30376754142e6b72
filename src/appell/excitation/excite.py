"""Exciting trajectories: periodic motions with a well-conditioned base regressor within the limits."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.excitation.bounds import ActuatedPath, ExcitationBounds, Margin, Workspace, actuated_path, bounds
from appell.excitation.information import MEASURES, Information
from appell.excitation.search import MARGIN, DescentResult, SearchProblem, Series, descend, fitted, random_motion
from appell.files import extension, write
from appell.identification.base_parameters import FULL, BaseParameters, base_parameters, parameter_names
from appell.messages import listed
from appell.planning.goal import moments, positive
from appell.planning.trajectory.curves import Fourier
from appell.reports.table import Table
from appell.results.style import COLOURS, figure, matplotlib, written
from appell.robot.properties.base_columns import State
from appell.robot.robot import Robot
from appell.spatial.blas import one_blas_thread
from appell.spatial.scalar import Array
from appell.syntax import plot_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHORTEST, LONGEST = 1e-3, 1e6
"""Of a period [s]."""
SAMPLES = 24
"""Samples per period of the fastest harmonic by default."""
DENSER = 4
"""Ratio of the sampling rate of the final check to that of the search."""
DRAWS = 8
"""Random motions per start; the best ones are the starts."""
SOFT = 0.02
"""Velocity [rad/s, m/s], or fraction of a limit below 1, of the smoothed Coulomb friction in the search."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """An exciting trajectory.

    `trajectory` returns q, v and a at any time; it starts and ends at rest. `condition` is the condition number of the
    regressor with normalised columns, whose names are `columns`. `margins` are the margins to all limits, tightest
    first; `starts` the result of each start of the search; `history` the condition number before and after every step
    of the best start.
    """

    robot: Robot
    trajectory: Fourier
    objective: str
    condition: float
    columns: tuple[str, ...]
    base: BaseParameters
    bounds: ExcitationBounds
    margins: tuple[Margin, ...]
    starts: Table
    history: Array
    rate: float
    _path: ActuatedPath

    def __str__(self) -> str:
        tight = self.margins[0]
        return (
            f"{self.robot.name}: {self.trajectory.duration:g} s, {len(self.columns)} columns, condition number "
            f"{self.condition:.4g}; tightest limit: {tight.limit} of {tight.of}, {100.0 * tight.room:.2g} % margin"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def states(self, t: ArrayLike) -> State:
        """Return q, v and a of the robot at times (...); the loops of a closed robot are closed.

        >>> import appell
        >>> motion = excite(appell.load("two-link"), {"velocity": 1.0}, harmonics=2, duration=4.0, starts=1)
        >>> motion.states([0.0, 1.0]).v[0].round(9) + 0.0
        array([0., 0.])
        """
        return self._path.state(*self.trajectory(moments("t", t)))

    def table(self) -> Table:
        """Return the margins to the limits."""
        rows = tuple((m.limit, m.of, m.allowed, m.reached, 100.0 * m.room, m.t) for m in self.margins)
        return Table(
            f"Limits of {self.robot.name}",
            ("limit", "of", "allowed", "reached", "margin [%]", "t [s]"),
            rows,
            (str(self),),
        )

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot q, v and τ with their limits, and the search; write to `path` if given.

        The extension selects the format: .png, .pdf or .svg.

        >>> import appell
        >>> motion = excite(appell.load("two-link"), {"velocity": 1.0}, harmonics=2, duration=4.0, starts=1)
        >>> len(motion.plot().axes)
        4
        """
        return written("excitation.plot", path, lambda: picture(self))

    def save(self, path: str | os.PathLike[str], rate: float | None = None) -> Path:
        """Write t, q, v, a and the torques of the robot's model as .csv, sampled at `rate` [Hz].

        The default rate is that of the final check. Column names are those of :meth:`appell.Run.save`; for a closed
        robot, q are the coordinates of its actuators.

        >>> import appell, tempfile
        >>> motion = excite(appell.load("two-link"), {"velocity": 1.0}, harmonics=2, duration=4.0, starts=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.save(folder + "/motion.csv", rate=100.0).read_text().splitlines()[0]
        't,q0,q1,v0,v1,a0,a1,tau0,tau1'
        """
        extension("excitation.save", path, (".csv",))
        each = self.rate if rate is None else positive("rate", rate)
        t = np.arange(math.floor(self.trajectory.duration * each + 1e-9) + 1) / each
        motion = self.trajectory(t)
        tau = self.robot.inverse_dynamics(*self._path.state(*motion))
        parts = {"q": motion.q, "v": motion.v, "a": motion.a, "tau": tau}
        names = [f"{name}{k}" for name, values in parts.items() for k in range(values.shape[-1])]
        rows = np.column_stack([t, *parts.values()])
        return write(
            path, "\n".join([",".join(["t", *names]), *(",".join(f"{x:.17g}" for x in r) for r in rows)]) + "\n"
        )


@one_blas_thread()
def excite(  # noqa: PLR0913  # options with defaults
    robot: Robot,
    limits: Mapping[str, Any] | None = None,
    harmonics: int = 5,
    duration: float = 20.0,
    *,
    objective: str = "condition",
    starts: int = 6,
    seed: int | np.random.Generator = 0,
    base: BaseParameters | None = None,
    friction: bool = True,
    workspace: Workspace | None = None,
    rate: float | None = None,
) -> Excitation:
    """Compute an exciting trajectory for identification: one Fourier series per joint, within limits.

    The series start and end at rest and repeat after `duration`, so that a log can be averaged over periods. From the
    best of several random series, an optimisation with exact gradients follows; limits are checked at four times the
    sampling rate of the search.

    Parameters
    ----------
    robot : Robot
        A robot with one coordinate per independent velocity. A closed robot moves in its actuator coordinates, a
        spherical one in its platform angles; both need position limits.
    limits : mapping, optional
        Limits "lower", "upper", "velocity", "acceleration" and "torque" of the coordinates, each one number or one per
        coordinate. Default: the file's. A joint without position limits moves from −π to π, or from −1 m to 1 m.
        Torques are those of the robot's model.
    harmonics : int
        Harmonics of every series, 2 or more.
    duration : float
        Period [s].
    objective : str
        "condition": the condition number of the regressor with normalised columns, with preference for larger motions
        at nearly equal values; "d-optimal": the determinant of the information matrix, with equal weights of all
        torques.
    starts : int
        Number of random starts of the search.
    seed : int or Generator
        Seed or generator of the random series.
    base : BaseParameters, optional
        The base parameters to excite. Default: the robot's, with rotor inertias if `friction`.
    friction : bool
        Whether the regressor includes viscous and Coulomb friction of every motor.
    workspace : sequence, optional
        Boxes for the origins of frames: (frame, lower, upper) with three numbers each, in world axes [m], infinite
        where a side is open.
    rate : float, optional
        Sampling rate of the search [Hz]. Default: 24 samples per period of the fastest harmonic.

    Returns
    -------
    Excitation
        The trajectory, its condition number, and the margins to the limits.

    Raises
    ------
    InputError
        When no motion within the limits is found; the message names the limits exceeded by the nearest motion.

    References
    ----------
    J. Swevers, C. Ganseman, D. B. Tükel, J. De Schutter, H. Van Brussel, *Optimal robot excitation and identification*,
    IEEE Trans. Robotics and Automation 13 (1997) 730–740.

    Examples
    --------
    >>> import appell
    >>> motion = excite(appell.load("two-link"), {"velocity": 1.0}, harmonics=3, starts=1)
    >>> motion.condition < 10.0, motion.margins[0].room >= 0.0
    (True, True)
    """
    series = _series(harmonics, duration)
    if objective not in tuple(MEASURES):
        raise InputError(f"objective: expected {' or '.join(map(repr, MEASURES))}, got {objective!r}")
    if isinstance(starts, bool) or not isinstance(starts, int | np.integer) or starts < 1:
        raise InputError(f"starts: expected an integer of 1 or more, got {starts!r}")
    rng = _generator(seed)
    moved = actuated_path(robot)
    whole = bounds(moved, limits, workspace)
    known = base_parameters(robot, rotors=friction) if base is None else _checked(base, robot)
    inner = whole.narrowed(MARGIN)
    information = Information(moved, known, friction, SOFT * np.minimum(whole.velocity, 1.0), objective)
    samples = SAMPLES * harmonics if rate is None else math.ceil(positive("rate", rate) * duration)
    if samples * robot.nv < len(information.names) or samples <= 2 * harmonics:
        raise InputError(
            f"rate: {samples} samples per period do not determine {len(information.names)} columns; raise it"
        )
    problem = SearchProblem(moved, information, inner, series, samples)
    dense = problem.denser(DENSER, whole)
    found = _searched(problem, dense, starts, rng)
    best = found[int(np.argmin([one.measure for one in found]))]
    if best.x is None:
        raise _infeasible(dense, min(found, key=lambda one: dense.worst(one.descent.x)).descent.x)
    if not best.condition < FULL:
        raise InputError(
            f"excite: no motion of robot '{robot.name}' within the limits excites all {len(information.names)} "
            f"columns (condition number {best.condition:.2g}); widen the limits, or change the duration"
        )
    return Excitation(
        robot=robot,
        trajectory=series.trajectory(best.x),
        objective=objective,
        condition=best.condition,
        columns=information.names,
        base=known,
        bounds=whole,
        margins=dense.margins(best.x),
        starts=_table(robot.name, found),
        history=np.array([problem.condition(x) for x in best.descent.path]),
        rate=dense.samples / duration,
        _path=moved,
    )


@dataclass(frozen=True, eq=False)
class _StartResult:
    """The result of a start: its initial motion, the descent, and the motion scaled into its limits, if possible."""

    begun: float
    descent: DescentResult
    x: Array | None
    measure: float
    condition: float


def _searched(
    problem: SearchProblem, dense: SearchProblem, starts: int, rng: np.random.Generator
) -> list[_StartResult]:
    """Return the results of the best random motions, feasible ones first."""
    drawn: list[tuple[bool, float, int, Array]] = []
    for k in range(DRAWS * starts):
        whole = random_motion(problem, rng)
        fit = fitted(problem, whole)
        x = whole if fit is None else fit
        if np.isfinite(problem.worst(x)):
            drawn.append((fit is None, problem.information.measure(problem.state(x)), k, x))
    if not drawn:
        raise InputError(
            f"excite: the loops of robot '{problem.path.robot.name}' close along no random motion within its "
            "position limits; narrow the limits"
        )
    found = []
    for _, _, _, x in sorted(drawn)[:starts]:
        descent = descend(problem, x)
        fit = fitted(dense, descent.x)
        measure = np.inf if fit is None else dense.information.measure(dense.state(fit))
        condition = np.inf if fit is None else dense.condition(fit)
        found.append(_StartResult(problem.condition(x), descent, fit, measure, condition))
    return found


def _series(harmonics: int, duration: float) -> Series:
    if isinstance(harmonics, bool) or not isinstance(harmonics, int | np.integer) or harmonics < 2:
        raise InputError(
            f"harmonics: expected an integer of 2 or more, got {harmonics!r}; a single harmonic cannot start at rest"
        )
    seconds = positive("duration", duration)
    if not SHORTEST <= seconds <= LONGEST:
        raise InputError(f"duration: expected {SHORTEST:g} to {LONGEST:g} s, got {duration!r}")
    return Series(int(harmonics), seconds)


def _generator(seed: int | np.random.Generator) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed: expected an integer of 0 or more, or a generator, got {seed!r}") from None


def _checked(base: BaseParameters, robot: Robot) -> BaseParameters:
    if not isinstance(base, BaseParameters):
        raise InputError(f"base: expected the result of base_parameters(robot), got {base!r:.100}")
    if base.names != parameter_names(robot, rotors=base.rotors):
        raise InputError(
            f"base: has {len(base.names)} parameters of '{base.robot_name}', which do not match robot "
            f"'{robot.name}'; use base_parameters(robot)"
        )
    return base


def _infeasible(dense: SearchProblem, x: Array) -> InputError:
    """Return the error of an infeasible search, with the limits exceeded by the nearest motion."""
    if not math.isfinite(dense.worst(x)):
        return InputError("excite: the loops of the robot close along none of the motions found; narrow the limits")
    over = [margin for margin in dense.margins(x) if margin.room < 0.0]
    worst = over[0]
    kinds = list(dict.fromkeys(margin.limit for margin in over))
    return InputError(
        f"excite: no motion of robot '{dense.path.robot.name}' within its limits was found; the nearest exceeds "
        f"{listed(kinds)}, worst the {worst.limit} of {worst.of}: {worst.reached:.4g}, limit {worst.allowed:.4g}; "
        "widen these limits, or increase the duration"
    )


def _table(name: str, found: list[_StartResult]) -> Table:
    rows = tuple(
        (k, one.begun, None if one.x is None else one.condition, len(one.descent.path) - 1, one.descent.evaluations)
        for k, one in enumerate(found, 1)
    )
    return Table(
        f"Starts of the search for {name}",
        ("start", "initial condition number", "final condition number", "steps", "evaluations"),
        rows,
        ("a start without a final value found no motion within the limits",),
    )


# Plot: positions, velocities and torques relative to their limits, and the search

POINTS = 1000
NAMED = 20
"""Maximum number of legend entries."""


def picture(motion: Excitation) -> Figure:
    """Return a figure of the motion; call it inside :func:`appell.results.style.styled`.

    Every curve is relative to its limits: 1 is the upper one, −1 the lower one. A velocity or torque without limit is
    relative to its largest value, and dashed.
    """
    t = np.linspace(0.0, motion.trajectory.duration, POINTS)
    q, v, _ = motion.trajectory(t)
    state, bounds = motion.states(t), motion.bounds
    names = motion._path.names
    canvas = figure(9.2, 8.6)
    rows = canvas.subplots(4, 1, height_ratios=[1, 1, 1, 0.8])
    _panel(rows[0], t, q - bounds.middle, bounds.reach, "q / range")
    _panel(rows[1], t, v, bounds.velocity, "v / limit")
    _panel(rows[2], t, motion.robot.inverse_dynamics(*state), bounds.torque, "τ / limit")
    rows[2].set_xlabel("t [s]")
    for axes in rows[:3]:
        axes.set_xlim(0.0, motion.trajectory.duration)
    _search(rows[3], motion)
    if len(names) <= NAMED:
        Line2D = matplotlib(".lines").Line2D

        lines = [Line2D([], [], color=COLOURS[k % len(COLOURS)]) for k in range(len(names))]
        canvas.legend(lines, list(map(plot_text, names)), loc="outside right upper", title="joints")
    canvas.suptitle(plot_text(str(motion)), fontsize=10)
    canvas.align_ylabels()
    return canvas


def _panel(axes: Axes, t: Array, values: Array, limit: Array, label: str) -> None:
    own = np.abs(values).max(axis=0)
    scale = np.where(np.isfinite(limit), limit, np.where(own > 0.0, own, 1.0))
    for k in range(values.shape[1]):
        style = "-" if np.isfinite(limit[k]) else "--"
        axes.plot(t, values[:, k] / scale[k], style, color=COLOURS[k % len(COLOURS)])
    for side in (-1.0, 1.0):
        axes.axhline(side, color="#888888", linewidth=0.8)
    axes.set_ylim(-1.12, 1.12)
    axes.set_ylabel(label)
    if not np.isfinite(limit).all():
        axes.set_title("dashed: no limit, relative to the largest value", fontsize=8)


def _search(axes: Axes, motion: Excitation) -> None:
    axes.plot(motion.history, color=COLOURS[0])
    axes.axhline(motion.condition, color=COLOURS[1], linewidth=0.8)
    axes.set_xlim(0, max(len(motion.history) - 1, 1))
    axes.set_ylabel("condition number")
    axes.set_title("blue: at the samples of the search; orange: final", fontsize=8)
    axes.set_xlabel("iteration")

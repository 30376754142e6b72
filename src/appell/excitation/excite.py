"""Exciting motions: periodic motions of all joints that tell the base parameters as evenly as limits allow."""

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
from appell.excitation.bounds import Bounds, Margin, Workspace, bounds
from appell.excitation.information import MEASURES, Information
from appell.excitation.plot import picture
from appell.excitation.search import MARGIN, Descent, Problem, descend, fitted, random_motion
from appell.excitation.series import Series
from appell.identification.actuated_path import ActuatedPath, actuated_path
from appell.identification.base_parameters import BaseParameters, base_parameters
from appell.identification.basis import Array, parameter_names
from appell.identification.essential import FULL
from appell.model.build import listed
from appell.planning.checks import moments, positive
from appell.planning.trajectory.curves import Fourier
from appell.read.files import extension, write
from appell.reports.table import Table
from appell.results.style import written
from appell.robot.base import State
from appell.robot.robot import Robot
from appell.spatial.blas import one_blas_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORTEST, LONGEST = 1e-3, 1e6
"""Of a period [s]."""
SAMPLES = 24
"""Samples in a period of the fastest harmonic, unless a rate is given."""
DENSER = 4
"""How many times denser the samples are at which a motion is checked."""
DRAWS = 8
"""Random motions per start; the best of them are the starts."""
SOFT = 0.02
"""Velocity [rad/s, m/s], or part of a limit below 1, within which Coulomb friction changes its sign in the search."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """An exciting motion.

    `trajectory` gives q, v and a at any time; it begins and ends at rest. `condition` is the condition number of the
    regressor along it, every column of unit length, and `columns` names those. `margins` says how near it comes to each
    limit, the tightest first; `starts` what each start of the search led to; `history` the condition number
    before the first step of the best of them and after each.
    """

    robot: Robot
    trajectory: Fourier
    objective: str
    condition: float
    columns: tuple[str, ...]
    base: BaseParameters
    bounds: Bounds
    margins: tuple[Margin, ...]
    starts: Table
    history: Array
    rate: float
    _path: ActuatedPath

    def __str__(self) -> str:
        tight = self.margins[0]
        return (
            f"{self.robot.name}: {self.trajectory.duration:g} s, {len(self.columns)} columns, condition number "
            f"{self.condition:.4g}; tightest limit: {tight.limit} of {tight.of}, {100.0 * tight.room:.2g} % room"
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
        """Return how near the motion comes to its limits."""
        rows = tuple((m.limit, m.of, m.allowed, m.reached, 100.0 * m.room, m.t) for m in self.margins)
        return Table(
            f"Limits of {self.robot.name}",
            ("limit", "of", "allowed", "reached", "room [%]", "t [s]"),
            rows,
            (str(self),),
        )

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Return a figure of q, v and τ with their limits, and of the search; write it to `path` where one is given.

        The file's ending says what it is: .png, .pdf or .svg.

        >>> import appell
        >>> motion = excite(appell.load("two-link"), {"velocity": 1.0}, harmonics=2, duration=4.0, starts=1)
        >>> len(motion.plot().axes)
        4
        """
        return written("excitation.plot", path, lambda: picture(self))

    def save(self, path: str | os.PathLike[str], rate: float | None = None) -> Path:
        """Write t, q, v, a and the torques of the robot's own model as .csv, `rate` rows a second.

        Without a rate there are as many as the motion was checked at. The names in the first line are those of
        :meth:`appell.Run.save`; of a closed robot, q are the coordinates of its actuators.

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
def excite(  # noqa: PLR0913  # all but the robot have defaults, and each is a choice of the user's
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
    """Return a motion that excites a robot's parameters: a Fourier series per joint, within limits.

    The series begin and end at rest and repeat after `duration`, so that a log may average over periods. Random series
    are drawn, and from the best of them a search goes downhill with exact gradients; limits are checked at samples four
    times denser than those of the search.

    Parameters
    ----------
    robot
        Of any kind whose independent velocities have one coordinate each. A closed robot is moved by its actuators,
        and needs limits of their positions; so does a spherical one, which is moved by its platform's angles.
    limits
        Of the coordinates: "lower" and "upper", "velocity", "acceleration", "torque", each one number or one per
        coordinate; the file's where not given, and none where it has none. A joint without limits of position goes
        from −π to π, or from −1 m to 1 m. Torques are those of the robot's own model.
    harmonics
        Of every series, 2 or more.
    duration
        Of a period [s].
    objective
        "condition": the condition number of the regressor, its columns of unit length; among motions of nearly equal
        condition the larger one. "d-optimal": the determinant of its information matrix. Torques of all joints count
        alike.
    starts
        How many random motions the search starts from.
    seed
        Of the random motions, or a generator of them.
    base
        The base parameters to excite; the robot's own where not given, with rotor inertias if `friction`.
    friction
        Whether the regressor has damping and Coulomb friction of every motor.
    workspace
        Boxes that the origins of frames stay in: (frame, lower, upper) with three numbers each, in world axes [m],
        infinite where a side is open.
    rate
        Samples a second of the search; 24 in a period of the fastest harmonic where not given.

    Raises
    ------
    InputError
        When no motion within the limits is found; the message names what the nearest motion exceeds.

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
        raise InputError(f"starts: expected a whole number of 1 or more, got {starts!r}")
    rng = _generator(seed)
    moved = actuated_path(robot)
    whole = bounds(moved, limits, workspace)
    known = base_parameters(robot, rotors=friction) if base is None else _checked(base, robot)
    inner = whole.narrowed(MARGIN)
    information = Information(moved, known, friction, SOFT * np.minimum(whole.velocity, 1.0), objective)
    samples = SAMPLES * harmonics if rate is None else math.ceil(positive("rate", rate) * duration)
    if samples * robot.nv < len(information.names) or samples <= 2 * harmonics:
        raise InputError(f"rate: {samples} samples in a period do not show {len(information.names)} columns; raise it")
    problem = Problem(moved, information, inner, series, samples)
    dense = problem.denser(DENSER, whole)
    found = _searched(problem, dense, starts, rng)
    best = found[int(np.argmin([one.measure for one in found]))]
    if best.x is None:
        raise _infeasible(dense, min(found, key=lambda one: dense.worst(one.descent.x)).descent.x)
    if not best.condition < FULL:
        raise InputError(
            f"excite: within the limits no motion of robot '{robot.name}' shows all {len(information.names)} columns "
            f"(condition number {best.condition:.2g}); widen the limits, or change the duration"
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
class _Found:
    """What a start led to: where it began, the descent, and the motion fitted into its limits, if it fits."""

    begun: float
    descent: Descent
    x: Array | None
    measure: float
    condition: float


def _searched(problem: Problem, dense: Problem, starts: int, rng: np.random.Generator) -> list[_Found]:
    """Return what the best random motions led to; those that do not fit their limits come after those that do."""
    drawn: list[tuple[bool, float, int, Array]] = []
    for k in range(DRAWS * starts):
        whole = random_motion(problem, rng)
        fit = fitted(problem, whole)
        x = whole if fit is None else fit
        if np.isfinite(problem.worst(x)):
            drawn.append((fit is None, problem.information.measure(problem.state(x)), k, x))
    if not drawn:
        raise InputError(
            f"excite: robot '{problem.path.robot.name}' cannot be carried along any random motion within its "
            "limits of position; narrow them to where its loops close"
        )
    found = []
    for _, _, _, x in sorted(drawn)[:starts]:
        descent = descend(problem, x)
        fit = fitted(dense, descent.x)
        measure = np.inf if fit is None else dense.information.measure(dense.state(fit))
        condition = np.inf if fit is None else dense.condition(fit)
        found.append(_Found(problem.condition(x), descent, fit, measure, condition))
    return found


def _series(harmonics: int, duration: float) -> Series:
    if isinstance(harmonics, bool) or not isinstance(harmonics, int | np.integer) or harmonics < 2:
        raise InputError(
            f"harmonics: expected a whole number of 2 or more, got {harmonics!r}; one cannot begin at rest"
        )
    seconds = positive("duration", duration)
    if not SHORTEST <= seconds <= LONGEST:
        raise InputError(f"duration: expected {SHORTEST:g} to {LONGEST:g} s, got {duration!r}")
    return Series(int(harmonics), seconds)


def _generator(seed: int | np.random.Generator) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed: expected a whole number of 0 or more, or a generator, got {seed!r}") from None


def _checked(base: BaseParameters, robot: Robot) -> BaseParameters:
    if not isinstance(base, BaseParameters):
        raise InputError(f"base: expected base parameters, made by base_parameters(robot), got {base!r:.100}")
    if base.names != parameter_names(robot, rotors=base.rotors):
        raise InputError(
            f"base: has {len(base.names)} parameters of '{base.robot_name}', which are not those of robot "
            f"'{robot.name}'; make it by base_parameters(robot)"
        )
    return base


def _infeasible(dense: Problem, x: Array) -> InputError:
    """Return the error when nothing fits: it names what is exceeded in the motion that comes nearest."""
    if not math.isfinite(dense.worst(x)):
        return InputError("excite: the loops of the robot do not close along any motion that was found; narrow limits")
    over = [margin for margin in dense.margins(x) if margin.room < 0.0]
    worst = over[0]
    kinds = list(dict.fromkeys(margin.limit for margin in over))
    return InputError(
        f"excite: no motion of robot '{dense.path.robot.name}' within its limits was found; the nearest exceeds "
        f"{listed(kinds)}, most the {worst.limit} of {worst.of}: {worst.reached:.4g} where {worst.allowed:.4g} is "
        "allowed; widen these limits, or lengthen the duration"
    )


def _table(name: str, found: list[_Found]) -> Table:
    rows = tuple(
        (k, one.begun, None if one.x is None else one.condition, len(one.descent.path) - 1, one.descent.evaluations)
        for k, one in enumerate(found, 1)
    )
    return Table(
        f"Starts of the search for {name}",
        ("start", "condition at first", "condition found", "steps", "evaluations"),
        rows,
        ("a start without a condition found leads to no motion within the limits",),
    )

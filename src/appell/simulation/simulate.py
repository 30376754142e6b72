"""The public simulator: checks its arguments and runs the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import ABOVE_ZERO, LARGEST, choice, number, numbers, whole
from appell.errors import InputError, warn
from appell.kernels.runtime.native import silent
from appell.messages import shown
from appell.results.path import Path
from appell.results.run import Run
from appell.robot.robot import Robot, checked_robot
from appell.simulation.contact.gaps import Gaps, check_coefficients
from appell.simulation.contact.impact import IMPACT_LAWS
from appell.simulation.contact.points import Point, Points, resolve
from appell.simulation.control import Control, Drive
from appell.simulation.engine import CREEP, TOUCH, Engine
from appell.simulation.integrators import Adaptive, FixedStep, Integrator, rk4
from appell.simulation.record import Event, ImpactLaw, Limits, Record
from appell.simulation.variational import variational
from appell.simulation.walls.wall import PerPoint, Wall
from appell.spatial.scalar import Array

METHODS = ("dop853", "radau", "rk4", "symplectic")


def simulate(  # noqa: PLR0913  # keyword options
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike,
    duration: float,
    control: Control | ArrayLike | None = None,
    walls: Sequence[Wall] = (),
    restitution: PerPoint = 1.0,
    tie_window: float = 1e-4,
    *,
    friction: PerPoint = 0.0,
    impact_law: str = "newton",
    points: Iterable[str | Point] | None = None,
    limits: bool | float = False,
    rate: float | None = None,
    events: Sequence[Event | Callable[[float, Array, Array], float]] = (),
    method: str = "dop853",
    step: float | None = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    rest_speed: float = 1e-6,
    max_steps: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> Run:
    """Simulate a robot from an initial state, with impacts located to rounding error.

    Parameters
    ----------
    robot : Robot
        A robot of any kind. The loops of a closed-loop robot are closed again after every step.
    q0, v0 : array_like
        Initial configuration (nq,) and velocity (nv,).
    duration : float
        Simulated time [s].
    control : callable or array_like, optional
        Joint torques [N·m] (actuator torques of a closed-loop robot): none, constant (nu,), or a control law
        (t, q, v) → τ (nu,), which gets its own, read-only q and v.
    walls : sequence of Wall
        Obstacles for the contact points of the robot, see :mod:`appell.walls`.
    restitution, friction : float or mapping
        Coefficients of restitution (0 to 1) and of Coulomb friction for all walls without their own: one number, or one
        per point by name.
    tie_window : float
        Impacts within this time [s] of each other are solved simultaneously. Points that strike microseconds apart
        interact through the robot, and solving their impacts one after the other gives a different motion.
    impact_law : str
        "newton" (restitution of speeds) or "poisson" (restitution of impulses); see
        :mod:`appell.simulation.contact.impact`.
    points : iterable of str or Point, optional
        The contact points: names of links or frames, or :class:`appell.simulation.Point`, which may have a radius, such
        as those of :func:`appell.contact_points`. Default: every joint origin and every end of the tree.
    limits : bool or float
        True: joint limits act as walls with the run's restitution; a number is their own restitution.
    rate : float, optional
        Sampling rate of the control law [Hz], with zero-order hold. Default: continuous.
    events : sequence of Event or callable
        :class:`appell.simulation.Event`, or functions (t, q, v) whose zero crossings are recorded.
    method : str
        "dop853" (order 8, adaptive), "radau" (order 5, adaptive, implicit: for stiff systems), "rk4" (order 4, fixed
        step) or "symplectic" (order 2, fixed step, no energy drift; it regularises the Coulomb friction of joints).
    step : float, optional
        Step size [s] of "rk4" and "symplectic".
    rtol, atol : float
        Tolerances of "dop853" and "radau": the error per step is kept below rtol·|y| + atol.
    rest_speed : float
        Speed [m/s] below which the restitution of an impact is zero. The point then rests on the wall until the contact
        force vanishes.
    max_steps : int, optional
        Maximum number of steps, where an event counts as one. Default: 20,000, plus 10,000 per second of `duration`,
        plus the steps required by `step` and `rate`.
    timeout : float, optional
        Maximum wall time [s], from the first step on. Default: unlimited.
    progress : bool
        True shows a progress bar.

    Returns
    -------
    Run
        Times, states, torques, energies, impacts, resting contacts and events. ``run.ended_early`` is empty, or the
        reason why the run ended before `duration`.

    Raises
    ------
    InputError
        When an argument is invalid, a point starts beyond a wall, or the first call of the control law or of an event
        fails. Later failures end the run early: an exception or an invalid value of a control law, `max_steps`,
        `timeout`, a diverging motion, Ctrl-C. The states so far are returned, with the reason in ``run.ended_early``
        and in a warning.

    Examples
    --------
    >>> import appell
    >>> from appell.papers.shafei2018 import START
    >>> robot = appell.load("shafei-tree")
    >>> run = appell.simulate(robot, START, [0.0] * 12, 0.5, walls=[appell.walls.Circle(2.5)])
    >>> print(run.impacts[0].points, round(run.impacts[0].time, 6))
    ('link1', 'O5') 0.385192
    """
    q, v = _state(checked_robot("simulate", robot), q0, v0)
    duration, rtol = (_positive(name, x) for name, x in (("duration", duration), ("rtol", rtol)))
    tie_window, atol, rest_speed = (
        number(f"simulate: {name} must be a number of 0 or more", x, 0.0)
        for name, x in (("tie_window", tie_window), ("atol", atol), ("rest_speed", rest_speed))
    )
    walls = _walls(walls)
    check_coefficients(restitution, friction)
    choice("simulate: unknown impact law", impact_law, IMPACT_LAWS)
    choice("simulate: unknown method", method, METHODS)
    rate = None if rate is None else number("simulate: rate must be a positive frequency [Hz]", rate, ABOVE_ZERO)
    is_limited = isinstance(limits, bool | np.bool_)
    ends = limits if not is_limited else _number(restitution) if limits else None
    if ends is not None:
        check_coefficients(ends, 0.0)
    gaps = Gaps(robot, Points(robot, resolve(robot, points) if walls else []), walls, restitution, friction, ends)
    _check_start(robot, gaps, q)
    drive = Drive(robot, control, rate)
    wanted = _events(events)
    for event in wanted:
        event.at(0.0, q, v)
    integrator = partial(_integrator, method=method, step=step, rtol=rtol, atol=atol)
    bounds = _bounds(duration, step, rate, max_steps, timeout)
    law = ImpactLaw(impact_law, tie_window, rest_speed)
    engine = Engine(robot, gaps, drive, integrator, law, wanted, bounds, is_smooth=method == "symplectic")
    with _bar(progress is True, duration) as report:
        reason = engine.run(q, v, duration, report)
    if engine.is_regularised:
        engine.record.notes.append(f"Coulomb friction of joints is regularised below {CREEP:g} rad/s (m/s): tanh(v/v0)")
    if reason:
        warn(f"simulate: the run of robot '{robot.name}' ended early: {reason}")
    return _run(robot, engine.record, engine.quaternions, walls, reason)


def _integrator(engine: Engine, method: str, step: float | None, rtol: float, atol: float) -> Integrator:
    if method in ("dop853", "radau"):
        if step is not None:
            raise InputError(f"simulate: step applies to the methods 'rk4' and 'symplectic'; '{method}' is adaptive")
        smallest = max(rtol, 100.0 * np.finfo(float).eps)
        return Adaptive(smallest, atol, engine.project, is_implicit=method == "radau")
    step = number(f"simulate: method '{method}' needs a step > 0 [s]", step, ABOVE_ZERO)
    if method == "symplectic" and engine.robot.facts.curved is None:
        raise InputError(
            f"simulate: the velocities of robot '{engine.robot.name}' are not rates of coordinates (rolling wheels, "
            "or loops through a joint with several coordinates); "
            "use method 'dop853', 'radau' or 'rk4'"
        )
    move = rk4(engine.project) if method == "rk4" else variational(engine.plant.bare, engine.pull)
    return FixedStep(step, move)


def _bounds(
    duration: float, step: float | None, rate: float | None, max_steps: int | None, timeout: float | None
) -> Limits:
    """Return the limits of a run; the default number of steps is far above the need of a regular motion."""
    seconds = math.inf if timeout is None else _positive("timeout", timeout)
    if max_steps is not None:
        return Limits(whole("simulate: max_steps", max_steps), seconds)
    steps = 0.0 if step is None else 1.0 / _positive("step", step)
    needed = duration * sum((10_000.0, rate or 0.0, steps))
    return Limits(20_000 + int(min(needed, 1e18)), seconds)


def _state(robot: Robot, q0: ArrayLike, v0: ArrayLike) -> tuple[Array, Array]:
    state = []
    for name, value, size in (("q0", q0, robot.nq), ("v0", v0, robot.nv)):
        array = np.array(numbers(robot.name, name, (size,), value), dtype=float)
        if array.ndim != 1:
            raise InputError(f"{name}: expected one state, ({size},), got {array.shape}; appell.rollout takes batches")
        if not (np.abs(array) <= LARGEST).all():
            k = int(np.flatnonzero(~(np.abs(array) <= LARGEST))[0])
            raise InputError(
                f"{name}: entry {k} is {array[k]}; expected finite numbers below {LARGEST:g} for robot '{robot.name}'"
            )
        state.append(array)
    robot.configuration("q0", state[0])
    return state[0], state[1]


def _positive(name: str, x: float) -> float:
    return number(f"simulate: {name} must be a number > 0", x, ABOVE_ZERO)


def _walls(walls: Any) -> tuple[Wall, ...]:
    try:
        given = tuple(walls)
    except TypeError:
        given = (None,)
    if not all(isinstance(wall, Wall) for wall in given):
        raise InputError(f"simulate: walls must be a list of walls such as appell.walls.Plane, got {shown(walls)}")
    return given


def _events(events: Any) -> list[Event]:
    try:
        given = list(events)
    except TypeError:
        raise InputError(f"simulate: events must be a list of functions (t, q, v), got {shown(events)}") from None
    return [event if isinstance(event, Event) else Event(event, f"event {k}") for k, event in enumerate(given)]


def _number(restitution: PerPoint) -> float:
    if isinstance(restitution, int | float):
        return float(restitution)
    raise InputError("simulate: with a restitution per point, limits must be a number: the restitution at the limits")


def _check_start(robot: Robot, gaps: Gaps, q: Array) -> None:
    """Raise if a point is beyond a wall, or a joint beyond its limits."""
    if not len(gaps):
        return
    gap = gaps.gaps(q)
    beyond = [k for k in range(len(gaps)) if gaps.endless[k] and gap[k] < -TOUCH]
    if beyond:
        worst = min(beyond, key=lambda k: float(gap[k]))
        pair = gaps.pairs[worst]
        more = f", and {len(beyond) - 1} more" if len(beyond) > 1 else ""
        raise InputError(
            f"simulate: at t = 0 s '{pair.point}' of robot '{robot.name}' is {-gap[worst]:.3g} beyond "
            f"{pair.wall}{more}; change q0, move the wall, or select its contact points with points="
        )


@contextmanager
def _bar(wanted: bool, duration: float) -> Iterator[Callable[[float], None]]:
    """Yield a function that updates a progress bar of simulated seconds, shown if wanted."""
    if not wanted:
        yield lambda _: None
        return
    # imported when shown, to keep `import appell` fast
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with silent(), Progress(transient=True, console=Console(stderr=True)) as progress:
        task = progress.add_task("simulating", total=duration)
        yield lambda t: progress.update(task, completed=t)


def _run(robot: Robot, record: Record, quaternions: list[int], walls: tuple[Wall, ...], reason: str) -> Run:
    t, y, a, tau = (np.array(column) for column in zip(*record.states, strict=True))
    q, v = y[:, : robot.nq], y[:, robot.nq :]
    return Run(
        t,
        q,
        v,
        a,
        tau,
        robot.kinetic_energy(q, v) + robot.potential_energy(q),
        tuple(record.impacts),
        tuple(sorted(record.rests, key=lambda rest: rest.start)),
        tuple(record.events),
        Path(record.path(), quaternions),
        reason,
        tuple(record.notes),
        robot,
        walls,
        robot.name,
        tuple(robot.joint_names),
    )

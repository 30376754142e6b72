"""Rollouts: fixed-step simulation of many robots in one native call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import ABOVE_ZERO, choice, number, numbers, real_array, whole
from appell.errors import InputError, warn
from appell.kernels.runtime.stepping import run_steps
from appell.messages import listed
from appell.results.plots import motions
from appell.results.style import written
from appell.robot.kind import Key
from appell.robot.robot import Robot, checked_robot
from appell.robot.singular.recovery import Samples, report
from appell.robot.verbs.table import MASS
from appell.simulation.contact.points import Point
from appell.simulation.laws.joint_laws import JointLaw
from appell.simulation.rollout.ground import Coefficients, Contacts, contacts
from appell.simulation.rollout.scheme import METHODS, Driver, rollout_kernel
from appell.simulation.rollout.time_stepping import MEASURES
from appell.simulation.walls.wall import Wall
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ROBOTS_LOOKED_AT = 8
"""Number of robots whose mass matrix is checked."""
SWEEPS = 20
"""Sweeps of a step, unless given."""
NEAR = 1e-3
"""Determinant, about 1 at regular configurations, below which a state counts as singular."""


class Rollout(NamedTuple):
    """The trajectories of a rollout, the initial state first.

    Parameters
    ----------
    t : array, shape (n + 1,)
        Times [s].
    q, v : array
        Configurations (..., n + 1, nq) and velocities (..., n + 1, nv).
    diverged : array, shape (...)
        The first step after which a robot's state is not finite, −1 where all are finite. Later states are NaN or
        infinite.

    Examples
    --------
    >>> import appell
    >>> run = appell.rollout(appell.load("two-link"), [0.1, 0.2], [0.0, 0.0], None, 1e-3, steps=10)
    >>> run.q.shape, int(run.diverged)
    ((11, 2), -1)
    """

    t: Array
    q: Array
    v: Array
    diverged: Array

    def __getattr__(self, name: str) -> Array:
        hint = "; give walls= or limits=" if name in GroundRollout.__annotations__ else ""
        raise AttributeError(f"Rollout has no '{name}'{hint}")

    def __repr__(self) -> str:
        motions, failed = self.diverged.size, int((self.diverged >= 0).sum())
        span = f"{self.t[-1] - self.t[0]:.6g} s" if len(self.t) else "0 s"
        return f"<Rollout: {motions} motions of {span}, {len(self.t)} states each, {failed} diverged>"

    def plot(self, robot: Robot, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot q and v against time, joint by joint.

        Up to 12 robots are drawn as one line each; for more, the median and the central 50 % and 90 % are shown.

        Parameters
        ----------
        robot : Robot
            The robot of the rollout.
        path : str or path, optional
            The file to write: .png, .pdf or .svg.

        Returns
        -------
        Figure
            The Matplotlib figure.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> run = appell.rollout(robot, [0.1, 0.2], [0.0, 0.0], None, 1e-3, steps=10)
        >>> [axes.get_ylabel() for axes in run.plot(robot).axes]
        ['q [rad]', 'v [rad/s]']
        """
        return written("rollout.plot", path, lambda: motions(robot, self.t, self.q, self.v))


class GroundRollout(Rollout):
    """The trajectories of a rollout by time stepping, with walls or joint limits, and what it did at them.

    Parameters
    ----------
    t, q, v, diverged : array
        As in :class:`Rollout`.
    impulses : array, shape (..., n + 1, contacts, 3)
        The impulse of every contact in the step before [N·s], along the normal and two tangents.
    penetration : array, shape (...)
        The largest depth at the start of any step [m], 0 without penetration.
    residual : array, shape (...)
        The largest change of a contact's speeds in the last sweep of any step [m/s].
    energy_gain : array, shape (...)
        The energy that impulses have added [J]; a step that loses energy counts as zero.

    Examples
    --------
    >>> import appell
    >>> arm = appell.load("two-link")
    >>> run = appell.rollout(arm, [0.1, 0.2], [0.0, 0.0], None, 1e-3, steps=10, method="euler", limits=True)
    >>> run.impulses.shape, float(run.energy_gain)
    ((11, 0, 3), 0.0)
    """

    impulses: Array
    penetration: Array
    residual: Array
    energy_gain: Array


def rollout(  # noqa: PLR0913  (keyword options)
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | None,
    dt: float,
    *,
    steps: int | None = None,
    method: str = "rk4",
    save_every: int = 1,
    control: JointLaw | None = None,
    parameters: ArrayLike | None = None,
    walls: Sequence[Wall] | None = None,
    points: Iterable[str | Point] | None = None,
    friction: Coefficients = 0.0,
    restitution: Coefficients = 0.0,
    offsets: ArrayLike = 0.0,
    limits: bool | float = False,
    sweeps: int = SWEEPS,
) -> Rollout:
    """Simulate many robots with a fixed step and torques held over each step.

    Parameters
    ----------
    robot : Robot
        A robot of any kind. The loops of a closed-loop robot are closed again after every step.
    q0, v0 : array_like
        Initial states, (..., nq) and (..., nv).
    tau : array_like or None
        Torques [N·m] (..., steps, nu), one row per step; constant ones, (nu,) or (..., 1, nu); or None for zero.
        Leading axes of all arguments broadcast. If all arrays are float32, so are the computation and the result.
    dt : float
        Step size [s].
    steps : int, optional
        Number of steps, if no argument has an axis of steps.
    method : str
        "rk4" (order 4), "midpoint" (order 2) or "euler" (order 1, semi-implicit: v first, then q with the new v).
    save_every : int
        Store the initial state and every `save_every`-th state; must divide the number of steps.
    control : JointLaw, optional
        A joint control law, such as :class:`appell.control.PointToPoint`, whose torques are added to `tau`. It is
        sampled at the start of every step, step k at the time k·dt, and held; its integral action starts from zero.
    parameters : array_like, optional
        π (..., n) in the layout of ``robot.parameters``: individual inertias per robot, without recompilation.
    walls : sequence of Wall, optional
        Obstacles for the contact points, see :mod:`appell.walls`, by Moreau–Jean time stepping; needs "euler". PD and
        PDGravity then act on the state at the end of the step, and Coulomb friction of joints sticks. An empty list
        is time stepping without obstacles. Contacts are ordered by wall, then by point.
    points : iterable of str or Point, optional
        The contact points, as in :func:`appell.simulate`. Default: :func:`appell.contact_points`.
    friction, restitution : float, mapping or array_like
        Coefficients as in :func:`appell.simulate`, or arrays (..., contacts).
    offsets : array_like
        Distances [m] by which walls are moved towards their free sides, one number or (..., contacts).
    limits : bool or float
        True: joints stop at their limits, with the restitution of the walls; a number is their own restitution.
    sweeps : int
        Number of Gauss–Seidel sweeps over the contacts in a step; see :class:`GroundRollout`.

    Returns
    -------
    Rollout
        Times, states, and which robots diverged (also reported by a warning); with walls or limits a
        :class:`GroundRollout`, which also has impulses, penetration, residual and energy gain.

    Raises
    ------
    InputError
        When an argument is invalid or not finite; the message names the argument and the element.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.simulation.rollout.rollout import rollout
    >>> robot, rng = appell.load("puma560"), np.random.default_rng(0)
    >>> run = rollout(robot, robot.random(rng, 1000), np.zeros(6), rng.normal(size=(1000, 50, 6)), 1e-3, save_every=10)
    >>> run.t.round(3), run.q.shape
    (array([0.  , 0.01, 0.02, 0.03, 0.04, 0.05]), (1000, 6, 6))

    Notes
    -----
    Robots are distributed over the threads of :func:`appell.threads`; results do not depend on the batch, to the last
    bit. Quaternions are integrated as four numbers by q̇ = ½ q ⊗ (ω, 0) and normalised after every step. Joint limits
    act with ``limits=`` only. The kernel is compiled once per robot, method, contacts and type of control law, and
    cached on disk.
    """
    found = grounded(robot, method, walls, points, friction, restitution, offsets, limits, sweeps)
    results, diverged = stored(
        robot,
        q0,
        v0,
        tau,
        dt,
        found,
        steps,
        method=method,
        save_every=save_every,
        control=control,
        parameters=parameters,
    )
    t = np.arange(results["q"].shape[-2]) * save_every * dt
    if found is None:
        return Rollout(t, results["q"], results["v"], diverged)
    run = GroundRollout(t, results["q"], results["v"], diverged)
    vars(run).update(_touched(found, results))
    return run


def grounded(  # noqa: PLR0913, PLR0917  (those of a rollout)
    robot: Robot,
    method: str,
    walls: Sequence[Wall] | None,
    points: Iterable[str | Point] | None,
    friction: Coefficients,
    restitution: Coefficients,
    offsets: ArrayLike,
    limits: bool | float,
    sweeps: int,
) -> Contacts | None:
    """Return the contacts of a rollout, None where there is nothing to touch."""
    checked_rollout(robot, method)
    if walls is None and limits is False:
        return None
    if method != "euler":
        raise InputError(f"method: walls and limits need method='euler', got '{method}'")
    if robot.kind.is_looped:
        raise InputError(
            f"rollout: robot '{robot.name}' has {len(robot.model.bodies)} bodies, too many for walls and limits; "
            "use appell.simulate"
        )
    return contacts(robot, walls or (), points, friction, restitution, offsets, limits, sweeps)


def stored(  # noqa: PLR0913  (those of a rollout)
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | None,
    dt: float,
    found: Contacts | None = None,
    steps: int | None = None,
    *,
    method: str,
    save_every: int,
    control: JointLaw | None = None,
    parameters: ArrayLike | None = None,
) -> tuple[dict[str, Array], Array]:
    """Return the stored states by name, with q and v the impulses of contacts, and which robots diverged."""
    checked_rollout(robot, method)
    dt = number("dt: expected a time step above zero", dt, ABOVE_ZERO)
    given = _Arguments(robot, q0, v0, tau, control, steps, dt, parameters, found)
    if found is not None:
        found.warn_inside(robot, given.q0)
    kept = range(0, given.steps + 1, whole("save_every", save_every))
    if given.steps % save_every:
        raise InputError(
            f"save_every: {save_every} does not divide {given.steps} steps; the last state would not be kept"
        )
    _check_memory(given, len(kept))
    law = Driver.of(control) if control is not None else None
    kernel = rollout_kernel(robot, method, law, found and found.ground, is_parametric=parameters is not None)
    states, lasted = run_steps(kernel, given.states, given.fixed, given.drives, kept)
    report_singular(robot, states[0])
    report_singular_mass(robot, states[0], given.parameters)
    diverged = np.where(lasted < given.steps, lasted + 1, -1).reshape(given.leading)
    _report(robot, diverged)
    pairs = zip(kernel.spec.outputs, states, strict=False)
    return {port.name: x.reshape(*given.leading, *x.shape[1:]) for port, x in pairs}, diverged


def _touched(found: Contacts, results: dict[str, Array]) -> dict[str, Array]:
    """Return the fields of a rollout that time stepping adds."""
    measures = dict(zip(MEASURES, np.moveaxis(results["measure"][..., -1, :], -1, 0), strict=True))
    kept, n = results["q"].shape[:-1], len(found.pairs)
    return {"impulses": results["impulse"].reshape(*kept, n, 3) if n else np.zeros((*kept, 0, 3)), **measures}


def advance(robot: Robot, method: str, dt: float, steps: int) -> Callable[..., tuple[Array, Array, Array]]:
    """Return what moves states (n, nq) and (n, nv) on by some steps, without checks: for callers that checked them.

    It takes q, v, the forces (n, nu) of all steps and π (n, p) or None, all of float64, and returns q, v and for how
    many steps each state stayed finite. It does not warn.
    """
    kept = range(0, steps + 1, steps)

    def moved(q: Array, v: Array, tau: Array, pi: Array | None) -> tuple[Array, Array, Array]:
        fixed = [np.full(len(q), dt), *([] if pi is None else [pi])]
        drives = [np.broadcast_to(tau[:, None], (len(tau), steps, tau.shape[1]))]
        kernel = rollout_kernel(robot, method, None, is_parametric=pi is not None)
        (q, v), lasted = run_steps(kernel, [q, v], fixed, drives, kept)
        return q[:, -1], v[:, -1], lasted

    return moved


def _check_memory(given: _Arguments, kept: int) -> None:
    """Raise unless the stored states can be allocated."""
    shape = (math.prod(given.leading), kept, sum(state.shape[-1] for state in given.states))
    try:
        np.empty(shape)
    except (MemoryError, ValueError):
        raise InputError(
            f"rollout: {8e-9 * math.prod(shape):.3g} GB of states do not fit into memory; keep fewer with save_every"
        ) from None


def _report(robot: Robot, diverged: Array) -> None:
    count = int(np.count_nonzero(diverged >= 0))
    if count:
        first = int(diverged[diverged >= 0].min())
        where = tuple(map(int, np.argwhere(diverged == first)[0]))
        which = f", robot {where}" if where else ""
        warn(
            f"rollout: {count} of {diverged.size} robots '{robot.name}' diverged, first after step {first}{which}; "
            f"use a smaller dt or smaller torques (Rollout.diverged lists them)"
        )


def report_singular(robot: Robot, q: Array) -> None:
    """Warn if closed-loop robots (n, steps, nq) have reached or crossed a singularity of their independent coordinates.

    The determinant of the equations for the dependent velocities changes its sign there.
    """
    if not robot.closure_names:
        return
    determinant = robot.evaluate("regularity", q)[..., 0]
    with np.errstate(invalid="ignore"):
        beyond = np.isfinite(determinant) & ~(determinant * np.sign(determinant[:, :1]) > NEAR)
    if beyond.any():
        row, step = map(int, np.argwhere(beyond)[0])
        warn(
            f"rollout: {np.count_nonzero(beyond.any(axis=-1))} of {len(q)} robots '{robot.name}' have reached a "
            f"singularity of their independent coordinates {listed(robot.independent)}, the first (robot {row}) "
            f"before stored state {step}; later states are wrong: choose other coordinates with "
            "robot.with_independent, or use appell.simulate"
        )


def report_singular_mass(robot: Robot, q: Array, parameters: Array | None) -> None:
    """Warn if the mass matrix of robots (n, steps, nq) is singular; checks some robots at the first and last state."""
    key = Key("motion", is_parametric=parameters is not None, is_single=q.dtype == np.float32)
    if not robot.kind.guards(key)[MASS]:
        return
    some = np.unique(np.linspace(0, len(q) - 1, ROBOTS_LOOKED_AT).astype(int))
    rows = np.concatenate([some, some])
    states = np.concatenate([q[some, 0], q[some, -1]]).astype(float)
    rows, states = rows[is_good := np.isfinite(states).all(axis=-1)], states[is_good]
    own = () if parameters is None else (np.broadcast_to(parameters, (len(q), parameters.shape[-1]))[rows],)
    samples = Samples(states, own, np.full(len(rows), np.nan))
    report(robot.kind, samples, is_single=key.is_single)


def checked_rollout(robot: Any, method: Any) -> None:
    """Raise unless a robot can be rolled out with a method."""
    if not checked_robot("robot", robot).nv:
        raise InputError(f"robot: '{robot.name}' has no movable joint")
    choice("method: unknown method", method, METHODS)


def checked_law(robot: Robot, law: Any) -> JointLaw:
    """Return the control law of a rollout of a robot."""
    if not isinstance(law, JointLaw):
        raise InputError(f"control: expected a joint control law such as appell.control.PD, got {type(law).__name__}")
    kinds = [[body.joint.kind for body in r.model.bodies] for r in (robot, law.robot)]
    if kinds[0] != kinds[1] or (robot.nq, robot.nv, robot.nu) != (law.robot.nq, law.robot.nv, law.robot.nu):
        raise InputError(f"control: the joints of the control law's robot differ from those of robot '{robot.name}'")
    return law


class _Arguments:
    """The checked arguments of a rollout, as contiguous rows with one leading axis."""

    def __init__(  # noqa: PLR0913, PLR0917  (those of a rollout)
        self,
        robot: Robot,
        q0: ArrayLike,
        v0: ArrayLike,
        tau: ArrayLike | None,
        law: JointLaw | None,
        steps: int | None,
        dt: float,
        parameters: ArrayLike | None,
        found: Contacts | None,
    ) -> None:
        self._robot = robot
        tau = 0.0 if tau is None else tau
        states = {"q0": self._row("q0", q0, robot.nq), "v0": self._row("v0", v0, robot.nv)}
        drives = {"tau": self._row("tau", tau, robot.nu)}
        fixed = {"dt": np.array([dt])}
        if parameters is not None:
            fixed["parameters"] = self._row("parameters", parameters, robot.parameters.size)
        robot.configuration("q0", states["q0"])
        if found is not None:
            own = found.ground.ports(robot, is_parametric=parameters is not None)
            states |= {port.name: np.zeros(port.shape) for port in own.states}
            fixed |= {port.name: found.numbers[port.name] for port in own.fixed}
        self.steps = _steps(drives, steps)
        if law is not None:
            gains, goals = self._law(law, dt)
            fixed |= gains
            drives |= goals
        if law is not None and law.ki is not None:
            states["memory"] = np.zeros(2 * robot.nu + 1)
        drives = {name: x if x.ndim > 1 else x[None] for name, x in drives.items()}
        self.leading = self._broadcast(states | fixed, drives)
        typed = [x for x in map(np.asarray, (q0, v0, tau)) if x.ndim]
        self._kind = np.float32 if all(x.dtype == np.float32 for x in typed) else np.float64
        self.states = [self._flat(x) for x in states.values()]
        self.q0 = states["q0"]
        self.fixed = [self._flat(x) for x in fixed.values()]
        self.parameters = self.fixed[1] if parameters is not None else None
        self.fixed[0] = self.fixed[0][:, 0]
        self.drives = [self._flat(x, self.steps) for x in drives.values()]

    def _law(self, law: JointLaw, dt: float) -> tuple[dict[str, Array], dict[str, Array]]:
        checked_law(self._robot, law)
        gains = {"kp": law.kp, "kd": law.kd, "limit": law.limit} | ({} if law.ki is None else {"ki": law.ki})
        goals = law.references(np.arange(self.steps) * dt)
        return gains, {f"goal {name}": goal for name, goal in zip("qva", goals, strict=True)}

    def _row(self, name: str, x: ArrayLike, size: int) -> Array:
        """Return an argument as finite numbers (..., size); a scalar applies to all entries, except for q."""
        array = real_array(name, x, f" for robot '{self._robot.name}'")
        if array.ndim == 0 and not name.endswith(("q", "q0")):
            array = np.full(size, array)
        array = numbers(self._robot.name, name, (size,), array)
        # a sum is finite only if all entries are, and is the fastest check
        with np.errstate(over="ignore", invalid="ignore"):
            suspect = not np.isfinite(array.sum())
        if suspect and not np.isfinite(array).all():
            where = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
            raise InputError(f"{name}: element {where} is {array[where]}, expected finite numbers")
        return array

    def _broadcast(self, rows: dict[str, Array], drives: dict[str, Array]) -> tuple[int, ...]:
        axes = {name: x.shape[:-1] for name, x in rows.items()} | {name: x.shape[:-2] for name, x in drives.items()}
        try:
            return np.broadcast_shapes(*axes.values())
        except ValueError:
            shapes = ", ".join(f"{name} {shape}" for name, shape in axes.items() if shape)
            raise InputError(
                f"rollout: the leading axes do not broadcast ({shapes}) for robot '{self._robot.name}'"
            ) from None

    def _flat(self, x: Array, *steps: int) -> Array:
        """Return (robots, n), or (robots, steps, n), with a contiguous last axis; shared rows have stride zero."""
        plain = np.require(x, self._kind, "A")
        if plain.shape[-1] > 1 and plain.strides[-1] != plain.itemsize:
            plain = np.ascontiguousarray(plain)
        whole = np.broadcast_to(plain, (*self.leading, *steps, x.shape[-1]))
        return whole.reshape(math.prod(self.leading), *steps, x.shape[-1])


def _steps(drives: dict[str, Array], steps: int | None) -> int:
    """Return the number of steps, from the arguments' axes or from `steps`."""
    axes = {name: x.shape[-2] for name, x in drives.items() if x.ndim > 1}
    if steps is not None:
        axes["steps"] = whole("steps", steps)
    lengths = {length for length in axes.values() if length != 1}
    if not axes:
        raise InputError("steps: no argument has an axis of steps; give their number, as in steps=1000")
    if len(lengths) > 1 or 0 in lengths or axes.get("steps", 0) == 1 < max(axes.values()):
        given = ", ".join(f"{name} {length}" for name, length in axes.items())
        raise InputError(f"steps: expected one number of steps, at least 1, got {given}")
    return int(max(axes.values()))

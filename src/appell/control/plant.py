"""The arm as the control loop reads and writes it: its hardware, the interface, and a simulated arm.

valera2003 section 3: incremental encoders on the motor shafts, an absolute potentiometer on each joint (0 to 5 V), a
digital-to-analogue converter of ±10 V and 12 bits before each amplifier.

For a real arm, implement these five methods with its data acquisition cards; a simulated one is
:class:`appell.control.SimulatedPlant`. The loop also reads the time from the plant, so that a simulated arm can have
its own clock. A hanging loop cannot stop the arm: a real arm also needs a watchdog that applies the brakes when no
output has been written for several periods.

Between two writes the voltages are held and the robot is integrated with steps h. Coulomb friction includes stiction:
with M from the start of the step, the friction impulses λ in

    v' = v + M⁻¹ [h (τ − C v − G) − λ],      |λₖ| ≤ h fₖ,   λₖ = h fₖ sign(v'ₖ) where v'ₖ ≠ 0                  (1)

are solved by projected Gauss–Seidel, and q' = q + h v'. A joint held by friction has exactly zero velocity. The method
is of first order in h. A brake is a very large friction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.arguments import finite_array, number, numbers, whole
from appell.errors import InputError
from appell.loading import load
from appell.messages import shown
from appell.robot.robot import Robot
from appell.simulation.laws.checks import fully_actuated, per_force
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array

# Hardware

POTENTIOMETER = 5.0
"""Potentiometer voltage at the upper end; 0 at the lower."""


@dataclass(frozen=True, eq=False)
class Hardware:
    """Sensors and amplifiers of an arm, one entry per joint, (n,).

    Parameters
    ----------
    counts : array_like
        Encoder counts per motor revolution.
    gear : array_like
        Gear ratio, motor revolutions per joint revolution; negative for opposite directions.
    torque : array_like
        Joint torque per volt at the amplifier [N·m/V]: amplifier gain, motor constant and gear ratio together.
    lower, upper : array_like
        Joint angles at 0 V and 5 V of the potentiometer [rad].
    speed : array_like
        Largest joint speed [rad/s]; a faster encoder reading is a fault.
    volts : float
        Range ±volts of the converters [V].
    bits : int
        Resolution of the converters, also of the potentiometer readings.

    Raises
    ------
    InputError
        When sizes differ or a value is out of range.

    Examples
    --------
    >>> hardware = Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0])
    >>> hardware.angles(hardware.encode([0.1])).round(4), hardware.command([1.0])
    (array([0.1001]), array([0.1]))
    """

    counts: ArrayLike
    gear: ArrayLike
    torque: ArrayLike
    lower: ArrayLike
    upper: ArrayLike
    speed: ArrayLike
    volts: float = 10.0
    bits: int = 12

    def __post_init__(self) -> None:
        names = ("counts", "gear", "torque", "lower", "upper", "speed")
        rows = {name: np.atleast_1d(finite_array(f"hardware: {name}", getattr(self, name))) for name in names}
        size = rows["counts"].size
        for name, row in rows.items():
            if row.shape != (size,) or not size:
                raise InputError(f"hardware: {name} must be {size} finite numbers, one per joint, got {row.tolist()}")
            object.__setattr__(self, name, row)
        positive = {"counts": rows["counts"], "torque": rows["torque"], "speed": rows["speed"]}
        positive |= {"|gear|": np.abs(rows["gear"]), "upper − lower": rows["upper"] - rows["lower"]}
        for name, row in positive.items():
            if not (row > 0.0).all():
                raise InputError(f"hardware: {name} must be above zero, got {row.tolist()}")
        turn = np.abs(rows["counts"] * rows["gear"])
        if not ((turn >= 1e-3) & (turn <= 1e12)).all():
            raise InputError(f"hardware: counts × gear must be from 1e-3 to 1e12 per turn, got {turn.tolist()}")
        number("hardware: volts must be a number > 0", self.volts, 1e-9)
        whole("hardware: bits", self.bits, 1, 64)

    @property
    def n(self) -> int:
        """Return the number of joints."""
        return int(np.size(self.counts))

    @property
    def resolution(self) -> Array:
        """Return the signed joint angle per count [rad], (n,)."""
        return np.asarray(2.0 * np.pi / (np.asarray(self.counts) * np.asarray(self.gear)))

    @property
    def limit(self) -> Array:
        """Return the largest torques of the amplifiers [N·m], (n,); use them as the `limit` of a control law."""
        return np.asarray(self.volts * np.asarray(self.torque))

    def encode(self, angle: ArrayLike) -> NDArray[np.int64]:
        """Return encoder counts at joint angles.

        Parameters
        ----------
        angle : array_like, shape (..., n)
            Joint angles [rad].

        Returns
        -------
        array, shape (..., n)
            Integer counts.

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).encode([0.1])
        array([199])
        """
        return np.floor(self._row("angle", angle) / self.resolution).astype(np.int64)

    def angles(self, counts: ArrayLike) -> Array:
        """Return joint angles at encoder counts, in the middle of each count.

        Parameters
        ----------
        counts : array_like, shape (..., n)
            Encoder counts.

        Returns
        -------
        array, shape (..., n)
            Joint angles [rad].

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).angles([199]).round(4)
        array([0.1001])
        """
        return np.asarray((self._row("counts", counts) + 0.5) * self.resolution)

    def potentiometer(self, angle: ArrayLike) -> Array:
        """Return potentiometer voltages at joint angles, quantised by the converter.

        Parameters
        ----------
        angle : array_like, shape (..., n)
            Joint angles [rad].

        Returns
        -------
        array, shape (..., n)
            Voltages from 0 to 5 V.

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).potentiometer([0.1]).round(3)
        array([2.59])
        """
        share = (self._row("angle", angle) - np.asarray(self.lower)) / (np.asarray(self.upper) - self.lower)
        steps = 2**self.bits - 1
        return np.asarray(POTENTIOMETER * np.round(np.clip(share, 0.0, 1.0) * steps) / steps)

    def absolute(self, volts: ArrayLike) -> Array:
        """Return joint angles at potentiometer voltages.

        Parameters
        ----------
        volts : array_like, shape (..., n)
            Voltages [V].

        Returns
        -------
        array, shape (..., n)
            Joint angles [rad].

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).absolute([5.0])
        array([2.8])
        """
        span = np.asarray(self.upper) - self.lower
        return np.asarray(np.asarray(self.lower) + span * self._row("volts", volts) / POTENTIOMETER)

    def command(self, tau: ArrayLike) -> Array:
        """Return amplifier voltages for torques, not clipped to the range.

        Parameters
        ----------
        tau : array_like, shape (..., n)
            Joint torques [N·m].

        Returns
        -------
        array, shape (..., n)
            Voltages [V].

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).command([1.0])
        array([0.1])
        """
        return np.asarray(self._row("tau", tau) / np.asarray(self.torque))

    def convert(self, volts: ArrayLike) -> Array:
        """Return the output of the digital-to-analogue converters: clipped and quantised.

        Parameters
        ----------
        volts : array_like, shape (..., n)
            Voltages [V].

        Returns
        -------
        array, shape (..., n)
            Voltages [V].

        Examples
        --------
        >>> PUMA600.convert([0.0, 11.0, -11.0, 0.001, 0.003, 5.0]).round(4).tolist()
        [0.0, 9.9951, -10.0, 0.0, 0.0049, 5.0]
        """
        step = 2.0 * self.volts / 2**self.bits
        half = 2 ** (self.bits - 1)
        return np.asarray(step * np.clip(np.round(self._row("volts", volts) / step), -half, half - 1))

    def _row(self, name: str, x: ArrayLike) -> Array:
        return numbers("hardware", name, (self.n,), x).astype(float)


PUMA600 = Hardware(
    counts=[200, 200, 250, 250, 250, 250],
    gear=[62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686],
    torque=[9.76, 18.64, 8.94, 2.42, 2.01, 2.13],
    lower=np.radians([-180.0, -270.0, -90.0, -180.0, -180.0, -300.0]),
    upper=np.radians([180.0, 90.0, 270.0, 180.0, 180.0, 300.0]),
    speed=[3.0, 3.0, 4.0, 6.0, 6.0, 8.0],
)
"""The PUMA of valera2003, with the paper's counts and volts. Gear ratios and largest torques (here at 10 V), which the
paper lacks, are the PUMA 560's (Corke and Armstrong-Hélouvry 1994; Armstrong, Khatib and Burdick 1986). The
potentiometer ranges,
which contain three of the eight solution branches of the paper's line, and the largest speeds are assumptions."""


# The interface


class Reading(NamedTuple):
    """One reading of the sensors.

    Parameters
    ----------
    counts : array, shape (n,)
        Encoder counts.
    volts : array, shape (n,)
        Potentiometer voltages [V].
    hot : array of bool, shape (n,)
        Thermal switches of the motors.

    Examples
    --------
    >>> from appell.control import SimulatedPlant
    >>> SimulatedPlant().read().hot.any()
    np.False_
    """

    counts: NDArray[Any]
    volts: Array
    hot: NDArray[Any]


class Plant(Protocol):
    """The protocol of an arm for the control loop (the open control unit of valera2003 section 3).

    Examples
    --------
    >>> from appell.control import Plant, SimulatedPlant
    >>> arm: Plant = SimulatedPlant()
    >>> arm.read().counts.shape
    (6,)
    """

    @property
    def hardware(self) -> Hardware:
        """Return the sensors and amplifiers of the arm."""

    def now(self) -> float:
        """Return the plant's time; for a real arm, of a monotonic clock.

        Returns
        -------
        float
            Time [s].

        Examples
        --------
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().now()
        0.0
        """

    def wait(self, until: float) -> float:
        """Wait until a time; return immediately if it is past.

        Parameters
        ----------
        until : float
            Time [s].

        Returns
        -------
        float
            The present time [s].

        Examples
        --------
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().wait(0.01)
        0.01
        """

    def read(self) -> Reading:
        """Read the encoders, potentiometers and thermal switches.

        Returns
        -------
        Reading
            Counts, voltages and thermal switches.

        Examples
        --------
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().read().counts
        array([0, 0, 0, 0, 0, 0])
        """

    def write(self, volts: Array, tools: tuple[bool, bool], brake: bool) -> None:
        """Write voltages to the amplifiers, and set the tool outputs and the brakes.

        Parameters
        ----------
        volts : array, shape (n,)
            Amplifier voltages [V].
        tools : tuple of bool
            The two tool outputs.
        brake : bool
            True applies the brakes, False releases them.

        Examples
        --------
        >>> import numpy as np
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().write(np.zeros(6), (False, False), True)
        """


SPIN = 1e-3
"""Duration of busy waiting at the end of a wait [s], because the end of a sleep is imprecise."""


def wait_until(until: float) -> float:
    """Wait until a time of the monotonic clock; return immediately if it is past.

    This is the ``wait`` of a real plant, as ``time.perf_counter`` is its ``now``.

    Parameters
    ----------
    until : float
        Time of ``time.perf_counter`` [s].

    Returns
    -------
    float
        The present time [s].

    Examples
    --------
    >>> import time
    >>> due = time.perf_counter() + 0.002
    >>> wait_until(due) >= due
    True
    """
    while (left := until - time.perf_counter()) > 0.0:
        if left > SPIN:
            time.sleep(left - SPIN)
    return time.perf_counter()


# A simulated arm, including faults

BRAKE = 1e4
"""Torque of a brake [N·m], larger than any motor torque or gravity torque."""
SWEEPS, SETTLED = 200, 1e-12
SHORTEST, LONGEST = 1e-6, 60.0
"""Shortest step and longest delay [s]."""


def perturbed(robot: Robot, masses: ArrayLike = 1.0, friction: ArrayLike | None = None) -> Robot:
    """Return a robot with scaled masses and other Coulomb friction, for robustness tests.

    Parameters
    ----------
    robot : Robot
        A robot whose joints have one velocity each.
    masses : array_like
        Factor of masses and inertias, one for all bodies or one per body.
    friction : array_like, optional
        Coulomb friction of the joints [N·m], one number or (nv,). Default: the robot's.

    Returns
    -------
    Robot
        The changed robot.

    Raises
    ------
    InputError
        When an argument does not match the robot.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma600")
    >>> round(perturbed(robot, masses=1.2).total_mass / robot.total_mass, 12)
    1.2
    """
    fully_actuated("perturbed", robot)
    bodies = robot.model.bodies
    given = finite_array("masses", masses, f" for robot '{robot.name}'")
    factors = np.full(len(bodies), given) if given.ndim == 0 else given
    if factors.shape != (len(bodies),) or not (factors > 0.0).all():
        raise InputError(f"masses: expected a factor > 0, or {len(bodies)} of them, got {shown(masses)}")
    if any(body.joint.type.nv != 1 for body in bodies):
        raise InputError(f"perturbed: every joint of '{robot.name}' must have one velocity")
    held = coulomb(robot) if friction is None else per_force(robot, "friction", friction)
    if held.ndim != 1:
        raise InputError(f"friction: expected one number, or {robot.nv}, got shape {held.shape}")
    changed = tuple(
        replace(
            body,
            inertia=Inertia.from_parameters(tuple(float(factor) * x for x in body.inertia.parameters)),
            joint=replace(body.joint, friction=float(force)),
        )
        for body, factor, force in zip(bodies, factors, held, strict=True)
    )
    return robot.with_model(replace(robot.model, bodies=changed))


def coulomb(robot: Robot) -> Array:
    """Return the Coulomb friction of the joints, (nv,)."""
    return np.array([own.friction for own in robot.model.joint_parameters], dtype=float)


class SimulatedPlant:
    """A simulated arm with encoders, potentiometers and amplifiers.

    It has its own clock, which advances while the loop waits, and by `delay` with every write (the computing time). The
    attributes :attr:`q` and :attr:`v` are the true state, which a real arm does not reveal.

    Parameters
    ----------
    robot : Robot, optional
        The true robot; :func:`perturbed` makes one that differs from the controller's model. Default: "puma600".
    hardware : Hardware
        Sensors and amplifiers.
    q : array_like, optional
        Initial joint angles [rad], (n,), at rest with brakes on.
    delay : float or callable
        Time from a reading to its output [s]: a number, or a function of the number of writes so far.
    step : float
        Largest integration step [s].
    hot, lost, jumps : mapping, optional
        Simulated faults, as times [s] by joint number from 0: a motor overheats, an encoder stops counting, an encoder
        count jumps by a thousand.

    Raises
    ------
    InputError
        When an argument does not match the robot.

    Examples
    --------
    >>> import appell
    >>> plant = appell.control.SimulatedPlant(q=[0.1, -0.8, 2.6, 0.3, 0.9, 0.2])
    >>> _ = plant.wait(0.05)
    >>> plant.q  # braked
    array([ 0.1, -0.8,  2.6,  0.3,  0.9,  0.2])
    """

    def __init__(
        self,
        robot: Robot | None = None,
        hardware: Hardware = PUMA600,
        *,
        q: ArrayLike | None = None,
        delay: float | Callable[[int], float] = 0.0,
        step: float = 1e-3,
        hot: dict[int, float] | None = None,
        lost: dict[int, float] | None = None,
        jumps: dict[int, float] | None = None,
    ) -> None:
        robot = fully_actuated("SimulatedPlant", load("puma600") if robot is None else robot)
        if any(body.joint.type.nq != 1 for body in robot.model.bodies) or robot.model.is_coupled:
            raise InputError(f"SimulatedPlant: every joint of '{robot.name}' must have one independent coordinate")
        if not isinstance(hardware, Hardware):
            raise InputError(f"SimulatedPlant: expected a Hardware, got {type(hardware).__name__}")
        if hardware.n != robot.nv:
            raise InputError(
                f"SimulatedPlant: the hardware has {hardware.n} joints, robot '{robot.name}' has {robot.nv}"
            )
        self.robot, self.hardware = robot, hardware
        self._step = number(f"SimulatedPlant: step must be {SHORTEST:g} s or more", step, SHORTEST)
        self._friction = coulomb(robot)
        joints = (replace(body.joint, friction=0.0) for body in robot.model.bodies)
        bodies = tuple(replace(body, joint=joint) for body, joint in zip(robot.model.bodies, joints, strict=True))
        self._bare = robot.with_model(replace(robot.model, bodies=bodies))
        self.q = robot.neutral() if q is None else finite_array("q", q, f" for robot '{robot.name}'")
        if self.q.shape != (robot.nq,):
            raise InputError(f"q: expected {robot.nq} numbers, got shape {self.q.shape} for robot '{robot.name}'")
        self.v = np.zeros(robot.nv)
        self._delay = delay if callable(delay) else lambda _: delay
        _ = self._delayed(0)
        named = (("hot", hot), ("lost", lost), ("jumps", jumps))
        self._hot, self._lost, self._jumps = (_faults(name, x, robot.nv) for name, x in named)
        self._zero = hardware.encode(self.q)  # an incremental encoder starts at zero, at any angle
        self._frozen: dict[int, int] = {}
        self._volts, self._impulses = np.zeros(robot.nv), np.zeros(robot.nv)
        self.is_braked, self._writes, self._time = True, 0, 0.0
        self.tools = (False, False)

    def now(self) -> float:
        """Return the simulated time.

        Returns
        -------
        float
            Time [s].

        Examples
        --------
        >>> SimulatedPlant().now()
        0.0
        """
        return self._time

    def wait(self, until: float) -> float:
        """Simulate until a time; return immediately if it is past.

        Parameters
        ----------
        until : float
            Time [s].

        Returns
        -------
        float
            The present time [s].

        Examples
        --------
        >>> SimulatedPlant().wait(0.01)
        0.01
        """
        span = until - self._time
        if span > 0.0:
            count = max(1, int(np.ceil(span / self._step - 1e-9)))
            for _ in range(count):
                self._move(span / count)
            self._time = until
        return self._time

    def read(self) -> Reading:
        """Read the encoders, potentiometers and thermal switches.

        Returns
        -------
        Reading
            Counts, voltages and thermal switches.

        Examples
        --------
        >>> SimulatedPlant().read().counts
        array([0, 0, 0, 0, 0, 0])
        """
        counts = self.hardware.encode(self.q) - self._zero
        for joint, since in self._jumps.items():
            counts[joint] += 1000 if self._time >= since else 0
        for joint, since in self._lost.items():
            if self._time >= since:
                counts[joint] = self._frozen.setdefault(joint, int(counts[joint]))
        hot = np.array([self._time >= self._hot.get(joint, np.inf) for joint in range(self.hardware.n)])
        return Reading(counts, self.hardware.potentiometer(self.q), hot)

    def write(self, volts: Array, tools: tuple[bool, bool], brake: bool) -> None:
        """Advance by the computing time, then set voltages, tool outputs and brakes.

        Parameters
        ----------
        volts : array, shape (n,)
            Amplifier voltages [V].
        tools : tuple of bool
            The two tool outputs.
        brake : bool
            True applies the brakes, False releases them.

        Raises
        ------
        InputError
            When `delay` returns no valid time.

        Examples
        --------
        >>> plant = SimulatedPlant()
        >>> plant.write(np.zeros(6), (True, False), False)
        >>> plant.is_braked
        False
        """
        self.wait(self._time + self._delayed(self._writes))
        self._writes += 1
        self._volts, self.tools, self.is_braked = self.hardware.convert(volts), tools, brake

    def _delayed(self, writes: int) -> float:
        what = f"SimulatedPlant: delay must be from 0 to {LONGEST:g} s"
        return number(what, self._delay(writes), 0.0, LONGEST)

    def _move(self, h: float) -> None:
        """Integrate one step, Eq. (1)."""
        tau = self._volts * np.asarray(self.hardware.torque)
        mobility = np.linalg.inv(self._bare.mass_matrix(self.q))
        free = self.v + h * (mobility @ (tau - self._bare.bias(self.q, self.v)))
        hold = self._friction + (BRAKE if self.is_braked else 0.0)
        self.v, self._impulses = _held(free, mobility, h * hold, self._impulses)
        self.q = self.q + h * self.v


def _held(free: Array, mobility: Array, most: Array, guess: Array) -> tuple[Array, Array]:
    """Return v' = free − M⁻¹λ with impulses |λ| ≤ most that oppose v', Eq. (1), and λ; the guess saves iterations."""
    start = np.clip(guess, -most, most)
    rows, bounds = mobility.tolist(), most.tolist()
    v, impulses = (free - mobility @ start).tolist(), start.tolist()
    joints = range(len(v))
    for _ in range(SWEEPS):
        change = 0.0
        for k in joints:
            row, bound = rows[k], bounds[k]
            wanted = min(max(impulses[k] + v[k] / row[k], -bound), bound)
            more = wanted - impulses[k]
            if more != 0.0:
                impulses[k] = wanted
                v = [x - y * more for x, y in zip(v, row, strict=True)]  # M⁻¹ is symmetric
                change = max(change, abs(more * row[k]))
        if change < SETTLED:
            break
    still = [abs(impulse) < bound for impulse, bound in zip(impulses, bounds, strict=True)]
    return np.where(still, 0.0, v), np.array(impulses)


def _faults(name: str, faults: Any, joints: int) -> dict[int, float]:
    """Return simulated faults: times by joint number."""
    if faults is not None and not isinstance(faults, Mapping):
        raise InputError(f"SimulatedPlant: {name} must be times by joint number, got {shown(faults)}")
    what = f"SimulatedPlant: {name}"
    return {
        whole(what, joint, 0, joints - 1): number(f"{what} must be a time in seconds", time)
        for joint, time in (faults or {}).items()
    }

"""A simulated arm with the interface of :mod:`appell.control.plant`, including faults.

Between two writes the voltages are held and the robot is integrated with steps h. Coulomb friction includes stiction:
with M from the start of the step, the friction impulses λ in

    v' = v + M⁻¹ [h (τ − C v − G) − λ],      |λₖ| ≤ h fₖ,   λₖ = h fₖ sign(v'ₖ) where v'ₖ ≠ 0                  (1)

are solved by projected Gauss–Seidel, and q' = q + h v'. A joint held by friction has exactly zero velocity. The method
is of first order in h. A brake is a very large friction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import finite_array, number, whole
from appell.control.hardware import PUMA600, Hardware
from appell.control.plant import Reading
from appell.errors import InputError
from appell.loading import load
from appell.messages import shown
from appell.robot.robot import Robot
from appell.simulation.laws.checks import fully_actuated, per_force
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array

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
        self.robot, self._hardware = robot, hardware
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
        self._braked, self._writes, self._time = True, 0, 0.0
        self.tools = (False, False)

    @property
    def hardware(self) -> Hardware:
        """Return the sensors and amplifiers of the arm."""
        return self._hardware

    @property
    def is_braked(self) -> bool:
        """Return whether the brakes are on."""
        return self._braked

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
        counts = self._hardware.encode(self.q) - self._zero
        for joint, since in self._jumps.items():
            counts[joint] += 1000 if self._time >= since else 0
        for joint, since in self._lost.items():
            if self._time >= since:
                counts[joint] = self._frozen.setdefault(joint, int(counts[joint]))
        hot = np.array([self._time >= self._hot.get(joint, np.inf) for joint in range(self._hardware.n)])
        return Reading(counts, self._hardware.potentiometer(self.q), hot)

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
        self._volts, self.tools, self._braked = self._hardware.convert(volts), tools, brake

    def _delayed(self, writes: int) -> float:
        what = f"SimulatedPlant: delay must be from 0 to {LONGEST:g} s"
        return number(what, self._delay(writes), 0.0, LONGEST)

    def _move(self, h: float) -> None:
        """Integrate one step, Eq. (1)."""
        tau = self._volts * np.asarray(self._hardware.torque)
        mobility = np.linalg.inv(self._bare.mass_matrix(self.q))
        free = self.v + h * (mobility @ (tau - self._bare.bias(self.q, self.v)))
        hold = self._friction + (BRAKE if self._braked else 0.0)
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

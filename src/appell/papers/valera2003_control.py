"""valera2003, sections 3 and 4: the control laws of table 4 in the control unit, on an arm that differs from its model.

The unit is :mod:`appell.control`: encoders, potentiometers, converters of 12 bits, thermal switches. The arm behind it
is the PUMA 600 as modelled, or 20 % heavier and with the Coulomb friction of the PUMA 560, which the control laws do
not model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.control.gains import gains, integral_gains
from appell.control.loop import LoopRun, run_loop
from appell.control.plant import POTENTIOMETER, PUMA600, SimulatedPlant, coulomb, perturbed
from appell.loading import load
from appell.papers.paper import facts, read
from appell.papers.valera2003_line import END, START, branches, line, puma, signs
from appell.planning.trajectory.curves import Ramp, Spline
from appell.planning.trajectory.trajectory import Trajectory
from appell.reports.rules import Checked, Holds, Less, NotComparable, Same
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure
from appell.robot.robot import Robot
from appell.simulation.laws.joint_laws import JointLaw, PointToPoint, Tracking
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

PAPER = read("valera2003")
HOME = np.array([0.0, -0.9, 2.8, 0.0, 0.8, 0.0])
GOAL = np.array([0.4, -0.6, 2.4, 0.3, 0.5, -0.3])
"""Start of the motions, and goal of those of table 4 [rad]."""
RATE, STEP = 200.0, 2.5e-3
"""Control rate [Hz] and integration step of the arm [s]; the paper gives neither."""
MOVING, HOLDING = 2.0, 1.5
"""Duration of the spline of table 4, and holding time at its end [s]."""
FREQUENCY = 8.0
"""Natural frequency of the gains [rad/s]."""
HEAVIER = 1.2
ARMS = ("as modelled", "20 % heavier, with friction")
LAWS = {
    "point to point": "−K_d q̇ − K_p e",
    "tracking": "q̈* − K_d ė − K_p e",
    "tracking with integral action": "q̈* − K_d ė − K_p e − K_i ∫e",
}
"""Table 4, with the damping of the two tracking laws on ė."""
MACHINES = NotComparable("theirs is in C on Pentiums at 150 and 350 MHz, ours through Python on this machine")


class Moved(NamedTuple):
    """A run of the unit, and the true final configuration of the arm."""

    run: LoopRun
    end: Array


@cache
def arm(name: str) -> Robot:
    """Return the arm behind the unit."""
    if name == ARMS[0]:
        return puma()
    return perturbed(puma(), HEAVIER, coulomb(load("puma560")))


def tabled(motion: Trajectory) -> Callable[[float], tuple[Array, Array, Array]]:
    """Return a motion precomputed at every period."""
    last = int(np.ceil(motion.duration * RATE))
    q, v, a = motion(np.arange(last + 1) / RATE)

    def at(t: float) -> tuple[Array, Array, Array]:
        k = min(round(t * RATE), last)
        return q[k], v[k], a[k]

    return at


def law_of(name: str, reference: Any, frequency: ArrayLike = FREQUENCY) -> JointLaw:
    """Return a control law of table 4, with the gains of a frequency, limited to the torques of the amplifiers."""
    limit = PUMA600.limit
    if name == "point to point":
        return PointToPoint(puma(), GOAL, *gains(frequency), limit=limit)
    if name == "tracking":
        return Tracking(puma(), reference, *gains(frequency), limit=limit)
    return Tracking(puma(), reference, *integral_gains(frequency), limit=limit)


@cache
def moved(law: str, name: str) -> Moved:
    """Return the motion of table 4, home to goal, under a law on an arm.

    >>> bool(abs(moved("tracking", "as modelled").end - GOAL).max() < 0.005)
    True
    """
    plant = SimulatedPlant(arm(name), q=HOME, step=STEP)
    spline = Spline([0.0, MOVING], [HOME, GOAL], 5)
    run = run_loop(plant, law_of(law, tabled(spline)), MOVING + HOLDING, RATE)
    return Moved(run, plant.q.copy())


def resolution() -> Array:
    """Return the resolution (6,) of the unit at rest [rad].

    Half a step of the potentiometers at homing, one count of the encoders, and half a step of the converters divided by
    the stiffness K_p.
    """
    homing = 0.5 * (np.asarray(PUMA600.upper) - PUMA600.lower) / (2**PUMA600.bits - 1)
    half_step = PUMA600.limit / 2**PUMA600.bits
    softness = np.abs(np.linalg.inv(puma().mass_matrix(GOAL))) @ half_step / gains(FREQUENCY).kp
    return np.asarray(homing + np.abs(PUMA600.resolution) + softness)


_ARRIVES = Holds(1.0, "the error at the end, in units of what the unit resolves,")
_STAYS_OFF = Less(
    "The paper's statement, that errors of the model and static friction leave an error of position, holds (agrees) "
    "when the error at the end is more than the unit resolves; else it differs."
)


def table4() -> Table:
    """Return the errors of the three control laws of table 4 on both arms."""
    rows: list[tuple[Cell, ...]] = []
    for name in ARMS:
        for law, formula in LAWS.items():
            run, end = moved(law, name)
            left = np.abs(end - GOAL)
            units = float((left / resolution()).max())
            way = None if law == "point to point" else 1e3 * float(run.max_error.max())
            arrives = name == ARMS[0] or law == "tracking with integral action"
            verdict = _ARRIVES(units) if arrives else _STAYS_OFF(1.0, units)
            joints = ", ".join(f"{1e3 * x:.1f}" for x in left)
            rows.append((law, name, formula, way, joints, 1e3 * float(left.max()), units, verdict))
    unit = ", ".join(f"{1e3 * x:.1f}" for x in resolution())
    values: dict[str, Any] = {"moving": MOVING, "holding": HOLDING, "rate": RATE, "frequency": FREQUENCY, "unit": unit}
    return PAPER.table("4", rows, **values)


def step_table() -> Table:
    """Return the duration of a control step."""
    law = law_of("tracking", Spline([0.0, MOVING], [HOME, GOAL], 5))
    best = min(_seconds(partial(law, k * 1e-3, HOME, np.zeros(6))) for k in range(200))
    rows = (("tracking", PAPER.results["step"], round(1e3 * best, 4), MACHINES()),)
    return facts("Control step. How long one takes [ms]", rows)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# Section 3


def unit_table() -> Table:
    """Return the signals of the unit, paper against ours."""
    plant = SimulatedPlant(puma(), q=HOME)
    reading, hardware = plant.read(), plant.hardware
    outputs = hardware.convert(np.full(hardware.n, -1e9))
    ours = (
        len(reading.volts),
        f"0 to {POTENTIOMETER:g}",
        len(reading.hot),
        len(reading.counts),
        " ".join(f"{x:g}" for x in np.asarray(hardware.counts)),
        len(outputs),
        f"{-outputs.min():g}",
        len(plant.tools),
    )
    pairs = zip(PAPER.results["signals"], map(str, ours), strict=True)
    rows = ((signal, paper, mine, Same()(paper, mine)) for (signal, paper), mine in pairs)
    return facts("Section 3. Signals of the control unit", rows)


def fitting_branch() -> tuple[int, int, int]:
    """Return the first branch of the line that stays within the potentiometers' ranges."""
    t = np.linspace(0.0, line().duration, 100)

    def fits(label: tuple[int, int, int]) -> bool:
        q = line(label)(t).q
        return bool(((q > np.asarray(PUMA600.lower)) & (q < np.asarray(PUMA600.upper))).all())

    return next(label for label in branches() if fits(label))


HOT, COOLING = 3.0, 0.5
"""Time at which a thermal switch opens in the second run of the line, and observation time of the braked arm [s]."""
SETTLED = 1.0
"""Time for the arm to reach the speed of the line from rest [s]."""
WRIST = FREQUENCY * np.array([2.0, 2.0, 2.0, 3.0, 3.0, 5.0])
"""Natural frequencies [rad/s] for references: higher at the wrist, whose friction is large relative to its inertia."""


@cache
def unit_run(is_hot: bool = False) -> tuple[LoopRun, SimulatedPlant]:
    """Return the unit on the straight line, the arm heavier and with friction; optionally with an overheating motor."""
    motion = line(fitting_branch())
    plant = SimulatedPlant(arm(ARMS[1]), q=motion(0.0).q, step=STEP, hot={1: HOT} if is_hot else None)
    law = law_of("tracking with integral action", tabled(motion), WRIST)
    return run_loop(plant, law, HOT + 1.0 if is_hot else motion.duration, RATE), plant


def run_table() -> Table:
    """Return the results of the unit on the line."""
    run, plant = unit_run()
    steady = run.t >= SETTLED
    way = np.subtract(END, START)
    along = way / np.linalg.norm(way)
    off = puma().pose(run.q, "dh6")[:, :3, 3] - START
    aside = np.linalg.norm(off - np.outer(off @ along, along), axis=-1)
    end = float(np.linalg.norm(puma().pose(plant.q, "dh6")[:3, 3] - END))
    volts = float(np.abs(run.volts).max())
    late, crept = _stop()
    rows: tuple[tuple[Cell, ...], ...] = (
        ("stopped by", "nothing" if run.stopped is None else run.stopped.kind, None),
        ("wrist centre beside the line by the encoders, speed reached [mm]", 1e3 * float(aside[steady].max()), None),
        ("wrist centre off the end, at the end [mm]", 1e3 * end, None),
        ("joint error, speed reached: largest [mrad]", 1e3 * float(np.abs(run.error[steady]).max()), None),
        ("greatest voltage [V]", volts, Holds(PUMA600.volts, "the greatest voltage [V]")(volts)),
        ("thermal switch open until brakes on [s]", late, Checked(1.0 / RATE, "the switch's opening [s]")(late)),
        ("way of the braked arm [rad]", crept, Checked(1e-12, "standing still [rad]")(crept)),
    )
    return PAPER.table("run", rows, branch=signs(fitting_branch()), arm=ARMS[1], settled=SETTLED, hot=HOT)


@cache
def _stop() -> tuple[float, float]:
    """Return the delay between the opening of a thermal switch and the brakes [s], and the motion afterwards."""
    run, plant = unit_run(is_hot=True)
    if run.stopped is None or run.stopped.kind != "thermal switch" or not plant.is_braked:
        return np.inf, np.inf
    late = abs(plant.now() - HOT)
    plant.wait(plant.now() + STEP)  # the brakes engage
    stood = plant.q.copy()
    plant.wait(plant.now() + COOLING)
    return late, float(np.abs(plant.q - stood).max())


# Figure 5

FOLLOWS = Holds(0.05, "the error of the worst joint, root mean square, over its travel")


@cache
def followed(name: str) -> LoopRun:
    """Return the unit on a ramp or a spline, the arm heavier and with friction."""
    up = HOME + np.array([0.5, 0.4, -0.4, 0.3, 0.3, 0.3])
    references: dict[str, Trajectory] = {
        "ramp": Ramp(HOME, up, begin=0.5, finish=2.0, duration=3.0),
        "spline": Spline([0.0, 1.0, 2.0, 3.0], [HOME, up, 0.5 * (HOME + up), HOME], 5),
    }
    law = law_of("tracking with integral action", tabled(references[name]), WRIST)
    return run_loop(SimulatedPlant(arm(ARMS[1]), q=HOME, step=STEP), law, 3.0, RATE)


def reference_table() -> Table:
    """Return the tracking errors for a ramp and a spline."""
    rows: list[tuple[Cell, ...]] = []
    for name in ("ramp", "spline"):
        run = followed(name)
        share = run.rms_error / np.ptp(run.goal, axis=0)
        shown = ", ".join(f"{100 * x:.1f}" for x in share)
        rows.append((name, ", ".join(f"{1e3 * x:.1f}" for x in run.max_error), shown, FOLLOWS(float(share.max()))))
    return PAPER.table("figure5", rows)


def _draw_figure5() -> Drawn:
    drawn = figure(7.0, 5.0)
    axes = drawn.subplots(2, 2, sharex=True)
    for column, name in enumerate(("ramp", "spline")):
        run = followed(name)
        above, below = axes[:, column]
        above.set_title(name)
        above.plot(run.t, run.goal[:, 1], color=COLOURS[6], linestyle=":", label="reference")
        above.plot(run.t, run.q[:, 1], color=COLOURS[0], label="joint 2")
        below.plot(run.t, 1e3 * run.error, label=[f"joint {k + 1}" for k in range(6)])
        above.set_ylabel("q₂ [rad]")
        below.set_ylabel("error [mrad]")
        below.set_xlabel("t [s]")
    drawn.align_ylabels()
    axes[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes[1, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return drawn


def _draw_laws() -> Drawn:
    drawn = figure(7.0, 3.6)
    axes = drawn.subplots(1, 2, sharey=True)
    for panel, name in zip(axes, ARMS, strict=True):
        for k, law in enumerate(LAWS):
            run = moved(law, name).run
            panel.semilogy(run.t, 1e3 * np.abs(run.q - GOAL)[:, 1], color=COLOURS[k], label=law)
        panel.set(title=name, xlabel="t [s]", ylim=(0.2, 500.0))
    axes[0].set_ylabel("joint 2 off the goal [mrad]")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def _draw_unit() -> Drawn:
    run, _ = unit_run()
    drawn = figure(7.0, 4.5)
    axes = drawn.subplots(2, 1, sharex=True)
    axes[0].plot(run.t, 1e3 * run.error, label=[f"joint {k + 1}" for k in range(6)])
    axes[1].plot(run.t, run.volts)
    axes[0].set_ylabel("error [mrad]")
    axes[1].set(ylabel="amplifiers [V]", xlabel="t [s]")
    axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawn


FIGURES = PAPER.figures({"table4": _draw_laws, "figure5": _draw_figure5, "unit": _draw_unit})

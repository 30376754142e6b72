"""Curves over time: a run's coordinates, velocities, joint torques and energy, and the motions of many robots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from appell.errors import InputError
from appell.model.joints import QUATERNION
from appell.model.model import Joint
from appell.model.parameters import joint_of_velocity
from appell.results.style import COLOURS, figure, matplotlib
from appell.robot.robot import Robot
from appell.spatial.scalar import Array
from appell.syntax import plot_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from appell.results.run import Run


# Names of the entries of q, v and τ, and whether they are rotations or translations, for any robot

TURNS, SLIDES = "turns", "slides"


def labels(robot: Robot, letter: str) -> list[str]:
    """Return one name per entry of "q", "v", "a" or "tau": the joint's name, or ``name[k]`` where it has several.

    >>> import appell
    >>> labels(appell.load("two-link", floating=True), "q")[-3:]
    ['root[6]', 'joint1', 'joint2']
    >>> labels(appell.load("agile-wrist"), "tau")
    ['theta1', 'theta2', 'theta3']
    """
    if letter == "q":
        joints = robot.places("q").items()
        return [name if len(at) == 1 else f"{name}[{k}]" for name, at in joints for k in range(len(at))]
    return list(robot.kind.facts.forces if letter == "tau" else robot.independent)


def joint_named(robot: Robot, name: str) -> Joint:
    """Return a joint of the spanning tree; any other coordinate, such as an Euler angle, counts as a rotation.

    >>> import appell
    >>> joint_named(appell.load("stewart"), "leg1").kind, joint_named(appell.load("sst"), "phi").kind
    ('prismatic', 'continuous')
    """
    found = (body.joint for body in robot.model.bodies if body.joint.name == name)
    return next(found, Joint(name, "continuous"))


def measures(robot: Robot, names: Sequence[str]) -> list[str]:
    """Return for each velocity or force whether it is a rotation or a translation; rotations have an angular part.

    >>> import appell
    >>> measures(appell.load("mobile-arm"), ["left", "shoulder"])
    ['turns', 'turns']
    """
    found, joints = [], {body.joint.name for body in robot.model.bodies}
    for name in names:
        joint, place = joint_of_velocity(name, joints)
        found.append(TURNS if any(joint_named(robot, joint).columns[place].angular) else SLIDES)
    return found


# A run

POINTS = 4000
"""The number of points of a curve, at least, where the integration steps are long."""
NAMED = 120
"""The largest number of curves with a legend."""
DASHES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
"""With seven colours, these distinguish thirty-five curves."""
SYMBOLS = {"turns": ("rad", "rad/s", "N·m"), "slides": ("m", "m/s", "N"), "": ("", "", "")}
ENERGY_COLOURS = {"kinetic": COLOURS[1], "potential": COLOURS[2], "total": COLOURS[6]}
TITLES = {"turns": "rotations", "slides": "translations", "": "joints"}


class SampledRun(NamedTuple):
    """A run sampled between its steps: times (n,), q and v; an impact has two entries, before and after."""

    t: Array
    q: Array
    v: Array


def curves(run: Run, points: int = POINTS) -> SampledRun:
    """Return the motion sampled densely enough for a plot, with the jumps at impacts.

    >>> import appell
    >>> run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
    >>> curves(run, 50).t[[0, -1]]
    array([0. , 0.1])
    """
    path = run.path
    if not len(path.starts):
        return SampledRun(run.t, run.q, run.v)
    each = int(np.clip(points // len(path.starts) + 1, 2, 40))
    x = np.linspace(-1.0, 1.0, each)
    basis = chebyshev.chebvander(x, path.coefficients.shape[1] - 1)
    y = np.einsum("xd,sdn->sxn", basis, path.coefficients).reshape(-1, path.coefficients.shape[2])
    half = 0.5 * (path.ends - path.starts)[:, None]
    t = (path.starts[:, None] + half * (1.0 + x)).reshape(-1)
    t[each - 1 :: each] = path.ends  # exactly
    return SampledRun(t, y[:, : run.nq], y[:, run.nq :])


def thinned(t: Array, curves: Array, points: int) -> tuple[Array, Array]:
    """Return about `points` rows of curves (n, k): the ends, and the least and greatest of every stretch of time.

    >>> t = np.linspace(0.0, 1.0, 10001)
    >>> spike = np.zeros((10001, 1))
    >>> spike[777] = 1.0
    >>> float(thinned(t, spike, 400)[1].max())
    1.0
    """
    if len(t) <= points:
        return t, curves
    edges = np.linspace(0, len(t), points // 2 + 1).astype(int)
    kept = {0, len(t) - 1}
    deviation = curves - curves.mean(axis=0)
    scale = np.abs(deviation).max(axis=0)
    size = (deviation / np.where(scale > 0.0, scale, 1.0)).sum(axis=1)
    for start, end in pairwise(edges.tolist()):
        kept |= {start + int(np.argmin(size[start:end])), start + int(np.argmax(size[start:end]))}
    rows = np.array(sorted(kept))
    return t[rows], curves[rows]


class JointCurve(NamedTuple):
    """One line of a panel: the joint's index (which gives the colour), the times, and the values."""

    joint: int
    t: Array
    values: Array


def history(run: Run) -> Figure:
    """Return a figure of q, v, τ and energy against time; draw it inside :func:`appell.results.style.styled`.

    Rotations and translations have separate columns, since their units differ. A quaternion is shown as the angle of
    rotation since the start.

    Raises
    ------
    InputError
        When the run has no states.
    """
    if not len(run.t):
        raise InputError(
            f"run.plot: the run of '{run.robot_name}' has no states to draw; it ended early: {run.ended_early}"
        )
    drawn = panels(run)
    kinds = list(drawn)
    known = list(run.joint_names) if run.robot is None else curve_names(run.robot)
    names = known or [f"{k}" for k in range(run.v.shape[-1])]
    is_named = len(names) <= NAMED
    canvas = figure(4.2 * len(kinds) + (2.6 if is_named else 0.4), 8.6)
    grid = canvas.add_gridspec(4, len(kinds))
    for column, kind in enumerate(kinds):
        for row, (symbol, lines) in enumerate(drawn[kind].items()):
            axes = canvas.add_subplot(grid[row, column])
            if not lines:  # all motors may be prismatic, or all revolute
                axes.set_axis_off()
                continue
            for joint, t, values in lines:
                axes.plot(t, values, color=COLOURS[joint % len(COLOURS)], linestyle=dash(joint))
            unit = SYMBOLS[kind][row]
            axes.set_ylabel(f"{symbol} [{unit}]" if unit else symbol)
            lowest = max(k for k, lines_of in enumerate(drawn[kind].values()) if lines_of)
            axes.tick_params(labelbottom=row == lowest and len(kinds) > 1)  # else shared with the energy
            if not any(values.any() for _, _, values in lines):
                axes.set_ylim(-1.0, 1.0)
            mark_impacts(axes, run)
            if row == 0:
                axes.set_title(TITLES[kind])
    _energy(canvas.add_subplot(grid[3, :]), run)
    if is_named:
        name_joints(canvas, names)
    canvas.align_ylabels()
    early = f", ended early at {run.t[-1]:.6g} s" if run.ended_early else ""
    name = plot_text(run.robot_name)
    canvas.suptitle(f"{name}: {run.t[-1] - run.t[0]:.6g} s, {len(run.impacts)} impacts{early}", fontsize=10)
    return canvas


def mark_impacts(axes: Axes, run: Run, *, is_named: bool = False) -> None:
    """Draw a thin vertical line at every impact, fainter where there are many, and set the time range.

    With `is_named`, the legend has an entry for them.
    """
    times = sorted({impact.time for impact in run.impacts})
    alpha = float(np.clip(30.0 / max(len(times), 1), 0.08, 0.8))
    for time in times:
        axes.axvline(time, color="#888888", linewidth=0.6, alpha=alpha, zorder=0.5)
    if times and is_named:
        axes.plot([], [], color="#888888", linewidth=0.6, label="impact")
    if run.t[-1] > run.t[0]:
        axes.set_xlim(run.t[0], run.t[-1])


def dash(joint: int) -> Any:
    """Return the line style of a joint, which changes after every cycle of the colours."""
    return DASHES[joint // len(COLOURS) % len(DASHES)]


def name_joints(canvas: Figure, names: list[str]) -> None:
    """Add the legend of the joints beside a figure."""
    Line2D = matplotlib(".lines").Line2D

    lines = [Line2D([], [], color=COLOURS[k % len(COLOURS)], linestyle=dash(k)) for k in range(len(names))]
    size = 8.0 if len(names) <= 20 else 6.5
    canvas.legend(
        lines,
        list(map(plot_text, names)),
        loc="outside right upper",
        ncols=-(-len(names) // 45),
        fontsize=size,
        handlelength=2.6,
        title="joints",
    )


def panels(run: Run) -> dict[str, dict[str, list[JointCurve]]]:
    """Return the curves by kind of motion, then by symbol; without a robot, one kind without units."""
    dense = curves(run)
    if run.robot is None:
        whole = {"q": (dense.t, dense.q), "v": (dense.t, dense.v), "τ": (run.t, run.tau)}
        return {
            "": {
                x: [JointCurve(k, t, values[:, k]) for k in range(values.shape[1])] for x, (t, values) in whole.items()
            }
        }
    found: dict[str, dict[str, list[JointCurve]]] = {kind: {"q": [], "v": [], "τ": []} for kind in (SLIDES, TURNS)}
    for k, kind, values in coordinates(run.robot, dense.q):
        found[kind]["q"].append(JointCurve(k, dense.t, values))
    for symbol, letter, t, values in (("v", "v", dense.t, dense.v), ("τ", "tau", run.t, run.tau)):
        for place, (k, kind) in enumerate(directions(run.robot, letter)):
            found[kind][symbol].append(JointCurve(k, t, values[:, place]))
    return {kind: panel for kind, panel in found.items() if any(panel.values())}


def curve_names(robot: Robot) -> list[str]:
    """Return the names of the joints with curves: those of q, then the others of v and τ; the index gives the colour.

    >>> import appell
    >>> curve_names(appell.load("sst"))
    ['theta', 'phi', 'psi', 'gamma1', 'gamma2', 'gamma3']
    """
    return list(dict.fromkeys(name for letter in ("q", "v", "tau") for name in robot.places(letter)))


def directions(robot: Robot, letter: str) -> list[tuple[int, str]]:
    """Return, for every entry of v or tau, the index of its joint in :func:`curve_names`, and its kind of motion.

    >>> import appell
    >>> directions(appell.load("four-bar"), "v")
    [(0, 'turns')]
    """
    names, joints = curve_names(robot), robot.places(letter)
    owner = {k: names.index(name) for name, at in joints.items() for k in at}
    return [(owner[k], kind) for k, kind in enumerate(measures(robot, labels(robot, letter)))]


def coordinates(robot: Robot, q: Array) -> list[tuple[int, str, Array]]:
    """Return the curves of coordinates (n, nq): index of the joint in :func:`curve_names`, kind of motion, values."""
    return [
        (k, kind, values)
        for k, (name, at) in enumerate(robot.places("q").items())
        for kind, values in _of_joint(joint_named(robot, name), q[:, at])
    ]


def _of_joint(joint: Joint, q: Array) -> list[tuple[str, Array]]:
    if joint.kind in QUATERNION:
        at = QUATERNION[joint.kind]
        turned = 2.0 * np.arccos(np.clip(np.abs(q[:, at] @ q[0, at]) / np.linalg.norm(q[:, at], axis=-1), 0.0, 1.0))
        others = [k for k in range(q.shape[1]) if not at.start <= k < at.stop]
        return [*((SLIDES, q[:, k]) for k in others), (TURNS, turned)]
    return [(TURNS if any(column.angular) else SLIDES, q[:, k]) for k, column in enumerate(joint.columns)]


def energies(run: Run) -> tuple[Array, dict[str, Array]]:
    """Return times, and the kinetic, potential and total energy [J] at them; the total alone without a robot."""
    if run.robot is None:
        return run.t, {"total": run.energy}
    dense = curves(run)
    q = run._normalised(np.array(dense.q))
    kinetic, potential = run.robot.kinetic_energy(q, dense.v), run.robot.potential_energy(q)
    return dense.t, {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}


def _energy(axes: Axes, run: Run) -> None:
    """Draw total energy, and kinetic and potential where the robot is known."""
    t, found = energies(run)
    for name, values in found.items():
        axes.plot(t, values, color=ENERGY_COLOURS[name], label=name)
    for k, rest in enumerate(run.rests):
        axes.axvspan(
            rest.start, rest.end, color=COLOURS[4], alpha=0.12, linewidth=0.0, label=None if k else "resting contact"
        )
    axes.set_ylabel("energy [J]")
    axes.set_xlabel("t [s]")
    mark_impacts(axes, run, is_named=True)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


# Motions of many robots: one line per robot where they are few, else the median and percentile bands

FEW = 12
"""The number of robots up to which each has its own line."""
BANDS = ((5.0, 95.0, 0.12), (25.0, 75.0, 0.25))
"""Lower and upper percentile of each band, and its opacity."""


class JointBand(NamedTuple):
    """One joint of a panel: its index (of its colour) and its values (robots, times)."""

    joint: int
    values: Array


def motions(robot: Robot, t: Array, q: Array, v: Array) -> Figure:
    """Return a figure of q (..., times, nq) and v (..., times, nv); draw it inside :func:`appell.results.style.styled`.

    Rotations and translations have separate columns, since their units differ. A quaternion is shown as the angle of
    rotation since the start. v are the independent velocities. States that are not finite are left out.
    """
    q, v = (x.reshape(-1, *x.shape[-2:]) for x in (q, v))
    panels, names = _panels(robot, q, v), curve_names(robot)
    is_named = len(names) <= NAMED
    canvas = figure(4.6 * len(panels) + (2.0 if is_named else 0.4), 5.6)
    grid = canvas.subplots(2, len(panels), sharex=True, squeeze=False)
    for column, (kind, both) in zip(grid.T, panels.items(), strict=True):
        for axes, symbol, unit, lines in zip(column, "qv", SYMBOLS[kind], both, strict=False):
            for line in lines:
                _draw(axes, t, line)
            axes.set_ylabel(f"{symbol} [{unit}]")
            axes.axis("on" if lines else "off")  # all motors may be prismatic, or all revolute
        column[0].set_title(TITLES[kind])
        lowest = column[1 if both[1] else 0]
        lowest.tick_params(labelbottom=True)
        lowest.set(xlabel="t [s]", xlim=(t[0], t[-1]) if t[-1] > t[0] else None)
    if is_named:
        name_joints(canvas, names)
    canvas.align_ylabels()
    shown = "" if len(q) <= FEW else "\nlines: medians; bands: central 50 % and 90 % of the motions"
    canvas.suptitle(f"{robot.name}: {len(q)} {'motion' if len(q) == 1 else 'motions'}{shown}", fontsize=10)
    return canvas


def _panels(robot: Robot, q: Array, v: Array) -> dict[str, tuple[list[JointBand], list[JointBand]]]:
    """Return the lines of q and of v by kind of motion."""
    panels: dict[str, tuple[list[JointBand], list[JointBand]]] = {kind: ([], []) for kind in (SLIDES, TURNS)}
    for each in zip(*(coordinates(robot, one) for one in q), strict=True):
        k, kind, _ = each[0]
        panels[kind][0].append(JointBand(k, np.array([values for _, _, values in each])))
    for place, (k, kind) in enumerate(directions(robot, "v")):
        panels[kind][1].append(JointBand(k, v[..., place]))
    return {kind: both for kind, both in panels.items() if any(both)}


def _draw(axes: Axes, t: Array, line: JointBand) -> None:
    colour, values = COLOURS[line.joint % len(COLOURS)], np.where(np.isfinite(line.values), line.values, np.nan)
    style: dict[str, Any] = {"color": colour, "linestyle": dash(line.joint)}
    if len(values) <= FEW:
        axes.plot(t, values.T, **style, linewidth=1.3 if len(values) == 1 else 0.8)
        return
    kept = values[np.isfinite(values).all(axis=1)]
    if not len(kept):
        return
    for low, high, alpha in BANDS:
        axes.fill_between(t, *np.percentile(kept, (low, high), axis=0), color=colour, alpha=alpha, linewidth=0.0)
    axes.plot(t, np.median(kept, axis=0), **style)

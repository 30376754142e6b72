"""mata2002: V. Mata, S. Provenzano, F. Valero, J.I. Cuadrado, "Serial-robot dynamics algorithms for moderately large
numbers of joints", Mechanism and Machine Theory 37 (2002) 739–755.

The paper's algorithms as written are the formulation "mata2002" (:mod:`appell.papers.mata2002_equations`). Tables 1 to
4 count operations (:mod:`appell.papers.mata2002_counts`). Table 5 and figure 2 solve one badly conditioned
arm in single precision. Tables 6 and 7 simulate a PUMA along a straight line (:mod:`appell.papers.mata2002_line`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.loading import load
from appell.papers import mata2002_counts as counts
from appell.papers import mata2002_line as section52
from appell.papers.mata2002_equations import equations
from appell.papers.paper import COUNTED, Maker, conclusions, less
from appell.recursion.vector_form import central
from appell.reports.report import Report
from appell.reports.rules import Holds, Within
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure, matplotlib
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


PAPER = counts.PAPER
INDEX = PAPER.index


def report(tables: Sequence[str] | None = None) -> Report:
    """Return the tables "equations", "1" to "7" and "data", or the requested ones, with their figures.

    Examples
    --------
    >>> [table.title[:8] for table in report(tables=["5"]).tables]
    ['Table 5.']
    """
    makers: dict[str, tuple[Maker, ...]] = {
        "equations": (equations,),
        "1": (counts.table1,),
        "2": (counts.table2,),
        "3": (counts.table3,),
        "4": (counts.table4,),
        "5": (table5,),
        "6": (section52.table6, section52.readings_table),
        "7": (section52.table7,),
    }
    figures = {"5": FIGURES, "6": section52.FIGURES}
    return PAPER.report(makers, tables, conclude, used, computed, figures)


def used() -> dict[str, ArrayLike]:
    """Return the data of our runs, named as in the data file."""
    robot, step = load("two-link"), DEGREES[1] - DEGREES[0]
    masses = np.array([body.inertia.mass for body in robot.model.bodies])
    centres, tensors = (np.array(x) for x in zip(*(central(body.inertia) for body in robot.model.bodies), strict=True))
    return {
        "5.1: length l₁ to the second joint [m]": np.linalg.norm(robot.model.bodies[1].joint.placement.position),
        "5.1: inertias of the plates [kg·m²]": np.diagonal(tensors, axis1=1, axis2=2),
        "5.1: masses m₁, m₂ [kg]": masses,
        "5.1: gravity [m/s²]": robot.model.gravity,
        "5.1: mass centres [m]": centres.ravel(),
        "5.1: steps of joint 2, their size, a complete turn [°]": [len(DEGREES), step, DEGREES[-1] + step],
        **section52.used(),
    }


def computed() -> dict[str, ArrayLike]:
    """Return our accelerations where there are references."""
    exact = accelerations("ABA", np.float64)
    return dict(zip(PAPER.references, exact[[0, 45, 60]], strict=True))


def conclude() -> Table:
    """Return the paper's conclusions on the comparison of algorithms, and whether they hold in our results."""
    exact = accelerations("ABA", np.float64)
    labels = {"ABA": "articulated bodies", "GA": "Gibbs–Appell", "CRBA": "composite bodies"}
    errors = {key: (label, _precision(accelerations(key, np.float32), exact)) for key, label in labels.items()}
    precision = (
        less("Articulated bodies have smaller errors in single precision (table 5)", errors["ABA"], errors["GA"]),
        less("Gibbs–Appell has smaller errors than composite bodies (table 5)", errors["GA"], errors["CRBA"]),
    )
    notes = PAPER.texts["conclusions"]["notes"]
    rows = (*counts.statements(), *precision, *_simulation())
    return conclusions(rows, (COUNTED, *(note.format(arms=_special_arms()) for note in notes)))


def _special_arms() -> str:
    """Return the counts of the inertia matrix of arms of the catalogue, by both methods."""
    robots = (load(name, friction=False, armature=False) for name in ("puma560", "puma600", "stanford", "rx90"))
    counts = ((r.name, *(r.operations("mass_matrix", form) for form in ("mata2002", "composite"))) for r in robots)
    return "; ".join(f"{name} {first} against {second}" for name, first, second in counts)


def _simulation() -> list[tuple[Cell, ...]]:
    """Return the paper's conclusions on table 7."""
    table = section52.table7()
    gibbs, composite, articulated = (table.row(method) for method in ("GA", "CRBA", "ABA"))
    same = Holds(section52.TOLERANCE, "the greatest difference of the joints [rad]")
    apart = max(abs(float(other["from GA [rad]"] or 0.0)) for other in (composite, articulated))
    rows: list[tuple[Cell, ...]] = [
        ("The three methods simulate the same motion (section 5.2)", f"{apart:.0e} rad apart", same(apart))
    ]
    first = ("1.05 times Gibbs–Appell [ns]", (1.05 * float(gibbs["native ns"] or 0.0),))
    for name, row in (("composite bodies", composite), ("articulated bodies", articulated)):
        claim = f"Gibbs–Appell takes less time than {name}, by 5 % or more (table 7)"
        rows.append(less(claim, first, (f"{name} [ns]", (float(row["native ns"] or 0.0),))))
    return rows


# Table 5 and figure 2: single against double precision

DEGREES = np.arange(0.0, 360.0, 2.0)
"""Angle of the second link; the first is along x. Both are at rest without torques."""

_RULE5 = Within(0.1, "maximum and mean both; rounding errors that depend on the order of additions")


def accelerations(method: str, kind: type[np.floating[Any]]) -> Array:
    """Return the accelerations (180, 2) of the two-link arm by a method, computed throughout in one type.

    As in the paper, CRBA and GA solve M·a = −bias by Gauss–Jordan elimination. GA takes M and bias from the recursions
    of mata2002, ABA is appell's articulated form, CRBA keeps composite bodies by mass centre as Walker and Orin did,
    "CRBA about joints" about joint origins. Constants that a program would precompute are rounded once.

    Examples
    --------
    >>> error = accelerations("ABA", np.float32)[:, 0] - accelerations("ABA", np.float64)[:, 0]
    >>> bool(abs(error).max() < 1e-3)
    True
    """
    q2 = np.deg2rad(DEGREES).astype(kind)
    rest = np.zeros_like(q2)
    q, still = (rest, q2), (rest, rest)
    robot = load("two-link")
    if method == "ABA":
        return np.stack(robot.tape("forward_dynamics", formulation="articulated").run(q, still, still), axis=-1)
    bias = robot.tape("bias", formulation="gibbs").run(q, still)
    if method == "CRBA":
        entries = _walker_orin(q2, kind)
    else:
        form = "gibbs" if method == "GA" else "composite"
        entries = [np.full_like(q2, x) for x in robot.tape("mass_matrix", formulation=form).run(q)]
    return _gauss_jordan(entries, [-x for x in bias])


def _walker_orin(q2: Array, kind: Callable[[float], Any]) -> list[Array]:
    """Return M of the two plates, row by row, from composite bodies kept by mass, mass centre and central inertia."""
    one, two = load("two-link").model.bodies
    ((c1, *_), tensor1), ((c2, *_), tensor2) = central(one.inertia), central(two.inertia)
    numbers = one.inertia.mass, two.inertia.mass, two.joint.placement.position[0], c1, c2, tensor1[2][2], tensor2[2][2]
    m1, m2, l1, c1, c2, i1, i2 = map(kind, numbers)
    c, s = np.cos(q2), np.sin(q2)
    # the outer body alone, pushed by joint 2: moment about joint 2, then about joint 1
    outer = np.full_like(q2, i2 + m2 * c2 * c2)
    coupled = outer + l1 * (c * (m2 * c2))
    # both bodies as one, in frame 1: common centre (x, y), inertia about it, then about joint 1
    x2, y2 = l1 + c * c2, s * c2
    mass = m1 + m2
    x, y = (m1 * c1 + m2 * x2) / mass, m2 * y2 / mass
    about = i1 + m1 * ((c1 - x) ** 2 + y**2) + i2 + m2 * ((x2 - x) ** 2 + (y2 - y) ** 2)
    return [about + mass * (x * x + y * y), coupled, coupled, outer]


def _gauss_jordan(entries: Sequence[Array], right: Sequence[Array]) -> Array:
    """Return x (N, 2) of N systems of two equations; pivots in order, which is safe for a positive definite matrix."""
    (a, b, c, d), (x, y) = entries, right
    b, x = b / a, x / a
    d, y = d - c * b, y - c * x
    y = y / d
    return np.stack((x - b * y, y), axis=-1)


def _precision(single: Array, double: Array) -> tuple[float, float]:
    error = np.abs(single[:, 0].astype(float) - double[:, 0])
    return float(error.max()), float(error.mean())


def table5() -> Table:
    """Return the error of single precision in joint 1's acceleration, by method."""
    exact, condition = accelerations("ABA", np.float64), _condition()
    rows: list[tuple[Cell, ...]] = []
    for method, *printed in PAPER.results["table5"]:
        ours = _precision(accelerations(method, np.float32), exact)
        remark = ", composites by mass centre" if method == "CRBA" else ""
        rows.append((method + remark, *printed, *ours, _RULE5(*zip(printed[:2], ours, strict=True))))
    arm = load("two-link")
    state = np.stack([np.zeros_like(DEGREES), np.deg2rad(DEGREES)], axis=-1).astype(np.float32)
    still = np.zeros_like(state)
    compiled = _precision(arm.forward_dynamics(state, still, still), exact)
    rows.append(("appell, compiled in float32", None, None, None, None, *compiled, None))
    return PAPER.table("5", rows, least=condition.min(), most=condition.max())


def _condition() -> Array:
    states = np.stack([np.zeros_like(DEGREES), np.deg2rad(DEGREES)], axis=-1)
    condition: Array = np.linalg.cond(load("two-link").mass_matrix(states))
    return condition


def _draw_figure2() -> Drawn:
    drawn = figure(7.0, 5.8)
    axes = drawn.subplots(2, 2, sharex=True).ravel()
    exact = accelerations("ABA", np.float64)[:, 0]
    for ax, method in zip(axes, ("ABA", "CRBA", "GA"), strict=False):
        ax.plot(DEGREES, accelerations(method, np.float32)[:, 0], color=COLOURS[1], label="single precision", lw=0.9)
        ax.plot(DEGREES, exact, color=COLOURS[0], linestyle=(0, (4, 2)), label="double precision", lw=1.1)
        ax.set(title=method, ylabel="acceleration of joint 1 [rad/s²]", ylim=(-493.3, -490.3))
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    axes[3].plot(DEGREES, _condition() / 1e4, color=COLOURS[2])
    axes[3].set(title="Mass matrix", ylabel="condition number [10⁴]", ylim=(0, 6))
    for ax in axes[2:]:
        ax.set(xlabel="angle of joint 2 [deg]", xticks=range(0, 361, 60), xlim=(0, 360))
    return drawn


def _draw_figure1() -> Drawn:
    """Draw the two plates at an angle of joint 2, to scale."""
    robot, q2 = load("two-link"), np.deg2rad(30.0)
    elbow = robot.pose([0.0, q2], "joint2")[:2, 3]
    drawn = figure(6.4, 3.2)
    axes = drawn.subplots()
    Rectangle, rotated = matplotlib(".patches").Rectangle, matplotlib(".transforms").Affine2D
    length, _, _ = central(robot.model.bodies[1].inertia)[0]
    ends = (np.zeros(2), 0.0, elbow[0]), (elbow, q2, 2.0 * length)
    for k, (corner, angle, reach) in enumerate(ends):
        turn = rotated().rotate(angle).translate(*corner) + axes.transData
        name = f"link {k + 1}, {robot.model.bodies[k].inertia.mass:g} kg"
        axes.add_patch(Rectangle((0.0, -0.01), reach, 0.02, transform=turn, color=COLOURS[1 - k], label=name))
    axes.annotate("g", (0.3, 0.55), (0.3, 0.85), arrowprops={"arrowstyle": "->"}, ha="center")
    axes.set(xlim=(-0.1, 1.95), ylim=(-0.1, 1.15), xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.legend(loc="lower right")
    return drawn


FIGURES = PAPER.figures({"figure1": _draw_figure1, "figure2": _draw_figure2})

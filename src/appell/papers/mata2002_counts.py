"""Tables 1 to 4 of mata2002: operation counts, as formulas in the number of joints and for n = 6.

Counting rule of the paper: products with 0 and ±1, operations on constants, signs, sines and cosines are free. "As the
paper counts" is the named algorithm on Denavit–Hartenberg frames. "Compiled" is the program that appell runs, on its
own frames and moments (:mod:`appell.model.lean`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from appell.loading import load, random_chain
from appell.papers.formula import Formula, fit
from appell.recursion import forward
from appell.reports.rules import Counts, DifferentRules, Misprint, NotComparable
from appell.reports.table import Cell, Table
from appell.reports.verdict import Verdict
from appell.robot.robot import Robot
from appell.trace.tape import Count, Port, count, trace

JOINTS = range(3, 11)
SEED = 4
COLUMNS = (
    "operations",
    "paper",
    "paper n=6",
    "ours, as the paper counts",
    "ours n=6",
    "ours, compiled",
    "compiled n=6",
    "verdict",
)
SIDES = ("products", "sums")

Counted = dict[int, Count]
Pair = tuple[Formula, Formula]
"""Products and sums."""


@cache
def general_arm(n: int, vertical: bool = False) -> Robot:
    """Return an arm of n equal general links; with `vertical`, its first axis is along gravity.

    No parameter of the link is zero or one. The links are equal, so that signs and rounding are the same in each:
    counts depend on whether a sum of constants vanishes exactly. Of six links tried, this one has neither the lowest
    nor the highest count.

    >>> general_arm(6).nv
    6
    """
    link = random_chain(1, np.random.default_rng(SEED)).model
    first = random_chain(1, np.random.default_rng(SEED), vertical=vertical).model.bodies[0]
    bodies = [
        replace(body, name=f"link{i + 1}", parent=i - 1, joint=replace(body.joint, name=f"joint{i + 1}"))
        for i, body in enumerate([first, *link.bodies * (n - 1)])
    ]
    return load(replace(link, name=f"arm{n}", bodies=tuple(bodies), frames=()))


@cache
def counted(verb: str, formulation: str | None = None, vertical: bool = False) -> Counted:
    """Return a verb's operation counts for n = 3 … 10.

    >>> counted("inverse_dynamics", "gibbs")[6].multiplications <= 468
    True
    """
    return {n: general_arm(n, vertical).operations(verb, formulation) for n in JOINTS}


def formula(counts: Counted, side: int) -> Formula | None:
    """Return the exact polynomial of the products (side 0) or the sums (side 1), None when there is none."""
    return fit({n: c[:2][side] for n, c in counts.items()})


def _cells(counts: Counted | None, side: int) -> tuple[Cell, Cell]:
    if counts is None:
        return None, None
    exact = formula(counts, side)
    return ("no polynomial" if exact is None else str(exact)), counts[6][:2][side]


def compared(
    what: str,
    paper: Pair | None,
    ours: Counted | None,
    compiled: Counted | None,
    verdicts: tuple[Verdict | None, Verdict | None] = (None, None),
) -> list[Any]:
    """Return two rows, products and sums: the paper's counts, ours by its rule, and those of the compiled program.

    The verdict is on the named algorithm, not on the compiled program, whose algorithm differs. A row without counts of
    the paper has no verdict. A given verdict replaces the computed one.
    """
    rows = []
    for side, name in enumerate(SIDES):
        mine, built = _cells(ours, side), _cells(compiled, side)
        theirs = (None, None) if paper is None else (str(paper[side]), paper[side](6))
        verdict = verdicts[side]
        if paper is not None and verdict is None:
            verdict = judged(paper, (None, None) if ours is None else (formula(ours, 0), formula(ours, 1)), side)
        rows.append((f"{what}: {name}", *theirs, *mine, *built, verdict))
    return rows


def judged(paper: Pair, ours: tuple[Formula | None, Formula | None], side: int) -> Verdict:
    """Return the verdict on the products (side 0) or the sums (side 1) for n = 6.

    >>> judged((Formula.of("-101", "96"), Formula.of("0", "1")), (Formula.of("-115", "96"), Formula.of("0", "1")), 0)
    '14 fewer'
    """
    mine = [exact for exact in ours if exact is not None]
    if len(mine) < len(SIDES):
        return NOT_OURS()
    degrees = [max(len(a.coefficients), len(b.coefficients)) - 1 for a, b in zip(paper, mine, strict=True)]
    leading = [tuple(one[degree] for one, degree in zip(pair, degrees, strict=True)) for pair in (paper, mine)]
    return COUNTS((leading[0], paper[side](6)), (leading[1], mine[side](6)))


COUNTS = Counts()
CHOLESKY = Misprint("the decomposition has (n³ − n)/6 additions, not as many as products")
TOTAL = Misprint("the total includes the sums of the decomposition, which are misprinted")
QUOTED = DifferentRules("a count of other authors, quoted without its formula and its counting rule")
NOT_OURS = NotComparable("the algorithm is not implemented; the compiled program is another algorithm")


def table1() -> tuple[Table, ...]:
    """Return table 1, inverse dynamics, and published counts for arms of the catalogue."""
    compiled = counted("inverse_dynamics")
    this = (Formula.of("-101", "96"), Formula.of("-100", "84"))
    rows = [
        *compared("this work, G-A", this, counted("inverse_dynamics", "mata2002"), compiled),
        *compared("– moments about joint origins", None, counted("inverse_dynamics", "gibbs"), compiled),
        *compared(
            "– first axis vertical",
            None,
            counted("inverse_dynamics", "mata2002", True),
            counted("inverse_dynamics", None, True),
        ),
        *compared(
            "Luh, Walker, Paul, N-E",
            (Formula.of("-48", "150"), Formula.of("-48", "131")),
            counted("inverse_dynamics", "newton-euler"),
            compiled,
        ),
        *compared("Angeles et al., Kane", (Formula.of("-109", "105"), Formula.of("-105", "90")), None, compiled),
        *compared("Balafoutis and Patel, N-E", (Formula.of("-69", "93"), Formula.of("-66", "81")), None, compiled),
    ]
    notes = (
        f"Formulas are exact for n = {JOINTS[0]} … {JOINTS[-1]}. The rows with a dash are not in the paper.",
        "This work is section 4.1 as written, with mass centres (formulation mata2002). About joint origins, with no "
        "acceleration of a mass centre, it is appell's own form (formulation gibbs).",
        "Our Newton–Euler count is a trace with folded constants, not a repetition of the published hand count.",
    )
    return Table("Table 1. Inverse dynamics of a general arm of n joints", COLUMNS, tuple(rows), notes), _others()


PUBLISHED = {"puma560": ("PUMA 560", 301, 240), "rx90": ("RX-90", 287, 226), "stanford": ("Stanford arm", 262, 211)}


def _others() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, (shown, products, sums) in PUBLISHED.items():
        robot = load(name, friction=False, armature=False)
        general = with_general_links(robot)
        built = general.operations("inverse_dynamics")
        rows.append(
            (
                shown,
                f"{products} M, {sums} A",
                str(general.operations("inverse_dynamics", "gibbs")),
                str(built),
                str(robot.operations("inverse_dynamics")),
                OPENSYMORO(),
            )
        )
    return Table(
        "Beside table 1. Inverse dynamics of real arms, against OpenSYMORO",
        (
            "arm",
            "OpenSYMORO, base parameters",
            "ours, as the paper counts",
            "ours, compiled",
            "compiled, the file's inertias",
            "verdict",
        ),
        tuple(rows),
        (
            "The arm's own geometry with general links: no inertial parameter is zero. The catalogue's files have "
            "many zeros, which a program for one robot skips.",
        ),
    )


OPENSYMORO = DifferentRules("the publication does not list which inertial parameters are zero; ours has none")


def with_general_links(robot: Robot) -> Robot:
    """Return a robot of the same geometry with general inertias of all links."""
    links = general_arm(robot.nv).model.bodies
    bodies = (replace(b, inertia=link.inertia) for b, link in zip(robot.model.bodies, links, strict=True))
    return robot.with_model(replace(robot.model, bodies=tuple(bodies)))


def table2() -> tuple[Table, ...]:
    """Return table 2, the inertia matrix."""
    compiled = counted("mass_matrix")
    rows = [
        *compared(
            "this work, GA",
            (Formula.of("-49", "19.5", "11.5"), Formula.of("-69", "31.5", "8.5")),
            counted("mass_matrix", "mata2002"),
            compiled,
        ),
        *compared("– by another reference of the moments", None, counted("mass_matrix", "gibbs"), compiled),
        *compared(
            "Walker and Orin, CRBA",
            (Formula.of("-27", "56", "12"), Formula.of("-56", "67", "7")),
            counted("mass_matrix", "composite"),
            compiled,
        ),
        *compared(
            "Angeles and Ma, NOC",
            (Formula.of("8", "-21", "17", "1"), Formula.of("5", "-16", "14", "1")),
            None,
            compiled,
        ),
    ]
    notes = ("A vertical first axis changes nothing here: gravity does not enter.",)
    return (Table("Table 2. Inertia matrix of a general arm of n joints", COLUMNS, tuple(rows), notes),)


def table3() -> tuple[Table, ...]:
    """Return table 3, forward dynamics part by part."""
    cubic = Formula.of("0", "1/3", "1/2", "1/6")
    rows = [
        *compared(
            "D",
            (Formula.of("-49", "19.5", "11.5"), Formula.of("-69", "31.5", "8.5")),
            counted("mass_matrix", "mata2002"),
            counted("mass_matrix"),
        ),
        *compared(
            "bias vector",
            (Formula.of("-108", "96"), Formula.of("-105", "83")),
            counted("bias", "mata2002"),
            counted("bias"),
        ),
        *compared("– moments about joint origins", None, counted("bias", "gibbs"), counted("bias")),
        *compared("Cholesky decomposition", (cubic, cubic), _dense(_decompose), None, (None, CHOLESKY())),
        *compared(
            "linear system solving", (Formula.of("0", "0", "1"), Formula.of("0", "-1", "1")), _dense(_solve), None
        ),
        *compared(
            "total",
            (Formula.of("-157", "695/6", "13", "1/6"), Formula.of("-174", "683/6", "10", "1/6")),
            counted("forward_dynamics", "mata2002"),
            counted("forward_dynamics"),
            (None, TOTAL()),
        ),
        *compared(
            "– moments about joint origins, total",
            None,
            counted("forward_dynamics", "gibbs"),
            counted("forward_dynamics"),
        ),
    ]
    rows[:2] = [(*row[:-1], None) for row in rows[:2]]
    notes = (
        "D repeats table 2 and has its verdict there. The printed total of the sums includes the misprint.",
        "The decomposition is M = LᵀDL, which has n divisions and no root; divisions count as products.",
        "The total is counted on the whole program: it shares terms between D and bias, and has the n sums of τ − "
        "bias that the paper omits.",
    )
    return (Table("Table 3. Forward dynamics of a general arm of n joints, in parts", COLUMNS, tuple(rows), notes),)


def table4() -> tuple[Table, ...]:
    """Return table 4, forward dynamics for six joints by method."""
    robot = general_arm(6)
    built = robot.operations("forward_dynamics")[:2]
    paper = (
        ("Walker and Orin, CRBA", 1627, 1261, "composite"),
        ("Featherstone, ABA", 1533, 1415, "articulated"),
        ("Angeles and Ma, NOC", 1353, 1165, None),
        ("this work, GA", 1042, 905, "mata2002"),
    )
    rows: list[tuple[Cell, ...]] = []
    for what, products, sums, formulation in paper:
        ours = robot.operations("forward_dynamics", formulation)[:2] if formulation else None
        verdict = NOT_OURS() if ours is None else None if formulation == "mata2002" else QUOTED()
        for side, theirs in enumerate((products, sums)):
            mine = ours[side] if ours else None
            rows.append((f"{what}: {SIDES[side]}", theirs, mine, built[side], verdict))
    notes = (
        "This work's count is the total of table 3 and has its verdict there.",
        "The compiled program is that of whichever method counts fewest on the arm at hand.",
    )
    columns = ("operations", "paper", "ours, as the paper counts", "ours, compiled", "verdict")
    return (Table("Table 4. Forward dynamics of a general arm of six joints", columns, tuple(rows), notes),)


def _dense(program: Callable[[int, Any, Any], Any]) -> Counted:
    """Return the counts of a program of a full symmetric matrix M and a vector b of n entries."""

    def one(n: int) -> Count:
        def traced(matrix: Any, b: Any) -> Any:
            return program(n, tuple(tuple(matrix[max(i, j) * n + min(i, j)] for j in range(n)) for i in range(n)), b)

        size = n * (n + 1) // 2 if program is _decompose else n
        return count(trace("dense", traced, [Port("M", (n, n)), Port("b", (n,))], [Port("x", (size,))]))

    return {n: one(n) for n in JOINTS}


def _decompose(n: int, matrix: Any, b: Any) -> Any:
    lower, inverse = forward.factorise(matrix, list(range(-1, n - 1)))
    return [[row[j] for j in range(k)] for k, row in enumerate(lower)], inverse


def _solve(n: int, matrix: Any, b: Any) -> Any:
    lower = [dict(enumerate(row[:k])) for k, row in enumerate(matrix)]
    return forward.solve_factorised(lower, [row[k] for k, row in enumerate(matrix)], list(range(-1, n - 1)), b)

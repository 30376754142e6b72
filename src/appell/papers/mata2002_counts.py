"""Tables 1 to 4 of mata2002: operation counts, as formulas in the number of joints and for n = 6.

Counting rule of the paper: products with 0 and ±1, operations on constants, signs, sines and cosines are free. "As the
paper counts" is the named algorithm on Denavit–Hartenberg frames. "Compiled" is the program that appell runs, on its
own frames and moments (:mod:`appell.model.lean`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from appell.loading import load, random_chain
from appell.papers.formula import Formula, fit
from appell.papers.paper import Numbers, less, read
from appell.recursion import forward
from appell.reports.rules import Counts, DifferentRules, Holds, Misprint, NotComparable
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
PAPER = read("mata2002")


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


def pair(products: Sequence[str], sums: Sequence[str]) -> Pair:
    """Return the formulas of a data file."""
    return Formula.of(*products), Formula.of(*sums)


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
        theirs, verdict = list[Cell]([None, None]), verdicts[side]
        if paper is not None:
            theirs = [str(paper[side]), paper[side](6)]
            mine = [formula(ours, k) if ours else None for k in range(len(SIDES))]
            verdict = verdict or judged(paper, mine, side)
        rows.append((f"{what}: {name}", *theirs, *_cells(ours, side), *_cells(compiled, side), verdict))
    return rows


def judged(paper: Pair, ours: Sequence[Formula | None], side: int) -> Verdict:
    """Return the verdict on the products (side 0) or the sums (side 1).

    >>> judged((Formula.of("-101", "96"), Formula.of("0", "1")), (Formula.of("-115", "96"), Formula.of("0", "1")), 0)
    '14 fewer'
    """
    mine = [exact for exact in ours if exact is not None]
    if len(mine) < len(SIDES):
        return NOT_OURS()
    degrees = [max(len(a.coefficients), len(b.coefficients)) - 1 for a, b in zip(paper, mine, strict=True)]
    numbers = [
        (
            [float(one[degree]) for one, degree in zip(formulas, degrees, strict=True)],
            [formulas[side](n) for n in JOINTS],
        )
        for formulas in (paper, mine)
    ]
    return COUNTS(*numbers)


COUNTS = Counts()
CHOLESKY = Misprint("the decomposition has (n³ − n)/6 additions, not as many as products")
TOTAL = Misprint("the total includes the sums of the decomposition, which are misprinted")
QUOTED = DifferentRules("a count of other authors, quoted without its formula and its counting rule")
NOT_OURS = NotComparable("the algorithm is not implemented; the compiled program is another algorithm")
OPENSYMORO = DifferentRules("the publication does not list which inertial parameters are zero; ours has none")
_GIVEN = {"Cholesky decomposition": (None, CHOLESKY()), "total": (None, TOTAL())}


def _counts(verb: str, formulation: str) -> Counted | None:
    if verb in _DENSE:
        return _dense(verb)
    name, _, rest = formulation.partition(", ")
    return counted(verb, name, bool(rest)) if name else None


def _table(number: int) -> Table:
    rows: list[Any] = []
    for what, verb, formulation, *printed in PAPER.results[f"table{number}"]:
        built = None if verb in _DENSE else counted(verb, None, formulation.endswith("vertical"))
        paper = pair(*printed) if printed else None
        both = compared(what, paper, _counts(verb, formulation), built, _GIVEN.get(what, (None, None)))
        rows += [(*row[:-1], None) for row in both] if what == "D" else both  # judged in table 2
    return PAPER.table(str(number), rows, COLUMNS, first=JOINTS[0], last=JOINTS[-1])


def table1() -> tuple[Table, ...]:
    """Return table 1, inverse dynamics, and published counts for arms of the catalogue."""
    return _table(1), _others()


def _others() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for shown, name, products, sums in PAPER.results["published"]:
        robot = load(name, friction=False, armature=False)
        general = with_general_links(robot)
        counts = (
            general.operations("inverse_dynamics", "gibbs"),
            *(r.operations("inverse_dynamics") for r in (general, robot)),
        )
        rows.append((shown, f"{products} M, {sums} A", *map(str, counts), OPENSYMORO()))
    return PAPER.table("others", rows)


def with_general_links(robot: Robot) -> Robot:
    """Return a robot of the same geometry with general inertias of all links."""
    links = general_arm(robot.nv).model.bodies
    bodies = (replace(b, inertia=link.inertia) for b, link in zip(robot.model.bodies, links, strict=True))
    return robot.with_model(replace(robot.model, bodies=tuple(bodies)))


def table2() -> tuple[Table, ...]:
    """Return table 2, the inertia matrix."""
    return (_table(2),)


def table3() -> tuple[Table, ...]:
    """Return table 3, forward dynamics part by part."""
    return (_table(3),)


def table4() -> tuple[Table, ...]:
    """Return table 4, forward dynamics for six joints by method."""
    robot = general_arm(6)
    built = robot.operations("forward_dynamics")[:2]
    rows: list[tuple[Cell, ...]] = []
    for what, products, sums, formulation in PAPER.results["table4"]:
        ours = robot.operations("forward_dynamics", formulation)[:2] if formulation else None
        verdict = NOT_OURS() if ours is None else None if formulation == "mata2002" else QUOTED()
        for side, theirs in enumerate((products, sums)):
            mine = ours[side] if ours else None
            rows.append((f"{what}: {SIDES[side]}", theirs, mine, built[side], verdict))
    return (PAPER.table("4", rows),)


def statements() -> list[tuple[Cell, ...]]:
    """Return the statements of the paper on operation counts, products and sums."""
    arm = general_arm(6)

    def of(verb: str, formulation: str, label: str) -> Numbers:
        return label, arm.operations(verb, formulation)[:2]

    rows = [
        less(
            "Inverse dynamics takes fewer operations than by Newton–Euler (table 1)",
            of("inverse_dynamics", "mata2002", "Gibbs–Appell, tensors"),
            of("inverse_dynamics", "newton-euler", "Newton–Euler"),
        ),
        _comparable(),
        less(
            "The inertia matrix takes fewer operations than by composite bodies (table 2)",
            of("mass_matrix", "mata2002", "Gibbs–Appell"),
            of("mass_matrix", "composite", "composite bodies"),
        ),
    ]
    for label, other, against in (
        ("composite bodies", "composite", "with composite"),
        ("articulated bodies", "articulated", "by articulated"),
    ):
        what = f"Forward dynamics takes fewer operations than {against} bodies (table 4)"
        ours = of("forward_dynamics", "mata2002", "Gibbs–Appell")
        rows.append(less(what, ours, of("forward_dynamics", other, label)))
    return rows


def _comparable() -> tuple[Cell, ...]:
    """Return the conclusion on the most efficient of the printed algorithms, Newton–Euler in tensors."""
    printed = {row[0]: pair(*row[3:]) for row in PAPER.results["table1"] if len(row) > 3}
    work, best = printed["this work, G-A"], printed["Balafoutis and Patel, N-E"]
    from_n = [next(n for n in range(1, 100) if b(n) < w(n)) for w, b in zip(work, best, strict=True)]
    ours = [formula(counted("inverse_dynamics", "mata2002"), side) for side in range(len(SIDES))]
    more = max(sum(x(n) if x else np.inf for x in ours) / sum(x(n) for x in best) - 1.0 for n in range(3, 101))
    return (
        "Inverse dynamics takes operations comparable with the most efficient algorithms known (table 1)",
        f"ours at most {100.0 * more:.1f} % more than Balafoutis and Patel print, up to n = 100; of the printed counts "
        f"theirs have fewer products from n = {from_n[0]} on, fewer sums from n = {from_n[1]} on",
        Holds(0.05, "the excess over the fewest printed operations, relative, for n = 3 … 100,")(more),
    )


def _dense(name: str) -> Counted:
    """Return the counts of a program of a full symmetric matrix M and a vector b of n entries."""
    program = _DENSE[name]

    def one(n: int) -> Count:
        def traced(matrix: Any, b: Any) -> Any:
            return program(n, tuple(tuple(matrix[max(i, j) * n + min(i, j)] for j in range(n)) for i in range(n)), b)

        size = n * (n + 1) // 2 if name == "decompose" else n
        return count(trace("dense", traced, [Port("M", (n, n)), Port("b", (n,))], [Port("x", (size,))]))

    return {n: one(n) for n in JOINTS}


def _decompose(n: int, matrix: Any, b: Any) -> Any:
    lower, inverse = forward.factorise(matrix, list(range(-1, n - 1)))
    return [[row[j] for j in range(k)] for k, row in enumerate(lower)], inverse


def _solve(n: int, matrix: Any, b: Any) -> Any:
    lower = [dict(enumerate(row[:k])) for k, row in enumerate(matrix)]
    return forward.solve_factorised(lower, [row[k] for k, row in enumerate(matrix)], list(range(-1, n - 1)), b)


_DENSE: dict[str, Callable[[int, Any, Any], Any]] = {"decompose": _decompose, "solve": _solve}

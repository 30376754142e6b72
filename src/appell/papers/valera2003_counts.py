"""Tables 2 and 3 of valera2003: operations of the vector form, step by step and in all.

Every step is counted on the program itself. One trace has the results of all steps; an operation belongs to the first
step whose results depend on it, and operations without effect on the torques are omitted.

The paper's products are those of rotation matrices, which step 1 forms with four products per joint. Its sums are those
of two rotations in turn, about x and about z: a vector takes four sums, where the formed matrix takes five. So products
are counted with :func:`formed` matrices, and sums with rotations :func:`in_turn`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, reduce
from typing import Any

from appell.model.model import Model
from appell.papers.formula import Formula
from appell.papers.mata2002_counts import COLUMNS, JOINTS, SIDES, compared, counted, formula, general_arm, judged
from appell.recursion import newton_euler
from appell.recursion.kinematics import Link, Scalars, links
from appell.recursion.vector_form import merged, motions, rotational
from appell.reports.rules import NotComparable
from appell.reports.table import Cell, Table
from appell.spatial.vector import matmul
from appell.trace.expr import Graph
from appell.trace.tape import Count, Port, Tape, count, flatten, lay, trace

ALGORITHMS: dict[str, tuple[str, str, str | None]] = {
    "Hollerbach 1980": ("Lagrange", "matrices", "lagrange"),
    "Luh et al. 1980": ("Newton–Euler", "vectors", "newton-euler"),
    "Angeles et al. 1989": ("Kane", "tensors", None),
    "Balafoutis and Patel 1991": ("Newton–Euler", "tensors", None),
    "Khalil and Kleinfinger 1987": ("Newton–Euler", "vectors, symbolic", None),
    "Lee and Chang 1986": ("Newton–Euler", "vectors, parallel", None),
    "this work": ("Gibbs–Appell", "vectors", "vector"),
}
"""Table 1, and the formulation of appell that is the same algorithm, where there is one."""
STEPS = {
    "1": ("rotations and positions", ("4", "0"), ("0", "0")),
    "2": ("velocities and accelerations, (9)–(12)", ("62", "46"), ("-75", "-61")),
    "3": ("derivatives of ω̇, (14)", ("0", "0"), ("0", "0")),
    "4": ("A, (16) and (17)", ("24", "18"), ("-23", "-18")),
    "5": ("B, (23)–(26)", ("31", "26"), ("-38", "-37")),
    "6": ("τ = A + B", ("0", "1"), ("0", "0")),
}
"""Table 2: description of a step, products and sums per joint, and constant terms."""
VECTOR = (Formula.of("-136", "121"), Formula.of("-116", "91"))
NEWTON_EULER = (Formula.of("-112", "121"), Formula.of("-82", "90"))
"""Table 3, products and sums."""
IN_PAULS = (Formula.of("-74", "133"), Formula.of("-71", "97"))
"""The same, of frames by Paul's convention (text below table 3)."""


def formed(link: Link) -> Link:
    """Return a link whose rotations are multiplied into one matrix, as step 1 has it."""
    return link._replace(rotations=(reduce(matmul, link.rotations),) if link.rotations else ())


def program(model: Model, turned: Callable[[Link], Link]) -> Callable[..., list[Any]]:
    """Return the merged vector form as a program that returns the results of all six steps."""

    def steps(q: Scalars, v: Scalars, a: Scalars) -> list[Any]:
        chain = [turned(link) for link in links(model, q)]
        moving = motions(model, chain, v, a)
        own = [rotational(body.inertia, motion) for body, motion in zip(model.bodies, moving, strict=True)]
        tau = merged(model, chain, moving, own)
        # ∂ω̇/∂q̈ of step 3 is the axis z; step 6 has no additions
        return [[link.rotations for link in chain], moving, (), own, tau, ()]

    return steps


def counts(model: Model, turned: Callable[[Link], Link]) -> list[Count]:
    """Return the operations of each step, without those that do not affect the torques.

    >>> [str(step) for step in counts(general_arm(3).model, formed)][3]
    '49 M, 36 A'
    """
    graph = Graph()
    results = program(model, turned)(*graph.inputs_like(model.nq, model.nv, model.nv))
    groups = [list(flatten(result)) for result in results]
    inputs = [Port("q", (model.nq,)), Port("v", (model.nv,)), Port("a", (model.nv,))]
    whole = lay("steps", graph, [x for group in groups for x in group], inputs, [])
    ends = iter(whole.results)
    needs = [_needed(whole, [next(ends) for _ in group]) for group in groups]
    left, done = needs[4], []
    for need in needs:
        done.append(count(_part(whole, need & left)))
        left = left - need
    return done


def _needed(tape: Tape, roots: Iterable[int]) -> frozenset[int]:
    """Return the indices of all steps of a tape on which some of its values depend."""
    seen: set[int] = set()
    open_ends = list(roots)
    while open_ends:
        place = open_ends.pop() - tape.n_inputs
        if place >= 0 and place not in seen:
            seen.add(place)
            open_ends += tape.steps[place].args
    return frozenset(seen)


def _part(tape: Tape, places: Iterable[int]) -> Tape:
    """Return some steps of a tape, for counting only."""
    return Tape(tape.name, tape.inputs, (), tuple(tape.steps[k] for k in sorted(places)), ())


def in_turn(link: Link) -> Link:
    """Return a link as it is: its rotations, each about one axis, are applied one after the other."""
    return link


@cache
def steps(turned: Callable[[Link], Link]) -> dict[int, list[Count]]:
    """Return the counts of the six steps for n = 3 … 10."""
    return {n: counts(general_arm(n).model, turned) for n in JOINTS}


def as_printed() -> dict[int, list[Count]]:
    """Return the counts of the six steps, products of formed matrices and sums of rotations in turn."""
    both = steps(formed), steps(in_turn)
    return {
        n: [Count(one.multiplications, other.additions) for one, other in zip(both[0][n], both[1][n], strict=True)]
        for n in JOINTS
    }


def total(rows: Iterable[Count]) -> Count:
    """Return the sum of counts."""
    every = list(rows)
    return Count(sum(row.multiplications for row in every), sum(row.additions for row in every))


def table1() -> Table:
    """Return the algorithms that the paper lists, and which formulation of appell each is."""
    rows: list[tuple[Cell, ...]] = []
    for authors, (principle, variables, formulation) in ALGORITHMS.items():
        program = None if formulation is None else str(counted("inverse_dynamics", formulation)[6])
        rows.append((authors, principle, variables, formulation, program))
    columns = ("authors", "principle", "variables", "formulation of appell", "its operations, n = 6")
    none = "the paper's table lists algorithms of other authors, without numbers."
    return Table("Table 1. Algorithms for inverse dynamics", columns, tuple(rows), unjudged=none)


def table2() -> Table:
    """Return the six steps, paper against ours."""
    ours = as_printed()
    rows: list[tuple[Cell, ...]] = []
    for k, (step, (what, slopes, constants)) in enumerate(STEPS.items()):
        paper = Formula.of(constants[0], slopes[0]), Formula.of(constants[1], slopes[1])
        own = {n: row[k] for n, row in ours.items()}
        mine = formula(own, 0), formula(own, 1)
        for side, name in enumerate(SIDES):
            theirs = paper[side]
            shown = str(theirs), theirs(6), str(mine[side]), own[6][:2][side]
            verdict = (
                judged(paper, mine, side) if theirs(6) or own[6][:2][side] else None
            )  # an empty step has no result
            rows.append((step, what, name, *shown, verdict))
    both = " or ".join(f"{name} {_sum(turned)}" for name, turned in (("formed", formed), ("in turn", in_turn)))
    notes = (
        "The paper's products are those of matrices formed in step 1, its sums those of two rotations in turn; "
        f"ours are counted so too. No one program takes both: it is {both} in all.",
        "α and β are one recursion. Step 6 then has no additions, where the paper counts n sums.",
        f"Formulas are exact for n = {JOINTS[0]} … {JOINTS[-1]}.",
    )
    columns = ("step", "what", "operations", "paper", "paper n=6", "ours", "ours n=6", "verdict")
    return Table("Table 2. The vector form step by step, n revolute joints", columns, tuple(rows), notes)


def _sum(turned: Callable[[Link], Link]) -> str:
    """Return the formulas of all six steps together."""
    all_steps = {n: total(rows) for n, rows in steps(turned).items()}
    return f"{formula(all_steps, 0)} M, {formula(all_steps, 1)} A"


PAUL = NotComparable("appell's recursions have a body's frame on its own joint, not on the next as Paul's convention")


def table3() -> Table:
    """Return the operation counts of the vector form and of Newton–Euler, paper against ours."""
    compiled = counted("inverse_dynamics")
    merged_counts = {n: total(rows) for n, rows in as_printed().items()}
    rows = [
        *compared("this work, G-A in vectors", VECTOR, merged_counts, compiled),
        *compared("– rotations in turn", None, counted("inverse_dynamics", "vector-merged"), None),
        *compared("– and α and β apart", None, counted("inverse_dynamics", "vector"), None),
        *compared("this work, Paul's convention", IN_PAULS, None, compiled, (PAUL(), PAUL())),
        *compared("Luh, Walker, Paul, N-E", NEWTON_EULER, newton_euler_counts(), compiled),
        *compared("– rotations in turn, N-E", None, counted("inverse_dynamics", "newton-euler"), None),
    ]
    notes = (
        "This work's counts are the sum of table 2: the paper's 91n sums are 90n and the n of step 6. With the "
        "recursions of α and β as one, the program takes the same operations as that of Newton and Euler.",
    )
    return Table("Table 3. Inverse dynamics, n revolute joints", COLUMNS, tuple(rows), notes)


@cache
def newton_euler_counts() -> dict[int, Count]:
    """Return the counts of Newton–Euler as the paper counts."""

    def one(n: int, turned: Callable[[Link], Link]) -> Count:
        model = general_arm(n).model

        def traced(q: Scalars, v: Scalars, a: Scalars) -> Scalars:
            return newton_euler.forces(model, [turned(link) for link in links(model, q)], v, a)

        inputs = [Port(name, (n,)) for name in ("q", "v", "a")]
        return count(trace("newton_euler", traced, inputs, [Port("tau", (n,))]))

    return {n: Count(one(n, formed).multiplications, one(n, in_turn).additions) for n in JOINTS}

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
from appell.papers.mata2002_counts import COLUMNS, JOINTS, SIDES, compared, counted, formula, general_arm, judged, pair
from appell.papers.paper import read
from appell.recursion import newton_euler
from appell.recursion.kinematics import Link, Scalars, links
from appell.recursion.vector_form import merged, motions, rotational
from appell.reports.rules import NotComparable
from appell.reports.table import Cell, Table
from appell.spatial.vector import matmul
from appell.trace.expr import Graph
from appell.trace.tape import Count, Port, Tape, count, flatten, lay, trace

PAPER = read("valera2003")
STEPS: dict[str, list[Any]] = PAPER.results["table2"]
"""Table 2: description of a step, products and sums per joint, and constant terms."""


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
    rows = tuple(
        (*known, name or None, str(counted("inverse_dynamics", name)[6]) if name else None)
        for *known, name in PAPER.results["table1"]
    )
    return PAPER.table("1", rows)


def table2() -> Table:
    """Return the six steps, paper against ours."""
    ours = as_printed()
    rows: list[tuple[Cell, ...]] = []
    for k, (step, (what, slopes, constants)) in enumerate(STEPS.items()):
        paper = pair(*zip(constants, slopes, strict=True))
        own = {n: row[k] for n, row in ours.items()}
        mine = formula(own, 0), formula(own, 1)
        for side, name in enumerate(SIDES):
            theirs = paper[side]
            shown = str(theirs), theirs(6), str(mine[side]), own[6][:2][side]
            is_empty = not (theirs(6) or own[6][:2][side])
            verdict = None if is_empty else judged(paper, mine, side)
            rows.append((step, what, name, *shown, verdict))
    both = " or ".join(f"{name} {_sum(turned)}" for name, turned in (("formed", formed), ("in turn", in_turn)))
    return PAPER.table("2", rows, both=both, first=JOINTS[0], last=JOINTS[-1])


def _sum(turned: Callable[[Link], Link]) -> str:
    """Return the formulas of all six steps together."""
    all_steps = {n: total(rows) for n, rows in steps(turned).items()}
    return f"{formula(all_steps, 0)} M, {formula(all_steps, 1)} A"


PAUL = NotComparable("appell's recursions have a body's frame on its own joint, not on the next as Paul's convention")


def table3() -> Table:
    """Return the operation counts of the vector form and of Newton–Euler, paper against ours."""
    compiled, printed = counted("inverse_dynamics"), PAPER.results["table3"]
    merged_counts = {n: total(rows) for n, rows in as_printed().items()}
    rows = [
        *compared("this work, G-A in vectors", pair(*printed["vector"]), merged_counts, compiled),
        *compared("– rotations in turn", None, counted("inverse_dynamics", "vector-merged"), None),
        *compared("– and α and β apart", None, counted("inverse_dynamics", "vector"), None),
        *compared("this work, Paul's convention", pair(*printed["paul"]), None, compiled, (PAUL(), PAUL())),
        *compared("Luh, Walker, Paul, N-E", pair(*printed["newton-euler"]), newton_euler_counts(), compiled),
        *compared("– rotations in turn, N-E", None, counted("inverse_dynamics", "newton-euler"), None),
    ]
    return PAPER.table("3", rows, COLUMNS)


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

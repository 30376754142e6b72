"""Gradients of programs: every node against a complex step, native code against the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appell.errors import TraceError
from appell.program.adjoint import adjoint, recorded
from appell.program.nodes import (
    Begin,
    Block,
    Copy,
    Entry,
    Fields,
    Loop,
    Node,
    Program,
    Share,
    Start,
    Sweep,
    Walk,
    verify,
)
from appell.program.run import run
from appell.spatial.scalar import cos, select, sin
from appell.trace.tape import Port
from tests.support.programs import (
    END,
    IN,
    OUT,
    TOTAL,
    TURNS,
    X,
    block,
    mix,
    native,
    numbers,
    passes,
    program,
    results,
    rolled,
    step,
    swap,
    turn,
)


def expected(made: Program, given: dict[str, Any], by: Sequence[str], of: Sequence[str]) -> dict[str, Any]:
    """Return the gradients by complex steps."""

    def loss(values: dict[str, Any]) -> Any:
        found = results(made, values)
        return sum(given[f"w_{name}"].ravel() @ found[name] for name in of)

    gradients = {}
    for name in by:
        gradients[f"by_{name}"] = own = np.empty(given[name].size)
        for k in range(len(own)):
            step = np.zeros(len(own), complex)
            step[k] = 1e-30j
            own[k] = loss(given | {name: given[name] + step.reshape(given[name].shape)}).imag / 1e-30
    return gradients


def with_states(made: Program, back: Program, rng: np.random.Generator) -> tuple[Program, dict[str, Any]]:
    """Return the adjoint of a program, and random numbers of its inputs, the states of loops among them."""
    states = [port for port in back.inputs if port.name.startswith("kept_") and port not in made.inputs]
    given = numbers([port for port in back.inputs if port not in states], rng)
    parts = results(recorded(made, states), given)
    given |= {port.name: parts[port.name].reshape(*(TURNS.get(x, 2) for x in port.axes), port.size) for port in states}
    return back, given


def check(made: Program, rng: np.random.Generator, by: Sequence[str], of: Sequence[str]) -> Program:
    """Check the adjoint of a program, in the interpreter and native; return it."""
    back, given = with_states(made, verify(adjoint(made, by, of)), rng)
    found, wanted = results(back, given), expected(made, given, by, of)
    for name, x in wanted.items():
        np.testing.assert_allclose(found[name], x, rtol=1e-12, atol=1e-12)
        assert np.abs(x).max() > 0.0
    for name, x in native(back, given).items():
        np.testing.assert_allclose(x, found[name], rtol=1e-11, atol=1e-12)
    return back


def test_blocks_and_copies(rng: np.random.Generator) -> None:
    """Slots written twice, an input that two ports read, a copy of what is changed later."""
    nodes = (
        block(turn, ["x"], ["s"]),
        Copy("s", "t"),
        block(mix, ["s", "s"], ["s"]),
        block(mix, ["s", "t"], ["u"]),
        block(mix, ["x", "u"], ["end"]),
        Copy("t", "other"),
    )
    slots = (Port("s", (2,)), Port("t", (2,)), Port("u", (2,)))
    made = program(nodes, *slots, outputs=(END, Port("other", (2,))))
    check(made, rng, ["x"], ["end", "other"])
    assert not [x for x in check(made, rng, ["x"], ["other"]).tapes if x.name == "adjoint of mix"]


def test_loops_of_constant_count(rng: np.random.Generator) -> None:
    """Nested, with swapped slots, an array of entries, values from before the loop and an output in it."""
    nodes = (
        block(turn, ["x"], ["before"]),
        Copy("x", "s"),
        Loop(
            "a",
            (
                Copy("s", "entries"),
                Loop("b", (block(mix, ["t", "before"], ["u"]), Copy("s", "t"), Copy("u", "s")), n=3, is_backward=True),
                block(swap, ["s", "t"], ["t", "s"]),
                Copy("s", "first"),
                Copy("t", "s"),
                Copy("first", "t"),
                Copy("s", "end"),
            ),
            n=2,
        ),
        Loop("a", (block(mix, ["entries", "sum"], ["sum"]),), n=2),
        Copy("sum", "other"),
    )
    slots = [Port(name, (2,)) for name in ("before", "s", "t", "u", "first", "sum")]
    made = program(nodes, *slots, Port("entries", (2,), ("a",)), outputs=(END, Port("other", (2,))))
    check(made, rng, ["x"], ["end", "other"])


def test_loops_of_run_time_count(rng: np.random.Generator) -> None:
    """The state at the start of every step is given; stages inside run again."""
    back = check(rolled(), rng, ["x", "drive", "rate"], ["path", "end"])
    assert [port for port in back.inputs if port.name.startswith("kept_")] == [Port("kept_s", (2,), ("step",))]
    assert not any(isinstance(node, Loop) and not node.is_backward and not node.turns for node in back.all_nodes)


def test_arrays_are_states_too(rng: np.random.Generator) -> None:
    """Of a run-time loop: one entry per turn of loops inside."""
    entries = Loop("a", (block(mix, ["entry", "drive"], ["entry"]), block(mix, ["entry", "s"], ["s"])), n=2)
    nodes = (Copy("x", "s"), Loop("a", (Copy("x", "entry"),), n=2), Loop("step", (entries,)), Copy("s", "end"))
    slots, drive = (Port("s", (2,)), Port("entry", (2,), ("a",))), Port("drive", (2,), ("step",))
    back = check(program(nodes, *slots, inputs=(X, drive)), rng, ["x", "drive"], ["end"])
    assert Port("kept_entry", (2,), ("step", "a")) in back.inputs


def test_contact_iterations(rng: np.random.Generator) -> None:
    """Projected Gauss–Seidel in every step."""

    def push(s: Any, drive: Any) -> Any:
        return [a - 0.3 * drive[0] + 0.1 * sin(b) for a, b in zip(s, reversed(s), strict=True)]

    def project(impulses: Any, free: Any) -> Any:
        first = impulses[0] - 0.4 * (free[0] + impulses[0] + 0.3 * impulses[1])
        first = select(first, first, 0.0)
        second = impulses[1] - 0.4 * (free[1] + 0.3 * first + impulses[1])
        return first, select(second, second, 0.0)

    def move(free: Any, impulses: Any) -> Any:
        return free[0] + impulses[0] + 0.3 * impulses[1], free[1] + 0.3 * impulses[0] + impulses[1]

    body = (
        block(push, ["s", "drive"], ["free"], [2, 1, 2]),
        Copy("", "impulses"),
        Loop("iteration", (block(project, ["impulses", "free"], ["impulses"]),), n=20),
        block(move, ["free", "impulses"], ["s"]),
    )
    slots = [Port(name, (2,)) for name in ("s", "free", "impulses")]
    nodes = (Copy("x", "s"), Loop("step", body), Copy("s", "end"))
    made = program(nodes, *slots, inputs=(X, Port("drive", (1,), ("step",))))
    assert [port.name for port in check(made, rng, ["x", "drive"], ["end"]).inputs][-1] == "kept_s"


def test_nested_loops_of_run_time_count(rng: np.random.Generator) -> None:
    """Only the states of the inner loop matter."""
    step = Loop("step", (block(mix, ["s", "drive"], ["s"]),))
    nodes = (Copy("x", "s"), Loop("save", (step, Copy("s", "path"))))
    inputs, outputs = (X, Port("drive", (2,), ("save", "step"))), (Port("path", (2,), ("save",)),)
    back = check(program(nodes, Port("s", (2,)), inputs=inputs, outputs=outputs), rng, ["x", "drive"], ["path"])
    assert back.inputs[-1] == Port("kept_s", (2,), ("save", "step"))


def test_the_adjoint_of_an_adjoint(rng: np.random.Generator) -> None:
    """Has second derivatives, over loops of both kinds of counts."""
    made = rolled()
    back = adjoint(made, ["x", "rate"], ["end"])
    check(back, rng, ["kept_s", "rate", "w_end"], ["by_x", "by_rate"])
    twice = Loop("a", (block(turn, ["s"], ["s"]),), n=3)
    made = program((Copy("x", "s"), twice, Copy("s", "end")), Port("s", (2,)))
    check(adjoint(made, ["x"], ["end"]), rng, ["x", "w_end"], ["by_x"])


# Sweeps


def test_sweeps(rng: np.random.Generator) -> None:
    """Outward and inward, with fields of the parent and of the root."""
    items, nodes = passes()
    made = program(nodes, inputs=[IN], outputs=[OUT, TOTAL])
    check(made, rng, ["x"], ["y", "total"])
    back = check(made, rng, ["x"], ["total"])
    assert not any("by_last" in table.fields for table in back.tables)
    assert items.fields.keys() == {"v", "load", "sum", "last"}


def test_sweeps_between_blocks(rng: np.random.Generator) -> None:
    """A slot that a sweep writes, one that it writes a part of, and a field of one item that a block reads."""
    items, nodes = passes("scaled", "found", "part")
    nodes = (
        block(lambda x: [sin(2.0 * y) for y in x], ["x"], ["scaled"], [5, 5]),
        block(lambda x: [x[0] * x[1], x[2] * x[3]], ["x"], ["part"], [5, 2]),
        *nodes,
        block(lambda x, y, v: [a * b + v[0] for a, b in zip(x, y, strict=True)], ["found", "x"], ["y"], [5, 5, 1, 5]),
        block(lambda x: (x[0] * x[1],), ["part"], ["total"], [2, 1]),
    )
    nodes = tuple(
        x._replace(reads=(*x.reads, Entry(items, "v", 3))) if isinstance(x, Block) and x.writes == ("y",) else x
        for x in nodes
    )
    slots = Port("scaled", (5,)), Port("found", (5,)), Port("part", (2,))
    check(program(nodes, *slots, inputs=[IN], outputs=[OUT, TOTAL]), rng, ["x"], ["y", "total"])


@pytest.mark.parametrize("n", [3, 0], ids=["constant", "run time"])
def test_sweeps_in_loops(rng: np.random.Generator, n: int) -> None:
    """The fields are computed again in every turn."""
    _, nodes = passes("s", "found", "part")

    def moved(s: Any, y: Any, part: Any, drive: Any) -> Any:
        return [a + 0.1 * b + 0.1 * drive[0] * part[0] for a, b in zip(s, y, strict=True)]

    drive = Port("drive", (1,), ("step",))
    body = (*nodes, block(moved, ["s", "found", "part", "drive"], ["s"], [5, 5, 1, 1, 5]))
    all_nodes = (Copy("x", "s"), Loop("step", body, 4 if n else 0), Copy("s", "y"))
    slots = Port("s", (5,)), Port("found", (5,)), Port("part", ())
    made = program(all_nodes, *slots, inputs=[IN, drive], outputs=[OUT])
    check(made, rng, ["x", "drive"], ["y"])


def test_sweeps_without_adjoint_are_named(rng: np.random.Generator) -> None:
    """Walks, fields that change, shares that overlap."""
    items, nodes = passes()

    def fails(text: str, *nodes: Node) -> None:
        with pytest.raises(TraceError, match=text):
            adjoint(program(nodes, Port("s", (5,)), inputs=[IN], outputs=[OUT, TOTAL]), ["x"], ["y"])

    begin, first, second, _, last = nodes
    fails("field 'load' changes after it is read or written", begin, first, second, last, first, last)
    fails("fields are used in several loops, or begun twice", *nodes, begin)
    fails("fields are used in several loops", begin, first, second, Loop("a", (last,), 2))
    same = replace(items, rows=tuple(item._replace(numbers=(0,)) for item in items.rows))
    fails("shares of step 'again' overlap", *(x._replace(items=same) for x in nodes if isinstance(x, Begin | Sweep)))
    in_place = step(lambda x: (sin(x[0]),), [1], (Share("s", 1, 0),), (Share("s", 1, 0),))
    sweep = Sweep(items, False, Fields(), (None, in_place, in_place))
    fails("a pass reads and writes 's'", Copy("x", "s"), sweep, Copy("s", "y"))
    start = step(lambda v: (v[0], v[0]), [1], (), (Share("y", 1),))
    walk = Walk(items, Fields(own=("v",)), 1, (Start(1, 0, 0),), (start,), (None, None, None))
    fails("the results depend on a walk", *nodes, walk)


@pytest.mark.parametrize("outermost", ["a", "step"])
@pytest.mark.parametrize("seed", range(30))
def test_random_programs(seed: int, outermost: str) -> None:
    """Of blocks, copies and nested loops on few memories, so that every order of reads and writes occurs.

    With the outermost loops, or one of run-time length, there are a stream, an output per turn and arrays of entries.
    """
    rng, is_run_time = np.random.default_rng(seed), outermost == "step"

    def bounded(x: Any, y: Any) -> Any:
        return sin(x[0] + 2.0 * y[1]), cos(x[1]) * y[0]

    def drawn(depth: int) -> list[Node]:
        nodes: list[Node] = []
        slots = ["s", "t", "u", *["entry", "row"][: max(0, depth - is_run_time)]]
        read = ["x", *slots, *(["d"] if depth and is_run_time else [])]
        write = [*slots, "end", "other", *(["path"] if depth and is_run_time else [])]
        for _ in range(rng.integers(2, 5)):
            kind = rng.choice(["block", "copy", "loop"] if depth < 3 else ["block", "copy"])
            first, second, target = (str(rng.choice(names)) for names in (read, read, write))
            if kind == "block":
                nodes.append(block(bounded, [first, second], [target]))
            elif kind == "copy":
                nodes.append(Copy(str(rng.choice(["", first, first])), target))
            else:
                axis = "abc"[depth - is_run_time]
                nodes.append(Loop(axis, tuple(drawn(depth + 1)), 2, is_backward=bool(rng.integers(2))))
        return nodes

    body = drawn(int(is_run_time))
    last = [Copy("s", "end")] if is_run_time else [block(bounded, ["s", "t"], ["end"])]
    body = [Loop("step", tuple(body))] if is_run_time else body
    nodes = (block(turn, ["x"], ["s"]), *body, *last, Copy("u", "other"))
    axes = {node.axis for node in Program("", (), (), nodes).all_nodes if isinstance(node, Loop)}
    slots = [*(Port(name, (2,)) for name in "stu"), Port("entry", (2,), ("a",)), Port("row", (2,), ("b",))]
    slots = [port for port in slots if {*port.axes} <= axes]
    inputs, outputs, by = [X], [END, Port("other", (2,))], ["x"]
    if is_run_time:
        inputs, by = [*inputs, Port("d", (2,), ("step",))], ["x", "d"]
        outputs.append(Port("path", (2,), ("step",)))
    of = [port.name for port in outputs]
    made = program(nodes, *slots, inputs=inputs, outputs=outputs)
    back, given = with_states(made, verify(adjoint(made, by, of)), rng)
    found = results(back, given)
    for name, x in expected(made, given, by, of).items():
        np.testing.assert_allclose(found[name], x, rtol=1e-10, atol=1e-12)


def test_outputs_may_be_kept(rng: np.random.Generator) -> None:
    """Beside the gradients, their values."""
    made = program(
        (block(turn, ["x"], ["s"]), Copy("s", "value"), block(turn, ["s"], ["end"])),
        Port("s", (2,)),
        outputs=(END, Port("value", (2,))),
    )
    back = verify(adjoint(made, ["x"], ["end"], ["value"]))
    x = rng.normal(size=2)
    assert [port.name for port in back.outputs] == ["by_x", "value"]
    assert run(back, x, [1.0, 0.0])[2:] == run(made, x)[2:]


def test_what_has_no_adjoint_is_named() -> None:
    """With the remedy."""
    made = rolled()
    with pytest.raises(TraceError, match="program 'small': adjoint: no input or output 'nothing'"):
        adjoint(made, ["nothing"], ["end"])
    after = replace(made, nodes=(*made.nodes[:2], block(turn, ["s"], ["end"])))
    with pytest.raises(TraceError, match=r"slot 's' is read after loop 'step'.*copy it to an output there"):
        adjoint(after, ["x"], ["end"])
    inside = replace(made, nodes=(made.nodes[0], Loop("a", made.nodes[1:], n=2)))
    with pytest.raises(TraceError, match=r"loop 'step'.*inside loop 'a'"):
        adjoint(inside, ["x"], ["end"])
    twice = replace(made, nodes=(*made.nodes[:2], *made.nodes[1:]))
    with pytest.raises(TraceError, match="two loops read the input 'drive'"):
        adjoint(twice, ["drive"], ["end"])
    with pytest.raises(TraceError, match="'path' is written in a loop and cannot be kept"):
        adjoint(made, ["x"], ["end"], ["path"])

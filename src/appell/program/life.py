"""When the numbers of memories are set, and which ones depend on which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from appell.program.nodes import (
    Block,
    Copy,
    Entry,
    Items,
    Loop,
    Node,
    Program,
    Share,
    Sweep,
    Walk,
    looped,
    renamed,
    stages,
)
from appell.trace.tape import Port

Key = str | tuple[Items, str]
"""A memory, or a field of items."""


def cleared(program: Program) -> tuple[Node, ...]:
    """Return the nodes of a program after those that clear slots which may be read before all of them is written."""
    slots = {port.name: port.size for port in program.slots}
    first = read_first(program.nodes, set(), slots) if slots else ()
    clears = (looped(Copy("", port.name), port.axes, program.turns) for port in program.slots if port.name in first)
    return (*clears, *program.nodes)


def read_first(nodes: Iterable[Node], known: set[str], sizes: Mapping[str, int]) -> set[str]:
    """Return the memories that nodes may read before they write all of them; those written are added to `known`.

    A sweep writes all of a memory if the shares of its steps cover the memory, whose size is among `sizes`.
    """
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Loop):
            found |= read_first(node.body, known, sizes)
        else:
            found |= {x for x in reads(node) if isinstance(x, str)} - known
            known |= covered(node, sizes)
    return found - {""}


def written(nodes: Iterable[Node]) -> set[str]:
    """Return the memories that nodes write to."""
    return {x for node in leaves(nodes) for x in writes(node) if isinstance(x, str)}


def leaves(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes that are no loops, those inside loops too."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from leaves(node.body)
        else:
            yield node


def conditions(nodes: Iterable[Node]) -> set[str]:
    """Return the memories on which it depends whether loops are run."""
    loops = [node for node in nodes if isinstance(node, Loop)]
    return {x for loop in loops for x in (loop.when, *conditions(loop.body)) if x}


def reads(node: Node) -> set[Key]:
    """Return the memories and fields that a node reads."""
    match node:
        case Block():
            return {(x.items, x.field) if isinstance(x, Entry) else x for x in node.reads}
        case Copy(source, _):
            return {source} if source else set()
        case Sweep() | Walk():
            fields = (*node.fields.own, *node.fields.parent, *node.fields.root)
            return {*((node.items, x) for x in fields), *(share.memory for x, _ in stages(node) for share in x.inputs)}
    return set()


def writes(node: Node) -> set[Key]:
    """Return the memories and fields that a node writes or adds to."""
    match node:
        case Block():
            return {*node.writes}
        case Copy(_, target):
            return {target}
        case Sweep() | Walk():
            fields = (*node.fields.writes, *node.fields.adds, *node.fields.sums)
            return {*((node.items, x) for x in fields), *(share.memory for x, _ in stages(node) for share in x.outputs)}
    return set()


def covered(node: Node, sizes: Mapping[str, int]) -> set[str]:
    """Return the memories of which a node writes every number."""
    if not isinstance(node, Sweep):
        return {x for x in writes(node) if isinstance(x, str)} if isinstance(node, Block | Copy) else set()
    places: dict[str, set[int]] = defaultdict(set)
    for _, share, own in places_of(node, "outputs"):
        places[share.memory] |= {*own}
    return {memory for memory, own in places.items() if len(own) == sizes.get(memory)}


def places_of(node: Sweep, side: str) -> Iterator[tuple[int, Share, range]]:
    """Yield each share that steps of a sweep read ("inputs") or write ("outputs"), with its item and its places."""
    for k, item in enumerate(node.items.rows):
        stage = node.stages[item.kind]
        for share in getattr(stage, side) if stage is not None else ():
            first = share.offset + (share.stride * item.numbers[share.number] if share.number >= 0 else 0)
            yield k, share, range(first, first + share.size)


def reached(nodes: Iterable[Node], seeds: Iterable[Key], *, is_backward: bool = False) -> set[Key]:
    """Return the memories and fields that seeds have an influence on, or (backward) those that influence seeds."""
    links = [(reads(node), writes(node)) for node in leaves(nodes)]
    found, size = {*seeds}, -1
    while len(found) > size:
        size = len(found)
        for read, wrote in reversed(links) if is_backward else links:
            here, there = (wrote, read) if is_backward else (read, wrote)
            if here & found:
                found |= there
    return found


def held(program: Program, *, is_all: bool = False) -> Program:
    """Return a program whose inputs are copied to slots where blocks read them inside loops of other axes.

    With `is_all` every input is copied, so that blocks and steps read slots alone.
    """
    inputs = {port.name: port for port in program.inputs}
    found = ((name, path) for name, path in reads_in_loops(program.nodes, ()) if name in inputs)
    chosen = {name for name, path in found if is_all or path != inputs[name].axes}
    if not chosen:
        return program
    ports = [port for port in program.inputs if port.name in chosen]

    def copied(nodes: tuple[Node, ...], path: tuple[str, ...]) -> tuple[Node, ...]:
        """Return nodes of a loop, inside others, with the copies of what is seen from there on."""
        seen = (port for port in ports if {*port.axes} <= {*path} and (not path or path[-1] in port.axes))
        own = [Copy(port.name, slot_of(port.name)) for port in seen]
        return (*own, *(x._replace(body=copied(x.body, (*path, x.axis))) if isinstance(x, Loop) else x for x in nodes))

    nodes = renamed(program.nodes, {name: slot_of(name) for name in chosen}, {})
    slots = tuple(Port(slot_of(port.name), port.shape) for port in ports)
    return replace(program, nodes=copied(nodes, ()), slots=(*program.slots, *slots))


def slot_of(name: str) -> str:
    """Return the name of the slot that an input is copied to."""
    return f"held_{name}"


def reads_in_loops(nodes: Iterable[Node], path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the memories that nodes read, with the axes of the loops around them."""
    for node in nodes:
        match node:
            case Block(_, sources, _):
                yield from ((x, path) for x in sources if isinstance(x, str))
            case Copy(source, _):
                yield source, path
            case Loop(axis, body):
                yield from reads_in_loops(body, (*path, axis))
            case Sweep() | Walk():
                yield from ((name, path) for name in _read_by_steps(node))


def _read_by_steps(node: Sweep | Walk) -> Iterator[str]:
    """Yield the memories of which steps use a number."""
    for stage, state in stages(node):
        used = {i for step in stage.tape.steps for i in step.args}.union(stage.tape.results)
        slots = enumerate(node.items.sources(node.fields, stage, state))
        yield from (slot.share.memory for i, slot in slots if slot.share is not None and i in used)

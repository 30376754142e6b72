"""When the numbers of memories are set, and which ones depend on which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from appell.program.nodes import Block, Copy, Entry, Items, Loop, Node, Program, Share, Sweep, Walk, stages
from appell.trace.tape import Port

Key = str | tuple[Items, str]
"""A memory, or a field of items."""


def cleared(program: Program) -> tuple[Node, ...]:
    """Return the nodes of a program after those that clear slots which may be read before all of them is written."""
    slots = {port.name: port.size for port in program.slots}
    first = read_first(program.nodes, set(), slots) if slots else ()
    return (*(_clear(port, program.turns) for port in program.slots if port.name in first), *program.nodes)


def _clear(port: Port, turns: Mapping[str, int]) -> Node:
    """Return the node that sets all entries of a slot to zero."""
    node: Node = Copy("", port.name)
    for axis in reversed(port.axes):
        node = Loop(axis, (node,), turns[axis])
    return node


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
            return {*((node.items, x) for x in fields), *(share.memory for x in stages(node) for share in x.inputs)}
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
            return {*((node.items, x) for x in fields), *(share.memory for x in stages(node) for share in x.outputs)}
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

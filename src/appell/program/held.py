"""Inputs that loops read again and again, copied to slots once per life."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from appell.program.nodes import Block, Copy, Loop, Node, Program, Sweep, Walk, renamed
from appell.trace.tape import Port


def held(program: Program, *, is_all: bool = False) -> Program:
    """Return a program whose inputs are copied to slots where blocks read them inside loops of other axes.

    With `is_all` every input is copied, so that blocks and steps read slots alone.
    """
    inputs = {port.name: port for port in program.inputs}
    found = ((name, path) for name, path in reads(program.nodes, ()) if name in inputs)
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


def reads(nodes: Iterable[Node], path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the memories that nodes read, with the axes of the loops around them."""
    for node in nodes:
        match node:
            case Block(_, sources, _):
                yield from ((x, path) for x in sources if isinstance(x, str))
            case Copy(source, _):
                yield source, path
            case Loop(axis, body):
                yield from reads(body, (*path, axis))
            case Sweep() | Walk():
                yield from ((name, path) for name in _read_by_steps(node))


def _read_by_steps(node: Sweep | Walk) -> Iterator[str]:
    """Yield the memories of which steps use a number."""
    takes = node.state if isinstance(node, Walk) else 0
    first = node.first if isinstance(node, Walk) else ()
    for stage, state in (*((x, 0) for x in first), *((x, takes) for x in node.stages if x is not None)):
        used = {i for step in stage.tape.steps for i in step.args}.union(stage.tape.results)
        slots = enumerate(node.items.sources(node.fields, stage, state))
        yield from (slot.share.memory for i, slot in slots if slot.share is not None and i in used)

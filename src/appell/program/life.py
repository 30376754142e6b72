"""When the numbers of memories are set."""

from __future__ import annotations

from collections.abc import Iterable

from appell.program.nodes import Block, Copy, Loop, Node, Program, Sweep, Walk, stages


def unset(program: Program) -> list[str]:
    """Return the slots that a node may read before any has written all of them; they must be zero at first."""
    slots = {port.name for port in program.slots}
    return sorted(read_first(program.nodes, set()) & slots)


def read_first(nodes: Iterable[Node], known: set[str]) -> set[str]:
    """Return the memories that nodes may read before they write all of them; those written are added to `known`.

    Steps of sweeps and walks write their shares alone.
    """
    found: set[str] = set()
    for node in nodes:
        match node:
            case Block(_, reads, writes):
                found |= {x for x in reads if isinstance(x, str)} - known
                known |= {*writes}
            case Copy(source, target):
                found |= {source} - known
                known.add(target)
            case Loop(_, body):
                found |= read_first(body, known)
            case Sweep() | Walk():
                found |= {share.memory for stage in stages(node) for share in stage.inputs} - known
    return found - {""}


def written(nodes: Iterable[Node]) -> set[str]:
    """Return the memories that nodes write to."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case Block(_, _, writes):
                found |= {*writes}
            case Copy(_, target):
                found.add(target)
            case Loop(_, body):
                found |= written(body)
            case Sweep() | Walk():
                found |= {share.memory for stage in stages(node) for share in stage.outputs}
    return found

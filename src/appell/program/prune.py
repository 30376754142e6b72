"""Programs without what no result needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from appell.program.life import conditions, leaves, reached, reads, writes
from appell.program.nodes import Begin, Block, Loop, Node, Program, Stage, Sweep, Walk
from appell.trace.tape import Port, Step, Tape, spans

GIVEN = ("writes", "adds", "sums")
"""The fields that steps write or add to."""


def pruned(program: Program) -> Program:
    """Return the program without nodes, results of steps and slots that no output depends on."""
    nodes, before = program.nodes, None
    while nodes != before:
        before = nodes
        nodes = _Pruning(program, nodes).all(nodes)
    used = {x for node in leaves(nodes) for x in (*reads(node), *writes(node))} | conditions(nodes)
    return replace(program, nodes=nodes, slots=tuple(port for port in program.slots if port.name in used))


def trimmed(block: Block, needed: Iterable[str]) -> Block:
    """Return a block that writes some memories only, and reads what these depend on."""
    tape, wanted = block.tape, {*needed}
    given = [k for k, name in enumerate(block.writes) if name in wanted]
    results = _numbers(tape.outputs, given)
    live = _live(tape, results)
    taken = [k for k in range(len(block.reads)) if live.intersection(_numbers(tape.inputs, [k]))]
    if len(given) == len(block.writes) and len(taken) == len(block.reads):
        return block
    inputs, outputs = tuple(tape.inputs[k] for k in taken), tuple(tape.outputs[k] for k in given)
    made = _part(tape, inputs, _numbers(tape.inputs, taken), outputs, results)
    return Block(made, tuple(block.reads[k] for k in taken), tuple(block.writes[k] for k in given))


def _numbers(ports: Sequence[Port], which: Iterable[int]) -> list[int]:
    """Return the places of the numbers of some ports among those of all."""
    places = [own for _, own in spans(ports)]
    return [i for k in which for i in places[k]]


def _live(tape: Tape, results: Iterable[int]) -> set[int]:
    """Return the positions that some results depend on."""
    live = {tape.results[k] for k in results}
    for i in range(tape.n_inputs + len(tape.steps) - 1, tape.n_inputs - 1, -1):
        if i in live:
            live.update(tape.steps[i - tape.n_inputs].args)
    return live


def _part(
    tape: Tape, inputs: tuple[Port, ...], taken: Sequence[int], outputs: tuple[Port, ...], results: Sequence[int]
) -> Tape:
    """Return the part of a tape that makes some results of some inputs."""
    live, position = _live(tape, results), {i: k for k, i in enumerate(taken)}
    steps: list[Step] = []
    for i, step in enumerate(tape.steps, start=tape.n_inputs):
        if i in live:
            position[i] = len(taken) + len(steps)
            steps.append(step._replace(args=tuple([position[x] for x in step.args])))
    return Tape(tape.name, inputs, outputs, tuple(steps), tuple(position[tape.results[k]] for k in results))


class _Pruning:
    """What the outputs of a program need."""

    def __init__(self, program: Program, nodes: tuple[Node, ...]) -> None:
        outputs = (port.name for port in program.outputs)
        self.needed = reached(nodes, (*outputs, *conditions(nodes)), is_backward=True)
        self.visited = {node.items for node in leaves(nodes) if isinstance(node, Sweep | Walk)}

    def all(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """Return the nodes that are needed, each with the results that are."""
        return tuple(kept for node in nodes if (kept := self._one(node)) is not None)

    def _one(self, node: Node) -> Node | None:
        match node:
            case Begin(items):
                return node if items in self.visited else None
            case Loop():
                body = self.all(node.body)
                return node if body == node.body else node._replace(body=body) if body else None
            case _ if not writes(node) & self.needed:
                return None
            case Block():
                return trimmed(node, (name for name in node.writes if name in self.needed))
            case Sweep() | Walk():
                return self._pass(node)
        return node

    def _pass(self, node: Sweep | Walk) -> Sweep | Walk:
        """Return a pass without fields that no one reads, and without shares of memories that no one reads."""
        kept = {part: [x for x in getattr(node.fields, part) if (node.items, x) in self.needed] for part in GIVEN}
        fields = node.fields._replace(**{part: tuple(names) for part, names in kept.items()})
        stages = tuple(self._stage(node, stage) for stage in node.stages)
        made = node._replace(fields=fields, stages=stages)
        if isinstance(made, Walk) and isinstance(node, Walk):
            first = (self._stage(node, stage) for stage in node.first)
            made = made._replace(first=tuple(stage for stage in first if stage is not None))
        return node if made == node else made

    def _stage(self, node: Sweep | Walk, stage: Stage | None) -> Stage | None:
        if stage is None:
            return None
        sizes = node.items.fields
        flags = [
            (node.items, x) in self.needed
            for part in GIVEN
            for x in getattr(node.fields, part)
            for _ in range(sizes[x])
        ]
        flags += [True] * node.state
        flags += [share.memory in self.needed for share in stage.outputs for _ in range(share.size)]
        if all(flags):
            return stage
        tape, results = stage.tape, [k for k, flag in enumerate(flags) if flag]
        made = _part(tape, tape.inputs, range(tape.n_inputs), (Port("results", (len(results),)),), results)
        return Stage(made, stage.inputs, tuple(share for share in stage.outputs if share.memory in self.needed))

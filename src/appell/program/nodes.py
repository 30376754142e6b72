"""Programs: blocks, loops, sweeps and walks on named memories.

A :class:`Program` works on one sample and has memories with a stated life:

- inputs and outputs live for a call; those with axes are *streams*, of which each turn of a loop sees one entry;
- slots live for a sample; a slot with axes has one entry per turn of these loops;
- fields live for a sample too, one set per *item* (for a robot, per body).

Its nodes run in their order. A :class:`Block` is a straight-line program, a :class:`Loop` repeats its nodes. A
:class:`Sweep` visits items outward (first to last) or inward (last to first); a :class:`Walk` begins at one item after
the other and climbs from parent to parent with a small state. At each item a step, the tape of the item's class, reads
the item's constants, its share of the memories and some fields, and writes fields and shares. So the text of a sweep is
as long as the tapes of the classes, whatever the number of items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from appell.errors import TraceError
from appell.trace.tape import Port, Step, Tape
from appell.trace.tape import verify as verify_tape


class Entry(NamedTuple):
    """A field of one item, as an input of a block."""

    items: Items
    field: str
    item: int


class Block(NamedTuple):
    """A straight-line program: a tape, and the memories that its input and output ports stand for.

    Several input ports may stand for one memory.
    """

    tape: Tape
    reads: tuple[str | Entry, ...]
    writes: tuple[str, ...]


class Copy(NamedTuple):
    """A memory that becomes equal to another one of the same size, or zero where the source is ""."""

    source: str
    target: str


class Loop(NamedTuple):
    """Nodes that are repeated. Streams and slots with the axis are seen at the present turn.

    Blocks in it read `rows`, the numbers of each turn, under the name of the axis. Without rows and `n`, the loop
    takes as many turns as the streams with its axis have entries, a number known at run time.
    """

    axis: str
    body: tuple[Node, ...]
    n: int = 0
    rows: tuple[tuple[float, ...], ...] = ()
    is_backward: bool = False
    """Whether the turns are taken from the last to the first."""
    when: str = ""
    """A number without which the loop changes nothing that is read later, where it is not above zero.

    Native code then takes no turn, if that holds for all samples at hand.
    """

    @property
    def turns(self) -> int:
        """Return the number of turns, 0 if it is known at run time only."""
        return len(self.rows) or self.n


class Share(NamedTuple):
    """Numbers of a memory, side by side, that a step at an item reads or writes.

    The first stands at `offset + stride·n + start·s`, with n one of the item's numbers (that of index `number`;
    none where it is negative) and s the number of the walk's start.
    """

    memory: str
    size: int
    number: int = -1
    stride: int = 1
    offset: int = 0
    start: int = 0


class Stage(NamedTuple):
    """One step: its tape, and where its shares of the memories stand.

    The tape reads constants, shares, fields (own, parent's, root's), state; it gives fields (written, added to the
    parent's, added to the root's), state, shares; all as one list in this order.
    """

    tape: Tape
    inputs: tuple[Share, ...] = ()
    outputs: tuple[Share, ...] = ()


class Fields(NamedTuple):
    """Which fields the steps of a pass read and write."""

    own: tuple[str, ...] = ()
    parent: tuple[str, ...] = ()
    root: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    """Added to the parent's."""
    sums: tuple[str, ...] = ()
    """Added to the root's."""


class Begin(NamedTuple):
    """The fields of the root become what they begin with: `base`, and zero where that has none."""

    items: Items


class Sweep(NamedTuple):
    """A visit of every item whose class has a step; `stages` are by class."""

    items: Items
    inward: bool
    fields: Fields
    stages: tuple[Stage | None, ...]

    @property
    def first(self) -> tuple[Stage, ...]:
        """Return the steps at starts, which only walks have."""
        return ()

    @property
    def state(self) -> int:
        """Return the size of the state, which only walks have."""
        return 0

    @property
    def span(self) -> range:
        """Return the items that are visited, in their order; among them may be some without a step."""
        places = [k for k, item in enumerate(self.items.rows) if self.stages[item.kind] is not None]
        return range(places[-1], places[0] - 1, -1) if self.inward else range(places[0], places[-1] + 1)


class Start(NamedTuple):
    """Where a walk begins: the item, which of the first steps it takes there, and the number that its results need."""

    item: int
    stage: int
    number: int


class Walk(NamedTuple):
    """Walks to the root: a first step at each start makes the state, then a step per ancestor changes it."""

    items: Items
    fields: Fields
    state: int
    starts: tuple[Start, ...]
    first: tuple[Stage, ...]
    stages: tuple[Stage | None, ...]


Node = Block | Copy | Loop | Begin | Sweep | Walk


class Item(NamedTuple):
    """One item: its class, its parent, the numbers that locate its shares, its constants."""

    kind: int
    parent: int
    numbers: tuple[int, ...]
    constants: tuple[float, ...]


class Slot(NamedTuple):
    """One number that a step reads or writes: `where` it is, and which one it is there.

    `where` is "constant", "own", "parent", "root", "state", or "memory" for a number of the share.
    """

    where: str
    at: int
    share: Share | None = None


@dataclass(frozen=True, eq=False)
class Items:
    """Items and their fields. Item 0 is the root: it has no parent, and walks end before it."""

    rows: tuple[Item, ...]
    fields: dict[str, int]
    """Sizes of the fields of every item."""
    base: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """What fields of the root begin with, where that is not zero."""

    @cached_property
    def width(self) -> int:
        """Return how many numbers the fields of an item have."""
        return sum(self.fields.values())

    @cached_property
    def places(self) -> dict[str, int]:
        """Return where each field stands among the numbers of an item."""
        names = list(self.fields)
        return {name: sum(self.fields[other] for other in names[:k]) for k, name in enumerate(names)}

    @property
    def root(self) -> list[float]:
        """Return what the root's fields begin with."""
        return [x for name, size in self.fields.items() for x in self.base.get(name, (0.0,) * size)]

    def sources(self, fields: Fields, stage: Stage, state: int = 0) -> list[Slot]:
        """Return what each input of a step's tape is."""
        read = [*self._of("own", fields.own), *self._of("parent", fields.parent), *self._of("root", fields.root)]
        read += [Slot("state", k) for k in range(state)]
        shared = [*_numbers(stage.inputs)]
        constants = stage.tape.n_inputs - len(read) - len(shared)
        return [*(Slot("constant", k) for k in range(constants)), *shared, *read]

    def n_constants(self, fields: Fields, stage: Stage, state: int = 0) -> int:
        """Return the number of constants that a step reads."""
        return sum(slot.where == "constant" for slot in self.sources(fields, stage, state))

    def sinks(self, fields: Fields, stage: Stage, state: int = 0) -> list[Slot]:
        """Return where each result of a step's tape goes; to slots of the parent and of the root it is added."""
        written = [*self._of("own", fields.writes), *self._of("parent", fields.adds), *self._of("root", fields.sums)]
        return [*written, *(Slot("state", k) for k in range(state)), *_numbers(stage.outputs)]

    def _of(self, where: str, names: Iterable[str]) -> Iterator[Slot]:
        for name in names:
            yield from (Slot(where, self.places[name] + k) for k in range(self.fields[name]))


def _numbers(shares: Iterable[Share]) -> Iterator[Slot]:
    for share in shares:
        yield from (Slot("memory", k, share) for k in range(share.size))


@dataclass(frozen=True)
class Program:
    """Nodes on memories: inputs, which are only read; outputs, which are only written; slots, zero at first."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    nodes: tuple[Node, ...]
    slots: tuple[Port, ...] = ()

    @property
    def tape(self) -> Tape | None:
        """Return the tape of a straight-line program, None of others."""
        node = self.nodes[0] if len(self.nodes) == 1 else None
        own = tuple(port.name for port in self.inputs), tuple(port.name for port in self.outputs)
        return node.tape if isinstance(node, Block) and node[1:] == own else None

    @property
    def all_nodes(self) -> Iterator[Node]:
        """Yield every node, those of loops too."""
        pending = list(reversed(self.nodes))
        while pending:
            yield (node := pending.pop())
            pending += reversed(node.body) if isinstance(node, Loop) else ()

    @property
    def tapes(self) -> Iterator[Tape]:
        """Yield the tapes of all blocks and steps."""
        for node in self.all_nodes:
            yield from tapes(node)

    @property
    def steps(self) -> Iterator[Step]:
        """Yield every operation of every tape."""
        for tape in self.tapes:
            yield from tape.steps

    @cached_property
    def sources(self) -> dict[str, Port]:
        """Return what can be read, by name: inputs and slots."""
        return {port.name: port for port in (*self.inputs, *self.slots)}

    @cached_property
    def targets(self) -> dict[str, Port]:
        """Return what can be written, by name: outputs and slots. An output may have the name of an input."""
        return {port.name: port for port in (*self.outputs, *self.slots)}

    @cached_property
    def turns(self) -> dict[str, int]:
        """Return the number of turns by axis, 0 where it is known at run time only."""
        return {node.axis: node.turns for node in self.all_nodes if isinstance(node, Loop)}

    @cached_property
    def tables(self) -> list[Items]:
        """Return the items that nodes visit, each once."""
        nodes = (node.items for node in self.all_nodes if isinstance(node, Begin | Sweep | Walk))
        return list(dict.fromkeys(nodes))

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the axes of streams, whose lengths are known at run time only."""
        return tuple(dict.fromkeys(axis for port in (*self.inputs, *self.outputs) for axis in port.axes))


def straight(tape: Tape) -> Program:
    """Return the program of one block."""
    names = tuple(port.name for port in tape.inputs), tuple(port.name for port in tape.outputs)
    return Program(tape.name, tape.inputs, tape.outputs, (Block(tape, *names),))


def stages(node: Sweep | Walk) -> Iterator[tuple[Stage, int]]:
    """Yield every step of a pass, and the size of the state that it takes."""
    yield from ((stage, 0) for stage in node.first)
    yield from ((stage, node.state) for stage in node.stages if stage is not None)


def looped(node: Any, axes: Iterable[str], turns: Mapping[str, int]) -> Any:
    """Return a node in loops along some axes, the first of them outside."""
    for axis in reversed(tuple(axes)):
        node = Loop(axis, (node,), turns[axis])
    return node


def tapes(node: Node) -> Iterator[Tape]:
    """Yield the tapes of a node itself."""
    if isinstance(node, Block):
        yield node.tape
    elif isinstance(node, Sweep | Walk):
        yield from (stage.tape for stage, _ in stages(node))


def renamed(
    nodes: Iterable[Node], reads: Mapping[str, str], writes: Mapping[str, str] | None = None
) -> tuple[Node, ...]:
    """Return nodes that read memories of other names, and write such, by default the same ones."""
    writes = reads if writes is None else writes

    def stage(x: Stage | None) -> Any:
        if x is None:
            return None
        inputs = tuple(share._replace(memory=reads.get(share.memory, share.memory)) for share in x.inputs)
        return Stage(x.tape, inputs, tuple(y._replace(memory=writes.get(y.memory, y.memory)) for y in x.outputs))

    def one(node: Node) -> Node:
        match node:
            case Block(tape, sources, targets):
                read = tuple(reads.get(x, x) if isinstance(x, str) else x for x in sources)
                return Block(tape, read, tuple(writes.get(x, x) for x in targets))
            case Copy(source, target):
                return Copy(reads.get(source, source), writes.get(target, target))
            case Loop():
                return node._replace(body=renamed(node.body, reads, writes), when=reads.get(node.when, node.when))
            case Sweep():
                return node._replace(stages=tuple(map(stage, node.stages)))
            case Walk():
                return node._replace(first=tuple(map(stage, node.first)), stages=tuple(map(stage, node.stages)))
            case _:
                return node

    return tuple(map(one, nodes))


def inlined(
    program: Program, prefix: str, reads: Mapping[str, str], writes: Mapping[str, str]
) -> tuple[tuple[Node, ...], tuple[Port, ...]]:
    """Return the nodes of a program on memories of another one, and the slots that these need there.

    `reads` and `writes` are the memories that stand for its inputs and outputs; its slots get a prefix.
    """
    own = {port.name: f"{prefix}{port.name}" for port in program.slots}
    slots = tuple(port._replace(name=own[port.name]) for port in program.slots)
    return renamed(program.nodes, {**reads, **own}, {**writes, **own}), slots


def verify(program: Program) -> Program:
    """Return the program if it is well formed; raise a :class:`TraceError` that names the node if it is not.

    In a well-formed program every tape is well formed; nodes name memories of the sizes that they expect, write no
    input and read no output; memories with axes are used inside the loops of these axes; a loop known at run time has a
    stream; steps find their fields, constants and shares.
    """
    _Verification(program).nodes(program.nodes, {})
    return program


class _Verification:
    def __init__(self, program: Program) -> None:
        self.program = program
        for side in (program.inputs, program.outputs):
            names = [port.name for port in (*side, *program.slots)]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                self._fail(f"two memories are named '{twice}'")

    def _fail(self, text: str) -> NoReturn:
        raise TraceError(f"program '{self.program.name}': {text}")

    def nodes(self, nodes: Iterable[Node], rows: dict[str, int]) -> None:
        """Check nodes inside loops, whose rows have some sizes."""
        for node in nodes:
            for tape in tapes(node):
                verify_tape(tape)
            match node:
                case Block():
                    self._block(node, rows)
                case Copy(source, target):
                    size = self._size(target, rows, "output")
                    if source and self._size(source, rows, "input") != size:
                        self._fail(f"'{source}' and '{target}' differ in size")
                case Loop(axis, body):
                    self._loop(node, rows)
                    self.nodes(body, rows | {axis: len(node.rows[0]) if node.rows else 0})
                case Begin(items):
                    self._items(items)
                case Sweep() | Walk():
                    self._pass(node, rows)

    def _size(self, name: str, rows: dict[str, int], use: str) -> int:
        """Return the size of a memory that is read ("input") or written ("output") here."""
        if use == "input" and rows.get(name):
            return rows[name]
        own, other = self.program.sources, self.program.targets
        if use == "output":
            own, other = other, own
        if name not in own and name in other:
            self._fail(f"the input '{name}' is written" if use == "output" else f"the output '{name}' is read")
        if name not in own:
            self._fail(f"no memory '{name}'")
        port = own[name]
        for axis in port.axes:
            if axis not in rows:
                self._fail(f"'{name}' has the axis '{axis}' and is used outside its loop")
        return port.size

    def _block(self, node: Block, rows: dict[str, int]) -> None:
        for ports, names, use in ((node.tape.inputs, node.reads, "input"), (node.tape.outputs, node.writes, "output")):
            if len(ports) != len(names):
                self._fail(f"block '{node.tape.name}' has {len(ports)} {use}s and names {len(names)} memories")
            for port, name in zip(ports, names, strict=True):
                size = name.items.fields[name.field] if isinstance(name, Entry) else self._size(name, rows, use)
                if size != port.size:
                    self._fail(f"block '{node.tape.name}': {use} '{port.name}' has {port.size} numbers, memory {size}")

    def _loop(self, node: Loop, rows: dict[str, int]) -> None:
        if node.axis in rows or node.axis in self.program.sources:
            self._fail(f"two loops or memories are named '{node.axis}'")
        if not node.turns and not any(node.axis in port.axes for port in self.program.inputs):
            self._fail(f"loop '{node.axis}' has no count and no stream")
        if node.when and self._size(node.when, rows, "input") != 1:
            self._fail(f"the condition of loop '{node.axis}' is no single number")
        if len(set(map(len, node.rows))) > 1:
            self._fail(f"the rows of loop '{node.axis}' differ in length")

    def _items(self, items: Items) -> None:
        for k, item in enumerate(items.rows):
            if not (0 <= item.parent < k or k == item.parent == 0):
                self._fail(f"item {k} has the parent {item.parent}, which is not before it")

    def _pass(self, node: Sweep | Walk, rows: dict[str, int]) -> None:
        items, fields = node.items, node.fields
        unknown = {name for names in fields for name in names}.difference(items.fields)
        if unknown:
            self._fail(f"no field '{unknown.pop()}'")
        least: dict[int, int] = {}
        for item in items.rows:
            least[item.kind] = min(len(item.constants), least.get(item.kind, len(item.constants)))
        for stage, takes in stages(node):
            for share, use in (*((x, "input") for x in stage.inputs), *((x, "output") for x in stage.outputs)):
                self._size(share.memory, rows, use)
            sources, sinks = items.sources(fields, stage, takes), items.sinks(fields, stage, node.state)
            if len(sources) != stage.tape.n_inputs or len(sinks) != len(stage.tape.results):
                self._fail(f"step '{stage.tape.name}': its reads and writes do not fit its tape")
        for kind, own in enumerate(node.stages):
            if own is not None and kind in least and items.n_constants(fields, own, node.state) > least[kind]:
                self._fail(f"step '{own.tape.name}': an item has too few constants")

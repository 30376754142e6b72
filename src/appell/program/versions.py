"""Programs in which every value of a slot has a memory of its own, for passes that go back over them.

Each write makes a new *version* of a slot or output; a copy is another name of a version, no code. A loop begins its
turns with the versions that it carries, kept for each turn, and ends with one more:

    end ← before;  loop: kept[turn] ← end, the body, end ← the last version in the body
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from appell.errors import TraceError
from appell.program.life import covered, leaves, read_first, reads, written
from appell.program.nodes import Block, Copy, Loop, Node, Program, Sweep, Walk, renamed
from appell.trace.tape import Port


class Turns(NamedTuple):
    """A loop in versions: copies that begin each turn, the body, and copies that end it."""

    loop: Loop
    first: tuple[Any, ...]
    body: tuple[Any, ...]
    last: tuple[Any, ...]

    @property
    def nodes(self) -> tuple[Any, ...]:
        """Return all nodes."""
        return (*self.first, *self.body, *self.last)


def all_leaves(nodes: Iterable[Any]) -> Iterator[Node]:
    """Yield the nodes of a program in versions that are no loops."""
    for node in nodes:
        if isinstance(node, Turns):
            yield from all_leaves(node.nodes)
        else:
            yield node


class Versions:
    """The nodes of a program in versions; outputs among `live` are needed in the end, those in `plain` keep names."""

    def __init__(self, program: Program, live: Iterable[str], plain: Iterable[str]) -> None:
        self.program, self.plain, self.path = program, {*plain}, list[str]()
        self.ports = {port.name: port for port in (*program.inputs, *program.slots)}
        self.taken = {*self.ports, *program.turns, *(port.name for port in program.outputs)}
        self.sizes = {port.name: port.size for port in program.slots}
        self.outputs = {port.name for port in program.outputs}
        self.now: dict[str, str] = {}
        """The version of each slot."""
        self.given: dict[str, str] = {}
        """The version of each output."""
        self.kept: dict[str, str] = {}
        """Versions at the start of turns: the slots that they are of."""
        self.streams: list[str] = []
        """Those of loops whose number of turns is known at run time only."""
        self.lost: dict[str, tuple[str, str]] = {}
        """The slots, and axes, whose values after such a loop are not computed."""
        self.partly: dict[str, str] = {}
        """Versions that a pass writes a part of, and what the rest is of."""
        self.nodes = self._all(program.nodes, {*live, *self.plain})

    def memory(self, base: str, like: Port) -> str:
        """Return a new memory that is like another one."""
        name, k = base, 0
        while name in self.taken:
            name, k = f"{base}_{k}", k + 1
        self.taken.add(name)
        self.ports[name] = like._replace(name=name)
        return name

    def finished(self, adjoint: Program) -> Program:
        """Return an adjoint with the states of loops that it reads among its inputs, under their names."""
        read = {x for node in leaves(adjoint.nodes) for x in reads(node)}
        for name, (slot, axis) in self.lost.items():
            if name in read:
                raise TraceError(
                    f"slot '{slot}' is read after loop '{axis}', whose number of turns is known at run time only; "
                    "copy it to an output there"
                )
        names: dict[str, str] = {}
        for port in (self.ports[name] for name in self.streams if name in read):
            name = f"kept_{self.kept[port.name]}"
            names[port.name] = name if name not in names.values() else f"{name}_{port.axes[-1]}"
        kept = (port for port in adjoint.inputs if port.name in names or port.name not in self.streams)
        inputs = tuple(port._replace(name=names.get(port.name, port.name)) for port in kept)
        return replace(adjoint, inputs=inputs, nodes=renamed(adjoint.nodes, names, {}))

    def _read(self, name: Any) -> Any:
        return self.now.get(name, name)

    def _known(self, name: str) -> str:
        """Return the present version of a slot or output, "" if an output has none."""
        return self.given.get(name, "") if name in self.outputs else self._read(name)

    def _set(self, name: str, version: str) -> str:
        (self.given if name in self.outputs else self.now)[name] = version
        return version

    def _new(self, name: str) -> str:
        """Return a new version of a slot or output."""
        if name in self.plain:
            return name
        port = self.program.targets[name]
        return self._set(name, self.memory(name, port))

    def _copy(self, source: str, target: str) -> Any:
        """Return the node that copies a version, in loops of those of its axes that are not open."""
        node: Any = Copy(source, target)
        for axis in reversed(self.ports[target].axes):
            if axis not in self.path:
                node = Turns(Loop(axis, (), self.program.turns[axis]), (), (node,), ())
        return node

    def _all(self, nodes: tuple[Node, ...], later: set[str]) -> tuple[Any, ...]:
        """Return nodes in versions; some memories may be read after them."""
        made: list[Any] = []
        for k, node in enumerate(nodes):
            match node:
                case Block(tape, sources, targets):
                    read = tuple(self._read(x) if isinstance(x, str) else x for x in sources)
                    made.append(Block(tape, read, tuple(map(self._new, targets))))
                case Copy(source, target) if (
                    source and not self.program.targets[target].axes and target not in self.plain
                ):
                    self._set(target, self._read(source))
                case Copy(source, target):
                    source = self._read(source)
                    made.append(Copy(source, self._new(target)))
                case Loop():
                    made += self._loop(node, later | read_first(nodes[k + 1 :], set(), self.sizes))
                case Sweep() | Walk():
                    made += self._pass(node)
                case _:
                    made.append(node)
        return tuple(made)

    def _pass(self, node: Sweep | Walk) -> Iterator[Any]:
        """Yield a pass; what it writes a part of is copied first."""
        read, whole = {x for x in reads(node) if isinstance(x, str)}, covered(node, self.sizes)
        old = {name: self._known(name) for name in sorted(written([node]))}
        if both := read & old.keys() - self.outputs:
            raise TraceError(f"a pass reads and writes '{min(both)}'; use two memories")
        sources = {name: self._read(name) for name in read}
        new = {name: self._new(name) for name in old}
        for name in (x for x in old if old[x] and x not in whole | self.plain):
            self.partly[new[name]] = old[name]
            yield self._copy(old[name], new[name])
        yield from renamed([node], sources, new)

    def _loop(self, loop: Loop, later: set[str]) -> Iterator[Any]:
        """Yield a loop after the copies of what it carries."""
        axis, targets, first = loop.axis, self.program.targets, read_first(loop.body, set(), self.sizes)
        if not loop.turns and any(self.program.turns[x] for x in self.path):
            raise TraceError(
                f"loop '{axis}', whose number of turns is known at run time only, is inside loop '{self.path[-1]}'"
            )
        inside = sorted(written(loop.body) - self.plain)
        carried = [x for x in inside if axis not in targets[x].axes and (x in self.outputs or x in first | later)]
        ends, begins = {}, list[tuple[str, str]]()
        for name in carried:
            before = self._known(name)
            ends[name] = end = self._new(name)
            if before and name in first | self.outputs:
                yield self._copy(before, end)
            if name in first and name not in self.outputs:
                begins.append((end, self._begin(name, loop)))
            if not loop.turns:
                self.lost[end] = name, axis
        self.path.append(axis)
        copies = tuple(self._copy(*pair) for pair in begins)
        body = self._all(loop.body, later | first)
        last = tuple(self._copy(self._known(name), end) for name, end in ends.items())
        self.path.pop()
        for name, end in ends.items():
            self._set(name, end)
        yield Turns(loop._replace(when=""), copies, body, last)

    def _begin(self, name: str, loop: Loop) -> str:
        """Return the version of a slot at the start of each turn."""
        port = self.program.targets[name]
        axes = (*port.axes, loop.axis) if loop.turns else (*self.path, loop.axis, *port.axes)
        version = self._set(name, self.memory(f"kept_{name}", port._replace(axes=axes)))
        self.kept[version] = name
        if not loop.turns:
            self.streams.append(version)
        return version

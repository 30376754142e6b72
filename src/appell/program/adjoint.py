"""Gradients of programs, as programs: reverse mode over blocks, loops and sweeps.

The values that the way back needs come first, each in a memory of its own (:mod:`appell.program.versions`). Then the
nodes are taken from the last to the first:

- of a block, one tape takes the adjoints of what the block wrote to those of what it read, to which it adds;
- a loop goes in the other direction; each turn computes the values of its body again, from the states at its start;
- a sweep goes in the other direction too; a field has its adjoint beside it, among the fields of the same items, and
  must keep its value once it has been read.

Only what is on a path from the inputs to the outputs has an adjoint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from appell.errors import TraceError
from appell.program.adjoint_sweep import Beside, problem
from appell.program.life import Key, leaves, reached, reads, writes, written
from appell.program.nodes import (
    Begin,
    Block,
    Copy,
    Entry,
    Items,
    Loop,
    Node,
    Program,
    Sweep,
    Walk,
    renamed,
)
from appell.program.prune import pruned, trimmed
from appell.program.versions import Turns, Versions, all_leaves
from appell.trace.adjoint import gradient
from appell.trace.expr import Expr, Graph
from appell.trace.tape import Port, lay, trace


def adjoint(program: Program, by: Sequence[str], of: Sequence[str], keep: Sequence[str] = ()) -> Program:
    """Return the program of Σ wᵀ∂y/∂x by some inputs x, for weights w of some outputs y.

    Its inputs are those of the program, then `w_<output>` per weighed output. A loop whose number of turns is known at
    run time only is not run forward: the states that it carries are inputs `kept_<slot>` with the loop's axis, as they
    are at the start of each turn; only those that matter are among the inputs. The outputs are `by_<input>`, then the
    outputs `keep` of the program itself.

    >>> from appell.program.nodes import straight
    >>> from appell.program.run import run
    >>> square = straight(trace("square", lambda x: (x[0] * x[0],), [Port("x", (1,))], [Port("y", ())]))
    >>> run(adjoint(square, ["x"], ["y"]), [3.0], [1.0])
    [6.0]
    """
    return _Adjoint(program, by, of, keep).program()


def recorded(program: Program, states: Sequence[Port]) -> Program:
    """Return a program that also gives the states which its adjoint reads, those of its inputs `kept_<slot>`."""

    def with_copies(nodes: Iterable[Node], path: tuple[str, ...]) -> tuple[Node, ...]:
        made = [Copy(port.name.removeprefix("kept_"), port.name) for port in states if port.axes == path]
        return (
            *made,
            *(x._replace(body=with_copies(x.body, (*path, x.axis))) if isinstance(x, Loop) else x for x in nodes),
        )

    return replace(program, outputs=(*program.outputs, *states), nodes=with_copies(program.nodes, ()))


class _Adjoint:
    """A program on its way to its adjoint."""

    def __init__(self, program: Program, by: Sequence[str], of: Sequence[str], keep: Sequence[str]) -> None:
        self.given, self.by, self.of, self.keep = program, by, of, keep
        unknown = {*by}.difference(port.name for port in program.inputs) or {*of, *keep}.difference(
            port.name for port in program.outputs
        )
        if unknown:
            self._fail(f"no input or output '{unknown.pop()}'")
        if looped := {*keep} & written(node for node in program.nodes if isinstance(node, Loop)):
            self._fail(f"output '{looped.pop()}' is written in a loop and cannot be kept")
        self.versions = Versions(program, of, keep)
        self.ports, self.name = self.versions.ports, self.versions.name
        nodes = list(all_leaves(self.versions.nodes))
        results = [self.versions.given[name] for name in of if name in self.versions.given]
        self.moving = reached(nodes, by) & reached(nodes, results, is_backward=True)
        """What is on a path from inputs to outputs."""
        self.beside = self._beside(nodes)
        self.uses = Counter[Key]([*results, *by]) + _uses(nodes)
        self.own: set[str] = set()
        """The slots of adjoints."""
        self.adjoints: dict[str, str] = {}
        """The memory with the adjoint of a version, so far."""
        self.back: list[Node] = []
        self.path: list[str] = []

    def _fail(self, text: str) -> NoReturn:
        raise TraceError(f"program '{self.given.name}': adjoint: {text}")

    def program(self) -> Program:
        """Return the adjoint."""
        versions, given, outputs = self.versions, self.given, {port.name: port for port in self.given.outputs}
        weights = [outputs[name]._replace(name=f"w_{name}") for name in self.of]
        inputs = {port.name: port for port in given.inputs}
        results = [inputs[name]._replace(name=f"by_{name}") for name in self.by]
        for name, port in zip(self.of, weights, strict=True):
            self._add(versions.given.get(name, ""), port.name)
        self._all(versions.nodes)
        for name, port in zip(self.by, results, strict=True):
            if not port.axes or self.uses[name] == 1:
                self._put(Copy(self.adjoints.get(name, ""), port.name), port.axes)
        streams = [self.ports[name] for name in versions.streams]
        kept = tuple(outputs[name] for name in self.keep)
        made = Program(
            f"adjoint of {given.name}",
            (*given.inputs, *weights, *streams),
            (*results, *kept),
            (*self._forward(versions.nodes), *self.back),
            tuple(port for name, port in self.ports.items() if name not in inputs and name not in versions.streams),
        )
        return self._finished(pruned(made), streams)

    def _finished(self, made: Program, streams: Sequence[Port]) -> Program:
        """Return the program with the states of loops that it reads, under their names."""
        read = {x for node in leaves(made.nodes) for x in reads(node)}
        for name, (slot, axis) in self.versions.lost.items():
            if name in read:
                self._fail(
                    f"slot '{slot}' is read after loop '{axis}', whose number of turns is known at run time only; "
                    "copy it to an output there"
                )
        names: dict[str, str] = {}
        for port in streams:
            if port.name in read:
                name = f"kept_{self.versions.kept[port.name]}"
                names[port.name] = name if name not in names.values() else f"{name}_{port.axes[-1]}"
        unread = {port.name for port in streams} - names.keys()
        inputs = tuple(
            port._replace(name=names.get(port.name, port.name)) for port in made.inputs if port.name not in unread
        )
        return replace(made, inputs=inputs, nodes=renamed(made.nodes, names, {}))

    def _beside(self, nodes: Sequence[Node]) -> dict[Items, Beside]:
        """Return the adjoints of fields, by items."""
        found: dict[Items, Beside] = {}
        for items in self.given.tables:
            own = [node for node in nodes if isinstance(node, Begin | Sweep) and node.items is items]
            sweeps = [node for node in own if isinstance(node, Sweep)]
            if text := problem(sweeps, self.moving):
                self._fail(text)
            names = [name for name in items.fields if (items, name) in self.moving]
            begins = sum(isinstance(node, Begin) for node in own)
            if names and (begins > 1 or len(self._places(self.versions.nodes, items)) > 1):
                self._fail("fields are used in several loops, or begun twice; give each its own items")
            if names:
                found[items] = Beside.of(items, names, sweeps, is_begun=begins == 1)
        return found

    def _places(self, nodes: tuple[Any, ...], items: Items) -> list[Any]:
        """Return the lists of nodes with sweeps of items."""
        own = [nodes] if any(isinstance(x, Begin | Sweep) and x.items is items for x in nodes) else []
        return [*own, *(x for node in nodes if isinstance(node, Turns) for x in self._places(node.body, items))]

    # The way out

    def _forward(self, nodes: Iterable[Any]) -> tuple[Node, ...]:
        """Return nodes as they run forward, but for loops whose number of turns is known at run time only."""
        made: list[Node] = []
        for node in nodes:
            if not isinstance(node, Turns):
                made.append(self._placed(node))
            elif node.loop.turns:
                made.append(node.loop._replace(body=self._forward(node.nodes)))
        return tuple(made)

    def _placed(self, node: Any) -> Any:
        """Return a node, or the field of an item that it reads, on the items that have adjoints."""
        if isinstance(node, Block):
            return node._replace(reads=tuple(self._placed(x) if isinstance(x, Entry) else x for x in node.reads))
        found = self.beside.get(node.items) if isinstance(node, Begin | Sweep | Walk | Entry) else None
        return node._replace(items=found.items) if found else node

    # The way back

    def _all(self, nodes: tuple[Any, ...]) -> None:
        for node in reversed(nodes):
            match node:
                case Turns():
                    self._turns(node)
                case Block():
                    self._block(node)
                case Copy(source, target) if target in self.adjoints:
                    self._add(source, self.adjoints.pop(target))
                case Walk() if writes(node) & self.moving:
                    self._fail("the results depend on a walk, which has no adjoint")
                case Sweep() if writes(node) & self.moving:
                    self._sweep(node)
        for items in {node.items for node in nodes if isinstance(node, Sweep)} & self.beside.keys():
            self.back[:0] = self.beside[items].clearing()

    def _put(self, node: Node, axes: Iterable[str] = ()) -> None:
        """Append a node, in loops of those axes that are not open."""
        for axis in reversed(tuple(axes)):
            if axis not in self.path:
                node = Loop(axis, (node,), self.given.turns[axis])
        self.back.append(node)

    def _slot(self, version: str) -> str:
        """Return a new slot for the adjoint of a version."""
        port = self.ports[version]
        is_local = version in self.versions.kept or port in self.given.inputs
        axes = () if is_local else tuple(axis for axis in port.axes if self.given.turns[axis])
        return self._made(f"to_{version}", port.shape, axes)

    def _made(self, base: str, shape: tuple[int, ...], axes: tuple[str, ...] = ()) -> str:
        """Return a new slot."""
        name = self.name(base)
        self.ports[name] = Port(name, shape, axes)
        self.own.add(name)
        return name

    def _add(self, version: str, memory: str) -> None:
        """Add a memory to the adjoint of a version."""
        if version not in self.moving:
            return
        if version not in self.adjoints:
            self.adjoints[version] = memory
            return
        before, port = self.adjoints[version], Port("x", (self.ports[version].size,))
        self.adjoints[version] = target = self._own(version)
        both = (port, port._replace(name="y"))
        tape = trace("sum", lambda x, y: [a + b for a, b in zip(x, y, strict=True)], both, (port,))
        self.back.append(Block(tape, (before, memory), (target,)))

    def _own(self, version: str) -> str:
        """Return the slot that has the adjoint of a version, a new one where there is none."""
        found = self.adjoints.get(version, "")
        return found if found in self.own else self._slot(version)

    def _home(self, version: str) -> str:
        """Return the slot with the adjoint of a version, which is zero where there was none."""
        before, home = self.adjoints.get(version, ""), self._own(version)
        if home != before:
            self._put(Copy(before, home), self.ports[home].axes)
        self.adjoints[version] = home
        return home

    def _block(self, block: Block) -> None:
        """Append the tape that takes the adjoints of what a block wrote to those of what it read."""
        weights = [self.adjoints.pop(name, "") for name in block.writes]
        if not any(weights):
            return
        graph, inputs, names = Graph(), list[Port](), list[str | Entry]()

        def given(name: Any, size: int) -> list[Any]:
            if not name:
                return [0.0] * size
            inputs.append(Port(f"x{len(inputs)}", (size,)))
            names.append(name)
            return list(graph.inputs_like(size)[0])

        read = [given(name, port.size) for name, port in zip(block.reads, block.tape.inputs, strict=True)]
        pairs = zip(weights, block.tape.outputs, strict=True)
        sides = [x for name, port in pairs for x in given(name, port.size)]
        places = [k for k, name in enumerate(block.reads) if _key(name) in self.moving]
        shares = iter(gradient(block.tape.run(*read), sides, [x for k in places for x in read[k]]))
        sums: dict[Any, list[Any]] = {}
        for k in places:
            own = [next(shares) for _ in read[k]]
            before = sums.get(block.reads[k])
            sums[block.reads[k]] = own if before is None else [a + b for a, b in zip(before, own, strict=True)]
        outputs, targets, results = list[Port](), list[str](), list[Any]()
        entries: list[tuple[Entry, str]] = []
        for name, total in sums.items():
            if any(isinstance(x, Expr) or x != 0.0 for x in total):
                so_far = given(self.adjoints.get(name), len(total))
                results += [a + b for a, b in zip(so_far, total, strict=True)]
                outputs.append(Port(f"y{len(outputs)}", (len(total),)))
                if isinstance(name, Entry):
                    target = self._made(f"to_{name.field}", (len(total),))
                    entries.append((name, target))
                else:
                    self.adjoints[name] = target = self._own(name)
                targets.append(target)
        tape = lay(f"adjoint of {block.tape.name}", graph, results, inputs, outputs)
        self.back.append(trimmed(Block(tape, tuple(map(self._placed, names)), tuple(targets)), targets))
        self.back += (self.beside[x.items].add(x.field, x.item, target) for x, target in entries)

    def _turns(self, turns: Turns) -> None:
        """Append a loop that goes back."""
        axis, nodes, outside = turns.loop.axis, list(all_leaves(turns.nodes)), self.path
        uses, read = _uses(nodes), {x for node in nodes for x in reads(node)}
        self.path = [*outside, axis]
        streams = [
            x for x in self.by if axis in self.ports[x].axes and {*self.ports[x].axes} <= {*self.path} and uses[x]
        ]
        if twice := next((x for x in streams if uses[x] + 1 < self.uses[x]), ""):
            self._fail(f"two loops read the input '{twice}'; read it in one, and copy it to a slot")
        homes: dict[str, str] = {}  # what lasts from turn to turn, in one slot
        self.path = outside
        for name in sorted(x for x in uses if isinstance(x, str) and x in self.moving and uses[x] < self.uses[x]):
            is_entry = axis in self.ports[name].axes
            if not is_entry or (name in read and name not in self.adjoints and name not in self.by):
                homes[name] = self._home(name)
        outer, before = dict(self.adjoints), self.back
        self.adjoints, self.back, self.path = dict(outer), [], [*outside, axis]
        self._all(turns.nodes)
        for name in streams:
            self._put(Copy(self.adjoints.get(name, ""), f"by_{name}"))
        self._move({homes[x]: self.adjoints.get(x, "") for x in homes if axis not in self.ports[x].axes})
        again = self._forward(turns.body)
        names = {x: self._again(x) for x in sorted(written(again) - {*self.keep})}
        body = renamed((*again, *self.back), names)
        self.adjoints, self.back, self.path = outer, before, outside
        self.back.append(turns.loop._replace(body=body, is_backward=not turns.loop.is_backward))

    def _again(self, version: str) -> str:
        """Return another memory for a value that is computed again."""
        name = self.name(version)
        self.ports[name] = self.ports[version]._replace(name=name)
        return name

    def _sweep(self, sweep: Sweep) -> None:
        """Append a sweep that goes back."""
        weights = {name: self.adjoints[name] for name in sorted(written([sweep])) if name in self.adjoints}
        beside = self.beside.get(sweep.items) or Beside.of(sweep.items, (), [], is_begun=True)
        if weights or beside.is_weighed(sweep):
            zeroed = [name for name in weights if self.versions.partly.get(name) in self.moving]
            weights |= {name: self._home(name) for name in zeroed}
            read = sorted(x for x in reads(sweep) & self.moving if isinstance(x, str))
            self.back.append(beside.reversed(sweep, weights, {name: self._home(name) for name in read}, zeroed))

    def _move(self, moves: dict[str, str]) -> None:
        """Append copies to slots, at once."""
        moves = {target: source for target, source in moves.items() if target != source}
        for target, source in moves.items():
            if source in moves:
                moves[target] = self._slot(target)
                self._put(Copy(source, moves[target]))
        for target, source in moves.items():
            self._put(Copy(source, target))


def _key(name: str | Entry) -> Key:
    return (name.items, name.field) if isinstance(name, Entry) else name


def _uses(nodes: Iterable[Node]) -> Counter[Key]:
    """Return how many nodes use each memory and field."""
    return Counter(x for node in nodes for x in reads(node) | writes(node))

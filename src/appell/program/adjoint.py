"""Gradients of programs, as programs: reverse mode over blocks, loops and sweeps.

The values that the backward pass needs come first, each in a memory of its own (:mod:`appell.program.versions`). Then
the nodes are taken from the last to the first:

- of a block, one tape takes the adjoints of what the block wrote to those of what it read, to which it adds;
- a loop goes in the other direction; each turn computes the values of its body again, from the states at its start;
- a sweep goes in the other direction too; a field has its adjoint beside it, among the fields of the same items, and
  must keep its value once it has been read.

Only what is on a path from the inputs to the outputs has an adjoint.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from appell.errors import TraceError
from appell.program import nodes as ir
from appell.program.life import Key, places_of, reached, reads, writes, written
from appell.program.prune import pruned, trimmed
from appell.program.versions import Turns, Versions, all_leaves
from appell.trace.derive import gradient
from appell.trace.expr import Expr, Graph
from appell.trace.tape import Port, Tape, lay, lay_parts, trace


class Beside:
    """The adjoints of some fields of items, beside them."""

    def __init__(self, items: ir.Items, names: Iterable[str]) -> None:
        self.given, self.names = items, dict[str, str]()
        for name in names:
            free = (f"by_{name}{'_' * k}" for k in range(len(items.fields)))
            self.names[name] = next(x for x in free if x not in items.fields)
        sizes = {mark: items.fields[name] for name, mark in self.names.items()}
        self.items = replace(items, fields=items.fields | sizes)

    def cleared(self) -> ir.Sweep:
        """Return the sweep over all items that sets the adjoints to zero."""
        count = sum(self.items.fields[name] for name in self.names)
        tape = trace("zero", lambda: [0.0] * count, [], [Port("results", (count,))])
        stages = (ir.Stage(tape),) * (max(item.kind for item in self.items.rows) + 1)
        return ir.Sweep(self.items, inward=False, fields=ir.Fields(writes=(*self.names.values(),)), stages=stages)

    def added(self, name: str, item: int, memory: str) -> ir.Walk:
        """Return the walk of one step that adds a memory to the adjoint of a field of one item."""
        size, own = self.items.fields[name], (self.names[name],)
        stages = (None,) * (max(x.kind for x in self.items.rows) + 1)
        first = (ir.Stage(total(size), (ir.Share(memory, size),)),)
        return ir.Walk(self.items, ir.Fields(own=own, writes=own), 0, (ir.Start(item, 0, 0),), first, stages)

    def reversed(
        self, sweep: ir.Sweep, weights: Mapping[str, str], sums: Mapping[str, str], zeroed: Collection[str]
    ) -> ir.Sweep:
        """Return the sweep that takes the adjoints of what a sweep gives to those of what it reads.

        `weights` and `sums` are the adjoints of the memories that the sweep writes and reads; those in `zeroed` become
        zero where the sweep has written.
        """
        given, names = sweep.fields, self.names
        own, parent, root, writes, adds, sums_ = (tuple(names[x] for x in part if x in names) for part in given)
        fields = ir.Fields(
            own=(*given.own, *writes, *own),
            parent=(*given.parent, *adds),
            root=(*given.root, *sums_),
            writes=own,
            adds=parent,
            sums=root,
        )

        def stage(one: ir.Stage) -> ir.Stage:
            graph, sizes = Graph(), self.items.fields
            count = sweep.items.n_constants(given, one)
            read = [share for share in dict.fromkeys(one.inputs) if share.memory in sums]
            weighed = [share for share in one.outputs if share.memory in weights]
            clear = [_at(share, weights) for share in weighed if share.memory in zeroed]
            inputs = (*one.inputs, *(_at(share, weights) for share in weighed), *(_at(share, sums) for share in read))
            constants, *shares = graph.inputs_like(count, *(share.size for share in inputs))
            n, w = len(one.inputs), len(weighed)
            fresh = [dict(zip(part, graph.inputs_like(*(sizes[x] for x in part)), strict=True)) for part in fields[:3]]
            seen = [[at[x] for x in part] for at, part in zip(fresh, given, strict=False)]
            found = one.tape.run(constants, *shares[:n], *chain(*seen))
            changes = ((at, x) for at, part in zip(fresh, given[3:], strict=True) for x in part)
            sides = [at.get(names.get(x, ""), (0.0,) * sizes[x]) for at, x in changes]
            by_share = dict(zip(weighed, shares[n : n + w], strict=True))
            sides += (by_share.get(share, (0.0,) * share.size) for share in one.outputs)
            moving = [x for share, x in zip(one.inputs, shares, strict=False) if share in read]
            moving += (at[x] for at, part in zip(fresh, given, strict=False) for x in part if x in names)
            by = iter(gradient(found, [*chain(*sides)], [*chain(*moving)]))
            totals = dict(zip(read, map(list, shares[n + w :]), strict=True))
            for share in (share for share in one.inputs if share in read):
                totals[share] = [a + next(by) for a in totals[share]]
            results = [a + next(by) for name in own for a in fresh[0][name]]
            results += [*by, *chain(*totals.values()), *([0.0] * sum(share.size for share in clear))]
            ports = Port("x", (len(graph.inputs),)), Port("results", (len(results),))
            tape = lay(f"adjoint of {one.tape.name}", graph, results, ports[:1], ports[1:])
            return ir.Stage(tape, inputs, (*(_at(share, sums) for share in read), *clear))

        stages = tuple(None if one is None else stage(one) for one in sweep.stages)
        return ir.Sweep(self.items, not sweep.inward, fields, stages)


def total(size: int) -> Tape:
    """Return the tape of the sum of two memories."""
    ports = [Port("x", (size,)), Port("y", (size,))]
    return trace("sum", lambda x, y: [a + b for a, b in zip(x, y, strict=True)], ports, ports[:1])


def beside(tables: Iterable[ir.Items], nodes: tuple[Any, ...], moving: Collection[Key]) -> dict[ir.Items, Beside]:
    """Return the adjoints of fields by items, for the nodes of a program in versions."""
    found: dict[ir.Items, Beside] = {}
    for items in tables:
        names = [name for name in items.fields if (items, name) in moving]
        lists = list(_lists(nodes, items))
        begins = [isinstance(node, ir.Begin) for own in lists for node in own]
        if names and (len(lists) > 1 or any(begins[1:])):
            raise TraceError("fields are used in several loops, or begun twice; give each its own items")
        _check([node for own in lists for node in own if isinstance(node, ir.Sweep)], moving)
        if names:
            found[items] = Beside(items, names)
    return found


def _lists(nodes: tuple[Any, ...], items: ir.Items) -> Iterator[list[ir.Begin | ir.Sweep]]:
    """Yield what each list of nodes has of sweeps of some items."""
    if own := [node for node in nodes if isinstance(node, ir.Begin | ir.Sweep) and node.items is items]:
        yield own
    for node in nodes:
        if isinstance(node, Turns):
            yield from _lists(node.body, items)


def _check(sweeps: Iterable[ir.Sweep], moving: Collection[Key]) -> None:
    """Raise an error where a field of some items does not keep its value through their sweeps, or shares overlap."""
    seen, changed = set[str](), set[str]()
    for sweep in sweeps:
        own, parent, root, writes_, adds, sums = map(set, sweep.fields)
        above, added = parent | root, adds | sums
        wrong = seen & (writes_ | added)
        if not writes(sweep).isdisjoint(moving):
            wrong |= own & writes_ | writes_ & (added | changed) | above & added
            wrong |= above & writes_ if sweep.inward else own & added
            seen |= own | above
            if _overlaps(sweep, moving):
                raise TraceError(f"shares of step '{next(ir.stages(sweep))[0].tape.name}' overlap")
        changed |= writes_ | added
        if wrong:
            raise TraceError(f"field '{min(wrong)}' changes after it is read or written")


def _overlaps(sweep: ir.Sweep, moving: Collection[Key]) -> bool:
    """Return whether two steps write one number, or a step reads one by two shares."""
    places: dict[Any, list[range]] = defaultdict(list)
    for k, share, own in dict.fromkeys(places_of(sweep, "inputs")):
        places[k, share.memory].append(own)
    for _, share, own in places_of(sweep, "outputs"):
        places["", share.memory].append(own)
    overlapping = (key for key, own in places.items() if len(set().union(*own)) < sum(map(len, own)))
    return any(memory in moving for _, memory in overlapping)


def _at(share: ir.Share, memories: Mapping[str, str]) -> ir.Share:
    return share._replace(memory=memories[share.memory])


def adjoint(program: ir.Program, by: Sequence[str], of: Sequence[str], keep: Sequence[str] = ()) -> ir.Program:
    """Return the program of Σ wᵀ∂y/∂x by some inputs x, for weights w of some outputs y.

    Its inputs are those of the program, then `w_<output>` per weighed output. A loop whose number of turns is known at
    run time only is not run forward: the states that it carries are inputs `kept_<slot>` with the loop's axis, as they
    are at the start of each turn; only those that matter are among the inputs. The outputs are `by_<input>`, then the
    outputs `keep` of the program itself.

    >>> from appell.program.nodes import straight
    >>> from appell.program.run import run
    >>> from appell.trace.tape import trace
    >>> square = straight(trace("square", lambda x: (x[0] * x[0],), [Port("x", (1,))], [Port("y", ())]))
    >>> run(adjoint(square, ["x"], ["y"]), [3.0], [1.0])
    [6.0]
    """
    try:
        return _Adjoint(program, by, of, keep).program()
    except TraceError as error:
        raise TraceError(f"program '{program.name}': adjoint: {error}") from None


def recorded(program: ir.Program, states: Sequence[Port]) -> ir.Program:
    """Return a program that also gives the states which its adjoint reads, those of its inputs `kept_<slot>`."""

    def copied(port: Port, path: tuple[str, ...]) -> Any:
        return ir.looped(ir.Copy(port.name.removeprefix("kept_"), port.name), port.axes[len(path) :], program.turns)

    def with_copies(nodes: Iterable[ir.Node], path: tuple[str, ...]) -> tuple[ir.Node, ...]:
        made = (copied(port, path) for port in states if path == tuple(x for x in port.axes if not program.turns[x]))
        inner = (x._replace(body=with_copies(x.body, (*path, x.axis))) if isinstance(x, ir.Loop) else x for x in nodes)
        return (*made, *inner)

    return replace(program, outputs=(*program.outputs, *states), nodes=with_copies(program.nodes, ()))


class _Adjoint:
    """The construction of an adjoint."""

    def __init__(self, program: ir.Program, by: Sequence[str], of: Sequence[str], keep: Sequence[str]) -> None:
        self.given, self.by, self.of, self.keep = program, by, of, keep
        known = {*(port.name for port in program.inputs)}, {*(port.name for port in program.outputs)}
        if unknown := ({*by} - known[0]) | ({*of, *keep} - known[1]):
            raise TraceError(f"no input or output '{min(unknown)}'")
        if unkept := {*keep} & written(node for node in program.nodes if isinstance(node, ir.Loop)):
            raise TraceError(f"output '{min(unkept)}' is written in a loop and cannot be kept")
        self.versions = Versions(program, of, keep)
        self.ports = self.versions.ports
        nodes = list(all_leaves(self.versions.nodes))
        results = [self.versions.given[name] for name in of if name in self.versions.given]
        self.moving = reached(nodes, by) & reached(nodes, results, is_backward=True)
        """What is on a path from inputs to outputs."""
        self.beside = beside(program.tables, self.versions.nodes, self.moving)
        self.uses = Counter[Key]([*results, *by]) + _uses(nodes)
        self.own: set[str] = set()
        """The slots of adjoints."""
        self.adjoints: dict[Any, str] = {}
        """The memory with the adjoint of a version, so far."""
        self.back: list[ir.Node] = []
        self.path: list[str] = []

    def program(self) -> ir.Program:
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
                self._put(ir.Copy(self.adjoints.get(name, ""), port.name), port.axes)
        made = ir.Program(
            f"adjoint of {given.name}",
            (*given.inputs, *weights, *(self.ports[name] for name in versions.streams)),
            (*results, *(outputs[name] for name in self.keep)),
            (*self._forward(versions.nodes), *self.back),
            tuple(port for name, port in self.ports.items() if name not in inputs and name not in versions.streams),
        )
        return versions.finished(pruned(made))

    # Forward

    def _forward(self, nodes: Iterable[Any]) -> tuple[ir.Node, ...]:
        """Return nodes as they run forward, but for loops whose number of turns is known at run time only."""
        made: list[ir.Node] = []
        for node in nodes:
            if not isinstance(node, Turns):
                made.append(self._placed(node))
            elif node.loop.turns:
                made.append(node.loop._replace(body=self._forward(node.nodes)))
        return tuple(made)

    def _placed(self, node: Any) -> Any:
        """Return a node, or the field of an item that it reads, on the items that have adjoints."""
        if isinstance(node, ir.Block):
            return node._replace(reads=tuple(map(self._placed, node.reads)))
        found = self.beside.get(node.items) if isinstance(node, ir.Begin | ir.Sweep | ir.Walk | ir.Entry) else None
        return node._replace(items=found.items) if found else node

    # Backward

    def _all(self, nodes: tuple[Any, ...]) -> None:
        for node in reversed(nodes):
            match node:
                case Turns():
                    self._turns(node)
                case ir.Block():
                    self._block(node)
                case ir.Copy(source, target) if target in self.adjoints:
                    self._add(source, self.adjoints.pop(target))
                case ir.Walk() if writes(node) & self.moving:
                    raise TraceError("the results depend on a walk, which has no adjoint")
                case ir.Sweep() if writes(node) & self.moving:
                    self._sweep(node)
        tables = dict.fromkeys(node.items for node in nodes if isinstance(node, ir.Sweep) and node.items in self.beside)
        self.back[:0] = (self.beside[items].cleared() for items in tables)

    def _put(self, node: ir.Copy | ir.Block, axes: Iterable[str]) -> None:
        """Append a node, in loops of those axes that are not open."""
        self.back.append(ir.looped(node, (axis for axis in axes if axis not in self.path), self.given.turns))

    def _own(self, version: str) -> str:
        """Return the slot that has the adjoint of a version, a new one where there is none."""
        found, port = self.adjoints.get(version, ""), self.ports[version]
        if found not in self.own:
            own = self.given.targets[kept].axes if (kept := self.versions.kept.get(version)) else port.axes
            axes = () if version in self.by else tuple(axis for axis in own if self.given.turns[axis])
            found = self.versions.memory(f"to_{version}", port._replace(axes=axes))
            self.own.add(found)
        return found

    def _home(self, version: str) -> str:
        """Return the slot with the adjoint of a version, which is zero where there was none."""
        before, home = self.adjoints.get(version, ""), self._own(version)
        if home != before:
            self._put(ir.Copy(before, home), self.ports[home].axes)
        self.adjoints[version] = home
        return home

    def _add(self, version: str, memory: str) -> None:
        """Add a memory to the adjoint of a version."""
        if version in self.moving and version in self.adjoints:
            before, target = self.adjoints[version], self._own(version)
            self._put(ir.Block(total(self.ports[version].size), (before, memory), (target,)), self.ports[target].axes)
            self.adjoints[version] = target
        elif version in self.moving:
            self.adjoints[version] = memory

    def _block(self, block: ir.Block) -> None:
        """Append the tape that takes the adjoints of what a block wrote to those of what it read."""
        weights = [self.adjoints.pop(name, "") for name in block.writes]
        if not any(weights):
            return
        graph, pairs = Graph(), list(zip(weights, block.tape.outputs, strict=True))
        read = graph.inputs_like(*(port.size for port in block.tape.inputs))
        sides = [graph.inputs_like(port.size)[0] if name else (0.0,) * port.size for name, port in pairs]
        inputs: list[Any] = [*read, *(side for side, name in zip(sides, weights, strict=True) if name)]
        names = [*map(self._placed, block.reads), *filter(None, weights)]
        moving = [(name, x) for name, x in zip(block.reads, read, strict=True) if _key(name) in self.moving]
        by = iter(gradient(block.tape.run(*read), [*chain(*sides)], [*chain(*(x for _, x in moving))]))
        sums: dict[str | ir.Entry, list[Any]] = {}
        for name, x in moving:
            sums[name] = [a + next(by) for a in sums.get(name, (0.0,) * len(x))]
        targets: list[str] = []
        after: list[ir.Node] = []
        results = [(name, own) for name, own in sums.items() if any(isinstance(x, Expr) or x != 0.0 for x in own)]
        for name, own in results:
            if isinstance(name, ir.Entry):
                targets.append(self.versions.memory(f"to_{name.field}", Port("", (len(own),))))
                after.append(self.beside[name.items].added(name.field, name.item, targets[-1]))
                continue
            if name in self.adjoints:
                inputs.append(graph.inputs_like(len(own))[0])
                names.append(self.adjoints[name])
                own[:] = (a + b for a, b in zip(inputs[-1], own, strict=True))
            self.adjoints[name] = self._own(name)
            targets.append(self.adjoints[name])
        tape = lay_parts(f"adjoint of {block.tape.name}", graph, inputs, [own for _, own in results])
        self.back += [trimmed(ir.Block(tape, tuple(names), tuple(targets)), targets), *after]

    def _sweep(self, sweep: ir.Sweep) -> None:
        """Append a sweep that goes back."""
        weights = {name: self.adjoints[name] for name in sorted(written([sweep])) if name in self.adjoints}
        zeroed = [name for name in weights if self.versions.partly.get(name) in self.moving]
        weights |= {name: self._home(name) for name in zeroed}
        sums = {x: self._home(x) for x in sorted(x for x in reads(sweep) & self.moving if isinstance(x, str))}
        found = self.beside.get(sweep.items) or Beside(sweep.items, ())
        self.back.append(found.reversed(sweep, weights, sums, zeroed))

    def _turns(self, turns: Turns) -> None:
        """Append a loop that goes back."""
        axis, nodes, path = turns.loop.axis, list(all_leaves(turns.nodes)), self.path
        uses, read = _uses(nodes), {x for node in nodes for x in reads(node)}
        streams = [x for x in self.by if uses[x] and axis in (own := self.ports[x].axes) and {*own} <= {*path, axis}]
        if twice := [x for x in streams if uses[x] + 1 < self.uses[x]]:
            raise TraceError(f"two loops read the input '{twice[0]}'; read it in one, and copy it to a slot")
        homes: dict[str, str] = {}  # what lasts from turn to turn, in one slot
        shared = sorted(x for x in uses if isinstance(x, str) and x in self.moving and uses[x] < self.uses[x])
        entries = [x for x in shared if axis in self.ports[x].axes and x not in self.by]
        for name in shared:
            if axis not in self.ports[name].axes:
                homes[name] = self._home(name)
            elif name in entries and name in read and name not in self.adjoints:
                self._home(name)
        outer, before = self.adjoints, self.back
        self.adjoints, self.back, self.path = dict(outer), [], [*path, axis]
        self._all(turns.nodes)
        outer = {x: y for x, y in outer.items() if x not in entries} | {
            x: self.adjoints[x] for x in entries if x in self.adjoints
        }
        for name in streams:
            self._put(ir.Copy(self.adjoints.get(name, ""), f"by_{name}"), ())
        self._move({home: self.adjoints.get(x, "") for x, home in homes.items()})
        again = self._forward(turns.body)
        names = {x: self.versions.memory(x, self.ports[x]) for x in sorted(written(again))}
        body = ir.renamed((*again, *self.back), names)
        self.adjoints, self.back, self.path = outer, before, path
        self.back.append(turns.loop._replace(body=body, is_backward=not turns.loop.is_backward))

    def _move(self, moves: dict[str, str]) -> None:
        """Append copies to slots, at once."""
        moves = {target: source for target, source in moves.items() if target != source}
        for target, source in moves.items():
            if source in moves:
                moves[target] = self.versions.memory(source, self.ports[source])
                self._put(ir.Copy(source, moves[target]), self.ports[source].axes)
        for target, source in moves.items():
            self._put(ir.Copy(source, target), self.ports[target].axes)


def _key(name: str | ir.Entry) -> Key:
    return (name.items, name.field) if isinstance(name, ir.Entry) else name


def _uses(nodes: Iterable[ir.Node]) -> Counter[Key]:
    """Return how many nodes use each memory and field."""
    return Counter(x for node in nodes for x in reads(node) | writes(node))

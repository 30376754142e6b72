"""Adjoints of sweeps: each field has its adjoint beside it, and a sweep becomes one in the other direction.

At an item, the weights are the adjoints of what the step wrote, of what it added to the parent's and the root's, and of
its shares; the gradients are added to the adjoints of what it read. So a field must keep its value once it is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from appell.errors import TraceError
from appell.program.life import Key, places_of, writes
from appell.program.nodes import Begin, Fields, Items, Share, Stage, Start, Sweep, Walk
from appell.program.versions import Turns
from appell.trace.adjoint import gradient
from appell.trace.expr import Graph
from appell.trace.tape import Port, Tape, lay, trace


class Beside:
    """The adjoints of some fields of items, beside them."""

    def __init__(self, items: Items, names: Iterable[str]) -> None:
        self.given, self.names = items, dict[str, str]()
        for name in names:
            free = (f"by_{name}{'_' * k}" for k in range(len(items.fields)))
            self.names[name] = next(x for x in free if x not in items.fields)
        sizes = {mark: items.fields[name] for name, mark in self.names.items()}
        self.items = replace(items, fields=items.fields | sizes)

    def cleared(self) -> Sweep:
        """Return the sweep over all items that sets the adjoints to zero."""
        count = sum(self.items.fields[name] for name in self.names)
        tape = trace("zero", lambda: [0.0] * count, [], [Port("results", (count,))])
        stages = (Stage(tape),) * (max(item.kind for item in self.items.rows) + 1)
        return Sweep(self.items, inward=False, fields=Fields(writes=(*self.names.values(),)), stages=stages)

    def added(self, name: str, item: int, memory: str) -> Walk:
        """Return the walk of one step that adds a memory to the adjoint of a field of one item."""
        size, own = self.items.fields[name], (self.names[name],)
        stages = (None,) * (max(x.kind for x in self.items.rows) + 1)
        first = (Stage(total(size), (Share(memory, size),)),)
        return Walk(self.items, Fields(own=own, writes=own), 0, (Start(item, 0, 0),), first, stages)

    def reversed(
        self, sweep: Sweep, weights: Mapping[str, str], sums: Mapping[str, str], zeroed: Collection[str]
    ) -> Sweep:
        """Return the sweep that takes the adjoints of what a sweep gives to those of what it reads.

        `weights` and `sums` are the adjoints of the memories that the sweep writes and reads; those in `zeroed` become
        zero where the sweep has written.
        """
        given, names = sweep.fields, self.names
        own, parent, root, writes, adds, sums_ = (tuple(names[x] for x in part if x in names) for part in given)
        fields = Fields(
            own=(*given.own, *writes, *own),
            parent=(*given.parent, *adds),
            root=(*given.root, *sums_),
            writes=own,
            adds=parent,
            sums=root,
        )

        def stage(one: Stage) -> Stage:
            graph, sizes = Graph(), self.items.fields
            count = sum(slot.where == "constant" for slot in sweep.items.sources(given, one))
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
            return Stage(tape, inputs, (*(_at(share, sums) for share in read), *clear))

        stages = tuple(None if one is None else stage(one) for one in sweep.stages)
        return Sweep(self.items, not sweep.inward, fields, stages)


def total(size: int) -> Tape:
    """Return the tape of the sum of two memories."""
    ports = [Port("x", (size,)), Port("y", (size,))]
    return trace("sum", lambda x, y: [a + b for a, b in zip(x, y, strict=True)], ports, ports[:1])


def beside(tables: Iterable[Items], nodes: tuple[Any, ...], moving: Collection[Key]) -> dict[Items, Beside]:
    """Return the adjoints of fields by items, for the nodes of a program in versions."""
    found: dict[Items, Beside] = {}
    for items in tables:
        names = [name for name in items.fields if (items, name) in moving]
        lists = list(_lists(nodes, items))
        begins = [isinstance(node, Begin) for own in lists for node in own]
        if names and (len(lists) > 1 or any(begins[1:])):
            raise TraceError("fields are used in several loops, or begun twice; give each its own items")
        _check([node for own in lists for node in own if isinstance(node, Sweep)], moving)
        if names:
            found[items] = Beside(items, names)
    return found


def _lists(nodes: tuple[Any, ...], items: Items) -> Iterator[list[Begin | Sweep]]:
    """Yield what each list of nodes has of sweeps of some items."""
    if own := [node for node in nodes if isinstance(node, Begin | Sweep) and node.items is items]:
        yield own
    for node in nodes:
        if isinstance(node, Turns):
            yield from _lists(node.body, items)


def _check(sweeps: Iterable[Sweep], moving: Collection[Key]) -> None:
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
                raise TraceError(f"shares of step '{next(filter(None, sweep.stages)).tape.name}' overlap")
        changed |= writes_ | added
        if wrong:
            raise TraceError(f"field '{min(wrong)}' changes after it is read or written")


def _overlaps(sweep: Sweep, moving: Collection[Key]) -> bool:
    """Return whether two steps write one number, or a step reads one by two shares."""
    places: dict[Any, list[range]] = defaultdict(list)
    for k, share, own in dict.fromkeys(places_of(sweep, "inputs")):
        places[k, share.memory].append(own)
    for _, share, own in places_of(sweep, "outputs"):
        places["", share.memory].append(own)
    overlapping = (key for key, own in places.items() if len(set().union(*own)) < sum(map(len, own)))
    return any(memory in moving for _, memory in overlapping)


def _at(share: Share, memories: Mapping[str, str]) -> Share:
    return share._replace(memory=memories[share.memory])

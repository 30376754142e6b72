"""Adjoints of sweeps: each field has its adjoint beside it, and a sweep becomes one in the other direction.

At an item, the weights are the adjoints of what the step wrote, of what it added to the parent's and the root's, and of
its shares; the gradients are added to the adjoints of what it read. So a field must keep its value once it is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from appell.program.life import places_of
from appell.program.nodes import Fields, Items, Share, Stage, Start, Sweep, Walk
from appell.trace.adjoint import gradient
from appell.trace.expr import Graph
from appell.trace.tape import Port, flatten, lay, trace


@dataclass
class Beside:
    """The adjoints of the fields of items, on the way back."""

    items: Items
    """The items with the adjoints among their fields."""
    names: dict[str, str]
    """The fields that have an adjoint, and its name."""
    sweeps: list[Sweep]
    is_begun: bool
    """Whether a program sets the root's fields to zero."""
    known: set[str] = field(default_factory=set)
    """The fields whose adjoint is set."""
    cleared: list[str] = field(default_factory=list)
    """The adjoints that must be zero at first."""

    @classmethod
    def of(cls, items: Items, names: Iterable[str], sweeps: list[Sweep], *, is_begun: bool) -> Beside:
        """Return the adjoints of some fields."""
        marked: dict[str, str] = {}
        for name in names:
            marked[name] = next(x for k in range(9) if (x := f"by_{name}{'_' * k}") not in items.fields)
        fields = items.fields | {mark: items.fields[name] for name, mark in marked.items()}
        return cls(replace(items, fields=fields), marked, sweeps, is_begun)

    def clear(self, name: str) -> None:
        """Let the adjoint of a field be zero at first, if it is not set."""
        if name not in self.known:
            self.known.add(name)
            self.cleared.append(self.names[name])

    def clearing(self) -> Iterator[Sweep]:
        """Yield the sweep over all items that sets adjoints to zero."""
        if self.cleared:
            count = sum(self.items.fields[name] for name in self.cleared)
            tape = trace("zero", lambda: [0.0] * count, [], [Port("results", (count,))])
            kinds = max(item.kind for item in self.items.rows) + 1
            yield Sweep(
                self.items, inward=False, fields=Fields(writes=tuple(self.cleared)), stages=(Stage(tape),) * kinds
            )

    def add(self, name: str, item: int, memory: str) -> Walk:
        """Return the walk of one step that adds a memory to the adjoint of a field of one item."""
        self.clear(name)
        size, own = self.items.fields[name], (self.names[name],)
        port = Port("x", (size,))
        tape = trace("sum", lambda x, y: [a + b for a, b in zip(x, y, strict=True)], [port, port], [port])
        stages = (None,) * (max(x.kind for x in self.items.rows) + 1)
        first = (Stage(tape, (Share(memory, size),)),)
        return Walk(self.items, Fields(own=own, writes=own), 0, (Start(item, 0, 0),), first, stages)

    def is_weighed(self, sweep: Sweep) -> bool:
        """Return whether a field that a sweep changes has an adjoint."""
        return not self.known.isdisjoint(_changed(sweep.fields))

    def reversed(
        self, sweep: Sweep, weights: Mapping[str, str], sums: Mapping[str, str], zeroed: Collection[str]
    ) -> Sweep:
        """Return the sweep that takes the adjoints of what a sweep gives to those of what it reads.

        `weights` and `sums` are the adjoints of the memories that the sweep writes and reads; those in `zeroed` become
        zero where the sweep has written.
        """
        given, names = sweep.fields, self.names
        above = Fields(parent=_among(given.parent, names), root=_among(given.root, names), own=_among(given.own, names))
        for name in (*above.parent, *above.root, *(x for x in above.own if not self._is_whole(sweep, x))):
            self.clear(name)
        before = _among(above.own, self.known)
        changed = [
            _among(given.writes, self.known),
            *(_among(part, self.known | {*above.own}) for part in (given.adds, given.sums)),
        ]
        self.known.update(above.own)
        writes, adds, root_sums = (tuple(names[x] for x in part) for part in changed)
        fields = Fields(
            own=(*given.own, *writes, *(names[x] for x in before)),
            parent=(*given.parent, *adds),
            root=(*given.root, *root_sums),
            writes=tuple(names[x] for x in above.own),
            adds=tuple(names[x] for x in above.parent),
            sums=tuple(names[x] for x in above.root),
        )

        def stage(one: Stage | None) -> Stage | None:
            return None if one is None else self._stage(sweep, one, fields, before, weights, sums, zeroed)

        return Sweep(self.items, not sweep.inward, fields, tuple(map(stage, sweep.stages)))

    def _stage(
        self,
        sweep: Sweep,
        one: Stage,
        fields: Fields,
        before: tuple[str, ...],
        weights: Mapping[str, str],
        sums: Mapping[str, str],
        zeroed: Collection[str],
    ) -> Stage:
        """Return the reversed step of a class; `before` are the fields read whose adjoints are set."""
        graph, sizes, names, given = Graph(), self.items.fields, self.names, sweep.fields
        count = sum(slot.where == "constant" for slot in sweep.items.sources(given, one))
        read = [share for share in dict.fromkeys(one.inputs) if share.memory in sums]
        weighed = [share for share in one.outputs if share.memory in weights]
        inputs = (*one.inputs, *(_at(share, weights) for share in weighed), *(_at(share, sums) for share in read))
        constants, *shares = graph.inputs_like(count, *(share.size for share in inputs))
        own, parent, root = (
            dict(zip(part, graph.inputs_like(*(sizes[x] for x in part)), strict=True))
            for part in (fields.own, fields.parent, fields.root)
        )
        n, w, seen = len(one.inputs), len(weighed), (own, parent, root)
        values = (constants, *shares[:n], *(at[x] for at, part in zip(seen, given, strict=False) for x in part))
        pairs = zip(seen, (given.writes, given.adds, given.sums), strict=True)
        sides = [at.get(names.get(x, ""), (0.0,) * sizes[x]) for at, part in pairs for x in part]
        by_share = dict(zip(weighed, shares[n : n + w], strict=True))
        sides += (by_share.get(share, (0.0,) * share.size) for share in one.outputs)
        moving = [(share, x) for share, x in zip(one.inputs, shares, strict=False) if share in read]
        groups = [x for _, x in moving]
        groups += (at[x] for at, part in zip(seen, given, strict=False) for x in part if x in names)
        found = iter(gradient(one.tape.run(flatten(values)), [*flatten(tuple(sides))], [*flatten(tuple(groups))]))
        totals = dict(zip(read, map(list, shares[n + w :]), strict=True))
        for share, numbers in moving:
            totals[share] = [a + next(found) for a, _ in zip(totals[share], numbers, strict=True)]
        results: list[Any] = []
        for name in _among(given.own, names):
            so_far = own[names[name]] if name in before else (0.0,) * sizes[name]
            results += [a + next(found) for a in so_far]
        results += [*found, *flatten(tuple(totals.values()))]
        clear = [share for share in weighed if share.memory in zeroed]
        results += [0.0] * sum(share.size for share in clear)
        ports = Port("x", (len(graph.inputs),)), Port("results", (len(results),))
        tape = lay(f"adjoint of {one.tape.name}", graph, results, ports[:1], ports[1:])
        outputs = (*(_at(share, sums) for share in read), *(_at(share, weights) for share in clear))
        return Stage(tape, inputs, outputs)

    def _is_whole(self, sweep: Sweep, name: str) -> bool:
        """Return whether a sweep visits every item, but the root, where others use a field."""
        items = sweep.items
        users = [one for one in self.sweeps if name in (*one.fields.own, *one.fields.parent, *one.fields.writes)]
        visited, used = set(_visited(sweep)), {k for one in users for k in _visited(one)}
        used |= {items.rows[k].parent for one in self.sweeps if name in one.fields.adds for k in _visited(one)}
        return self.is_begun and used - {0} <= visited


def problem(nodes: Iterable[Sweep], moving: Collection[Any]) -> str:
    """Return what keeps a sequence of sweeps of some items from going back, "" if nothing does."""
    seen, changed = set[str](), set[str]()
    for sweep in nodes:
        own, parent, root, writes, adds, sums = map(set, sweep.fields)
        above, added, wrong = parent | root, adds | sums, seen & _changed(sweep.fields)
        if moves := any((sweep.items, x) in moving for x in _changed(sweep.fields)) or any(
            share.memory in moving for stage in sweep.stages if stage is not None for share in stage.outputs
        ):
            wrong |= own & writes | writes & added | above & added | writes & changed
            wrong |= above & writes if sweep.inward else own & added
        if wrong:
            return f"field '{min(wrong)}' changes after it is read or written"
        if moves:
            seen |= own | above
            if _overlaps(sweep, moving):
                return f"shares of step '{next(filter(None, sweep.stages)).tape.name}' overlap"
        changed |= _changed(sweep.fields)
    return ""


def _overlaps(sweep: Sweep, moving: Collection[Any]) -> bool:
    """Return whether two steps write one number, or a step reads one by two shares."""
    places: dict[Any, list[range]] = defaultdict(list)
    for k, share, own in dict.fromkeys(places_of(sweep, "inputs")):
        places[k, share.memory].append(own)
    for _, share, own in places_of(sweep, "outputs"):
        places["", share.memory].append(own)
    return any(len(set().union(*own)) < sum(map(len, own)) for (_, memory), own in places.items() if memory in moving)


def _visited(sweep: Sweep) -> Iterator[int]:
    """Yield the items with a step."""
    return (k for k, item in enumerate(sweep.items.rows) if sweep.stages[item.kind] is not None)


def _at(share: Share, memories: Mapping[str, str]) -> Share:
    return share._replace(memory=memories[share.memory])


def _among(names: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    return tuple(x for x in names if x in known)


def _changed(fields: Fields) -> set[str]:
    return {*fields.writes, *fields.adds, *fields.sums}

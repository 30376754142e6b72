"""Stretches of a tape that repeat: the same operations on other values, as for the columns of a matrix.

Straight-line code that runs once per vector of samples is fetched again every time, and so is its data. A stretch that
repeats is compiled once, as a loop: its code and the values that all iterations read stay in the innermost caches, and
LLVM has less to compile.

A stretch is found by the operations alone. Steps at a distance of a period are alike if they do the same; from runs of
such steps the iterations are cut, and then every argument is classified. It is a value of the same iteration, a value
that all iterations read, or one that each iteration has of its own, known before the iteration starts.

The rules of tracing move signs through sums and products, so that iterations differ in them: one has a + b where
another has a − b. They are alike if signs σ of their own values make them equal. Of a step σ follows from its
arguments: of x·y it is σₓσᵧ, of x ± y it is σₓ, which must be ±σᵧ. That is a linear system over the field of two
elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.trace.expr import Op
from appell.trace.tape import Tape

SHORTEST = 60
"""Steps of an iteration; fewer are not worth the loads and stores around them."""
FEWEST = 3
"""Iterations."""
LEAST_SAVED = 400
"""Steps that a loop spares."""
TRAFFIC = 0.75
"""Loads and stores of an iteration's own values per step, at most."""
NEAR = 8
"""Distance up to which an argument is compared in the search."""
WINDOW = 24
"""Neighbouring steps whose recurrence suggests a period."""
CANDIDATES = 48
"""Periods that are tried."""

SUITED = [int(op) for op in (Op.ADD, Op.MUL, Op.DIV)]
"""Operations of loops, but for signs: others do not pass signs on."""

Ints = NDArray[np.int64]


class Repeat(NamedTuple):
    """A loop: the steps of each iteration, by position, and which arguments are an iteration's own.

    `own[i, k]` is the number of argument k of step i of the first iteration among `reads`, which has the values of all
    iterations. `results` are the places, among the steps of an iteration, of what others read, and `made` those values
    or, where others read only its opposite, that. `signs` are, per iteration, those of its reads and of what is made.
    """

    steps: tuple[tuple[int, ...], ...]
    own: dict[tuple[int, int], int]
    reads: tuple[tuple[int, ...], ...]
    results: tuple[int, ...]
    made: tuple[tuple[int, ...], ...]
    signs: tuple[tuple[bool, ...], ...]

    @property
    def makes(self) -> tuple[int, ...]:
        """Return what others read, iteration by iteration."""
        return tuple(i for made in self.made for i in made)

    def given(self, tape: Tape) -> tuple[int, ...]:
        """Return the values from outside that are no constants, each once."""
        inside = {i for steps in self.steps for i in steps}
        common = (
            j
            for i in self.steps[0]
            for k, argument in enumerate(tape.steps[i - tape.n_inputs].args)
            if (i, k) not in self.own and not _is_constant(tape, j := without_sign(tape, argument)[0])
        )
        found = dict.fromkeys((*common, *(j for reads in self.reads for j in reads)))
        return tuple(j for j in found if j not in inside)


def repeats(tape: Tape) -> list[Repeat]:
    """Return the loops of a tape, in order."""
    line = _Line(tape)
    found: list[tuple[range, Repeat]] = []
    for stretch, period in line.candidates():
        for start, stop in _free(stretch, [used for used, _ in found]):
            made = line.repeat(start, (stop - start) // period, period)
            if made is not None:
                found.append(made)
    return [made for _, made in sorted(found, key=lambda x: x[0].start)]


def _free(stretch: range, used: Sequence[range]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a stretch that are not used."""
    taken = sorted((x.start, x.stop) for x in used if x.start < stretch.stop and x.stop > stretch.start)
    edges = [stretch.start, *(edge for pair in taken for edge in pair), stretch.stop]
    yield from ((a, b) for a, b in zip(edges[0::2], edges[1::2], strict=True) if a < b)


def _is_constant(tape: Tape, position: int) -> bool:
    return position >= tape.n_inputs and tape.steps[position - tape.n_inputs].op is Op.CONST


def without_sign(tape: Tape, position: int) -> tuple[int, bool]:
    """Return the value that a value is, or whose opposite it is, and whether it is the opposite."""
    is_opposite = False
    while position >= tape.n_inputs and tape.steps[position - tape.n_inputs].op is Op.NEG:
        position, is_opposite = tape.steps[position - tape.n_inputs].args[0], not is_opposite
    return position, is_opposite


class _Line:
    """The steps of a tape without its constants and minus signs, as arrays."""

    def __init__(self, tape: Tape) -> None:
        n = tape.n_inputs
        self.tape = tape
        kept = [i for i, step in enumerate(tape.steps, start=n) if step.op not in (Op.CONST, Op.NEG)]
        self.positions = np.array(kept, dtype=np.int64)
        self.place = np.full(n + len(tape.steps) + 1, -1, dtype=np.int64)
        """Per position its place in this line, −1 for inputs and constants."""
        self.place[self.positions] = np.arange(len(kept))
        steps = [tape.steps[i - n] for i in kept]
        ops = np.array([step.op for step in steps], dtype=np.int64)
        self.kinds = np.where(ops == Op.SUB, Op.ADD, ops)
        """The operations but for signs."""
        bases = [without_sign(tape, i) for i in range(n + len(tape.steps))]
        arguments = np.array([(*step.args, -1, -1)[:3] for step in steps], dtype=np.int64).reshape(-1, 3)
        self.args = np.array([*(base for base, _ in bases), -1])[arguments]
        """Positions of the arguments, −1 where an operation has fewer."""
        self.flips = np.array([*(is_opposite for _, is_opposite in bases), False])[arguments]
        """Whether the opposite of an argument is meant."""
        self.flips[:, 1] ^= ops == Op.SUB
        self.constant = np.array([False] * n + [step.op is Op.CONST for step in tape.steps] + [False])
        self.last = np.full(len(self.place), -1, dtype=np.int64)
        """Per position its last use."""
        for i, step in zip(kept, steps, strict=True):
            self.last[list(step.args)] = i
        self.last[list(tape.results)] = len(self.place)
        self.opposite = {step.args[0]: i for i, step in enumerate(tape.steps, start=n) if step.op is Op.NEG}
        """Values whose opposites are read, and those."""

    def candidates(self) -> list[tuple[range, int]]:
        """Return stretches of a period, those that spare most first."""
        away = np.arange(len(self.kinds))[:, None] - np.where(self.args >= 0, self.place[self.args], -(1 << 40))
        near = np.where((away > 0) & (away <= NEAR), away, 0)
        tokens = self.kinds + 16 * (near @ np.array([1, 16, 256], dtype=np.int64))
        found: list[tuple[int, range, int]] = []
        for period in _periods(tokens):
            alike = np.flatnonzero(np.diff(np.concatenate([[False], tokens[period:] == tokens[:-period], [False]])))
            for start, stop in zip(alike[0::2].tolist(), alike[1::2].tolist(), strict=True):
                if stop - start >= (FEWEST - 1) * period and stop - start >= LEAST_SAVED:
                    found.append((stop - start, range(start, stop + period), period))
        return [(stretch, period) for _, stretch, period in sorted(found, key=lambda x: (-x[0], x[2]))]

    def repeat(self, start: int, count: int, period: int) -> tuple[range, Repeat] | None:
        """Return the loop of so many iterations, or of those from the first on that are alike."""
        while count >= FEWEST and (count - 1) * period >= LEAST_SAVED:
            alike = self._alike(start, count, period)
            if alike >= FEWEST and (alike - 1) * period >= LEAST_SAVED:
                found = self._loop(start, alike, period)
                if found is not None:
                    return found
            start, count = start + alike * period, count - alike
        return None

    def _alike(self, start: int, count: int, period: int) -> int:
        """Return how many iterations are as the first one: at least 1."""
        args = self.args[start : start + count * period].reshape(count, period, 3)
        places = np.where(args >= 0, self.place[args], -1)
        begins = start + period * np.arange(count)[:, None, None]
        inner = np.where(places >= begins, places - begins, -1)  # the place in its own iteration
        fixed = np.where(self.constant[args] | (args < 0), args, -2)  # constants must be the same ones
        ops = self.kinds[start : start + count * period].reshape(count, period)
        same = (inner == inner[0]).all(axis=(1, 2)) & (fixed == fixed[0]).all(axis=(1, 2)) & (ops == ops[0]).all(axis=1)
        return int(np.argmin(same)) if not same.all() else count

    def _loop(self, start: int, count: int, period: int) -> tuple[range, Repeat] | None:
        if not np.isin(self.kinds[start : start + period], SUITED).all():
            return None
        args = self.args[start : start + count * period].reshape(count, period, 3)
        outside = (args >= 0) & (self.place[args] < start + period * np.arange(count)[:, None, None])
        varies = outside[0] & (args != args[0]).any(axis=0)
        numbers: dict[tuple[int, ...], int] = {}
        own = {
            (place, k): numbers.setdefault(tuple(args[:, place, k].tolist()), len(numbers))
            for place, k in np.argwhere(varies).tolist()
        }
        signs = []
        for t in range(count):
            found = self._signs(start, start + t * period, period, own, len(numbers))
            if found is None:
                break
            signs.append(found)
        count = len(signs)
        positions = self.positions[start : start + count * period].reshape(count, period)
        steps = positions.tolist()
        if count < FEWEST:
            return None
        beyond = [[self._beyond(i, row[-1]) for i in row] for row in steps]
        results = [place for place in range(period) if any(row[place] is not None for row in beyond)]
        if len(numbers) + len(results) > TRAFFIC * period:
            return None
        made = [[row[x] if found[x] is None else found[x] for x in results] for row, found in zip(steps, beyond, strict=True)]
        return range(start, start + count * period), Repeat(
            tuple(map(tuple, steps)),
            {(steps[0][place], k): number for (place, k), number in own.items()},
            tuple(tuple(values[t] for values in numbers) for t in range(count)),
            tuple(results),
            tuple(map(tuple, made)),
            tuple(
                _chosen(of_reads, [of_steps[x] ^ (i != row[x]) for x, i in zip(results, found, strict=True)])
                for (of_reads, of_steps), row, found in zip(signs, steps, made, strict=True)
            ),
        )

    def _beyond(self, position: int, end: int) -> int | None:
        """Return the value if steps after the end of its iteration read it, its opposite if only that, else None."""
        if self.last[position] > end:
            return position
        opposite = self.opposite.get(position)
        return opposite if opposite is not None and self.last[opposite] > end else None

    def _signs(
        self, first: int, start: int, period: int, own: dict[tuple[int, int], int], n: int
    ) -> tuple[list[int], list[int]] | None:
        """Return the signs of own values and of steps of an iteration, or None if none make it equal to the first.

        A sign is a sum of free ones, as bits of an integer, and of a known one, its lowest bit.
        """
        kinds = self.kinds[start : start + period].tolist()
        turned = (self.flips[start : start + period] ^ self.flips[first : first + period]).tolist()
        places = (self.place[self.args[start : start + period]] - start).tolist()
        pivots: dict[int, int] = {}

        def reduced(form: int) -> int:
            for pivot, row in pivots.items():
                if form >> pivot & 1:
                    form ^= row
            return form

        forms: list[int] = []
        for i, kind in enumerate(kinds):
            known = [
                turned[i][k] ^ (2 << own[i, k] if (i, k) in own else forms[places[i][k]] if places[i][k] >= 0 else 0)
                for k in range(2)
            ]
            forms.append(known[0] if kind == Op.ADD else known[0] ^ known[1])
            if kind == Op.ADD and (rest := reduced(known[0] ^ known[1])):
                if rest == 1:
                    return None
                pivot = rest.bit_length() - 1
                for key, row in pivots.items():
                    pivots[key] = row ^ rest if row >> pivot & 1 else row
                pivots[pivot] = rest
        return [reduced(2 << k) for k in range(n)], [reduced(form) for form in forms]


def _chosen(of_reads: list[int], of_results: list[int]) -> tuple[bool, ...]:
    """Return signs of reads and results, the free ones such that few results have the opposite sign."""
    forms = [*of_results, *of_reads]
    for bit in range(1, max(forms, default=0).bit_length()):
        users = [form for form in forms[: len(of_results)] if form >> bit & 1]
        if 2 * sum(form & 1 for form in users) > len(users):
            forms = [form ^ (form >> bit & 1) for form in forms]
    signs = [bool(form & 1) for form in forms]
    return (*signs[len(of_results) :], *signs[: len(of_results)])


def _periods(tokens: Ints) -> list[int]:
    """Return distances at which neighbouring steps recur, the most frequent ones."""
    if len(tokens) <= WINDOW + SHORTEST:
        return []
    hashes: Any = np.zeros(len(tokens) - WINDOW + 1, dtype=np.uint64)
    for k in range(WINDOW):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + tokens[k : len(tokens) - WINDOW + 1 + k].astype(np.uint64)
    order = np.argsort(hashes, kind="stable")
    distances = []
    for back in (1, 2, 3):
        same = hashes[order[back:]] == hashes[order[:-back]]
        distances.append((order[back:] - order[:-back])[same])
    values, counts = np.unique(np.concatenate(distances), return_counts=True)
    counts[values < SHORTEST] = 0
    best = np.argsort(-counts, kind="stable")[:CANDIDATES]
    return [int(values[k]) for k in best if counts[k]]

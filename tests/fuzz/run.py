"""``make fuzz``: many inputs for every target, in worker processes that may hang, crash or run out of memory.

Prints a table, writes inputs that failed to out/fuzz, and ends with code 1 if there are any.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.fuzz.engine import LONGEST, MOST_MEMORY, BrokenPropertyError, Outcome, Target, outcome

CHUNK = 200
"""Inputs that a worker is given at a time."""
LIFE = 20
"""Chunks after which a worker is replaced by a fresh one: compiled code is never unloaded."""
SILENCE = 6.0 * LONGEST
"""Seconds after which a worker that gives no sign is killed: it waits, or is stuck outside of Python."""
MINUTE = 60.0
"""Seconds between lines of progress."""
START = 300.0
"""Seconds that a worker may take to start, or to make an input: seeds and native code are made at first use."""


@dataclass
class Row:
    """What came of a target's inputs so far."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)
    """An index per reason of failure, the first."""

    def add(self, index: int, faults: int, found: Outcome) -> None:
        """Count an input."""
        self.counts[found.kind] += 1
        self.faults += faults
        if found.kind == "failed" and _signature(found.reason) not in self.failures:
            self.failures[_signature(found.reason)] = index
            sys.stderr.write(f"{self.name}, input {index}: {found.reason}\n")


def _signature(reason: str) -> str:
    """Return what makes two failures the same: the exception and the place, or the property, without values."""
    name, _, rest = reason.partition(": ")
    if name == BrokenPropertyError.__name__:
        return f"{name}: {re.sub(r'[^A-Za-z_ ]+', ' ', rest.rpartition(' at ')[0])[:60]}"
    return f"{name} at {rest.rpartition(' at ')[2]}" if " at " in rest else reason


def work(pipe: Connection, seed: int, folder: str) -> None:
    """Run chunks of inputs and report each: the work of a worker process."""
    from tests.fuzz.targets import TARGETS  # here, so that the parent need not load appell  # noqa: PLC0415

    os.environ["APPELL_THREADS"] = "1"
    with open(os.devnull, "w") as silent:  # noqa: PTH123  # a stream, which libraries written in C print to
        os.dup2(silent.fileno(), 1)
        os.dup2(silent.fileno(), 2)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    while True:
        name, indices = pipe.recv()
        target = TARGETS[name]
        target.input(seed, 0)
        _bound_memory()
        for index in indices:
            given = target.input(seed, index)
            pipe.send((index, None))
            with tempfile.TemporaryDirectory(dir=folder) as empty:
                pipe.send((index, (given.faults, tuple(outcome(target, given.data, Path(empty))))))


def _bound_memory() -> None:
    """Let this process have twice the memory that counts as a failure, beyond what it has now."""
    now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + 3 * MOST_MEMORY, resource.RLIM_INFINITY))


class Worker:
    """A worker process and what it is at."""

    def __init__(self, seed: int, folder: str) -> None:
        self.pipe, other = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=work, args=(other, seed, folder), daemon=True)
        self.process.start()
        other.close()
        self.target, self.left, self.current = "", [0], None
        self.since, self.chunks = time.monotonic(), 0

    def give(self, target: str, indices: list[int]) -> None:
        """Send a chunk."""
        self.target, self.left, self.current = target, list(indices), None
        self.since, self.chunks = time.monotonic(), self.chunks + 1
        self.pipe.send((target, indices))

    def is_late(self) -> bool:
        """Return whether nothing came for too long."""
        return time.monotonic() - self.since > (START if self.current is None else SILENCE)

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def fuzz(names: list[str], plan: dict[str, int], seed: int, jobs: int, minutes: float) -> dict[str, Row]:
    """Return what came of so many inputs of each target, or of those for which there was time."""
    rows = {name: Row(name) for name in names}
    start, shown = time.monotonic(), 0.0
    deadline = start + 60.0 * minutes
    queue = _chunks(plan)
    workers: list[Worker] = []
    with tempfile.TemporaryDirectory(prefix="appell-fuzz-") as folder:
        os.environ["APPELL_CACHE"] = str(Path(folder, "cache"))
        try:
            pending: list[tuple[str, list[int]]] = []
            while True:
                while len(workers) < jobs and time.monotonic() < deadline:
                    chunk = pending.pop() if pending else next(queue, None)
                    if chunk is None:
                        break
                    workers.append(Worker(seed, folder))
                    workers[-1].give(*chunk)
                if not workers:
                    return rows
                for worker in list(workers):
                    _watch(worker, rows, pending)
                    if worker.left:
                        continue
                    chunk = None
                    if worker.process.is_alive() and worker.chunks < LIFE and time.monotonic() < deadline:
                        chunk = pending.pop() if pending else next(queue, None)
                    if chunk is not None:
                        worker.give(*chunk)
                    else:
                        worker.end()
                        workers.remove(worker)
                if workers:
                    wait([worker.pipe for worker in workers], timeout=0.5)
                if time.monotonic() - start - shown > MINUTE:
                    shown = time.monotonic() - start
                    tried = sum(row.counts.total() for row in rows.values())
                    sys.stderr.write(f"{shown:.0f} s: {tried:,} of {sum(plan.values()):,} inputs\n")
        except KeyboardInterrupt:
            return rows
        finally:
            for worker in workers:
                worker.end()


def _chunks(plan: dict[str, int]) -> Iterator[tuple[str, list[int]]]:
    """Return chunks of every target in turn, so that a run that is cut short tried them all."""
    largest = max(plan.values(), default=0)
    for start in range(0, largest, CHUNK):
        for name, count in plan.items():
            if start < count:
                yield name, list(range(start, min(start + CHUNK, count)))


def _watch(worker: Worker, rows: dict[str, Row], pending: list[tuple[str, list[int]]]) -> None:
    """Take a worker's reports; one that is late or gone has failed on its input, and its other inputs go to another."""
    row = rows[worker.target]
    try:
        while worker.pipe.poll():
            report = worker.pipe.recv()
            now = time.monotonic()
            index, result = report
            if result is None:
                worker.current = index
            else:
                row.add(index, result[0], Outcome(*result[1]))
                row.seconds += now - worker.since
                worker.left.remove(index)
                worker.current = None
            worker.since = now
        is_dead = False
    except (EOFError, ConnectionResetError):
        worker.process.join(LONGEST)
        is_dead = True
    if not worker.left or not (is_dead or worker.is_late()):
        return
    code = worker.process.exitcode
    reason = f"the process ended with code {code}" if is_dead else f"no answer after {SILENCE:g} s"
    index = worker.left[0] if worker.current is None else worker.current
    row.add(index, 1, Outcome("failed", reason))
    others = [x for x in worker.left if x != index]
    if others:
        pending.append((worker.target, others))
    worker.end()
    worker.left = []


def table(rows: dict[str, Row]) -> str:
    """Return the table of a run."""
    heads = ("target", "inputs", "accepted", "refused", "faults injected", "failures", "ms per input")
    lines: list[tuple[str, ...]] = [heads]
    for name, row in rows.items():
        tried = sum(row.counts.values())
        figures = (tried, row.counts["accepted"], row.counts["refused"], row.faults, row.counts["failed"])
        lines.append((name, *(f"{x:,}" for x in figures), f"{1e3 * row.seconds / max(tried, 1):.1f}"))
    total = [sum(int(line[k].replace(",", "")) for line in lines[1:]) for k in range(1, 6)]
    lines.append(("total", *(f"{x:,}" for x in total), ""))
    widths = [max(len(line[k]) for line in lines) for k in range(len(heads))]
    text = [
        "| "
        + " | ".join(x.ljust(w) if k == 0 else x.rjust(w) for k, (x, w) in enumerate(zip(line, widths, strict=True)))
        + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (w + 2) if k == 0 else "-" * (w + 1) + ":" for k, w in enumerate(widths)) + "|"
    return "\n".join([text[0], rule, *text[1:]])


def write_failures(targets: dict[str, Target], rows: dict[str, Row], seed: int, folder: Path) -> list[str]:
    """Write the first input of each failure; return a line about each."""
    shutil.rmtree(folder, ignore_errors=True)
    lines = []
    for name, row in rows.items():
        for reason, index in row.failures.items():
            file = folder / name / f"{seed}-{index}{targets[name].suffix}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(targets[name].input(seed, index).data)
            lines.append(f"{file}: {reason}")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Run ``python -m tests.fuzz.run``."""
    from tests.fuzz.targets import TARGETS  # appell is loaded here  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--inputs", type=int, default=20_000, help="in total, shared out among the targets")
    parser.add_argument("--minutes", type=float, default=60.0, help="after which no new inputs are tried")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="of the random numbers; the time if not given"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="where inputs that failed go")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.targets if not any(known.startswith(name) for known in TARGETS)]
    if unknown:
        parser.error(f"no target '{unknown[0]}'; there are {', '.join(TARGETS)}")
    names = [name for name in TARGETS if not given.targets or name.startswith(tuple(given.targets))]
    shares = sum(TARGETS[name].share for name in names)
    plan = {name: max(1, round(given.inputs * TARGETS[name].share / shares)) for name in names}
    start = time.monotonic()
    rows = fuzz(names, plan, given.seed, given.jobs, given.minutes)
    failures = write_failures(TARGETS, rows, given.seed, given.out)
    _print(table(rows))
    _print(f"seed {given.seed}, {time.monotonic() - start:.0f} s with {given.jobs} processes")
    for line in failures:
        _print(line)
    return 1 if failures else 0


def _print(text: Any) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

"""Mutation run: change the arithmetic of appell in one place, run the tests that reach it, and report survivors.

    python -m tests.mutation.mutate --number 200 --seed 0

A first pass runs each test file on the copy that holds all mutants (:mod:`tests.mutation.sites`), none of them active,
and records the mutants that each test reaches and its time. A mutant then runs the tests that reach it until one
fails: those of the mirror room first, short ones first. Programs are traced once per process, so that the test which
reaches a recursion may not be the one which checks it: the other tests of the same files follow. They run in a process
that is forked after the imports of other packages, with its own cache of compiled code (tests/conftest.py).

A survivor that no test can notice is listed in equivalent.toml with the reason.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from tests.mutation import sites

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["spatial", "model", "recursion", "trace", "loops", "simulation", "planning", "control", "identification"]
ACROSS = ["laws", "oracle", "papers"]
"""Folders of tests that belong to no room."""
PRELOADED = ("scipy.optimize", "scipy.spatial", "scipy.interpolate", "llvmlite.binding", "clarabel", "pinocchio")
"""What most tests import and no mutant changes; plugins of pytest are not among them, it imports them itself."""
CAUGHT = ("killed", "timeout")
VERDICTS = (*CAUGHT, "equivalent", "survived")


class Recorder:
    """A plugin of pytest: chooses and orders tests, and records their times, failures and the mutants they reach."""

    def __init__(self, order: list[str] | None) -> None:
        self.order = order
        self.imported: set[int] = set()
        self.tests: dict[str, dict[str, Any]] = {}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests of the order, in that order."""
        self.imported = set(importlib.import_module(sites.SWITCH).REACHED)
        if self.order is not None:
            place = {name: k for k, name in enumerate(self.order)}
            items[:] = sorted((one for one in items if one.nodeid in place), key=lambda one: place[one.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record one test: setup, call and teardown."""
        switch = importlib.import_module(sites.SWITCH)
        switch.REACHED.clear()
        start = time.process_time()
        result = yield
        self.tests[item.nodeid] = {
            "cpu": time.process_time() - start,
            "reached": sorted(switch.REACHED | self.imported),
        }
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failure."""
        if report.failed:
            self.failed.append(report.nodeid)


@dataclass
class Outcome:
    """What happened to one mutant, or to none, in some tests."""

    verdict: str
    """survived, killed, or timeout."""
    by: str = ""
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)


def run(copy: Path, files: list[str], mutant: int, order: list[str] | None, limit: float) -> Outcome:
    """Run test files in a forked process on the copy with one active mutant; -1 is none."""
    report = Path(tempfile.mkstemp(dir=copy, suffix=".json")[1])
    child = os.fork()
    if child == 0:
        os.setsid()
        _child(copy, files, mutant, order, limit, report)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests started and left
    content = json.loads(report.read_text() or "{}")
    text = report.with_suffix(".log").read_text()
    report.unlink()
    report.with_suffix(".log").unlink()
    if os.WIFSIGNALED(status):
        slow = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM)
        return Outcome("timeout" if slow else "killed", f"signal {os.WTERMSIG(status)}")
    passed = os.WEXITSTATUS(status) in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    failed = content.get("failed") or [" ".join(text[-2000:].split()) or "no output"]
    return Outcome("survived" if passed else "killed", "" if passed else failed[0], content.get("tests", {}))


def _child(copy: Path, files: list[str], mutant: int, order: list[str] | None, limit: float, report: Path) -> None:
    """Run pytest and leave the process; SIGXCPU and SIGALRM end it at its limits."""
    code = int(pytest.ExitCode.INTERNAL_ERROR)
    try:
        with report.with_suffix(".log").open("w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, resource.RLIM_INFINITY))
        with contextlib.suppress(OSError):  # a limit of address space would forbid AddressSanitizer, which tests use
            Path("/proc/self/oom_score_adj").write_text("1000")
        signal.alarm(int(10 * limit) + 1)
        os.environ[sites.ACTIVE] = str(mutant)
        os.environ["PYTHONPATH"] = str(copy)
        sys.path.insert(0, str(copy))
        recorder = Recorder(order)
        options = ["-q", "-n0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
        code = int(pytest.main([*options, *(["-x"] if mutant >= 0 else []), *files], plugins=[recorder]))
        report.write_text(json.dumps({"tests": recorder.tests, "failed": recorder.failed}))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Session:
    """The copy with its mutants, and the tests that reach them."""

    def __init__(self, copy: Path, mutants: list[sites.Mutant], jobs: int, budget: float) -> None:
        self.copy, self.jobs, self.budget = copy, jobs, budget
        self.rooms = [str(Path("tests", one.file.parts[0])) + os.sep for one in mutants]
        self.records: dict[str, dict[str, dict[str, Any]]] = {}

    def record(self, files: list[str], store: Path) -> None:
        """Find out which test reaches which mutant; what is stored for the same sources is not run again."""
        support = [*sorted(Path("tests").rglob("conftest.py")), *sorted(Path("tests", "support").rglob("*.py"))]
        common = _digest([*sorted(self.copy.rglob("*.py")), *support])
        names = {file: store / f"{_digest([Path(file)], common)}.json" for file in files}
        store.mkdir(parents=True, exist_ok=True)
        missing = [file for file in files if not names[file].exists()]
        for k, (file, outcome) in enumerate(_spread(self._unmutated, missing, self.jobs), 1):
            if outcome.verdict != "survived":
                sys.exit(f"{file} fails without a mutant: {outcome.by}; mutants cannot be judged by it")
            names[file].write_text(json.dumps(outcome.tests))
            print(f"recorded {k}/{len(missing)} {file}", flush=True)
        self.records = {file: json.loads(names[file].read_text()) for file in files}

    def _unmutated(self, file: str) -> tuple[str, Outcome]:
        return file, run(self.copy, [file], -1, None, 3600.0)

    def judge(self, number: int) -> tuple[int, Outcome, float]:
        """Return what the tests do about a mutant, and the seconds it took."""
        start, left = time.perf_counter(), self.budget
        outcome = Outcome("survived", "not reached")
        for tests in self._plan(number):
            costs = list(accumulate(cost for _, cost in tests))
            order = [name for (name, _), cost in zip(tests, costs, strict=True) if cost < left]
            if order:
                cost = costs[len(order) - 1]
                files = list(dict.fromkeys(name.partition("::")[0] for name in order))
                outcome = run(self.copy, files, number, order, 20.0 + 5.0 * cost)
                left -= cost
            if outcome.verdict != "survived":
                break
        return number, outcome, time.perf_counter() - start

    def _plan(self, number: int) -> list[list[tuple[str, float]]]:
        """Return the tests to run for a mutant and their times: of its room, of others, and those that may reach it."""
        batches: list[list[tuple[float, list[tuple[str, float]]]]] = [[], [], []]
        near, far, others = batches
        for file, tests in self.records.items():
            costs = sorted((one["cpu"], name, number in one["reached"]) for name, one in tests.items())
            reaching = [(name, cost) for cost, name, reached in costs if reached]
            if reaching:
                rank = sum(cost for _, cost in reaching)
                (near if file.startswith(self.rooms[number]) else far).append((rank, reaching))
                others.append((rank, [(name, cost) for cost, name, reached in costs if not reached]))
        return [[test for _, tests in sorted(batch) for test in tests] for batch in batches]


def _digest(files: list[Path], start: str = "") -> str:
    """Return a digest of the contents of some files."""
    digest = hashlib.sha256(start.encode())
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:32]


def _spread(work: Any, tasks: list[Any], jobs: int) -> Iterator[Any]:
    """Yield the results of tasks as they come, from some forked processes."""
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap_unordered(work, tasks)


def explained(project: Path, keys: set[str]) -> dict[str, str]:
    """Return the mutants that no test can notice, and why."""
    file = project / "tests" / "mutation" / "equivalent.toml"
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["equivalent"] if file.exists() else []
    for entry in entries:
        if entry["mutant"] not in keys:
            print("equivalent.toml: remove the entry, its line of source has changed:", entry["mutant"])
    return {entry["mutant"]: entry["reason"] for entry in entries}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the verdicts per room."""
    lines = [f"{'room':16}" + "".join(f"{name:>12}" for name in ("mutants", *VERDICTS))]
    rooms = sorted({row["mutant"].partition("/")[0] for row in rows})
    for room in [*rooms, ""]:
        found = Counter(row["verdict"] for row in rows if row["mutant"].startswith(f"{room}/" if room else ""))
        counts = [found.total(), *(found[name] for name in VERDICTS)]
        lines.append(f"{room or 'all':16}" + "".join(f"{count:12}" for count in counts))
    return "\n".join(lines)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=200, help="how many mutants to try")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes run tests")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests after which a mutant has survived")
    parser.add_argument("--again", action="store_true", help="all but those that the last run caught")
    parser.add_argument("--project", type=Path, default=ROOT, help="folder with src/ and tests/")
    parser.add_argument("--rooms", nargs="+", default=ROOMS, help="folders of the package that are mutated")
    options = parser.parse_args()
    os.chdir(options.project)
    for name in PRELOADED if options.project == ROOT else ():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    (package,) = (path.parent for path in Path("src").glob("*/__init__.py"))
    trees, mutants = sites.all_mutants(package, options.rooms)
    reasons = explained(options.project, {one.key for one in mutants})
    chosen = sites.sample(mutants, options.number, options.seed)
    report = Path("out", "mutation", "report.json")
    files = [str(path) for room in [*options.rooms, *ACROSS] for path in sorted(Path("tests", room).rglob("test_*.py"))]
    rows = [
        {"mutant": one.key, "verdict": "equivalent", "by": reasons[one.key]} for one in chosen if one.key in reasons
    ]
    wanted = [k for k, one in enumerate(chosen) if one.key not in reasons]
    if options.again:
        last = {row["mutant"]: row for row in json.loads(report.read_text()) if row["verdict"] in CAUGHT}
        rows += [last[chosen[k].key] for k in wanted if chosen[k].key in last]
        wanted = [k for k in wanted if chosen[k].key not in last]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        sites.write_copy(package, Path(folder), trees, chosen)
        session = Session(Path(folder), chosen, options.jobs, options.budget)
        session.record(files, report.with_name("reached"))
        for done, (number, outcome, seconds) in enumerate(_spread(session.judge, wanted, options.jobs), 1):
            rows.append({"mutant": chosen[number].key, "verdict": outcome.verdict, "by": outcome.by})
            report.write_text(json.dumps(rows, indent=1, ensure_ascii=False))
            print(
                f"{done}/{len(wanted)} {seconds:.0f} s {outcome.verdict}: {chosen[number].key} [{outcome.by}]",
                flush=True,
            )
    for row in rows:
        if row["verdict"] not in CAUGHT:
            print(f"{row['verdict']}: {row['mutant']} [{row['by']}]")
    print(table(rows))


if __name__ == "__main__":
    main()

"""Threads share a batch and change no bit of it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.kernels.runtime import kernel, threads
from appell.kernels.runtime.kernel import TRIES

ROWS = 1 << 18
"""Rows that are shared, whatever the speed of the machine."""


@pytest.fixture(autouse=True)
def restored():
    before = appell.threads()
    yield
    appell.threads(before)


@pytest.fixture(scope="module")
def robot():
    return appell.load("two-link")


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("count", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(robot, rng, count, kind):
    n = ROWS + 13
    q, v, a = (rng.normal(size=(n, 2)).astype(kind) for _ in range(3))
    appell.threads(1)
    alone = robot.inverse_dynamics(q, v, a)
    appell.threads(count)
    assert robot.inverse_dynamics(q, v, a).tobytes() == alone.tobytes()


def test_inputs_that_are_broadcast_are_shared_by_the_threads(robot, rng):
    n = ROWS + 13
    q, v, a = rng.normal(size=2), rng.normal(size=(1, 2)), rng.normal(size=(n, 2))
    appell.threads(1)
    alone = robot.inverse_dynamics(q, v, a)
    appell.threads(2)
    assert robot.inverse_dynamics(q, v, a).tobytes() == alone.tobytes()


def test_several_results_are_shared_too(robot, rng):
    n = ROWS + 5
    q, v, a = (rng.normal(size=(n, 2)) for _ in range(3))
    appell.threads(1)
    alone = robot.inverse_dynamics_derivatives(q, v, a)
    appell.threads(2)
    for x, y in zip(robot.inverse_dynamics_derivatives(q, v, a), alone, strict=True):
        assert x.tobytes() == y.tobytes()


@pytest.fixture
def parts(monkeypatch):
    """Return the numbers of parts that batches were shared among."""
    found = []

    def share(*arguments):
        found.append(arguments[-1])
        threads.share(*arguments)

    monkeypatch.setattr(kernel, "share", share)
    return found


@pytest.mark.parametrize("layout", ["C", "F"])
def test_threads_write_into_out(robot, rng, parts, layout):
    q, v, a = (np.array(rng.normal(size=(ROWS, 2)), order=layout) for _ in range(3))
    appell.threads(1)
    alone = robot.inverse_dynamics_derivatives(q, v, a)
    appell.threads(2)
    out = tuple(np.array(np.full_like(x, np.nan), order=layout) for x in alone)
    assert robot.inverse_dynamics_derivatives(q, v, a, out=out) == out
    assert parts[-1] == 2
    for x, y in zip(out, alone, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_thread_is_woken_for_work_that_is_worth_it(monkeypatch):
    appell.threads(3)
    assert [threads.workers(k * threads.WORTH) for k in (0.0, 1.9, 2.1, 2.9, 3.1, 100.0)] == [1, 1, 2, 2, 3, 3]


def test_threads_are_chosen_by_the_measured_speed(robot, rng, parts):
    q = rng.normal(size=(ROWS // 4, 2))
    appell.threads(2)
    made = robot.kernel("gravity")
    made._pace = {q.dtype: threads.WORTH / len(q)}
    made(q)
    assert parts == []
    made._pace = {q.dtype: 3.0 * threads.WORTH / len(q)}
    made(q)
    assert parts == [2]


def test_an_exception_in_a_thread_ends_the_others_and_is_raised():
    appell.threads(3)
    done = []

    def work(start, stop):
        for k in range(start, stop):
            if k == 250:
                raise ValueError("here")
            done.append(k)
            yield

    for _ in range(20):
        with pytest.raises(ValueError, match="here"):
            threads.in_threads(work, 300, 3)
    done.clear()
    threads.in_threads(work, 240, 3)
    assert sorted(done) == list(range(240))


@pytest.mark.parametrize(("one", "two"), [(1.0, 2.0), (2.0, 1.0)])
def test_one_thread_or_several_as_measured(robot, rng, parts, one, two):
    q = rng.normal(size=(ROWS, 2))
    appell.threads(2)
    made = robot.kernel("gravity")
    made._times = {(ROWS.bit_length(), count): [seconds] * TRIES for count, seconds in ((1, one), (2, two))}
    made(q)
    assert parts == ([2] if two < one else [])


def test_both_numbers_of_threads_are_tried(robot, rng, parts):
    q = rng.normal(size=(ROWS, 2))
    appell.threads(2)
    made = robot.kernel("gravity")
    for _ in range(2 * TRIES):
        made(q)
    assert parts == [2] * TRIES
    assert sorted(len(x) for x in made._times.values()) == [TRIES, TRIES]


def test_threads_keep_to_the_errors_that_numpy_is_to_ignore(robot):
    appell.threads(2)
    q = np.zeros((ROWS, 2))
    q[-1] = np.inf
    made = robot.kernel("gravity")
    with np.errstate(invalid="ignore"):
        assert np.isnan(made(q)[-1]).all()
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        made(q)


def test_a_robot_may_be_called_from_many_threads_at_once(robot, rng):
    q, v, a = (rng.normal(size=(200, 2)) for _ in range(3))
    expected = robot.inverse_dynamics(q, v, a)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: robot.inverse_dynamics(q, v, a), range(50)):
            np.testing.assert_array_equal(found, expected)


def test_a_robot_compiled_from_many_threads_at_once_is_right(rng):
    robot = appell.random_chain(2, np.random.default_rng(17))
    q = rng.normal(size=(9, 2))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: robot.mass_matrix(q.astype(np.float32)), range(8)))
    for found in results:
        np.testing.assert_allclose(found, robot.mass_matrix(q), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True])
def test_a_count_that_is_none_is_refused(count):
    with pytest.raises(InputError, match="threads: expected an integer of at least 1"):
        appell.threads(count)


@pytest.mark.parametrize(("text", "expected"), [("1", "1"), ("3", "3")])
def test_the_environment_sets_the_count(text, expected):
    command = [sys.executable, "-c", "import appell; print(appell.threads())"]
    found = subprocess.run(
        command, env={**os.environ, "APPELL_THREADS": text}, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == expected


def test_a_wrong_environment_is_named():
    command = [sys.executable, "-c", "import appell"]
    found = subprocess.run(
        command, env={**os.environ, "APPELL_THREADS": "many"}, capture_output=True, text=True, check=False
    )
    assert "APPELL_THREADS is 'many'; expected an integer of at least 1" in found.stderr


FORK = """
import os
import numpy as np
import appell

robot, q = appell.load("two-link"), np.ones(({rows}, 2))
appell.threads(2)
expected = robot.inverse_dynamics(q, q, q)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(robot.inverse_dynamics(q, q, q), expected) else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_threads_of_its_own():
    """In a process of its own: libraries of other tests have threads that no fork stands."""
    done = subprocess.run([sys.executable, "-c", FORK.format(rows=2 * ROWS)], check=False, timeout=120)
    assert done.returncode == 0

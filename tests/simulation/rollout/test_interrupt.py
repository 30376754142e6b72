"""Rollouts and large batches run in blocks: Ctrl-C ends them, and the results are the same bits."""

from __future__ import annotations

import _thread
import threading

import numpy as np
import pytest

import appell
from appell.kernels.runtime import kernel, stepping
from appell.kernels.runtime.threads import in_threads


@pytest.fixture(params=[1, 2])
def threads(request):
    """Run a test with one thread and with two."""
    before = appell.threads()
    yield appell.threads(request.param)
    appell.threads(before)


def interrupted(call):
    """Run a call that takes minutes; return whether Ctrl-C after a tenth of a second ended it."""
    timer = threading.Timer(0.1, _thread.interrupt_main)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        timer.join()
    return False


@pytest.mark.parametrize(("rows", "steps"), [(1, 10**9), (64, 10**8), (10**5, 10**5)])
def test_ctrl_c_ends_a_rollout(threads, rows, steps):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("Ctrl-C is raised in the main thread alone")
    robot = appell.load("two-link")
    start = np.zeros((rows, 2))
    appell.rollout(robot, start, start, None, 1e-6, steps=1)  # compiled
    assert interrupted(lambda: appell.rollout(robot, start, start, None, 1e-6, steps=steps, save_every=steps))


@pytest.mark.parametrize("name", ["two-link", "five-bar", "agile-wrist"])
@pytest.mark.parametrize("save_every", [1, 6, 30])
def test_blocks_of_a_rollout_are_the_same_bits(monkeypatch, threads, name, save_every):
    robot = appell.load(name)
    rng = np.random.default_rng(1)
    tau = rng.normal(size=(70, 60, robot.nu))
    law = appell.control.PDGravity(robot, robot.neutral(), 2.0, 0.1) if name != "five-bar" else None
    start = np.broadcast_to(robot.neutral(), (70, robot.nq))

    def run(block):
        monkeypatch.setattr(stepping, "_BLOCK", block)
        return appell.rollout(robot, start, np.zeros(robot.nv), tau, 1e-3, control=law, save_every=save_every)

    whole = run(1 << 60)
    for block in (1, 1 << 16, 1 << 19):  # single steps, a few of them, and all of some rows
        for ours, theirs in zip(run(block), whole, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_the_integral_of_a_law_goes_on_from_block_to_block(monkeypatch):
    robot = appell.load("two-link")
    law = appell.control.Tracking(robot, lambda t: ([t, t], [1, 1], [0, 0]), 100.0, 20.0, 50.0, limit=0.1)
    q, v, _ = law.reference(0.0)
    runs = []
    for block in (1 << 60, 1):
        monkeypatch.setattr(stepping, "_BLOCK", block)
        runs.append(appell.rollout(robot, q + 0.1, v, None, 1e-3, steps=50, control=law, save_every=10))
    np.testing.assert_array_equal(runs[0].q, runs[1].q)


def test_steps_that_diverge_are_counted_over_blocks(monkeypatch):
    robot = appell.load("two-link")
    tau = np.zeros((3, 40, 2))
    tau[1, 17:] = 1e300
    found = []
    for block in (1 << 60, 1):
        monkeypatch.setattr(stepping, "_BLOCK", block)
        with pytest.warns(appell.AppellWarning, match="diverged"):
            found.append(appell.rollout(robot, [0.0, 0.0], [0.0, 0.0], tau, 1e-3).diverged.tolist())
    assert found[0] == found[1]
    assert found[0][0] == -1 != found[0][1]


def test_blocks_of_a_batch_are_the_same_bits(monkeypatch, threads):
    robot = appell.load("puma560")
    q, v, a = np.random.default_rng(2).normal(size=(3, 60_000, 6))
    whole = robot.inverse_dynamics(q, v, a)
    monkeypatch.setattr(kernel, "BLOCK", 1 << 17)
    np.testing.assert_array_equal(robot.inverse_dynamics(q, v, a), whole)


def test_an_exception_in_one_thread_ends_the_others(threads):
    rows = []

    def work(start, stop):
        for row in range(start, stop):
            if row == 5:
                raise KeyboardInterrupt
            rows.append(row)
            yield

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, 10**7, threads)
    assert len(rows) < 10**7 - 1

"""Single precision is compiled on its first use: once, before any thread runs it, and what fails reaches the caller."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import appell
from appell.kernels.llvm.llvm_writer import SINGLE
from appell.kernels.runtime import native


@pytest.fixture
def loads(monkeypatch):
    """Return the list of precisions in which code was loaded."""
    load, found = native.load, []

    def counted(name, fingerprint, real, target, write):
        found.append(real)
        return load(name, fingerprint, real, target, write)

    monkeypatch.setattr(native, "load", counted)
    return found


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), RuntimeError("no memory for code")])
def test_a_compilation_that_fails_is_raised_and_tried_again(failure, monkeypatch):
    kernel = appell.load("two-link").kernel("mass_matrix")
    q = np.full((3, 2), 0.3, dtype=np.float32)

    def fail(*_):
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(native, "load", fail)
        with pytest.raises(type(failure)):
            kernel(q)
    single, double = kernel(q), kernel(q.astype(float))
    first = single[0] if isinstance(single, tuple) else single
    np.testing.assert_allclose(first, double[0] if isinstance(double, tuple) else double, rtol=1e-5)


def test_one_kernel_serves_plain_calls_out_and_all_threads(loads):
    robot = appell.load("two-link")
    q = np.full((70_000, 2), 0.3, dtype=np.float32)

    def call(k):
        return robot.inverse_dynamics(q, q, q, out=np.empty_like(q)) if k % 2 else robot.inverse_dynamics(q, q, q)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(call, range(8)))
    robot.adjoint("inverse_dynamics", order=0)[0](q, q, q)
    assert len({real.name for real in loads}) == len(loads) == 2
    assert len({x.tobytes() for x in results}) == 1


@pytest.mark.parametrize("kind", ["f2", "i1", "?", "f4"])
def test_arrays_that_single_precision_holds_give_single_precision(kind, loads):
    q = np.ones(2, kind)
    assert appell.load("two-link").gravity(q).dtype == np.float32
    assert SINGLE in loads


@pytest.mark.parametrize("kind", ["f8", "i4", "i8"])
def test_wider_arrays_compile_no_single_precision(kind, loads):
    robot = appell.load("two-link")
    one, wide = np.ones(2, "f4"), np.ones(2, kind)
    assert robot.inverse_dynamics(one, one, wide).dtype == np.float64
    assert robot.inverse_dynamics([1.0, 1.0], one, one).dtype == np.float64
    assert SINGLE not in loads


FIRST = """
import numpy as np, appell
from concurrent.futures import ThreadPoolExecutor
appell.threads({threads})
robot = appell.load("puma560")
x = np.zeros(({rows}, 6), "f")
call = lambda k: robot.inverse_dynamics(x, x, x, out=np.empty_like(x)) if k % 2 else robot.inverse_dynamics(x, x, x)
with ThreadPoolExecutor({users}) as pool:
    found = list(pool.map(call, range({users})))
wanted = robot.inverse_dynamics([0.0] * 6, [0.0] * 6, [0.0] * 6)
assert all(np.allclose(tau[[0, -1]], wanted, atol=1e-3) for tau in found)
"""


@pytest.mark.parametrize(("rows", "threads", "users"), [(100_000, 2, 1), (100_000, 2, 4), (9, 2, 8)])
def test_the_first_call_of_a_new_process_ends_well(rows, threads, users, tmp_path, monkeypatch):
    monkeypatch.setenv("APPELL_CACHE", str(tmp_path))
    for _ in range(3):  # without code in the cache, then with it
        command = [sys.executable, "-c", FIRST.format(rows=rows, threads=threads, users=users)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert (done.returncode, done.stderr) == (0, "")

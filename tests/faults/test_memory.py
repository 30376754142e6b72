"""Memory that cannot be had is one error of the call that needs it: no crash, and the next call works."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import appell
from appell.errors import AllocationError

FAILING = """
import ctypes, sys
import llvmlite.binding as llvm
import numpy as np
import appell
from appell.kernels.llvm.target import host

libc, is_failing = ctypes.CDLL(None), False
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
stand_in = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda size: None if is_failing else libc.malloc(size))
host()
llvm.add_symbol("malloc", ctypes.cast(stand_in, ctypes.c_void_p).value)  # for code loaded from now on

robot, rng = appell.random_chain(100, np.random.default_rng(0)), np.random.default_rng(1)
call, kind, rows, way = getattr(robot, sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
state = [rng.normal(size=(rows, 100)).astype(kind) for _ in range(3)]
if not rows:
    state = [rng.normal(size=100).astype(kind) for _ in range(3)]
out = np.zeros_like(state[0]) if way == "out" else None
wanted = call(*state).copy()
for _ in range(2):
    is_failing = True
    try:
        call(*state, out=out) if way == "out" else call(*state)
    except appell.AppellError as error:
        print(type(error).__name__, error)
    is_failing = False
    found = call(*state, out=out) if way == "out" else call(*state)
    assert (found == wanted).all()
references = sys.getrefcount(out)
assert way != "out" or references == 3, references
"""


@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize(
    ("kind", "rows", "way"), [("f8", 0, "plain"), ("f8", 9, "out"), ("f4", 9, "plain"), ("f8", 40_000, "plain")]
)
def test_a_kernel_without_scratch_memory_raises(verb, kind, rows, way):
    command = [sys.executable, "-c", FAILING, verb, kind, str(rows), way]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(f"AllocationError robot 'chain100': {verb}: out of memory") == 2, done.stdout


@pytest.mark.parametrize("verb", ["inverse_dynamics", "mass_matrix"])
def test_a_result_that_is_too_large_is_one_error(verb):
    robot = appell.load("puma560")
    wide = np.broadcast_to(np.zeros(6), (1 << 42, 6))
    with pytest.raises(AllocationError, match=f"puma560.*{verb}.*out of memory"):
        getattr(robot, verb)(*[wide] * len(robot.verbs[verb].inputs))

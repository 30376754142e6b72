"""Compiled rollouts: made once per machine, and refused with a name where a part is malformed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from appell.errors import TraceError
from appell.kernels.llvm.rollout_ir import WEIGHTS, Part, RolloutIR
from appell.kernels.runtime.rollout_kernel import RolloutKernel, RolloutSpec
from appell.trace.expr import Op
from appell.trace.tape import Port, Step, Tape, trace

X, RATE = Port("x", (1,)), Port("rate", (1,))


def growth() -> RolloutIR:
    """Return x ← x + weight·rate·x."""
    inputs = (X, RATE, Port(WEIGHTS, (1,)))
    tape = trace("growth", lambda x, rate, weight: (x[0] + weight[0] * rate[0] * x[0],), inputs, (X,))
    return RolloutIR("growth", (X,), (RATE,), (), (), Part(tape, ("x", "rate", WEIGHTS), ("x",)), stages=2)


def test_every_row_takes_every_stage_of_every_step(monkeypatch):
    monkeypatch.setenv("APPELL_CACHE", "off")
    rates = np.linspace(0.1, 1.0, 11)[:, None]
    (x,), lasted = RolloutKernel(RolloutSpec("growth", "", growth))(
        [np.ones((11, 1))], [rates], [], np.array([[0.5], [0.25]]), range(0, 7, 3)
    )
    factor = (1.0 + 0.5 * rates) * (1.0 + 0.25 * rates)
    assert x.shape == (11, 3, 1)
    assert np.allclose(x[:, :, 0], factor ** [0, 3, 6], rtol=1e-14)
    assert lasted.tolist() == [6] * 11


def test_the_cache_spares_the_making(tmp_path, monkeypatch):
    monkeypatch.setenv("APPELL_CACHE", str(tmp_path))
    arguments: Any = [np.ones((1, 1))], [np.ones((1, 1))], [], np.array([[1.0], [1.0]]), range(2)
    first, _ = RolloutKernel(RolloutSpec("growth", "same", growth))(*arguments)

    def never() -> RolloutIR:
        raise AssertionError("made again")

    again, _ = RolloutKernel(RolloutSpec("growth", "same", never))(*arguments)
    assert again[0].tolist() == first[0].tolist() == [[[1.0], [4.0]]]


def test_a_malformed_part_is_refused(monkeypatch):
    monkeypatch.setenv("APPELL_CACHE", "off")
    bad = Tape("late", (X, Port(WEIGHTS, (1,))), (X,), (Step(Op.ADD, (0, 9)),), (2,))
    rollout = RolloutIR("late", (X,), (), (), (), Part(bad, ("x", WEIGHTS), ("x",)), stages=1)
    with pytest.raises(TraceError, match="tape 'late', step 2"):
        RolloutKernel(RolloutSpec("late", "", lambda: rollout))([np.ones((1, 1))], [], [], np.ones((1, 1)), range(2))

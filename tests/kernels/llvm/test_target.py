"""Lesser machines: the same numbers from code without AVX-512, without AVX2 and without fused multiply-add."""

from __future__ import annotations

import platform

import llvmlite.binding as llvm
import numpy as np
import pytest

import appell
from appell.errors import CompileError
from appell.kernels.llvm.target import Target, host
from appell.kernels.runtime.kernel import Kernel
from appell.spatial import scalar

on_x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="targets of x86 machines")
needs_avx2 = pytest.mark.skipif("+avx2" not in host().features.split(","), reason="this machine has no AVX2")
TARGETS = [
    pytest.param(Target("x86-64", ""), id="baseline"),
    pytest.param(Target("x86-64-v2", "+sse4.2"), id="sse4"),
    pytest.param(Target("x86-64", "+avx2"), id="avx2 without fma", marks=needs_avx2),
    pytest.param(Target("x86-64-v3", "+avx2,+fma"), id="avx2", marks=needs_avx2),
]


@on_x86
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics"])
def test_a_lesser_machine_has_the_same_numbers(target, verb, state, agree):
    robot = appell.load("puma560")
    arguments = state(robot, 37)
    agree(Kernel(robot.program(verb).spec, target)(*arguments), getattr(robot, verb)(*arguments), 1e-11)


@on_x86
@pytest.mark.parametrize("target", TARGETS)
def test_a_lesser_machine_has_the_same_single_numbers(target, state, agree):
    robot = appell.load("puma560")
    arguments = [x.astype(np.float32) for x in state(robot, 37)]
    agree(Kernel(robot.program("inverse_dynamics").spec, target)(*arguments), robot.inverse_dynamics(*arguments), 1e-5)


@on_x86
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_lesser_machine_has_sines_to_about_a_unit_in_the_last_place(compiled, target, kind):
    kernel = compiled(lambda x: (scalar.sin(x[0]), scalar.cos(x[0])), {"x": (1,)}, {"y": (2,)}, target)
    x = np.random.default_rng(3).uniform(-1e5, 1e5, 5000).astype(kind)
    wide = x.astype(np.longdouble)
    exact = np.stack([np.sin(wide), np.cos(wide)], axis=-1)
    assert (np.abs(kernel(x[:, None]) - exact) / np.spacing(np.abs(exact).astype(kind))).max() < 1.7


@on_x86
@pytest.mark.parametrize("target", TARGETS)
def test_a_lesser_machine_reduces_large_angles(compiled, target):
    kernel = compiled(lambda x: (scalar.sin(x[0]), scalar.cos(x[0])), {"x": (1,)}, {"y": (2,)}, target)
    x = 10.0 ** np.random.default_rng(3).uniform(5, 150, 100)
    np.testing.assert_allclose(kernel(x[:, None]), np.stack([np.sin(x), np.cos(x)], axis=-1), rtol=0, atol=6e-16)


@on_x86
@pytest.mark.parametrize(("features", "lanes"), [("", 2), ("+avx2", 4), ("+avx2,+avx512f", 8), ("+avx2,-avx512f", 4)])
def test_lanes_follow_the_features(features, lanes):
    assert Target("x86-64", features).lanes(8) == lanes
    assert Target("x86-64", features).lanes(4) == 2 * lanes


def test_the_host_is_this_machine():
    assert host().cpu == llvm.get_host_cpu_name()


@on_x86
def test_kernels_of_two_targets_do_not_share_code(compiled, tmp_path, monkeypatch):
    monkeypatch.setenv("APPELL_CACHE", str(tmp_path))
    for target in (Target("x86-64", ""), host()):
        compiled(lambda x: (x[0] * 2.0,), {"x": (1,)}, {"y": (1,)}, target)
    assert len(list(tmp_path.iterdir())) == 2


def test_an_operation_that_native_code_does_not_know_is_named(compiled, monkeypatch):
    monkeypatch.setattr("appell.kernels.llvm.emit.CODE", {})
    with pytest.raises(CompileError, match="native code knows no operation MUL"):
        compiled(lambda x: (x[0] * 3.25,), {"x": (1,)}, {"y": (1,)})

"""C99 of tapes: compiled with every warning an error and with sanitizers, it gives what Python gives."""

from __future__ import annotations

import ctypes
import functools
import math
import re
import subprocess

import numpy as np
import pytest

import appell
from appell.errors import CompileError
from appell.kernels.text.c99 import Function, Sheet, header_text, source_text
from appell.kernels.text.c99_values import REALS
from appell.program.nodes import straight
from appell.spatial.scalar import cos, select, sign, sin, sqrt
from appell.trace.tape import Port, trace
from tests.support.compilers import built, called, exported_function, relative


@functools.cache
def robot(name):
    if name == "floating":
        return appell.load("puma560", floating=True)
    return appell.load(name)


def samples(name, n=20):
    rng = np.random.default_rng(7)
    loaded = robot(name)
    q = loaded.random(rng, n)
    forces = getattr(loaded, "actuators", ())
    size = len(forces) if name == "stewart" else loaded.nv
    return q, rng.normal(size=(n, loaded.nv)), rng.normal(size=(n, size))


CASES = [
    ("puma560", "inverse_dynamics"),
    ("puma560", "forward_dynamics"),
    ("floating", "inverse_dynamics"),
    ("shafei-tree", "inverse_dynamics"),
    ("stewart", "inverse_dynamics"),
    ("agile-wrist", "inverse_dynamics"),
    ("agile-wrist", "forward_dynamics"),
]


@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
@pytest.mark.parametrize(("name", "verb"), CASES)
def test_c_gives_what_python_gives(compiler, name, verb, libm, tmp_path):
    file = robot(name).export(verb, path=tmp_path / "robot.c", libm=libm)
    library = built(compiler, file, *(["-lm"] if libm else ["-nostdlib"]))
    q, v, x = samples(name)
    expected = getattr(robot(name), verb)(q, v, x)
    sizes = [expected.shape[1]] + ([1] if name == "stewart" else [])
    (found, *_), codes = called(exported_function(library, file), (q, v, x), sizes)
    assert relative(found, expected) < 1e-12
    if name in ("floating", "stewart", "agile-wrist"):
        assert not any(codes)


@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
def test_float_is_good_to_single_precision(compiler, libm, tmp_path):
    file = robot("puma560").export("inverse_dynamics", path=tmp_path / "robot.c", real="float", libm=libm)
    library = built(compiler, file, *(["-lm"] if libm else ["-nostdlib"]))
    q, v, a = (x.astype(np.float32) for x in samples("puma560"))
    expected = robot("puma560").inverse_dynamics(q.astype(float), v.astype(float), a.astype(float))
    (found,), _ = called(exported_function(library, file), (q, v, a), [6], np.float32)
    assert relative(found, expected) < 2e-6


MAIN = """
#include "robot.h"
#include <stdio.h>
int main(void)
{{
    double {arrays};
    while ({reads}) {{
        {call};
        for (int i = 0; i < {size}; i++) printf("%a ", {result}[i]);
    }}
    return 0;
}}
"""


@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
@pytest.mark.parametrize("name", ["puma560", "floating", "stewart", "agile-wrist"])
def test_sanitizers_find_nothing(compiler, name, libm, tmp_path):
    file = robot(name).export("inverse_dynamics", path=tmp_path / "robot.c", libm=libm)
    q, v, a = samples(name, 4)
    q[0, -1] = q[0, -1] if name == "stewart" else 1e9  # through the reduction of large angles
    expected = robot(name).inverse_dynamics(q, v, a)
    sizes = {"q": q.shape[1], "v": v.shape[1], "a": a.shape[1], "tau": expected.shape[1], "pivot_growth": 1}
    names = list(sizes)[: None if name == "stewart" else -1]
    main = tmp_path / "main.c"
    reads = " && ".join(f'scanf("%la", &{x}[{k}]) == 1' for x in names[:3] for k in range(sizes[x]))
    function = re.search(r"(\w+)\(\s*const", file.with_suffix(".h").read_text())
    assert function is not None
    arrays = ", ".join(f"{x}[{sizes[x]}]" for x in names)
    call = f"{function[1]}({', '.join(names)})"
    main.write_text(MAIN.format(arrays=arrays, reads=reads, call=call, size=sizes["tau"], result="tau"))
    program = tmp_path / "program"
    watch = (compiler.sanitizers, "-fno-sanitize-recover=all")
    compiler.build("-O1", *watch, file, main, "-o", program, "-lm")
    text = " ".join(float(x).hex() for row in np.hstack([q, v, a]) for x in row)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = np.array([float.fromhex(x) for x in done.stdout.split()]).reshape(expected.shape)
    assert relative(found, expected) < 1e-12


def sheet(program, inputs, outputs):
    tape = trace("f", program, [Port(*p) for p in inputs.items()], [Port(*p) for p in outputs.items()])
    ports = (*tape.inputs, *tape.outputs)
    function = Function(
        "f",
        straight(tape),
        "a function",
        {p.name: p.name for p in ports},
        {p.name: tuple(map(str, p.shape)) for p in ports},
    )
    return Sheet("a test", (), (), (function,))


def _small(compiler, folder, program, inputs, outputs, *, real="double", libm=False):
    made = sheet(program, inputs, outputs)
    (folder / "small.h").write_text(header_text(made, "small", REALS[real], "f"))
    file = folder / "small.c"
    file.write_text(source_text(made, "small", REALS[real], "f", libm=libm))
    return built(compiler, file, *(["-lm"] if libm else ["-nostdlib"])).f


@pytest.fixture
def small(any_compiler, tmp_path):
    """The maker of a C function of a small program."""
    return functools.partial(_small, any_compiler, tmp_path)


@pytest.mark.skipif(bool(np.finfo(np.longdouble).eps > 1e-18), reason="long double is no wider than double")
@pytest.mark.parametrize("real", ["double", "float"])
def test_own_sines_are_exact_to_the_last_places(small, real, tmp_path):
    f = small(lambda x: (sin(x[0]), cos(x[0])), {"x": (1,)}, {"y": (2,)}, real=real)
    dtype = np.float64 if real == "double" else np.float32
    rng = np.random.default_rng(3)
    near = np.arange(-40, 41) * (math.pi / 2)
    angles = [rng.uniform(-10, 10, 200), near, rng.uniform(-2e5, 2e5, 100), 10.0 ** rng.uniform(0, 30, 200)]
    half = np.concatenate(angles)
    x = np.concatenate([half, -half, np.array([np.finfo(dtype).max, 0.0, 1e5, 8192.0])]).astype(dtype)
    (found,), _ = called(f, (x[:, None],), [2], dtype)
    exact = np.stack([np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))], axis=-1)
    assert np.abs(found - exact).max() < np.finfo(dtype).eps


def test_own_sines_of_what_is_not_finite_are_not_numbers(small, tmp_path):
    f = small(lambda x: (sin(x[0]), cos(x[0])), {"x": (1,)}, {"y": (2,)})
    (found,), _ = called(f, (np.array([[np.inf], [-np.inf], [np.nan]]),), [2])
    assert np.isnan(found).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_own_root_is_right_to_one_unit(small, dtype, tmp_path):
    real = "double" if dtype is np.float64 else "float"
    f = small(lambda x: (sqrt(x[0]),), {"x": (1,)}, {"y": (1,)}, real=real)
    tiny, huge = np.log10(np.finfo(dtype).tiny) - 5, np.log10(np.finfo(dtype).max)
    x = np.append(10.0 ** np.random.default_rng(1).uniform(tiny, huge, 2000), [0.0, 1.0, 4.0]).astype(dtype)
    (found,), _ = called(f, (x[:, None],), [1], dtype)
    expected = np.sqrt(x)
    assert (np.abs(found[:, 0] - expected) <= np.spacing(expected)).all()
    (odd,), _ = called(f, (np.array([[-1.0], [np.nan], [np.inf], [-0.0]]),), [1], dtype)
    assert np.isnan(odd[:2]).all()
    assert odd[2, 0] == np.inf
    assert math.copysign(1.0, odd[3, 0]) == -1.0


def test_signs_of_zero_and_of_not_a_number_are_kept(small, tmp_path):
    f = small(lambda x: (sign(x[0]),), {"x": (1,)}, {"y": (1,)})
    (found,), _ = called(f, (np.array([[-3.0], [2.0], [0.0], [np.nan]]),), [1])
    assert found[:3, 0].tolist() == [-1.0, 1.0, 0.0]
    assert np.isnan(found[3, 0])


def test_a_choice_is_by_what_is_above_zero(small, tmp_path):
    f = small(lambda x: (select(x[0] - 1.0, x[1] * x[1], -x[1]),), {"x": (2,)}, {"y": (1,)})
    x = np.array([-3.0, 2.0, 1.0, np.inf, np.nan])
    (found,), _ = called(f, (np.stack([x, np.full(5, 7.0)], axis=-1),), [1])
    assert found[:, 0].tolist() == [-7.0, 49.0, -7.0, 49.0, -7.0]


def test_the_angle_of_a_sine_may_be_of_an_earlier_part(small, monkeypatch, tmp_path):
    monkeypatch.setattr("appell.kernels.text.c99_values.LONG", 0)
    monkeypatch.setattr("appell.kernels.text.c99_values.PART", 10)

    def program(x):
        angle, power = x[0] * x[1] + 0.5, x[1]
        for _ in range(40):
            power = power * x[1] + x[0]
        return power, sin(angle) * power

    f = small(program, {"x": (2,)}, {"y": (2,)})
    x = np.random.default_rng(5).uniform(0.5, 1.0, (10, 2))
    (found,), _ = called(f, (x,), [2])
    np.testing.assert_allclose(found, [program(row) for row in x], rtol=1e-14)


def test_an_input_without_axes_is_passed_by_value(small, tmp_path):
    f = small(lambda x, y: (x[0] * y[0],), {"x": (1,), "dt": ()}, {"y": (1,)})
    x, result = np.array([3.0]), np.empty(1)
    f(*(ctypes.c_void_p(x.ctypes.data), ctypes.c_double(0.5), ctypes.c_void_p(result.ctypes.data)))
    assert result[0] == 1.5


def test_arrays_may_overlap(small, tmp_path):
    f = small(lambda x: (x[1], x[0]), {"x": (2,)}, {"y": (2,)})
    x = np.array([1.0, 2.0])
    place = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    f(place, place)
    assert x.tolist() == [2.0, 1.0]


def test_brackets_keep_the_order_of_operations(small, tmp_path):
    def program(x):
        a, b, c = x
        return a - (b - c), -(a + b) * c, a / (b / c), a / (b * c), -a - b, (a - 2.5) * -0.1

    f = small(program, {"x": (3,)}, {"y": (6,)})
    x = np.random.default_rng(5).normal(size=(10, 3))
    (found,), _ = called(f, (x,), [6])
    np.testing.assert_allclose(found, [program(row) for row in x], rtol=1e-14)


def test_a_constant_that_float_cannot_hold_is_told():
    with pytest.raises(CompileError, match="real='double'"):
        REALS["float"].literal(1e40)


def test_numbers_are_spelled_exactly():
    rng = np.random.default_rng(0)
    for value in (*rng.normal(size=50), 1e-300, 5e-324, 0.1, 1e22, -2.0):
        text = REALS["double"].literal(value).split()[0]
        assert (float.fromhex(text) if "x" in text else float(text)) == value

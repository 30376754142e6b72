"""C of long programs, in parts: it gives what Python gives, as in one piece."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
import pytest

import appell
from tests.support.compilers import built, called, exported_function, relative


@functools.cache
def robot(name):
    return appell.load("puma560", floating=True) if name == "floating" else appell.load(name)


@pytest.fixture
def parts(monkeypatch):
    """Make every program long."""
    monkeypatch.setattr("appell.kernels.text.c99_values.LONG", 0)
    monkeypatch.setattr("appell.kernels.text.c99_values.PART", 40)


def samples(name, verb):
    rng, n = np.random.default_rng(7), 10
    inputs, outputs = robot(name).verbs[verb].ports(robot(name).facts.sizes)
    given = [robot(name).random(rng, n) if p.name == "q" else rng.normal(size=(n, p.size)) for p in inputs]
    return given, [port.size for port in outputs]


CASES = [
    ("puma560", "forward_dynamics_derivatives"),
    ("shafei-tree", "mass_matrix"),
    ("floating", "inverse_dynamics"),
    ("agile-wrist", "forward_dynamics"),
]


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
@pytest.mark.parametrize(("name", "verb"), CASES)
def test_parts_give_what_python_gives(compiler, name, verb, libm, tmp_path):
    file = robot(name).export(verb, path=tmp_path / "robot.c", libm=libm)
    assert "part2_of_" in file.read_text()
    given, sizes = samples(name, verb)
    library = built(compiler, file, *(["-lm"] if libm else []))
    results, _ = called(exported_function(library, file), given, sizes)
    expected = getattr(robot(name), verb)(*given)
    for found, wanted in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert relative(found, wanted.reshape(found.shape)) < 1e-12


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
def test_parts_are_good_to_single_precision(compiler, libm, tmp_path):
    file = robot("puma560").export("inverse_dynamics", path=tmp_path / "robot.c", real="float", libm=libm)
    given = [x.astype(np.float32) for x in samples("puma560", "inverse_dynamics")[0]]
    library = built(compiler, file, *(["-lm"] if libm else []))
    (found,), _ = called(exported_function(library, file), given, [6], np.float32)
    expected = robot("puma560").inverse_dynamics(*(x.astype(float) for x in given))
    assert relative(found, expected) < 2e-6


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
def test_large_angles_are_reduced_one_by_one(any_compiler, libm, tmp_path):
    file = robot("puma560").export("mass_matrix", path=tmp_path / "robot.c", libm=libm)
    (q,), _ = samples("puma560", "mass_matrix")
    q[0, 1], q[1, 2], q[2, 4] = 1e9, -1e20, np.nan
    library = built(any_compiler, file, *(["-lm"] if libm else []))
    (found,), _ = called(exported_function(library, file), (q,), [36])
    expected = robot("puma560").mass_matrix(q).reshape(-1, 36)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("parts")
def test_results_may_be_written_over_the_arguments(any_compiler, tmp_path):
    file = robot("puma560").export("forward_dynamics", path=tmp_path / "robot.c")
    (q, v, tau), _ = samples("puma560", "forward_dynamics")
    places = [x[0].ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (q, v, tau)]
    for k in range(3):
        expected = robot("puma560").forward_dynamics(q[0], v[0], tau[0])
        exported_function(built(any_compiler, file, "-lm"), file)(*places, places[k])
        assert relative((q, v, tau)[k][0], expected) < 1e-12


@pytest.mark.usefixtures("parts")
def test_guards_are_tested_after_the_last_part(any_compiler, tmp_path):
    file = robot("floating").export("forward_dynamics", path=tmp_path / "robot.c")
    (q, v, tau), sizes = samples("floating", "forward_dynamics")
    q[1::2, 3:7] *= 1.1
    _, codes = called(exported_function(built(any_compiler, file, "-lm"), file), (q, v, tau), sizes)
    assert codes == [0, 1] * 5


@pytest.mark.usefixtures("parts")
def test_the_same_robot_gives_the_same_parts(tmp_path):
    files = [robot("puma560").export("forward_dynamics", path=tmp_path / f"{k}" / "robot.c") for k in range(2)]
    assert files[0].read_text() == files[1].read_text()
    assert "numbers on the stack" in files[0].with_suffix(".h").read_text()


def test_short_programs_are_one_function(tmp_path):
    assert "PART" not in robot("puma560").export("inverse_dynamics", path=tmp_path / "robot.c").read_text()

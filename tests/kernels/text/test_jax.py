"""JAX of tapes: what Python gives, in both precisions, through jit, vmap and derivatives, written out or looped."""

from __future__ import annotations

import functools
import subprocess
import sys

import numpy as np
import pytest

import appell
from appell.kernels.text import jax_values
from appell.kernels.text.jax_values import FUNCTIONS, KINDS, Applied, Rows, table
from appell.program.nodes import straight
from appell.spatial.scalar import cos, select, sign, sin, sqrt
from appell.trace.expr import EVALUATE, Op
from appell.trace.tape import Port, trace
from tests.support.exported import in_python

jax = pytest.importorskip("jax")
if hasattr(jax, "enable_x64"):
    x64 = functools.partial(jax.enable_x64, True)
else:  # older releases
    x64 = pytest.importorskip("jax.experimental").enable_x64


@functools.cache
def robot(name):
    return appell.load("puma560", floating=True) if name == "floating" else appell.load(name)


def sample(name, *shape):
    rng = np.random.default_rng(7)
    loaded = robot(name)
    return loaded.random(rng, shape), rng.normal(size=(*shape, loaded.nv)), rng.normal(size=(*shape, loaded.nu))


@pytest.mark.parametrize("name", ["puma560", "floating", "five-bar"])
def test_jax_gives_what_python_gives(name, agree):
    function = robot(name).export("inverse_dynamics", to="jax")
    with x64():
        found = jax.jit(function)(*sample(name))
    agree(found, robot(name).inverse_dynamics(*sample(name)), 1e-12)


@pytest.fixture(params=["written out", "looped"])
def function(request, monkeypatch):
    """Return inverse dynamics of an arm in either form of text."""
    monkeypatch.setattr(jax_values, "LONG", 10**9 if request.param == "written out" else 0)
    return robot("two-link").export("inverse_dynamics", to="jax")


def test_leading_axes_broadcast_and_vmap_gives_the_same(function, agree):
    q, v, a = sample("two-link", 3, 2)
    expected = robot("two-link").inverse_dynamics(q, v[0, 0], a)
    with x64():
        agree(jax.jit(function)(q, v[0, 0], a), expected, 1e-12)
        many = jax.vmap(jax.vmap(function, in_axes=(0, None, 0)), in_axes=(0, None, 0))
        agree(jax.jit(many)(q, v[0, 0], a), expected, 1e-12)


@pytest.mark.parametrize("slope", [jax.jacfwd, jax.jacrev], ids=["forward", "reverse"])
def test_derivatives_are_the_robots_at_rest_too(slope, function, agree):
    moving = sample("two-link")
    slopes = jax.jit(slope(function, argnums=(0, 1, 2)))
    # zeros may be factors of a table's rows, whose quotients are not asked for and must not be in derivatives
    for at in (moving, (moving[0], np.zeros(2), np.zeros(2)), (np.zeros(2), np.zeros(2), moving[2])):
        with x64():
            found = slopes(*at)
        for block, expected in zip(found, robot("two-link").inverse_dynamics_derivatives(*at), strict=True):
            agree(block, expected, 1e-12)


def test_the_gradient_of_potential_energy_is_gravity(agree):
    energy = robot("two-link").export("potential_energy", to="jax")
    q = sample("two-link")[0]
    with x64():
        agree(jax.jit(jax.grad(energy))(q), robot("two-link").gravity(q), 1e-12)


def test_single_precision_in_is_single_precision_out(function, agree):
    q, v, a = (x.astype(np.float32) for x in sample("two-link"))
    with x64():
        found = jax.jit(function)(q, v, a)
    assert found.dtype == np.float32
    agree(found, robot("two-link").inverse_dynamics(*(x.astype(float) for x in (q, v, a))), 2e-6)


def test_a_wrong_size_is_told(function):
    q, v, a = sample("two-link")
    with pytest.raises(ValueError, match=r"v: expected \(..., 2\), got \(1,\)"):
        function(q, v[:1], a)


def test_the_file_needs_jax_alone(tmp_path):
    file = robot("two-link").export("gravity", to="jax", path=tmp_path / "arm.py")
    program = "import sys, arm; arm.gravity([0.1] * 2); assert 'appell' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], cwd=file.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def program(x):
    a, b, c = x
    angle = a + b * c
    one, two = sin(angle), cos(angle)
    chosen = select(c - two, select(a, one, c), sin(a) * b)
    return one / (b * b + 1.0), sqrt(one * one + 2.0) - c, -two * sign(c), a, 3.5, sin(one + two), chosen * a


def test_a_table_has_every_operation():
    assert {*KINDS, *FUNCTIONS, Op.NEG} == {*EVALUATE}


def test_a_table_does_what_its_tape_does():
    tape = trace("f", program, [Port("x", (3,))], [Port("y", (7,))])
    made, x = table(tape, width=2), [0.3, -0.7, 1.1]
    values = [*x, *made.constants]
    for stage in made.stages:
        if isinstance(stage, Applied):
            values += [EVALUATE[stage.op](*(values[i] for i in places)) for places in zip(*stage.places, strict=True)]
            continue
        assert isinstance(stage, Rows)
        for row in zip(stage.kinds, stage.first, stage.second, strict=True):
            assert max(row[1] + row[2]) < len(values)  # every operand is there before its row
            values += [EVALUATE[KINDS[k]](values[i], values[j]) for k, i, j in zip(*row, strict=True)]
    assert [values[i] for i in made.results] == tape.run(x)


def long_choice(x):
    """Return a sum whose terms depend on where x is, of more steps than are written out."""
    a, b = x
    total = select(a - 1.0, a * b, b)
    for k in range(jax_values.LONG):
        total = 0.99 * total + (a + float(k)) * b
    return select(total, select(b, total, a), 2.0 * total * b), select(b, a * a, b)


LATER = [pytest.param(x, marks=pytest.mark.slow) for x in ((2.0, 0.3), (0.4, 0.3), (2.0, -0.3))]


@pytest.mark.parametrize("x", [(0.4, -0.3), *LATER])
def test_a_long_program_chooses_and_its_derivatives_do(x, agree):
    tape = trace("f", long_choice, [Port("x", (2,))], [Port("y", (2,))])
    assert len(tape.steps) > jax_values.LONG
    f = in_python(straight(tape))
    steps = np.array(x) + 1e-30j * np.eye(2)
    slopes = np.imag([tape.run(list(step)) for step in steps]).T / 1e-30
    with x64():
        agree(jax.jit(f)(np.array(x)), tape.run(list(x)), 1e-12)
        agree(jax.jit(jax.jacfwd(f))(np.array(x)), slopes, 1e-12)
        agree(jax.jit(jax.grad(lambda x: f(x)[0]))(np.array(x)), slopes[0], 1e-12)

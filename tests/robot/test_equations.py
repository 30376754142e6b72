"""Equations in symbols: against the compiled verbs, against the textbook, and as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.model.build import Connection, Link, build
from appell.model.model import Joint
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose

sympy = pytest.importorskip("sympy")

ARM = appell.load("two-link")
GRAVITY, LOW = 9.81, Pose(position=(0.0, 0.0, -0.75))


def pendulum() -> appell.Robot:
    """Return two rods that swing about x: angles from the vertical down, the second relative to the first."""
    rod = Inertia.from_centre(1.5, (0.0, 0.0, -0.3), ((0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.001)))
    joints = [
        Connection(Joint("first", "continuous", (1.0, 0.0, 0.0), Pose()), "base", "upper"),
        Connection(Joint("second", "continuous", (1.0, 0.0, 0.0), LOW), "upper", "lower"),
    ]
    return appell.load(build("pendulum", [Link("base"), Link("upper", rod), Link("lower", rod)], joints))


def numbers(made, value, state) -> np.ndarray:
    """Return an expression at a state, as an array."""
    values = dict(made.parameters)
    for symbols, given in zip((made.q, made.v, made.a), state, strict=True):
        values |= dict(zip(symbols, given, strict=True))
    return np.array(sympy.Matrix([value]).subs(values).evalf(), dtype=float)


@pytest.mark.parametrize("shape", [["revolute", "prismatic"], ["helical", "revolute"], ["cylindrical"]])
def test_equations_have_the_values_of_the_verbs(shape, tree, rng, agree):
    robot = appell.load(tree(rng, [(kind, k) for k, kind in enumerate(shape)], has_friction=True))
    made = robot.equations()
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    agree(numbers(made, made.M, (q, v, a)), robot.mass_matrix(q), 1e-10)
    agree(numbers(made, made.C, (q, v, a)), robot.coriolis_matrix(q, v), 1e-10, size=1e-3)
    agree(numbers(made, made.G, (q, v, a))[:, 0], robot.gravity(q), 1e-10, size=1e-3)
    agree(numbers(made, made.tau, (q, v, a))[:, 0], robot.inverse_dynamics(q, v, a), 1e-10)


def test_the_double_pendulum_is_the_textbooks():
    """M, C v and G of Spong, Hutchinson and Vidyasagar, chapter 7, with angles from the vertical."""
    made = pendulum().equations()
    m1, m2, c1, c2, i1, i2 = sympy.symbols("m1 m2 c1 c2 i1 i2", positive=True)
    (q1, q2), (v1, v2), length = made.q, made.v, sympy.Rational(3, 4)
    cross = m2 * length * c2
    first = i1 + i2 + m1 * c1**2 + m2 * (length**2 + c2**2) + 2 * cross * sympy.cos(q2)
    second = i2 + m2 * c2**2
    mixed = second + cross * sympy.cos(q2)
    mass = sympy.Matrix([[first, mixed], [mixed, second]])
    forces = cross * sympy.sin(q2) * sympy.Matrix([-v2 * (2 * v1 + v2), v1**2])
    low = m2 * c2 * sympy.sin(q1 + q2)
    weight = sympy.Rational(repr(GRAVITY)) * sympy.Matrix([(m1 * c1 + m2 * length) * sympy.sin(q1) + low, low])
    named = {
        "m_upper": m1, "mz_upper": -m1 * c1, "Ixx_upper": i1 + m1 * c1**2,
        "m_lower": m2, "mz_lower": -m2 * c2, "Ixx_lower": i2 + m2 * c2**2,
    }  # fmt: skip
    own = {x: named[x.name] for x in made.parameters if x.name in named}

    def same(ours, theirs):
        difference = sympy.nsimplify(sympy.expand_trig(ours.subs(own) - theirs), rational=True)
        return all(sympy.simplify(x) == 0 for x in sympy.expand(difference))

    assert same(made.M, mass)
    assert same(made.C * sympy.Matrix(made.v), forces)
    assert same(made.G, weight)


def test_the_gibbs_function_gives_the_torques():
    made = ARM.equations()
    slopes = [sympy.diff(made.S, x) for x in made.a]
    assert all(sympy.expand(x - y) == 0 for x, y in zip(slopes, made.tau, strict=True))


def test_the_two_link_arm_fits_half_a_page():
    made = ARM.equations()
    assert [str(x) for x in made.M[1, :]] == ["Izz_link2 + 0.02*mx_link2*cos(q_joint2)", "Izz_link2"]
    assert len(made.latex().splitlines()) < 30


def test_the_stanford_arm_can_be_printed(agree, rng):
    robot = appell.load("stanford")
    made = robot.equations()
    q = robot.random(rng)
    agree(numbers(made, made.M, (q, q, q)), robot.mass_matrix(q), 1e-12)
    assert str(made.M[5, 5]) == "Ia_joint6 + Izz_link6"


def test_a_module_of_sympy_defines_the_expressions(tmp_path):
    robot = ARM
    file = robot.export(["mass_matrix", "gravity"], to="sympy", path=tmp_path / "arm.py", parametric=True)
    defined: dict[str, Any] = {}
    exec(file.read_text(), defined)  # the module as a user would run it
    assert defined["mass_matrix"] == robot.equations().M
    assert defined["gravity"] == robot.equations().G
    plain = robot.export("mass_matrix", to="sympy")
    apart = defined["mass_matrix"].subs(defined["parameters"]) - plain
    assert max(abs(x) for x in apart.subs({plain.free_symbols.pop(): 0.3})) < 1e-12


def test_latex_is_text_for_a_document(tmp_path):
    file = ARM.export("gravity", to="latex", path=tmp_path / "arm.tex", parametric=True)
    assert file.read_text().count(r"\begin{align*}") == 1
    assert r"\tau_{2} &= 9.81 mx_{link2} \cos{\left(q_{joint1} + q_{joint2} \right)}" in file.read_text()


@pytest.mark.parametrize("name", ["five-bar", "agile-wrist"])
def test_robots_with_loops_have_no_short_equations(name):
    with pytest.raises(InputError, match="for small open robots"):
        _ = appell.load(name).equations().M


def test_controllers_are_no_equations(tmp_path):
    law = appell.control.PointToPoint(ARM, [0.0, 0.0], 1.0, 1.0)
    with pytest.raises(InputError, match="'latex' is for robots"):
        law.export(tmp_path / "law.tex", to="latex")

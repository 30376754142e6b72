"""CasADi of tapes: what Python gives, with derivatives for an optimiser, from a file that needs CasADi alone."""

from __future__ import annotations

import functools
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.kernels.text.casadi import EXPRESSIONS
from appell.kernels.text.jax_values import EXPRESSIONS as JAX_EXPRESSIONS
from appell.model.model import Frame
from appell.spatial.pose import Pose
from appell.trace.expr import ARITY

casadi = pytest.importorskip("casadi")


@functools.cache
def robot(name):
    return appell.load("puma560", floating=True) if name == "floating" else appell.load(name)


def sample(name):
    rng = np.random.default_rng(7)
    loaded = robot(name)
    return loaded.random(rng), rng.normal(size=loaded.nv), rng.normal(size=loaded.nu)


@pytest.mark.parametrize("name", ["puma560", "floating", "shafei-tree", "five-bar", "agile-wrist"])
@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics"])
def test_casadi_gives_what_python_gives(name, verb, agree):
    function = robot(name).export(verb, to="casadi")
    found = function(*sample(name))
    # forward dynamics loses the digits of a matrix's condition in both orders of summing
    agree(np.array(found)[:, 0], getattr(robot(name), verb)(*sample(name)), 1e-12 if "inv" in verb else 1e-10)


def test_every_operation_is_in_the_table():
    assert set(EXPRESSIONS) == set(JAX_EXPRESSIONS) == set(ARITY)


def test_the_jacobian_of_inverse_dynamics_is_its_derivatives(agree):
    function = robot("puma560").export("inverse_dynamics", to="casadi")
    inputs = [casadi.SX.sym(name, 6) for name in "qva"]
    tau = function(*inputs)
    slopes = casadi.Function("slopes", inputs, [casadi.jacobian(tau, x) for x in inputs])
    ours = robot("puma560").inverse_dynamics_derivatives(*sample("puma560"))
    for found, expected in zip(slopes(*sample("puma560")), ours, strict=True):
        agree(found.full(), expected, 1e-12)


def test_along_the_motion_of_a_free_base_the_slopes_are_its_derivatives(agree):
    loaded, (q, v, a) = robot("floating"), sample("floating")
    torque, motion = loaded.export(["inverse_dynamics", "motion"], to="casadi")
    x = casadi.SX.sym("x", loaded.nq)
    slope = casadi.Function("slope", [x], [casadi.jacobian(torque(x, v, a), x)])
    rates = np.hstack([motion(q, unit, a)[0].full() for unit in np.eye(loaded.nv)])  # q̇ = G(q)·v
    agree(slope(q).full() @ rates, loaded.inverse_dynamics_derivatives(q, v, a)[0], 1e-12)


def test_arguments_and_results_have_their_names():
    function = robot("five-bar").export("inverse_dynamics", to="casadi")
    assert [function.name_in(k) for k in range(3)] == ["q", "v", "a"]
    assert [function.name_out(k) for k in range(function.n_out())] == ["tau"]  # closed loops are trusted, not checked
    assert robot("floating").export("gravity", to="casadi").n_out() == 1  # quaternions too


def test_matrices_are_laid_out_by_rows_and_columns(agree):
    pose, jacobian = robot("puma560").export(["pose", "jacobian"], to="casadi", frame="link6")
    q = sample("puma560")[0]
    agree(pose(q).full(), robot("puma560").pose(q, "link6"), 1e-14)
    agree(jacobian(q).full(), robot("puma560").jacobian(q, "link6"), 1e-14)


def test_symbols_of_matrices_are_taken(agree):
    function = robot("puma560").export("gravity", to="casadi")
    q = casadi.MX.sym("q", 6)
    outer = casadi.Function("outer", [q], [2.0 * function(q)])
    at = sample("puma560")[0]
    agree(outer(at).full()[:, 0], 2.0 * robot("puma560").gravity(at), 1e-14)


def test_the_file_needs_casadi_alone(tmp_path, agree):
    file = robot("puma560").export(["inverse_dynamics", "potential_energy"], to="casadi", path=tmp_path / "arm.py")
    program = (
        "import sys, arm, json\n"
        "assert 'appell' not in sys.modules\n"
        "print(json.dumps([arm.inverse_dynamics(*json.loads(sys.argv[1])).full()[:, 0].tolist(),"
        " float(arm.potential_energy(json.loads(sys.argv[1])[0]))]))"
    )
    given = [x.tolist() for x in sample("puma560")]
    command = [sys.executable, "-c", program, str(given)]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    tau, energy = eval(done.stdout)
    agree(tau, robot("puma560").inverse_dynamics(*given), 1e-12)
    agree(energy, robot("puma560").potential_energy(given[0]), 1e-12)


@pytest.mark.parametrize("to", ["casadi", "jax"])
def test_the_same_robot_gives_the_same_bytes(to, tmp_path):
    texts = [
        appell.load("puma600").export("forward_dynamics", to=to, path=tmp_path / f"{k}.py").read_bytes() for k in "ab"
    ]
    assert texts[0] == texts[1]


def test_names_of_joints_and_frames_do_no_harm():
    model = appell.load("two-link").model
    names = '"""\\\nraise SystemExit', "lamp'\n"
    joint = replace(model.bodies[0].joint, name=names[0])
    bodies = (replace(model.bodies[0], joint=joint), *model.bodies[1:])
    odd = appell.load(replace(model, bodies=bodies, frames=(*model.frames, Frame(names[1], 1, Pose()))))
    assert odd.export("pose", to="casadi", frame=names[1]).name() == "pose_lamp"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"to": "c"}, "'c' needs a file; set path=, such as 'robot.c'"),
        ({"path": "arm.c"}, "unknown extension of 'arm.c'; known: '.py'"),
        ({"real": "float"}, "real and libm apply to C only; leave them out for 'casadi'"),
        ({"libm": False}, "real and libm apply to C only"),
        ({"prefix": "1 a"}, "prefix: expected letters"),
        ({"prefix": ""}, "prefix: expected letters"),
        ({"verb": "torque"}, "no verb 'torque'"),
    ],
)
def test_a_mistake_is_told(options, told):
    with pytest.raises(InputError) as error:
        robot("two-link").export(**{"verb": "gravity", "to": "casadi", **options})
    assert told in str(error.value)


@pytest.mark.parametrize("to", ["casadi", "jax"])
def test_a_package_that_is_not_installed_is_told(to, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, to, None)
    with pytest.raises(InputError, match=f"needs the package {to}, which is not installed; pip install .*{to}"):
        robot("two-link").export("gravity", to=to)
    assert robot("two-link").export("gravity", to=to, path=tmp_path / "arm.py").is_file()


def test_a_long_robot_is_written_out(agree):
    long = appell.random_chain(81, np.random.default_rng(0))
    function = long.export("inverse_dynamics", to="casadi")
    q, v, a = np.random.default_rng(1).normal(size=(3, long.nv))
    agree(np.array(function(q, v, a))[:, 0], long.inverse_dynamics(q, v, a), 1e-11)


LONGER = "floating", "mobile-arm", "agile-wrist"


@functools.cache
def small(name):
    """Return a robot of each kind whose steps are short programs."""
    if name != "floating":
        return appell.load(name)
    model = appell.random_chain(1, np.random.default_rng(0)).model
    return appell.load(replace(model, base=replace(model.base, inertia=model.bodies[0].inertia)).floating())


@pytest.mark.parametrize("method", ["step", pytest.param("step_rk4", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [
        "two-link",
        "five-bar",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("floating", "mobile-arm", "agile-wrist")),
    ],
)
def test_steps_and_their_derivatives_are_those_of_python(name, method, agree):
    loaded, rng = small(name), np.random.default_rng(7)
    given = loaded.random(rng), rng.normal(size=loaded.nv), rng.normal(size=loaded.nu)
    option = {"method": "rk4" if method == "step_rk4" else "euler"}
    step, slopes = loaded.export([method, f"{method}_derivatives"], to="casadi")
    for found, expected in zip(step(*given, 1e-3), loaded.step(*given, 1e-3, **option), strict=True):
        agree(found.full()[:, 0], expected, 1e-11)
    for found, expected in zip(slopes(*given, 1e-3), loaded.step_derivatives(*given, 1e-3, **option), strict=True):
        agree(found.full(), expected, 1e-10)


def test_slopes_of_a_step_by_casadi_are_its_derivatives(agree):
    loaded, given = robot("puma560"), sample("puma560")
    step = loaded.export("step", to="casadi")
    inputs = [casadi.SX.sym(name, 6) for name in ("q", "v", "tau")]
    after = casadi.vertcat(*step(*inputs, 1e-3))
    slopes = casadi.Function("slopes", inputs, [casadi.jacobian(after, casadi.vertcat(*inputs))])
    agree(slopes(*given).full(), np.hstack(loaded.step_derivatives(*given, 1e-3)), 1e-11)


def test_discrete_euler_lagrange_equations_are_the_symplectic_step(agree):
    """Momenta at the ends of a step of constant velocity w: ∂T/∂v ∓ h/2·(∂T/∂q − ∂V/∂q) at its middle."""
    arm = appell.load("two-link")
    kinetic, potential = arm.export(["kinetic_energy_derivatives", "potential_energy_derivatives"], to="casadi")
    h, q, v = 0.05, np.array([0.4, -1.1]), np.array([2.0, -3.0])
    w = casadi.SX.sym("w", 2)
    middle = q + 0.5 * h * w
    by_q, momentum = kinetic(middle, w)
    push = 0.5 * h * (by_q - potential(middle))
    end = casadi.Function("end", [w], [momentum + push])
    equation = casadi.Function("equation", [w], [momentum - push - arm.mass_matrix(q) @ v])
    solved = casadi.rootfinder("solve", "newton", equation, {"abstol": 1e-14, "abstolStep": 1e-14})(v)
    run = appell.simulate(arm, q, v, h, method="symplectic", step=h)
    after = q + h * solved.full()[:, 0]
    agree(after, run.q[-1], 1e-12)
    agree(np.linalg.solve(arm.mass_matrix(after), end(solved).full()[:, 0]), run.v[-1], 1e-11)

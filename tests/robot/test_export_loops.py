"""Rollouts and inverse kinematics as exported code: the numbers of the native calls."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from tests.support.compilers import built, exported_function

STEPS = 20
DT = 1e-3


def c_function(file, compiler, *flags: str):
    """Return the exported function of arrays, numbers (float) and counts (int) of doubles."""
    function = exported_function(built(compiler, file, *(flags or ("-lm",))), file)

    def called(*arguments: Any) -> int:
        kinds = {int: ctypes.c_int, float: ctypes.c_double}
        own = (kinds[type(x)](x) if type(x) in kinds else ctypes.c_void_p(x.ctypes.data) for x in arguments)
        return int(function(*own))

    return called


def start(robot, rng):
    """Return a state and torques."""
    q = robot.assemble(robot.integrate(robot.neutral(), 0.1 * rng.normal(size=robot.nv)))
    return q, 0.1 * rng.normal(size=robot.nv), rng.normal(size=(STEPS, robot.nu))


def floating():
    model = appell.random_chain(2, np.random.default_rng(3)).model
    return appell.load(replace(model, base=replace(model.base, inertia=model.bodies[0].inertia)).floating())


ROBOTS = {
    "arm": lambda: appell.load("puma560"),
    "tree": lambda: appell.load("shafei-tree"),
    "floating": floating,
    "closed": lambda: appell.load("five-bar"),
    "wheels": lambda: appell.load("mobile-arm"),
    "spherical": lambda: appell.load("agile-wrist"),
    "long": lambda: appell.random_chain(90, np.random.default_rng(0)),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_rollout_in_c_is_the_native_one(name, any_compiler, tmp_path, rng):
    robot = ROBOTS[name]()
    q, v, tau = start(robot, rng)
    method = "euler" if name == "long" else "rk4"
    run = appell.rollout(robot, q, v, tau, DT, method=method)
    rolled = c_function(robot.export("rollout", path=tmp_path / "roll.c", method=method), any_compiler)
    q_end, v_end = np.empty(robot.nq), np.empty(robot.nv)
    rolled(q, v, DT, tau, STEPS, q_end, v_end)
    np.testing.assert_allclose(q_end, run.q[-1], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(v_end, run.v[-1], rtol=1e-9, atol=1e-9)
    rolled(q, v, DT, tau, 0, q_end, v_end)
    np.testing.assert_array_equal(np.append(q_end, v_end), np.append(q, v))


def laws(robot):
    goal, limit = np.full(robot.nq, 0.2), [50.0, 40.0, 30.0, 20.0, 10.0, 5.0]
    trajectory = lambda t: (np.full(6, np.sin(t)), np.full(6, np.cos(t)), np.full(6, -np.sin(t)))  # noqa: E731
    return {
        "pd": appell.control.PD(robot, goal, kp=80.0, kd=9.0),
        "gravity": appell.control.PDGravity(robot, goal, kp=80.0, kd=9.0, limit=limit),
        "point to point": appell.control.PointToPoint(robot, goal, kp=80.0, kd=9.0, limit=limit),
        "tracking": appell.control.Tracking(robot, trajectory, kp=80.0, kd=9.0),
        "integral": appell.control.Tracking(robot, trajectory, kp=80.0, kd=9.0, ki=50.0, limit=limit),
    }


@pytest.mark.parametrize("name", ["pd", "gravity", "point to point", "tracking", "integral"])
@pytest.mark.parametrize("to", ["c", "jax"])
def test_a_law_acts_in_an_exported_rollout(name, to, any_compiler, tmp_path, rng):
    """Its gains are constants; its goal and the memory of its integral are arguments."""
    robot = appell.load("puma560")
    law = laws(robot)[name]
    q, v, tau = start(robot, rng)
    run = appell.rollout(robot, q, v, tau, DT, control=law)
    memory = [np.zeros(13)] if name == "integral" else []
    goals = [x.copy() for x in law.references(DT * np.arange(STEPS))]
    fixed, streams = ([], goals) if law.verb == "tracking" else ([goals[0][0]], [])
    if to == "c":
        rolled = c_function(robot.export("rollout", path=tmp_path / "roll.c", control=law), any_compiler)
        found = [np.empty(6), np.empty(6), *(x.copy() for x in memory)]
        rolled(q, v, *memory, DT, *fixed, tau, *streams, STEPS, *found)
    else:
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            rolled = jax.jit(robot.export("rollout", to="jax", control=law))
            found = [np.asarray(x) for x in rolled(q, v, *memory, DT, *fixed, tau, *streams)]
    np.testing.assert_allclose(found[0], run.q[-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[1], run.v[-1], rtol=1e-9, atol=1e-10)
    if memory:  # a second call goes on where the first one ended
        assert found[2][-1] == DT
        whole = appell.rollout(robot, q, v, np.concatenate([tau, tau]), DT, control=law)
        later = [x.copy() for x in law.references(DT * np.arange(STEPS, 2 * STEPS))]
        if to == "c":
            rolled(*found, DT, tau, *later, STEPS, *found)
            np.testing.assert_allclose(found[0], whole.q[-1], rtol=1e-9, atol=1e-12)


def test_a_rollout_in_float_without_a_library(any_compiler, tmp_path, rng):
    robot = appell.load("puma560")
    q, v, tau = start(robot, rng)
    file = robot.export("rollout", path=tmp_path / "roll.c", real="float", libm=False, parametric=True, method="euler")
    function = exported_function(built(any_compiler, file, "-nostdlib"), file)
    single = [x.astype("f") for x in (q, v, 1.2 * robot.parameters, tau)]
    found = np.empty(6, "f"), np.empty(6, "f")
    places = [ctypes.c_void_p(x.ctypes.data) for x in (*single, *found)]
    function(*places[:2], ctypes.c_float(DT), *places[2:4], ctypes.c_int(STEPS), *places[4:])
    run = appell.rollout(robot, single[0], single[1], single[3], DT, parameters=single[2], method="euler")
    np.testing.assert_allclose(found[0], run.q[-1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["arm", "tree", "floating", "closed", "wheels"])
@pytest.mark.parametrize("to", ["c", "jax"])
def test_inverse_kinematics_is_one_native_descent(name, to, any_compiler, tmp_path, rng):
    robot = ROBOTS[name]()
    frame = robot.frame_names[-1]
    near = robot.assemble(robot.integrate(robot.neutral(), np.full(robot.nv, 0.1)))
    goal = np.ascontiguousarray(robot.pose(near, frame))
    native = appell.inverse_kinematics(robot, goal, frame, restarts=0)
    q, residual = np.empty(robot.nq), np.empty(2)
    guess = robot.assemble()
    if to == "c":
        file = robot.export("inverse_kinematics", path=tmp_path / "ik.c", frame=frame)
        c_function(file, any_compiler)(guess, goal, q, residual)
    else:
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            found = jax.jit(robot.export("inverse_kinematics", to="jax", frame=frame, steps=50))(guess, goal)
        q, residual = map(np.asarray, found)
    assert native.is_reached
    assert max(residual) < 1e-9
    np.testing.assert_allclose(robot.pose(robot.assemble(q), frame), goal, atol=1e-8)


def test_tasks_of_an_exported_descent_have_targets_as_arguments(any_compiler, tmp_path):
    robot = appell.load("puma560")
    place, rest = np.array([0.4, 0.2, 0.1]), np.array([0.0, 0.8, -1.0, 0.0, 0.5, 0.0])
    turned = np.diag([1.0, -1.0, -1.0])
    other = np.zeros(3), np.eye(3), np.zeros(6)
    tasks = appell.tasks

    def chosen(place, turned, rest):
        down = tasks.Orientation(turned, weight=(1.0, 1.0, 0.0))
        return [tasks.Position(place), down, tasks.CentreOfMass(np.zeros(3), 1e-3, np.inf), tasks.Posture(rest)]

    file = robot.export("inverse_kinematics", path=tmp_path / "ik.c", tasks=chosen(*other))
    assert "target_1   Orientation of frame dh6, weight 1, 0, tolerance 1e-09" in file.with_suffix(".h").read_text()
    q, residual = np.empty(6), np.empty(4)
    c_function(file, any_compiler)(robot.neutral(), place, turned, np.zeros(3), rest, q, residual)
    assert max(residual[:2]) < 1e-9
    pose = robot.pose(q, "dh6")
    np.testing.assert_allclose(pose[:3, 3], place, atol=1e-8)
    np.testing.assert_allclose(pose[:3, 2], turned[:, 2], atol=1e-8)
    left = [np.linalg.norm(robot.centre_of_mass(q)), np.linalg.norm(q - rest)]
    np.testing.assert_allclose(residual[2:], left, rtol=1e-9)
    with pytest.raises(InputError, match="target 0 has shape"):
        robot.export("inverse_kinematics", path=tmp_path / "ik.c", tasks=[tasks.Position(np.zeros((4, 3)))])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"verb": "rollout", "to": "casadi"}, "'rollout' is written to c and jax"),
        (
            {"verb": "rollout", "steps": 3},
            "'parametric', 'walls', 'points', 'limits'; leave out 'steps'",
        ),
        ({"verb": "rollout", "method": "rk8"}, "unknown method 'rk8'"),
        ({"verb": "rollout", "control": 3}, "expected a joint control law"),
        ({"verb": "inverse_kinematics", "tasks": 3}, "expected a list of tasks"),
        ({"verb": "inverse_kinematics", "steps": 0}, "at least 1"),
        ({"verb": "inverse_kinematics", "frame": "x"}, "no frame 'x'"),
        ({"verb": "gravity", "method": "rk4"}, "leave it out for verbs"),
        ({"verb": ["gravity", "rollout"]}, "'rollout' is written alone"),
    ],
)
def test_what_does_not_fit_is_told(options, told, tmp_path):
    verb = options.pop("verb")
    with pytest.raises(InputError, match=told):
        appell.load("two-link").export(verb, path=tmp_path / "x.c", **options)


@pytest.mark.parametrize("to", ["c", "jax"])
def test_a_rollout_on_the_ground_is_the_native_one(to, any_compiler, tmp_path):
    """An arm falls onto a table, and onto its limits."""
    robot, steps = appell.load("puma560"), 300
    ground: dict[str, Any] = {
        "walls": [appell.walls.Plane((0, 0, 0.5))],
        "points": [appell.simulation.Point("link6")],
        "limits": True,
    }
    law = appell.control.PD(robot, [0.2] * 6, kp=10.0, kd=1.0)
    q, v, tau = np.array([0.1, 0.2, 0.1, 0.0, 0.3, 0.0]), np.zeros(6), np.zeros((steps, 6))
    run = appell.rollout(robot, q, v, tau, DT, control=law, method="euler", friction=0.4, **ground)
    assert run.impulses[-1].any()
    path = tmp_path / "roll.c" if to == "c" else None
    rolled: Any = robot.export("rollout", path=path, to=to, control=law, method="euler", **ground)
    friction, none, boxes = np.full(1, 0.4), np.zeros(1), np.zeros(12)
    given = (q, v, np.zeros(3), boxes, np.zeros(3), DT, friction, none, none, np.full(6, 0.2), tau)
    if to == "jax":
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            q_end, v_end, impulse, *_ = map(np.asarray, jax.jit(rolled)(*given))
    else:
        q_end, v_end, impulse = np.empty(6), np.empty(6), np.empty(3)
        c_function(rolled, any_compiler)(*given, steps, q_end, v_end, impulse, np.empty(12), np.empty(3))
    np.testing.assert_allclose(q_end, run.q[-1], atol=1e-9)
    np.testing.assert_allclose(v_end, run.v[-1], atol=1e-7)
    np.testing.assert_allclose(impulse, run.impulses[-1, 0], atol=1e-9)

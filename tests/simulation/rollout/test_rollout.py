"""Rollouts against the same method written out in NumPy on the robot's verbs, and the laws of a rollout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.control import PD, PDGravity, PointToPoint, Tracking
from appell.errors import AppellWarning
from appell.loops.closed import kind_of
from appell.model.mimic import coupled
from appell.model.model import Mimic, Model
from appell.robot.long.kind import LongTree
from appell.robot.robot import Robot
from appell.simulation.rollout.rollout import rollout
from appell.simulation.rollout.scheme import METHODS
from appell.spatial import quaternion

Array = NDArray[Any]
DT = 2e-3


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = appell.threads()
    yield
    appell.threads(before)


# Robots


def plain(model: Model) -> Model:
    """Return a model whose joints of several coordinates have no offset, as files have it."""
    bodies = (b if b.joint.type.nq == 1 else replace(b, joint=replace(b.joint, offset=0.0)) for b in model.bodies)
    return replace(model, bodies=tuple(bodies))


@pytest.fixture(scope="module")
def made(tree) -> dict[str, Robot]:
    rng = np.random.default_rng(7)
    shapes = {
        "floating": [("free", 0), ("revolute", 0), ("prismatic", 1), ("revolute", 0)],
        "ball": [("revolute", 0), ("ball", 0), ("revolute", 0)],
        "planar": [("planar", 0), ("helical", 0), ("cylindrical", 1)],
    }
    robots = {name: appell.load(plain(tree(rng, shape, has_friction=True))) for name, shape in shapes.items()}
    model = tree(rng, [("revolute", 0), ("revolute", 0), ("prismatic", 1)], has_friction=True)
    follower = replace(model.bodies[2], joint=replace(model.bodies[2].joint, mimic=Mimic("joint0", -0.5, 0.2)))
    robots["coupled"] = appell.load(coupled(replace(model, bodies=(*model.bodies[:2], follower))))
    return robots | {"puma560": appell.load("puma560"), "body": appell.load(plain(tree(rng, [("free", 0)])))}


NAMES = ("puma560", "floating", "ball", "planar", "coupled")


def start(robot: Robot, n: int, steps: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(robot.nv)
    return robot.random(rng, n), rng.normal(size=(n, robot.nv)), 5.0 * rng.normal(size=(n, steps, robot.nv))


# The methods in NumPy


def unit(robot: Robot, q: Array) -> Array:
    """Return q with every quaternion normalised."""
    q, own = q.copy(), robot.model.independent
    for body, at in zip(own.bodies, own.q_slices, strict=True):
        if body.joint.kind in ("ball", "free"):
            q[..., at.stop - 4 : at.stop] = quaternion.normalized(q[..., at.stop - 4 : at.stop])
    return q


def rates(robot: Robot, q: Array, v: Array) -> Array:
    """Return q̇, by the quaternions of :mod:`appell.spatial.quaternion`."""
    own, parts = robot.model.independent, []
    for body, at, along in zip(own.bodies, own.q_slices, own.v_slices, strict=True):
        x, y = q[..., at], v[..., along]
        if body.joint.kind in ("ball", "free"):
            omega = np.concatenate([y[..., -3:], 0.0 * y[..., :1]], axis=-1)
            linear = (
                quaternion.rotate(quaternion.normalized(x[..., -4:]), y[..., :3]) if x.shape[-1] == 7 else y[..., :0]
            )
            parts += [linear, 0.5 * quaternion.multiply(x[..., -4:], omega)]
        elif body.joint.kind == "planar":
            c, s = np.cos(x[..., 2]), np.sin(x[..., 2])
            parts.append(np.stack([c * y[..., 0] - s * y[..., 1], s * y[..., 0] + c * y[..., 1], y[..., 2]], axis=-1))
        else:
            parts.append(y)
    return np.concatenate(parts, axis=-1)


def stepped(robot: Robot, method: str, q: Array, v: Array, tau: Array, dt: float) -> tuple[Array, Array]:
    """Return one step of a method."""

    def field(q: Array, v: Array) -> tuple[Array, Array]:
        return rates(robot, q, v), robot.forward_dynamics(unit(robot, q), v, tau)

    a = field(q, v)
    if method == "euler":
        faster = v + dt * a[1]
        return unit(robot, q + dt * rates(robot, q, faster)), faster
    b = field(q + 0.5 * dt * a[0], v + 0.5 * dt * a[1])
    if method == "midpoint":
        return unit(robot, q + dt * b[0]), v + dt * b[1]
    c = field(q + 0.5 * dt * b[0], v + 0.5 * dt * b[1])
    d = field(q + dt * c[0], v + dt * c[1])
    move = [dt / 6.0 * (w + 2.0 * x + 2.0 * y + z) for w, x, y, z in zip(a, b, c, d, strict=True)]
    return unit(robot, q + move[0]), v + move[1]


Torque = Callable[[int, Array, Array], Array]


def reference(robot: Robot, method: str, q: Array, v: Array, torque: Torque, steps: int) -> tuple[Array, Array]:
    """Return the states of every step, the start first, under torques that a function of step and state gives."""
    states = [(q, v)]
    for step in range(steps):
        states.append(stepped(robot, method, *states[-1], torque(step, *states[-1]), DT))
    qs, vs = zip(*states, strict=True)
    return np.stack(qs, axis=-2), np.stack(vs, axis=-2)


@pytest.mark.parametrize("name", NAMES)
def test_rk4_is_that_of_numpy(name, made, agree):
    robot = made[name]
    q0, v0, tau = start(robot, 6, 40)
    run = rollout(robot, q0, v0, tau, DT)
    q, v = reference(robot, "rk4", q0, v0, lambda step, q, v: tau[:, step], 40)
    agree(run.q, q, 1e-12)
    agree(run.v, v, 1e-12)


@pytest.mark.parametrize("method", ["euler", "midpoint"])
@pytest.mark.parametrize("name", ["puma560", "floating", "planar"])
def test_other_methods_are_those_of_numpy(name, method, made, agree):
    robot = made[name]
    q0, v0, tau = start(robot, 3, 20)
    run = rollout(robot, q0, v0, tau, DT, method=method)
    q, v = reference(robot, method, q0, v0, lambda step, q, v: tau[:, step], 20)
    agree(run.q, q, 1e-12)
    agree(run.v, v, 1e-12)


# Physics


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("midpoint", 2), ("rk4", 4)])
@pytest.mark.parametrize("name", ["puma560", "body"])
def test_the_error_falls_with_the_order_of_the_method(name, method, order, made):
    robot = appell.load(name, friction=False) if name == "puma560" else made[name]
    q, v, _ = start(robot, 1, 1)
    counts = np.array([40, 80, 160]) if method == "rk4" else np.array([100, 200, 400])
    end = 0.4
    exact = rollout(robot, q, v, None, end / 2000, steps=2000, save_every=2000)
    errors = []
    for n in counts.tolist():
        run = rollout(robot, q, v, None, end / n, steps=n, save_every=n, method=method)
        errors.append(np.abs(run.q[..., -1, :] - exact.q[..., -1, :]).max())
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.25


def test_without_friction_rk4_keeps_the_energy_to_its_order():
    robot = appell.load("puma560", friction=False, armature=False)
    q, v, _ = start(robot, 4, 1)
    drifts = []
    for n in (250, 500):
        run = rollout(robot, q, v, None, 1.0 / n, steps=n)
        energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
        drifts.append(np.abs(energy - energy[:, :1]).max())
    assert drifts[1] < 1e-4
    assert drifts[0] / drifts[1] > 12.0


def test_a_free_body_keeps_its_momentum_and_its_quaternion_its_length(made, agree):
    model = replace(made["body"].model, gravity=(0.0, 0.0, 0.0))
    robot = appell.load(model)
    q, v, _ = start(robot, 3, 1)
    run = rollout(robot, q, v, None, DT, steps=200)
    momentum = robot.momentum(run.q, run.v)
    agree(momentum, np.broadcast_to(momentum[:, :1], momentum.shape), 1e-8)
    agree(np.linalg.norm(run.q[..., 3:], axis=-1), np.ones((3, 201)), 1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_angles_of_any_size_are_angles(method, made, agree):
    robot = made["puma560"]
    q0, v0, tau = start(robot, 4, 5)
    q0 += 1e17  # whole numbers of sixteen, of which only the exact reduction finds the sine
    run = rollout(robot, q0, v0, tau, DT, method=method)
    q, v = reference(robot, method, q0, v0, lambda step, q, v: tau[:, step], 5)
    assert np.array_equal(run.q, q)
    agree(run.v, v, 1e-12)


# Laws inside


def sampled(*goals: Array) -> Callable[[float], Any]:
    """Return a trajectory of rows (..., steps, n), one per step of DT."""
    return lambda t: [goal[..., round(t / DT), :] for goal in goals]


def saturated(tau: Array, limit: Any) -> Array:
    return np.clip(tau, -np.asarray(limit), limit)


@pytest.mark.parametrize("name", NAMES)
def test_pd_inside_is_pd_outside(name, made, rng, agree):
    robot = made[name]
    q0, v0, tau = start(robot, 5, 30)
    goal_q = robot.random(rng, (5, 30))
    goal_v = rng.normal(size=(5, 30, robot.nv))
    kp, limit = rng.uniform(5.0, 20.0, (5, robot.nv)), rng.uniform(4.0, 30.0, robot.nv)

    def torque(step: int, q: Array, v: Array) -> Array:
        error = robot.difference(q, goal_q[:, step])
        own = robot.model.independent
        for body, along in zip(own.bodies, own.v_slices, strict=True):
            if body.joint.kind in ("ball", "free"):
                angle = np.linalg.norm(error[:, along][:, -3:], axis=-1, keepdims=True)
                error[:, along.stop - 3 : along.stop] *= 2.0 * np.sin(angle / 2.0) / angle
            if body.joint.kind in ("free", "planar"):  # the straight way, in the child's frame
                apart = goal_q[:, step] - q
                count = 3 if body.joint.kind == "free" else 2
                still = np.zeros((5, robot.nv))
                matrix = np.stack([rates(robot, q, still + unit)[:, :count] for unit in np.eye(robot.nv)[:count]], -1)
                error[:, :count] = np.einsum("nij,ni->nj", matrix, apart[:, :count])
        return saturated(tau[:, step] + kp * error + 2.0 * (goal_v[:, step] - v), limit)

    q, v = reference(robot, "rk4", q0, v0, torque, 30)
    law = PD(robot, sampled(goal_q, goal_v, 0.0 * goal_v), kp, 2.0, limit=limit)
    run = rollout(robot, q0, v0, tau, DT, control=law)
    agree(run.q, q, 1e-11)
    agree(run.v, v, 1e-11)


def test_computed_torque_inside_is_computed_torque_outside(made, rng, agree):
    robot = made["puma560"]
    model = appell.load("puma560", friction=False, gravity=(0.0, 0.0, -9.0))
    q0, v0, _ = start(robot, 5, 30)
    goals = rng.normal(size=(3, 5, 30, 6))

    def torque(step: int, q: Array, v: Array) -> Array:
        goal_q, goal_v, goal_a = goals[:, :, step]
        return model.inverse_dynamics(q, v, goal_a + 50.0 * (goal_q - q) + 10.0 * (goal_v - v))

    q, v = reference(robot, "euler", q0, v0, torque, 30)
    law = Tracking(model, sampled(*goals), 50.0, 10.0)
    run = rollout(robot, q0, v0, None, DT, steps=30, method="euler", control=law)
    agree(run.q, q, 1e-11)
    agree(run.v, v, 1e-11)


def test_computed_torque_makes_every_joint_a_linear_oscillator(agree):
    robot = appell.load("puma560", friction=False, armature=False)
    q0, v0, _ = start(robot, 2, 1)
    law = PointToPoint(robot, np.zeros(6), 25.0, 10.0)
    run = rollout(robot, q0, v0, None, 1e-4, steps=5000, save_every=500, control=law)
    # ë + 10 ė + 25 e = 0: e = (e₀ + (ė₀ + 5 e₀) t) exp(−5 t); held torques differ from it by the sampling time
    t = run.t[:, None]
    exact = (q0[:, None] + (v0 + 5.0 * q0)[:, None] * t) * np.exp(-5.0 * t)
    agree(run.q, exact, 1e-3)


def test_a_limit_binds(made):
    robot = made["puma560"]
    q0, v0, _ = start(robot, 3, 1)
    pushed = rollout(robot, q0, v0, np.full(6, 2.5), DT, steps=10)
    law = PD(robot, np.zeros(6), 0.0, 0.0, limit=2.5)
    limited = rollout(robot, q0, v0, np.full(6, 99.0), DT, steps=10, control=law)
    assert np.array_equal(limited.q, pushed.q)


# Batches


def test_leading_axes_broadcast(made):
    robot = made["coupled"]
    rng = np.random.default_rng(1)
    q0, v0 = robot.random(rng, (3, 1)), rng.normal(size=(4, robot.nv))
    tau = rng.normal(size=(12, robot.nv))
    kp = rng.uniform(1.0, 2.0, (3, 1, 1))
    law = PD(robot, robot.neutral(), np.broadcast_to(kp, (3, 1, robot.nv)), 0.1)
    run = rollout(robot, q0, v0, tau, DT, control=law)
    assert run.q.shape == (3, 4, 13, robot.nq)
    one = rollout(robot, q0[2, 0], v0[1], tau, DT, control=PD(robot, robot.neutral(), kp[2, 0, 0], 0.1))
    assert one.q.shape == (13, robot.nq)
    assert np.array_equal(one.v, run.v[2, 1])


def test_a_held_torque_is_the_same_torque_at_every_step(made):
    robot = made["ball"]
    q0, v0, tau = start(robot, 5, 1)
    given = rollout(robot, q0, v0, np.repeat(tau, 9, axis=1), DT)
    assert np.array_equal(rollout(robot, q0, v0, tau, DT, steps=9).q, given.q)
    assert np.array_equal(rollout(robot, q0[0], v0[0], tau[0, 0], DT, steps=9).q, given.q[0])


def test_every_keeps_every_so_many(made):
    robot = made["puma560"]
    q0, v0, tau = start(robot, 5, 30)
    whole, some = rollout(robot, q0, v0, tau, DT), rollout(robot, q0, v0, tau, DT, save_every=6)
    assert np.array_equal(some.q, whole.q[:, ::6])
    assert np.array_equal(some.t, whole.t[::6])


def test_rows_need_not_lie_side_by_side(made):
    robot = made["puma560"]
    q0, v0, tau = start(robot, 5, 8)
    strided = np.asfortranarray(np.repeat(tau, 2, axis=1))[:, ::2]
    assert np.array_equal(
        rollout(robot, q0[:, ::-1].copy()[:, ::-1], v0, strided, DT).q, rollout(robot, q0, v0, tau, DT).q
    )


def test_float32_is_float64_to_its_precision(made, agree):
    for name in ("puma560", "floating"):
        robot = made[name]
        given = start(robot, 9, 20)
        q0, v0, tau = (x.astype(np.float32) for x in given)
        single = rollout(robot, q0, v0, tau, DT)
        assert single.q.dtype == single.v.dtype == np.float32
        agree(single.q, rollout(robot, *given, DT).q, 1e-4)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_threads_and_neighbours_change_no_bit(count, made):
    robot = made["floating"]
    q0, v0, tau = start(robot, 37, 120)
    appell.threads(1)
    alone = rollout(robot, q0, v0, tau, DT)
    appell.threads(count)
    assert np.array_equal(rollout(robot, q0, v0, tau, DT).q, alone.q)
    assert np.array_equal(rollout(robot, q0[3], v0[3], tau[3], DT).q, alone.q[3])


def test_a_robot_that_diverges_is_told_and_disturbs_none(made):
    robot = made["puma560"]
    q0, v0, tau = start(robot, 8, 40)
    q0[3] += 100.0  # beyond 64 rad the exact reduction rounds otherwise than the fast one
    calm = rollout(robot, q0, v0, tau, DT)
    tau[2, 11] = 1e200
    with pytest.warns(AppellWarning, match=r"1 of 8 robots 'puma560'.*first after step \d+, robot \(2,\)"):
        wild = rollout(robot, q0, v0, tau, DT)
    others = np.arange(8) != 2
    assert np.array_equal(wild.q[others], calm.q[others])
    assert np.array_equal(wild.v[others], calm.v[others])
    finite = np.isfinite(np.concatenate([wild.q, wild.v], axis=-1)).all(axis=-1, keepdims=True)[..., 0]
    assert wild.diverged.tolist() == [-1, -1, int(np.argmin(finite[2])), -1, -1, -1, -1, -1]
    with pytest.warns(AppellWarning, match="diverged"):
        assert np.array_equal(rollout(robot, q0, v0, tau, DT, save_every=40).diverged, wild.diverged)


# Long robots


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", [None, Tracking, PDGravity])
def test_sweeps_over_the_bodies_inside_the_steps_give_the_same_rollout(method, law, made, rng, agree):
    """Of the robot and of the model in its control law; each sample has parameters of its own."""
    robot = made["floating"]
    q0, v0, tau = start(robot, 4, 12)
    pi = robot.parameters * rng.uniform(0.9, 1.1, (4, robot.parameters.size))
    runs = []
    for one in (robot, appell.Robot(LongTree(robot.model, kind_of))):
        goal = (
            robot.neutral()
            if law is PDGravity
            else sampled(*(np.tile(x, (12, 1)) for x in (robot.neutral(), np.ones(robot.nv), np.ones(robot.nv))))
        )
        control = law and law(one, goal, 5.0, 1.0, limit=20.0, **({"ki": 2.0} if law is Tracking else {}))
        runs.append(rollout(one, q0, v0, tau, DT, method=method, save_every=3, control=control, parameters=pi))
    agree(runs[1].q, runs[0].q, 1e-12)
    agree(runs[1].v, runs[0].v, 1e-12)


def test_a_long_robot_is_stepped_too(rng, agree):
    robot = appell.random_chain(90, rng)
    q0, v0 = 0.1 * rng.normal(size=(2, 2, 90))
    run = rollout(robot, q0, v0, None, 1e-4, steps=3)
    q, v = q0, v0
    for _ in range(3):
        q, v = stepped(robot, "rk4", q, v, np.zeros(90), 1e-4)
    agree(run.q[:, -1], q, 1e-12)
    agree(run.v[:, -1], v, 1e-12)

"""Laws of the joints: what their error obeys, with an exact model and with a wrong one."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import appell
from appell.control import (
    PD,
    PUMA600,
    Adaptive,
    OperationalSpace,
    PDGravity,
    PointToPoint,
    Tracking,
    gains,
    integral_gains,
    perturbed,
)
from appell.control.adaptive import mixed_regressor
from appell.errors import InputError

GOAL = np.array([0.5, -0.6, 2.2, 0.1, 0.6, 0.3])
ZERO = np.zeros(6)
BODY = """<inertial><mass value="1"/><origin xyz="0.5 0 0"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
ONE = f"""<robot name="one"><link name="a">{BODY}</link><link name="b">{BODY}</link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" velocity="2" effort="3.5"/></joint></robot>"""


def still(t):
    return GOAL, ZERO, ZERO


def test_tracking_follows_to_1e8_when_the_model_is_exact_and_the_start_on_the_trajectory(puma, motion):
    law = Tracking(puma, motion, *gains(10.0))
    run = appell.simulate(puma, motion(0.0)[0], motion(0.0)[1], 3.0, control=law, rtol=1e-11)
    wanted = np.array([motion(t)[0] for t in run.t])
    assert np.abs(wanted).max() > 1.0
    assert np.abs(run.q - wanted).max() <= 1e-8


def test_error_of_tracking_obeys_its_linear_equation(puma, motion):
    omega, zeta = 6.0, 0.5
    offset = np.array([0.1, -0.1, 0.1, 0.2, -0.2, 0.1])
    q0, v0, _ = motion(0.0)
    run = appell.simulate(puma, q0 - offset, v0, 0.7, control=Tracking(puma, motion, *gains(omega, zeta)))
    damped = omega * np.sqrt(1.0 - zeta**2)
    t = run.t[-1]
    decay = np.exp(-zeta * omega * t) * (np.cos(damped * t) + zeta * omega / damped * np.sin(damped * t))
    np.testing.assert_allclose(motion(t)[0] - run.q[-1], offset * decay, atol=1e-9)


def test_point_to_point_is_tracking_of_a_goal_at_rest(puma):
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 5, 6))
    a = PointToPoint(puma, GOAL, 50.0, 9.0)(0.0, q, v)
    b = Tracking(puma, still, 50.0, 9.0)(3.0, q, v)
    np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("kind", ["point", "tracking", "gravity", "operational"])
def test_batches_equal_single_calls(puma, motion, kind):
    path = puma.pose(GOAL, "link6"), ZERO, ZERO
    laws: dict[str, Any] = {
        "point": PointToPoint(puma, GOAL, 50.0, 9.0),
        "tracking": Tracking(puma, motion, 50.0, 9.0),
        "gravity": PDGravity(puma, GOAL, 500.0, 90.0),
        "operational": OperationalSpace(puma, "link6", lambda t: path, 50.0, 9.0),
    }
    law = laws[kind]
    q, v = np.random.default_rng(2).normal(size=(2, 2, 3, 6))
    q = GOAL + 0.1 * q
    batch = law(0.7, q, v)
    assert batch.shape == (2, 3, 6)
    single = np.array([[law(0.7, q[i, j], v[i, j]) for j in range(3)] for i in range(2)])
    np.testing.assert_allclose(batch, single, rtol=1e-10, atol=1e-10)


def test_law_of_a_floating_robot_measures_its_error_as_the_rollout_does(tmp_path):
    (tmp_path / "one.urdf").write_text(ONE)
    robot = appell.load(tmp_path / "one.urdf", floating=True)
    rng = np.random.default_rng(3)
    goal, q = robot.random(rng), robot.random(rng)
    law = PointToPoint(robot, goal, 30.0, 8.0)
    dt = 1e-7
    run = appell.rollout(robot, q, np.zeros(robot.nv), None, dt, steps=1, method="euler", control=law)
    a = robot.forward_dynamics(q, np.zeros(robot.nv), law(0.0, q, np.zeros(robot.nv)))
    np.testing.assert_allclose(run.v[-1] / dt, a, rtol=1e-6, atol=1e-8)


def test_tracking_in_a_rollout_is_tracking_sampled_in_a_simulation(puma, motion):
    law = Tracking(puma, motion, *gains(12.0))
    q0, v0, _ = motion(0.0)
    rolled = appell.rollout(puma, q0 + 0.05, v0, None, 1e-3, steps=300, control=law)
    run = appell.simulate(puma, q0 + 0.05, v0, 0.3, control=law, rate=1000.0, rtol=1e-8)
    np.testing.assert_allclose(rolled.q[-1], run.q[-1], atol=1e-8)


def test_pd_with_gravity_in_a_rollout_is_the_same_sampled_in_a_simulation(puma):
    """The model's weight is wrong, and its forces reach their limit on the way."""
    wrong = perturbed(puma, masses=0.8)
    law = PDGravity(wrong, GOAL, 400.0, [90, 90, 60, 9, 9, 5], limit=[60, 90, 60, 20, 20, 20])
    rolled = appell.rollout(puma, GOAL + 0.3, ZERO, None, 1e-3, steps=200, control=law)
    run = appell.simulate(puma, GOAL + 0.3, ZERO, 0.2, control=law, rate=1000.0, rtol=1e-8)
    np.testing.assert_allclose(rolled.q[-1], run.q[-1], atol=1e-7)


def test_pd_with_gravity_is_the_same_on_a_robot_too_long_for_a_rollout_of_its_own():
    rng = np.random.default_rng(6)
    robot = appell.random_chain(90, rng)
    q, v = 0.1 * robot.random(rng), rng.normal(size=90)
    law = PDGravity(robot, 0.0 * q, 10.0, 1.0)
    run = appell.rollout(robot, q, v, None, 1e-4, steps=1, method="euler", control=law)
    a = robot.forward_dynamics(q, v, law(0.0, q, v))
    np.testing.assert_allclose(run.v[-1], v + 1e-4 * a, rtol=1e-9, atol=1e-9 * np.abs(a).max())


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_integral_action_in_a_rollout_is_the_law_asked_step_by_step(puma, motion, method):
    """The model's weight is wrong, and its forces reach their limit on the way, where the memory does not wind up."""
    heavy = perturbed(puma, masses=1.3)
    law = Tracking(puma, motion, *integral_gains(10.0, 1.0, 6.0), limit=0.8 * PUMA600.limit)
    q, v = np.array(motion(0.0)[0]) - 0.3, np.array(motion(0.0)[1])
    steps, dt = 300, 1e-3
    native = appell.rollout(heavy, q, v, None, dt, method=method, steps=steps, control=law)
    saturated = np.zeros(6, int)
    for k in range(steps):
        tau = law(k * dt, q, v)
        saturated += np.abs(tau) == law.limit
        moved = appell.rollout(heavy, q, v, tau, dt, steps=1, method=method)
        q, v = moved.q[-1], moved.v[-1]
    assert 20 < saturated.max() < steps - 20
    assert np.abs(law.integral).max() > 1e-3
    np.testing.assert_allclose(native.q[-1], q, rtol=1e-10, atol=1e-10)


def test_integral_action_of_a_batch_is_that_of_each(puma, motion):
    law = Tracking(puma, motion, *integral_gains(10.0, 1.0, 6.0), limit=PUMA600.limit)
    q = motion(0.0)[0] + np.random.default_rng(7).uniform(-0.3, 0.3, (5, 6))
    batch = appell.rollout(puma, q, ZERO, None, 1e-3, steps=50, control=law)
    for k in range(5):
        np.testing.assert_array_equal(appell.rollout(puma, q[k], ZERO, None, 1e-3, steps=50, control=law).q, batch.q[k])


def test_integral_action_is_the_same_on_a_robot_too_long_for_a_rollout_of_its_own():
    rng = np.random.default_rng(6)
    robot = appell.random_chain(90, rng)
    goal, v = 0.1 * robot.random(rng), 0.1 * rng.normal(size=90)
    q = goal + 0.1 * rng.normal(size=90)
    bound = np.abs(robot.gravity(q)).max() * rng.uniform(0.1, 2.0, 90)
    law = Tracking(robot, lambda t: (goal, 0.0 * goal, 0.0 * goal), 10.0, 5.0, 500.0, limit=bound)
    steps, dt = 3, 1e-2
    native = appell.rollout(robot, q, v, None, dt, method="euler", steps=steps, control=law)
    for k in range(steps):
        moved = appell.rollout(robot, q, v, law(k * dt, q, v), dt, steps=1, method="euler")
        q, v = moved.q[-1], moved.v[-1]
    np.testing.assert_allclose(native.v[-1], v, rtol=1e-8, atol=1e-8 * np.abs(v).max())


def crossed():
    """A robot with loops whose first independent velocities are not its motors."""
    robot = appell.load("five-bar")
    passive = [name for name in robot.joint_names if name not in robot.actuators]
    return robot.with_independent(passive)


@pytest.mark.parametrize("law", [PD, PDGravity, PointToPoint])
@pytest.mark.parametrize("name", ["five-bar", "crossed", "stewart", "agile-wrist", "mobile-arm"])
def test_a_law_in_a_rollout_of_a_closed_robot_is_the_law_sampled_step_by_step(name, law):
    robot = crossed() if name == "crossed" else appell.load(name)
    rng = np.random.default_rng(8)
    q, v = robot.random(rng), 0.1 * rng.normal(size=robot.nv)
    control = law(robot, robot.neutral(), kp=20.0, kd=5.0)
    native = appell.rollout(robot, q, v, None, 1e-3, steps=5, control=control)
    for k in range(5):
        moved = appell.rollout(robot, q, v, control(k * 1e-3, q, v), 1e-3, steps=1)
        q, v = moved.q[-1], moved.v[-1]
    np.testing.assert_allclose(native.q[-1], q, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(native.v[-1], v, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["five-bar", "crossed", "agile-wrist"])
def test_pd_with_gravity_holds_any_robot_at_its_goal(name):
    robot = crossed() if name == "crossed" else appell.load(name)
    law = PDGravity(robot, robot.neutral(), kp=20.0, kd=5.0)
    still = np.zeros(robot.nv)
    a = robot.forward_dynamics(robot.neutral(), still, law(0.0, robot.neutral(), still))
    np.testing.assert_allclose(a, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["five-bar", "stewart"])
def test_tracking_leads_the_motors_of_a_robot_with_loops(name):
    """The motors follow to 1e-7 when the model is exact, and an error at the start dies away as its equation says."""
    robot = appell.load(name)
    n = len(robot.actuators)
    home, motors = robot.neutral(), np.array([robot.joint_names.index(joint) for joint in robot.actuators])
    swing, speed = np.linspace(0.03, 0.05, n), np.linspace(2.0, 3.0, n)

    def wave(t):
        q, v, a = home.copy(), np.zeros(robot.nv), np.zeros(robot.nv)
        q[places] += swing * (1.0 - np.cos(speed * t))
        v[:n], a[:n] = swing * speed * np.sin(speed * t), swing * speed**2 * np.cos(speed * t)
        return q, v, a

    places = np.array([robot.model.q_slices[k].start for k in motors])
    v0, omega, t = np.zeros(robot.nv), 12.0, 0.5
    law = Tracking(robot, wave, *gains(omega))
    run = appell.simulate(robot, home, v0, t, control=law, rtol=1e-9)
    assert np.abs(run.q[-1, places] - home[places]).max() > 0.01
    np.testing.assert_allclose(run.q[-1, places], wave(t)[0][places], atol=1e-7)

    v0[:n] = 0.1 * np.linspace(-1.0, 1.0, n)
    run = appell.simulate(robot, home, v0, t, control=law, rtol=1e-9)
    np.testing.assert_allclose(run.q[-1, places] - wave(t)[0][places], v0[:n] * t * np.exp(-omega * t), atol=1e-7)


def test_integral_action_on_a_robot_with_loops_removes_what_a_wrong_weight_leaves():
    robot = appell.load("five-bar")
    light = appell.load("five-bar", gravity=[0.8 * g for g in robot.model.gravity])
    goal = robot.neutral()
    errors = []
    kp, kd, ki = integral_gains(10.0, 1.0, 5.0)
    for memory in (None, ki):
        law = Tracking(light, lambda t: (goal, [0.0, 0.0], [0.0, 0.0]), kp, kd, memory)
        run = appell.simulate(robot, goal, [0.0, 0.0], 4.0, control=law, rate=200.0, rtol=1e-7)
        errors.append(np.abs(run.q[-1] - goal).max())
    assert errors[0] > 1e-3
    assert errors[1] < 1e-6


def test_wrong_masses_leave_point_to_point_an_error_that_integral_action_removes(puma):
    """The robot is 20 % heavier than the model; kp and kd are the same for both."""
    kp, kd, ki = integral_gains(8.0, 1.0, 6.0)
    truth = perturbed(puma, masses=1.2)
    errors = []
    for law in (PointToPoint(puma, GOAL, kp, kd), Tracking(puma, still, kp, kd, ki)):
        run = appell.simulate(truth, GOAL + 0.2, ZERO, 4.0, control=law, rate=100.0, rtol=1e-6)
        errors.append(np.abs(run.q[-1] - GOAL).max())
    assert errors[0] > 5e-3
    assert errors[1] < 1e-5


def test_constant_error_that_remains_is_the_lacking_gravity_over_the_stiffness(puma):
    """20 % wrong masses and no friction: 0.2·G = M·kp·e at rest."""
    light = appell.load("puma600", gravity=(0.0, 0.0, -9.81 / 1.2))
    run = appell.simulate(puma, GOAL, ZERO, 4.0, control=PointToPoint(light, GOAL, *gains(8.0)), rtol=1e-8)
    q = run.q[-1]
    lacking = puma.gravity(q) - light.gravity(q)
    np.testing.assert_allclose(64.0 * light.mass_matrix(q) @ (GOAL - q), lacking, atol=1e-6)


def test_pd_with_gravity_comes_to_rest_at_the_goal(puma):
    law = PDGravity(puma, GOAL, [900, 900, 600, 60, 60, 40], [400, 500, 250, 20, 20, 8])
    run = appell.simulate(puma, GOAL + 0.3, ZERO, 8.0, control=law, rtol=1e-7)
    np.testing.assert_allclose(run.q[-1], GOAL, atol=2e-3)


def test_integral_does_not_wind_up_at_the_limit(puma):
    """A goal far off at small forces: memory without anti-windup would overshoot by the ramp's integral."""
    limit = 1.5 * np.abs(puma.gravity(GOAL)).max() * np.array([1.0, 1.5, 1.0, 0.3, 0.3, 0.3])
    law = Tracking(puma, still, *integral_gains(10.0, 1.0, 5.0), limit=limit)
    for k in range(100):  # held back by one radian for a second
        law(0.01 * k, GOAL - 1.0, ZERO)
    wound = np.abs(law.integral)
    free = Tracking(puma, still, *integral_gains(10.0, 1.0, 5.0))
    for k in range(100):
        free(0.01 * k, GOAL - 1.0, ZERO)
    np.testing.assert_allclose(free.integral, 0.99, rtol=1e-12)
    assert (wound[:3] < 0.2).all()


def test_memory_advances_by_the_trapezoidal_rule_and_not_when_a_time_is_asked_twice(puma):
    law = Tracking(puma, still, 10.0, 5.0, 2.0)
    for t in (0.0, 0.1, 0.1, 0.3):
        law(t, GOAL - 1.0 - t, ZERO)
    np.testing.assert_allclose(law.integral, 0.3 + 0.5 * 0.3**2, rtol=1e-12)
    law.reset()
    law(5.0, GOAL - 1.0, ZERO)
    np.testing.assert_array_equal(law.integral, 0.0)


def test_memory_refuses_time_that_runs_backwards(puma):
    law = Tracking(puma, still, 10.0, 5.0, 2.0)
    law(0.2, GOAL, ZERO)
    with pytest.raises(InputError, match=r"sample it .*rate=1000.*reset\(\)"):
        law(0.1, GOAL, ZERO)


def test_forces_stay_within_the_limit(puma):
    law = PointToPoint(puma, GOAL, 1e4, 10.0, limit=[5, 6, 7, 1, 1, 1])
    tau = law(0.0, GOAL + np.linspace(-1, 1, 6), ZERO)
    np.testing.assert_array_equal(np.abs(tau), [5, 6, 7, 1, 1, 1])


def test_limits_of_the_file_are_those_of_its_joints(tmp_path):
    file = tmp_path / "one.urdf"
    file.write_text(ONE)
    law = PointToPoint(appell.load(file), [0.0], 1e4, 1.0, limit="file")
    assert law(0.0, [0.9], [0.0]) == [-3.5]


def test_operational_space_follows_a_line_in_the_world(puma):
    q0 = np.array([0.1, -0.8, 2.6, 0.3, 0.9, 0.2])
    start = puma.pose(q0, "link6")

    def line(t):
        pose, rate = start.copy(), np.zeros(6)
        pose[:3, 3] += np.array([-0.05, -0.08, -0.04]) * (1.0 - np.cos(2.0 * t))
        rate[:3] = np.array([-0.05, -0.08, -0.04]) * 2.0 * np.sin(2.0 * t)
        return pose, rate, np.array([-0.05, -0.08, -0.04, 0, 0, 0]) * 4.0 * np.cos(2.0 * t)

    law = OperationalSpace(puma, "link6", line, *gains(10.0))
    run = appell.simulate(puma, q0, ZERO, 1.5, control=law)
    np.testing.assert_allclose(puma.pose(run.q[-1], "link6"), line(run.t[-1])[0], atol=1e-9)


def test_operational_space_takes_up_the_posture_that_the_frame_leaves_free(puma):
    q0 = np.array([0.1, -0.8, 2.6, 0.3, 0.9, 0.2])
    goal = puma.pose(q0, "link6"), ZERO, ZERO
    posture = q0 + np.array([0, 0, 0, 0, 0, 0.5])  # the last joint turns about the frame's own origin
    law = OperationalSpace(puma, "link6", lambda t: goal, *gains(10.0), axes=(0, 1, 2), posture=posture)
    run = appell.simulate(puma, q0, ZERO, 4.0, control=law, rtol=1e-7)
    np.testing.assert_allclose(puma.pose(run.q[-1], "link6")[:3, 3], goal[0][:3, 3], atol=1e-6)
    np.testing.assert_allclose(run.q[-1], posture, atol=1e-4)


def test_operational_space_stays_finite_at_a_singularity(puma):
    stretched = np.array([0.0, -0.5, 2.0, 0.3, 0.0, 0.2])  # axes 4 and 6 in line
    goal = puma.pose(stretched + 0.05, "link6"), ZERO, ZERO
    tau = OperationalSpace(puma, "link6", lambda t: goal, 100.0, 20.0)(0.0, stretched, ZERO)
    assert np.abs(tau).max() < 1e4


def test_regressor_at_two_velocities_has_the_coriolis_matrix_whose_mass_rate_is_skew(puma):
    """sᵀ(Ṁ − 2C)s = 0 for C·w = Y·π − M·a − G, with Ṁ by central differences."""
    q, v, s = np.random.default_rng(4).normal(size=(3, 6))
    pi, step = puma.parameters, 1e-6
    C = np.stack([mixed_regressor(puma, q, v, w, ZERO) @ pi - puma.gravity(q) for w in np.eye(6)], axis=-1)
    rate = (puma.mass_matrix(q + step * v) - puma.mass_matrix(q - step * v)) / (2 * step)
    np.testing.assert_allclose(rate, C + C.T, atol=1e-7)
    np.testing.assert_allclose(C @ v, puma.bias(q, v) - puma.gravity(q), atol=1e-10)
    assert abs(s @ (rate - 2.0 * C) @ s) < 1e-6


def test_regressor_at_two_equal_velocities_is_the_regressor_dampers_between_joints_included():
    spring = appell.Spring("belt", (("joint1", 1.0), ("joint2", -0.5)), 40.0, 2.0, 0.3)
    robot = appell.load("two-link").with_springs(spring).with_joint("joint1", stiffness=3.0, damping=0.2)
    q, v, a = np.random.default_rng(4).normal(size=(3, 2))
    np.testing.assert_allclose(mixed_regressor(robot, q, v, v, a), robot.regressor(q, v, a), rtol=0.0, atol=1e-12)


def test_adaptive_law_learns_what_a_fixed_one_does_not(puma, motion):
    truth = perturbed(puma, masses=1.2)
    q0, v0, _ = motion(0.0)
    errors = []
    for rate in (0.0, 20.0):
        law = Adaptive(puma, motion, bandwidth=6.0, kd=[60, 60, 30, 5, 5, 3], rate=rate)
        run = appell.simulate(truth, q0, v0, 3.0, control=law, rate=250.0, rtol=1e-5)
        late = run.t > 2.0
        errors.append(np.abs(run.q[late] - np.array([motion(t)[0] for t in run.t[late]])).max())
    assert errors[1] < 0.1 * errors[0]


def test_energy_of_adaptation_falls_by_the_damped_power(puma, motion):
    """d/dt [½ sᵀMs + ½ π̃ᵀΓ⁻¹π̃] = −sᵀ kd s, with the law's τ, its slope of π̂ and Ṁ by differences."""
    rng = np.random.default_rng(5)
    q, v = motion(0.0)[0] + 0.1 * rng.normal(size=6), rng.normal(size=6)
    gamma, kd = 2.0, np.array([60.0, 60.0, 30.0, 5.0, 5.0, 3.0])
    wrong = puma.parameters * rng.uniform(0.8, 1.2, size=puma.parameters.size)
    law = Adaptive(puma, motion, 6.0, kd, gamma, start=wrong)
    tau = law(0.3, q, v)
    a = puma.forward_dynamics(q, v, tau)
    goal = motion(0.3)
    w, rate_w = goal[1] + 6.0 * (goal[0] - q), goal[2] + 6.0 * (goal[1] - v)
    s, rate_s, step = w - v, rate_w - a, 1e-6
    rate_M = (puma.mass_matrix(q + step * v) - puma.mass_matrix(q - step * v)) / (2 * step)
    slope = gamma * mixed_regressor(puma, q, v, w, rate_w).T @ s
    power = s @ puma.mass_matrix(q) @ rate_s + 0.5 * s @ rate_M @ s + (wrong - puma.parameters) @ slope / gamma
    np.testing.assert_allclose(power, -s @ (kd * s), rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda r: PointToPoint(r, [0.0] * 5, 1.0, 1.0), "goal: expected"),
        (lambda r: PointToPoint(r, [0.0] * 6, -1.0, 1.0), "kp: expected finite numbers of 0 or more"),
        (lambda r: PointToPoint(r, [0.0] * 6, 1.0, 1.0, limit="robot"), "limit: expected torques"),
        (lambda r: PDGravity(cast(Any, "five-bar"), [0.0] * 4, 1.0, 1.0), "PDGravity: expected a robot, got str"),
        (lambda r: OperationalSpace(appell.load("five-bar"), "free1", still, 1.0, 1.0), "has closed loops"),
        (lambda r: Tracking(r, cast(Any, GOAL), 1.0, 1.0), "trajectory: expected a function"),
        (lambda r: Tracking(r, cast(Any, lambda t: GOAL), 1.0, 1.0)(0.0, GOAL, ZERO), r"expected \(q, v, a\)"),
        (lambda r: OperationalSpace(r, "tip", still, 1.0, 1.0), "no frame 'tip'"),
        (lambda r: OperationalSpace(r, "link6", still, -1.0, 1.0), "kp: expected one number of 0 or more, or six"),
        (lambda r: OperationalSpace(r, "link6", still, 1.0, 1.0, axes=(0, 6)), "axes: expected some of 0 to 5"),
        (lambda r: Adaptive(appell.load("two-link", floating=True), still, 1.0, 1.0, 1.0), "'root' has several"),
        (lambda r: gains(0.0), "frequency: expected numbers > 0"),
    ],
)
def test_what_does_not_fit_is_said(puma, make, said):
    with pytest.raises(InputError, match=said):
        make(puma)


def test_the_limits_of_a_file_without_any_are_refused():
    with pytest.raises(InputError, match="robot 'two-link' has no effort limits"):
        PointToPoint(appell.load("two-link"), [0.0, 0.0], 1.0, 1.0, limit="file")
    limited = appell.load("two-link").with_joint("joint1", effort=2.0)
    assert abs(PointToPoint(limited, [1.0, 1.0], 1e4, 1.0, limit="file")(0.0, [0.0, 0.0], [0.0, 0.0])[0]) == 2.0

"""Exciting motions: at rest where they begin, within every limit, and telling more than chance does."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import appell
from appell.excitation.bounds import actuated_path, bounds
from appell.excitation.excite import excite
from appell.excitation.information import POWER, Information, log_condition, volume_measure
from appell.excitation.search import SearchProblem, Series, fitted, random_motion
from appell.identification.base_parameters import base_parameters, random_states
from appell.robot.properties.base_columns import State

LIMITS = {"lower": [-2.0, -1.5], "upper": [1.0, 2.5], "velocity": 3.0, "acceleration": [6.0, 9.0], "torque": 250.0}
BOX = [("link2", [-0.015, -1.0, -1.0], [1.0, 1.0, 1.0])]
DURATION = 6.0


@pytest.fixture(scope="module")
def arm():
    return appell.load("two-link")


@pytest.fixture(scope="module")
def motion(arm):
    return excite(arm, LIMITS, harmonics=3, duration=DURATION, starts=2, workspace=BOX)


@pytest.fixture(scope="module")
def dense(motion):
    return motion.trajectory(np.linspace(0.0, DURATION, 5001))


@pytest.fixture(scope="module")
def closed():
    robot = appell.load("five-bar")
    home = actuated_path(robot).home
    return excite(robot, {"lower": home - 0.4, "upper": home + 0.4, "velocity": 2.0}, 2, 4.0, starts=1)


def information(robot, objective="condition", *, friction=True):
    moved = actuated_path(robot)
    base = base_parameters(robot, rotors=friction)
    return Information(moved, base, friction, np.full(robot.nv, 0.1), objective)


# The motion


@pytest.mark.parametrize("t", [0.0, DURATION])
def test_it_begins_and_ends_at_rest(motion, t):
    _, v, a = motion.trajectory(t)
    assert max(np.abs(v).max(), np.abs(a).max()) < 1e-12


def test_positions_stay_in_their_ranges(dense):
    assert (dense.q >= LIMITS["lower"]).all()
    assert (dense.q <= LIMITS["upper"]).all()


def test_velocities_stay_within_their_limits(dense):
    assert np.abs(dense.v).max() <= LIMITS["velocity"]


def test_accelerations_stay_within_their_limits(dense):
    assert (np.abs(dense.a).max(axis=0) <= LIMITS["acceleration"]).all()


def test_torques_stay_within_their_limits(arm, dense):
    assert np.abs(arm.inverse_dynamics(*dense)).max() <= LIMITS["torque"]


def test_a_frame_stays_in_its_box(arm, dense):
    frame, lower, upper = BOX[0]
    places = arm.pose(dense.q, frame)[..., :3, 3]
    assert (places >= lower).all()
    assert (places <= upper).all()


def test_margins_are_what_is_left_of_each_limit(motion, dense):
    room = {(margin.limit, margin.of): margin.room for margin in motion.margins}
    left = 1.0 - np.abs(dense.v[:, 0]).max() / LIMITS["velocity"]
    assert abs(room["velocity", motion.robot.joint_names[0]] - left) < 1e-3


def test_it_is_conditioned_better_than_random_motions_within_the_same_limits(arm, motion, rng):
    moved, what = actuated_path(arm), information(arm)
    problem = SearchProblem(moved, what, bounds(moved, LIMITS, BOX), Series(3, DURATION), 200)
    fits = (fitted(problem, random_motion(problem, rng)) for _ in range(60))
    random = [problem.condition(x) for x in fits if x is not None]
    assert len(random) > 10
    assert motion.condition < 0.7 * np.median(random)


def test_its_condition_number_is_that_of_the_regressor_along_it(arm, motion, agree):
    t = np.arange(int(motion.rate * DURATION)) / motion.rate
    q, v, a = motion.trajectory(t)
    one = np.eye(2)
    more = [a[..., None] * one, v[..., None] * one, np.sign(v)[..., None] * one]
    Y = np.concatenate([arm.regressor(q, v, a), *more], axis=-1)
    columns = [*motion.base.kept, *range(22, 26)]
    W = Y.reshape(-1, 26)[:, columns]
    agree(np.linalg.cond(W / np.linalg.norm(W, axis=0)), motion.condition, within=1e-6)


def test_the_same_seed_gives_the_same_motion(arm):
    one, other = (excite(arm, {"velocity": 1.0}, 2, 4.0, starts=1, seed=7).trajectory(1.0).q for _ in range(2))
    assert (one == other).all()


def test_the_volume_of_errors_is_least_where_it_is_the_objective(arm):
    volumes = {}
    for objective in ("condition", "d-optimal"):
        found = excite(arm, {"velocity": 1.0}, 2, DURATION, starts=1, objective=objective)
        W = information(arm).regressor(found.states(np.linspace(0.0, DURATION, 300)))
        volumes[objective] = volume_measure(np.einsum("trc,trd->cd", W, W))[0]
    assert volumes["d-optimal"] < volumes["condition"]


def test_the_loops_of_a_closed_robot_stay_closed(closed):
    assert closed.robot.closure_error(closed.states(np.linspace(0.0, 4.0, 50)).q).max() < 1e-12


def test_a_closed_robots_motors_follow_the_trajectory(closed, agree):
    t = np.linspace(0.0, 4.0, 50)
    places = [closed.robot.joint_names.index(name) for name in closed.robot.actuators]
    agree(closed.states(t).q[:, places], closed.trajectory(t).q)


# Gradients


@pytest.mark.parametrize("objective", ["condition", "d-optimal"])
@pytest.mark.parametrize("name", ["two-link", "five-bar", "sst"])
def test_the_gradient_of_the_measure_is_its_derivative(name, objective, rng):
    robot = appell.load(name)
    what, (q, v, a) = information(robot, objective), random_states(robot, 60, rng)
    value, slope = what.slope(State(q, v, a))
    dq, dv, da = rng.normal(size=(3, *v.shape))
    h = 1e-6

    def along(step):
        return what.measure(State(robot.integrate(q, step * dq), v + step * dv, a + step * da))

    measured = (along(h) - along(-h)) / (2.0 * h)
    assert abs(value - along(0.0)) < 1e-9
    assert abs(np.sum(slope.q * dq + slope.v * dv + slope.a * da) - measured) < 1e-5 * max(1.0, abs(measured))


def test_the_gradient_of_the_limits_is_their_derivative(tree, rng):
    robot = appell.load(tree(np.random.default_rng(1), [("revolute", 0), ("prismatic", 0), ("revolute", 0)]))
    moved = actuated_path(robot)
    given = {"lower": -2.0, "upper": 2.0, "velocity": 3.0, "acceleration": 5.0, "torque": 40.0}
    limits = bounds(moved, given, [("tip", [-1.0, -2.0, -3.0], [3.0, 2.0, 1.0])])
    state = random_states(robot, 20, rng)
    weights = [(kind, rng.random(g.shape)) for kind, g in limits.excess(moved, state, state.q)]
    slope = limits.slope(moved, state, weights)
    steps = rng.normal(size=(3, *state.v.shape))
    h = 1e-6

    def along(step):
        moved_state = State(*(x + step * d for x, d in zip(state, steps, strict=True)))
        excess = limits.excess(moved, moved_state, moved_state.q)
        return sum(np.sum(w * g) for (_, w), (_, g) in zip(weights, excess, strict=True))

    measured = (along(h) - along(-h)) / (2.0 * h)
    assert abs(np.sum(np.stack(slope) * steps) - measured) < 1e-5 * abs(measured)


def test_the_smooth_condition_number_is_close_above_the_true_one(rng):
    W = rng.normal(size=(80, 12)) @ rng.normal(size=(12, 12))
    true = np.log(np.linalg.cond(W / np.linalg.norm(W, axis=0)))
    assert 0.0 <= log_condition(W.T @ W)[0] - true <= np.log(12) / POWER


# Files and figures


def test_a_saved_motion_has_its_samples_and_torques(motion, arm, tmp_path, agree):
    with motion.save(tmp_path / "motion.csv", rate=50.0).open(newline="") as file:
        head, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    q, v, a = motion.trajectory(table[:, 0])
    assert head == ["t", "q0", "q1", "v0", "v1", "a0", "a1", "tau0", "tau1"]
    agree(table[:, 1:], np.hstack([q, v, a, arm.inverse_dynamics(q, v, a)]), within=1e-13)


def test_a_picture_is_written(motion, tmp_path):
    motion.plot(tmp_path / "motion.png")
    assert (tmp_path / "motion.png").read_bytes()[:4] == b"\x89PNG"


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limits": {"speed": 1.0}}, "unknown limit 'speed'; known: 'lower'"),
        ({"limits": {"velocity": [1.0, 2.0, 3.0]}}, "velocity: expected one number, or one per joint"),
        ({"limits": {"torque": -1.0}}, "torque: expected positive limits"),
        ({"limits": {"lower": 1.0, "upper": 0.5}}, "has no room between lower 1 and upper 0.5"),
        ({"harmonics": 1}, "harmonics: expected an integer of 2 or more, got 1"),
        ({"objective": "beauty"}, "objective: expected 'condition' or 'd-optimal'"),
        ({"starts": 0}, "starts: expected an integer of 1 or more, got 0"),
        ({"duration": 0.0}, "duration: expected a positive number"),
        ({"rate": 0.5}, "samples per period do not determine"),
        ({"workspace": [("hand", [0, 0, 0], [1, 1, 1])]}, "has no frame 'hand'"),
        ({"workspace": [("link2", [0, 0, 1], [1, 1, 0])]}, "frame 'link2' has no room"),
    ],
)
def test_bad_arguments_are_refused(arm, arguments, message):
    with pytest.raises(appell.InputError, match=message):
        excite(arm, **arguments)


def test_base_parameters_of_another_robot_are_refused(arm):
    with pytest.raises(appell.InputError, match="40 parameters of 'five-bar', which do not match robot 'two-link'"):
        excite(arm, base=base_parameters(appell.load("five-bar")))


def test_limits_that_no_motion_keeps_are_one_error_that_names_them(arm):
    with pytest.raises(appell.InputError, match=r"no motion .* within its limits .* torque of joint.* limit -?1;"):
        excite(arm, {"lower": -0.5, "upper": 0.5, "torque": 1.0}, harmonics=2, duration=4.0, starts=1)


def test_a_free_base_is_refused(tree):
    model = tree(np.random.default_rng(5), [("revolute", 0)]).floating()
    with pytest.raises(appell.InputError, match="joints with several coordinates: 'root'"):
        excite(appell.load(model))


def test_a_closed_robot_needs_limits_of_its_positions():
    with pytest.raises(appell.InputError, match="'mot1' of robot 'five-bar' has no position limits"):
        excite(appell.load("five-bar"))


def test_a_robot_on_wheels_is_refused():
    """Its platform's place depends on the way it came, so that coordinates of the motors are no configuration."""
    with pytest.raises(appell.InputError, match="robot 'mobile-arm' has velocities that are not rates"):
        excite(appell.load("mobile-arm"), {"lower": -1.0, "upper": 1.0})

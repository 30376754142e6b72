"""What a closed robot decides of itself, how it stays closed, and what it says where it is singular."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.errors import AppellWarning, InputError, ModelError
from appell.loops.closed import Closed
from appell.loops.rank import rank_of
from appell.robot.calls import compile
from appell.robot.kind import FILE, Key
from appell.robot.verbs.guards import GUARDS
from appell.robot.verbs.table import PIVOTS
from tests.support.closed import stretched
from tests.support.kinds import tree_of

Array = NDArray[Any]


# Decisions


def test_the_rank_is_where_singular_values_fall_though_a_file_has_rounded_them_up():
    assert rank_of(np.array([3.0, 1.0, 1e-4]), 9) == 3
    assert rank_of(np.array([3.0, 1.0, 3e-4, 6e-7, 1e-7]), 9) == 3
    assert rank_of(np.array([3.0, 1.0, 2e-16]), 9) == 2
    assert rank_of(np.zeros(3), 9) == 0


def test_a_rounded_file_closes_and_its_gap_tells(closed):
    robot = closed("five-bar")
    frames = [
        replace(f, placement=f.placement._replace(position=(*f.placement.position[:2], 3e-7)))
        if f.name == "tips/second"
        else f
        for f in robot.model.frames
    ]
    rounded = appell.load(replace(robot.model, frames=tuple(frames)))
    assert (rounded.nv, rounded.rank.value) == (2, 2)
    assert 1e-8 < rounded.closure_error(rounded.neutral()) < 1e-6


def test_actuators_come_first_and_passive_modes_follow(closed):
    robot = closed("rssr")
    assert robot.actuators == ["crank"]
    assert robot.independent[0] == "crank"
    assert robot.independent[1].startswith("swivel[")
    assert robot.nv == 2


def test_without_actuators_named_every_independent_velocity_has_one(closed):
    robot = appell.load(replace(closed("five-bar").model, actuators=()))
    assert robot.actuators == robot.independent


def test_redundant_actuators_share_the_forces_of_least_squares(closed, rng, agree):
    plain = closed("five-bar")
    robot = appell.load(replace(plain.model, actuators=("mot1", "mot2", "free1")))
    assert (robot.actuators, robot.driven) == (["mot1", "mot2", "free1"], ["mot1", "mot2"])
    q, (v, a), weights = robot.random(rng), rng.normal(size=(2, 2)), rng.uniform(0.2, 5.0, 3)
    motors, needed = robot.actuator_jacobian(q).T, plain.inverse_dynamics(q, v, a)
    agree(robot.inverse_dynamics(q, v, a), np.linalg.pinv(motors) @ needed, within=1e-11)
    share = np.linalg.pinv(motors / np.sqrt(weights)) @ needed / np.sqrt(weights)
    agree(robot.inverse_dynamics(q, v, a, weights=weights), share, within=1e-11)


def test_other_coordinates_are_another_view_of_one_motion(closed, rng, agree):
    robot = closed("stewart")
    platform = robot.with_independent(["px", "py", "pz", "yaw", "pitch", "roll"])
    q, v, tau = robot.random(rng), rng.normal(size=6), rng.normal(size=6)
    a = robot.forward_dynamics(q, v, tau)
    tree_v, tree_a = robot.tree_velocity(q, v), robot.tree_acceleration(q, v, a)
    agree(platform.forward_dynamics(q, tree_v[:6], tau), tree_a[:6], within=1e-10)
    agree(platform.inverse_dynamics(q, tree_v[:6], tree_a[:6]), tau, within=1e-9)
    assert platform.actuators == robot.actuators


def test_other_coordinates_leave_passive_modes_free(closed, rng, agree):
    robot = closed("rssr")
    other = robot.with_independent(["rocker", robot.independent[1]])
    q, v, tau = robot.random(rng), rng.normal(size=2), rng.normal(size=1)
    a = robot.forward_dynamics(q, v, tau)
    places = [4, 1 + int(robot.independent[1][-2])]
    speeds, rates = robot.tree_velocity(q, v)[places], robot.tree_acceleration(q, v, a)[places]
    agree(other.inverse_dynamics(q, speeds, rates[:1]), tau, within=1e-9)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["mot1"], "moves by 2 independent velocities, got 1"),
        (["mot1", "elbow"], "no velocity 'elbow'; known: 'mot1', 'free1'"),
        (["mot1", "mot1"], "a velocity is repeated"),
    ],
)
def test_coordinates_that_do_not_fit_are_refused(names, said, closed):
    with pytest.raises(InputError, match=said):
        closed("five-bar").with_independent(names)


def test_coordinates_that_do_not_determine_the_others_are_refused(closed):
    with pytest.raises(InputError, match=r"'px', 'py', 'yaw' do not determine the others \(condition number"):
        closed("delta").with_independent(["yaw", "px", "py"])


def test_loops_can_be_left_open(closed):
    robot = appell.load("five-bar", loops=False)
    assert not robot.closure_names
    assert robot.nv == 4


# Staying closed


def test_projection_holds_the_independent_coordinates_and_closes_the_rest(robot, rng, agree):
    q = robot.random(rng, 5)
    moved = tree_of(robot).integrate(q, 1e-3 * rng.normal(size=(5, robot.model.nv)))
    closed = robot.project(moved)
    assert robot.closure_error(closed).max() < 1e-13
    away = np.abs(robot.difference(moved, closed)).max(axis=0)
    # of a ball's three motions one is independent, which is held as far as turns commute
    assert all(x < (1e-7 if "[" in name else 1e-13) for name, x in zip(robot.independent, away, strict=True))


def test_projection_keeps_velocities_that_are_independent_and_reduces_those_of_the_tree(robot, rng, agree):
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    agree(robot.project(q, v)[1], v, within=1e-15)
    whole = robot.tree_velocity(q, v)
    agree(robot.project(q, whole)[1], v, within=1e-10)
    # what is left of any velocity of the tree is at right angles to all that the robot can do
    loose = rng.normal(size=robot.model.nv)
    rest = loose - robot.tree_velocity(q, robot.project(q, loose)[1])
    work = tree_of(robot).mass_matrix(q) @ rest
    columns = robot.tree_velocity(q, np.eye(robot.nv))
    agree(columns @ work, np.zeros(robot.nv), within=1e-9, size=np.abs(work).max())


def test_projection_says_what_is_too_far_to_close(closed):
    robot = closed("five-bar")
    far = robot.neutral()
    far[[0, 2]] = np.pi, 0.0  # the elbows are now further apart than the distal rods reach
    with pytest.raises(InputError, match=r"stays open by .* with its independent coordinates held; .*robot\.assemble"):
        robot.project(far)


def test_integrating_a_difference_arrives(closed, rng, agree):
    robot = closed("stewart")
    start, end = robot.random(rng, 2)
    there = robot.integrate(start, robot.difference(start, end))
    agree(robot.closure_error(there), 0.0, within=1e-12, size=1.0)
    agree(robot.difference(start, there), robot.difference(start, end), within=1e-12)


# Singularities


def test_a_singularity_is_said_with_the_condition_number(closed):
    robot = closed("five-bar")
    q = stretched(robot, 0.0)
    with pytest.warns(
        AppellWarning, match=r"q is near a singularity of the loops .tips., .*'mot1', 'mot2' .* condition number \d"
    ):
        robot.inverse_dynamics(q, [0.0, 0.0], [1.0, 0.0])


def test_the_worst_sample_of_a_batch_is_named(closed):
    robot = closed("five-bar")
    q = np.stack([robot.neutral(), stretched(robot, 0.0), stretched(robot, 1e-3)])
    with pytest.warns(AppellWarning, match=r"sample \(1,\) is near a singularity"):
        robot.mass_matrix(q)


def test_other_coordinates_pass_through_a_singularity_of_the_motors(closed, agree):
    robot = closed("five-bar").with_independent(["mot1", "free1"])
    q = stretched(robot, 0.0)
    a = robot.forward_dynamics(q, [0.1, 0.2], [1.0, -1.0])
    assert np.isfinite(a).all()
    near = robot.forward_dynamics(stretched(robot, 1e-9), [0.1, 0.2], [1.0, -1.0])
    agree(a, near, within=1e-3)


@pytest.mark.parametrize("verb", ["inverse_dynamics", "inverse_dynamics_derivatives"])
def test_motor_torques_at_an_actuation_singularity_are_warned_of(closed, verb):
    robot = closed("five-bar").with_independent(["mot1", "free1"])
    q = np.stack([robot.neutral(), stretched(robot, 0.0)])
    with pytest.warns(AppellWarning, match=r"sample \(1,\) is near an actuation singularity.* 'mot1', 'mot2' do not"):
        getattr(robot, verb)(q, np.zeros((2, 2)), np.ones((2, 2)))
    robot.forward_dynamics(q, np.zeros((2, 2)), np.ones((2, 2)))  # needs no motor torques


def test_another_posture_in_between_leaves_the_guard_of_motor_torques_as_it_is(closed):
    robot = closed("five-bar").with_independent(["mot1", "free1"])
    kind, key = robot.kind, Key("inverse_dynamics", formulation="gibbs")
    own = compile.formulation_of(kind, key.verb, "gibbs")

    def distracted(embedding, q, *others):
        found = own.program(embedding, q, *others)
        embedding.at(tuple(2.0 * x for x in q)).columns([0])
        return found

    forms = own, own._replace(program=distracted)
    tapes = [compile.traced(kind, key, form, partial(kind.embedding, FILE)) for form in forms]
    growths = [tape.run(stretched(robot, 0.0), [0.0, 0.0], [1.0, 1.0])[-1] for tape in tapes]
    assert growths[0] == growths[1] > GUARDS[PIVOTS].high


def test_threads_that_compile_together_lose_no_warning(closed, monkeypatch):
    monkeypatch.setenv("APPELL_CACHE", "off")
    motors = closed("five-bar").with_independent(["mot1", "free1"])
    q, v, a = stretched(motors, 0.0), np.zeros(2), np.ones(2)
    verbs = ["inverse_dynamics", "inverse_dynamics_derivatives", "actuator_forces"] * 2 + ["gravity", "mass_matrix"]
    inputs = {"actuator_forces": (q, a), "gravity": (q,), "mass_matrix": (q,)}

    for _ in range(3):
        robot, barrier = appell.Robot(replace(cast(Any, motors.kind))), threading.Barrier(len(verbs))

        def call(verb, robot=robot, barrier=barrier):
            barrier.wait()
            robot.evaluate(verb, *inputs.get(verb, (q, v, a)))

        with warnings.catch_warnings(record=True) as caught, ThreadPoolExecutor(len(verbs)) as pool:
            warnings.simplefilter("always")
            list(pool.map(call, verbs))
        assert [("near an actuation singularity" in str(w.message)) for w in caught] == [True] * 6


def test_the_best_coordinates_near_a_singularity_of_the_motors_are_found(closed, agree):
    robot = closed("five-bar")
    q = stretched(robot, 0.0)
    other = robot.with_independent(near=q)
    assert other.condition(q) < 10.0
    start = stretched(robot, 1e-3)
    v = np.array([0.3, -0.2])
    agree(
        other.tree_velocity(start, other.project(start, robot.tree_velocity(start, v))[1]),
        robot.tree_velocity(start, v),
        within=1e-9,
    )


def test_a_robot_falls_through_singularities_of_its_motors_and_keeps_its_energy(closed):
    # let go, the five-bar's elbows stretch its distal rods within a fraction of a second
    robot = closed("five-bar")
    q, v, h, tau = robot.neutral(), np.zeros(2), 5e-4, np.zeros(2)
    whole = robot.tree_velocity(q, v)
    start = robot.potential_energy(q)
    numbers, largest = [], 0.0
    for _ in range(800):
        chart = robot.coordinates_near(q)
        numbers.append(float(robot.condition(q)))
        v = chart.reduced(q, whole)
        rates = [chart.evaluate("motion", q, v, tau)]
        for ahead in (0.5, 0.5, 1.0):
            rate, a = rates[-1]
            rates.append(chart.evaluate("motion", q + ahead * h * rate, v + ahead * h * a, tau))
        weights = h * np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
        q = chart.project(q + sum(w * rate for w, (rate, _) in zip(weights, rates, strict=True)))
        v = v + sum(w * a for w, (_, a) in zip(weights, rates, strict=True))
        whole = chart.tree_velocity(q, v)
        largest = max(largest, float(chart.kinetic_energy(q, v)))
    assert max(numbers) > 100.0
    assert robot.closure_error(q) < 1e-13
    assert abs(chart.kinetic_energy(q, v) + robot.potential_energy(q) - start) < 1e-5 * largest


@pytest.mark.parametrize("name", ["stewart", "rssr"])  # rssr has a quaternion, and so one more guard
def test_a_small_pivot_is_no_singularity_and_costs_no_digits(name, closed, rng, agree, monkeypatch):
    # every sample is taken for one with a small pivot, so that all are computed anew by other pivots
    expected = closed(name)
    expected.inverse_dynamics(expected.neutral(), np.zeros(expected.nv), np.zeros(len(expected.actuators)))
    monkeypatch.setitem(GUARDS, PIVOTS, replace(GUARDS[PIVOTS], high=0.0))
    monkeypatch.setattr("appell.loops.closed.PIVOT_GROWTH", 0.0)
    robot, made, own = appell.load(expected.model), [], Closed.alternate

    def counted(*arguments):
        made.append(arguments)
        return own(*arguments)

    monkeypatch.setattr(Closed, "alternate", counted)
    q, v, a = robot.random(rng, 3), rng.normal(size=(3, robot.nv)), rng.normal(size=(3, len(robot.actuators)))
    agree(robot.inverse_dynamics(q, v, a), expected.inverse_dynamics(q, v, a), within=1e-11)
    assert made


@pytest.mark.parametrize("name", ["five-bar", "rssr", "stewart"])
def test_an_open_configuration_is_said(name, closed, rng):
    robot = closed(name)
    q = robot.random(rng, 3)
    q[1] = tree_of(robot).integrate(q[1], 0.05 * rng.normal(size=robot.model.nv))
    with pytest.warns(AppellWarning, match=r"sample \(1,\) is not closed: its loops are open by .*robot\.assemble"):
        robot.gravity(q)


@pytest.mark.parametrize("name", ["five-bar", "rssr", "stewart"])
def test_regularity_is_the_determinant_of_the_dependent_velocities(name, closed, rng):
    robot = closed(name)
    loops = cast(Any, robot.kind).embedding(FILE)
    order, pivots = loops.structure.order, np.array(loops.structure.pivots)
    for q in robot.random(rng, 3):
        posture = loops.posture(tuple(q))
        matrix = np.array([[posture.rows[r].get(c, 0.0) for c in order.columns] for r in order.rows])
        determinants = [np.linalg.det(matrix[:k, :k]) for k in range(len(pivots) + 1)]
        assert posture.regularity() == pytest.approx(determinants[-1] / pivots.prod(), rel=1e-9)
        # the k-th pivot is the ratio of the k-th leading minors
        ratios = pivots * np.array(determinants[:-1]) / np.array(determinants[1:])
        assert posture.pivot_growth(1.0, 0.0) == pytest.approx(np.mean(ratios**2), rel=1e-9)


def test_the_condition_number_grows_towards_a_singularity(closed):
    robot = closed("five-bar")
    numbers = [float(robot.condition(stretched(robot, gap))) for gap in (1e-2, 1e-4, 1e-6)]
    assert numbers[0] < numbers[1] < numbers[2]
    assert numbers[1] / numbers[0] == pytest.approx(10.0, rel=0.3)


def test_not_a_number_passes_through_in_silence(closed):
    robot = closed("five-bar")
    q = np.stack([robot.neutral(), np.full(4, np.nan)])
    tau = robot.inverse_dynamics(q, [0.0, 0.0], [0.0, 0.0])
    assert np.isfinite(tau[0]).all()
    assert np.isnan(tau[1]).all()


# Arguments and files


def test_arguments_that_do_not_fit_are_said(closed):
    robot = closed("five-bar")
    with pytest.raises(InputError, match=r"v: expected \(\.\.\., 2\), got \(\.\.\., 4\) for robot 'five-bar'"):
        robot.inverse_dynamics(robot.neutral(), [0.0] * 4, [0.0] * 2)


def test_a_closed_robot_comes_back_from_its_own_format(robot, tmp_path, rng, agree):
    again = appell.load(robot.save(tmp_path / "copy.toml"))
    assert again.closure_names == robot.closure_names
    assert (again.independent, again.actuators) == (robot.independent, robot.actuators)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=len(robot.actuators))
    agree(again.forward_dynamics(q, v, tau), robot.forward_dynamics(q, v, tau), within=1e-10)


def test_urdf_cannot_hold_loops_and_says_so(closed, tmp_path):
    with pytest.raises(ModelError, match=r"URDF cannot represent its loops 'tips'; save as \.toml"):
        closed("five-bar").save(tmp_path / "copy.urdf")


def test_operations_are_counted_and_unknown_verbs_named(closed):
    assert closed("five-bar").operations("inverse_dynamics").multiplications < 150
    with pytest.raises(InputError, match="no verb 'flying'"):
        closed("five-bar").operations("flying")

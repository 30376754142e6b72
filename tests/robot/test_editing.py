"""Edits of robots: laws that hold for every kind of robot, robots put together, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning, InputError, ModelError
from tests.support.same import same

POSE = appell.planning.goal.pose([0.1, -0.2, 0.3], [0.4, 0.5, 0.6], "xyz")


# Of every kind


def kinds(robots: Path) -> dict[str, Callable[[], appell.Robot]]:
    return {
        "serial": lambda: appell.load("puma600"),
        "tree": lambda: appell.load("shafei-tree"),
        "floating": lambda: appell.load("two-link", floating=True),
        "mimic": lambda: appell.load(robots / "panda_description/urdf/panda.urdf", mimic=True),
        "closed": lambda: appell.load("five-bar"),
        "rolling": lambda: appell.load("mobile-arm"),
        "spherical": lambda: appell.load("agile-wrist"),
        "long": lambda: appell.random_chain(90, np.random.default_rng(3)),
    }


@pytest.fixture(scope="module")
def state(robots):
    """Return a robot of a kind and a configuration, made once."""
    made: dict[str, tuple[appell.Robot, Any]] = {}

    def of(kind: str) -> tuple[appell.Robot, Any]:
        if kind not in made:
            robot = kinds(robots)[kind]().using("gibbs")  # no competition of formulations
            made[kind] = robot, robot.random(np.random.default_rng(1))
        return made[kind]

    return of


KINDS = list(kinds(Path()))
QUICK = ("floating", "closed")
SOME = [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
"""Kinds for laws that compile programs: two in every run."""
JOINTED = [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.slow) for kind in KINDS if kind != "spherical"]


@pytest.mark.parametrize("kind", SOME)
def test_a_point_mass_adds_m_jacobian_squared_to_the_mass_matrix(kind, state):
    robot, q = state(kind)
    frame, mass, centre = robot.frame_names[-1], 1.5, (0.03, -0.02, 0.05)
    there = robot.with_frame("centre", frame, centre)
    linear = there.jacobian(q, "centre")[:3]
    before, after = robot.mass_matrix(q), there.with_payload(frame, mass, centre).mass_matrix(q)
    np.testing.assert_allclose(after - before, mass * linear.T @ linear, rtol=0, atol=1e-11 * np.abs(after).max())


@pytest.mark.parametrize("kind", SOME)
def test_with_parameters_is_what_the_verbs_do_with_them(kind, state):
    robot, q = state(kind)
    pi = robot.parameters * np.random.default_rng(5).uniform(0.9, 1.1, robot.parameters.shape)
    if robot.model.has_joint_parameters:  # of a joint of several velocities they are the same for all
        pi[10 * len(robot.link_names) :] = 1.2 * robot.parameters[10 * len(robot.link_names) :]
    other = robot.with_parameters(pi)
    np.testing.assert_allclose(other.parameters, pi, rtol=1e-12, atol=1e-14)
    found, expected = other.mass_matrix(q), robot.mass_matrix(q, parameters=pi)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kind", JOINTED)
def test_a_locked_robot_has_the_energy_of_the_robot_with_that_joint_at_rest(kind, state):
    robot, _ = state(kind)
    name = robot.actuators[-1]
    locked = robot.locked([name])
    assert locked.nv == robot.nv - len(robot.places("v")[name])
    q = locked.random(np.random.default_rng(2))
    v = np.random.default_rng(3).normal(size=locked.nv)
    whole, speeds = robot.neutral(), np.zeros(robot.facts.sizes["t"])
    for joint, places in locked.places("q").items():
        whole[robot.places("q")[joint]] = q[places]
    moving, at = (
        locked.tree_velocity(q, v),
        dict(zip(tree_joints(locked), np.cumsum([0, *sizes(locked)]), strict=False)),
    )
    for joint, start, n in zip(tree_joints(robot), np.cumsum([0, *sizes(robot)]), sizes(robot), strict=False):
        if joint in at:
            speeds[start : start + n] = moving[at[joint] : at[joint] + n]
    expected = robot.kinetic_energy(whole, robot.reduced(whole, speeds))
    assert locked.kinetic_energy(q, v) == pytest.approx(expected, rel=1e-9)
    weight = locked.potential_energy(q) - locked.potential_energy(locked.neutral())
    assert weight == pytest.approx(robot.potential_energy(whole) - robot.potential_energy(start_of(robot, locked)))


def tree_joints(robot: appell.Robot) -> list[str]:
    return [body.joint.name for body in robot.model.bodies]


def sizes(robot: appell.Robot) -> list[int]:
    return [body.joint.type.nv for body in robot.model.bodies]


def start_of(robot: appell.Robot, locked: appell.Robot) -> Any:
    """Return the neutral configuration of a locked robot as one of the whole."""
    q = robot.neutral()
    for joint, places in locked.places("q").items():
        q[robot.places("q")[joint]] = locked.neutral()[places]
    return q


@pytest.mark.parametrize("kind", KINDS)
def test_an_edited_robot_is_saved_and_pickled(kind, state, tmp_path):
    robot, _ = state(kind)
    frame = robot.frame_names[-1]
    edited = robot.with_frame("my_tool", frame, POSE).with_payload("my_tool", 1.0)
    for back in (pickle.loads(pickle.dumps(edited)), appell.load(edited.save(tmp_path / "robot.toml"))):
        assert "my_tool" in back.frame_names
        assert back.total_mass == pytest.approx(robot.total_mass + 1.0)
    assert copy.deepcopy(edited) is edited


def test_a_spherical_robot_in_closed_form_says_why_joints_cannot_change(state):
    robot, _ = state("spherical")
    arm = appell.load("two-link")
    for refused in (
        lambda: robot.locked([robot.actuators[0]]),
        lambda: robot.attached(arm, "platform"),
        lambda: arm.attached(robot, "link2"),
        lambda: robot.subtree("platform"),
    ):
        with pytest.raises(InputError, match="follow from the platform's Euler angles"):
            refused()
    with pytest.raises(InputError, match="no limits, friction, rotor inertia or springs"):
        robot.with_joint("theta1", damping=1.0)


# Robots put together


def test_a_closed_gripper_on_an_arm_moves_as_both(rng):
    arm, linkage = (appell.load(name).using("gibbs") for name in ("two-link", "five-bar"))
    both = arm.attached(linkage, "link2", POSE, prefix="grip_")
    assert both.actuators == [*arm.actuators, "grip_mot1", "grip_mot2"]
    assert both.total_mass == pytest.approx(arm.total_mass + linkage.total_mass)
    q, v = both.random(rng), rng.normal(size=both.nv)
    a = both.forward_dynamics(q, v, rng.normal(size=both.nu))
    tau = both.inverse_dynamics(q, v, a[: both.nu])
    np.testing.assert_allclose(both.forward_dynamics(q, v, tau), a, rtol=1e-6, atol=1e-8)
    # the arm at rest, the linkage moves as on a base that stands so
    still = np.concatenate([np.zeros(2), v[2:]])
    gravity = both.pose(q, "grip_base")[:3, :3].T @ np.array(both.model.gravity)
    alone = linkage.with_gravity(gravity)
    ours = both.inverse_dynamics(q, still, [0.0, 0.0, 0.3, 0.4])[2:]
    np.testing.assert_allclose(ours, alone.inverse_dynamics(q[2:], v[2:], [0.3, 0.4]), rtol=1e-8)


def test_the_order_of_an_attached_robot_survives_a_file(tmp_path):
    tree = appell.load("shafei-tree")
    both = tree.attached(appell.load("two-link"), tree.link_names[1], [0.1, 0.0, 0.0], prefix="tool_")
    back = appell.load(both.save(tmp_path / "both.toml"))
    assert back.joint_names == both.joint_names
    same(back.model, both.model)


def test_a_subtree_moves_as_in_the_robot_held_above_it(rng):
    robot = appell.load("puma560").using("gibbs")
    for name, above in (("joint4", 3), ("link3", 3), ("link4", 4)):
        part = robot.subtree(name)
        assert part.joint_names == robot.joint_names[above:]
        q = rng.normal(size=6)
        q[:above] = 0.0
        base = robot.pose(q, part.model.base.name)
        turned = part.with_gravity(base[:3, :3].T @ np.array(robot.model.gravity))
        v, a = (np.concatenate([np.zeros(above), rng.normal(size=6 - above)]) for _ in range(2))
        ours = turned.inverse_dynamics(q[above:], v[above:], a[above:])
        np.testing.assert_allclose(ours, robot.inverse_dynamics(q, v, a)[above:], rtol=1e-10, atol=1e-12)


def test_locking_a_joint_locks_those_that_follow_it(robots):
    file = robots / "panda_description/urdf/panda.urdf"
    bound, free = appell.load(file, mimic=True), appell.load(file)
    locked = bound.locked({"panda_finger_joint1": 0.02})
    fingers = free.locked({"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02})
    same(locked.model, fingers.model)
    with pytest.raises(InputError, match="lock that one"):
        bound.locked(["panda_finger_joint2"])
    alone = free.locked(["panda_finger_joint1"])
    assert alone.joints["panda_finger_joint2"].mimic is None


def test_a_loop_whose_joints_are_all_locked_holds_nothing(rng):
    arm = appell.load("two-link").attached(appell.load("five-bar"), "link2", prefix="grip_")
    rigid = arm.locked([name for name in arm.joint_names if name.startswith("grip_")])
    assert (rigid.nv, rigid.closure_names) == (2, [])
    with pytest.raises(InputError, match="open by"):
        arm.locked({name: 0.1 for name in arm.joint_names if name.startswith("grip_")})
    with pytest.raises(ModelError, match="no motion"):
        appell.load("five-bar").locked(["mot1", "free1"])


# Invalid input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.with_frame("tool", "wrist", np.eye(4)), "no frame 'wrist'; known: 'base'"),
        (lambda r: r.with_frame("link2", "link1", np.eye(4)), "has a frame 'link2' already"),
        (lambda r: r.with_frame("tool", "link1", np.ones((4, 4))), "expected a rotation"),
        (lambda r: r.with_frame("tool", "link1", np.ones((2, 4))), r"a pose \(4, 4\) or a position \(3,\)"),
        (lambda r: r.with_frame("tool", "link1", POSE.T), "expected the last row of a pose"),
        (lambda r: r.with_frame("", "link1", np.eye(4)), "expected text, got an empty one"),
        (lambda r: r.with_payload("link2", "heavy"), "mass: expected a number"),
        (lambda r: r.with_payload("link2", -1.0), "mass of -1 kg"),
        (lambda r: r.with_payload("link2", 1.0, (1.0, 2.0)), "centre: expected 3 numbers, got 2"),
        (lambda r: r.with_payload("link2", 1.0, (0.0, 0.0, math.nan)), "centre.*NaN"),
        (
            lambda r: r.with_link("link9", mass=1.0),
            "no link 'link9'; did you mean 'link1' or 'link2'.* known: 'base', 'link1', 'link2'",
        ),
        (lambda r: r.with_link("link1", mass=-1.0), "mass of -1 kg"),
        (
            lambda r: r.with_joint("joint9", damping=1.0),
            "no joint 'joint9'; did you mean 'joint1' or 'joint2'.* known: 'joint1', 'joint2'",
        ),
        (lambda r: r.with_joint("joint1", damping=-1.0), "negative damping"),
        (lambda r: r.with_joint("joint1", lower=2.0, upper=1.0), "lower limit 2 is above the upper limit 1"),
        (lambda r: r.with_parameters([1.0]), "expected .20,., got .1,."),
        (lambda r: r.with_parameters(math.nan * r.parameters), "finite"),
        (lambda r: r.with_gravity((0.0, 1.0)), "gravity must be three finite numbers"),
        (lambda r: r.with_gravity(None), "three finite numbers"),
        (
            lambda r: r.locked(["joint9"]),
            "no joint 'joint9'; did you mean 'joint1' or 'joint2'.* known: 'joint1', 'joint2'",
        ),
        (lambda r: r.locked("joint1"), "expected names of joints"),
        (lambda r: r.locked({"joint1": (0.0, 1.0)}), "expected 1 coordinate, got shape"),
        (lambda r: r.attached(r, "link2"), "both robots have joints 'joint1', 'joint2'; give a prefix"),
        (lambda r: r.attached(r.model, "link2"), "expected a robot, got Model"),
        (lambda r: r.attached(r, "flange", prefix="x_"), "no frame 'flange'"),
        (lambda r: r.subtree("arm"), "no link 'arm'"),
        (
            lambda r: r.joints["joint9"],
            "no joint 'joint9'; did you mean 'joint1' or 'joint2'.* known: 'joint1', 'joint2'",
        ),
        (
            lambda r: r.links["link9"],
            "no link 'link9'; did you mean 'link1' or 'link2'.* known: 'base', 'link1', 'link2'",
        ),
        (lambda r: r.configurations["home"], "no configuration 'home'; known: none"),
    ],
)
def test_an_edit_that_cannot_be_says_what_can(call, message):
    with pytest.raises(appell.AppellError, match=message):
        call(appell.load("two-link"))


def test_an_inertia_that_no_body_has_is_remarked():
    with pytest.warns(AppellWarning, match="triangle inequality"):
        appell.load("two-link").with_payload("link2", 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 5.0))


def test_joints_of_several_velocities_have_one_friction(rng):
    robot = appell.load("two-link", floating=True).with_joint("root", damping=0.1)
    pi = robot.parameters.copy()
    pi[-1] = 5.0
    robot.with_parameters(pi)
    pi[10 * 3 + 1] = 7.0  # damping of the first of six velocities
    with pytest.raises(InputError, match=r"joint 'root'.*parameters="):
        robot.with_parameters(pi)


def test_friction_and_rotors_are_left_out_one_by_one():
    whole = appell.load("puma560")
    assert appell.load("puma560", friction=False).joints["joint1"].armature == whole.joints["joint1"].armature > 0
    smooth, bare = appell.load("puma560", friction=False), appell.load("puma560", armature=False)
    assert {(j.damping, j.friction) for j in smooth.joints.values()} == {(0.0, 0.0)}
    assert {j.armature for j in bare.joints.values()} == {0.0}
    assert all(j.friction > 0 for j in bare.joints.values())

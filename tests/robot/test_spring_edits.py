"""Edits of robots with springs, and parameters of joints that have none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError, ModelError
from appell.model.closure import coupling
from tests.robot.test_springs import BELT, SAG, SPRUNG, agree, arm
from tests.support.same import same


def of_springs(robot, q, v):
    """Return the joint torques that springs and dampers take: those of the robot less those of one without."""
    bare = appell.load(robot.model.without("stiffness", "damping"))
    still = np.zeros(robot.nv)
    return robot.inverse_dynamics(q, v, still, formulation="gibbs") - bare.inverse_dynamics(
        q, v, still, formulation="gibbs"
    )


# Joints


def test_a_spring_of_a_joint_is_that_of_the_table(rng):
    given = arm(stiffness=25.0, spring_reference=0.4)
    ours = arm()
    for name in ours.joint_names:
        ours = ours.with_joint(name, stiffness=25.0, spring_reference=0.4)
    same(ours.model, given.model)
    assert (ours.joints["joint2"].stiffness, ours.joints["joint2"].spring_reference) == (25.0, 0.4)
    assert ours.with_joint("joint2", stiffness=3.0).joints["joint2"].spring_reference == 0.4


@pytest.mark.parametrize(
    ("name", "own", "message"),
    [
        ("root", {"stiffness": 1.0}, "'root' is free and has a stiffness; only joints with one coordinate"),
        ("joint1", {"stiffness": -1.0}, "'joint1' has a negative stiffness"),
        ("joint1", {"spring_reference": "there"}, "with_joint: spring_reference: expected a number"),
    ],
)
def test_a_spring_that_a_joint_cannot_have_is_refused(name, own, message):
    with pytest.raises(InputError, match=message):
        appell.load("two-link", floating=True).with_joint(name, **own)


# Locked, attached, parts


@pytest.mark.parametrize(
    ("name", "joint"),
    [("between", "joint1"), ("between", "joint2"), ("elastic", "joint2"), ("elastic", "joint2/motor")],
)
def test_springs_act_on_what_a_locked_joint_leaves_free(name, joint, rng):
    robot = SPRUNG[name]()
    at = robot.joint_names.index(joint)
    locked = robot.locked({joint: 0.7})
    q, v = rng.normal(size=(2, robot.nv))
    q[at], v[at] = 0.7, 0.0
    free = np.delete(np.arange(robot.nv), at)
    agree(of_springs(locked, q[free], v[free]), of_springs(robot, q, v)[free])
    assert np.abs(of_springs(locked, q[free], v[free])).max() > 1e-3


def test_a_closed_robot_keeps_the_energy_of_its_springs_when_a_joint_is_locked(rng):
    robot = SPRUNG["closed"]()
    locked = robot.locked({"mot2": 0.9})
    q = locked.random(rng, 3)
    whole = np.tile(robot.neutral(), (3, 1))
    whole[:, robot.places("q")["mot2"]] = 0.9
    for joint, places in locked.places("q").items():
        whole[:, robot.places("q")[joint]] = q[:, places]
    apart = locked.potential_energy(q) - robot.potential_energy(whole)
    agree(apart, np.full(3, apart[0]), 1e-9)


def test_springs_of_an_attached_robot_are_its_own(rng):
    one, other = SPRUNG["between"](), SPRUNG["elastic"]()
    both = one.attached(other, "link4", [0.1, 0.2, 0.3], prefix="tool_")
    assert [spring.name for spring in both.model.springs] == ["belt", "sag", "tool_joint2/spring"]
    q, v = rng.normal(size=(2, both.nv))
    n = one.nv
    agree(of_springs(both, q, v), np.concatenate([of_springs(one, q[:n], v[:n]), of_springs(other, q[n:], v[n:])]))


def test_springs_of_one_name_are_refused():
    one = arm().with_springs(appell.Spring("tool_belt", (("joint1", 1.0),), 2.0))
    with pytest.raises(InputError, match="both robots have joints or springs 'tool_belt'; give another prefix"):
        one.attached(arm().with_springs(BELT), "link4", prefix="tool_")


def test_a_part_keeps_its_springs(rng):
    robot = arm(stiffness=3.0).with_springs(SAG)
    part = robot.subtree("link1")
    assert part.model.springs == (SAG,)
    q, v = rng.normal(size=(2, robot.nv))
    agree(of_springs(part, q[1:], v[1:]), of_springs(robot, q, v)[1:])


def test_a_spring_or_a_coupling_that_leads_out_of_a_part_is_refused():
    with pytest.raises(InputError, match="spring 'belt' connects 'joint3' to joints outside the subtree of 'link1'"):
        SPRUNG["between"]().subtree("link1")
    assert SPRUNG["between"]().subtree("link3").model.springs == ()
    with pytest.raises(InputError, match="coupling 'gear' connects 'joint2', 'joint4' to joints outside the subtree"):
        geared().subtree("link1")


def geared():
    """Return an arm three of whose joints a differential gear couples."""
    gear = coupling("gear", {"joint2": 1.0, "joint1": 0.5, "joint4": -2.0})
    return appell.load(replace(arm().model, closures=(gear,), actuators=("joint1", "joint2", "joint3")))


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
def test_a_coupling_that_a_format_does_not_have_is_refused_by_name(ending, tmp_path):
    pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")
    with pytest.raises(ModelError, match=r"'gear'.*save as .toml"):
        geared().save(tmp_path / f"robot.{ending}")
    again = appell.load(geared().save(tmp_path / "robot.toml"))
    assert again.model.closures == geared().model.closures


# Parameters of joints that have none

PLAIN = {
    "between": lambda: arm().with_springs(BELT, SAG),
    "floating": lambda: appell.load("two-link", floating=True),
    "closed": lambda: appell.load("five-bar"),
    "long": lambda: appell.random_chain(90, np.random.default_rng(3)),
}


@pytest.mark.parametrize(
    "name", [name if name in ("between", "closed") else pytest.param(name, marks=pytest.mark.slow) for name in PLAIN]
)
def test_joints_without_friction_can_have_its_columns(name, rng, tmp_path):
    plain = PLAIN[name]()
    robot = plain.with_joint_columns()
    n, tree = len(plain.link_names), robot.facts.sizes["t"]
    assert len(robot.parameters) == len(plain.parameters) + 4 * tree == len({*robot.parameter_names})
    assert not robot.parameters[10 * n : 10 * n + 4 * tree].any()
    assert robot.with_joint_columns().parameter_names == robot.parameter_names

    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    own = np.ones(tree) if name == "floating" else rng.uniform(0.1, 0.5, tree)  # one per joint
    pi = np.array(robot.parameters)
    pi[10 * n : 10 * n + 4 * tree] = np.repeat(own, 4)
    Y = robot.regressor(q, v, a)
    agree(Y @ robot.parameters, plain.evaluate("generalised_forces", q, v, a), 1e-9)
    agree(robot.evaluate("generalised_forces", q, v, a, parameters=pi), Y @ pi, 1e-9)
    agree(robot.with_parameters(pi).evaluate("generalised_forces", q, v, a), Y @ pi, 1e-9)
    again = appell.load(robot.save(tmp_path / "robot.toml"))
    assert again.parameter_names == robot.parameter_names


def test_columns_of_joints_are_those_of_robots_put_together():
    both = arm().with_joint_columns().attached(arm(), "link4", prefix="tool_")
    assert both.parameter_names[-1] == "k_tool_joint4"


def test_a_spherical_robot_has_no_columns_of_joints():
    with pytest.raises(InputError, match="is a closed-form model whose joints have no friction"):
        appell.load("agile-wrist").with_joint_columns()

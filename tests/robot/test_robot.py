"""What a robot is to its user: names, configurations, order, operation counts."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.errors import InputError, ModelError
from appell.model.model import Model

URDF = """<robot name="{name}"><link name="base"/>{rest}</robot>"""
LINK = (
    '<link name="{0}"><inertial><mass value="{1}"/>'
    '<inertia ixx="{1}" ixy="0" ixz="0" iyy="{1}" iyz="0" izz="{1}"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><axis xyz="0 1 0"/>'
    '<origin xyz="1 0 0"/>{4}</joint>'
)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a URDF and loads it."""

    def load(rest, name="made", **options):
        path = tmp_path / f"{name}.urdf"
        path.write_text(URDF.format(name=name, rest=rest))
        return appell.load(path, **options)

    return load


@pytest.fixture(scope="module")
def robot():
    return appell.load("stanford")


def test_a_robot_shows_its_name_and_size(robot):
    assert repr(robot) == "<Robot 'stanford': 6 bodies, nq 6, nv 6>"


def test_names_stand_in_the_order_of_q(robot):
    assert len(robot.joint_names) == len(robot.link_names) == robot.nq == robot.nv == 6
    assert robot.actuators == robot.joint_names


def test_parameters_cannot_be_changed(robot):
    with pytest.raises(ValueError, match="read-only"):
        robot.parameters[0] = 1.0


def test_neutral_is_zero(robot):
    np.testing.assert_array_equal(robot.neutral(), np.zeros(6))


@pytest.mark.parametrize(("size", "shape"), [(None, (6,)), (3, (3, 6)), ((2, 4), (2, 4, 6)), (0, (0, 6))])
def test_random_configurations_have_the_shape_asked_for(robot, rng, size, shape):
    assert robot.random(rng, size).shape == shape


def test_random_configurations_keep_to_the_limits(write, rng):
    limit = '<limit lower="-0.2" upper="0.7" effort="1" velocity="1"/>'
    robot = write(LINK.format("arm", 1) + JOINT.format("hinge", "revolute", "base", "arm", limit))
    q = robot.random(rng, 500)
    assert -0.2 <= q.min() < -0.1
    assert 0.6 < q.max() <= 0.7


def test_random_configurations_of_a_joint_without_limits_are_a_turn(write, rng):
    robot = write(LINK.format("arm", 1) + JOINT.format("hinge", "continuous", "base", "arm", ""))
    q = robot.random(rng, 500)
    assert -np.pi <= q.min() < -3.0
    assert 3.0 < q.max() <= np.pi


def test_the_same_generator_gives_the_same_configurations(robot):
    draws = [robot.random(np.random.default_rng(1), 5) for _ in range(2)]
    np.testing.assert_array_equal(*draws)


def test_difference_undoes_integrate(robot, rng):
    q0, q1 = robot.random(rng, 7), robot.random(rng, 7)
    np.testing.assert_allclose(robot.integrate(q0, robot.difference(q0, q1)), q1, rtol=0, atol=1e-14)


@pytest.mark.parametrize("verb", ["integrate", "difference"])
@pytest.mark.parametrize("value", [[1.0] * 5, 1.0, "hello", [[1.0], [1.0, 2.0]], [1j] * 6, None])
def test_configurations_that_do_not_fit_are_refused(robot, verb, value):
    with pytest.raises(InputError):
        getattr(robot, verb)(value, [0.0] * 6)


def test_reorder_brings_another_order_into_the_robots(robot, rng):
    names = list(rng.permutation(robot.joint_names))
    there = dict(zip(names, rng.normal(size=6), strict=True))
    here = np.array([there[name] for name in names])[robot.reorder(names)]
    np.testing.assert_array_equal(here, [there[name] for name in robot.joint_names])


def test_reorder_takes_more_names_than_the_robot_has(robot, rng):
    names = ["camera", *robot.joint_names[::-1], "gripper"]
    np.testing.assert_array_equal(np.array(names)[robot.reorder(names)], robot.joint_names)


def test_reorder_names_the_joint_that_is_missing(robot):
    missing = robot.joint_names[2]
    with pytest.raises(InputError, match=f"reorder: the list lacks '{missing}'"):
        robot.reorder([name for name in robot.joint_names if name != missing])


def test_reorder_refuses_a_name_twice(robot):
    with pytest.raises(InputError, match="reorder: the list contains a joint twice"):
        robot.reorder([*robot.joint_names, robot.joint_names[0]])


def test_gravity_may_be_given(state):
    robot = appell.load("puma560", gravity=(0.0, 0.0, 0.0))
    np.testing.assert_array_equal(robot.gravity(state(robot)[0]), np.zeros(6))


def test_friction_may_be_left_out(state):
    q, v, _ = state(appell.load("puma560"))
    bare, whole = appell.load("puma560", friction=False, armature=False), appell.load("puma560")
    friction = [b.joint.damping * x + b.joint.friction * np.sign(x) for b, x in zip(whole.model.bodies, v, strict=True)]
    np.testing.assert_allclose(whole.bias(q, v) - bare.bias(q, v), friction, atol=1e-12)


def test_friction_acts_in_every_verb_alike(state, agree):
    robot = appell.load("puma560")
    q, v, a = state(robot, 5)
    tau = np.einsum("sij,sj->si", robot.mass_matrix(q), a) + robot.bias(q, v)
    agree(robot.inverse_dynamics(q, v, a), tau, 1e-13)
    agree(robot.forward_dynamics(q, v, tau), a)
    agree(robot.regressor(q, v, a) @ robot.parameters, tau, 1e-12)


# Operation counts


@pytest.mark.parametrize("formulation", ["gibbs", "vector", "vector-merged", "newton-euler"])
def test_the_compiled_program_does_no_more_than_any_formulation_on_the_files_frames(robot, formulation):
    compiled, counted = (robot.operations("inverse_dynamics", form) for form in (None, formulation))
    assert sum(compiled[:2]) <= sum(counted[:2])


def test_the_cheapest_formulation_of_forward_dynamics_is_compiled():
    # few joints are cheaper by the matrix, many by articulated bodies
    long = appell.random_chain(15, np.random.default_rng(0), vertical=True)
    by_matrix = long.operations("forward_dynamics", "composite")
    assert sum(long.operations("forward_dynamics")[:2]) < 0.8 * sum(by_matrix[:2])


def test_one_sine_and_one_cosine_a_turning_joint(robot):
    assert robot.operations("gravity").trigonometric <= 2 * 5


def test_an_unknown_verb_is_named_with_those_known(robot):
    with pytest.raises(InputError, match=r"robot 'stanford' has no verb 'rnea'; known: 'inverse_dynamics', "):
        robot.operations("rnea")


def test_an_unknown_formulation_is_named_with_those_known(robot):
    with pytest.raises(
        InputError, match="inverse_dynamics: no formulation 'kane' for robot 'stanford'; known: 'gibbs', 'vec"
    ):
        robot.operations("inverse_dynamics", formulation="kane")


# Odd robots


def test_a_joint_that_moves_nothing_is_named_when_its_acceleration_is_asked(write):
    robot = write(
        LINK.format("arm", 1)
        + '<link name="pointer"/>'
        + JOINT.format("hinge", "continuous", "base", "arm", "")
        + JOINT.format("tip", "continuous", "arm", "pointer", "")
    )
    with pytest.raises(ModelError, match="singular mass matrix of robot 'made': the joints 'tip' move no inertia"):
        robot.forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])


def test_a_joint_that_moves_nothing_has_no_torque(write):
    robot = write(
        LINK.format("arm", 1)
        + '<link name="pointer"/>'
        + JOINT.format("hinge", "continuous", "base", "arm", "")
        + JOINT.format("tip", "continuous", "arm", "pointer", "")
    )
    assert robot.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])[1] == 0.0


EVERY_VERB = {
    "inverse_dynamics": (3, (0,)),
    "forward_dynamics": (3, (0,)),
    "mass_matrix": (1, (0, 0)),
    "coriolis_matrix": (2, (0, 0)),
    "gravity": (1, (0,)),
    "bias": (2, (0,)),
    "regressor": (3, (0, 0)),
    "gibbs": (3, ()),
    "kinetic_energy": (2, ()),
    "potential_energy": (1, ()),
}


@pytest.mark.parametrize("verb", EVERY_VERB)
@pytest.mark.parametrize("leading", [(), (4,)])
def test_a_robot_without_joints_has_empty_dynamics(verb, leading):
    robot = appell.load(Model("stone", ()))
    arguments, shape = EVERY_VERB[verb]
    found = getattr(robot, verb)(*[np.zeros((*leading, 0))] * arguments)
    np.testing.assert_array_equal(found, np.zeros((*leading, *shape)))


@pytest.mark.parametrize("verb", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_a_robot_without_joints_has_empty_derivatives(verb):
    robot = appell.load(Model("stone", ()))
    for block in getattr(robot, verb)([], [], []):
        assert block.shape == (0, 0)


def test_a_robot_without_joints_has_poses(write):
    robot = write(LINK.format("rock", 1) + JOINT.format("glue", "fixed", "base", "rock", ""))
    assert repr(robot) == "<Robot 'made': 0 bodies, nq 0, nv 0>"
    np.testing.assert_array_equal(robot.pose([], "rock"), np.eye(4) + np.eye(4, k=3))
    assert robot.jacobian([], "rock").shape == (6, 0)


def test_a_robot_without_joints_has_configurations(rng):
    robot = appell.load(Model("stone", ()))
    assert robot.neutral().shape == (0,)
    assert robot.random(rng, 3).shape == (3, 0)

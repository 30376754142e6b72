"""shafei2018's equations as arrays: branches, their sum and the impact, against Pinocchio, MuJoCo and the verbs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.papers import shafei2018, shafei2018_motion
from appell.papers.shafei2018 import START, branch_equations, branches, flight_equations, impact, impact_equations
from appell.recursion.mixed import branches as branches_of
from appell.simulation import Point
from tests.support.evaluation import agree
from tests.support.kinds import random_states
from tests.support.pool import pool
from tests.support.robots import KINDS, random_drawing, random_inertia

OFFSET = (0.2, -0.1, 0.3)
NORMALS = [[0.6, 0.0, 0.8], [0.0, -1.0, 0.0]]


@pytest.fixture(scope="module", params=[*KINDS, "floating"])
def each(request, peer):
    """Return a tree of two branches of a kind of joint, or on a floating base, with friction, its peer and states."""
    rng = np.random.default_rng(8)
    kind = "revolute" if request.param == "floating" else request.param
    drawing = random_drawing(rng, [(kind, 0), ("revolute", 0), ("prismatic", 1)], has_friction=True)
    if request.param == "floating":
        base = replace(drawing.links[0], inertia=random_inertia(rng))
        drawing = replace(drawing, links=(base, *drawing.links[1:]), is_floating=True)
    robot = appell.load(drawing.model)
    return robot, peer(drawing), random_states(robot, 4)


def test_a_branch_has_the_matrix_and_the_right_hand_side_of_its_chain_in_pinocchio(each, peer):
    robot, _, (q, v, _, tau) = each
    for branch, (matrix, right) in zip(branches(robot), branch_equations(robot, q, v, tau), strict=True):
        other = peer(branch.robot.model)
        for k in range(len(q)):
            here, moving = q[k, branch.q], v[k, branch.v]
            agree(matrix[k], other.mass_matrix(here) + np.diag(other.armature), 1e-12)
            still = np.zeros_like(moving)
            bias = other.torque(here, moving, still) + other.loss(moving, still)
            agree(right[k], branch.is_real * tau[k, branch.v] - bias, 1e-12)


def test_the_assembled_equations_are_those_of_the_tree_in_pinocchio(each):
    robot, other, (q, v, _, tau) = each
    matrix, right = flight_equations(robot, q, v, tau)
    agree(matrix, [other.mass_matrix(x) + np.diag(other.armature) for x in q], 1e-12)
    still = np.zeros(robot.nv)
    bias = [other.torque(x, y, still) + other.loss(y, still) for x, y in zip(q, v, strict=True)]
    agree(right, tau - np.array(bias), 1e-12)
    agree(matrix, robot.mass_matrix(q), 1e-12)
    agree(right, tau - robot.bias(q, v), 1e-12)


@pytest.mark.parametrize("restitution", [1.0, 0.3])
def test_an_impact_is_pinocchios(each, restitution):
    robot, other, (q, v, *_) = each
    names = [robot.model.bodies[branch.tip].name for branch in branches_of(robot.model)]
    found = impact(robot, q, v, [Point(name, OFFSET) for name in names], NORMALS, restitution)
    pin, model = other.pin, other.model
    model.armature = other.armature
    data = model.createData()
    for k in range(len(q)):
        x = other.coordinates(q[k])
        pin.computeJointJacobians(model, data, x)
        rows = []
        for name, normal in zip(names, NORMALS, strict=True):
            joint, seat = other._seats[name]
            place = seat * pin.SE3(np.eye(3), np.array(OFFSET))
            full = pin.getFrameJacobian(model, data, joint, place, pin.LOCAL_WORLD_ALIGNED)
            rows.append(np.array(normal) @ full[:3])
        pin.crba(model, data, x)
        expected = pin.impulseDynamics(model, data, x, v[k], np.array(rows), restitution, 0.0)
        agree(found.v[k], expected, 1e-9)
        agree(found.impulse[k], data.impulse_c, 1e-9)


# The paper's own tree

PARENTS = (0, 1, 2, 3, 2, 5, 6, 5, 5, 9)
"""Which rod each rod of figure 4 hangs on, 0 being the base point."""


def mjcf() -> str:
    """Return the tree of figure 4 and table 2 as MuJoCo's XML, written from the paper alone."""

    def rod(k: int) -> str:
        joint = f'<joint name="q{k}" type="hinge" axis="0 0 1"/>'
        across = 1.0 / 12.0 + 2.94e-5
        inertia = f'<inertial pos="0.5 0 0" mass="1" diaginertia="5.89e-5 {across!r} {across!r}"/>'
        inside = "".join(rod(i + 1) for i, parent in enumerate(PARENTS) if parent == k)
        return f'<body pos="{1 if k > 1 else 0} 0 0">{joint}{inertia}{inside}</body>'

    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
    first = rod(1).replace("<joint", f"{slides}<joint", 1)
    head = '<compiler angle="radian" boundmass="0" boundinertia="0"/><option gravity="0 -9.81 0"/>'
    return f"<mujoco>{head}<worldbody>{first}</worldbody></mujoco>"


@pytest.fixture(scope="module")
def tree():
    return appell.load("shafei-tree")


def test_the_papers_tree_has_mujocos_equations(tree):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(mjcf())
    data = mujoco.MjData(model)
    q, v, _, tau = random_states(tree, 5)
    matrix, right = flight_equations(tree, q, v, tau)
    for k in range(len(q)):
        data.qpos[:], data.qvel[:] = q[k], v[k]
        mujoco.mj_forward(model, data)
        theirs = np.zeros((12, 12))
        mujoco.mj_fullM(model, data, theirs)
        agree(matrix[k], theirs, 1e-12)
        agree(right[k], tau[k] - data.qfrc_bias, 1e-12)


def test_the_branches_are_the_papers(tree):
    names = [[name for name in branch.robot.independent if name.startswith("q")] for branch in branches(tree)]
    assert names == [
        [f"q{k}" for k in chain] for chain in ([1, 2, 3, 4], [1, 2, 5, 6, 7], [1, 2, 5, 8], [1, 2, 5, 9, 10])
    ]
    virtual = [[name for name in branch.virtual if name.startswith("link")] for branch in branches(tree)]
    shared = ["link1", "link2", "link5"]
    assert virtual == [[], shared[:2], shared, shared]


def test_an_entry_of_two_branches_is_the_sum_of_theirs_and_one_of_none_is_zero(tree):
    q = random_states(tree, 1).q[0]
    matrix, _ = flight_equations(tree, q, np.zeros(12))
    parts = branch_equations(tree, q, np.zeros(12))
    at = [list(branch.robot.independent) for branch in branches(tree)]
    place = list(tree.independent).index
    shared = sum(part.matrix[x.index("q1"), x.index("q5")] for x, part in zip(at, parts, strict=True) if "q5" in x)
    assert matrix[place("q1"), place("q5")] == pytest.approx(shared, rel=1e-15)
    assert matrix[place("q4"), place("q7")] == 0.0


def test_the_impacts_of_section_6_are_solutions_of_47(tree):
    run = shafei2018_motion.motion(1.2)
    assert len(run.impacts) == 4
    for struck in run.impacts:
        q, _ = run.at([struck.time])
        v, impulse = impact(tree, q[0], struck.v_before, struck.points, struck.normals)
        agree(v, struck.v_after, 1e-10)
        agree(impulse, struck.impulse, 1e-10)


def test_kinetic_energy_stays_where_restitution_is_complete(tree):
    q, v, *_ = random_states(tree, 6)
    after, _ = impact(tree, q, v, ["O5", "O9"], [[0.0, 1.0, 0.0], [0.6, 0.8, 0.0]])
    agree(tree.kinetic_energy(q, after), tree.kinetic_energy(q, v), 1e-11)


def test_i_i_has_the_blocks_of_figure_11(tree):
    matrix, right = impact_equations(tree, START, np.ones(12), ["O5", "O9"], [[0.0, 1.0, 0.0]] * 2, [0.5, 0.25])
    assert matrix.shape == (14, 14)
    agree(matrix[:12, :12], tree.mass_matrix(START), 1e-13)
    np.testing.assert_array_equal(matrix[12:, :12], -matrix[:12, 12:].T)
    np.testing.assert_array_equal(matrix[12:, 12:], 0.0)
    heights = [tree.jacobian(START, name)[1] for name in ("O5", "O9")]
    agree(matrix[12:, :12], heights, 1e-13)
    agree(right[12:], -np.array([0.5, 0.25]) * (heights @ np.ones(12)), 1e-13)


def test_arguments_broadcast(tree):
    q, v, _, tau = random_states(tree, 3)
    matrix, right = flight_equations(tree, q[:, None], v[0], tau[:2])
    assert matrix.shape == (3, 2, 12, 12)
    agree(right[2, 1], flight_equations(tree, q[2], v[0], tau[1]).right, 1e-14)
    normals = np.array([[[0.0, 1.0, 0.0], [0.6, 0.8, 0.0]], [[1.0, 0.0, 0.0], [0.8, -0.6, 0.0]]])
    found = impact(tree, q[:, None, None], v[0], ["O5", "O9"], normals, np.array([[1.0], [0.5]])[:, None] * np.ones(2))
    assert found.v.shape == (3, 2, 2, 12)
    one = impact(tree, q[1], v[0], ["O5", "O9"], normals[1], 0.5)
    agree(found.v[1, 1, 1], one.v, 1e-12)
    agree(found.impulse[1, 1, 1], one.impulse, 1e-12)


# What is refused


@pytest.mark.parametrize("name", ["five-bar", "agile-wrist"])
def test_what_is_no_open_tree_is_refused(name):
    robot = appell.load(name)
    with pytest.raises(InputError, match=f"branches: robot '{name}' is not an open tree"):
        flight_equations(robot, robot.neutral(), np.zeros(robot.nv))


def test_followers_are_refused():
    robot = pool("hand")
    with pytest.raises(InputError, match="is not an open tree without mimic joints"):
        branches(robot)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"points": ["O5", "O5"]}, "'O5' given twice"),
        ({"points": ["O99"]}, "no frame 'O99'"),
        ({"normals": [[0.0, 1.0, 0.0]]}, r"normals: expected \(..., 2, 3\)"),
        ({"restitution": 1.5}, "restitution: expected a number from 0 to 1"),
        ({"restitution": [1.0, 1.0, 1.0]}, "restitution: expected a number from 0 to 1, or 2, one per point"),
        ({"q": [0.0] * 11}, r"q: expected \(..., 12\)"),
        ({"points": ["O1", "link1"]}, "the points cannot move independently along their normals; remove one"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tree, options, fault):
    given = {"q": START, "v": np.zeros(12), "points": ["O5", "O9"], "normals": [[0.0, 1.0, 0.0]] * 2}
    with pytest.raises(InputError, match=fault):
        shafei2018.impact(tree, **{**given, **options})


@pytest.mark.parametrize("wrong", ["shafei-tree", [], None])
def test_a_robot_is_expected(wrong):
    with pytest.raises(InputError, match="branches: expected a robot"):
        branches(wrong)

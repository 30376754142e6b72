"""Bound followers: Pinocchio's numbers where it has them, and Gᵀ(…)G of the tree's numbers everywhere."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell

pin = pytest.importorskip("pinocchio")

Array = NDArray[Any]
WITHIN = 1e-10

HAND = """<robot name="hand">
<link name="palm"/>
{links}
<joint name="slide" type="prismatic"><parent link="palm"/><child link="a"/><axis xyz="1 2 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.3" friction="0.1" armature="0.2"/></joint>
<joint name="turn" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0.4" rpy="0.3 0 0.1"/>
  <axis xyz="0 1 0"/><mimic joint="slide" multiplier="-2.5" offset="0.4"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.2" friction="0.4" armature="0.1"/></joint>
<joint name="side" type="continuous"><parent link="a"/><child link="c"/><origin xyz="0 0.3 0"/><axis xyz="1 0 0"/>
  </joint>
<joint name="tip" type="revolute"><parent link="c"/><child link="d"/><origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>
  <mimic joint="turn" multiplier="0.5" offset="-0.1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="same" type="revolute"><parent link="d"/><child link="e"/><origin xyz="0 0.1 0.2"/><axis xyz="0 1 0"/>
  <mimic joint="side"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
LINK = """<link name="{}"><inertial><origin xyz="0.1 -0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="{}"/>
<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"/></inertial></link>"""


def hand(folder: Path) -> Path:
    file = folder / "hand.urdf"
    links = "\n".join(LINK.format(name, 1.0 + 0.3 * k) for k, name in enumerate("abcde"))
    file.write_text(HAND.format(links=links))
    return file


def load(path: Path, **options: Any) -> appell.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)
        robot: appell.Robot = appell.load(path, **options)
        return robot


def relation(bound: appell.Robot, tree: appell.Robot) -> tuple[Array, Array]:
    """Return G and d with v_tree = G v and q_tree = G q + d, of joints of one coordinate; mimics of mimics followed."""
    joints = {body.joint.name: body.joint for body in tree.model.bodies}
    G, d = np.zeros((tree.nv, bound.nv)), np.zeros(tree.nv)
    for row, name in enumerate(tree.joint_names):
        factor, joint = 1.0, joints[name]
        while joint.mimic is not None:
            d[row] += factor * joint.mimic.offset
            factor *= joint.mimic.multiplier
            joint = joints[joint.mimic.joint]
        G[row, bound.joint_names.index(joint.name)] = factor
    return G, d


@pytest.mark.parametrize(
    "place",
    [
        "panda_description/urdf/panda.urdf",
        "baxter_description/urdf/baxter.urdf",
        "tiago_pro_description/robots/tiago_pro.urdf",
        "pr2_description/urdf/pr2.urdf",
    ],
)
def test_bound_followers_have_pinocchios_numbers(robots, rng, agree, place):
    robot = load(robots / place, mimic=True, friction=False, armature=False)
    model = pin.buildModelFromUrdf(str(robots / place), True)
    model.armature[:] = 0.0
    data = model.createData()
    assert robot.nv == model.nv
    joints = [model.joints[model.getJointId(name)] for name in robot.joint_names]
    order = [joint.idx_v for joint in joints]
    for _ in range(5):
        q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
        their_q, back = np.zeros(model.nq), np.argsort(order)
        for joint, x in zip(joints, q, strict=True):
            their_q[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(x), np.sin(x)] if joint.nq == 2 else x
        agree(robot.inverse_dynamics(q, v, a), pin.rnea(model, data, their_q, v[back], a[back])[order], WITHIN)
        agree(robot.gravity(q), pin.computeGeneralizedGravity(model, data, their_q)[order], WITHIN)
        upper = np.triu(pin.crba(model, data, their_q))
        agree(robot.mass_matrix(q), (upper + np.triu(upper, 1).T)[np.ix_(order, order)], WITHIN)


def verbs(robot: appell.Robot, q: Array, v: Array, a: Array) -> dict[str, Array]:
    """Return what a robot says, by the axes of velocities in it."""
    link = robot.link_names[-1]
    by_q, by_v, by_a = robot.inverse_dynamics_derivatives(q, v, a)
    return {
        "v tau": robot.inverse_dynamics(q, v, a),
        "v bias": robot.bias(q, v),
        "v gravity": robot.gravity(q),
        "v wrenches": robot.inverse_dynamics(q, v, a, wrenches={link: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}),
        "vv M": robot.mass_matrix(q),
        "vv C": robot.coriolis_matrix(q, v),
        "v. Y": robot.regressor(q, v, a),
        ".v J": robot.jacobian(q, link),
        ".v A": robot.momentum_matrix(q),
        "vv dtau/dq": by_q,
        "vv dtau/dv": by_v,
        "vv dtau/da": by_a,
        "X": robot.pose(q, link),
        "S": robot.gibbs(q, v, a),
        "T": robot.kinetic_energy(q, v),
        "V": robot.potential_energy(q),
        "c": robot.centre_of_mass(q),
        "p": robot.momentum(q, v),
        "twist": robot.velocity(q, v, link),
        "rate": robot.acceleration(q, v, a, link),
    }


def gathered(kind: str, x: Array, G: Array) -> Array:
    """Return Gᵀ on the axes of velocities."""
    axes = kind.partition(" ")[0] if " " in kind else ""
    if axes.endswith("v") and len(axes) == 2:
        x = x @ G
    return G.T @ x if axes.startswith("v") else x


def test_every_verb_is_the_trees_reduced_by_g(tmp_path, rng, agree):
    robot, tree = load(hand(tmp_path), mimic=True), load(hand(tmp_path))
    G, d = relation(robot, tree)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    whole = verbs(tree, G @ q + d, G @ v, G @ a)
    for kind, x in verbs(robot, q, v, a).items():
        agree(x, gathered(kind, whole[kind], G), WITHIN)
    agree(robot.regressor(q, v, a) @ robot.parameters, robot.inverse_dynamics(q, v, a), WITHIN)


def test_romeo_whose_followers_stand_before_their_source_is_its_tree_reduced_by_g(robots, rng, agree):
    path = robots / "romeo_description" / "urdf" / "romeo.urdf"
    robot, tree = load(path, mimic=True, friction=False, armature=False), load(path, friction=False, armature=False)
    G, d = relation(robot, tree)
    assert robot.nv == tree.nv - 22
    q, (v, a) = robot.random(rng, 20), rng.normal(size=(2, 20, robot.nv))
    full = q @ G.T + d, v @ G.T, a @ G.T
    agree(robot.inverse_dynamics(q, v, a), tree.inverse_dynamics(*full) @ G, WITHIN)
    agree(robot.gravity(q), tree.gravity(full[0]) @ G, WITHIN)


def test_forward_dynamics_of_bound_followers_undoes_inverse_dynamics(tmp_path, rng, agree):
    robot = load(hand(tmp_path), mimic=True)
    q, (v, a) = robot.random(rng, 10), rng.normal(size=(2, 10, robot.nv))
    agree(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a, WITHIN)


def test_derivatives_of_forward_dynamics_are_those_of_the_inverse_solved(tmp_path, rng, agree):
    robot = load(hand(tmp_path), mimic=True)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    by_q, by_v, by_a = robot.inverse_dynamics_derivatives(q, v, a)
    da_dq, da_dv, da_dtau = robot.forward_dynamics_derivatives(q, v, tau)
    agree(da_dtau, np.linalg.inv(by_a), WITHIN)
    agree(da_dq, -np.linalg.solve(by_a, by_q), WITHIN)
    agree(da_dv, -np.linalg.solve(by_a, by_v), WITHIN)


def test_a_free_base_with_bound_followers_is_its_tree_reduced_by_g(tmp_path, rng, agree):
    path = hand(tmp_path)
    robot, tree = load(path, mimic=True, floating=True), load(path, floating=True)
    inner, d = relation(load(path, mimic=True), load(path))
    G = np.block([[np.eye(6), np.zeros((6, inner.shape[1]))], [np.zeros((inner.shape[0], 6)), inner]])
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    full = np.concatenate([q[:7], inner @ q[7:] + d]), G @ v, G @ a
    agree(robot.inverse_dynamics(q, v, a), G.T @ tree.inverse_dynamics(*full), WITHIN)
    agree(robot.mass_matrix(q), G.T @ tree.mass_matrix(full[0]) @ G, WITHIN)


def test_a_file_whose_sources_are_missing_is_refused_by_name(robots):
    path = robots / "alex_description" / "urdf" / "alex_psyonic_hands.urdf"
    assert load(path).nv == 39
    with pytest.raises(
        appell.ReadError, match=r"alex_psyonic_hands.urdf:\d+: joint 'Left_index_q2' follows joint 'ind"
    ):
        load(path, mimic=True)

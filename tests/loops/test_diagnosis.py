"""Loops that are rounded, locked, degenerate or moved too far: decided by their geometry, or named in one error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.errors import AppellWarning, InputError, ModelError
from appell.read import read_mjcf, read_toml
from appell.read.catalogue import file_text
from appell.read.values import rotation
from tests.loops.test_rolling import CART as WHEELS

Array = NDArray[Any]

POLE = """<robot name="cart"><link name="base"/><link name="slider"/><link name="pole"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="base"/><child link="slider"/><axis xyz="1 0 0"/></joint>
<joint name="hinge" type="continuous"><parent link="slider"/><child link="pole"/><axis xyz="0 1 0"/></joint></robot>"""

LOCKED = "lock every actuator, 'left', 'right'"
FLAT = "closure 'odd' .* on link 'body' with its axle .* along the normal of its plane"


def angles(matrix: Array) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation."""
    yaw, roll = math.atan2(matrix[1, 0], matrix[0, 0]), math.atan2(matrix[2, 1], matrix[2, 2])
    return roll, math.atan2(-matrix[2, 0], math.hypot(matrix[2, 1], matrix[2, 2])), yaw


def oblique_four_bar(digits: int, kind: str, rng: np.random.Generator) -> str:
    """Return a planar four-bar in an oblique plane, every link in axes of its own, as a file with so many digits."""
    plane: Array = np.array(rotation((0.4, -0.7, 0.3)))
    points = [plane @ np.array([*xy, 0.0]) for xy in ((0.0, 0.0), (0.1, 0.17), (0.47, 0.29), (0.4, 0.0))]
    axes = [np.eye(3), *(np.array(rotation(tuple(rng.uniform(-1.0, 1.0, 3).tolist()))) for _ in range(3))]

    def given(xyz: Array, axes_of: Array, child: Array) -> str:
        shift, turn = axes_of.T @ xyz, angles(axes_of.T @ child)
        xyz_text, rpy_text = (", ".join(f"{x:.{digits}f}" for x in v) for v in (shift, turn))
        return f"xyz = [{xyz_text}], rpy = [{rpy_text}]"

    text = 'name = "rounded"\nactuators = ["crank"]\n[[links]]\nname = "base"\n'
    ends = ("crank", 0, points[0]), ("coupler", 1, points[1] - points[0]), ("rocker", 0, points[3])
    for i, (name, parent, xyz) in enumerate(ends, start=1):
        normal = ", ".join(f"{x:.{digits}f}" for x in axes[i].T @ plane[:, 2])
        text += (
            f'[[links]]\nname = "{name}_rod"\nmass = 1.0\ncentre = [0.1, 0.02, 0.01]\ninertia = [0.01, 0.02, 0.015]\n'
            f'[[joints]]\nname = "{name}"\nkind = "continuous"\nchild = "{name}_rod"\n'
            f'parent = "{("base", "crank_rod")[parent]}"\naxis = [{normal}]\n'
            f"origin = {{ {given(xyz, axes[parent], axes[i])} }}\n"
        )
    tips = given(points[2] - points[1], axes[2], plane), given(points[2] - points[3], axes[3], plane)
    first, second = (f'{{ link = "{n}_rod", {tip} }}' for n, tip in zip(("coupler", "rocker"), tips, strict=True))
    return f'{text}[[closures]]\nname = "pin"\nkind = "{kind}"\nfirst = {first}\nsecond = {second}\n'


@pytest.mark.parametrize(("digits", "kind"), [(6, "point"), (8, "point"), (8, "revolute")])
def test_the_rounding_of_a_file_is_no_rank(digits, kind, rng):
    robot = appell.load(read_toml(oblique_four_bar(digits, kind, rng)))
    assert (robot.nv, robot.rank.value, robot.independent) == (1, 2, ["crank"])
    q = np.stack([robot.neutral(), *robot.random(rng, 3)])
    assert np.ptp(q[:, 0]) > 0.1
    assert (robot.closure_error(q) < 10.0 ** (2 - digits)).all()
    a = robot.forward_dynamics(q, np.ones((4, 1)), np.ones((4, 1)))
    np.testing.assert_allclose(robot.inverse_dynamics(q, np.ones((4, 1)), a), np.ones((4, 1)), rtol=0.0, atol=1e-12)


def test_quarter_turns_of_five_and_of_seven_digits_are_parallel():
    tilt = 1.5708 - 1.570796
    text = file_text("four-bar").replace("xyz = [0.2, 0.0, 0.0]", f"xyz = [0.2, 0.0, 0.0], rpy = [{tilt}, 0.0, 0.0]")
    robot = appell.load(read_toml(text))
    assert (robot.nv, robot.rank.value) == (1, 2)


def test_a_rank_that_cannot_be_decided_names_its_loop(monkeypatch, closed):
    monkeypatch.setattr("appell.loops.structure.choose_dependent", lambda *_: [0])
    with pytest.raises(ModelError, match=r"the rank of the loops 'hinge' is ambiguous.*more digits"):
        appell.load(closed("four-bar").model)


# Degenerate loops


def test_loops_that_leave_no_motion_are_named(tmp_path):
    loops = tmp_path / "locked.yaml"
    loops.write_text("closed_loop: [[base, pole]]\ntype: [6d]\nname_mot: [slide]\n")
    tree = tmp_path / "cart.urdf"
    tree.write_text(POLE)
    with pytest.raises(
        ModelError, match=r"mobility 0.*'base\|pole' constrain .* joints 'slide', 'hinge'.*remove a closure"
    ):
        appell.load(tree, loops=loops)


def tied(text: str, first: str, second: str, kind: str = 'kind = "point"') -> str:
    return f'{text}[[closures]]\nname = "odd"\n{kind}\nfirst = {first}\nsecond = {second}\n'


ROLLING = 'kind = "rolling"\nradius = 0.1'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (tied(file_text("four-bar"), '"ground"', '"ground"'), "'odd' .* two frames of link 'ground'.*remove it"),
        (tied(file_text("four-bar").split("[[closures]]")[0], '"crank"', '"crank_rod"'), "frames of link 'crank_rod'"),
        (tied(WHEELS, '"left_wheel"', '"left_wheel"', ROLLING), "two frames of link 'left_wheel'"),
        (tied(WHEELS, '"floor"', '"body"', ROLLING), FLAT),
        (WHEELS.replace('first = "floor"', 'first = "body"'), LOCKED),
        (tied(WHEELS, '"floor"', '"body"', 'kind = "frame"'), "mobility 0.*'left_contact', 'right_contact', 'odd'"),
    ],
    ids=["world", "one link", "wheel on itself", "flat wheel", "wheel on its base", "base on the floor"],
)
def test_degenerate_loops_are_named_at_load(text, said):
    with pytest.raises(ModelError, match=said):
        appell.load(read_toml(text))


def test_loops_that_hold_all_their_joints_are_said_and_the_rest_moves(rng, agree):
    model = read_toml(tied(file_text("mobile-arm"), '{ link = "base", xyz = [0.4, 0.0, 0.5] }', TIP))
    with pytest.warns(AppellWarning, match="'odd' lock all of their joints, 'waist', 'shoulder', 'elbow'"):
        robot = appell.load(model)
    assert robot.driven == ["left", "right"]
    v, tau = rng.normal(size=2), np.array([*rng.normal(size=2), 0.0, 0.0, 0.0])  # motors of joints that stand still
    agree(robot.tree_velocity(robot.neutral(), v)[5:], np.zeros(3), within=1e-12, size=1.0)
    a = robot.forward_dynamics(robot.neutral(), v, tau)
    agree(robot.inverse_dynamics(robot.neutral(), v, a), tau, within=1e-12)


TIP = '{ link = "forearm", xyz = [0.3, 0.0, 0.0] }'


def test_an_arm_on_wheels_holds_a_handle_on_the_wall(rng, agree):
    text = file_text("mobile-arm").replace('"waist", "shoulder", "elbow"', '"waist"')
    robot = appell.load(read_toml(tied(text, '{ link = "floor", xyz = [0.6, 0.1, 0.5] }', TIP)))
    assert robot.nv == 2
    q = robot.integrate(robot.random(rng), [0.05, -0.03])
    agree(robot.closure_error(q), 0.0, within=1e-12, size=1.0)
    v, tau = rng.normal(size=2), rng.normal(size=len(robot.actuators))
    a = robot.forward_dynamics(q, v, tau)
    found = robot.inverse_dynamics(q, v, a[: len(robot.driven)])
    agree(robot.evaluate("actuation", q, found), robot.evaluate("actuation", q, tau), within=1e-11)
    tip = robot.pose(q, "odd/second")[:3, 3]
    h = 1e-6
    moved = robot.pose(robot.integrate(q, h * v), "odd/second")[:3, 3]
    agree(moved - tip, np.zeros(3), within=1e-12, size=1.0)


def test_an_equality_of_mjcf_within_one_link_is_left_out_aloud():
    pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="a"><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <body name="b" pos="0 0 1"/></body></worldbody><equality><weld body1="a" body2="b"/></equality></mujoco>"""
    with pytest.warns(AppellWarning, match=r"ignored: 1 × <equality><weld>"):
        assert not read_mjcf(text).closures


# Long motions


@pytest.mark.parametrize("entry", [1e4, 1e300, math.inf, -math.inf, math.nan])
def test_a_motion_too_long_to_follow_is_refused(entry, closed):
    robot = closed("four-bar")
    with pytest.raises(InputError, match=r"integrate: dv of robot 'four-bar' has an entry of .*several calls"):
        robot.integrate(robot.neutral(), [entry])


def test_a_long_motion_arrives_closed(closed, agree):
    robot = closed("four-bar")
    q = robot.integrate(robot.neutral(), [90.0])
    agree(robot.closure_error(q), 0.0, within=1e-12, size=1.0)
    agree(q[0], robot.neutral()[0] + 90.0, within=1e-12)


def test_a_motion_to_where_loops_do_not_close_is_refused(closed):
    robot = closed("five-bar")
    with pytest.raises(InputError, match=r"integrate: .* loops stay open by .*use a shorter motion"):
        robot.integrate(robot.neutral(), [10.0, 0.0])


def test_rounding_is_that_of_the_largest_force(closed, rng):
    # at such speeds forces of inertia are millions of times the actuators', and rounding is relative to them
    robot = closed("five-bar")
    q = robot.random(rng, 400)
    q = q[np.argsort(robot.condition(q))[-5:]]
    v, tau = 1e4 * rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    a = robot.forward_dynamics(q, v, tau)
    forces = np.abs(robot.mass_matrix(q)) @ np.abs(a)[..., None]
    error = np.abs(robot.inverse_dynamics(q, v, a) - tau).max(axis=-1)
    assert (forces.max(axis=(1, 2)) > 1e6).all()
    assert (error < 1e-14 * forces.max(axis=(1, 2))).all()

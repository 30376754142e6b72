"""Closing loops: from afar, by other starts, side by side, and not at all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from appell.errors import ModelError
from appell.loops.assembly import Assembler, _logarithm
from appell.loops.closed import close
from appell.read import read_toml

ARM = """
name = "arm"
[[links]]
name = "ground"
[[links]]
name = "a"
mass = 1.0
[[links]]
name = "b"
mass = 1.0
[[links]]
name = "c"
mass = 1.0
[[joints]]
name = "j1"
kind = "continuous"
parent = "ground"
child = "a"
[[joints]]
name = "j2"
kind = "continuous"
parent = "a"
child = "b"
origin = { xyz = [1.0, 0.0, 0.0] }
[[joints]]
name = "j3"
kind = "continuous"
parent = "b"
child = "c"
origin = { xyz = [1.0, 0.0, 0.0] }
"""
FRAME = """
[[closures]]
kind = "frame"
name = "hand"
first = { link = "ground", xyz = [X, 1.0, 0.0], rpy = [0.0, 0.0, 3.0] }
second = "c"
"""


def test_a_whole_frame_is_reached_from_half_a_turn_away(rng):
    model = read_toml(ARM + FRAME.replace("X", "0.8"))
    q = Assembler(model).assemble(np.array([0.2, 0.3, -0.55]), rng)
    # q₁ + q₂ + q₃ is the hand's angle
    assert np.cos(q.sum()) == pytest.approx(np.cos(3.0), abs=1e-12)
    assert np.sin(q.sum()) == pytest.approx(np.sin(3.0), abs=1e-12)


def test_loops_that_cannot_be_closed_are_named_with_how_far_they_stay_open(rng):
    assembler = Assembler(read_toml(ARM + FRAME.replace("X", "2.5")))
    with pytest.raises(
        ModelError, match=r"robot 'arm' of <text>: .* 1 stay open .*\('hand' by 0\.\d+ m, .*guess nearer"
    ):
        assembler.assemble(np.zeros(3), rng)


def test_an_open_loop_of_a_robot_of_millimetres_is_named(rng):
    text = ARM + FRAME.replace("X", "2.5").replace('"frame"', '"point"')
    with pytest.raises(ModelError, match=r"1 stay open .*\('hand' by 0\.000\d+ m\)"):
        Assembler(read_toml(text.replace("1.0, 0.0", "1e-3, 0.0").replace("2.5", "2.5e-3"))).assemble(np.zeros(3), rng)


def test_an_axis_does_not_close_the_wrong_way_round(rng):
    # the only joint left turns z over: at π the axes are parallel, and not closed
    text = ARM.replace('child = "c"', 'child = "c"\naxis = [1.0, 0.0, 0.0]')
    model = read_toml(text + FRAME.replace("X", "0.8").replace('"frame"', '"revolute"').replace("3.0]", "0.3]"))
    q = Assembler(model).assemble(np.array([0.2, 0.3, 3.0]), rng)
    assert np.cos(q[2]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("angle", [1e-10, 1e-3, 1.0, 2.5, 2.8, np.pi - 1e-3, np.pi - 1e-9])
def test_the_angle_vector_of_a_rotation_is_scipys(angle, rng):
    axes = rng.normal(size=(5, 3))
    vectors = angle * axes / np.linalg.norm(axes, axis=-1, keepdims=True)
    rotations = Rotation.from_rotvec(vectors).as_matrix()
    np.testing.assert_allclose(_logarithm(rotations), vectors, atol=1e-12, rtol=1e-7)


def test_many_guesses_are_closed_side_by_side(closed, rng):
    robot = closed("stewart")
    guesses = robot.neutral() + 0.1 * rng.normal(size=(4, 5, robot.nq))
    q = robot.assemble(guesses)
    assert q.shape == guesses.shape
    assert robot.closure_error(q).max() < 1e-11


def test_a_guess_chooses_the_branch(closed):
    robot = closed("five-bar")
    left, right = robot.neutral(), robot.neutral() * [1.0, -1.0, 1.0, -1.0]
    assert np.array_equal(np.sign(robot.assemble(left)[[1, 3]]), np.sign(left[[1, 3]]))
    assert np.array_equal(np.sign(robot.assemble(right)[[1, 3]]), np.sign(right[[1, 3]]))


def test_random_configurations_are_closed(robot, rng):
    assert robot.closure_error(robot.random(rng, (2, 3))).shape == (2, 3)
    assert robot.closure_error(robot.random(rng, 20)).max() < 1e-10


def test_random_configurations_are_about_half_a_radian_from_home_in_free_motions(closed):
    """The mobile arm's wheels and joints are free: closing its rolling contacts does not move them."""
    robot = closed("mobile-arm")
    steps = robot.random(np.random.default_rng(1), 400) - robot.neutral()
    np.testing.assert_allclose(steps[:, 3:].std(axis=0), 0.5, rtol=0.1)


def test_close_takes_a_guess(closed):
    robot = closed("five-bar")
    other = close(robot.model, guess=robot.neutral() * [1.0, -1.0, 1.0, -1.0])
    assert other.neutral()[1] > 0.0 > robot.neutral()[1]

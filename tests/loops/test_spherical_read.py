"""Spherical robots out of toml: what is read, and how what is wrong is told."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning, InputError, ModelError, ReadError
from appell.loops.spherical.agile_wrist import AgileWrist
from appell.loops.spherical.read import read_spherical
from appell.loops.spherical.sst import StarTriangle
from appell.read.catalogue import file_text

WRIST = """
[spherical]
kind = "agile-wrist"
alpha1 = "80 deg"
alpha2 = "70 deg"
"""
STAR = """
[spherical]
kind = "sst"
"""


def test_a_file_of_ones_own_is_a_robot(tmp_path):
    file = tmp_path / "my.toml"
    file.write_text(file_text("agile-wrist").replace('"agile-wrist"', '"mine"', 1), encoding="utf-8")
    mine, theirs = appell.load(file), appell.load("agile-wrist")
    assert mine.name == "mine"
    q, v, a = np.full((3, 3), 0.1)
    np.testing.assert_array_equal(mine.inverse_dynamics(q, v, a), theirs.inverse_dynamics(q, v, a))


def test_what_the_papers_choose_is_the_default():
    plain = read_spherical(WRIST)
    filed = read_spherical(file_text("agile-wrist"))
    for ours, theirs in zip(plain.legs, filed.legs, strict=True):
        np.testing.assert_allclose(ours.base, theirs.base, atol=1e-15)
        np.testing.assert_allclose(ours.platform, theirs.platform, atol=1e-15)
    star = read_spherical(STAR, gravity=(0, 0, 0))
    np.testing.assert_allclose(star.home, read_spherical(file_text("sst")).home, atol=1e-15)


def test_a_leg_has_its_motor_at_its_first_joint_unless_said(tmp_path):
    text = appell.load("agile-wrist").save(tmp_path / "wrist.toml").read_text(encoding="utf-8")
    assert text.count("motors = [1]\n") == 3
    assert [leg.motors for leg in read_spherical(text.replace("motors = [1]\n", "")).legs] == [(0,)] * 3


def test_an_angle_and_a_body_may_be_given_leg_by_leg():
    text = (
        WRIST.replace('"80 deg"', '["80 deg", 1.3, 1.2]') + "link1 = [{ mass = 1.0 }, { mass = 2.0 }, { mass = 3.0 }]\n"
    )
    robot = read_spherical(text)
    assert [leg.alpha1 for leg in robot.legs] == [math.radians(80.0), 1.3, 1.2]
    assert [leg.inertias[0].mass for leg in robot.legs] == [1.0, 2.0, 3.0]


def test_an_inertia_is_about_the_common_centre():
    body = "platform = { mass = 2.0, centre = [0.0, 0.0, 0.5], inertia = [1.0, 1.0, 0.2] }\n"
    expected = (2.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.2)
    np.testing.assert_allclose(read_spherical(WRIST + body).platform.parameters, expected, atol=1e-15)


def test_gravity_is_the_files_unless_given():
    assert cast(Any, appell.load("sst").kind).mechanism.gravity == (0.0, 0.0, 0.0)
    assert cast(Any, appell.load("sst", gravity=(0, 0, -1)).kind).mechanism.gravity == (0.0, 0.0, -1.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[spherical]\nkind = 'delta'\n", r"spherical.kind: unknown kind 'delta'; known: 'agile-wrist', 'sst'"),
        ("\n[spherical]\nkind = 'agile-wrist'\nalpha1 = 1.0\n", "spherical: missing key 'alpha2'; add it"),
        (WRIST + "radius = 1.0\n", "spherical: unknown key 'radius'"),
        (WRIST + "eta = [0.0, 1.0]\n", "spherical.eta: expected one angle or three, one per leg, got 2"),
        (WRIST + "branches = [1, 2, 1]\n", r"spherical.branches: expected three of 1 or -1, got \[1, 2, 1\]"),
        (WRIST + "link1 = { radius = 0.1 }\n", "spherical.link1: missing key 'density'; add it"),
        (WRIST + "link2 = [{}, {}]\n", "spherical.link2: expected one body or three, one per leg, got 2"),
        (STAR + "corners = [[1, 0, 0]]\n", "spherical.corners: expected three corners, got 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, words):
    with pytest.raises(ReadError, match=words):
        read_spherical(text, source="robot.toml")


def test_an_arc_that_makes_two_axes_one_is_refused():
    with pytest.raises(
        ModelError, match=r"leg 2: alpha1 of 3\.14159 rad makes its two axes coincide; use an arc between"
    ):
        AgileWrist(alpha1=(1.0, math.pi, 1.0), alpha2=(1.0, 1.0, 1.0)).mechanism()


def test_the_stars_angles_count_up_to_whole_turns():
    back, on = (StarTriangle(star=(x, x, x)).mechanism() for x in (-2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0))
    for one, other in zip(back.legs, on.legs, strict=True):
        np.testing.assert_allclose(one.platform, other.platform, atol=1e-15)


def test_a_star_that_does_not_close_is_refused():
    with pytest.raises(ModelError, match="the star's angles 2, 2, 2 rad must add up to a full turn"):
        StarTriangle(star=(2.0, 2.0, 2.0)).mechanism()


@pytest.mark.parametrize("second", [(2.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (1.0, 1e-7, 0.0)])
def test_corners_that_fall_together_are_refused(second):
    with pytest.raises(ModelError, match="corners 1 and 2 of its base coincide or are opposite"):
        StarTriangle(corners=((1.0, 0.0, 0.0), second, (0.0, 0.0, 1.0))).mechanism()


def test_a_spherical_robot_has_no_free_base():
    with pytest.raises(InputError, match="'sst' is a spherical parallel robot, which does not support floating=True"):
        appell.load("sst", floating=True)


def test_motor_torques_at_an_actuation_singularity_are_warned_of(tmp_path):
    text = file_text("agile-wrist").replace('"240 deg"', '"0 deg"')  # the third leg is where the first one is
    path = tmp_path / "wrist.toml"
    path.write_text(text, encoding="utf-8")
    robot = appell.load(path)
    q = np.zeros((2, 3))
    with pytest.warns(AppellWarning, match=r"2 samples are, the worst of them .*actuation singularity.*'theta1'"):
        robot.inverse_dynamics(q, np.zeros((2, 3)), np.zeros((2, 3)))
    robot.mass_matrix(q)

"""Resting contact: sticking, sliding, stopping and leaving, against mechanics by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import appell

G = 9.81
RIGHT = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_sliding_body_stops_where_friction_stops_it(ball):
    run = appell.simulate(ball, ball.neutral(), 2.0 * np.array(RIGHT), 2.0, walls=[appell.walls.Plane()], friction=0.3)
    stops = run.t[np.flatnonzero(run.v[:, 0] == 0.0)[0]]
    assert stops == pytest.approx(2.0 / (0.3 * G), abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(4.0 / (2.0 * 0.3 * G), abs=1e-9)
    assert np.abs(run.q[:, 2]).max() < 1e-12


@pytest.mark.parametrize(("mu", "moves"), [(0.1, True), (0.3, True), (0.32, False)])
def test_body_on_a_slope_slides_unless_friction_exceeds_its_tangent(ball, mu, moves):
    slope = 0.3  # tan 0.3 = 0.309
    wall = appell.walls.Plane(normal=(math.sin(slope), 0.0, math.cos(slope)))
    run = appell.simulate(ball, ball.neutral(), np.zeros(6), 1.0, walls=[wall], friction=mu, restitution=0.0)
    expected = 0.5 * G * (math.sin(slope) - mu * math.cos(slope)) if moves else 0.0
    assert np.linalg.norm(run.q[-1, :3]) == pytest.approx(expected, abs=1e-10)


def test_body_leaves_a_sphere_at_two_thirds_of_its_height(ball):
    start = [math.sin(0.1), 0.0, math.cos(0.1), 0.0, 0.0, 0.0, 1.0]
    wall = appell.walls.Sphere(1.0, inside=False)
    run = appell.simulate(ball, start, np.zeros(6), 1.2, walls=[wall], restitution=0.0)
    at = int(np.argmin(np.abs(run.t - run.rests[0].end)))
    assert run.q[at, 2] == pytest.approx(2.0 / 3.0 * math.cos(0.1), abs=1e-8)
    assert np.linalg.norm(run.q[-1, :3]) > 1.01


def test_body_in_a_bowl_swings_as_a_pendulum(ball):
    """A point mass on a frictionless sphere is the pendulum: its quarter period is an elliptic integral."""
    from scipy.special import ellipk  # noqa: PLC0415

    start = [math.sin(1.0), 0.0, 1.0 - math.cos(1.0), 0.0, 0.0, 0.0, 1.0]
    bottom = appell.simulation.Event(lambda t, q, v: q[0], "bottom", terminal=True)
    wall = appell.walls.Sphere(1.0, centre=(0.0, 0.0, 1.0))
    run = appell.simulate(ball, start, np.zeros(6), 2.0, walls=[wall], restitution=0.0, events=[bottom])
    assert run.t[-1] == pytest.approx(ellipk(math.sin(0.5) ** 2) / math.sqrt(G), abs=1e-8)
    assert np.ptp(run.energy) < 1e-8


def test_pressed_down_by_a_force_and_lifted_by_one(ball):
    """A force that grows with time lifts the body when it exceeds the weight."""
    run = appell.simulate(
        ball, ball.neutral(), np.zeros(6), 1.0, control=lambda t, q, v: [0.0, 0.0, 40.0 * t, 0.0, 0.0, 0.0],
        walls=[appell.walls.Plane()], restitution=0.0,
    )  # fmt: skip
    assert run.rests[0].end == pytest.approx(2.0 * G / 40.0, abs=1e-8)
    late = 1.0 - 2.0 * G / 40.0
    assert run.q[-1, 2] == pytest.approx(40.0 / 2.0 * late**3 / 6.0, rel=1e-6)


def test_brick_on_four_corners_stays_and_every_corner_rests(brick):
    corners = [appell.simulation.Point("body", (x, y, 0.0), name=f"c{x}{y}") for x in (-0.2, 0.2) for y in (-0.3, 0.3)]
    run = appell.simulate(
        brick,
        brick.neutral(),
        np.zeros(6),
        0.5,
        walls=[appell.walls.Plane()],
        points=corners,
        friction=0.5,
        restitution=0.0,
    )
    assert {rest.point for rest in run.rests} == {corner.name for corner in corners}
    np.testing.assert_allclose(run.q[-1], brick.neutral(), atol=1e-12)


def test_rod_that_falls_over_its_foot_sticks_then_slips(brick):
    """With friction the foot holds at first; energy is kept while it sticks and lost once it slides."""
    foot = appell.simulation.Point("body", (0.0, 0.0, -0.5), name="foot")
    half = 0.5 * 0.3
    q = np.array([0.5 * math.sin(0.3), 0.0, 0.5 * math.cos(0.3), 0.0, math.sin(half), 0.0, math.cos(half)])
    run = appell.simulate(
        brick, q, np.zeros(6), 0.45, walls=[appell.walls.Plane()], points=[foot], friction=0.35, restitution=0.0
    )
    assert not run.ended_early
    foot_speed = np.array([abs(brick.velocity(x, w, "body") @ np.eye(6)[0]) for x, w in zip(run.q, run.v, strict=True)])
    assert foot_speed[1] > 0.0
    assert np.diff(run.energy).max() < 1e-9


def test_joint_limits_are_walls(robot_of):
    pendulum = robot_of(
        """
        name = "pendulum"
        [[links]]
        name = "world"
        [[links]]
        name = "rod"
        mass = 1.0
        centre = [1.0, 0.0, 0.0]
        [[joints]]
        name = "hinge"
        kind = "revolute"
        parent = "world"
        child = "rod"
        axis = [0.0, 1.0, 0.0]
        limits = { lower = -1.0, upper = 1.0 }
        """
    )
    run = appell.simulate(pendulum, [0.0], [0.0], 6.0, limits=0.5)
    assert run.impacts[0].points == ("hinge",)
    assert run.impacts[0].walls == ("upper limit",)
    assert run.q.max() <= 1.0 + 1e-11
    assert run.impacts[1].approach[0] == pytest.approx(0.5 * run.impacts[0].approach[0], rel=1e-9)
    assert run.rests
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-12)

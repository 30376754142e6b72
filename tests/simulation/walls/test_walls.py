"""Walls: gap, slope and curvature belong together, ends end, and points are found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import appell
from appell.simulation.contact.points import default_points
from appell.trace.derive import gradient
from appell.trace.tape import Port, trace

WALLS = [
    appell.walls.Plane((0.1, 0.2, 0.3), (1.0, -2.0, 0.5)),
    appell.walls.Line((0.0, 1.0), (2.0, 0.5)),
    appell.walls.Circle(2.5),
    appell.walls.Circle(1.5, (0.3, -0.2, 0.1), inside=False, axis=(1.0, 1.0, 0.0)),
    appell.walls.Sphere(1.2, (0.1, 0.0, -0.3)),
    appell.walls.Ellipse(2.0, 0.7, (0.2, 0.1), angle=0.4),
    appell.walls.Arc(1.0, start=0.5, end=2.0, inside=False),
    appell.walls.SignedDistance(lambda p: p[..., 2] - 0.2 * np.sin(p[..., 0]) * np.cos(p[..., 1])),
    appell.walls.Box((0.1, -0.2, 0.3), (0.8, 1.0, 0.6), [[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]),
    appell.walls.Heightfield(0.3 * np.sin(np.arange(81.0).reshape(9, 9)), (1.0, 1.25), (-4.0, -5.0, 0.2)),
]
BALLS = [wall.offset(0.1) for wall in WALLS]


@pytest.mark.parametrize("wall", [*WALLS, *BALLS], ids=lambda wall: f"{type(wall).__name__} {wall.label}")
def test_slope_and_curvature_are_the_gaps_derivatives(wall, rng):
    p, h = rng.normal(size=(5, 3)), 1e-5
    for k in range(3):
        e = h * np.eye(3)[k]
        np.testing.assert_allclose((wall.gap(p + e) - wall.gap(p - e)) / (2 * h), wall.gradient(p)[..., k], atol=2e-9)
        rate = (wall.gradient(p + e) - wall.gradient(p - e)) / (2 * h)
        np.testing.assert_allclose(rate, wall.hessian(p)[..., k], atol=1e-6)


@pytest.mark.parametrize("wall", WALLS, ids=lambda wall: type(wall).__name__)
def test_slope_is_at_most_one_so_a_gap_is_never_more_than_the_way_to_the_wall(wall, rng):
    p = rng.normal(size=(200, 3))
    near = p[np.abs(wall.gap(p)) < 1e-3]
    assert (np.linalg.norm(wall.gradient(near), axis=-1) <= 1.1).all()


@pytest.mark.parametrize("wall", WALLS, ids=lambda wall: type(wall).__name__)
def test_an_endless_wall_covers_every_point(wall, rng):
    covered = wall.covers(rng.normal(size=(4, 50, 3)))
    assert covered.shape == (4, 50)
    assert covered.all() == wall.is_endless


@pytest.mark.parametrize(("wall", "moved"), list(zip(WALLS, BALLS, strict=True)), ids=lambda wall: wall.label)
def test_the_wall_for_balls_is_a_radius_away_from_the_wall(wall, moved, rng):
    """The nearest point of the wall is at a distance of the radius along the normal, and no other one is nearer."""
    p = 0.3 * rng.normal(size=(400, 3)) + [0.0, 0.0, 0.3]
    for _ in range(60):  # to the offset wall, by Newton's method along the slope
        slope = moved.gradient(p)
        p = p - (moved.gap(p) / np.sum(slope**2, axis=-1))[:, None] * slope
    p = p[np.abs(moved.gap(p)) < 1e-12][:20]
    assert len(p) == 20
    n = moved.gradient(p) / np.linalg.norm(moved.gradient(p), axis=-1, keepdims=True)
    np.testing.assert_allclose(wall.gap(p - 0.1 * n), 0.0, atol=1e-9)
    around = rng.normal(size=(300, 1, 3))
    around *= 0.0999 / np.linalg.norm(around, axis=-1, keepdims=True)
    assert (wall.gap(p + around) > 0.0).all()


def test_a_box_and_terrain_are_closed_and_continue():
    box = appell.walls.Box((0.0, 0.0, 0.0), (2.0, 2.0, 2.0))
    at = np.array([[4.0, 5.0, 0.0], [0.2, 0.5, -0.1], [2.0, 3.0, 3.0]])
    np.testing.assert_allclose(box.gap(at), [5.0, -0.5, 3.0])
    hills = appell.walls.Heightfield(np.arange(16.0).reshape(4, 4) / 4.0, 1.0)
    x = np.array([[-2.0, 0.0, 0.0], [0.0, 9.0, 0.75], [9.0, 9.0, 3.75]])
    np.testing.assert_allclose(hills.gap(x), 0.0, atol=1e-12)
    np.testing.assert_allclose(hills.gradient(x)[:, 0], [0.0, -hills.gradient(x)[1, 2], 0.0], atol=1e-12)


def test_the_gap_of_a_box_traces(rng):
    """On traced scalars it is a program of the same distance, and its adjoint one of the gradient."""
    (box,) = (wall for wall in WALLS if isinstance(wall, appell.walls.Box))

    def program(p: Any) -> Any:
        gap = box.gap(np.array(p, dtype=object))
        return gap, *gradient([gap], [1.0], list(p))

    tape = trace("gap", program, [Port("p", (3,))], [Port("gap and gradient", (4,))])
    for p in [*rng.normal(size=(50, 3)), *(0.2 * rng.normal(size=(50, 3)) + [0.1, -0.2, 0.3])]:
        gap, *slope = tape.run(p.tolist())
        assert gap == pytest.approx(float(box.gap(p)), abs=1e-15)
        np.testing.assert_allclose(slope, box.gradient(p), atol=1e-15)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: appell.walls.Box((0, 0, 0), (1, -1, 1)), "box: size must be a positive length"),
        (lambda: appell.walls.Box((0, 0, 0), (1, 1)), "box: size must be three lengths"),
        (lambda: appell.walls.Box((0, 0, 0), (1, 1, 1), np.ones((3, 3))), "box: rotation must be a rotation matrix"),
        (lambda: appell.walls.Box((0, 0, 0), (1, 1, 1), -np.eye(3)), "box: rotation must be a rotation matrix"),
        (lambda: appell.walls.Heightfield(np.zeros(5), 1.0), r"heights must be .*, got shape \(5,\)"),
        (lambda: appell.walls.Heightfield(np.zeros((3, 9)), 1.0), r"heights must be .*, got shape \(3, 9\)"),
        (lambda: appell.walls.Heightfield([[0.0] * 4, [0.0] * 5], 1.0), "heightfield: heights must be"),
        (lambda: appell.walls.Heightfield(np.full((4, 4), np.nan), 1.0), "heightfield: heights must be"),
        (lambda: appell.walls.Heightfield(np.zeros((4, 4)), -1.0), "heightfield: cell must be a positive length"),
        (lambda: appell.walls.Heightfield(np.zeros((4, 4)), (1.0, 1.0, 1.0)), "heightfield: cell must be one length"),
    ],
)
def test_a_box_or_terrain_that_is_none_is_one_error(made, message):
    with pytest.raises(appell.InputError, match=message):
        made()


def test_outlines_lie_on_their_walls():
    for wall in WALLS:
        line = wall.outline()
        if line is not None:
            np.testing.assert_allclose(wall.gap(line), 0.0, atol=1e-12)


def test_a_plane_is_drawn_as_a_square_of_four_metres_about_its_point():
    wall = appell.walls.Plane((0.1, 0.2, 0.3), (1.0, -2.0, 0.5))
    line = wall.outline()
    assert line is not None
    np.testing.assert_array_equal(line[0], line[-1])
    np.testing.assert_allclose(line[:4].mean(axis=0), wall.point, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(np.diff(line, axis=0), axis=1), 4.0)
    np.testing.assert_allclose(np.linalg.norm(line[2:4] - line[:2], axis=1), 4.0 * np.sqrt(2.0))


def test_segment_is_passed_beside_its_ends(ball):
    wall = appell.walls.Segment((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), axis=(0.0, -1.0, 0.0))
    for x, hits in ((0.5, 1), (1.5, 0)):
        q = ball.neutral()
        q[0], q[2] = x, 1.0
        run = appell.simulate(ball, q, np.zeros(6), 0.6, walls=[wall], restitution=0.5)
        assert len(run.impacts) == hits


def test_polyline_holds_a_ball_in_its_corner(ball):
    box = appell.walls.Polyline([(-1, 0, 0), (1, 0, 0), (1, 0, 2), (-1, 0, 2)], closed=True, axis=(0, -1, 0))
    q = ball.neutral()
    q[2] = 1.0
    run = appell.simulate(ball, q, [3.0, 0.0, 1.0, 0.0, 0.0, 0.0], 3.0, walls=[box], restitution=0.9)
    assert {wall for impact in run.impacts for wall in impact.walls} >= {"polyline[0]", "polyline[1]"}
    assert np.abs(run.q[:, 0]).max() <= 1.0 + 1e-11
    assert run.q[:, 2].min() >= -1e-11


def test_arc_covers_its_angles_alone():
    arc = appell.walls.Arc(1.0, start=-0.5, end=0.5)
    at = [(math.cos(x), math.sin(x), 0.3) for x in (-0.6, -0.49, 0.0, 0.49, 0.6, math.pi)]
    assert arc.covers(np.array(at)).tolist() == [False, True, True, True, False, False]


def test_walls_meet_the_points_that_are_named(ball):
    high, low = appell.walls.Plane((0, 0, -0.5), points=()), appell.walls.Plane((0, 0, -1.0), points=("body",))
    run = appell.simulate(ball, ball.neutral(), np.zeros(6), 1.0, walls=[high, low], restitution=0.0)
    assert run.q[-1, 2] == pytest.approx(-1.0, abs=1e-12)
    with pytest.raises(appell.InputError, match="unknown points 'nose'; known: "):
        appell.simulate(
            ball, ball.neutral(), np.zeros(6), 1.0, walls=[appell.walls.Plane((0, 0, -1), points=("nose",))]
        )


def test_default_points_are_joint_origins_and_ends_each_once(dummy):
    names = [point.name for point in default_points(dummy.model)]
    assert sorted(names) == sorted(["torso", *(f"{x}{k}" for x in ("upper", "lower", "tip") for k in range(4))])


CROSS = """
[[links]]
name = "cross"
[[joints]]
name = "roll"
kind = "revolute"
parent = "body"
child = "cross"
axis = [1.0, 0.0, 0.0]
origin = { xyz = [0.0, 0.0, 0.3] }
[[links]]
name = "fork"
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[[joints]]
name = "pitch"
kind = "revolute"
parent = "cross"
child = "fork"
axis = [0.0, 1.0, 0.0]
"""
"""A universal joint whose middle link has no mass."""


def test_the_origin_of_a_link_without_mass_is_no_point(robot_of, free_text):
    robot = robot_of(free_text.format(name="crossed", inertia="[0.1, 0.1, 0.1]") + CROSS)
    assert [point.name for point in default_points(robot.model)] == ["body", "fork"]


def test_a_function_that_is_no_distance_is_named(ball):
    wall = appell.walls.SignedDistance(lambda p: np.full(p.shape[:-1], np.nan), name="fog")
    with pytest.raises(appell.InputError, match="fog: function returned"):
        appell.simulate(ball, ball.neutral(), np.zeros(6), 0.1, walls=[wall])

"""Balls on walls: contact at their surface, friction there, rolling, and the contact points of collision shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import appell

G, R, MU = 9.81, 0.1, 0.3
FLOOR = appell.walls.Plane()
BALL = """
<robot name="ball">
  <link name="ball">
    <inertial><mass value="2"/><inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
</robot>"""


@pytest.fixture(scope="module")
def ball(tmp_path_factory: Any) -> appell.Robot:
    """Return a free solid sphere of 2 kg and a radius of 0.1 m."""
    file = tmp_path_factory.mktemp("ball") / "ball.urdf"
    file.write_text(BALL.format(i=0.4 * 2.0 * R**2))
    return appell.load(file, floating=True)


def start(position: Any, velocity: Any = (0.0, 0.0, 0.0), spin: Any = (0.0, 0.0, 0.0)) -> tuple[Any, Any]:
    return np.array([*position, 0.0, 0.0, 0.0, 1.0]), np.array([*velocity, *spin])


def run_of(ball: appell.Robot, state: Any, duration: float, walls: Any, **options: Any) -> appell.Run:
    q, v = state
    return appell.simulate(ball, q, v, duration, walls=walls, points=appell.contact_points(ball), **options)


def world_velocity(ball: appell.Robot, run: appell.Run, k: int = -1) -> Any:
    return ball.velocity(run.q[k], run.v[k], "ball")


def test_a_ball_strikes_the_floor_and_rests_on_it_with_its_radius(ball):
    run = run_of(ball, start((0.0, 0.0, 0.6)), 1.0, [FLOOR], restitution=0.0)
    assert run.impacts[0].time == pytest.approx(math.sqrt(2.0 * 0.5 / G), abs=1e-12)
    np.testing.assert_allclose(run.impacts[0].positions[0], [0.0, 0.0, 0.0], atol=1e-12)
    assert run.q[-1, 2] == pytest.approx(R, abs=1e-12)


def test_a_ball_bounces_between_a_round_wall_and_a_sphere_by_their_distance(ball):
    """In a shell between spheres of radius 1 and 0.3, without gravity, the centre moves between 0.9 and 0.4."""
    weightless = ball.with_gravity((0.0, 0.0, 0.0))
    walls = [appell.walls.Sphere(1.0), appell.walls.Sphere(0.3, inside=False)]
    run = run_of(weightless, start((0.5, 0.0, 0.0), (1.0, 0.0, 0.0)), 2.0, walls)
    times = [impact.time for impact in run.impacts]
    np.testing.assert_allclose(times, [0.4, 0.9, 1.4, 1.9], atol=1e-9)
    np.testing.assert_allclose([abs(x.positions[0][0]) for x in run.impacts], [1.0, 0.3, 1.0, 0.3], atol=1e-9)


@pytest.mark.parametrize("spin", [0.0, 4.0, -12.0])
def test_a_ball_slides_until_it_rolls(ball, spin):
    """Angular momentum about the floor is kept: v = (5/7)·v₀ + (2/7)·r·ω₀, from the time |v₀ − rω₀|/(7/2·μg) on."""
    run = run_of(ball, start((0.0, 0.0, R), (1.0, 0.0, 0.0), (0.0, spin, 0.0)), 0.8, [FLOOR], friction=MU)
    rolling = 5.0 / 7.0 + 2.0 / 7.0 * R * spin
    velocity = world_velocity(ball, run)
    np.testing.assert_allclose(velocity, [rolling, 0.0, 0.0, 0.0, rolling / R, 0.0], atol=1e-9)
    slid = abs(1.0 - R * spin) / (3.5 * MU * G)
    traveled = slid * 0.5 * (1.0 + rolling) + (0.8 - slid) * rolling
    assert run.q[-1, 0] == pytest.approx(traveled, abs=1e-9)


def test_a_ball_rolls_down_an_incline_at_five_sevenths(ball):
    slope = 0.4
    n = np.array([-math.sin(slope), 0.0, math.cos(slope)])
    wall = appell.walls.Plane(normal=n.tolist())
    run = run_of(ball, start(R * n), 1.0, [wall], friction=MU)
    down = -np.array([math.cos(slope), 0.0, math.sin(slope)])
    np.testing.assert_allclose(world_velocity(ball, run)[:3], 5.0 / 7.0 * G * math.sin(slope) * down, atol=1e-9)


def test_a_ball_that_cannot_hold_rolling_slides_down_an_incline(ball):
    """Beyond tan α = (7/2)·μ it slides: a = g·(sin α − μ·cos α), ω̇ = (5/2)·μ·g·cos α/r."""
    slope = math.atan(3.5 * MU) + 0.1
    n = np.array([-math.sin(slope), 0.0, math.cos(slope)])
    run = run_of(ball, start(R * n), 0.5, [appell.walls.Plane(normal=n.tolist())], friction=MU)
    velocity = world_velocity(ball, run)
    assert np.linalg.norm(velocity[:3]) == pytest.approx(0.5 * G * (math.sin(slope) - MU * math.cos(slope)), abs=1e-9)
    assert np.linalg.norm(velocity[3:]) == pytest.approx(0.5 * 2.5 * MU * G * math.cos(slope) / R, abs=1e-8)


BOWLS = {
    "circle": (appell.walls.Circle(0.5, axis=(0.0, 1.0, 0.0)), 0.4),
    "ellipse": (appell.walls.Ellipse(0.5, 0.5, axis=(0.0, 1.0, 0.0)), 0.4),
    "hill": (appell.walls.Circle(0.5, axis=(0.0, 1.0, 0.0), inside=False), 0.6),
    "distance": (
        appell.walls.SignedDistance(
            lambda p: 0.25 - p[..., 0] ** 2 - p[..., 2] ** 2,
            slope=lambda p: -2.0 * p * [1.0, 0.0, 1.0],
            curvature=lambda p: np.broadcast_to(np.diag([-2.0, 0.0, -2.0]), (*p.shape, 3)),
        ),
        0.4,
    ),
}


@pytest.mark.parametrize("name", BOWLS)
def test_a_ball_rolls_in_a_round_bowl_and_off_a_hill_with_its_energy(ball, name):
    """The centre moves on a circle of radius ρ: (7/10)·ρ²θ̇² = g·Δh while it rolls, without any slip."""
    wall, rho = BOWLS[name]
    theta = 0.5
    side = -1.0 if name != "hill" else 1.0
    at = rho * np.array([math.sin(theta), 0.0, side * math.cos(theta)])
    run = run_of(ball, start(at), 0.3, [wall], friction=3.0)
    assert {rest.wall for rest in run.rests} == {wall.label}
    np.testing.assert_allclose(np.hypot(run.q[:, 0], run.q[:, 2]), rho, atol=1e-9)
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-9)
    for k in range(0, len(run.t), 5):
        velocity = world_velocity(ball, run, k)
        speed = np.linalg.norm(velocity[:3])
        assert 0.7 * speed**2 == pytest.approx(G * (at[2] - run.q[k, 2]), abs=1e-8)
        assert np.linalg.norm(velocity[3:]) * R == pytest.approx(speed, abs=1e-8)


def test_a_ball_glides_around_the_edge_of_a_box_until_gravity_no_longer_presses(ball):
    """Without friction it leaves where v²/r = g·cos θ, and v² = v₀² + 2gr(1 − cos θ): cos θ = (2 + v₀²/(gr))/3."""
    table = appell.walls.Box((-1.0, 0.0, -0.5), (2.0, 2.0, 1.0))
    v0 = 0.4
    run = run_of(ball, start((-0.1, 0.0, R), (v0, 0.0, 0.0)), 0.45, [table])
    cosine = (2.0 + v0**2 / (G * R)) / 3.0
    (rest,) = run.rests
    q, v = run.at(rest.end)[:2]
    assert q[2] / R == pytest.approx(cosine, abs=1e-6)
    assert math.hypot(q[0], q[2]) == pytest.approx(R, abs=1e-9)
    assert 0.5 * (v[:3] @ v[:3]) == pytest.approx(0.5 * v0**2 + G * R * (1.0 - cosine), abs=1e-6)


def test_a_ball_too_large_for_a_round_wall_is_an_error(ball):
    with pytest.raises(appell.InputError, match=r"circle: a ball of radius 0\.1 does not fit inside the radius 0\.05"):
        run_of(ball, start((0.0, 0.0, 0.0)), 0.1, [appell.walls.Circle(0.05)])


@pytest.mark.parametrize(
    "wall",
    [
        FLOOR,
        appell.walls.Box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        appell.walls.Heightfield(np.zeros((5, 5)), 1.0, (-2.0, -2.0)),
    ],
    ids=["plane", "box", "heightfield"],
)
def test_a_ball_that_starts_in_a_wall_is_an_error(ball, wall):
    at = (0.0, 0.0, 0.55) if isinstance(wall, appell.walls.Box) else (0.0, 0.0, 0.05)
    with pytest.raises(appell.InputError, match=rf"at t = 0 s 'ball/0' of robot 'ball' is 0\.05 beyond {wall.label}"):
        run_of(ball, start(at), 0.1, [wall])


def test_a_ball_rolls_over_terrain_with_its_energy(ball):
    x = np.arange(0.0, 6.01, 0.25)
    hills = appell.walls.Heightfield(0.1 * np.sin(2.0 * x)[:, None] * np.cos(x), 0.25, (-3.0, -3.0, 0.0), friction=2.0)
    q, v = start((0.0, 0.0, 1.0))
    q[2] -= float(hills.offset(R).gap(q[:3]))
    for _ in range(50):
        q[2] -= float(hills.offset(R).gap(q[:3]))
    run = appell.simulate(ball, q, v, 0.4, walls=[hills], points=appell.contact_points(ball))
    np.testing.assert_allclose(hills.offset(R).gap(run.q[:, :3]), 0.0, atol=1e-9)
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-8)
    assert np.linalg.norm(run.v[-1]) > 0.3


SHAPES = """
<robot name="body">
  <link name="base"><collision><geometry><sphere radius="9"/></geometry></collision></link>
  <link name="rod">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    {shapes}
  </link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint>
</robot>"""
SOLID = '<collision><origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><geometry>{}</geometry></collision>'


def points_of(tmp_path: Any, *solids: str) -> list[appell.simulation.Point]:
    file = tmp_path / "body.urdf"
    file.write_text(SHAPES.format(shapes="".join(map(SOLID.format, solids))))
    return appell.contact_points(appell.load(file))


def test_the_contact_points_of_shapes_are_on_their_surface(tmp_path):
    found = points_of(
        tmp_path,
        '<sphere radius="0.2"/>',
        '<capsule radius="0.1" length="0.6"/>',
        '<box size="0.2 0.4 0.6"/>',
        '<cylinder radius="0.3" length="0.8"/>',
        '<mesh filename="a.stl"/>',
    )
    names = [point.label for point in found]
    assert names == [
        "rod/0",
        *(f"rod/{k}/{i}" for k, count in ((1, 2), (2, 8), (3, 16)) for i in range(count)),
    ]
    at = np.array([point.position for point in found])
    assert [point.radius for point in found[:4]] == [0.2, 0.1, 0.1, 0.0]
    np.testing.assert_allclose(at[0], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(np.abs(at[1:3] - [0.0, 0.0, 1.0]), [[0.3, 0.0, 0.0]] * 2, atol=1e-15)
    np.testing.assert_allclose(np.abs(at[3:11] - [0.0, 0.0, 1.0]), [[0.3, 0.2, 0.1]] * 8, atol=1e-15)
    rims = at[11:] - [0.0, 0.0, 1.0]
    np.testing.assert_allclose(np.hypot(rims[:, 1], rims[:, 2]), 0.3)
    np.testing.assert_allclose(np.abs(rims[:, 0]), 0.4)
    assert len({tuple(x.round(9)) for x in rims}) == 16


def test_a_robot_without_contact_points_is_told_why(tmp_path):
    with pytest.raises(
        appell.InputError, match=r"contact_points: robot 'body' has no contact points: its shapes \('mesh of rod'\)"
    ):
        points_of(tmp_path, '<mesh filename="a.stl"/>')
    with pytest.raises(appell.InputError, match="its moving links have no collision shapes"):
        points_of(tmp_path)

"""Impacts: the laws of Newton, Poisson and Coulomb, against what can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.papers.shafei2018 import START
from appell.simulation.contact.contact_solver import _least_squares, complementarity, coulomb
from appell.simulation.contact.impact import strike
from appell.simulation.contact.points import Points, resolve

G = 9.81
POINTS = [f"O{k}" for k in range(1, 12)]


def dropped(ball, height=1.0, v=(0.0,) * 6, duration=8.0, **options):
    q = ball.neutral()
    q[2] = height
    return appell.simulate(ball, q, v, duration, walls=[appell.walls.Plane()], **options)


@pytest.mark.parametrize("e", [0.3, 0.5, 0.8])
def test_bouncing_ball_comes_to_rest_at_the_known_time(ball, e):
    run = dropped(ball, restitution=e)
    fall = math.sqrt(2.0 / G)
    for k, impact in enumerate(run.impacts[:6]):
        expected = fall * (1.0 + 2.0 * sum(e**j for j in range(1, k + 1)))
        assert impact.time == pytest.approx(expected, abs=1e-12)
        assert impact.approach[0] == pytest.approx(e**k * G * fall, rel=1e-11)
    assert len(run.rests) == 1
    assert run.rests[0].start == pytest.approx(fall * (1.0 + e) / (1.0 - e), abs=2e-6)
    assert run.rests[0].end == 8.0


def test_plastic_impact_rests_at_once(ball):
    run = dropped(ball, restitution=0.0, duration=1.0)
    assert len(run.impacts) == 1
    assert abs(run.q[-1, 2]) < 1e-14
    assert run.impacts[0].loss == pytest.approx(2.0 * G, rel=1e-12)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize(("mu", "slides"), [(0.1, True), (0.9, False)])
def test_oblique_impact_of_a_mass_point_follows_coulomb(ball, law, mu, slides):
    run = dropped(ball, v=(3.0, 0.0, 0.0, 0.0, 0.0, 0.0), restitution=0.5, friction=mu, impact_law=law, duration=0.5)
    impact = run.impacts[0]
    normal = 1.5 * impact.approach[0]
    after = 3.0 - mu * normal if slides else 0.0
    assert impact.v_after[0] == pytest.approx(after, abs=1e-12)
    assert impact.departure[0] == pytest.approx(0.5 * impact.approach[0], rel=1e-12)


def test_impact_off_the_centre_obeys_momentum_and_restitution(brick):
    corner = appell.simulation.Point("body", (0.2, 0.1, -0.15), name="corner")
    q = brick.neutral()
    q[2] = 1.0
    run = appell.simulate(
        brick, q, [0.5, -0.2, 0.0, 1.0, 2.0, -1.0], 0.5, walls=[appell.walls.Plane()], points=[corner],
        restitution=0.7, friction=0.3, impact_law="poisson",
    )  # fmt: skip
    impact = run.impacts[0]
    q_hit = run.at(impact.time)[0]
    rows = Points(brick, resolve(brick, [corner])).jacobians(q_hit)[0]
    total = impact.impulse[0] * impact.normals[0] + impact.friction[0]
    gained = brick.mass_matrix(q_hit) @ (impact.v_after - impact.v_before)
    np.testing.assert_allclose(gained, rows.T @ total, atol=1e-12)
    assert np.linalg.norm(impact.friction[0]) <= 0.3 * impact.impulse[0] * (1.0 + 1e-12)
    assert impact.energy_after < impact.energy_before


def test_sliding_along_the_normal_impulse_is_rouths_where_slip_never_stops(brick):
    """In the plane and with slip of one sign the friction impulse is −μp, and Poisson's and Newton's laws agree."""
    corner = appell.simulation.Point("body", (0.2, 0.0, -0.3), name="corner")
    q = brick.neutral()
    q[2] = 0.31
    v = [6.0, 0.0, -2.0, 0.0, 0.5, 0.0]
    ends = [
        appell.simulate(
            brick,
            q,
            v,
            0.05,
            walls=[appell.walls.Plane()],
            points=[corner],
            restitution=0.5,
            friction=0.2,
            impact_law=law,
        ).impacts[0]
        for law in ("newton", "poisson")
    ]
    np.testing.assert_allclose(ends[0].v_after, ends[1].v_after, atol=1e-12)
    assert ends[0].friction[0][0] == pytest.approx(-0.2 * ends[0].impulse[0], rel=1e-12)


def test_newtons_law_can_gain_energy_with_friction_and_the_run_says_so(rng):
    """Kane's paradox: at least one oblique impact of a random body gains, and a run would end there."""
    gains = []
    for _ in range(300):
        root = rng.normal(size=(4, 4))
        mass, rows = root @ root.T + 0.1 * np.eye(4), rng.normal(size=(1, 3, 4))
        v = rng.normal(size=4)
        v *= -np.sign(rows[0, 0] @ v)
        result = strike(mass, v, rows, np.array([0.9]), np.array([0.8]), "newton")
        gains.append(result.v @ mass @ result.v - v @ mass @ v)
    assert max(gains) > 0.0


@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_poissons_law_never_gains_energy(seed, k, e, mu):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    root = rng.normal(size=(n, n))
    mass, rows, v = root @ root.T + np.eye(n), rng.normal(size=(k, 3, n)), rng.normal(size=n)
    result = strike(mass, v, rows, np.full(k, e), np.full(k, mu), "poisson")
    assert result.v @ mass @ result.v <= (v @ mass @ v) * (1.0 + 1e-9)
    assert (result.impulses[:, 0] >= -1e-13).all()


@pytest.mark.parametrize("solver", [complementarity, _least_squares])
@given(st.integers(0, 10_000), st.integers(1, 7))
def test_no_wall_pulls_and_no_point_sinks_in(solver, seed, k):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(k, int(rng.integers(1, 8))))
    A, b = rows @ rows.T, rows @ rng.normal(size=rows.shape[1])
    push = solver(A, b)
    motion = A @ push + b
    size = np.abs(b).max()
    assert (push >= 0.0).all()
    assert motion.min() >= -1e-8 * size
    assert abs(push @ motion) <= 1e-8 * size * (1.0 + np.abs(push).max())


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_friction_opposes_slip_with_all_its_strength(seed, k):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3 * k, 3 * k + 2))
    A, b = rows @ rows.T, rows @ rng.normal(size=rows.shape[1])
    mu = rng.uniform(0.1, 0.5, k)
    forces, _, residual, _ = coulomb(A, b, mu, [None] * k)
    motion = (A @ forces.ravel() + b).reshape(k, 3)
    assert residual < 1e-8
    for force, u, m in zip(forces, motion, mu, strict=True):
        slip = np.hypot(*u[1:])
        assert np.hypot(*force[1:]) <= m * force[0] + 1e-8
        if slip > 1e-6 and force[0] > 1e-9:
            np.testing.assert_allclose(force[1:], -m * force[0] * u[1:] / slip, atol=1e-6 * (1.0 + force[0]))


@pytest.mark.parametrize("mu", [0.3, 1.5])
@pytest.mark.parametrize("angle", [0.0, 2.0, 4.0])
def test_a_contact_slides_when_its_friction_is_at_the_cone_and_sticks_within(mu, angle):
    tangent = np.array([math.cos(angle), math.sin(angle)])
    for speed, mode in ((0.9 * mu, "stick"), (2.0 * mu, "slide")):
        found = coulomb(np.eye(3), np.array([-1.0, *(-speed * tangent)]), np.array([mu]), [None])
        assert found.modes == (mode,)
        np.testing.assert_allclose(found.forces[0], [1.0, *(min(speed, mu) * tangent)], atol=1e-12)


def test_four_corners_at_once_share_the_blow_and_it_is_noted(brick):
    corners = [appell.simulation.Point("body", (x, y, -0.1), name=f"c{x}{y}") for x in (-0.2, 0.2) for y in (-0.3, 0.3)]
    q = brick.neutral()
    q[2] = 0.6
    run = appell.simulate(brick, q, np.zeros(6), 0.5, walls=[appell.walls.Plane()], points=corners, restitution=0.5)
    impulse = run.impacts[0].impulse
    np.testing.assert_allclose(impulse, impulse.mean(), rtol=1e-9)
    assert impulse.sum() == pytest.approx(1.5 * 2.0 * run.impacts[0].approach[0], rel=1e-9)
    assert "minimum-norm" in run.notes[0]


def test_wall_and_point_have_their_own_restitution(ball):
    wall = appell.walls.Plane(restitution={"body": 0.25})
    q = ball.neutral()
    q[2] = 1.0
    run = appell.simulate(ball, q, np.zeros(6), 0.5, walls=[wall], restitution=0.9)
    assert run.impacts[0].departure[0] == pytest.approx(0.25 * run.impacts[0].approach[0], rel=1e-12)


@pytest.fixture(scope="module")
def tree():
    return appell.load("shafei-tree")


def fall(tree, q, duration=1.2, **options):
    options = {"walls": [appell.walls.Circle(2.5)], "points": POINTS, "rtol": 1e-12, "atol": 1e-13, **options}
    return appell.simulate(tree, q, np.zeros(12), duration, **options)


def test_points_that_strike_within_the_tie_strike_together(tree):
    start = np.array(START)
    start[:2] = -1.366  # as the paper prints it: O5 strikes 9.1 µs before O1
    assert fall(tree, start, 0.5).impacts[0].points == ("O1", "O5")
    apart = fall(tree, start, 0.5, tie_window=0.0).impacts
    assert [impact.points for impact in apart[:2]] == [("O5",), ("O1",)]
    assert apart[1].time - apart[0].time == pytest.approx(9.1e-6, rel=0.02)


def test_energy_is_audited_at_every_impact(tree):
    run = fall(tree, START)
    assert len(run.impacts) == 4
    assert np.ptp(run.energy) <= 1e-10 * abs(run.energy[0])
    assert all(abs(impact.loss) < 1e-10 for impact in run.impacts)


def test_motion_turns_with_the_scene(tree):
    """Gravity, wall and the tree's first angle turned by the same angle: the same impacts and impulses."""
    angle = 0.83
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    wall = appell.walls.Circle(2.5, centre=(0.1, -0.05))
    plain = fall(tree, START, walls=[wall])
    turned = appell.load("shafei-tree", gravity=(s * G, -c * G, 0.0))
    start = np.array(START)
    start[:2], start[2] = turn @ start[:2], start[2] + angle
    other = fall(turned, start, walls=[appell.walls.Circle(2.5, centre=tuple(turn @ (0.1, -0.05)))])
    assert [i.points for i in plain.impacts] == [i.points for i in other.impacts]
    for one, two in zip(plain.impacts, other.impacts, strict=True):
        assert one.time == pytest.approx(two.time, abs=1e-8)
        np.testing.assert_allclose(one.impulse, two.impulse, rtol=1e-8)


def test_figure_in_a_sphere_keeps_every_law(dummy):
    """A floating figure with limbs, dropped into a sphere with restitution and friction."""
    wall = appell.walls.Sphere(1.1)
    v = np.random.default_rng(5).normal(size=dummy.nv)
    run = appell.simulate(
        dummy, dummy.neutral(), v, 0.8, walls=[wall], restitution=0.6, friction=0.4, impact_law="poisson"
    )
    assert not run.ended_early
    assert len(run.impacts) > 4
    points = Points(dummy, resolve(dummy, None))
    q, _ = run.at(np.linspace(0.0, 0.8, 2001))
    assert wall.gap(points.positions(q)).min() > -1e-9
    assert np.diff(run.energy).max() <= 1e-8
    for impact in run.impacts:
        where = run.at(impact.time)[0]
        rows = points.jacobians(where)[[points.names.index(name) for name in impact.points]]
        total = impact.impulse[:, None] * impact.normals + impact.friction
        gained = dummy.mass_matrix(where) @ (impact.v_after - impact.v_before)
        np.testing.assert_allclose(gained, np.einsum("kij,ki->j", rows, total), atol=1e-9)

"""Integration: orders fitted, energy kept, events located, controls sampled."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning

G = 9.81


def slope(steps, errors):
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@pytest.fixture(scope="module")
def swinging(dummy):
    """Return a robot with a free and ball joints, a state, and where it is after 0.2 s."""
    rng = np.random.default_rng(7)
    q, v = dummy.random(rng), rng.normal(size=dummy.nv)
    return q, v, appell.simulate(dummy, q, v, 0.2, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("symplectic", 2)])
def test_fixed_steps_converge_with_their_order_on_the_manifold(dummy, swinging, method, order):
    q, v, exact = swinging
    steps = np.array([0.02, 0.01, 0.005])
    ends = [appell.simulate(dummy, q, v, 0.2, method=method, step=h) for h in steps]
    errors = [np.linalg.norm(dummy.difference(end.q[-1], exact.q[-1])) for end in ends]
    assert slope(steps, errors) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_adaptive_error_follows_its_tolerance(dummy, swinging, method):
    q, v, exact = swinging
    for rtol in (1e-5, 1e-7, 1e-9):
        end = appell.simulate(dummy, q, v, 0.2, rtol=rtol, atol=rtol, method=method)
        assert np.linalg.norm(dummy.difference(end.q[-1], exact.q[-1])) < 50.0 * rtol


def test_adaptive_steps_have_order_eight(dummy, swinging):
    """One step of size h: the error against a much finer run falls as h⁹; the rate is fitted."""
    from appell.simulation.integrators import Adaptive  # noqa: PLC0415

    q, v, _ = swinging
    y = np.concatenate([q, v])

    def field(t, x):
        return np.concatenate(dummy._call("motion", (x[: dummy.nq], x[dummy.nq :], np.zeros(dummy.nv)), None))

    coarse, fine = (Adaptive(*x, lambda _: None, is_implicit=False) for x in ((1e3, 1e3), (1e-13, 1e-14)))
    steps = np.array([0.08, 0.06, 0.045])
    errors = [np.linalg.norm(coarse.shoot(field, 0.0, y, h).y - fine.shoot(field, 0.0, y, h).y) for h in steps]
    assert slope(steps, errors) > 7.5


def test_quaternions_keep_their_length(swinging):
    run = swinging[2]
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:7], axis=1), 1.0, atol=1e-14)
    between, _ = run.at(np.linspace(0.0, 0.2, 50))
    np.testing.assert_allclose(np.linalg.norm(between[:, 3:7], axis=1), 1.0, atol=1e-14)


@pytest.fixture(scope="module")
def double_pendulum():
    rod = {"mass": 1.0, "centre": [0.5, 0.0, 0.0], "inertia": [0.0, 1 / 12, 1 / 12]}
    return appell.from_dh([{"a": 0.0, **rod}, {"a": 1.0, **rod}], gravity=(0.0, -G, 0.0))


@pytest.mark.slow
def test_energy_of_a_double_pendulum_stays_for_a_hundred_seconds(double_pendulum):
    run = appell.simulate(double_pendulum, [1.0, 1.0], [0.0, 0.0], 100.0, rtol=1e-13, atol=1e-13)
    assert np.ptp(run.energy) <= 1e-10 * abs(run.energy).max()


def test_a_law_that_becomes_too_rough_ends_the_run_there(double_pendulum):
    def law(t, q, v):
        return 1e6 * math.sin(1e12 * t) * np.ones(2) if t > 0.5 else np.zeros(2)

    with pytest.warns(AppellWarning, match="shorter than a billionth of the run"):
        run = appell.simulate(double_pendulum, [1.0, 1.0], [0.0, 0.0], 1.0, control=law)
    assert run.t[-1] == pytest.approx(0.5, abs=1e-6)


def test_symplectic_energy_swings_but_does_not_drift(double_pendulum):
    run = appell.simulate(double_pendulum, [-1.2, 0.2], [0.0, 0.0], 20.0, method="symplectic", step=0.01)
    error = run.energy - run.energy[0]
    early, late = error[run.t < 5.0], error[run.t > 15.0]
    swing = np.ptp(double_pendulum.potential_energy(run.q))
    assert np.abs(late).max() < 1.2 * np.abs(early).max()
    assert np.abs(error).max() < 1e-2 * swing


@pytest.mark.parametrize(("kind", "centre"), [("free", 0.2), ("ball", 0.0), ("planar", 0.2)])
def test_a_symplectic_step_keeps_momentum_to_rounding(robot_of, free_text, rng, kind, centre):
    text = free_text.format(name=kind, inertia=f"[0.02, 0.05, 0.06]\ncentre = [{centre}, {centre}, 0.0]")
    robot = robot_of("gravity = [0.0, 0.0, 0.0]" + text.replace('kind = "free"', f'kind = "{kind}"'))
    run = appell.simulate(robot, robot.random(rng), rng.normal(size=robot.nv), 1.0, method="symplectic", step=0.1)
    momentum = robot.momentum(run.q, run.v)
    mass_centre = (robot.pose(run.q, "body") @ [centre, centre, 0.0, 1.0])[:, :3]
    momentum[:, 3:] += np.cross(mass_centre, momentum[:, :3])  # about the origin of the world
    assert np.abs(run.v[-1] - run.v[0]).max() > 0.01  # in the axes of the body it does turn
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0.0, atol=1e-12)


def test_momentum_of_a_floating_robot_is_kept_without_gravity(robot_of, dummy, rng):
    free = dummy.with_model(replace(dummy.model, gravity=(0.0, 0.0, 0.0)))
    q, v = free.random(rng), rng.normal(size=free.nv)
    run = appell.simulate(free, q, v, 0.5)
    np.testing.assert_allclose(free.momentum(run.q[-1], run.v[-1]), free.momentum(q, v), atol=1e-8)


def test_user_events_are_located_to_rounding(ball):
    q = ball.neutral()
    falls = appell.simulation.Event(lambda t, q, v: q[2] + 2.0, "two below")
    top = appell.simulation.Event(lambda t, q, v: v[2], "top", direction=-1)
    run = appell.simulate(ball, q, [0.0, 0.0, 3.0, 0.0, 0.0, 0.0], 2.0, events=[falls, top])
    times = {event.name: event.time for event in run.events}
    assert times["top"] == pytest.approx(3.0 / G, abs=1e-12)
    assert times["two below"] == pytest.approx((3.0 + math.sqrt(9.0 + 4.0 * G)) / G, abs=1e-12)


@pytest.mark.parametrize(("over", "hits"), [(1e-9, 1), (-1e-9, 0)])
def test_grazing_is_found_if_it_is_deeper_than_a_nanometre(ball, over, hits):
    """A throw whose top just passes a ceiling, between two steps of half a second."""
    top = 3.0**2 / (2.0 * G)
    ceiling = appell.walls.Plane((0.0, 0.0, top - over), (0.0, 0.0, -1.0))
    run = appell.simulate(ball, ball.neutral(), [1.0, 0.0, 3.0, 0.0, 0.0, 0.0], 0.6, walls=[ceiling], restitution=0.5)
    assert len(run.impacts) + len(run.rests) >= hits
    assert bool(run.impacts) == bool(hits)


def test_dense_output_is_as_accurate_as_the_steps(double_pendulum):
    run = appell.simulate(double_pendulum, [1.0, 1.0], [0.0, 0.0], 2.0, rtol=1e-11, atol=1e-12)
    times = np.linspace(0.0, 2.0, 301)
    q, v = run.at(times)
    energy = double_pendulum.kinetic_energy(q, v) + double_pendulum.potential_energy(q)
    np.testing.assert_allclose(energy, run.energy[0], atol=1e-8)


def test_sampled_control_is_held_between_samples(double_pendulum):
    asked = []

    def law(t, q, v):
        asked.append(t)
        return [math.sin(20.0 * t), 0.0]

    run = appell.simulate(double_pendulum, [0.0, 0.0], [0.0, 0.0], 0.1, control=law, rate=100.0)
    np.testing.assert_allclose(asked, 0.01 * np.arange(10), atol=1e-12)
    held = appell.simulate(double_pendulum, [0.0, 0.0], [0.0, 0.0], 0.01, control=[0.0, 0.0])
    np.testing.assert_allclose(run.at(0.01)[0], held.q[-1], atol=1e-12)


def test_gravity_compensation_holds_still(double_pendulum):
    run = appell.simulate(
        double_pendulum, [0.4, -0.9], [0.0, 0.0], 1.0, control=lambda t, q, v: double_pendulum.gravity(q)
    )
    np.testing.assert_allclose(run.q, np.broadcast_to([0.4, -0.9], run.q.shape), atol=1e-9)


def bad(robot, match, **options):
    arguments = {"q0": [0.0, 0.0], "v0": [0.0, 0.0], "duration": 0.1, **options}
    with pytest.raises(appell.InputError, match=match):
        appell.simulate(robot, **arguments)


def test_bad_input_is_one_clear_error(double_pendulum):
    bad(double_pendulum, r"q0: entry 1 is nan", q0=[0.0, math.nan])
    bad(double_pendulum, r"v0: expected \(..., 2\)", v0=[0.0])
    bad(double_pendulum, r"duration must be a number > 0", duration=-1.0)
    bad(double_pendulum, r"restitution must lie in \[0, 1\], got 1.2", restitution=1.2)
    bad(double_pendulum, r"unknown impact law 'hertz'; known: 'newton', 'poisson'", impact_law="hertz")
    bad(double_pendulum, r"unknown method 'euler'", method="euler")
    bad(double_pendulum, r"needs a step > 0", method="rk4")
    bad(double_pendulum, r"no frame 'nose'", walls=[appell.walls.Circle(5.0)], points=["nose"])
    bad(double_pendulum, r"expected 2 finite torques", control=[1.0])
    bad(double_pendulum, r"at t = 0 s .* beyond circle", walls=[appell.walls.Circle(0.2)])
    with pytest.raises(appell.InputError, match="radius must be a positive length"):
        appell.walls.Circle(-1.0)
    with pytest.raises(appell.InputError, match="restitution must lie"):
        appell.walls.Circle(1.0, restitution=1.5)


def test_run_that_fails_midway_keeps_what_it_has(double_pendulum):
    def law(t, q, v):
        return [1e300 * (t > 0.05), 0.0]

    with pytest.warns(appell.AppellWarning, match="ended early"):
        run = appell.simulate(double_pendulum, [0.0, 0.0], [0.0, 0.0], 1.0, control=law, rate=1000.0)
    assert run.ended_early
    assert 0.04 < run.t[-1] < 1.0
    assert np.isfinite(run.q).all()


@pytest.mark.parametrize("size", [1e45, 1e300])
def test_forces_beyond_reason_end_a_run_instead_of_hanging_it(double_pendulum, size):
    with pytest.warns(appell.AppellWarning, match="ended early"):
        run = appell.simulate(double_pendulum, [0.0, 0.0], [0.0, 0.0], 1.0, control=[0.0, size])
    assert run.ended_early
    assert np.isfinite(run.q).all()


def test_the_symplectic_method_smooths_joint_friction_and_says_so():
    robot = appell.load("two-link").with_joint("joint2", friction=0.01)
    run = appell.simulate(robot, robot.neutral(), [1.0, 2.0], 0.01, method="symplectic", step=1e-3)
    assert "regularised" in run.notes[0]


def test_too_few_steps_end_a_run_with_advice():
    robot = appell.load("puma560", friction=False)
    with pytest.warns(appell.AppellWarning, match="the motion is too fast or the control too stiff"):
        appell.simulate(robot, robot.neutral(), np.full(6, 1.0), 0.5, max_steps=5)


def test_a_misspelt_point_is_an_error(ball):
    with pytest.raises(appell.InputError, match="unknown points 'bodi'"):
        appell.simulate(ball, ball.neutral(), np.zeros(6), 0.1, walls=[appell.walls.Plane()], restitution={"bodi": 0.5})


def test_no_warning_without_a_reason(double_pendulum):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        appell.simulate(double_pendulum, [0.1, 0.2], [0.0, 0.0], 0.2)

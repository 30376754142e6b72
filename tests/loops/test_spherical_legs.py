"""Spherical robots of any number of legs, motors and links."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError, ModelError
from appell.loops.spherical.agile_wrist import AgileWrist, arc
from appell.loops.spherical.chains import ChainLeg, chains, chains_of
from appell.loops.spherical.kind import Spherical
from appell.loops.spherical.mechanism import Leg, Mechanism
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia
from appell.spatial.vector import IDENTITY

PLATFORM = Inertia.from_centre(1.3, (0.01, 0.0, 0.02), ((0.004, 0.0, 0.0), (0.0, 0.004, 0.0), (0.0, 0.0, 0.001)))
MOTORS: dict[str, list[tuple[int, ...]]] = {
    "two legs": [(0, 1), (0,)],
    "three": [(0,)] * 3,
    "four": [(0,)] * 4,
    "mixed": [(0, 1), (1,), (0,)],
}


def mechanism(motors: list[tuple[int, ...]]) -> Mechanism:
    """Return a wrist with evenly spaced legs of the Agile Wrist, and motors at given joints."""
    n = len(motors)
    angles = tuple(2.0 * math.pi * k / n for k in range(n))
    arcs = math.radians(80.0), math.radians(70.0)
    legs = []
    for k, (angle, own) in enumerate(zip(angles, motors, strict=True)):
        three = (angle,) * 3
        one = AgileWrist((arcs[0],) * 3, (arcs[1],) * 3, lambda_=three, eta=three).mechanism().legs[0]
        links = arc(0.1, 1.0 + 0.1 * k, arcs[0]), arc(0.1, 1.4, arcs[1])
        legs.append(Leg(one.base, one.platform, *arcs, inertias=links, motors=own))
    return Mechanism("wrist", "zyx", tuple(legs), PLATFORM)


@pytest.fixture(scope="module", params=MOTORS)
def robot(request) -> Robot:
    return Robot(Spherical(mechanism(MOTORS[request.param])))


@pytest.fixture
def state(robot, rng):
    return robot.random(rng, 6), rng.normal(size=(6, 3)), rng.normal(size=(6, 3))


def test_motors_move_the_platform_as_the_chains_say(robot, state, agree):
    """The same mechanism as chains tied to the platform, of which no closed form is used."""
    q, v, a = state
    model = chains_of(robot.kind.mechanism)
    closed = appell.load(replace(model, actuators=model.actuators[:3]))  # as many as there are velocities
    tree = robot.tree_configuration(q)
    assert closed.closure_error(tree).max() < 1e-12
    assert closed.nv == robot.nv
    moving, speeding = robot.tree_velocity(q, v), robot.tree_acceleration(q, v, a)
    tau = robot.inverse_dynamics(q, v, a)
    forces = closed.evaluate("generalised_forces", tree, closed.reduced(tree, moving), closed.reduced(tree, speeding))
    # the power of any virtual motion is that of the motors
    virtual = robot.tree_velocity(q, a)
    motors = virtual[:, robot.facts.actuated]
    agree(np.einsum("ni,ni->n", tau, motors), np.einsum("ni,ni->n", forces, closed.reduced(tree, virtual)), 1e-10)


def test_redundant_torques_are_the_least(robot, state, agree):
    q, v, a = state
    tau, force = robot.inverse_dynamics(q, v, a), robot.evaluate("generalised_forces", q, v, a)
    by_motors = np.swapaxes(robot.actuator_jacobian(q), -1, -2)
    agree(tau, (np.linalg.pinv(by_motors) @ force[..., None])[..., 0], 1e-11)


def test_forward_dynamics_undoes_inverse_dynamics(robot, state, agree):
    q, v, a = state
    agree(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a, 1e-10)


def test_derivatives_have_a_row_per_motor(robot, state, agree):
    q, v, a = state
    slopes = robot.inverse_dynamics_derivatives(q, v, a)
    assert [x.shape for x in slopes] == [(6, robot.nu, 3)] * 3
    step = 1e-6 * np.eye(3)[:, None, :]
    rise = robot.inverse_dynamics(q, v, a + step) - robot.inverse_dynamics(q, v, a - step)
    agree(slopes[2], np.moveaxis(rise, 0, -1) / 2e-6, 1e-7)


def test_motor_angles_lead_back_to_the_posture(robot, state, agree):
    q, _, _ = state
    agree(robot.from_actuators(robot.actuator_positions(q), q + 0.03), q, 1e-11)


def test_a_saved_robot_keeps_its_legs_and_motors(robot, state, tmp_path, agree):
    again = appell.load(robot.save(tmp_path / "wrist.toml"))
    assert again.actuators == robot.actuators
    agree(again.inverse_dynamics(*state), robot.inverse_dynamics(*state), 1e-14)


def test_too_few_motors_are_refused():
    with pytest.raises(ModelError, match="2 motors on 2 legs cannot drive three rotations; add legs"):
        mechanism([(0,), (0,)])


def test_laws_refuse_redundant_motors():
    robot = Robot(Spherical(mechanism(MOTORS["four"])))
    with pytest.raises(InputError, match="4 motors for 3 accelerations"):
        appell.control.PointToPoint(robot, robot.neutral(), 100.0, 20.0)


# Links

LINKS = {"one link": [(90.0,), (90.0, 90.0)], "three links": [(60.0, 50.0, 60.0), (80.0, 70.0), (80.0, 70.0)]}


def legs_of(name: str) -> list[ChainLeg]:
    """Return legs of other numbers of links; the leg of three has a motor more."""
    legs, arcs = [], LINKS[name]
    for k, own in enumerate(arcs):
        like = mechanism([(0,)] * max(len(arcs), 3)).legs[k]
        radians = tuple(math.radians(x) for x in own)
        motors = (0, 1) if len(own) == 3 else (0,)
        legs.append(ChainLeg(like.base, like.platform, radians, tuple(arc(0.1, 1.3, x) for x in radians), motors))
    return legs


@pytest.mark.parametrize(("name", "mobility"), [("one link", 2), ("three links", 4)])
def test_a_leg_has_any_number_of_links(name, mobility, rng, agree):
    """A joint more or less is a velocity more or less; energy is kept."""
    robot = appell.load(chains("odd", legs_of(name), PLATFORM))
    assert (robot.nv, robot.nu) == (mobility, mobility)
    q, v, tau = robot.neutral(), rng.normal(size=mobility), rng.normal(size=mobility)
    agree(robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau)), tau, 1e-11)
    energy = appell.simulate(robot, q, 0.3 * v, 0.1, rtol=1e-10).energy
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()


def test_closing_begins_at_the_angles_of_the_legs(rng, agree):
    """Given a closed configuration, angle by angle, it is where the robot is at home."""
    legs = legs_of("three links")
    robot = appell.load(chains("odd", legs, PLATFORM))
    names = [body.joint.name for body in robot.model.bodies]
    q = robot.random(rng)
    angles = [[x for name, x in zip(names, q, strict=True) if name.startswith(f"leg{i}_")] for i in (1, 2, 3)]
    assert [len(own) for own in angles] == [4, 2, 2]
    placed = [replace(leg, angles=tuple(own)) for leg, own in zip(legs, angles, strict=True)]
    agree(appell.load(chains("odd", placed, PLATFORM)).neutral(), q, 1e-9)


def test_legs_of_any_number_of_links_are_read_from_a_file(tmp_path):
    (file := tmp_path / "odd.toml").write_text(
        'name = "odd"\n[spherical]\nkind = "legs"\n'
        + "platform = { mass = 1.0, inertia = [0.004, 0.004, 0.001] }\n"
        + "".join(
            f"[[spherical.legs]]\nbase = {[list(row) for row in leg.base]}\n"
            f"platform = {[list(row) for row in leg.platform]}\narcs = {list(leg.arcs)}\n"
            f"links = {'[' + ', '.join('{ mass = 0.1, inertia = [0.001, 0.001, 0.001] }' for _ in leg.arcs) + ']'}\n"
            f"motors = {[k + 1 for k in leg.motors]}\n"
            for leg in legs_of("three links")
        )
    )
    robot = appell.load(file)
    assert (robot.nv, robot.nu) == (4, 4)
    assert robot.actuators == ["leg1_joint1", "leg1_joint2", "leg2_joint1", "leg3_joint1"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arcs": (), "inertias": ()}, "leg 1 has no links"),
        ({"arcs": (0.0, 1.0)}, "leg 1: arc 1 of 0 rad makes its two axes coincide"),
        ({"motors": (3,)}, "leg 1 has joints 1 to 3; motors at"),
        ({"angles": (0.0,) * 4}, "leg 1 has 3 joints, got 4 angles"),
    ],
)
def test_a_chain_without_sense_is_refused(change, message):
    leg = ChainLeg(IDENTITY, IDENTITY, (1.2, 1.0), (Inertia(), Inertia()))
    with pytest.raises(ModelError, match=message):
        chains("odd", [replace(leg, **change)], PLATFORM)

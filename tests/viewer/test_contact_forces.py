"""Contact forces of runs and of robots on their feet, against statics and friction laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import appell
from appell.shapes.drawable import drawable
from appell.viewer.contacts import resting_places, run_contacts, stance

FLOOR = appell.walls.Plane()


def block(tmp_path: Any) -> appell.Robot:
    """Return a block of 2 kg that slides along x and z and does not turn, with a point foot below it."""
    file = tmp_path / "block.urdf"
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    file.write_text(
        '<robot name="block"><link name="world"/><link name="slide"/>'
        f'<link name="body"><inertial><mass value="2"/>{inertia}</inertial></link><link name="foot"/>'
        '<joint name="x" type="prismatic"><parent link="world"/><child link="slide"/><axis xyz="1 0 0"/>'
        '<limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
        '<joint name="z" type="prismatic"><parent link="slide"/><child link="body"/><axis xyz="0 0 1"/>'
        '<limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
        '<joint name="ankle" type="fixed"><parent link="body"/><child link="foot"/><origin xyz="0 0 -0.5"/></joint>'
        "</robot>"
    )
    return appell.load(file)


@pytest.mark.parametrize(("friction", "speed"), [(0.0, 0.3), (0.4, 3.0)], ids=["smooth", "sliding"])
def test_the_floor_carries_the_weight_and_friction_opposes_the_slip(
    tmp_path: Any, friction: float, speed: float
) -> None:
    robot = block(tmp_path)
    run = appell.simulate(
        robot, [0.0, 0.6], [speed, 0.0], 0.35, walls=[FLOOR], restitution=0.0, friction=friction, points=["foot"]
    )
    for again in (run, appell.Run.load(run.save(tmp_path / "run.npz"))):
        (contact,) = run_contacts(again, drawable(robot))
        assert contact.name == "foot"
        assert contact.is_closed(0.3)
        assert np.allclose(contact.at(0.3), [-friction * 2.0 * 9.81, 0.0, 2.0 * 9.81], atol=1e-6)
        assert np.allclose(contact.position(drawable(robot).poses(run.at(0.3)[0])), [run.at(0.3)[0][0], 0.0, 0.0])


def test_a_joint_at_its_limit_takes_its_share(tmp_path: Any) -> None:
    """The slide along x rests at its limit, pushed there by a force: the floor's force stays the weight."""
    robot = block(tmp_path)
    run = appell.simulate(
        robot,
        [8.999, 0.5],
        [0.0, 0.0],
        0.2,
        control=[5.0, 0.0],
        walls=[FLOOR],
        restitution=0.0,
        points=["foot"],
        limits=0.0,
    )
    assert {rest.point for rest in run.rests} == {"foot", "x"}
    (contact,) = run_contacts(run, drawable(robot))
    assert np.allclose(contact.at(0.19), [0.0, 0.0, 2.0 * 9.81], atol=1e-6)


def test_points_are_found_by_name_by_place_and_by_their_impacts(tmp_path: Any) -> None:
    robot = block(tmp_path)
    point = appell.simulation.Point
    for given in ("foot", point("body", (0.0, 0.0, -0.5)), point("body", (0.0, 0.0, -0.5), "sole")):
        run = appell.simulate(robot, [0.0, 0.6], [0.2, 0.0], 0.3, walls=[FLOOR], restitution=0.0, points=[given])
        ((body, place),) = resting_places(run, drawable(robot)).values()
        assert robot.model.bodies[body].name == "body"
        assert np.allclose(place, [0.0, 0.0, -0.5], atol=1e-6)


def test_friction_turns_a_ball_where_it_touches_an_incline(tmp_path: Any) -> None:
    """It rolls: normal force m·g·cos α and friction (2/7)·m·g·sin α up the slope, which no force at its centre is."""
    file = tmp_path / "ball.urdf"
    file.write_text(
        '<robot name="ball"><link name="ball"><inertial><mass value="2"/><inertia ixx="0.008" ixy="0" ixz="0" '
        'iyy="0.008" iyz="0" izz="0.008"/></inertial></link></robot>'
    )
    ball, slope = appell.load(file, floating=True), 0.3
    up, n = np.array([np.cos(slope), 0.0, np.sin(slope)]), np.array([-np.sin(slope), 0.0, np.cos(slope)])
    point = appell.simulation.Point("ball", (0.0, 0.0, 0.0), "ball's middle", radius=0.1)
    walls = [appell.walls.Plane(normal=n.tolist(), friction=0.5)]
    run = appell.simulate(ball, [*(0.1 * n), 0.0, 0.0, 0.0, 1.0], [0.0] * 6, 0.4, walls=walls, points=[point])
    loaded = replace(appell.Run.load(run.save(tmp_path / "run.npz")), walls=run.walls)  # a file has their outlines
    for again in (run, loaded):
        (contact,) = run_contacts(again, drawable(ball))
        weight = 2.0 * 9.81
        wanted = weight * np.cos(slope) * n + 2.0 / 7.0 * weight * np.sin(slope) * up
        np.testing.assert_allclose(contact.at(0.3), wanted, atol=1e-6)


def test_held_feet_carry_the_weight(robots: Any) -> None:
    robot = appell.load(robots / "go2_description" / "urdf" / "go2.urdf", floating=True)
    q, at = robot.neutral(), robot.places("q")
    for name, k in at.items():
        q[k] = 0.8 if "thigh" in name else -1.5 if "calf" in name else q[k]
    held = robot.held({f"{leg}_foot": 3 for leg in ("FL", "FR", "RL", "RR")}, at=q)
    tau = held.inverse_dynamics(q, np.zeros(held.nv), np.zeros(len(held.driven)))
    contacts = stance(held, q, tau)
    assert [contact.name for contact in contacts] == held.closure_names
    assert np.allclose(sum(contact.at(0.0) for contact in contacts), [0.0, 0.0, 9.81 * robot.total_mass], atol=1e-8)
    poses = drawable(held).poses(q)
    for contact in contacts:
        assert np.allclose(contact.position(poses), robot.pose(q, contact.name)[:3, 3], atol=1e-12)

"""Spherical robots in closed form against the same mechanism as a closed chain: legs 2 and 3 hinged to the platform."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.loops.closed import close
from appell.model.closure import KINDS, Closure
from appell.model.model import Frame, Model
from appell.robot.robot import Robot
from appell.spatial.pose import Pose
from tests.support.kinds import tree_of
from tests.support.pool import SPHERICAL, pool

Array = NDArray[Any]
SAMPLES = 6
NAMES = ["agile-wrist", "sst", *SPHERICAL]


class Pair(NamedTuple):
    """A spherical robot and its closed chain, in the same motion: q, v, a of either; forces of the motors are alike."""

    spherical: Robot
    chain: Robot
    own: tuple[Array, Array, Array]
    tree: tuple[Array, Array, Array]


def hinged(robot: Robot) -> Model:
    """Return the tree of a spherical robot, with hinges between legs 2 and 3 and the platform.

    The axis of a hinge is e₃ of its leg, which a file of the mechanism knows in the platform's axes; where it stands on
    the leg's second link is read off the poses at home.
    """
    mechanism: Any = robot.kind
    model, frames, ties = robot.model, list(robot.model.frames), []
    home = robot.neutral()
    for i, leg in enumerate(mechanism.mechanism.legs[1:], 2):
        hinge = np.array(leg.platform)  # its z axis is e₃
        at = {name: robot.pose(home, name)[:3, :3] for name in ("platform", f"leg{i}_link2")}
        inner = at[f"leg{i}_link2"].T @ at["platform"] @ hinge
        for side, link, rotation in (("first", "platform", hinge), ("second", f"leg{i}_link2", inner)):
            rows = tuple(tuple(map(float, row)) for row in rotation)
            frames.append(Frame(f"hinge{i}/{side}", model.frame_index[link].body, Pose(rows)))  # type: ignore[arg-type]
        ties.append(Closure(f"hinge{i}", f"hinge{i}/first", f"hinge{i}/second", KINDS["revolute"]))
    joints = zip(model.bodies, robot.tree_configuration(home), strict=True)
    return replace(
        model,
        frames=tuple(frames),
        closures=tuple(ties),
        actuators=tuple(robot.actuators),
        home=tuple((body.joint.name, (float(x),)) for body, x in joints),
    )


@pytest.fixture(scope="module", params=NAMES)
def pair(request) -> Pair:
    robot = pool(request.param) if request.param in SPHERICAL else appell.load(request.param)
    chain = Robot(close(hinged(robot)))
    rng = np.random.default_rng(2010)
    q, (v, a) = robot.random(rng, 40 * SAMPLES), rng.normal(size=(2, SAMPLES, 3))
    whole = robot.tree_configuration(q)
    good = np.flatnonzero(chain.condition(whole) < 50.0)[:SAMPLES]
    assert len(good) == SAMPLES
    own = q[good], v, a
    tree = whole[good], chain.reduced(whole[good], robot.tree_velocity(q[good], v))
    rates = chain.reduced(whole[good], robot.tree_acceleration(*own))
    return Pair(robot, chain, own, (*tree, rates))


def test_the_chain_has_the_mobility_and_the_motors_of_the_robot(pair):
    assert (pair.chain.nv, pair.chain.actuators) == (3, pair.spherical.actuators)
    assert pair.chain.independent == pair.chain.actuators


def test_the_closed_form_closes_the_chain(pair):
    assert pair.chain.closure_error(pair.tree[0]).max() < 1e-12


def test_every_joint_moves_as_the_loops_say(pair, agree):
    agree(pair.spherical.tree_velocity(*pair.own[:2]), pair.chain.tree_velocity(*pair.tree[:2]), 1e-11)
    agree(pair.spherical.tree_acceleration(*pair.own), pair.chain.tree_acceleration(*pair.tree), 1e-10)


def test_the_motors_move_as_the_actuator_jacobian_says(pair, agree):
    q, v, _ = pair.own
    agree(np.einsum("nij,nj->ni", pair.spherical.actuator_jacobian(q), v), pair.tree[1], 1e-12)
    agree(pair.spherical.actuator_positions(q), pair.chain.actuator_positions(pair.tree[0]), 1e-15)


def test_the_motors_torques_are_the_chains(pair, agree):
    agree(pair.spherical.inverse_dynamics(*pair.own), pair.chain.inverse_dynamics(*pair.tree), 1e-10)


def test_the_motors_torques_move_the_chain_alike(pair, agree):
    tau = np.random.default_rng(1).normal(size=(SAMPLES, 3))
    q, v, _ = pair.own
    a = pair.spherical.forward_dynamics(q, v, tau)
    theirs = pair.chain.forward_dynamics(*pair.tree[:2], tau)
    whole = pair.chain.tree_acceleration(*pair.tree[:2], theirs)
    agree(pair.spherical.tree_acceleration(q, v, a), whole, 1e-9)


def test_links_and_platform_are_where_the_chain_has_them(pair, agree):
    for name in pair.spherical.link_names:
        agree(pair.spherical.pose(pair.own[0], name), pair.chain.pose(pair.tree[0], name), 1e-12)
        ours, theirs = (
            robot.velocity(*x[:2], name) for robot, x in ((pair.spherical, pair.own), (pair.chain, pair.tree))
        )
        agree(ours, theirs, 1e-11)
        ours, theirs = (
            robot.acceleration(*x, name) for robot, x in ((pair.spherical, pair.own), (pair.chain, pair.tree))
        )
        agree(ours, theirs, 1e-10)


def test_energies_momentum_and_the_gibbs_function_are_the_chains(pair, agree):
    (q, v, _), (whole, rates, _) = pair.own, pair.tree
    agree(pair.spherical.kinetic_energy(q, v), pair.chain.kinetic_energy(whole, rates), 1e-11)
    agree(pair.spherical.potential_energy(q), pair.chain.potential_energy(whole), 1e-12, size=1.0)
    agree(pair.spherical.momentum(q, v), pair.chain.momentum(whole, rates), 1e-11)
    agree(pair.spherical.gibbs(*pair.own), pair.chain.gibbs(*pair.tree), 1e-10, size=1.0)


def test_a_moment_on_the_platform_is_felt_alike(pair, agree):
    load = {"platform": np.array([0.3, -0.2, 0.5, 0.4, -1.0, 2.0]), "leg2_link1": np.arange(6.0)}
    ours = pair.spherical.inverse_dynamics(*pair.own, wrenches=load)
    agree(ours, pair.chain.inverse_dynamics(*pair.tree, wrenches=load), 1e-10)


def test_the_tree_of_the_robot_needs_the_same_power(pair, agree):
    tree = tree_of(pair.spherical)
    q, v, _ = pair.own
    whole = pair.spherical.tree_velocity(q, v)
    loads = tree.inverse_dynamics(pair.tree[0], whole, pair.spherical.tree_acceleration(*pair.own))
    power = (pair.spherical.inverse_dynamics(*pair.own) * whole[:, pair.spherical.facts.actuated]).sum(axis=-1)
    agree(power, (loads * whole).sum(axis=-1), 1e-10, size=np.abs(loads * whole).max())


# The sum over chains of the papers against the recursions of the tree

SUMMED = ["inverse_dynamics", "forward_dynamics", "generalised_forces", "mass_matrix", "gravity", "bias"]


@pytest.mark.parametrize("verb", [*SUMMED, "coriolis_matrix"])
def test_the_sum_of_chains_is_the_recursion_of_the_tree(pair, verb, agree):
    robot, (q, v, a) = pair.spherical, pair.own
    values = {"q": q, "v": v, "a": a, "tau": np.random.default_rng(1).normal(size=(SAMPLES, 3))}
    given = [values[name] for name, _ in robot.verbs[verb].inputs]
    summed = getattr(robot, verb)(*given, formulation="closed-form")
    others = [name for name in robot.formulations(verb) if name not in ("closed-form", "abedloo2014")]
    assert others
    for name in others:
        found = getattr(robot, verb)(*given, formulation=name)
        if verb == "coriolis_matrix":  # two matrices with the same forces, and Ṁ = C + Cᵀ for both
            summed_forces, forces = (np.einsum("nij,nj->ni", m, v) for m in (summed, found))
            agree(forces, summed_forces, 1e-10)
            agree(found + np.swapaxes(found, 1, 2), summed + np.swapaxes(summed, 1, 2), 1e-10)
        else:
            agree(found, summed, 1e-10, size=1e-9)


@pytest.mark.parametrize("verb", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_derivatives_of_the_sum_of_chains_are_those_of_the_tree(verb, agree):
    robot = pool("wrist")
    state = robot.random(np.random.default_rng(1), 3), *np.random.default_rng(2).normal(size=(2, 3, 3))
    assert set(robot.formulations(verb)) == {"closed-form", "gibbs"}
    summed, found = (getattr(robot, verb)(*state, formulation=name) for name in ("closed-form", "gibbs"))
    for x, y in zip(summed, found, strict=True):
        agree(x, y, 1e-9)

"""Derivatives of the dynamics against complex steps through the recursions."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.recursion import articulated, gibbs

ARGUMENTS = ["q", "v", "a"]


@pytest.fixture(scope="module", params=["chain", "tree"])
def robot(request, tree):
    """Return an arm of the catalogue's kind, and a tree of mixed joints with friction."""
    rng = np.random.default_rng(5)
    return appell.chain(4, rng) if request.param == "chain" else appell.Robot(tree(rng, 5, has_friction=True))


@pytest.mark.parametrize("by", range(3), ids=ARGUMENTS)
def test_inverse_dynamics_derivatives_are_those_of_the_recursion(robot, by, state, differentiate, agree):
    q, v, a = state(robot)
    found = robot.inverse_dynamics_derivatives(q, v, a)[by]
    agree(found, differentiate(gibbs.inverse_dynamics, robot.model, q, v, a, by=by), 1e-12)


@pytest.mark.parametrize("by", range(3), ids=["q", "v", "tau"])
def test_forward_dynamics_derivatives_are_those_of_the_articulated_recursion(robot, by, state, differentiate, agree):
    q, v, a = state(robot)
    tau = robot.inverse_dynamics(q, v, a)
    found = robot.forward_dynamics_derivatives(q, v, tau)[by]
    agree(found, differentiate(articulated.forward_dynamics, robot.model, q, v, tau, by=by))


def test_derivatives_of_a_batch_are_those_of_its_samples(robot, state, agree):
    q, v, a = state(robot, 5)
    single = [robot.inverse_dynamics_derivatives(*sample) for sample in zip(q, v, a, strict=True)]
    for block, blocks in zip(robot.inverse_dynamics_derivatives(q, v, a), zip(*single, strict=True), strict=True):
        agree(block, blocks, 1e-14)

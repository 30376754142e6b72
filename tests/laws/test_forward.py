"""Forward dynamics undoes inverse dynamics, by every formulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.read.catalogue import file_text, names
from appell.recursion import articulated, gibbs
from appell.robot.verbs import programs
from tests.support.evaluation import agree
from tests.support.kinds import actuation, driven, following, program
from tests.support.robots import coupled_drawings

MODELS = st.from_type(Model)
FORMULATIONS = {
    **{name: program("forward_dynamics", name) for name in programs.FORWARD},
    "articulated": articulated.forward_dynamics,
}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@given(model=MODELS)
def test_forward_dynamics_undoes_inverse_dynamics(formulation, model, state, evaluate):
    q, v, a = state(model)
    tau = evaluate(gibbs.inverse_dynamics, model, q, v, a)
    agree(evaluate(FORMULATIONS[formulation], model, q, v, tau), a)


@pytest.mark.parametrize("formulation", programs.FORWARD)
@given(drawing=coupled_drawings())
def test_forward_dynamics_undoes_the_inverse_dynamics_of_a_tree_with_followers(formulation, drawing, state, evaluate):
    model = drawing.coupled
    robot, D, d, G = appell.load(model), *following(drawing.model)
    q, v, a = state(robot)
    tau = evaluate(gibbs.inverse_dynamics, model.tree, D @ q + d, G @ v, G @ a) @ G
    agree(evaluate(FORMULATIONS[formulation], model, q, v, tau), a)


OPEN = [name for name in names() if not {"[[closures]]", "[spherical]"} & {*file_text(name).split()}]


@pytest.mark.parametrize("name", OPEN)
def test_native_forward_dynamics_undoes_native_inverse_dynamics(name, state):
    robot = appell.load(name)
    q, v, a = state(robot, 100)
    agree(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a)


# Native code


def test_inverse_dynamics_gives_the_actuator_forces_back(robot, states):
    q, v, _, tau = states
    a = robot.forward_dynamics(q, v, tau)
    found, size = robot.inverse_dynamics(q, v, driven(robot, a)), np.abs(robot.bias(q, v)).max()
    if robot.nu == len(robot.driven):
        agree(found, tau, 1e-11, size=size)
    else:  # redundant motors may share the same forces in other ways
        agree(actuation(robot, q, found), actuation(robot, q, tau), 1e-11, size=size)


def test_actuator_forces_are_the_forces_of_the_motion_and_nothing_acts_on_passive_modes(robot, states):
    q, v, _, tau = states
    a = robot.forward_dynamics(q, v, tau)
    agree(robot.generalised_forces(q, v, a), actuation(robot, q, tau), 1e-11, size=np.abs(robot.bias(q, v)).max())

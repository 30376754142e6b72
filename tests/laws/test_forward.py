"""Forward dynamics undoes inverse dynamics, by every formulation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.catalogue import file_text, names
from appell.model.model import Model
from appell.recursion import articulated, forward, gibbs

MODELS = st.from_type(Model)
FORMULATIONS = {
    "gibbs": forward.forward_dynamics_gibbs,
    "composite": forward.forward_dynamics_composite,
    "articulated": articulated.forward_dynamics,
}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@given(model=MODELS)
def test_forward_dynamics_undoes_inverse_dynamics(formulation, model, state, evaluate, agree):
    q, v, a = state(model)
    tau = evaluate(gibbs.inverse_dynamics, model, q, v, a)
    agree(evaluate(FORMULATIONS[formulation], model, q, v, tau), a)


OPEN = [name for name in names() if not {"[[closures]]", "[spherical]"} & {*file_text(name).split()}]


@pytest.mark.parametrize("name", OPEN)
def test_native_forward_dynamics_undoes_native_inverse_dynamics(name, state, agree):
    robot = appell.load(name)
    q, v, a = state(robot, 100)
    agree(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a)

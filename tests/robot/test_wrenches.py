"""Forces and moments on frames, on every kind of robot: what Jᵀw says."""

from __future__ import annotations

import numpy as np
import pytest

from appell.errors import InputError
from tests.support.evaluation import agree
from tests.support.kinds import actuation, apply, driven
from tests.support.pool import pool


@pytest.fixture(scope="session")
def loads(each, states):
    """Return wrenches on two frames, one alike for all samples, and what they amount to, Σ Jᵀw."""
    rng = np.random.default_rng(5)
    wrenches = {each.link_names[0]: rng.normal(size=6), each.link_names[-1]: rng.normal(size=(len(states.q), 6))}
    transposed = {frame: np.swapaxes(each.jacobian(states.q, frame), -1, -2) for frame in wrenches}
    return wrenches, sum(apply(transposed[frame], w) for frame, w in wrenches.items())


def test_a_motion_under_wrenches_has_the_forces_of_both(each, states, loads):
    wrenches, push = loads
    a = each.forward_dynamics(states.q, states.v, states.tau, wrenches=wrenches)
    total = actuation(each, states.q, states.tau) + push
    size = np.abs(each.bias(states.q, states.v)).max()
    agree(each.generalised_forces(states.q, states.v, a), total, 1e-9, size=size)


def test_inverse_dynamics_gives_the_actuator_forces_back(each, states, loads):
    wrenches, _ = loads
    a = each.forward_dynamics(states.q, states.v, states.tau, wrenches=wrenches)
    found = each.inverse_dynamics(states.q, states.v, driven(each, a), wrenches=wrenches)
    agree(found, states.tau, 1e-9, size=np.abs(each.bias(states.q, states.v)).max())


def test_where_every_velocity_has_a_force_wrenches_take_theirs_from_it(each, states, loads):
    wrenches, push = loads
    if each.nu != each.nv:
        pytest.skip("a robot with passive modes, which wrenches move")
    q, v, a = states.q, states.v, states.a
    spared = each.inverse_dynamics(q, v, a) - each.inverse_dynamics(q, v, a, wrenches=wrenches)
    agree(actuation(each, q, spared), push, 1e-9, size=np.abs(each.generalised_forces(q, v, a)).max())


def test_all_options_go_with_wrenches(each, states, loads):
    wrenches, _ = loads
    q, v, a = states.q, states.v, driven(each, states.a)
    expected = each.inverse_dynamics(q, v, a, wrenches=wrenches)
    place = np.empty_like(expected)
    assert each.inverse_dynamics(q, v, a, wrenches=wrenches, out=place) is place
    np.testing.assert_array_equal(place, expected)
    agree(each.inverse_dynamics(q, v, a, wrenches=wrenches, parameters=each.parameters), expected, 1e-10)
    for name in each.formulations("inverse_dynamics"):
        agree(each.inverse_dynamics(q, v, a, wrenches=wrenches, formulation=name), expected, 1e-10)
    for name in each.formulations("forward_dynamics"):
        found = each.forward_dynamics(q, v, states.tau, wrenches=wrenches, formulation=name)
        agree(found, each.forward_dynamics(q, v, states.tau, wrenches=wrenches), 1e-9)


def test_single_precision_stays_single_under_wrenches(each, states, loads):
    wrenches, _ = loads
    q, v, a = (x.astype(np.float32) for x in (states.q, states.v, driven(each, states.a)))
    found = each.inverse_dynamics(q, v, a, wrenches={name: w.astype(np.float32) for name, w in wrenches.items()})
    assert found.dtype == np.float32
    expected = each.inverse_dynamics(states.q, states.v, driven(each, states.a), wrenches=wrenches)
    agree(found, expected, 5e-4)


def test_no_wrenches_are_none(each, states):
    q, v, a = states.q, states.v, driven(each, states.a)
    np.testing.assert_array_equal(each.inverse_dynamics(q, v, a, wrenches={}), each.inverse_dynamics(q, v, a))


def test_a_wrench_on_an_unknown_frame_is_named(each):
    v, a = np.zeros(each.nv), np.zeros(each.nu)
    with pytest.raises(InputError, match=rf"wrenches: frame: robot '{each.name}' has no frame 'gripper'; known: '"):
        each.inverse_dynamics(each.neutral(), v, a, wrenches={"gripper": np.zeros(6)})


def test_a_wrench_of_another_size_is_named():
    robot = pool("screws")
    with pytest.raises(InputError, match=r"wrench: expected \(\.\.\., 6\), got \(\.\.\., 3\) for robot"):
        robot.forward_dynamics(robot.neutral(), np.zeros(4), np.zeros(4), wrenches={robot.link_names[0]: np.zeros(3)})

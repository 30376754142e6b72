"""Vector–Jacobian products of every verb: the derivatives of its formulas by the arguments as they are stored."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.robot.calls import compile
from appell.robot.kind import Key
from tests.support.kinds import arguments, random_states
from tests.support.pool import pool

STEP = 1e-4
UNLIKE = ("tracking_error",)
"""Verbs with the sign of a quaternion, whose formulas have jumps."""
LONG = ("hessian", "derivatives")
"""Verbs whose programs are derivatives already, checked where there are few joints."""


def run(tape, arrays):
    """Return the results of a tape on arrays of rows, one behind the other."""
    values = tape.run(*(np.moveaxis(x, -1, 0) for x in arrays))
    return np.stack(np.broadcast_arrays(*values, arrays[0][..., 0])[:-1], axis=-1)


def verbs_of(robot, *, is_short):
    """Return the verbs of a robot as a whole, with results."""
    rows = robot.verbs.values()
    named = [v.name for v in rows if not v.about and v.name not in UNLIKE]
    sized = [x for x in named if sum(port.size for port in robot.verbs[x].ports(robot.facts.sizes)[1])]
    return [x for x in sized if not (is_short and x.endswith(LONG))]


@pytest.mark.parametrize(
    "name",
    [
        "four-bar",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("floating", "balls", "floating hand", "disc", "wrist")),
    ],
)
def test_every_verb_is_differentiated_in_reverse(name):
    """Against central differences of fourth order of its own formulas, along a random direction of all arguments."""
    robot, rng = pool(name), np.random.default_rng(1)
    states = random_states(robot, 3)
    for verb in verbs_of(robot, is_short=name != "four-bar"):
        given = arguments(robot, verb, states)
        plain = compile.tape(robot.kind, Key(verb), is_guarded=False)
        reverse = compile.tape(robot.kind, Key(verb, order=1), is_guarded=False)
        ways = [rng.normal(size=x.shape) for x in given]
        w = rng.normal(size=run(plain, given).shape)
        far = {k: w * run(plain, [x + k * STEP * d for x, d in zip(given, ways, strict=True)]) for k in (-2, -1, 1, 2)}
        slope = (8.0 * (far[1] - far[-1]) - (far[2] - far[-2])).sum(axis=-1) / (12.0 * STEP)
        found = (run(reverse, [*given, w]) * np.concatenate(ways, axis=-1)).sum(axis=-1)
        scale = np.abs(far[1]).sum(axis=-1).max() + np.abs(slope).max()
        assert np.abs(found - slope).max() < 1e-6 * scale, verb


@pytest.mark.parametrize("name", ["floating", "four-bar"])
def test_along_the_motions_it_is_the_product_of_inverse_dynamics(name):
    """The gradient by q as it is stored, times q̇ of each motion, is the gradient along that motion."""
    robot, rng = pool(name), np.random.default_rng(2)
    states = random_states(robot, 4)
    q, v, a = arguments(robot, "inverse_dynamics", states)
    w = rng.normal(size=(4, robot.nu))
    product, inputs, outputs = robot.adjoint("inverse_dynamics")
    assert [port.name for port in (*inputs, *outputs)] == ["q", "v", "a", "w_tau", "by_q", "by_v", "by_a"]
    by_q, *others = product(q, v, a, w)
    rates = robot.evaluate("coordinate_rates", q[:, None], np.eye(robot.nv))
    along = [np.einsum("nkq,nq->nk", rates, by_q), *others]
    for found, expected in zip(along, robot.inverse_dynamics_vjp(q, v, a, w), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-10 * (1.0 + np.abs(expected).max()))


def test_parameters_are_arguments_like_others():
    """wᵀ∂τ/∂π is wᵀY, of the regressor."""
    robot, rng = pool("floating"), np.random.default_rng(3)
    q, v, a, _ = random_states(robot, 4)
    w = rng.normal(size=(4, robot.nv))
    by_pi = robot.adjoint("inverse_dynamics", parametric=True)[0](q, v, a, robot.parameters, w)[3]
    np.testing.assert_allclose(by_pi, np.einsum("ni,nip->np", w, robot.regressor(q, v, a)), rtol=1e-9, atol=1e-10)


def test_a_robot_of_many_bodies_names_the_verbs_that_it_has():
    with pytest.raises(InputError, match="inverse_dynamics_vjp"):
        appell.random_chain(120, np.random.default_rng(0)).adjoint("gravity")

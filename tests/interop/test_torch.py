"""Verbs and rollouts as operations of PyTorch: autograd against differences, transforms, broadcasting, errors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.interop import torch as functions
from appell.interop.differentiable import VERBS, differentiable
from appell.interop.torch import arrays_of
from tests.support.kinds import arguments, random_states
from tests.support.pool import pool

torch = pytest.importorskip("torch", reason="no CPU build of PyTorch is installed")

SLOW = pytest.mark.slow


def leaves(*arrays):
    """Return tensors of which gradients are wanted."""
    return [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in arrays]


def states(robot, verb, size=2):
    return leaves(*arguments(robot, verb, random_states(robot, size)))


def check(robot, verb):
    """Let PyTorch compare first and second derivatives with differences."""
    given = states(robot, verb, 1)

    def function(*x):
        return getattr(functions, verb)(robot, *x)

    assert torch.autograd.gradcheck(function, given, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, given, fast_mode=True)


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("floating", "inverse_dynamics"),
        ("four-bar", "forward_dynamics"),
        pytest.param("floating", "forward_dynamics", marks=SLOW),
        pytest.param("four-bar", "inverse_dynamics", marks=SLOW),
        pytest.param("wrist", "inverse_dynamics", marks=SLOW),
        pytest.param("wrist", "forward_dynamics", marks=SLOW),
    ],
)
def test_first_and_second_derivatives(name, verb):
    check(pool(name), verb)


@SLOW
@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("name", ["ur5", "go2", "stewart"])
def test_first_and_second_derivatives_of_robots_in_use(name, verb, robots):
    files = {"ur5": "ur_description/urdf/ur5_robot.urdf", "go2": "go2_description/urdf/go2.urdf"}
    check(appell.load(robots / files[name], floating=name == "go2") if name in files else appell.load(name), verb)


def test_every_verb_gives_what_the_robot_gives():
    """By the signature of the robot's method, on tensors, batches broadcast."""
    robot, rng = appell.load("two-link"), np.random.default_rng(4)
    for name in VERBS:
        wanted = list(inspect.signature(getattr(appell.Robot, name)).parameters)[1:]
        given: dict[str, Any] = {
            x: rng.normal(size=(2, 2))
            for x in wanted
            if x not in ("wrenches", "weights", "base", "options", "frame", "method", "dt")
        }
        given |= {"frame": "link2"} if "frame" in wanted else {}
        given |= {"dt": 1e-3, "method": "rk4"} if "dt" in wanted else {}
        tensors = {key: torch.tensor(x) if isinstance(x, np.ndarray) else x for key, x in given.items()}
        found, expected = getattr(functions, name)(robot, **tensors), getattr(robot, name)(**given)
        assert isinstance(found, tuple) is isinstance(expected, tuple), name
        for x, y in zip(*(z if isinstance(z, tuple) else (z,) for z in (found, expected)), strict=True):
            np.testing.assert_array_equal(x.numpy(), y, err_msg=name)


def test_the_base_regressor_has_the_columns_of_the_robots():
    robot, state = appell.load("two-link"), [[0.1, 0.2], [1.0, 2.0], [3.0, 4.0]]
    found = functions.regressor(robot, *map(torch.tensor, np.array(state)), base=True)
    np.testing.assert_allclose(found.numpy(), robot.regressor(*state, base=True), rtol=1e-12, atol=1e-15)


def test_weights_of_actuators_go_to_their_verb():
    robot, zero = appell.load("two-link"), [0.0, 0.0]
    found = functions.inverse_dynamics(robot, zero, zero, zero, weights=[1.0, 2.0])
    np.testing.assert_allclose(found, robot.inverse_dynamics(zero, zero, zero, weights=[1.0, 2.0]), rtol=1e-12)


def test_wrenches_are_differentiated_too():
    robot = pool("floating")
    q, v, tau = states(robot, "forward_dynamics", 2)
    wrench = leaves(np.random.default_rng(5).normal(size=6))[0]
    frame = robot.link_names[-1]

    def function(q, w):
        return functions.forward_dynamics(robot, q, v, tau, wrenches={frame: w})

    expected = robot.forward_dynamics(*(x.detach() for x in (q, v, tau)), wrenches={frame: wrench.detach()})
    np.testing.assert_allclose(function(q, wrench).detach(), expected, rtol=1e-12)
    assert torch.autograd.gradcheck(function, (q, wrench), fast_mode=True)


def test_parameters_are_differentiated_and_shared_ones_summed():
    """wᵀ∂τ/∂π is wᵀY, summed over the samples that share π."""
    robot = pool("floating")
    q, v, a = states(robot, "inverse_dynamics", 3)
    pi = leaves(robot.parameters)[0]
    functions.inverse_dynamics(robot, q, v, a, parameters=pi).sum().backward()
    expected = robot.regressor(*(x.detach() for x in (q, v, a))).sum(axis=(0, 1))
    np.testing.assert_allclose(pi.grad, expected, rtol=1e-9, atol=1e-10)


def test_single_precision_stays_single():
    robot = pool("floating")
    double = states(robot, "forward_dynamics", 3)
    single = [x.detach().float().requires_grad_() for x in double]
    for given in (single, double):
        functions.forward_dynamics(robot, *given).sum().backward()
    for x, y in zip(single, double, strict=True):
        assert x.grad.dtype == torch.float32
        np.testing.assert_allclose(x.grad, y.grad, rtol=2e-3, atol=2e-4 * float(y.grad.abs().max()))


def test_tensors_are_read_and_written_where_they_lie():
    """An argument shares its memory with what the kernel reads."""
    x = torch.arange(6.0, dtype=torch.float64, requires_grad=True)
    assert arrays_of([x])[0].ctypes.data == x.data_ptr()


def test_vmap_and_jacrev_of_torch_func():
    robot = pool("floating")
    q, v, tau = (x.detach() for x in states(robot, "forward_dynamics", 3))

    def function(q, v, tau):
        return functions.forward_dynamics(robot, q, v, tau)

    by_rows = torch.func.vmap(function, in_dims=(0, None, 1))(q, v[0], tau.T.contiguous())
    np.testing.assert_allclose(by_rows, function(q, v[0], tau), rtol=1e-14)
    jacobians = torch.func.vmap(torch.func.jacrev(function, argnums=2))(q, v, tau)
    np.testing.assert_allclose(jacobians, np.linalg.inv(robot.mass_matrix(q)), rtol=1e-8, atol=1e-10)


def test_opcheck_of_verbs_and_rollouts():
    robot = appell.load("two-link")
    number = differentiable(robot, "forward_dynamics").number
    given = leaves(*np.random.default_rng(6).normal(size=(3, 2, 2)))
    for order in (0, 1):
        more = leaves(*np.ones((order, 2, 2)))
        assert set(torch.library.opcheck(functions.operation(), (number, order, [*given, *more])).values()) == {
            "SUCCESS"
        }
    q, v, _ = given
    run = (number, 1e-3, "euler", 2, [q, v, *leaves(np.ones((2, 4, 2)))])
    assert set(torch.library.opcheck(functions.operations()[0], run).values()) == {"SUCCESS"}


# Rollouts


@pytest.mark.parametrize(
    ("name", "method", "save_every"),
    [
        ("four-bar", "rk4", 1),
        ("four-bar", "rk4", 6),
        ("four-bar", "midpoint", 2),
        ("floating", "euler", 3),
        pytest.param("floating", "rk4", 1, marks=SLOW),
        pytest.param("floating", "midpoint", 6, marks=SLOW),
    ],
)
def test_gradients_of_rollouts(name, method, save_every):
    robot = pool(name)
    q, v, _, tau = random_states(robot, 2)
    given = leaves(q, v[0], np.stack([tau] * 6, axis=1), robot.parameters)

    def function(q, v, tau, pi):
        run = functions.rollout(robot, q, v, tau, 1e-3, method=method, save_every=save_every, parameters=pi)
        return run.q, run.v

    assert torch.autograd.gradcheck(function, given, fast_mode=True)


def test_the_gradient_of_500_steps_against_differences():
    robot, rng = appell.load("two-link", friction=False), np.random.default_rng(8)
    given = leaves(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 500, 2)))

    def loss(q, v, tau):
        run = functions.rollout(robot, q, v, tau, 1e-3, save_every=500)
        return run.q[:, -1].square().sum() + run.v[:, -1].square().sum()

    loss(*given).backward()
    for x in given:
        way, step = torch.tensor(rng.normal(size=x.shape)), 1e-4
        with torch.no_grad():
            far = {n: loss(*(y + n * step * way if y is x else y for y in given)).item() for n in (-2, -1, 1, 2)}
        slope = (8.0 * (far[1] - far[-1]) - (far[2] - far[-2])) / (12.0 * step)
        assert (x.grad * way).sum().item() == pytest.approx(slope, rel=1e-6)


def test_states_that_are_not_kept_are_computed_again():
    """The gradient is the same, to rounding, with every state kept and with a few."""
    robot = pool("four-bar")
    q, v, _, tau = random_states(robot, 2)
    found = []
    for save_every in (1, 100):
        given = leaves(q, v, np.stack([tau] * 100, axis=1))
        run = functions.rollout(robot, given[0], given[1], given[2], 1e-3, save_every=save_every)
        assert run.q.shape == (2, 100 // save_every + 1, robot.nq)
        run.q[:, -1].sum().backward()
        found.append([x.grad.numpy() for x in given])
    for x, y in zip(*found, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12 * np.abs(x).max())


@pytest.mark.parametrize("save_every", [1, 6, 12])
def test_gradients_of_rollouts_on_the_ground(save_every, tmp_path):
    """A block that slides and turns on its corners, each of two with its own friction."""
    inertia = '<inertia ixx="0.03" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="body"><inertial><mass value="2"/>{inertia}</inertial></link>'
    (tmp_path / "block.urdf").write_text(f'<robot name="block">{link}</robot>')
    block = appell.load(tmp_path / "block.urdf", floating=True)
    points = [appell.simulation.Point("body", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    ground: Any = {
        "walls": [appell.walls.Plane()],
        "points": points,
        "friction": [[0.3] * 4, [0.5] * 4],
        "method": "euler",
    }
    q = torch.tensor([[0, 0, 0.0545, 0.01, 0.01, 0, 1], [0, 0, 0.053, 0, 0.01, 0, 1]], dtype=torch.float64)
    q[:, 3:] /= q[:, 3:].norm(dim=1, keepdim=True)
    v = torch.tensor([[0.5, 0.1, -0.3, 0.2, 0.1, -0.1]] * 2, dtype=torch.float64, requires_grad=True)
    tau = torch.zeros(2, 12, 6, dtype=torch.float64, requires_grad=True)

    def loss(v, tau):
        run = functions.rollout(block, q, v, tau, 1e-3, save_every=save_every, **ground)
        return run.q[:, -1].square().sum() + run.v[:, -1, :3].pow(3).sum()

    by = torch.cat([x.flatten() for x in torch.autograd.grad(loss(v, tau), (v, tau))])
    both = torch.cat([v.detach().flatten(), tau.detach().flatten()])

    def at(x):
        with torch.no_grad():
            return float(loss(x[:12].reshape(2, 6), x[12:].reshape(2, 12, 6)))

    step = 1e-6
    for k in (*range(12), 40, 100, 120):
        e = torch.zeros_like(both)
        e[k] = step
        assert float(by[k]) == pytest.approx((at(both + e) - at(both - e)) / (2 * step), abs=1e-7)
    expected = appell.rollout(block, q.numpy(), v.detach().numpy(), tau.detach().numpy(), 1e-3, **ground)
    assert expected.impulses.any()


def test_rollouts_are_those_of_appell():
    robot = pool("four-bar")
    q, v, _, tau = random_states(robot, 2)
    run = functions.rollout(robot, q, v, tau[:, None], 1e-3, 20, save_every=5)
    expected = appell.rollout(robot, q, v, tau[:, None], 1e-3, steps=20, save_every=5)
    for x, y in zip(run, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-15)


# Errors


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("two-link", [0.0] * 3, [0.0] * 2), r"q: expected \(\.\.\., 2\), got \(\.\.\., 3\)"),
        (
            ("two-link", [[0.0] * 2] * 3, [[0.0] * 2] * 4),
            r"bias: the leading axes do not broadcast \(q \(3,\), v \(4,\)\)",
        ),
        (("two-link", "here", [0.0] * 2), "q: expected a tensor or an array of numbers, got str"),
        ((None, [0.0] * 2, [0.0] * 2), "robot: expected a robot, got NoneType"),
    ],
)
def test_what_does_not_fit_is_named(given, message):
    name, *others = given
    with pytest.raises(InputError, match=message):
        functions.bias(appell.load(name) if name else name, *others)


def test_other_mistakes_have_their_remedy():
    robot = appell.load("two-link")
    with pytest.raises(
        InputError, match="unknown option 'out'; known: 'parameters', 'formulation'; results are new arrays"
    ):
        functions.gravity(robot, [0.0, 0.0], out=np.zeros(2))
    with pytest.raises(InputError, match=r"q: expected real numbers, got torch\.complex64"):
        functions.gravity(robot, torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(InputError, match=r"frame: expected a name, got \["):
        functions.pose(robot, [0.0, 0.0], ["link2"])
    with pytest.raises(InputError, match="pose: frame: robot 'two-link' has no frame 'hand'"):
        functions.pose(robot, [0.0, 0.0], "hand")
    with pytest.raises(AttributeError, match="did you mean 'inverse_dynamics'"):
        functions.inverse_kinematics  # noqa: B018
    with pytest.raises(InputError, match="steps: no argument has an axis of steps"):
        functions.rollout(robot, [0.0] * 2, [0.0] * 2, None, 1e-3)
    with pytest.raises(InputError, match="save_every: 3 does not divide 10 steps"):
        functions.rollout(robot, [0.0] * 2, [0.0] * 2, None, 1e-3, 10, save_every=3)
    with pytest.raises(InputError, match="too many for gradients of rollouts"):
        functions.rollout(pool("long"), [0.0], [0.0], None, 1e-3, 10)


def test_plain_verbs_take_tensors_and_refuse_those_with_gradients():
    robot, q = appell.load("two-link"), torch.zeros(5000, 2)
    assert robot.gravity(q).dtype == np.float32
    np.testing.assert_array_equal(robot.gravity(q.double()), robot.gravity(np.zeros((5000, 2))))
    with pytest.raises(
        InputError, match=r"q: expected an array of numbers, got Tensor .* use the verbs of appell.interop.torch"
    ):
        robot.gravity(q.requires_grad_())

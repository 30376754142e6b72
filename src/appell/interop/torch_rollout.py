"""Rollouts as a PyTorch operation: forward and backward pass in native code, with checkpoints of bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import ABOVE_ZERO, choice, number, whole
from appell.errors import InputError
from appell.interop.differentiable import by_number, differentiable, numbered
from appell.interop.tensors import arrays_of, batched, torch_package, typed
from appell.once import once_function
from appell.robot.robot import Robot
from appell.simulation.contact.points import Point
from appell.simulation.rollout import adjoint
from appell.simulation.rollout.ground import Coefficients, Contacts
from appell.simulation.rollout.rollout import grounded, stored
from appell.simulation.rollout.scheme import METHODS
from appell.simulation.walls.wall import Wall
from appell.trace.tape import Port


class TensorRollout(NamedTuple):
    """The fields of :class:`appell.Rollout` as tensors: t, q (..., n + 1, nq), v (..., n + 1, nv), diverged (...)."""

    t: Any
    q: Any
    v: Any
    diverged: Any


def rollout(  # noqa: PLR0913  (keyword options)
    robot: Robot,
    q0: Any,
    v0: Any,
    tau: Any,
    dt: float,
    steps: int | None = None,
    *,
    method: str = "rk4",
    save_every: int = 1,
    parameters: Any = None,
    walls: Sequence[Wall] | None = None,
    points: Iterable[str | Point] | None = None,
    friction: Coefficients = 0.0,
    restitution: Coefficients = 0.0,
    offsets: ArrayLike = 0.0,
    limits: bool | float = False,
    sweeps: int = 20,
) -> TensorRollout:
    """Simulate many robots with torques held over each step, as :func:`appell.rollout`, on tensors.

    Autograd differentiates by q0, v0, tau and `parameters`. The adjoint of every step runs in native code, last step
    first. With ``save_every=k`` the backward pass repeats the steps between stored states, so that steps/k + k states
    are in memory; a divisor of k is used instead if it needs less memory, for example 20 for k = 500.

    Parameters
    ----------
    robot
        A robot of any kind of up to 80 bodies.
    q0, v0
        Initial states, (..., nq) and (..., nv).
    tau
        Torques (..., steps, nu), one row per step; constant ones, (nu,) or (..., 1, nu); or None. Leading axes of all
        arguments broadcast.
    dt
        Step size [s].
    steps
        Number of steps, if tau has no axis of steps.
    method
        "rk4", "midpoint" or "euler".
    save_every
        Store the initial state and every `save_every`-th state; must divide the number of steps.
    parameters
        π (..., n), individual inertias per robot.
    walls, points, friction, restitution, offsets, limits, sweeps
        Contacts and joint limits as in :func:`appell.rollout`. The gradients are exact for the steps; they jump where a
        contact opens, closes, or begins to slide.

    Returns
    -------
    TensorRollout
        Times t, states q (..., n + 1, nq) and v (..., n + 1, nv), the start first, and which robots diverged. Gradients
        by q0 are by its nq stored numbers. Second derivatives are not available.

    Raises
    ------
    InputError
        When an argument is invalid, or the robot has too many bodies.

    Examples
    --------
    >>> import appell, torch
    >>> robot = appell.load("two-link")
    >>> tau = torch.zeros(100, 2, dtype=torch.float64, requires_grad=True)
    >>> run = appell.interop.torch.rollout(robot, [0.1, 0.2], [0.0, 0.0], tau, 1e-3, save_every=100)
    >>> run.q[-1].square().sum().backward()
    >>> tuple(run.q.shape), tuple(tau.grad.shape)
    ((2, 2), (100, 2))
    """
    torch, is_parametric = torch_package(), parameters is not None
    program: Any = differentiable(robot, "forward_dynamics", is_parametric=is_parametric)
    if robot.kind.is_looped:
        raise InputError(
            f"rollout: robot '{robot.name}' has {len(robot.model.bodies)} bodies, too many for gradients of rollouts; "
            "use appell.rollout"
        )
    choice("method: unknown method", method, METHODS)
    found = grounded(robot, method, walls, points, friction, restitution, offsets, limits, sweeps)
    program = program if found is None else _Grounded(robot, found, is_parametric)
    dt = number("dt: expected a time step above zero", dt, ABOVE_ZERO)
    names = ["q0", "v0", "tau", *(["parameters"] if is_parametric else [])]
    given = (q0, v0, np.zeros(robot.nu) if tau is None else tau, *([parameters] if is_parametric else []))
    tensors = typed(names, given)
    tensors[2] = _with_steps(robot, tensors[2], steps)
    count = tensors[2].shape[-2]
    if count % whole("save_every", save_every):
        raise InputError(f"save_every: {save_every} does not divide {count} steps; the last state would not be kept")
    alike = _alike(robot, names, tensors)
    every = adjoint.interval(count, save_every)
    q, v, *_, diverged = function().apply(program.number, dt, method, every, *alike)
    if every < save_every:
        q, v = (x[..., :: save_every // every, :] for x in (q, v))
    return TensorRollout(torch.arange(0, count + 1, save_every, dtype=q.dtype) * dt, q, v, diverged)


class _Grounded:
    """A robot and its contacts, its states besides q and v, and the number that identifies it in an operation."""

    def __init__(self, robot: Robot, found: Contacts, is_parametric: bool) -> None:
        self.robot, self.found, self.number = robot, found, numbered(self)
        self.others = found.ground.ports(robot, is_parametric=is_parametric).states


def _contacts(program: int, leading: tuple[int, ...]) -> Contacts | None:
    """Return the contacts of a rollout, with one row of numbers per robot."""
    found: Contacts | None = getattr(by_number(program), "found", None)
    if found is None:
        return None
    rows = {name: np.broadcast_to(x, (*leading, x.shape[-1])) for name, x in found.numbers.items()}
    return found._replace(numbers={name: x.reshape(-1, x.shape[-1]) for name, x in rows.items()})


def _others(program: int) -> tuple[Port, ...]:
    """Return the states of a rollout besides q and v."""
    return getattr(by_number(program), "others", ())


def _with_steps(robot: Robot, tau: Any, steps: int | None) -> Any:
    """Return torques with an axis of steps."""
    if tau.ndim == 0 or tau.shape[-1] != robot.nu:
        got = f"(..., {tau.shape[-1]})" if tau.ndim else "a single number"
        raise InputError(f"tau: expected (..., {robot.nu}), got {got} for robot '{robot.name}'")
    if tau.ndim == 1:
        tau = tau[None]
    if steps is None:
        if tau.shape[-2] == 1:
            raise InputError("steps: no argument has an axis of steps; give their number, as in steps=1000")
        return tau
    count = whole("steps", steps)
    if tau.shape[-2] not in (1, count):
        raise InputError(f"steps: arguments have different numbers of steps: tau {tau.shape[-2]}, steps {count}")
    return tau.expand(*tau.shape[:-2], count, tau.shape[-1])


def _alike(robot: Robot, names: list[str], tensors: list[Any]) -> list[Any]:
    """Return arguments whose leading axes are broadcast without a copy."""
    sizes = {"q0": robot.nq, "v0": robot.nv, "tau": robot.nu, "parameters": robot.parameters.size}
    leading = []
    for name, x in zip(names, tensors, strict=True):
        if not x.ndim or x.shape[-1] != sizes[name]:
            got = f"(..., {x.shape[-1]})" if x.ndim else "a single number"
            raise InputError(f"{name}: expected (..., {sizes[name]}), got {got} for robot '{robot.name}'")
        leading.append(tuple(x.shape[: -2 if name == "tau" else -1]))
    try:
        shape = torch_package().broadcast_shapes(*leading)
    except RuntimeError:
        axes = ", ".join(f"{name} {own}" for name, own in zip(names, leading, strict=True))
        raise InputError(f"rollout: the leading axes do not broadcast ({axes}) for robot '{robot.name}'") from None
    return [x.expand(*shape, *x.shape[len(own) :]) for x, own in zip(tensors, leading, strict=True)]


@once_function
def operations() -> tuple[Any, Any]:
    """Return the operations of a rollout and of its gradients, registered on first use."""
    torch = torch_package()
    given = "SymInt program, float dt, str method, SymInt every, Tensor[] arguments"

    def run(program: int, dt: float, method: str, every: int, arguments: list[Any]) -> list[Any]:
        q0, v0, tau, *pi = arrays_of(arguments)
        made, own = by_number(program), pi[0] if pi else None
        found = getattr(made, "found", None)
        states, diverged = stored(made.robot, q0, v0, tau, dt, found, method=method, save_every=every, parameters=own)
        return [torch.from_numpy(x) for x in (*states.values(), np.asarray(diverged))]

    def run_back(program: int, dt: float, method: str, every: int, arguments: list[Any]) -> list[Any]:
        *given, by_q, by_v = arrays_of(arguments)
        count = 2 + len(_others(program))
        (tau, *pi), states = given[:-count], given[-count:]
        leading = tau.shape[:-2]
        own = [x.reshape(-1, x.shape[-1]) for x in pi]
        kept = [x.reshape(-1, *x.shape[-2:]) for x in (*states, by_q, by_v)]
        found = adjoint.rollout_gradients(
            by_number(program).robot,
            method,
            dt,
            kept[:-2],
            tau.reshape(-1, *tau.shape[-2:]),
            own[0] if own else None,
            (kept[-2], kept[-1]),
            _contacts(program, leading),
        )
        return [torch.from_numpy(x.reshape(*leading, *x.shape[1:])) for x in found if x is not None]

    def shapes(program: int, dt: float, method: str, every: int, arguments: list[Any]) -> list[Any]:
        q0, v0, tau = arguments[:3]
        kept, sizes = tau.shape[-2] // every + 1, [q0.shape[-1], v0.shape[-1], *(x.size for x in _others(program))]
        states = [q0.new_empty((*q0.shape[:-1], kept, size)) for size in sizes]
        return [*states, q0.new_empty(q0.shape[:-1], dtype=torch.int64)]

    def gradient_shapes(program: int, dt: float, method: str, every: int, arguments: list[Any]) -> list[Any]:
        count = 2 + len(_others(program))
        fixed, (q, v) = arguments[: -count - 2], arguments[-2:]
        starts = [x.new_empty((*x.shape[:-2], x.shape[-1])) for x in (q, v)]
        return [*starts, *(x.new_empty(x.shape) for x in fixed)]

    def keep(ctx: Any, inputs: tuple[Any, ...], output: list[Any]) -> None:
        _keep(ctx, inputs[:4], inputs[4], output)

    def backward(ctx: Any, by: list[Any]) -> tuple[Any, ...]:
        return None, None, None, None, gradients(*ctx.given, [*ctx.saved_tensors, *by[:2]])

    def mapped(operation: Any) -> Any:
        def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[list[Any], list[int]]:
            results = operation(*given[:4], batched(given[4], in_dims[4], info.batch_size))
            return results, [0] * len(results)

        return vmap

    schema = f"({given}) -> Tensor[]"
    forward = torch.library.custom_op("appell::rollout", mutates_args=(), schema=schema)(run)
    gradients = torch.library.custom_op("appell::rollout_gradients", mutates_args=(), schema=schema)(run_back)
    forward.register_fake(shapes)
    gradients.register_fake(gradient_shapes)
    forward.register_autograd(backward, setup_context=keep)
    for operation in (forward, gradients):
        operation.register_vmap(mapped(operation))
    return forward, gradients


def _keep(ctx: Any, given: tuple[Any, ...], arguments: Sequence[Any], output: Sequence[Any]) -> None:
    """Store the data of the gradients: torques, parameters, and the stored states."""
    ctx.program, ctx.given = by_number(given[0]), given
    ctx.save_for_backward(*arguments[2:], *output[:-1])


@once_function
def function() -> Any:
    """Return the operation as an autograd function that supports the transforms of ``torch.func``."""
    (forwards, gradients), base = operations(), torch_package().autograd.Function

    class Rollout(base):  # type: ignore[misc, valid-type]  # PyTorch is imported lazily
        """A rollout; its gradients are not differentiable."""

        @staticmethod
        def forward(program: int, dt: float, method: str, every: int, *arguments: Any) -> tuple[Any, ...]:
            return tuple(forwards(program, dt, method, every, list(arguments)))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            ctx.mark_non_differentiable(*output[2:])
            _keep(ctx, inputs[:4], inputs[4:], output)

        @staticmethod
        def backward(ctx: Any, *by: Any) -> tuple[Any, ...]:
            return None, None, None, None, *gradients(*ctx.given, [*ctx.saved_tensors, *by[:2]])

        @staticmethod
        def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[Any, Any]:
            results = Rollout.apply(*given[:4], *batched(given[4:], in_dims[4:], info.batch_size))
            return results, (0,) * len(results)

    return Rollout

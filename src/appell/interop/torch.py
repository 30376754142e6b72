"""PyTorch: every verb of a robot as an operation on CPU tensors that autograd differentiates, and rollouts.

The functions take the robot and then the arguments of its methods: ``forward_dynamics(robot, q, v, tau)``. Kernels read
and write the memory of the tensors, in float64 or float32. Gradients are by all arguments, including ``parameters=``;
those by q are by its nq stored numbers, so that the chain rule holds. Derivatives of any order are compiled on first
use. ``torch.func.vmap`` and ``torch.compile`` are supported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import ABOVE_ZERO, choice, number, whole
from appell.errors import InputError
from appell.extras import extra
from appell.interop.differentiable import by_number, differentiable, functions, named, numbered, shared_axes
from appell.once import once_function
from appell.robot.robot import Robot
from appell.simulation.contact.points import Point
from appell.simulation.rollout import adjoint
from appell.simulation.rollout.ground import Coefficients, Contacts
from appell.simulation.rollout.rollout import grounded, stored
from appell.simulation.rollout.scheme import METHODS
from appell.simulation.walls.wall import Wall
from appell.trace.tape import Port

__all__ = ["evaluate", "rollout"]

# Tensors


def torch_package() -> Any:
    """Return PyTorch; raise if it is not installed."""
    return extra("torch", "appell.interop.torch needs")


def typed(names: list[str], given: tuple[Any, ...]) -> list[Any]:
    """Return arguments as CPU tensors of one floating-point type: float32 if all floating-point tensors are."""
    torch = torch_package()
    tensors = [x if isinstance(x, torch.Tensor) else _from(name, x) for name, x in zip(names, given, strict=True)]
    for name, x in zip(names, tensors, strict=True):
        if x.device.type not in ("cpu", "meta"):
            raise InputError(f"{name}: expected a tensor on the CPU, got one on {x.device}; move it with .cpu()")
        if x.is_complex():
            raise InputError(f"{name}: expected real numbers, got {x.dtype}")
    kinds = {x.dtype for x, y in zip(tensors, given, strict=True) if x is y and x.is_floating_point()}
    kind = torch.float32 if kinds == {torch.float32} else torch.float64
    return [x.to(kind) for x in tensors]


def _from(name: str, x: Any) -> Any:
    try:
        array = np.asarray(x, dtype=float)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"{name}: expected a tensor or an array of numbers, got {type(x).__name__} ({error})"
        ) from None
    return torch_package().from_numpy(array if array.flags.writeable else array.copy())


def as_tensor(x: Any) -> Any:
    """Return a tensor of any argument."""
    return x if isinstance(x, torch_package().Tensor) else _from("dt", x)


def arrays_of(tensors: list[Any]) -> list[Any]:
    """Return tensors as NumPy arrays that share their memory."""
    return [x.detach().resolve_neg().numpy() for x in tensors]


def batched(tensors: Sequence[Any], axes: Sequence[int | None], size: int) -> list[Any]:
    """Return tensors with the axis of a vmap first."""
    pairs = zip(tensors, axes, strict=True)
    return [x.expand(size, *x.shape) if at is None else x.movedim(at, 0) for x, at in pairs]


def expanded(what: str, robot: Robot, ports: Sequence[Port], tensors: Sequence[Any]) -> list[Any]:
    """Return arguments with their leading axes broadcast, without a copy."""
    shapes = [tuple(x.shape) for x in tensors]
    shape = shared_axes(what, robot, ports, shapes, torch_package().broadcast_shapes)
    return [
        x.expand(*shape, *own[len(own) - len(port.shape) :])
        for x, own, port in zip(tensors, shapes, ports, strict=True)
    ]


def custom_operation(name: str, numbers: str, compute: Any, shapes: Any) -> Any:
    """Return a function of some numbers and a list of tensors as an operation of PyTorch, with its rule of vmap."""
    count, library = numbers.count(",") + 1, torch_package().library
    schema = f"({numbers}, Tensor[] arguments) -> Tensor[]"
    operation = library.custom_op(f"appell::{name}", mutates_args=(), schema=schema)(compute)

    def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[list[Any], list[int]]:
        results = operation(*given[:count], batched(given[count], in_dims[count], info.batch_size))
        return results, [0] * len(results)

    operation.register_fake(shapes)
    operation.register_vmap(vmap)
    return operation


def autograd_function(operation: Any, count: int, keep: Any, gradients: Any) -> Any:
    """Return an operation of `count` numbers as an autograd function, for the transforms of ``torch.func``."""
    base = torch_package().autograd.Function

    class Function(base):  # type: ignore[misc, valid-type]  # PyTorch is imported lazily
        """The operation; `gradients` returns those by its tensors."""

        @staticmethod
        def forward(*given: Any) -> tuple[Any, ...]:
            return tuple(operation(*given[:count], list(given[count:])))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            keep(ctx, (*inputs[:count], inputs[count:]), output)

        @staticmethod
        def backward(ctx: Any, *by: Any) -> tuple[Any, ...]:
            return *(None,) * count, *gradients(ctx, by)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *given: Any) -> tuple[Any, Any]:
            results = Function.apply(*given[:count], *batched(given[count:], in_dims[count:], info.batch_size))
            return results, (0,) * len(results)

    return Function


# Verbs


def evaluate(
    robot: Robot, verb: str, *arguments: Any, about: Any = None, parameters: Any = None, formulation: str | None = None
) -> Any:
    """Evaluate any verb, as :meth:`appell.Robot.evaluate`, on tensors.

    Parameters
    ----------
    robot
        The robot.
    verb
        A row of ``robot.verbs``.
    *arguments
        Tensors (..., n) on the CPU, whose leading axes broadcast; lists and arrays work too. Where all floating-point
        tensors are float32, so is the result; it is float64 otherwise.
    about
        The frame of verbs such as "pose".
    parameters, formulation
        The options of :class:`appell.Robot`.

    Returns
    -------
    torch.Tensor
        The result, or a tuple of several.

    Raises
    ------
    InputError
        When PyTorch is not installed, or an argument is invalid; the message names it.

    Examples
    --------
    >>> import appell, torch
    >>> robot, q = appell.load("two-link"), torch.zeros(2, dtype=torch.float64, requires_grad=True)
    >>> appell.interop.torch.evaluate(robot, "potential_energy", q).backward()
    >>> bool((q.grad - torch.as_tensor(robot.gravity([0.0, 0.0]))).abs().max() < 1e-12)
    True
    """
    program = differentiable(robot, verb, about, parameters is not None, formulation)
    given = arguments if parameters is None else (*arguments, parameters)
    wanted = [port.name for port in program.inputs]
    if len(given) != len(wanted):
        raise InputError(f"{verb}: expected {', '.join(wanted)}, got {len(given)} arguments")
    alike = expanded(verb, robot, program.inputs, typed(wanted, given))
    results = function().apply(program.number, 0, *alike)
    return results[0] if len(results) == 1 else tuple(results)


@once_function
def operation() -> Any:
    """Return the operation of all verbs and their derivatives, registered on first use.

    ``torch.compile`` and ``opcheck`` use it; users call :func:`function`.
    """
    torch = torch_package()

    def compute(program: int, order: int, arguments: list[Any]) -> list[Any]:
        call, _, outputs = by_number(program).of_order(order)
        found = call(*arrays_of(arguments))
        results = (found,) if len(outputs) == 1 else found
        return [torch.from_numpy(np.asarray(x)) for x in results]

    def shapes(program: int, order: int, arguments: list[Any]) -> list[Any]:
        first, outputs = arguments[0], by_number(program).of_order(order)[2]
        return [first.new_empty((*first.shape[:-1], *port.shape)) for port in outputs]

    def backward(ctx: Any, by: list[Any]) -> tuple[None, None, list[Any]]:
        return None, None, verb(ctx.program.number, ctx.order + 1, _weighed(ctx, by))

    verb = custom_operation("verb", "SymInt program, SymInt order", compute, shapes)
    verb.register_autograd(backward, setup_context=_keep)
    return verb


@once_function
def function() -> Any:
    """Return the operation as an autograd function; its own derivative is the next order."""

    def gradients(ctx: Any, by: tuple[Any, ...]) -> Any:
        return function().apply(ctx.program.number, ctx.order + 1, *_weighed(ctx, by))

    return autograd_function(operation(), 2, _keep, gradients)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Sequence[Any]) -> None:
    program, order, arguments = inputs
    ctx.program, ctx.order = by_number(program), order
    ctx.save_for_backward(*arguments)


def _weighed(ctx: Any, gradients: Sequence[Any]) -> list[Any]:
    """Return the arguments of the next order: those of this one, and gradients by its results as rows."""
    arguments = ctx.saved_tensors
    leading, outputs = arguments[0].shape[:-1], ctx.program.of_order(ctx.order)[2]
    rows = zip(gradients, outputs, strict=True)
    return [
        *arguments,
        *(
            arguments[0].new_zeros(*leading, port.size) if g is None else g.reshape(*leading, port.size)
            for g, port in rows
        ),
    ]


_FUNCTIONS = functions(evaluate, as_tensor, "PyTorch")


def __getattr__(name: str) -> Any:
    """Return a verb as a function."""
    return named(__name__, _FUNCTIONS, name)


def __dir__() -> list[str]:
    return [*__all__, *_FUNCTIONS]


# Rollouts: forward and backward pass in native code, with checkpoints of bounded memory


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
    sizes = ((robot.nq,), (robot.nv,), (count, robot.nu), (robot.parameters.size,))
    ports = [Port(name, size) for name, size in zip(names, sizes, strict=False)]
    alike = expanded("rollout", robot, ports, tensors)
    every = adjoint.interval(count, save_every)
    q, v, *_, diverged = rollout_function().apply(program.number, dt, method, every, *alike)
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


@once_function
def operations() -> tuple[Any, Any]:
    """Return the operations of a rollout and of its gradients, registered on first use."""
    torch = torch_package()

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

    def backward(ctx: Any, by: list[Any]) -> tuple[Any, ...]:
        return None, None, None, None, _gradients(ctx, by)

    numbers = "SymInt program, float dt, str method, SymInt every"
    forward = custom_operation("rollout", numbers, run, shapes)
    forward.register_autograd(backward, setup_context=_keep_rollout)
    return forward, custom_operation("rollout_gradients", numbers, run_back, gradient_shapes)


def _gradients(ctx: Any, by: Sequence[Any]) -> list[Any]:
    return operations()[1](*ctx.given, [*ctx.saved_tensors, *by[:2]])


def _keep_rollout(ctx: Any, inputs: tuple[Any, ...], output: Sequence[Any]) -> None:
    """Store the data of the gradients: torques, parameters, and the stored states."""
    *given, arguments = inputs
    ctx.program, ctx.given = by_number(given[0]), given
    ctx.save_for_backward(*arguments[2:], *output[:-1])


@once_function
def rollout_function() -> Any:
    """Return a rollout as an autograd function; its gradients are not differentiable."""

    def keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.mark_non_differentiable(*output[2:])
        _keep_rollout(ctx, inputs, output)

    return autograd_function(operations()[0], 4, keep, _gradients)

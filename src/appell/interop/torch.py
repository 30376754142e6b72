"""PyTorch: every verb of a robot as an operation on CPU tensors that autograd differentiates, and rollouts.

The functions take the robot and then the arguments of its methods: ``forward_dynamics(robot, q, v, tau)``. Kernels read
and write the memory of the tensors, in float64 or float32. Gradients are by all arguments, including ``parameters=``;
those by q are by its nq stored numbers, so that the chain rule holds. Derivatives of any order are compiled on first
use. ``torch.func.vmap`` and ``torch.compile`` are supported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.interop.differentiable import (
    Differentiable,
    by_number,
    differentiable,
    functions,
    named,
)
from appell.interop.tensors import arrays_of, as_tensor, batched, torch_package, typed
from appell.interop.torch_rollout import rollout
from appell.once import once_function
from appell.robot.robot import Robot

__all__ = ["evaluate", "rollout"]


def evaluate(
    robot: Robot,
    verb: str,
    *arguments: Any,
    about: Any = None,
    parameters: Any = None,
    formulation: str | None = None,
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
    results = function().apply(program.number, 0, *_alike(program, given))
    return results[0] if len(results) == 1 else tuple(results)


def _alike(program: Differentiable, given: tuple[Any, ...]) -> list[Any]:
    """Return arguments as tensors of one type, their leading axes broadcast without a copy."""
    torch, names = torch_package(), [port.name for port in program.inputs]
    tensors = typed(names, given)
    leading = program.leading([tuple(x.shape) for x in tensors])
    try:
        shape = torch.broadcast_shapes(*leading)
    except RuntimeError:
        raise program.unalike(leading) from None
    return [x.expand(*shape, x.shape[-1]) for x in tensors]


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

    def keep(ctx: Any, inputs: tuple[Any, ...], output: list[Any]) -> None:
        _keep(ctx, *inputs)

    def backward(ctx: Any, gradients: list[Any]) -> tuple[None, None, list[Any]]:
        return None, None, verb(ctx.program.number, ctx.order + 1, _weighed(ctx, gradients))

    def vmap(info: Any, in_dims: Any, program: int, order: int, arguments: list[Any]) -> tuple[list[Any], list[int]]:
        results = verb(program, order, batched(arguments, in_dims[2], info.batch_size))
        return results, [0] * len(results)

    schema = "(SymInt program, SymInt order, Tensor[] arguments) -> Tensor[]"
    verb = torch.library.custom_op("appell::verb", mutates_args=(), schema=schema)(compute)
    verb.register_fake(shapes)
    verb.register_autograd(backward, setup_context=keep)
    verb.register_vmap(vmap)
    return verb


@once_function
def function() -> Any:
    """Return the operation as an autograd function that supports the transforms of ``torch.func``."""
    verb, base = operation(), torch_package().autograd.Function

    class Verb(base):  # type: ignore[misc, valid-type]  # PyTorch is imported lazily
        """A verb, or a derivative of one; its own derivative is the next order."""

        @staticmethod
        def forward(program: int, order: int, *arguments: Any) -> tuple[Any, ...]:
            return tuple(verb(program, order, list(arguments)))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
            program, order, *arguments = inputs
            _keep(ctx, program, order, arguments)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            return None, None, *Verb.apply(ctx.program.number, ctx.order + 1, *_weighed(ctx, gradients))

        @staticmethod
        def vmap(info: Any, in_dims: Any, program: int, order: int, *arguments: Any) -> tuple[Any, Any]:
            results = Verb.apply(program, order, *batched(arguments, in_dims[2:], info.batch_size))
            return results, (0,) * len(results)

    return Verb


def _keep(ctx: Any, program: int, order: int, arguments: Sequence[Any]) -> None:
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

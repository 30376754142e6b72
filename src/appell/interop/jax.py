"""JAX: every verb of a robot as a native kernel inside jit, vmap and grad, on the CPU.

The functions take the robot and then the arguments of its methods: ``forward_dynamics(robot, q, v, tau)``. XLA calls
the kernels through its foreign-function interface, without Python. Reverse mode (grad, jacrev, of any order) goes
through compiled vector–Jacobian products; gradients by q are by its nq stored numbers. Values are not checked: q must
be a valid configuration. For GPUs use the pure functions of ``robot.export(verb, to="jax")``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from appell.errors import InputError
from appell.extras import extra
from appell.interop.differentiable import Differentiable, differentiable, functions, named, shared_axes
from appell.kernels.runtime import cache
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.kernels.runtime.xla import Handler
from appell.once import Memo, once
from appell.robot.robot import Robot

__all__ = ["evaluate"]
WHAT = "appell.interop.jax needs"
_handlers = Memo()
"""Registered kernels, which XLA may call until the process ends."""


def evaluate(
    robot: Robot, verb: str, *arguments: Any, about: Any = None, parameters: Any = None, formulation: str | None = None
) -> Any:
    """Evaluate any verb, as :meth:`appell.Robot.evaluate`, inside JAX.

    Parameters
    ----------
    robot
        The robot, of up to 80 bodies.
    verb
        A row of ``robot.verbs``.
    *arguments
        Arrays (..., n), whose leading axes broadcast, traced ones too. The result is float32 unless JAX computes in
        double precision and an argument has it.
    about
        The frame of verbs such as "pose".
    parameters, formulation
        The options of :class:`appell.Robot`.

    Returns
    -------
    jax.Array
        The result, or a tuple of several.

    Raises
    ------
    InputError
        When JAX is not installed, or an argument is invalid; the message names it.

    Examples
    --------
    >>> import appell, jax
    >>> robot = appell.load("two-link")
    >>> slope = jax.jit(jax.grad(lambda q: appell.interop.jax.evaluate(robot, "potential_energy", q)))
    >>> bool(abs(slope(jax.numpy.zeros(2)) - robot.gravity([0.0, 0.0])).max() < 1e-4)
    True
    """
    program = differentiable(robot, verb, about, parameters is not None, formulation)
    if not robot.nv:
        raise InputError(f"{verb}: robot '{robot.name}' has no movable joint")
    given = arguments if parameters is None else (*arguments, parameters)
    wanted = [port.name for port in program.unguarded(0).inputs]
    if len(given) != len(wanted):
        raise InputError(f"{verb}: expected {', '.join(wanted)}, got {len(given)} arguments")
    results = _operation(program, 0)(*_alike(program, given))
    return results[0] if len(results) == 1 else tuple(results)


def _alike(program: Differentiable, given: Sequence[Any]) -> list[Any]:
    """Return arguments as arrays of one type, their leading axes broadcast."""
    jax = extra("jax", WHAT)
    arrays = []
    for port, x in zip(program.inputs, given, strict=True):
        try:
            arrays.append(as_array(x))
        except (ValueError, TypeError, OverflowError) as error:
            got = f"{type(x).__name__} ({error})"
            raise InputError(f"{port.name}: expected an array of numbers, got {got}") from None
    kind = jax.numpy.result_type(*arrays, jax.numpy.float32)
    if kind not in (jax.numpy.float32, jax.numpy.float64):
        raise InputError(f"{program.verb}: expected real numbers, got {kind} for robot '{program.robot.name}'")
    shapes = [x.shape for x in arrays]
    shape = shared_axes(program.verb, program.robot, program.inputs, shapes, jax.numpy.broadcast_shapes)
    return [jax.numpy.broadcast_to(x.astype(kind), (*shape, x.shape[-1])) for x in arrays]


def as_array(x: Any) -> Any:
    """Return an array of any argument."""
    return extra("jax", WHAT).numpy.asarray(x)


def _operation(program: Differentiable, order: int) -> Any:
    """Return a verb, or a derivative of one, as a function whose own derivative is the next order."""
    return once(program, (_operation, order), lambda: _made(program, order))


def _made(program: Differentiable, order: int) -> Any:
    jax, spec = extra("jax", WHAT), program.unguarded(order)

    @jax.custom_vjp  # type: ignore[untyped-decorator]  # JAX is imported lazily
    def operation(*arguments: Any) -> list[Any]:
        first = arguments[0]
        shapes = [jax.ShapeDtypeStruct((*first.shape[:-1], *port.shape), first.dtype) for port in spec.outputs]
        call = jax.ffi.ffi_call(_target(spec, is_single=first.dtype == "float32"), shapes, vmap_method="broadcast_all")
        return list(call(*arguments))

    def forward(*arguments: Any) -> tuple[list[Any], tuple[Any, ...]]:
        return operation(*arguments), arguments

    def backward(arguments: tuple[Any, ...], gradients: list[Any]) -> tuple[Any, ...]:
        leading = arguments[0].shape[:-1]
        weights = [g.reshape((*leading, port.size)) for g, port in zip(gradients, spec.outputs, strict=True)]
        return tuple(_operation(program, order + 1)(*arguments, *weights))

    operation.defvjp(forward, backward)
    return operation


def _target(spec: ProgramSpec, *, is_single: bool) -> str:
    """Return the name of a program's kernel in XLA, registered on first use."""
    jax = extra("jax.ffi", WHAT) and extra("jax", WHAT)
    precision = "float32" if is_single else "float64"
    name = f"appell_{spec.name}_{cache.digest(spec.name, spec.fingerprint, precision)}"

    def registered() -> Handler:
        made = Handler(spec, is_single=is_single)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(made.address), platform="cpu")
        return made

    _handlers(name, registered)
    return name


_FUNCTIONS = functions(evaluate, as_array, "JAX")


def __getattr__(name: str) -> Any:
    """Return a verb as a function."""
    return named(__name__, _FUNCTIONS, name)


def __dir__() -> list[str]:
    return [*__all__, *_FUNCTIONS]

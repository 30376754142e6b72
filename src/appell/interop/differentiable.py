"""Common code of the automatic differentiation frameworks: verbs by number, their derivatives, and functions by name.

In PyTorch and JAX a verb is an operation on arrays with equal leading axes. Its vector–Jacobian product is an operation
of the same kind and the next order (:meth:`appell.Robot.adjoint`), so that one rule differentiates all verbs to any
order.
"""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from appell.arguments import choice, truth
from appell.errors import InputError
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.messages import alternatives, listed, shown
from appell.once import once
from appell.robot.calls.call import Call
from appell.robot.robot import Robot
from appell.robot.verbs.steps import VERBS_OF_METHODS
from appell.robot.verbs.table import VERBS as ROWS
from appell.trace.tape import Port

OPTIONS = ("parameters", "formulation")
_numbers = itertools.count()
_known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


class Differentiable:
    """A verb of a robot, with the number that identifies it in a framework's operations."""

    def __init__(self, robot: Robot, verb: str, about: Any, is_parametric: bool, formulation: str | None) -> None:
        self.robot, self.verb, self.number = robot, verb, numbered(self)
        self._about, self._is_parametric, self._formulation = about, is_parametric, formulation
        self._orders: dict[int, tuple[Call, tuple[Port, ...], tuple[Port, ...]]] = {}

    def of_order(self, order: int) -> tuple[Call, tuple[Port, ...], tuple[Port, ...]]:
        """Return the callable of a derivative (order 0: the verb itself) with its inputs and outputs."""
        if order not in self._orders:
            self._orders[order] = self.robot.adjoint(
                self.verb, self._about, order=order, parametric=self._is_parametric, formulation=self._formulation
            )
        return self._orders[order]

    def unguarded(self, order: int) -> ProgramSpec:
        """Return the program of a derivative without guards."""
        return self.robot.unguarded(
            self.verb, self._about, order=order, parametric=self._is_parametric, formulation=self._formulation
        )

    @cached_property
    def inputs(self) -> tuple[Port, ...]:
        """Return the arguments of the verb; π is the last, if it is one."""
        return self.unguarded(0).inputs if not self.robot.kind.is_looped else self.of_order(0)[1]


def differentiable(
    robot: Robot, verb: str, about: Any = None, is_parametric: bool = False, formulation: str | None = None
) -> Differentiable:
    """Return a verb of a robot; the same object for the same arguments."""
    for what, name in (("verb", verb), ("frame", about), ("formulation", formulation)):
        if not isinstance(name, str | None):
            raise InputError(f"{what}: expected a name, got {shown(name)} for robot '{checked_robot(robot).name}'")
    given = (verb, about, is_parametric, formulation)
    return once(checked_robot(robot), (Differentiable, *given), lambda: Differentiable(robot, *given))


def shared_axes(
    what: str,
    robot: Robot,
    ports: Sequence[Port],
    shapes: Sequence[tuple[int, ...]],
    broadcast: Callable[..., Sequence[int]],
) -> Sequence[int]:
    """Return the leading axes to which arguments of these shapes broadcast; raise if a size does not match."""
    for port, shape in zip(ports, shapes, strict=True):
        if not shape or shape[-1] != port.shape[-1]:
            got = f"(..., {shape[-1]})" if shape else "a single number"
            raise InputError(f"{port.name}: expected (..., {port.shape[-1]}), got {got} for robot '{robot.name}'")
    leading = [shape[: len(shape) - len(port.shape)] for port, shape in zip(ports, shapes, strict=True)]
    try:
        return broadcast(*leading)
    except (ValueError, RuntimeError):
        axes = ", ".join(f"{port.name} {tuple(own)}" for port, own in zip(ports, leading, strict=True))
        raise InputError(f"{what}: the leading axes do not broadcast ({axes}) for robot '{robot.name}'") from None


def numbered(made: Any) -> int:
    """Return the number by which an object with a robot is known as long as it lives."""
    number = next(_numbers)
    _known[number] = made
    return number


def by_number(number: int) -> Any:
    """Return the verb, or what else has a number."""
    try:
        return _known[number]
    except KeyError:
        raise InputError(f"verb {number}: its robot was deleted; keep the robot as long as its graph is used") from None


def checked_robot(robot: Any) -> Robot:
    """Return a robot; raise for any other type."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected a robot, got {type(robot).__name__}; give the robot first")
    return robot


VERBS = tuple(name for name in ROWS if hasattr(Robot, name))
"""The methods of a robot that are functions of the frameworks, with the robot as first argument."""

Evaluate = Callable[..., Any]
"""evaluate(robot, verb, *arguments, about=None, parameters=None, formulation=None), of a framework."""


def functions(evaluate: Evaluate, as_array: Callable[[Any], Any], package: str) -> dict[str, Callable[..., Any]]:
    """Return every verb as a function of a framework, by name, with the arguments of the robot's methods."""
    return {name: _function(name, evaluate, as_array, package) for name in VERBS}


def named(module: str, known: Mapping[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
    """Return a function of a module by name; raise an AttributeError with the known names otherwise."""
    if name not in known:
        hint = "" if name.startswith("_") else f"; {alternatives(name, known, 60)}"
        raise AttributeError(f"module '{module}' has no attribute '{name}'{hint}")
    return known[name]


def _function(name: str, evaluate: Evaluate, as_array: Callable[[Any], Any], package: str) -> Callable[..., Any]:
    method = getattr(Robot, name)
    own, *others = inspect.signature(method).parameters.values()
    signature = inspect.Signature([own.replace(name="robot", annotation="Robot"), *others])

    def function(*arguments: Any, **options: Any) -> Any:
        given = signature.bind(*arguments, **options)
        given.apply_defaults()
        return _evaluated(name, evaluate, as_array, given.arguments)

    first = (method.__doc__ or "").strip().splitlines()[0]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{first}\n\n    :meth:`appell.Robot.{name}` on arrays of {package}, differentiable."
    function.__signature__ = signature  # type: ignore[attr-defined]  # for help() and editors
    return function


def _evaluated(name: str, evaluate: Evaluate, as_array: Callable[[Any], Any], given: Mapping[str, Any]) -> Any:
    robot, options = checked_robot(given["robot"]), dict(given.get("options") or {})
    unknown = options.keys() - set(OPTIONS)
    if unknown:
        why = "; results are new arrays" if "out" in unknown else ""
        hint = alternatives(min(unknown), OPTIONS)
        raise InputError(f"{name}: unknown option {listed(sorted(unknown))}; {hint}{why}")
    verb = name
    if "method" in given:
        suffix = name.removeprefix("step")
        verb = VERBS_OF_METHODS[choice("step: unknown method", given["method"], VERBS_OF_METHODS)] + suffix
    arguments = [given[argument] for argument, _ in robot.verbs[verb].inputs]
    if "dt" in given:
        arguments[-1] = as_array(arguments[-1])[..., None]
    wrenches = given.get("wrenches")
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches: expected a dictionary of frames and wrenches (..., 6), got {shown(wrenches)}")
    loads = [evaluate(robot, "wrench_forces", arguments[0], w, about=frame) for frame, w in (wrenches or {}).items()]
    load = sum(loads[1:], loads[0]) if loads else None
    if (weights := given.get("weights")) is not None:
        outside = as_array([0.0] * robot.nv) if load is None else load
        return evaluate(robot, f"{verb}_weighted", *arguments, outside, weights, **options)
    if load is not None:
        return evaluate(robot, f"{verb}_loaded", *arguments, load, **options)
    result = evaluate(robot, verb, *arguments, about=given.get("frame"), **options)
    return result[..., robot.base_columns] if truth("regressor: base", given.get("base", False)) else result

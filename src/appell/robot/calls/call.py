"""The path from arguments to results: kernel, guards, results, errors.

A call is prepared once per program. Plain arrays take the fast path of
:mod:`appell.kernels.runtime.callables`; other calls use the kernel's ufunc. Values of guards are checked afterwards.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from appell.arguments import numbers
from appell.errors import AllocationError, InputError
from appell.kernels.runtime.kernel import ConstantKernel, Kernel
from appell.kernels.runtime.memory import apart
from appell.kernels.runtime.program_spec import ProgramSpec, write_out
from appell.once import Memo
from appell.robot.calls import compile
from appell.robot.kind import Failure, Key, Kind

Call = Callable[..., Any]
AnyKernel = Kernel | ConstantKernel


def kernel(spec: ProgramSpec) -> AnyKernel:
    """Return the kernel of a program: native code, or constants where it has no inputs or no outputs."""
    is_constant = not any(port.size for port in spec.inputs) or not any(port.size for port in spec.outputs)
    return ConstantKernel(spec) if is_constant else Kernel(spec)


def prepared(kind: Kind, key: Key) -> Call:
    """Return the callable of a verb: its arguments, then `out` if given.

    Single precision has a program of its own where it needs other guards.
    """
    single = key._replace(is_single=True)
    double = of_program(kind, key)
    if compile.ports(kind, single)[2] == compile.ports(kind, key)[2]:
        return double
    count, memo, found = len(compile.ports(kind, key)[0]), Memo(), None

    def by_precision(*arguments: Any) -> Any:
        nonlocal found
        first = arguments[0]
        if isinstance(first, np.ndarray) and first.dtype == np.float32 and _is_single(arguments[1:count]):
            if found is None:
                found = memo(single, partial(of_program, kind, single))
            return found(*arguments)
        return double(*arguments)

    return by_precision


def _is_single(arguments: tuple[Any, ...]) -> bool:
    return all(isinstance(x, np.ndarray) and x.dtype == np.float32 for x in arguments)


def _bare(x: Any) -> Any:
    """Return a plain array for a subclass of NumPy's, such as np.matrix, whose results would be of that class.

    Arrays of other packages, such as tensors, share their memory.
    """
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise TypeError("a masked array")
    return np.asarray(x) if hasattr(x, "__array__") else x


def of_program(kind: Kind, key: Key) -> Call:
    """Return the callable of a program."""
    program = compile.program(kind, key)
    guards, compiled = program.guards, kernel(program.spec)
    count, n_results = len(program.spec.inputs), len(program.spec.outputs) - len(guards)
    own = ProgramSpec(key.verb, program.spec.inputs, program.spec.outputs[:n_results], "", program.spec.make)
    keeps_out, nothing = any(guard.keeps_out for guard in guards), (None,) * len(guards)
    check = partial(check_out, kind.model.name, own)

    def general(*arguments: Any) -> Any:
        """Return the results and guards; not yet in `out` if a result overlaps an argument and there are guards."""
        given, out = arguments[:count], arguments[count] if len(arguments) > count else None
        for port, argument in zip(program.spec.inputs, given, strict=False):
            if isinstance(argument, np.ma.MaskedArray):  # NumPy would use the numbers under the mask
                numbers(kind.model.name, port.name, port.shape, argument)
        if out is not None:
            check(given, out if not guards else out[:n_results] if n_results > 1 else out[0])
        try:
            given = tuple(x if type(x) is np.ndarray else _bare(x) for x in given)
            is_apart = out is None or apart(given, out if isinstance(out, tuple) else (out,))
            if guards:  # they report what NumPy would
                with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                    return compiled.evaluate(given, out if is_apart else None)
            return compiled.evaluate(given, out) if is_apart else compiled(*given, out=out)
        except (ValueError, TypeError, OverflowError, RuntimeError) as error:
            raise explain(kind.model.name, own, arguments[:count], None, error) from None
        except MemoryError as error:
            what = "" if isinstance(error, AllocationError) else f"{key.verb}: out of memory: "  # NumPy's
            raise AllocationError(f"robot '{kind.model.name}': {what}{error}") from None

    short: Call = compiled.fast_call(general)
    if not guards:
        return short

    def judged(arguments: tuple[Any, ...], found: Sequence[Any]) -> Sequence[Any]:
        """Return the results, those of bad samples as the kind of robot recovers them; guards may follow them."""
        results = found
        for k, guard in enumerate(guards, start=n_results):
            if not guard.passes(found[k]):
                failure = Failure(arguments, list(results[:n_results]), found[k], compiled)
                results = kind.recovered(key, guard.name, failure)
        return results

    def into(arguments: tuple[Any, ...], out: Any) -> Any:
        """Write results into `out`, after the guards if it overlaps an argument or a guard protects it."""
        places = out if isinstance(out, tuple) else (out,)
        if keeps_out or isinstance(out, tuple) is not (n_results > 1) or len(places) != n_results:
            check(arguments, out)
            return write_out(list(judged(arguments, short(*arguments))[:n_results]), out)
        results = judged(arguments, short(*arguments, (*places, *nothing)))
        return out if all(map(operator.is_, places, results)) else write_out(list(results[:n_results]), out)

    def checked(*arguments: Any) -> Any:
        if len(arguments) > count:
            return into(arguments[:count], arguments[count])
        results = judged(arguments, short(*arguments))
        return results[0] if n_results == 1 else tuple(results[:n_results])

    return checked


# Errors


def check_out(robot: str, recipe: ProgramSpec, arguments: tuple[Any, ...], out: Any) -> None:
    """Raise an InputError if `out` cannot receive the results."""
    try:
        is_good = _takes(recipe, arguments, out)
    except (ValueError, TypeError, OverflowError):  # an argument is not an array
        is_good = False
    if not is_good:
        raise explain(robot, recipe, arguments, out, ValueError("out does not fit"))


def _takes(recipe: ProgramSpec, arguments: tuple[Any, ...], out: Any) -> bool:
    """Return whether `out` can receive the results: plain float arrays of the right shapes, without shared memory."""
    places = out if isinstance(out, tuple) else (out,)
    if len(places) != len(recipe.outputs):
        return False
    shapes = (x.shape if type(x) is np.ndarray else np.shape(x) for x in arguments)
    axes = {x[: len(x) - len(port.shape)] for x, port in zip(shapes, recipe.inputs, strict=True)}
    axes.discard(())
    try:
        shape = np.broadcast_shapes(*axes) if len(axes) > 1 else axes.pop() if axes else ()
    except ValueError:
        return False
    for port, place in zip(recipe.outputs, places, strict=True):
        if place is not None and not (
            isinstance(place, np.ndarray)
            and place.shape == shape + port.shape
            and place.dtype.kind == "f"
            and place.flags.writeable
            and not isinstance(place, np.ma.MaskedArray)
        ):
            return False
    return _are_apart(places)


def _are_apart(places: tuple[Any, ...]) -> bool:
    given = [place for place in places if place is not None]
    return len(given) < 2 or not any(np.may_share_memory(a, b) for a, b in itertools.combinations(given, 2))


def explain(robot: str, recipe: ProgramSpec, arguments: tuple[Any, ...], out: Any, error: Exception) -> InputError:
    """Return the error for arguments that a kernel rejected."""
    leading = []
    for port, argument in zip(recipe.inputs, arguments, strict=True):
        try:
            array = numbers(robot, port.name, port.shape, argument)
        except InputError as misfit:
            return misfit
        leading.append((port.name, array.shape[: array.ndim - len(port.shape)]))
    try:
        shape = np.broadcast_shapes(*(axes for _, axes in leading))
    except ValueError:
        shapes = ", ".join(f"{name} {axes}" for name, axes in leading)
        return InputError(f"{recipe.name}: the leading axes do not broadcast ({shapes}) for robot '{robot}'")
    places = out if isinstance(out, tuple) else (out,)
    if out is not None and len(places) != len(recipe.outputs):
        got = f"{len(places)} of them" if isinstance(out, tuple) else type(out).__name__
        return InputError(f"out: expected a tuple of {len(recipe.outputs)} arrays, got {got} for robot '{robot}'")
    for port, place in zip(recipe.outputs, places, strict=False):
        if place is None:
            continue
        is_plain = isinstance(place, np.ndarray) and not isinstance(place, np.ma.MaskedArray)
        if not is_plain or place.shape != shape + port.shape:
            got = place.shape if is_plain else type(place).__name__
            return InputError(f"out: expected an array of shape {shape + port.shape}, got {got} for robot '{robot}'")
        if place.dtype.kind != "f":
            return InputError(f"out: expected an array of floats, got {place.dtype} for robot '{robot}'")
        if not place.flags.writeable:
            return InputError(f"out: the array is read-only; use a writable one, for robot '{robot}'")
    if not _are_apart(places):
        return InputError(f"out: two of the arrays share memory; use one array per result, for robot '{robot}'")
    return InputError(f"{recipe.name} of robot '{robot}': {error}")

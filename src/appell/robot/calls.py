"""The path from arguments to results: kernel, guards, results, errors.

A call is prepared once per program. Plain arrays take the fast path of
:mod:`appell.kernels.runtime.fast_call`; other calls use the kernel's ufunc. Values of guards are checked afterwards.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from appell.errors import AllocationError
from appell.kernels.runtime.constant import ConstantKernel
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.memory import apart
from appell.kernels.runtime.program_spec import ProgramSpec, write_out
from appell.once import Memo
from appell.robot import compile
from appell.robot.arguments import check_out, explain, numbers
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

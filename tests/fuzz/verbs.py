"""Targets that are verbs: arrays of odd shapes, types, layouts and values; results equal those of plain samples."""

from __future__ import annotations

import functools
import itertools
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import AppellError, AppellWarning
from appell.robot.robot import Robot
from tests.fuzz.engine import BrokenPropertyError, Input, Target, ensure
from tests.support.kinds import about, arguments, random_states
from tests.support.pool import LONG, OF_EACH_KIND, pool

Array = NDArray[Any]
SAMPLES = 7
LEADS: Sequence[tuple[int, ...]] = (
    (),
    (),
    (1,),
    (2,),
    (3,),
    (5,),
    (17,),
    (2, 3),
    (2, 1),
    (1, 3),
    (0,),
    (3, 0),
    (1, 1, 1),
    (4,),
    (70,),
)
VALUES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, -0.0, 1e9, 1e15, 1e5, 0.0)
CHEAP = ("inverse_dynamics", "mass_matrix", "potential_energy", "forward_dynamics", "motion", "jacobian", "gravity")
"""Verbs of each way of evaluation and of each number of results: what robots are called with that compile slowly."""
QUICK = (b'"inverse_dynamics"', b'"mass_matrix"')
"""Verbs of the short run, since each takes its time to compile."""
SMALL = ("screws", "hand", "wrist")
"""Robots that are called with every verb."""


def _padded(x: Array, step: int) -> Array:
    """Return the numbers of an array in every so many places of a larger one, with NaN between."""
    wide = np.full((*x.shape[:-1], step * x.shape[-1] + 1), np.nan)
    wide[..., 1::step] = x
    return wide[..., 1::step]


def _unaligned(x: Array) -> Array:
    return np.frombuffer(b"\x00" + np.ascontiguousarray(x).tobytes(), dtype=np.uint8)[1:].view(float).reshape(x.shape)


def _other_rows(x: Array) -> Array:
    """Return the rows of an array as every second row of a larger one, last first."""
    wide = np.full((2 * len(x), *x.shape[1:]), np.nan) if x.ndim > 1 else None
    if wide is None:
        return x
    wide[::-2] = x
    return wide[::-2]


SAME: dict[str, Callable[[Array], Any]] = {
    "plain": lambda x: x,
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()) if x.ndim else x,
    "fortran": np.asfortranarray,
    "padded": lambda x: _padded(x, 2),
    "last first": lambda x: np.flip(np.flip(x).copy()),
    "other rows": _other_rows,
    "big-endian": lambda x: x.astype(">f8"),
    "unaligned": _unaligned,
    "object view": lambda x: x.view(np.ndarray),
    "moved axes": lambda x: np.moveaxis(np.moveaxis(x, -1, 0).copy(), 0, -1),
}
"""Forms in which an array has the same numbers: each is accepted."""
OTHER: dict[str, Callable[[Array], Any]] = {
    "float32": lambda x: x.astype(np.float32),
    "big-endian float32": lambda x: x.astype(">f4"),
    "float16": lambda x: x.astype(np.float16),
    "longdouble": lambda x: x.astype(np.longdouble),
    "integers": lambda x: np.nan_to_num(x, posinf=0.0, neginf=0.0).clip(-9, 9).astype(int),
    "bytes": lambda x: np.nan_to_num(x).clip(0, 9).astype(np.uint8),
    "truths": lambda x: x > 0.0,
    "complex": lambda x: x.astype(complex),
    "objects": lambda x: x.astype(object),
    "text": lambda x: x.astype(str),
    "dates": lambda x: np.zeros(x.shape, dtype="datetime64[s]"),
    "records": lambda x: np.zeros(x.shape, dtype=[("a", float)]),
    "masked": lambda x: np.ma.masked_array(x, mask=np.arange(x.size).reshape(x.shape) == 0),
    "nothing masked": np.ma.masked_array,
    "matrix": lambda x: np.asmatrix(x) if x.ndim < 3 else x,
    "memory": lambda x: np.ascontiguousarray(x).data,
    "one more": lambda x: np.concatenate([x, x[..., :1]], axis=-1),
    "one less": lambda x: x[..., :-1],
    "one number": lambda x: 1.0,
    "one zero-dimensional": lambda x: np.array(1.0),
    "none": lambda x: None,
    "empty": lambda x: [],
    "ragged": lambda x: [[1.0, 2.0], [1.0]],
    "dictionary": lambda x: {"q": x},
    "word": lambda x: "neutral",
    "iterator": lambda x: iter(x.tolist()),
    "column": lambda x: x[..., None],
    "itself in a list": lambda x: [x],
    "deep list": lambda x: functools.reduce(lambda inner, _: [inner], range(70), x.tolist()),
}
"""Forms that may be refused, or change the numbers: what is accepted must be right."""
FORMS = {**SAME, **OTHER}


def _out(form: str, expected: Array, given: list[Any]) -> Any:
    """Return an array to write results to, in one of the forms :data:`OUTS`."""
    shape = expected.shape
    if form in ("input", "shifted"):
        for x in given:
            if isinstance(x, np.ndarray) and x.shape == shape and x.dtype == float and x.size and x.flags.writeable:
                if form == "input":
                    return x
                wide = np.zeros(x.size + 1)
                wide[:-1] = x.ravel()
                given[next(k for k, y in enumerate(given) if y is x)] = wide[:-1].reshape(shape)
                return wide[1:].reshape(shape)
        return np.zeros(shape)
    made: dict[str, Callable[[], Any]] = {
        "right": lambda: np.zeros(shape),
        "fortran": lambda: np.zeros(shape, order="F"),
        "padded": lambda: np.zeros((*shape, 2))[..., 0],
        "last first": lambda: np.flip(np.zeros(shape)) if shape else np.zeros(shape),
        "float32": lambda: np.zeros(shape, np.float32),
        "big-endian": lambda: np.zeros(shape, ">f8"),
        "longdouble": lambda: np.zeros(shape, np.longdouble),
        "complex": lambda: np.zeros(shape, complex),
        "integers": lambda: np.zeros(shape, int),
        "objects": lambda: np.zeros(shape, object),
        "text": lambda: "out",
        "list": lambda: np.zeros(shape).tolist(),
        "one more": lambda: np.zeros((*shape, 1)),
        "larger": lambda: np.zeros((2, *shape)),
        "one less": lambda: np.zeros(shape[1:]),
        "masked": lambda: np.ma.zeros(shape),
        "read-only": lambda: _frozen(np.zeros(shape)),
        "unaligned": lambda: np.zeros(8 * int(np.prod(shape)) + 1, np.uint8)[1:].view(float).reshape(shape),
    }
    return made[form]()


OUTS_RIGHT = ("right", "fortran", "padded", "last first", "input", "shifted", "unaligned", "big-endian")
OUTS = (
    *OUTS_RIGHT, "float32", "longdouble", "complex", "integers", "objects", "text", "list", "one more", "larger",
    "one less", "masked", "read-only",
)  # fmt: skip


def _frozen(x: Array) -> Array:
    x.flags.writeable = False
    return x


def draw(name: str, rng: Random) -> Input:
    """Return a call of a verb as JSON: per argument its leading axes, form and hostile value; and the form of out."""
    robot = pool(name)
    verbs = tuple(robot.verbs) if name in SMALL else CHEAP
    verb = rng.choice(verbs)
    lead = rng.choice(LEADS)
    faults, parts = 0, []
    for _ in robot.verbs[verb].inputs:
        own = lead[rng.randrange(len(lead) + 1) :] if rng.random() < 0.2 else lead
        own = rng.choice(LEADS) if rng.random() < 0.05 else own
        form = rng.choice(list(SAME)) if rng.random() < 0.7 else rng.choice(list(OTHER))
        value = rng.randrange(len(VALUES)) if rng.random() < 0.15 else None
        faults += (form != "plain") + (value is not None)
        parts.append({"lead": own, "form": form, "value": value, "at": rng.randrange(1000)})
    out = rng.choice(OUTS) if rng.random() < 0.35 else None
    case = {"verb": verb, "arguments": parts, "out": out}
    return Input(json.dumps(case).encode(), faults + (out is not None))


@functools.cache
def _base(name: str, verb: str) -> list[Array]:
    robot = pool(name)
    return arguments(robot, verb, random_states(robot, SAMPLES))


def call(name: str, path: Path) -> None:
    """Call a verb as a case says, and compare with plain samples."""
    robot, case = pool(name), json.loads(path.read_text(encoding="utf-8"))
    verb = case["verb"]
    exact: list[Any] = []
    given: list[Any] = []
    is_usual = True
    for part, base in zip(case["arguments"], _base(name, verb), strict=True):
        lead = tuple(part["lead"])
        x = base[np.arange(int(np.prod(lead, dtype=int))) % SAMPLES].reshape(*lead, base.shape[-1]).copy()
        if part["value"] is not None and x.size:
            x.flat[part["at"] % x.size] = VALUES[part["value"]]
        with np.errstate(all="ignore"):
            given.append(FORMS[part["form"]](x))
        exact.append(_meaning(given[-1], base.shape[-1:]))
        is_usual &= part["value"] is None and part["form"] in SAME
    try:
        leads = np.broadcast_shapes(*(x.shape[:-1] for x in exact if x is not None))
    except ValueError:
        leads, is_usual = (), False
    is_known = all(x is not None for x in exact)
    expected, problem = _plain(robot, verb, exact, leads) if is_known else ((), None)
    options = _places(case["out"], expected, given) if case["out"] and expected else {}
    is_usual &= not options or case["out"] in OUTS_RIGHT
    kept = [np.array(x, copy=True) if isinstance(x, np.ndarray) else None for x in given]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always", AppellWarning)
            found = robot.evaluate(verb, *given, about=about(robot, verb), **options)
    except AppellError as error:
        ensure(not is_usual or not is_known or problem, f"{verb} refused arguments that fit: {error}")
        raise
    ensure(is_known, f"{verb} accepted arguments that are no numbers of its size")
    ensure(problem is None, f"{verb} accepted samples of which it refuses one by itself: {problem}")
    is_single = all(np.can_cast(np.asarray(x).dtype, np.float32) for x in given)  # the type of the inputs decides
    if not (is_single and doubts):  # near a singularity, or with loops open, few digits are right
        _compare(verb, found, expected, exact, is_single)
    if options:
        places = options["out"] if isinstance(options["out"], tuple) else (options["out"],)
        results = found if isinstance(found, tuple) else (found,)
        ensure(all(x is y for x, y in zip(results, places, strict=True)), f"{verb}: out is not what was returned")
    for x, before in zip(given, kept, strict=True):
        if before is not None and case["out"] not in ("input", "shifted"):
            ensure(np.asarray(x).tobytes() == before.tobytes(), f"{verb} changed an argument")


def _meaning(x: Any, shape: tuple[int, ...]) -> Array | None:
    """Return an argument as a plain array of float64; None where it is no array of real numbers of that size."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        return None
    try:
        array = np.asarray(x)
    except ValueError:
        return None
    if array.dtype.kind not in "fiub" or array.shape[array.ndim - 1 :] != shape:
        return None
    return np.array(array, dtype=float)


def _plain(robot: Robot, verb: str, exact: list[Any], lead: tuple[int, ...]) -> tuple[tuple[Array, ...], str | None]:
    """Return the results by plain evaluation, sample after sample, or else why a sample is refused."""
    count = len(robot.base_columns) if robot.verbs[verb].about == "columns" else 2  # or two points
    _, ports = robot.verbs[verb].ports({**robot.facts.sizes, "n": count})
    results = tuple(np.zeros((*lead, *port.shape)) for port in ports)
    try:
        wide = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in exact]
    except ValueError as error:
        return results, str(error)
    for index in itertools.product(*map(range, lead)):
        try:
            with np.errstate(all="ignore"):
                found = robot.evaluate(verb, *(np.ascontiguousarray(x[index]) for x in wide), about=about(robot, verb))
        except AppellError as error:
            return results, str(error)
        for result, one in zip(results, found if isinstance(found, tuple) else (found,), strict=True):
            result[index] = one
    return results, None


def _places(form: str, expected: tuple[Array, ...], given: list[Any]) -> dict[str, Any]:
    places: list[Any] = []
    for x in expected:
        place = _out(form, x, given)
        places.append(np.zeros(x.shape) if any(place is other for other in places) else place)
    return {"out": tuple(places) if len(places) > 1 else places[0]}


def _compare(verb: str, found: Any, expected: tuple[Array, ...], exact: list[Array], is_single: bool) -> None:
    """Check results: equal to the last bit in double precision, to some digits in single precision.

    An array for the results may have more leading axes than the arguments, or less of length 1, as NumPy allows.
    """
    results = [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
    ensure(len(results) == len(expected), f"{verb} gave {len(results)} results")
    is_wild = any(not np.isfinite(x).all() or (np.abs(x) > 1e4).any() for x in exact)
    for x, y in zip(results, expected, strict=True):
        same = x.reshape(y.shape) if x.size == y.size else x
        ensure(same.shape[same.ndim - y.ndim :] == y.shape, f"{verb} gave shape {x.shape}, expected {y.shape}")
        y = np.broadcast_to(y, same.shape).reshape(x.shape)  # noqa: PLW2901
        if x.dtype.itemsize >= 8 and not is_single:
            if not np.array_equal(np.asarray(x).astype(complex), y.astype(complex), equal_nan=True):
                raise BrokenPropertyError(
                    f"{verb}: {np.abs(x - y).max():g} from plain evaluation, of {np.abs(y).max():g}"
                )
        elif not is_wild:
            is_number = ~(np.isnan(x) & np.isnan(y))  # not-a-number in both: of a quaternion of zeros
            size = 1.0 + np.abs(y[is_number]).max(initial=0.0)
            error = np.abs(x - y)[is_number].max(initial=0.0)
            ensure(error <= 1e-2 * size, f"{verb}: single precision is off by {error:g}, of {size:g}")


def _target(name: str) -> Target:
    own = f"verbs-{name.replace(' ', '-')}"
    steps = (functools.partial(draw, name), functools.partial(call, name))
    return Target(own, ".json", *steps, 3.0, 0 if name == LONG else 12, lambda data: any(x in data for x in QUICK))


VERBS = [_target(name) for name in OF_EACH_KIND]

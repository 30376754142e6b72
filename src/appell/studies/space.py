"""The cases of a study: grids, lists, Latin hypercubes, Sobol sequences and random draws."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.arguments import whole
from appell.errors import InputError
from appell.messages import listed, shown

MOST = 10**8
"""The largest number of cases."""
__all__ = ["Space", "cases", "grid", "latin_hypercube", "random", "sobol"]


@dataclass(frozen=True)
class Space(Sequence[dict[str, Any]]):
    """The cases of a study, as one column of values per argument of its function.

    The product of two spaces combines every case of the first with every case of the second.

    Parameters
    ----------
    columns : dict
        Values per argument, all of the same length.

    Examples
    --------
    >>> space = grid(mass=[1.0, 2.0]) * cases([{"tool": "gripper"}, {"tool": "welder"}])
    >>> len(space), space[2]
    (4, {'mass': 2.0, 'tool': 'gripper'})
    """

    columns: Mapping[str, Sequence[Any]]
    """Values per argument, all of the same length."""

    @property
    def names(self) -> list[str]:
        """Return the names of the arguments."""
        return list(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return {name: _plain(column[k]) for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[k] for k in range(len(self)))

    def __mul__(self, other: Space) -> Space:
        both = [name for name in self.columns if name in other.columns]
        if both:
            raise InputError(f"space: both factors have the arguments {listed(both)}; give each argument once")
        slow, fast = np.repeat(np.arange(len(self)), len(other)), np.tile(np.arange(len(other)), len(self))
        taken = {name: _taken(column, slow) for name, column in self.columns.items()}
        return Space(taken | {name: _taken(column, fast) for name, column in other.columns.items()})


def grid(**axes: Any) -> Space:
    """Return all combinations of values; the last argument varies fastest.

    Parameters
    ----------
    **axes
        Values per argument: a sequence, or one value for all cases. An array with two or more axes is a sequence of
        arrays.

    Returns
    -------
    Space

    Examples
    --------
    >>> grid(mass=[1.0, 2.0], speed=[0.1, 0.2, 0.3])[1]
    {'mass': 1.0, 'speed': 0.2}
    """
    _some("grid", axes)
    columns = {name: _sequence(name, axis) for name, axis in axes.items()}
    whole("grid: the number of cases", math.prod(len(column) for column in columns.values()), 1, MOST)
    places = np.indices([len(column) for column in columns.values()]).reshape(len(columns), -1)
    return Space({name: _taken(column, k) for (name, column), k in zip(columns.items(), places, strict=True)})


def cases(each: Sequence[Mapping[str, Any]]) -> Space:
    """Return explicitly listed cases.

    Parameters
    ----------
    each
        The arguments of every case; all cases have the same names.

    Returns
    -------
    Space

    Raises
    ------
    InputError
        When there is no case, or two cases differ in their names.

    Examples
    --------
    >>> cases([{"mass": 1.0, "tool": "gripper"}, {"mass": 2.0, "tool": "welder"}])[1]
    {'mass': 2.0, 'tool': 'welder'}
    """
    if not each:
        raise InputError("cases: expected at least one case, got none")
    for k, case in enumerate(each):
        if not isinstance(case, Mapping) or not all(isinstance(name, str) for name in case):
            raise InputError(f"cases: expected a dict of arguments per case, got {shown(case)} for case {k}")
        if case.keys() != each[0].keys():
            raise InputError(f"cases: case {k} has arguments {listed(case)}, case 0 has {listed(each[0])}")
    _some("cases", each[0])
    return Space({name: [case[name] for case in each] for name in each[0]})


def latin_hypercube(n: int, *, seed: int = 0, **ranges: Any) -> Space:
    """Return a Latin hypercube: n samples that cover each range evenly (:class:`scipy.stats.qmc.LatinHypercube`).

    Parameters
    ----------
    n
        The number of samples.
    seed
        Seed of the random numbers.
    **ranges
        Per argument (low, high), or a distribution of :mod:`scipy.stats`. Bounds may be arrays, for array arguments.

    Returns
    -------
    Space

    Examples
    --------
    >>> len(latin_hypercube(50, mass=(1.0, 3.0), centre=([0, 0, 0], [0.1, 0.1, 0.2])))
    50
    """
    return _sampled("latin_hypercube", ranges, n, lambda d: _qmc().LatinHypercube(d, seed=seed).random(n))


def sobol(n: int, *, seed: int = 0, **ranges: Any) -> Space:
    """Return the first n points of a scrambled Sobol sequence (:class:`scipy.stats.qmc.Sobol`).

    Parameters
    ----------
    n
        The number of samples; powers of two are balanced.
    seed
        Seed of the scrambling.
    **ranges
        As for :func:`latin_hypercube`.

    Returns
    -------
    Space

    Examples
    --------
    >>> sobol(8, angle=(0.0, 1.0)).names
    ['angle']
    """
    exponent = max(whole("sobol: n", n, 1, MOST) - 1, 0).bit_length()
    return _sampled("sobol", ranges, n, lambda d: _qmc().Sobol(d, seed=seed).random_base2(exponent)[:n])


def random(n: int, *, seed: int = 0, **draws: Any) -> Space:
    """Return independent random draws.

    Parameters
    ----------
    n
        The number of samples.
    seed
        Seed of the random numbers.
    **draws
        Per argument (low, high) for a uniform distribution, a distribution of :mod:`scipy.stats`, or a function of a
        random generator that returns one value.

    Returns
    -------
    Space

    Examples
    --------
    >>> space = random(3, mass=(1.0, 2.0), start=lambda rng: rng.normal(size=6))
    >>> space[0]["start"].shape
    (6,)
    """
    count = whole("random: n", n, 1, MOST)
    rng = np.random.default_rng(seed)
    functions = {name: draw for name, draw in draws.items() if callable(draw) and not hasattr(draw, "ppf")}
    rest = {name: draw for name, draw in draws.items() if name not in functions}
    found = _sampled("random", rest, n, lambda d: rng.random((count, d))).columns if rest else {}
    drawn = {name: [separate(draw(rng)) for _ in range(count)] for name, draw in functions.items()}
    _some("random", draws)
    return Space({name: {**found, **drawn}[name] for name in draws})


def as_space(what: Any) -> Space:
    """Return a space from a space, a dict of sequences (a grid) or a list of dicts (cases).

    >>> len(as_space({"mass": [1.0, 2.0], "speed": [0.1, 0.2]}))
    4
    """
    if isinstance(what, Space):
        return what
    if isinstance(what, Mapping):
        return grid(**what)
    if isinstance(what, Sequence) and not isinstance(what, str):
        return cases(what)
    raise InputError(
        f"sweep: expected a space of appell.space, a dict of sequences (a grid) or a list of dicts, got {shown(what)}"
    )


def _sampled(what: str, ranges: Mapping[str, Any], n: Any, unit: Callable[[int], Any]) -> Space:
    """Return samples of ranges from points of the d-dimensional unit cube."""
    whole(f"{what}: n", n, 1, MOST)
    _some(what, ranges)
    read = {name: _range(f"{what}: {name}", given) for name, given in ranges.items()}
    sizes = [int(np.prod(shape)) for shape, _ in read.values()]
    try:
        points = unit(sum(sizes))
    except ValueError as error:  # more dimensions than Sobol sequences have
        raise InputError(f"{what}: {error}") from None
    parts = np.split(points, list(itertools.accumulate(sizes))[:-1], axis=1)
    return Space(
        {
            name: place(part.reshape(-1, *shape))
            for (name, (shape, place)), part in zip(read.items(), parts, strict=True)
        }
    )


def _range(what: str, given: Any) -> tuple[tuple[int, ...], Callable[[Any], Any]]:
    """Return the shape of an argument, and the map from the unit interval to its range."""
    if callable(getattr(given, "ppf", None)):
        return (), given.ppf
    try:
        low, high = (np.asarray(bound, dtype=float) for bound in given)
        low, high = np.broadcast_arrays(low, high)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # RuntimeError: lists nested deeper than arrays
        raise InputError(f"{what}: expected (low, high) or a distribution of scipy.stats, got {shown(given)}") from None
    with np.errstate(over="ignore", invalid="ignore"):
        is_range = low.size and np.isfinite(high - low).all() and (low < high).all()
    if not is_range:
        raise InputError(f"{what}: expected finite bounds with low < high, got {shown(given)}")
    return low.shape, lambda x: low + x * (high - low)


def _some(what: str, columns: Mapping[str, Any]) -> None:
    if not columns:
        raise InputError(f"{what}: expected at least one argument of the function, got none")


def _sequence(name: str, axis: Any) -> Sequence[Any]:
    values: Any = axis if isinstance(axis, np.ndarray) and axis.ndim else None
    if values is None:
        values = list(axis) if isinstance(axis, list | tuple | range) else [axis]
    if not len(values):
        raise InputError(f"grid: expected at least one value of '{name}', got none")
    return values


def _taken(column: Sequence[Any], places: Any) -> Sequence[Any]:
    return column[places] if isinstance(column, np.ndarray) else [column[k] for k in places]


def separate(value: Any) -> Any:
    """Return an array, a list or a dict as a copy, anything else as it is.

    >>> x = np.zeros(2)
    >>> separate(x) is x
    False
    """
    return copy.copy(value) if isinstance(value, np.ndarray | list | dict) else value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _qmc() -> Any:
    from scipy.stats import qmc  # noqa: PLC0415  (it takes as long to import as appell)

    return qmc

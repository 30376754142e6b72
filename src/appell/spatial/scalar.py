"""Elementary functions of a scalar of any type.

Recursions are generic in the type of their scalars. Where Python has no operator they call these functions, which
dispatch by type: floats, complex numbers (for complex-step derivatives), NumPy arrays (many samples at once) and,
registered by :mod:`appell.trace`, traced expressions.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scalar = Any
Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]
Array = NDArray[Any]
"""A NumPy array of floating-point numbers, for one sample or many."""


@singledispatch
def sin(x: Scalar) -> Scalar:
    """Return the sine of an angle in radians.

    >>> sin(0.0)
    0.0
    """
    return math.sin(x)


@singledispatch
def cos(x: Scalar) -> Scalar:
    """Return the cosine of an angle in radians.

    >>> cos(0.0)
    1.0
    """
    return math.cos(x)


@singledispatch
def sqrt(x: Scalar) -> Scalar:
    """Return the square root.

    >>> sqrt(9.0)
    3.0
    """
    return math.sqrt(x)


@singledispatch
def sign(x: Scalar) -> Scalar:
    """Return −1, 0 or 1; NaN stays NaN.

    >>> sign(-2.5)
    -1.0
    """
    return float(np.sign(x))


@singledispatch
def select(condition: Scalar, chosen: Scalar, other: Scalar) -> Scalar:
    """Return `chosen` where the condition is above zero, `other` where it is not or is NaN.

    >>> select(0.5, 1.0, 2.0), select(0.0, 1.0, 2.0)
    (1.0, 2.0)
    """
    return chosen if condition > 0.0 else other


def nonzero(x: Scalar) -> Scalar:
    """Return x, or 1 where it is zero: a safe divisor of a moment that is then zero too.

    >>> nonzero(2.0), nonzero(0.0)
    (2.0, 1.0)
    """
    return select(x * x, x, 1.0)


@dataclass(frozen=True)
class Angle:
    """An angle given by its cosine and sine, such as the result of a closed form."""

    cosine: Scalar
    sine: Scalar


for _kind, _functions in ((complex, cmath), (np.ndarray, np), (np.generic, np)):
    sin.register(_kind, _functions.sin)
    cos.register(_kind, _functions.cos)
    sqrt.register(_kind, _functions.sqrt)
sin.register(Angle, lambda x: x.sine)
cos.register(Angle, lambda x: x.cosine)


@sign.register(complex)
@sign.register(np.ndarray)
@sign.register(np.generic)
def _(x: Scalar) -> Scalar:
    return np.sign(x.real)  # of a complex step, the sign of the real part


@select.register(complex)
@select.register(np.ndarray)
@select.register(np.generic)
def _(condition: Scalar, chosen: Scalar, other: Scalar) -> Scalar:
    result: Any = np.where(condition.real > 0.0, chosen, other)
    return result[()]


def frozen(x: Any) -> Array:
    """Return a read-only copy as floats."""
    array = np.array(x, dtype=float)
    array.flags.writeable = False
    return array

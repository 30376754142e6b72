"""Guards: additional outputs of a program that indicate whether its results are valid.

Guards cost little in native code, since their values are intermediate results. Python checks them after the call, and
exported C returns a code. The kind of robot defines the meaning of a bad value and whether samples can be recovered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from appell.arguments import ABOVE_ZERO
from appell.kernels.text.c99 import ErrorCode
from appell.robot.verbs.table import ACTUATION, MASS, PIVOTS, REACH, UNIT
from appell.spatial.scalar import Array

QUATERNION_TOLERANCE = 1e-6
"""Tolerance of unit quaternions: rounding of single precision and some drift."""
PIVOT_GROWTH = 1e6
"""Pivot growth beyond which a sample is recomputed: the mean square of (usual pivot / pivot); three digits lost."""
SINGULAR = 1e6
"""Condition number of the equations of loops or actuators from which a warning is given."""
ACCURACY, ACCURACY_SINGLE = 1e-7, 5e-3
"""Expected relative rounding error of accelerations up to which M counts as regular, by precision.

The actual error is seldom ten times larger.
"""
REGULAR, REGULAR_SINGLE = ACCURACY / float(np.finfo(np.float64).eps), ACCURACY_SINGLE / float(np.finfo(np.float32).eps)
"""The same as a multiple of rounding."""
PROBED = 0.1
"""The smallest fraction of that which the probe detects; in single precision, where samples are recomputed, 1."""
OPEN = 1e-4
"""Closure error that counts as such a growth: in lengths of the robot, or radians."""


@dataclass(frozen=True)
class Guard:
    """One check: the bounds within which its values are good, and the code that C returns with what it means.

    `port` names its values in C, `is_result` states whether C returns them too. `keeps_out`: bad samples are an error
    that leaves the arrays of ``out=`` unchanged.
    """

    name: str
    port: str
    low: float
    high: float
    error: str
    meaning: str
    keeps_out: bool = False
    is_result: bool = False
    high_single: float | None = None
    """The upper bound in single precision, if different."""

    def passes(self, values: Array) -> bool:
        """Return whether all values are within the bounds; NaN is not."""
        low, high = self.low, self.bound(values)
        if values.size == 1:
            return bool(low <= values.item() <= high)
        if values.ndim == 1:  # one sample, on which Python is quicker than NumPy
            return all(low <= x <= high for x in values.tolist())
        within = min(-low, high)
        if within > 0.0 and np.vdot(values, values) <= within * within:  # a quarter of the time of two extremes
            return True
        if not values.size:
            return True
        # as Python's numbers: NumPy would round a bound to single precision, and the least number above zero to zero
        return (high == math.inf or float(values.max()) <= high) and (low == -math.inf or float(values.min()) >= low)

    def bound(self, values: Array) -> float:
        """Return the upper bound in the precision of the values."""
        return self.high if self.high_single is None or values.dtype == np.float64 else self.high_single

    @cached_property
    def code(self) -> ErrorCode:
        """Return the check as C."""
        if self.high == math.inf:  # above zero
            test, numbers = "{x} > {0}", (0.0,)
        else:
            test, numbers = "{x} <= {0}" + " && {x} >= -{0}" * (self.low == -self.high), (self.high,)
        single = () if self.high_single is None else (self.high_single,)
        return ErrorCode(self.port, test, numbers, self.error, self.meaning, self.is_result, single)


_UNUSABLE = "do not use the results"
_CHECKS = (
    Guard(
        *(MASS, "inverse_mass_norm", -math.inf, (PROBED * REGULAR) ** 2, "SINGULAR_MASS_MATRIX"),
        f"the mass matrix is singular, or nearly so for the precision; {_UNUSABLE}",
        high_single=REGULAR_SINGLE**2,
    ),
    Guard(
        *(UNIT, "quaternion_error", -2.0 * QUATERNION_TOLERANCE, 2.0 * QUATERNION_TOLERANCE, "NOT_UNIT"),
        f"a quaternion in q is not of unit length to {QUATERNION_TOLERANCE:g}; {_UNUSABLE}",
    ),
    Guard(
        *(PIVOTS, "pivot_growth", -math.inf, PIVOT_GROWTH, "SMALL_PIVOT"),
        f"pivot growth above {PIVOT_GROWTH:g}: near a singularity, or loops open by {OPEN:g} of the robot's size; "
        f"{_UNUSABLE}",
        is_result=True,
    ),
    Guard(
        *(REACH, "reach", ABOVE_ZERO, math.inf, "OUT_OF_REACH"),
        f"a leg cannot reach the platform; {_UNUSABLE}",
        keeps_out=True,
    ),
    Guard(
        *(ACTUATION, "actuation_growth", -math.inf, PIVOT_GROWTH, "SMALL_PIVOT"),
        f"near an actuation singularity, where the motors do not constrain the platform; {_UNUSABLE}",
    ),
)
GUARDS = {guard.name: guard for guard in _CHECKS}
"""The checks by name. Closed loops are checked by the guard of pivots, to which the closure error adds."""


def subject(worst: int, count: int, shape: tuple[int, ...]) -> str:
    """Return the beginning of a sentence about some samples."""
    index = tuple(int(i) for i in np.unravel_index(worst, shape)) if shape else ()
    if count > 1:
        return f"{count} samples are, the worst of them {index},"
    return f"sample {index} is" if index else "q is"

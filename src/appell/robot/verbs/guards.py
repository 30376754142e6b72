"""Guards: additional outputs of a program that indicate whether its results are valid.

Guards cost little in native code, since their values are intermediate results. Python checks them after the call, and
exported C returns a code. The kind of robot defines the meaning of a bad value and whether samples can be recovered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from appell.kernels.text.c99 import Guard as Code
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
    """One check: its name, the bounds within which its values are good, and the code that C returns.

    `keeps_out`: bad samples are an error that leaves the arrays of ``out=`` unchanged.
    """

    name: str
    low: float
    high: float
    code: Code
    keeps_out: bool = False
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


GUARDS = {
    MASS: Guard(
        MASS,
        -math.inf,
        (PROBED * REGULAR) ** 2,
        Code(
            "inverse_mass_norm",
            "{x} <= {0}",
            ((PROBED * REGULAR) ** 2,),
            "SINGULAR_MASS_MATRIX",
            "the mass matrix is singular, or nearly so for the precision; do not use the results",
            single=(REGULAR_SINGLE**2,),
        ),
        high_single=REGULAR_SINGLE**2,
    ),
    UNIT: Guard(
        UNIT,
        -2.0 * QUATERNION_TOLERANCE,
        2.0 * QUATERNION_TOLERANCE,
        Code(
            "quaternion_error",
            "{x} <= {0} && {x} >= -{0}",
            (2.0 * QUATERNION_TOLERANCE,),
            "NOT_UNIT",
            f"a quaternion in q is not of unit length to {QUATERNION_TOLERANCE:g}; do not use the results",
        ),
    ),
    PIVOTS: Guard(
        PIVOTS,
        -math.inf,
        PIVOT_GROWTH,
        Code(
            "pivot_growth",
            "{x} <= {0}",
            (PIVOT_GROWTH,),
            "SMALL_PIVOT",
            f"pivot growth above {PIVOT_GROWTH:g}: near a singularity, or loops open by {OPEN:g} of the robot's size; "
            "do not use the results",
            is_result=True,
        ),
    ),
    REACH: Guard(
        REACH,
        5e-324,  # above zero
        math.inf,
        Code("reach", "{x} > {0}", (0.0,), "OUT_OF_REACH", "a leg cannot reach the platform; do not use the results"),
        keeps_out=True,
    ),
    ACTUATION: Guard(
        ACTUATION,
        -math.inf,
        PIVOT_GROWTH,
        Code(
            "actuation_growth",
            "{x} <= {0}",
            (PIVOT_GROWTH,),
            "SMALL_PIVOT",
            "near an actuation singularity, where the motors do not constrain the platform; do not use the results",
        ),
    ),
}
"""The checks by name. Closed loops are checked by the guard of pivots, to which the closure error adds."""


def subject(worst: int, count: int, shape: tuple[int, ...]) -> str:
    """Return the beginning of a sentence about some samples."""
    index = tuple(int(i) for i in np.unravel_index(worst, shape)) if shape else ()
    if count > 1:
        return f"{count} samples are, the worst of them {index},"
    return f"sample {index} is" if index else "q is"

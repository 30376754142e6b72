"""The result of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from appell.display import card, table
from appell.planning.checks import Array


@dataclass(frozen=True, eq=False)
class IKSolution:
    """Configurations that reach their targets, or come as near as was found.

    Attributes
    ----------
    q : ndarray
        Configurations (..., nq), within the joint limits.
    error : ndarray
        Norm (...) of the weighted residuals of all tasks that are no preferences.
    position_error, attitude_error : ndarray
        The largest residual (...) of the positions [m] and of the orientations [rad]; 0 where there are none.
    is_reached : ndarray
        Whether (...) the residual of every task is within its tolerance.
    residuals : ndarray
        Norms (..., tasks) of the unweighted residuals [m, rad]: those of the goal first (position, then orientation),
        then in the order of the tasks. Axes of weight 0 do not count.
    iterations : ndarray
        Steps taken (...) until the tolerances were met, over all attempts.

    Examples
    --------
    >>> import appell
    >>> found = appell.inverse_kinematics(appell.load("rx90"), [[0.5, 0.1, 0.3], [0.0, 0.0, 2.0]])
    >>> found.is_reached.tolist(), found.q.shape, found.error.round(6).tolist()
    ([True, False], (2, 6), [0.0, 1.1])
    """

    q: Array
    error: Array
    position_error: Array
    attitude_error: Array
    is_reached: NDArray[np.bool_]
    residuals: Array
    iterations: NDArray[np.int_]

    def __repr__(self) -> str:
        worst = f", largest error {self.error.max():.3g}" if self.error.size else ""
        return f"<IKSolution: {int(self.is_reached.sum())} of {self.is_reached.size} goals reached{worst}>"

    def _repr_html_(self) -> str:
        each = (x.ravel().tolist() for x in (self.is_reached, self.position_error, self.attitude_error))
        q = (", ".join(f"{x:.4g}" for x in row) for row in self.q.reshape(-1, self.q.shape[-1]).tolist())
        rows = (("yes" if reached else "no", *errors, at) for reached, *errors, at in zip(*each, q, strict=True))
        columns = ("reached", "position error [m]", "attitude error [rad]", "q")
        return card(repr(self).strip("<>"), table(columns, rows, self.is_reached.size))

"""Small pivots: other orders of elimination where the usual one is inaccurate, and a warning where all are.

The order of pivots is chosen once per robot. Samples of a batch at which a pivot is small would lose precision; they
are recomputed by a program whose pivots suit one of them. If pivots stay small, the equations themselves are nearly
singular, and a warning gives their condition number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from appell.errors import warn
from appell.kernels.runtime.kernel import Kernel
from appell.loops.structure import condition, driving_condition, repivoted, singular_loops
from appell.messages import listed
from appell.model.parameters import velocity_names
from appell.once import once
from appell.robot.calls import compile
from appell.robot.kind import Failure, Key
from appell.robot.verbs.guards import OPEN, PIVOT_GROWTH, SINGULAR, subject
from appell.robot.verbs.table import PIVOTS
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from appell.loops.closed import Closed


ALTERNATES = 4
"""The number of other orders of pivots tried on one batch."""


@dataclass(frozen=True, eq=False)
class PivotFallback:
    """The other programs of one verb, made as they are needed."""

    robot: Closed
    key: Key
    is_strict: bool
    """Whether to warn of open loops."""

    def recovered(self, call: Failure) -> list[Array]:
        """Return the results with samples of small pivots recomputed by other pivots."""
        growth, results = call.values[..., 0], call.results
        shape = growth.shape
        given = [np.asarray(x) for x in call.arguments]
        flat = [np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1]) for x in given]
        outputs = [x.reshape(-1, *x.shape[len(shape) :]) for x in results]
        growth = growth.reshape(-1).copy()
        place = [guard.name for guard in compile.program(self.robot, self.key).guards].index(PIVOTS)
        finite = np.all([np.isfinite(x).all(axis=-1) for x in flat], axis=0)
        if self.is_strict:
            finite = finite & ~self._open(flat[0], finite & ~(growth <= PIVOT_GROWTH), shape)
        for k in range(ALTERNATES):
            bad = np.flatnonzero(finite & ~(growth <= PIVOT_GROWTH))
            if not len(bad):
                break
            other = once(self, k, partial(self._alternate, flat[0][bad].astype(float)))
            found = other(*(x[bad] for x in flat))
            again = found[len(outputs) + place]  # results, then the values of all guards
            better = ~(again[:, 0] >= growth[bad])
            for output, value in zip(outputs, found[: len(outputs)], strict=True):
                output[bad[better]] = value[better]
            growth[bad[better]] = again[better, 0]
        left = np.flatnonzero(finite & ~(growth <= PIVOT_GROWTH))
        if len(left):
            self._warn(flat[0][left].astype(float), left, shape)
        return [x.reshape(shape + x.shape[1:]) for x in outputs]

    def _open(self, q: Array, which: Array, shape: tuple[int, ...]) -> Array:
        """Return which of the samples have open loops, and warn of them."""
        at = np.flatnonzero(which)
        errors = self.robot.assembler.error(q[at].astype(float))
        result = np.zeros(len(q), dtype=bool)
        result[at[errors > 0.5 * OPEN]] = True
        if result.any():
            where = subject(at[int(np.argmax(errors))], int(result.sum()), shape)
            warn(
                f"robot '{self.robot.model.name}': {where} not closed: its loops are open by {errors.max():.1e} of the "
                "robot's size, and the results are inaccurate; close q with robot.assemble or robot.project"
            )
        return result

    def _alternate(self, q: Array) -> Kernel:
        """Return the program whose pivots suit the best conditioned of some configurations."""
        robot = self.robot
        at = int(np.argmin(condition(robot.assembler, robot.structure, q)))
        return robot.alternate(self.key, repivoted(robot.structure, robot.assembler, q[at]))

    def _warn(self, q: Array, left: Array, shape: tuple[int, ...]) -> None:
        robot = self.robot
        names = velocity_names(robot.model)
        numbers = condition(robot.assembler, robot.structure, q)
        worst = int(np.argmax(numbers))
        if numbers[worst] >= SINGULAR:
            independent = listed(names[k] for k in robot.structure.independent)
            loops = listed(singular_loops(robot.assembler, robot.structure, q[worst]))
            problem = (
                f"a singularity of the loops {loops}, where the velocities {independent} do not determine the others"
            )
            remedy = "keep away from it, or choose other coordinates with robot.with_independent(near=q)"
        else:
            numbers = driving_condition(robot.assembler, robot.structure, q)
            worst = int(np.argmax(numbers))
            if numbers[worst] < SINGULAR:
                return
            motors = listed(names[k] for k in robot.structure.actuated)
            driven = listed(names[k] for k in robot.structure.driven)
            problem = (
                f"an actuation singularity, where the motors {motors} do not determine the accelerations of {driven}"
            )
            remedy = "keep away from it, or add actuators"
        where = subject(int(left[worst]), len(left), shape)
        warn(
            f"robot '{robot.model.name}': {where} near {problem}: condition number {numbers[worst]:.1e}; do not use "
            f"the results, {remedy}"
        )

"""Time steps of a robot, and their derivatives."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from appell.arguments import choice, real_array
from appell.robot.evaluation import Options
from appell.robot.sensitivity import Sensitivity
from appell.spatial.scalar import Array

STEPS = {"euler": "step", "rk4": "step_rk4"}
"""The verbs of the methods of a step."""


def _timed(dt: ArrayLike) -> Array:
    """Return time steps with a last axis of one number per sample."""
    return real_array("dt", dt)[..., None]


class Stepping(Sensitivity):
    """Time steps. Their options are those of :class:`appell.Robot`."""

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        *,
        method: str = "euler",
        **options: Unpack[Options],
    ) -> tuple[Array, ...]:
        """Return q and v after one time step of an integrator, that of :func:`appell.rollout`.

        Parameters
        ----------
        q, v, tau
            Configuration, velocities and joint torques, as in :meth:`forward_dynamics`.
        dt
            The time step [s], a number or (...), one per sample.
        method
            "euler", semi-implicit of first order (v is updated first, then q with the new v), or "rk4", of fourth
            order.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            The next q (..., nq), with unit quaternions and closed loops, and v (..., nv).

        Raises
        ------
        InputError
            When the method is unknown, or an argument has a wrong shape.

        Examples
        --------
        >>> import appell
        >>> q, v = appell.load("two-link").step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        >>> bool((q == 1e-3 * v).all())
        True
        """
        return tuple(self._call(self._step(method), (q, v, tau, _timed(dt)), options))

    def step_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        *,
        method: str = "euler",
        **options: Unpack[Options],
    ) -> tuple[Array, ...]:
        """Return the derivatives A and B of :meth:`step` in tangent coordinates: (δq', δv') = A·(δq, δv) + B·δτ.

        δq is in the tangent space at q and δq' in that at the next q, as in :meth:`integrate` and :meth:`difference`.

        Parameters
        ----------
        q, v, tau, dt, method
            Those of :meth:`step`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            A (..., 2nv, 2nv) and B (..., 2nv, nu).

        Examples
        --------
        >>> import appell
        >>> A, B = appell.load("two-link").step_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        >>> A.shape, B.shape
        ((4, 4), (4, 2))
        """
        return tuple(self._call(f"{self._step(method)}_derivatives", (q, v, tau, _timed(dt)), options))

    def _step(self, method: str) -> str:
        return STEPS[choice("step: no method", method, STEPS)]

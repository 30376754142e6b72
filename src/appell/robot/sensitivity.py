"""The verbs of a robot that are derivatives, and steps of an integrator with theirs."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from appell.robot.arguments import choice, real_array
from appell.robot.description import Options
from appell.robot.dynamics import Dynamics
from appell.spatial.scalar import Array

STEPS = {"euler": "step", "rk4": "step_rk4"}
"""The verbs of the methods of a step."""


def _timed(dt: ArrayLike) -> Array:
    """Return time steps with an axis for the one number of a sample."""
    return real_array("dt", dt)[..., None]


class Sensitivity(Dynamics):
    """Derivatives of what a robot computes. The options of every verb are those of :class:`appell.Robot`."""

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a; ∂/∂q along the independent motions, v and a held."""
        return tuple(self._call("inverse_dynamics_derivatives", (q, v, a), options))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ; ∂/∂q along the independent motions, v and τ held."""
        return tuple(self._call("forward_dynamics_derivatives", (q, v, tau), options))

    def inverse_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the vector–Jacobian products wᵀ∂τ/∂q, wᵀ∂τ/∂v and wᵀ∂τ/∂a of :meth:`inverse_dynamics`.

        The cost is a few times that of τ, whatever the number of joints.

        Parameters
        ----------
        q, v, a
            Those of :meth:`inverse_dynamics`.
        w
            Weights of τ (..., nu).

        Returns
        -------
        tuple
            (..., nv), (..., nv) and (..., nu); ∂/∂q along the independent motions, v and a held. A fourth,
            wᵀ∂τ/∂π (..., n), where ``parameters=`` is given.

        Raises
        ------
        InputError
            When an argument has another size, or is no configuration of the robot.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v, by_a = robot.inverse_dynamics_vjp([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0])
        >>> bool(abs(by_a - robot.mass_matrix([0.1, 0.2])[0]).max() < 1e-12)
        True
        """
        return tuple(self._call("inverse_dynamics_vjp", (q, v, a, w), options))

    def forward_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return wᵀ∂a/∂q, wᵀ∂a/∂v and wᵀ∂a/∂τ of :meth:`forward_dynamics`, for weights w (..., nv).

        ∂/∂q is along the independent motions, v and τ held. A fourth result, wᵀ∂a/∂π (..., n), comes where
        ``parameters=`` is given.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> pi = robot.parameters
        >>> [x.shape for x in robot.forward_dynamics_vjp([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0], parameters=pi)]
        [(2,), (2,), (2,), (20,)]
        """
        return tuple(self._call("forward_dynamics_vjp", (q, v, tau, w), options))

    def inverse_dynamics_hessian(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """Return the Hessian of wᵀτ by (q, v, a), a matrix (..., 2nv + nu, 2nv + nu), for weights w (..., nu).

        Column k is the derivative of :meth:`inverse_dynamics_vjp`, its three results in a row, along motion k of q,
        v or a. Its block of q alone is not symmetric where motions do not commute: rotations of free and ball joints.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.inverse_dynamics_hessian([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
        (6, 6)
        """
        return self._call("inverse_dynamics_hessian", (q, v, a, w), options)

    def inverse_dynamics_hvp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        w: ArrayLike,
        dq: ArrayLike,
        dv: ArrayLike,
        da: ArrayLike,
        **options: Unpack[Options],
    ) -> Array:
        """Return :meth:`inverse_dynamics_hessian` times the direction (dq, dv, da), without the matrix.

        dq and dv (..., nv) are motions of q and v, da (..., nu) those of a; the result is (..., 2nv + nu).

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> state, x = ([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]), ([1.0, 0.0], [0.0, 2.0], [0.0, 0.0])
        >>> product = robot.inverse_dynamics_hessian(*state) @ [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]
        >>> bool(abs(robot.inverse_dynamics_hvp(*state, *x) - product).max() < 1e-12)
        True
        """
        return self._call("inverse_dynamics_hvp", (q, v, a, w, dq, dv, da), options)

    def pose_derivatives(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the derivatives (..., 4, 4, nv) of a frame's pose along the independent motions.

        >>> import appell
        >>> appell.load("two-link").pose_derivatives([0.0, 0.0], "link2").shape
        (4, 4, 2)
        """
        return self._call("pose_derivatives", (q,), options, self._about("pose_derivatives", frame, "pose_derivatives"))

    def jacobian_derivatives(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the derivatives (..., 6, nv, nv) of :meth:`jacobian`: the last axis is the motion of q.

        >>> import appell
        >>> appell.load("two-link").jacobian_derivatives([0.0, 0.0], "link2").shape
        (6, 2, 2)
        """
        about = self._about("jacobian_derivatives", frame, "jacobian_derivatives")
        return self._call("jacobian_derivatives", (q,), options, about)

    def momentum_derivatives(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> tuple[Array, ...]:
        """Return the derivatives (..., 6, nv) of :meth:`momentum` along q, and by v: :meth:`momentum_matrix`.

        >>> import appell
        >>> [x.shape for x in appell.load("two-link").momentum_derivatives([0.0, 0.0], [1.0, 0.0])]
        [(6, 2), (6, 2)]
        """
        return tuple(self._call("momentum_derivatives", (q, v), options))

    def kinetic_energy_derivatives(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> tuple[Array, ...]:
        """Return ∂T/∂q along the independent motions and ∂T/∂v = M(q)·v, each (..., nv).

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v = robot.kinetic_energy_derivatives([0.1, 0.2], [1.0, 2.0])
        >>> bool(abs(by_v - robot.mass_matrix([0.1, 0.2]) @ [1.0, 2.0]).max() < 1e-12)
        True
        """
        return tuple(self._call("kinetic_energy_derivatives", (q, v), options))

    def potential_energy_derivatives(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return ∂V/∂q (..., nv) along the independent motions, the forces :meth:`gravity`.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> bool(abs(robot.potential_energy_derivatives([0.1, 0.2]) - robot.gravity([0.1, 0.2])).max() < 1e-12)
        True
        """
        return self._call("potential_energy_derivatives", (q,), options)

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
        """Return q and v after a time step dt [s] under forces τ: one step of :func:`appell.rollout`.

        Parameters
        ----------
        q, v, tau
            Those of :meth:`forward_dynamics`.
        dt
            The step [s], a number or (...), one per sample.
        method
            "euler", semi-implicit of first order: v moves first, and q with the new v; or "rk4", of fourth order.

        Returns
        -------
        tuple
            The next q (..., nq), its quaternions of unit length and its loops closed, and v (..., nv).

        Raises
        ------
        InputError
            For an unknown method, or an argument of another size.

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
        """Return A (..., 2nv, 2nv) and B (..., 2nv, nu) of :meth:`step`: (δq', δv') = A·(δq, δv) + B·δτ.

        δq is a motion at q and δq' one at the next q, as :meth:`integrate` and :meth:`difference` have them.

        >>> import appell
        >>> A, B = appell.load("two-link").step_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        >>> A.shape, B.shape
        ((4, 4), (4, 2))
        """
        return tuple(self._call(f"{self._step(method)}_derivatives", (q, v, tau, _timed(dt)), options))

    def _step(self, method: str) -> str:
        return STEPS[choice("step: no method", method, STEPS)]

"""Gains from natural frequencies and damping ratios."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import finite_array
from appell.errors import InputError
from appell.messages import shown
from appell.spatial.scalar import Array


class Gains(NamedTuple):
    """Stiffness kp [1/s²] and damping kd [1/s], in units of acceleration."""

    kp: Array
    kd: Array


class IntegralGains(NamedTuple):
    """Stiffness kp [1/s²], damping kd [1/s] and integral gain ki [1/s³], in units of acceleration."""

    kp: Array
    kd: Array
    ki: Array


def gains(frequency: ArrayLike, damping: ArrayLike = 1.0) -> Gains:
    """Return the PD gains kp = ω² and kd = 2ζω of the error dynamics ë + kd·ė + kp·e = 0.

    Parameters
    ----------
    frequency : array_like
        Natural frequency ω [rad/s], one number or one per joint.
    damping : array_like
        Damping ratio ζ; 1 is critical damping.

    Returns
    -------
    Gains
        kp [1/s²] and kd [1/s], of the arguments' shape.

    Raises
    ------
    InputError
        When a frequency is not positive or a damping ratio is negative.

    Examples
    --------
    >>> gains([10.0, 20.0], damping=0.7)
    Gains(kp=array([100., 400.]), kd=array([14., 28.]))
    """
    omega, zeta = _positive("frequency", frequency), _positive("damping", damping, may_vanish=True)
    return Gains(omega * omega, 2.0 * zeta * omega)


def integral_gains(frequency: ArrayLike, damping: ArrayLike = 1.0, integral: ArrayLike | None = None) -> IntegralGains:
    """Return the PID gains of the error dynamics (s² + 2ζω s + ω²)(s + p) = 0.

    Parameters
    ----------
    frequency, damping : array_like
        Natural frequency ω [rad/s] and damping ratio ζ, as in :func:`gains`.
    integral : array_like, optional
        Pole p [rad/s] at which constant disturbances decay. Default: ω/2.

    Returns
    -------
    IntegralGains
        kp [1/s²], kd [1/s] and ki [1/s³], of the arguments' shape.

    Raises
    ------
    InputError
        When a frequency is not positive or a damping ratio is negative.

    Examples
    --------
    >>> integral_gains(10.0, 1.0, 5.0)
    IntegralGains(kp=array(200.), kd=array(25.), ki=array(500.))
    """
    kp, kd = gains(frequency, damping)
    p = 0.5 * np.sqrt(kp) if integral is None else _positive("integral", integral)
    return IntegralGains(np.asarray(kp + kd * p), np.asarray(kd + p), np.asarray(kp * p))


def _positive(name: str, value: ArrayLike, *, may_vanish: bool = False) -> Array:
    array = finite_array(name, value)
    if not (array >= 0.0 if may_vanish else array > 0.0).all():
        what = "numbers of 0 or more" if may_vanish else "numbers > 0"
        raise InputError(f"{name}: expected {what}, got {shown(value)}")
    return array

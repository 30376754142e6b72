"""Payload identification, from a log of the loaded robot and a fit of the unloaded one.

The load moves with a body k, so that its ten parameters π act through the columns of that body:
τ − τ_fit = Y_k·π. Friction also grows with the load, and may have changed between the logs (drives warm up): the fit is
iterated with the new loads, with a friction scale and an offset per motor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.identification.physical import semidefinite
from appell.identification.problem import LogRecord
from appell.identification.solve import inverse
from appell.messages import alternatives
from appell.model.parameters import PER_BODY
from appell.reports.table import Table
from appell.robot.properties.base_columns import OF_A_BODY
from appell.spatial.blas import one_blas_thread
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from appell.identification.fit import Fit

PASSES = 8


@dataclass(frozen=True, eq=False)
class Payload:
    """A payload: its ten parameters in the frame of its link, and their standard errors.

    A standard error is infinite if the parameter is not identifiable. `friction` (motors,) is the factor by which the
    drives' friction changed.
    """

    link: str
    parameters: Array
    standard_errors: Array
    friction: Array

    def __str__(self) -> str:
        where = ", ".join(f"{x:.4f}" for x in self.centre)
        return f"payload on '{self.link}': {self.mass:.3f} ± {self.standard_errors[0]:.3f} kg at ({where}) m"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    @property
    def mass(self) -> float:
        """Return the mass [kg]."""
        return float(self.parameters[0])

    @cached_property
    def centre(self) -> Array:
        """Return the mass centre in the link's frame [m]."""
        return self.parameters[1:4] / self.parameters[0]

    def table(self) -> Table:
        """Return the ten parameters with their standard errors."""
        pairs = zip(OF_A_BODY, self.parameters.tolist(), self.standard_errors.tolist(), strict=True)
        return Table(f"payload on '{self.link}'", ("parameter", "value", "standard error"), tuple(pairs))


@one_blas_thread()
def payload(fit: Fit, record: LogRecord, link: str | None = None) -> Payload:
    """Return the payload of a link (default: the last one) along a log."""
    problem = fit.problem
    held, start = carrying_link(problem.robot.link_names, link)
    if not record.log.moving.any():
        raise InputError(f"payload: no motor moves in {record.log.source or 'the log'}; record a motion with the load")
    rigid = record.rigid(fit.theta)
    Y = problem.rigid(record.moved.q, record.moved.v, record.moved.a)[..., start : start + PER_BODY]
    pi, counted = np.zeros(PER_BODY), record.log.moving
    for _ in range(PASSES):
        before = pi
        friction_torque = record.friction_torque(fit.theta, rigid + Y @ pi)
        W, z = _rows(Y, friction_torque, (record.moved.tau - rigid - friction_torque), counted, fit.sigma)
        x = semidefinite(W, z)
        pi = x[:PER_BODY]
        if np.abs(pi - before).max() < 1e-6 * max(np.abs(pi).max(), 1e-9):
            break
    error = (z - W @ x).reshape(-1)
    covariance, hidden = inverse(W.T @ W)
    variance = np.where(hidden, np.inf, np.diag(covariance) * float(error @ error) / max(len(z) - len(x), 1))
    scale = 1.0 + x[PER_BODY : PER_BODY + problem.n_motors]
    return Payload(held, pi, np.sqrt(record.log.per_observation * variance[:PER_BODY]), scale)


def carrying_link(names: Sequence[str], link: str | None) -> tuple[str, int]:
    """Return the link that carries a load (default: the last one), and the index of its first parameter."""
    held = names[-1] if link is None else link
    if held not in names:
        raise InputError(f"payload: unknown link '{held}'; {alternatives(held, names, 40)}")
    return held, PER_BODY * list(names).index(held)


def known_parameters(mass: float, centre: ArrayLike | None, inertia: ArrayLike | None) -> Array:
    """Return the ten parameters of the load, NaN where unknown."""
    if not (np.isfinite(mass) and mass > 0.0):
        raise InputError(f"mass: expected a positive mass of the load [kg], got {mass!r}")
    known = np.full(PER_BODY, np.nan)
    known[0] = mass
    if centre is None:
        if inertia is not None:
            raise InputError(
                "inertia: the tensor is about the mass centre; also give centre=(x, y, z) in the link's frame"
            )
        return known
    place = _shaped("centre", centre, (3,))
    if inertia is None:
        known[1:4] = mass * place
        return known
    tensor = _shaped("inertia", inertia, (3, 3))
    body = Inertia.from_centre(mass, tuple(place.tolist()), tuple(map(tuple, tensor.tolist())))  # type: ignore[arg-type]
    return np.array(body.parameters, dtype=float)


def _shaped(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    array = np.asarray(value, dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(f"{name}: expected {shape} finite numbers, got {value!r}")
    return array


def _rows(Y: Array, friction_torque: Array, left: Array, counted: Array, sigma: Array) -> tuple[Array, Array]:
    """Return the used rows, weighted by their standard deviations: ten parameters, then friction scales and offsets."""
    n, motors = left.shape
    eye = np.eye(motors)
    W = np.concatenate([Y, friction_torque[..., None] * eye, np.broadcast_to(eye, (n, motors, motors))], axis=-1)
    return (W / sigma[:, None])[counted], (left / sigma)[counted]

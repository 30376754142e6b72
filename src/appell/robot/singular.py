"""Singular mass matrices: samples near one are recomputed in double precision, or reported by a warning.

The guard of M (:data:`appell.robot.verbs.MASS`) is a probe: the response of M to one force on all joints. The error of
accelerations is then computed from M itself: with D its diagonal, the rounding error times |row of M⁻¹ D^½| √(tr M).
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from appell.errors import AppellWarning
from appell.model.build import listed
from appell.robot.calls import Call, prepared
from appell.robot.guards import ACCURACY, ACCURACY_SINGLE, GUARDS
from appell.robot.kind import Failure, Key, Kind
from appell.robot.massless import SINGULAR, massless, scaled
from appell.robot.verbs import MASS
from appell.spatial.scalar import Array

LOST = 1e-2
"""Relative error from which results are meaningless."""
LOOSE = 1e6
"""Condition number of closed loops beyond which the guard of their pivots takes over."""
LOOKED_AT = 4096
"""Number of rows of mass matrices that are checked, worst by the probe first."""


class Samples(NamedTuple):
    """Suspicious samples: q (n, nq), π if given, values of the probe (n,), their indices in a batch."""

    q: Array
    parameters: tuple[Array, ...]
    norms: Array
    places: Array
    shape: tuple[int, ...]


def recovered(kind: Kind, key: Key, call: Failure) -> list[Array]:
    """Return the results of a call, those of float32 samples near a singular M computed in float64.

    Where float64 is not enough either, warn with the joints that make M singular.
    """
    values = call.values[..., 0]
    shape, is_single, limit = values.shape, values.dtype == np.float32, GUARDS[MASS].bound(values)
    flat = [np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1]) for x in map(np.asarray, call.arguments)]
    norms = values.reshape(-1)
    finite = np.all([np.isfinite(x).all(axis=-1) for x in flat], axis=0)
    bad = np.flatnonzero(finite & ~(norms <= limit))
    given, norms, results = [x[bad].astype(float) for x in flat], norms[bad], call.results
    if is_single and len(bad):
        with np.errstate(all="ignore"):
            found = call.program(*given)
        outputs = [x.reshape(-1, *x.shape[len(shape) :]) for x in results]
        for output, value in zip(outputs, found, strict=False):  # after the results come values of guards
            output[bad] = value
        norms = found[len(results)][:, 0]
        results = [x.reshape(shape + x.shape[1:]) for x in outputs]
    left = ~(norms <= GUARDS[MASS].high)
    if left.any():
        parameters = (given[-1][left],) if key.is_parametric else ()
        samples = Samples(given[0][left], parameters, norms[left], bad[left], shape)
        warn(kind, samples)
    return results


def warn(kind: Kind, samples: Samples, *, is_single: bool = False) -> None:
    """Warn of the worst of some samples, if its mass matrix is singular or nearly so."""
    names = kind.facts.independent
    order = np.argsort(-np.nan_to_num(samples.norms, nan=np.inf))[: max(1, LOOKED_AT // len(names))]
    order = order[kind.condition(samples.q[order]) < LOOSE]
    if not len(order):
        return
    mass = _mass_matrix(kind, bool(samples.parameters))(samples.q[order], *(x[order] for x in samples.parameters))
    error = float(np.finfo(np.float32 if is_single else np.float64).eps) * _norms(mass)
    worst, count = int(np.argmax(error)), np.count_nonzero(error >= (ACCURACY_SINGLE if is_single else ACCURACY))
    if not count:
        return
    place = tuple(map(int, np.unravel_index(samples.places[order[worst]], samples.shape))) if samples.shape else ()
    where = f" at sample {place}" if place else ""
    if count > 1:
        where = f" at {'at least ' if len(order) < len(samples.q) else ''}{count} samples, the worst of them {place}"
    warnings.warn(
        f"robot '{kind.model.name}': {_sentence(names, mass[worst], error[worst], where)}; give their links mass or "
        f"the joints rotor inertia (armature){', or fix the base' if names[0].startswith('root[') else ''}"
        f"{', or use float64' if is_single else ''}",
        AppellWarning,
        stacklevel=_depth(),
    )


def _norms(mass: Array) -> Array:
    """Return the largest |row of M⁻¹ D^½| √(tr M) of mass matrices (n, nv, nv); infinity of singular ones."""
    size, unit = np.sqrt(np.abs(np.diagonal(mass, axis1=-2, axis2=-1))), scaled(mass)
    result = np.full(len(mass), np.inf)
    for k in np.flatnonzero(np.isfinite(unit).all(axis=(-2, -1))):
        try:
            rows = np.linalg.norm(np.linalg.inv(unit[k]), axis=-1) / size[k]
        except np.linalg.LinAlgError:
            continue
        result[k] = rows.max() * np.linalg.norm(size[k])
    return result


def _depth() -> int:
    """Return the stack level, for the calling function, of the first caller outside of appell and SciPy."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("appell.", "scipy.")):
        frame, depth = frame.f_back, depth + 1
    return depth


def _sentence(names: Sequence[str], mass: Array, error: float, where: str) -> str:
    if not np.isfinite(mass).all():
        return f"mass matrix that is not finite{where}, of joints {listed(names)}"
    least = np.abs(np.linalg.eigvalsh(scaled(mass))).min() if np.diagonal(mass).all() else 0.0
    alone, together = massless(names, mass, max(SINGULAR, 2.0 * least))
    joints = listed(alone or together)
    how = "move no inertia" if alone else "can move together and then move almost no inertia"
    if error >= LOST:
        return f"singular mass matrix{where}: the joints {joints} {how}, and accelerations are meaningless"
    # a power of ten, so that a simulation does not warn at every step
    size = 10.0 ** np.ceil(np.log10(error))
    return (
        f"nearly singular mass matrix{where}: accelerations have a relative error of about {size:.0e}, since the "
        f"joints {joints} {how}"
    )


@functools.lru_cache(maxsize=64)
def _mass_matrix(kind: Kind, is_parametric: bool) -> Call:
    """Return the mass matrix of a robot as a callable."""
    return prepared(kind, Key("mass_matrix", is_parametric=is_parametric))

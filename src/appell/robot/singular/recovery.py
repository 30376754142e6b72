"""Singular mass matrices: samples near one are recomputed in double precision, or reported by a warning.

The guard of M (``MASS`` of verbs/table.py) is a probe: the response of M to one force on all joints, from which a bound
of the rounding error follows. Long chains can be a million times more accurate than that bound, so samples beyond
it are judged by the error itself (:func:`errors`). Where that is small, samples of the robot with probes up to a few
times as large are not looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from appell.errors import warn
from appell.messages import listed
from appell.once import once
from appell.robot.calls import compile
from appell.robot.calls.call import Call, kernel, prepared
from appell.robot.kind import Failure, Key, Kind
from appell.robot.singular.massless import SINGULAR, massless, scaled
from appell.robot.verbs.guards import ACCURACY, ACCURACY_SINGLE, GUARDS, PROBED
from appell.robot.verbs.table import MASS
from appell.spatial.scalar import Array

LOST = 1e-2
"""Relative error from which results are meaningless."""
LOOSE = 1e6
"""Condition number of closed loops beyond which the guard of their pivots takes over."""
LOOKED_AT = 4096
"""Number of velocities of samples that are checked, worst by the probe first."""
FACTORS = (3.0, 5.0, 7.0)
"""Factors of inertias and forces, by which rounding differs; each has its own forces."""
TRUST = 4.0
"""Values of the probe, relative to the largest for which the error was far below the limit, that need no look."""


class Samples(NamedTuple):
    """Suspicious samples: q (n, nq), π if given, values of the probe (n,), NaN where it is unknown."""

    q: Array
    parameters: tuple[Array, ...]
    norms: Array


def recovered(kind: Kind, key: Key, call: Failure) -> list[Array]:
    """Return the results of a call, those of float32 samples near a singular M computed in float64.

    Where float64 is not enough either, warn with the joints that make M singular.
    """
    values = call.values[..., 0]
    if (
        values.dtype == np.float64
        and not key.is_parametric
        and float(values.max()) <= _known(kind, _solver(kind, key)).trusted
    ):
        return call.results
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
        report(kind, Samples(given[0][left], parameters, norms[left]), _solver(kind, key))
    return results


def report(kind: Kind, samples: Samples, formulation: str | None = None, *, is_single: bool = False) -> None:
    """Warn if accelerations of some samples are wrong, with one text per robot and cause, whatever the samples."""
    names = kind.facts.independent
    order = np.argsort(-np.nan_to_num(samples.norms, nan=np.inf))[: max(1, LOOKED_AT // len(names))]
    order = order[kind.condition(samples.q[order]) < LOOSE]
    if not len(order):
        return
    q, norms, parameters = samples.q[order], samples.norms[order], tuple(x[order] for x in samples.parameters)
    accuracy = ACCURACY_SINGLE if is_single else ACCURACY
    error = errors(kind, q, parameters, formulation)
    if is_single:
        error = error * (np.finfo(np.float32).eps / np.finfo(np.float64).eps)
    worst, known = int(np.argmax(error)), _known(kind, formulation)
    if error[worst] < accuracy:
        if error[worst] < PROBED * ACCURACY and np.isfinite(norms).all() and not (is_single or parameters):
            known.trusted = max(known.trusted, TRUST * float(norms.max()))
        return
    cause = (bool(error[worst] >= LOST), is_single)
    text = None if parameters else known.texts.get(cause)
    if text is None:
        mass = _mass_matrix(kind, bool(parameters))(q[worst], *(x[worst] for x in parameters))
        text = (
            f"robot '{kind.model.name}': {_sentence(names, mass, accuracy, is_lost=cause[0])}; give their links mass "
            f"or the joints rotor inertia (armature){', or fix the base' if names[0].startswith('root[') else ''}"
            f"{', or use float64' if is_single else ''}"
        )
        if not parameters:
            text = known.texts.setdefault(cause, text)
    warn(text)


def errors(kind: Kind, q: Array, parameters: tuple[Array, ...] = (), formulation: str | None = None) -> Array:
    """Return the relative rounding errors of accelerations at configurations (n, nq): the largest of all velocities.

    The robot at rest is pushed at all joints, twice: as it is, and with inertias, springs and pushes times a factor,
    in a configuration that differs by rounding. Exact accelerations would be the same. The factors have so few bits
    that no push is rounded: errors of forces are not those of forward dynamics.
    """
    key = Key("forward_dynamics_loaded", formulation=formulation, is_parametric=bool(parameters))
    sizes, own = kind.facts.sizes, parameters[0] if parameters else np.array(kind.facts.parameters)
    rng, factors = np.random.default_rng(2018), np.array(FACTORS)[:, None, None]
    pushes = _sides(rng, sizes["v"]) * rng.integers(8, 16, (len(FACTORS), 1, sizes["v"]))
    near = q + 4.0 * np.finfo(np.float64).eps * (1.0 + np.abs(q)) * _sides(rng, q.shape[-1])
    v, tau = np.zeros(sizes["v"]), np.zeros(sizes["u"])
    with np.errstate(all="ignore"):
        plain = _unjudged(kind, key)(q, v, tau, pushes, *parameters)
        scaled_up = _unjudged(kind, key._replace(is_parametric=True))(near, v, tau, factors * pushes, factors * own)
        difference = np.abs(plain - scaled_up).max(axis=0)
        relative = difference / np.abs(plain).max(axis=0)
    relative[difference == 0.0] = 0.0
    return np.asarray(np.nan_to_num(relative, nan=np.inf).max(axis=-1, initial=0.0))


def _sides(rng: np.random.Generator, count: int) -> Array:
    """Return a sign per factor and joint."""
    return rng.choice([-1.0, 1.0], (len(FACTORS), 1, count))


def _sentence(names: Sequence[str], mass: Array, accuracy: float, *, is_lost: bool) -> str:
    if not np.isfinite(mass).all():
        return f"mass matrix that is not finite, of joints {listed(names)}"
    least = np.abs(np.linalg.eigvalsh(scaled(mass))).min() if np.diagonal(mass).all() else 0.0
    alone, together = massless(names, mass, max(SINGULAR, 2.0 * least))
    joints = listed(alone or together)
    how = "move no inertia" if alone else "can move together and then move almost no inertia"
    if is_lost:
        return f"singular mass matrix: the joints {joints} {how}, and accelerations are meaningless"
    return (
        f"nearly singular mass matrix: accelerations have a relative error of more than {accuracy:g}, since the joints "
        f"{joints} {how}"
    )


class _Known:
    """What is known of a robot and a formulation: up to which value of the probe samples are right; the warnings."""

    def __init__(self) -> None:
        self.trusted = 0.0
        self.texts: dict[tuple[bool, bool], str] = {}


def _known(kind: Kind, formulation: str | None) -> _Known:
    return once(kind, (_Known, formulation), _Known)


def _solver(kind: Kind, key: Key) -> str | None:
    """Return the formulation of forward dynamics that solves for a verb's accelerations, None for the default one."""

    def found() -> str | None:
        name = key.formulation or compile.choice(kind, key).formulation
        is_other = name != compile.choice(kind, Key("forward_dynamics")).formulation
        return name if is_other and name in kind.formulations("forward_dynamics") else None

    return once(kind, (_solver, key), found)


def _unjudged(kind: Kind, key: Key) -> Callable[..., Array]:
    """Return a program's first result, whatever its guards."""

    def first() -> Callable[..., Array]:
        program = compile.program(kind, key)
        made = kernel(program.spec)
        return lambda *arguments: np.asarray(made(*arguments)[0] if program.guards else made(*arguments))

    return once(kind, (_unjudged, key), first)


def _mass_matrix(kind: Kind, is_parametric: bool) -> Call:
    """Return the mass matrix of a robot as a callable."""
    key = Key("mass_matrix", is_parametric=is_parametric)
    return once(kind, (prepared, key), partial(prepared, kind, key))

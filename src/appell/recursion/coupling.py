"""From the coordinates of a coupled robot to those of its tree, and back.

Followers (:mod:`appell.model.mimic`) make q_tree = D·q + d and v_tree = G·v, a_tree = G·a with a constant G with one
entry per row. Virtual power then gives the quantities of the robot from those of the tree:

    τ = Gᵀ·τ_tree,   M = Gᵀ M_tree G,   C = Gᵀ C_tree G,   Y = Gᵀ Y_tree,   J = J_tree G,

and the derivatives of τ likewise. A model that is not coupled has G = 1: all functions here return what they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.model.model import Mimic, Model
from appell.spatial.scalar import Scalar

Scalars = tuple[Scalar, ...]
Rows = tuple[Scalars, ...]


class Source(NamedTuple):
    """What one number of the tree follows: which of the robot's, by what factor, and from where."""

    place: int
    multiplier: float
    offset: float


def sources(model: Model, *, of_q: bool) -> list[Source]:
    """Return, per coordinate (or velocity) of the tree, what it follows."""
    own = model.independent
    slices = own.q_slices if of_q else own.v_slices
    starts = {body.joint.name: where for body, where in zip(own.bodies, slices, strict=True)}
    sources = []
    for body in model.bodies:
        mimic = body.joint.mimic
        if mimic is not None:
            sources.append(Source(starts[mimic.joint].start, mimic.multiplier, mimic.offset))
        else:
            where = starts[body.joint.name]
            sources += [Source(k, 1.0, 0.0) for k in range(where.start, where.stop)]
    return sources


def constraints(model: Model) -> list[Scalars]:
    """Return the rows K of K·v_tree = 0: every follower's velocity less that of what it follows."""
    found, rows = sources(model, of_q=False), []
    own = {source.place: k for k, (source, of) in enumerate(zip(found, _bodies(model), strict=True)) if of is None}
    for k, (source, mimic) in enumerate(zip(found, _bodies(model), strict=True)):
        if mimic is not None:
            ends = {k: 1.0, own[source.place]: -source.multiplier}
            rows.append(tuple(ends.get(j, 0.0) for j in range(model.nv)))
    return rows


def _bodies(model: Model) -> list[Mimic | None]:
    """Return, per velocity of the tree, what its joint follows."""
    bodies = (body for body in model.bodies for _ in range(body.joint.type.nv))
    return [body.joint.mimic if model.is_coupled else None for body in bodies]


def expand_q(model: Model, q: Scalars) -> Scalars:
    """Return the coordinates of every joint of the tree, q_tree = D·q + d."""
    if not model.is_coupled:
        return q
    return tuple(_times(m, q[k]) + d if d else _times(m, q[k]) for k, m, d in sources(model, of_q=True))


def expand_v(model: Model, v: Scalars) -> Scalars:
    """Return the velocities (or accelerations) of every joint of the tree, G·v."""
    if not model.is_coupled:
        return v
    return tuple(_times(m, v[k]) for k, m, _ in sources(model, of_q=False))


def reduce(model: Model, x: Sequence[Scalar]) -> Scalars:
    """Return Gᵀ·x of one number per velocity of the tree: the robot's share of forces, or of a row's entries."""
    if not model.is_coupled:
        return tuple(x)
    total: list[Scalar] = [0.0] * model.independent.nv
    for (k, m, _), value in zip(sources(model, of_q=False), x, strict=True):
        total[k] = total[k] + _times(m, value)
    return tuple(total)


def reduce_columns(model: Model, rows: Sequence[Sequence[Scalar]]) -> Rows:
    """Return X·G of a matrix whose columns are velocities of the tree."""
    return tuple(reduce(model, row) for row in rows)


def reduce_rows(model: Model, rows: Sequence[Sequence[Scalar]]) -> Rows:
    """Return Gᵀ·X of a matrix whose rows are velocities of the tree."""
    if not model.is_coupled:
        return tuple(map(tuple, rows))
    return tuple(zip(*(reduce(model, column) for column in zip(*rows, strict=True)), strict=True))


def reduce_matrix(model: Model, rows: Sequence[Sequence[Scalar]]) -> Rows:
    """Return Gᵀ·X·G."""
    return reduce_rows(model, reduce_columns(model, rows)) if model.is_coupled else tuple(map(tuple, rows))


def _times(factor: float, x: Scalar) -> Scalar:
    return x if factor == 1.0 else factor * x

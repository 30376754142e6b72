"""Verbs under external wrenches and with weights of redundant actuators: wrenches become generalised forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers
from appell.errors import InputError
from appell.messages import shown
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from appell.robot.robot import Options, Robot

Wrenches = Mapping[str, ArrayLike]


def loaded(
    robot: Robot,
    verb: str,
    state: tuple[Any, ...],
    wrenches: Wrenches | None,
    options: Options,
    by: str = "wrench_forces",
) -> Array:
    """Return the result of a verb under wrenches; `by` is the verb that makes them generalised forces."""
    load = _load(robot, state[0], wrenches, by)
    return robot._call(verb, state, options) if load is None else robot._call(f"{verb}_loaded", (*state, load), options)


def weighted(
    robot: Robot, state: tuple[Any, ...], wrenches: Wrenches | None, weights: ArrayLike, options: Options
) -> Array:
    """Return the torques of redundant actuators of the least weighted squares."""
    load = _load(robot, state[0], wrenches, "wrench_forces")
    shares = numbers(robot.name, "weights", (robot.nu,), weights)
    if not ((shares > 0.0) & np.isfinite(shares)).all():
        raise InputError(f"weights: expected positive numbers, got {shown(weights)} for robot '{robot.name}'")
    outside = np.zeros(robot.nv, shares.dtype) if load is None else load
    return robot._call("inverse_dynamics_weighted", (*state, outside, shares), options)


def _load(robot: Robot, q: ArrayLike, wrenches: Wrenches | None, verb: str) -> Array | None:
    """Return Σ Jᵀw on the independent velocities, or on those of the tree; None without wrenches."""
    if wrenches is None or (isinstance(wrenches, Mapping) and not wrenches):
        return None
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches: expected a dictionary of frames and wrenches (..., 6), got {shown(wrenches)}")
    abouts = {frame: robot._about(verb, frame, "wrenches") for frame in wrenches}
    first, *others = (robot._call(verb, (q, wrenches[name]), {}, abouts[name]) for name in wrenches)
    return sum(others, first)

"""The ellipsoids of inertia and of manipulability at a frame.

With J the linear part of the frame's Jacobian and M the mass matrix, both follow from J W Jᵀ = Σ λᵢ uᵢuᵢᵀ and have
the semi-axes √λᵢ along uᵢ:

    inertia        W = M⁻¹   uᵀΛu = 1 with Λ = (J M⁻¹Jᵀ)⁻¹: long where the frame is light; 1/λᵢ is its mass there
    manipulability W = 1     the velocities of the frame for joint velocities of norm 1

Where a frame's origin cannot move, as on a spherical robot's platform, J is the angular part, and 1/λᵢ is a moment of
inertia.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from appell.model.model import WORLD
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

INERTIA, MANIPULABILITY = "inertia", "manipulability"
KINDS = (INERTIA, MANIPULABILITY)
STILL = 1e-12
"""A frame's origin does not move where its linear Jacobian is below this lever [m] times the angular one."""


class Ellipsoid(NamedTuple):
    """An ellipsoid: centre, axes as columns, semi-axes √λ, longest first, and the values 1/λ or √λ with their unit."""

    centre: Array
    axes: Array
    lengths: Array
    legend: str


def ellipsoid(robot: Robot, q: Array, frame: str, kind: str) -> Ellipsoid:
    """Return the ellipsoid of a kind at a frame.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> found = ellipsoid(robot, np.array([0.0, 1.0]), robot.link_names[-1], "inertia")
    >>> bool(np.allclose(found.axes.T @ found.axes, np.eye(3)))
    True
    """
    linear, angular = np.split(robot.jacobian(q, frame), 2)
    only_turns = bool(np.abs(linear).max(initial=0.0) <= STILL * np.abs(angular).max(initial=0.0))
    jacobian = angular if only_turns else linear
    right = jacobian.T
    if kind == INERTIA:
        # M may be singular: joints without inertia move as if they had next to none
        right = np.linalg.lstsq(robot.mass_matrix(q), jacobian.T, rcond=None)[0]
    values, axes = np.linalg.eigh(0.5 * (jacobian @ right + (jacobian @ right).T))
    lengths = np.sqrt(np.maximum(values, 0.0))[::-1]
    axes = axes[:, ::-1]
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    return Ellipsoid(robot.pose(q, frame)[:3, 3], axes, lengths, _legend(lengths, kind, only_turns))


def _legend(lengths: Array, kind: str, only_turns: bool) -> str:
    if kind == MANIPULABILITY:
        unit = "rad/s" if only_turns else "m/s"
        return f"velocities {', '.join(f'{x:.3g}' for x in lengths)} {unit}"
    unit, tiny = "kg·m²" if only_turns else "kg", 1e-6 * max(float(lengths[0]), 1e-30)
    return "seen mass " + ", ".join(f"{1.0 / x**2:.3g}" if x > tiny else "∞" for x in lengths) + f" {unit}"


def end_effector(robot: Robot) -> str:
    """Return the frame farthest from the base: the last one on the body with the most joints before it.

    >>> import appell
    >>> end_effector(appell.load("agile-wrist"))
    'platform'
    """
    model = robot.model
    if model.closures:
        # in a loop the deepest body may be a rod; a body named platform is the end effector
        named = [body.name for body in model.bodies if "platform" in body.name.lower()]
        if named:
            return named[-1]
    depth = [len(list(model.ancestors(k))) for k in range(len(model.bodies))]
    frames = [frame for frame in model.frames if frame.body != WORLD]
    return max(reversed(frames), key=lambda frame: depth[frame.body]).name

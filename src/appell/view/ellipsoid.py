"""How readily a frame moves: the ellipsoids of inertia and of velocity at it.

With J the frame's Jacobian, linear part, and M the inertia matrix, both are made of J W Jᵀ = Σ λᵢ uᵢuᵢᵀ and have the
semi-axes √λᵢ along uᵢ:

    inertia        W = M⁻¹   uᵀΛu = 1 with Λ = (J M⁻¹Jᵀ)⁻¹: long where the frame is light; 1/λᵢ is its mass there
    manipulability W = 1     the velocities that joint velocities of length 1 give the frame

A spherical robot's platform only turns: there the angular part of J serves, and 1/λᵢ is a moment of inertia.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.loops.spherical.robot import SphericalRobot
from appell.model.model import WORLD
from appell.robot.robot import Robot

Array = NDArray[Any]
INERTIA, MANIPULABILITY = "inertia", "manipulability"
KINDS = (INERTIA, MANIPULABILITY)


class Ellipsoid(NamedTuple):
    """An ellipsoid: where it is, its axes as columns, its semi-axes √λ, longest first, and what 1/λ or √λ mean."""

    centre: Array
    axes: Array
    lengths: Array
    legend: str


def ellipsoid(robot: Robot | SphericalRobot, q: Array, frame: str, kind: str) -> Ellipsoid:
    """Return the ellipsoid of a kind at a frame.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> found = ellipsoid(robot, np.array([0.0, 1.0]), robot.link_names[-1], "inertia")
    >>> bool(np.allclose(found.axes.T @ found.axes, np.eye(3)))
    True
    """
    is_spherical = isinstance(robot, SphericalRobot)
    jacobian = robot.jacobian(q, frame)[3:] if is_spherical else robot.jacobian(q, frame)[:3]
    right = jacobian.T
    if kind == INERTIA:
        # M may be singular: joints without inertia move as if they had next to none
        right = np.linalg.lstsq(robot.mass_matrix(q), jacobian.T, rcond=None)[0]
    values, axes = np.linalg.eigh(0.5 * (jacobian @ right + (jacobian @ right).T))
    lengths = np.sqrt(np.maximum(values, 0.0))[::-1]
    axes = axes[:, ::-1]
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    return Ellipsoid(robot.pose(q, frame)[:3, 3], axes, lengths, _legend(lengths, kind, is_spherical))


def _legend(lengths: Array, kind: str, is_spherical: bool) -> str:
    if kind == MANIPULABILITY:
        unit = "rad/s" if is_spherical else "m/s"
        return f"velocities {', '.join(f'{x:.3g}' for x in lengths)} {unit}"
    unit, tiny = "kg·m²" if is_spherical else "kg", 1e-6 * max(float(lengths[0]), 1e-30)
    return "seen mass " + ", ".join(f"{1.0 / x**2:.3g}" if x > tiny else "∞" for x in lengths) + f" {unit}"


def end_effector(robot: Robot | SphericalRobot) -> str:
    """Return the frame farthest from the base: the last one on the body with the most joints before it.

    >>> import appell
    >>> end_effector(appell.load("agile-wrist"))
    'platform'
    """
    if isinstance(robot, SphericalRobot):
        return robot.link_names[-1]
    model = robot.model
    if model.closures:
        # in a loop the deepest body may be a rod; of the names there are, a platform is what people mean
        named = [body.name for body in model.bodies if "platform" in body.name.lower()]
        if named:
            return named[-1]
    depth = [len(list(model.ancestors(k))) for k in range(len(model.bodies))]
    frames = [frame for frame in model.frames if frame.body != WORLD]
    return max(reversed(frames), key=lambda frame: depth[frame.body]).name

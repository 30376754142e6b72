"""shafei2018's equations as arrays: a tree branch by branch, the branches assembled, and the impact.

A tree is divided into branches, serial chains from the base to every tip. A link on several branches is real on the
first and *virtual*, without mass, on the others. Every branch is then a serial robot, whose inertia matrix and
right-hand side (figures 2, 3, 5 and 6) are those of the mixed 3×3/4×4 form, and the tree's I_f and ℜ (figures 7 and 8)
are their assembled sums. A joint's torque, friction and rotor inertia belong to the branch on which its link is real:
(41) has a torque on every branch, and a joint shared by two branches would be driven twice.

All functions take any open tree, with any joints, on a fixed or a floating base, and arrays with any leading axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import finite_array, numbers
from appell.errors import InputError
from appell.loading import load
from appell.messages import shown
from appell.model.model import WORLD, Body, Model
from appell.recursion import mixed
from appell.robot.robot import Robot
from appell.simulation.contact.points import Point, Points, resolve
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array

__all__ = [
    "Branch",
    "Equations",
    "Impact",
    "branch_equations",
    "branches",
    "flight_equations",
    "impact",
    "impact_equations",
]

DEPENDENT = 1e12
"""Condition number of the normalised contact problem above which the points count as dependent."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch as a serial robot: the indices of its coordinates and velocities in the tree, and its virtual links."""

    robot: Robot
    q: Array
    v: Array
    virtual: tuple[str, ...]

    @property
    def is_real(self) -> Array:
        """Return, per velocity of the branch, whether its link is real here."""
        model = self.robot.model
        return np.array([body.name not in self.virtual for body in model.bodies for _ in range(body.joint.type.nv)])


class Equations(NamedTuple):
    """A matrix (..., n, n) and a right-hand side (..., n): matrix · unknowns = right."""

    matrix: Array
    right: Array


class Impact(NamedTuple):
    """The velocities (..., nv) after an impact and the impulses (..., k) [N·s] along the normals."""

    v: Array
    impulse: Array


def branches(robot: Robot) -> tuple[Branch, ...]:
    """Return the branches of an open tree, one per tip, in the order of its links (section 2).

    Parameters
    ----------
    robot
        An open tree without mimic joints, with a fixed or a floating base.

    Raises
    ------
    InputError
        For a robot with loops, mimic joints or a closed form, which has no branches.

    Examples
    --------
    >>> import appell
    >>> from appell.papers.shafei2018 import branches
    >>> for branch in branches(appell.load("shafei-tree")):
    ...     print(branch.robot.nv, branch.virtual)
    6 ()
    7 ('slide1', 'slide2', 'link1', 'link2')
    6 ('slide1', 'slide2', 'link1', 'link2', 'link5')
    7 ('slide1', 'slide2', 'link1', 'link2', 'link5')
    """
    if not isinstance(robot, Robot):
        raise InputError(f"branches: expected a robot, as appell.load returns it, got {shown(robot)}")
    if robot.closure_names or robot.nv != robot.model.nv:
        raise InputError(f"branches: robot '{robot.name}' is not an open tree without mimic joints")
    return _branches(robot)


@lru_cache(maxsize=32)
def _branches(robot: Robot) -> tuple[Branch, ...]:
    """Return the branches, whose programs are compiled once."""
    return tuple(_branch(robot.model, tip, own) for tip, own in mixed.branches(robot.model))


def _branch(model: Model, tip: int, own: frozenset[int]) -> Branch:
    chain = sorted(model.ancestors(tip))
    bodies = [_link(model.bodies[i], k - 1 if k else WORLD, is_real=i in own) for k, i in enumerate(chain)]
    serial = Model(f"{model.name}: branch to {model.bodies[tip].name}", tuple(bodies), gravity=model.gravity)
    q, v = (
        np.concatenate([np.arange(where.start, where.stop) for where in (slices[i] for i in chain)])
        for slices in (model.q_slices, model.v_slices)
    )
    return Branch(load(serial), q, v, tuple(model.bodies[i].name for i in chain if i not in own))


def _link(body: Body, parent: int, *, is_real: bool) -> Body:
    joint = replace(body.joint, mimic=None)
    if is_real:
        return replace(body, parent=parent, joint=joint)
    bare = replace(joint, damping=0.0, friction=0.0, armature=0.0, stiffness=0.0)
    return replace(body, parent=parent, joint=bare, inertia=Inertia())


def branch_equations(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None) -> tuple[Equations, ...]:
    """Return the inertia matrix (I), (II) and the right-hand side (41), (42) of every branch: figures 2, 3, 5 and 6.

    Parameters
    ----------
    robot
        An open tree.
    q, v
        Configurations (..., nq) and velocities (..., nv) of the tree.
    tau
        Joint torques (..., nv). Default: zero.

    Returns
    -------
    Per branch of :func:`branches` its matrix (..., n, n) and right-hand side (..., n), in the order of the branch's
    velocities, ``branch.robot.independent``; ``branch.v`` are their indices in the tree.

    Raises
    ------
    InputError
        When the robot is not an open tree, or an array does not fit.

    Examples
    --------
    >>> import appell
    >>> from appell.papers.shafei2018 import START, branch_equations
    >>> robot = appell.load("shafei-tree")
    >>> [part.matrix.shape for part in branch_equations(robot, START, [0.0] * 12)]
    [(6, 6), (7, 7), (6, 6), (7, 7)]
    """
    parts = branches(robot)
    at, moving = numbers(robot.name, "q", (robot.nq,), q), numbers(robot.name, "v", (robot.nv,), v)
    forces = np.zeros(robot.nv) if tau is None else numbers(robot.name, "tau", (robot.nv,), tau)
    found = []
    for part in parts:
        here, speeds = at[..., part.q], moving[..., part.v]
        driven = np.where(part.is_real, forces[..., part.v], 0.0)
        matrix = part.robot.mass_matrix(here, formulation="mixed")
        found.append(Equations(matrix, driven - part.robot.bias(here, speeds, formulation="mixed")))
    return tuple(found)


def flight_equations(robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None) -> Equations:
    """Return I_f (..., nv, nv) and ℜ (..., nv) of I_f·a = ℜ (25), assembled from the branches: figures 7 and 8.

    Parameters and errors are those of :func:`branch_equations`.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.papers.shafei2018 import START, flight_equations
    >>> robot = appell.load("shafei-tree")
    >>> I_f, right = flight_equations(robot, START, [0.0] * 12)
    >>> bool(np.allclose(np.linalg.solve(I_f, right)[:2], [0.0, -9.81]))  # from rest all rods fall alike
    True
    """
    parts = branch_equations(robot, q, v, tau)
    leading = np.broadcast_shapes(*(part.right.shape[:-1] for part in parts))
    matrix, right = np.zeros((*leading, robot.nv, robot.nv)), np.zeros((*leading, robot.nv))
    for branch, part in zip(branches(robot), parts, strict=True):
        matrix[..., branch.v[:, None], branch.v] += part.matrix
        right[..., branch.v] += part.right
    return Equations(matrix, right)


def impact_equations(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    points: Sequence[str | Point],
    normals: ArrayLike,
    restitution: ArrayLike = 1.0,
) -> Equations:
    """Return I_i (..., nv + k, nv + k) and the right-hand side of (47), for k points that strike together: figure 11.

        [ I_f   −JᵀN ] [ v⁺ ]   [ I_f v⁻    ]
        [ NᵀJ     0  ] [ f  ] = [ −e NᵀJ v⁻ ]

    Parameters
    ----------
    robot
        An open tree.
    q, v
        Configurations (..., nq) and velocities (..., nv) before the impact.
    points
        The points that strike: names of frames, or :class:`appell.simulation.Point`.
    normals
        Unit vectors (..., k, 3) in world axes, from the wall to the free side.
    restitution
        e of (46): a number, or one per point (..., k).

    Raises
    ------
    InputError
        When the robot is not an open tree, a point is unknown, or an array does not fit.

    Examples
    --------
    >>> import appell
    >>> from appell.papers.shafei2018 import START, impact_equations
    >>> robot = appell.load("shafei-tree")
    >>> impact_equations(robot, START, [0.0] * 12, ["O5", "O9"], [[0.0, 1.0, 0.0]] * 2).matrix.shape
    (14, 14)
    """
    inertia, _ = flight_equations(robot, q, v)
    at, moving = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    struck = Points(robot, resolve(robot, points))
    k = len(struck.names)
    directions = numbers(robot.name, "normals", (k, 3), normals)
    # (43): velocities of the points for every unit velocity, (..., nv, k, 3)
    jacobian = struck.velocities(at[..., None, :], np.eye(robot.nv))
    rows = np.einsum("...vkx,...kx->...kv", jacobian, directions)  # NᵀJ
    before = np.einsum("...kv,...v->...k", rows, moving)
    bounce = _restitution(restitution, k)
    momentum = np.einsum("...ij,...j->...i", inertia, moving)
    leading = np.broadcast_shapes(inertia.shape[:-2], before.shape[:-1], bounce.shape[:-1])
    n = robot.nv
    matrix, right = np.zeros((*leading, n + k, n + k)), np.zeros((*leading, n + k))
    matrix[..., :n, :n], matrix[..., n:, :n] = inertia, rows
    matrix[..., :n, n:] = -np.swapaxes(rows, -1, -2)  # (45)
    right[..., :n], right[..., n:] = momentum, -bounce * before  # (46)
    return Equations(matrix, right)


def _restitution(restitution: ArrayLike, k: int) -> Array:
    found = finite_array("restitution", restitution)
    if (found.ndim and found.shape[-1] != k) or not ((found >= 0.0) & (found <= 1.0)).all():
        raise InputError(f"restitution: expected a number from 0 to 1, or {k}, one per point, got {shown(restitution)}")
    return found


def impact(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    points: Sequence[str | Point],
    normals: ArrayLike,
    restitution: ArrayLike = 1.0,
) -> Impact:
    """Return the velocities after an impact and the impulses: the solution of (47).

    Every point separates with e times its approach speed. Impulses may be negative: the paper does not exclude
    adhesion, :func:`appell.simulate` does.

    Parameters are those of :func:`impact_equations`.

    Raises
    ------
    InputError
        As :func:`impact_equations`, and when the points cannot move independently along their normals.

    Examples
    --------
    >>> import appell
    >>> from appell.papers.shafei2018 import START, impact
    >>> fall = [0.0, -1.0] + [0.0] * 10
    >>> v, f = impact(appell.load("shafei-tree"), START, fall, ["O1", "O5"], [[0.0, 1.0, 0.0]] * 2, restitution=0.5)
    >>> round(float(v[1]), 12)
    0.5
    """
    matrix, right = impact_equations(robot, q, v, points, normals, restitution)
    n = robot.nv
    rows = matrix[..., n:, :n]
    shares = rows @ np.linalg.solve(matrix[..., :n, :n], np.swapaxes(rows, -1, -2))  # NᵀJ I_f⁻¹ JᵀN
    size = np.sqrt(np.diagonal(shares, axis1=-2, axis2=-1))
    if not (size > 0.0).all() or np.linalg.cond(shares / (size[..., None] * size[..., None, :])).max() > DEPENDENT:
        raise InputError(
            f"impact: robot '{robot.name}': the points cannot move independently along their normals; remove one"
        )
    solved = np.linalg.solve(matrix, right[..., None])[..., 0]
    return Impact(solved[..., :n], solved[..., n:])

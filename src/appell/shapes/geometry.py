"""Quaternions of rotations, and triangle meshes of simple solids: rods, discs, ribbons, plates."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.spatial.scalar import Array

SIDES = 20
"""Facets around what is round."""


def quaternions(rotations: ArrayLike) -> Array:
    """Return rotation matrices (..., 3, 3) as quaternions w x y z, the page's order.

    >>> quaternions(np.eye(3))
    array([1., 0., 0., 0.])
    """
    matrices = np.asarray(rotations, dtype=float)
    found = scipy.spatial.transform.Rotation.from_matrix(matrices.reshape(-1, 3, 3)).as_quat()
    return np.asarray(found[:, [3, 0, 1, 2]].reshape(*matrices.shape[:-2], 4))


def along(directions: ArrayLike) -> Array:
    """Return the rotations (..., 3, 3) that take z to directions (..., 3); any turn about them.

    >>> along([1.0, 0.0, 0.0]) @ [0.0, 0.0, 1.0]
    array([1., 0., 0.])
    """
    z = np.asarray(directions, dtype=float)
    length = np.linalg.norm(z, axis=-1, keepdims=True)
    z = np.where(length > 0.0, z / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
    aside = np.eye(3)[np.argmin(np.abs(z), axis=-1)]
    x = np.cross(aside, z)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1)


def matrix(rotation: ArrayLike, position: ArrayLike) -> Array:
    """Return the 4×4 pose of a rotation and a position.

    >>> matrix(np.eye(3), [1.0, 2.0, 3.0])[:3, 3]
    array([1., 2., 3.])
    """
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def rod() -> tuple[Array, Array]:
    """Return a cylinder of radius and length 1 along z from the origin, open at its ends: vertices and faces."""
    turn = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(SIDES)], axis=1)
    return np.concatenate([ring, ring + np.array([0.0, 0.0, 1.0])]), _bands(2, SIDES)


def disc() -> tuple[Array, Array]:
    """Return a closed cylinder of radius 1 and length 1 about the origin, along z, its edges sharp."""
    sides, faces = rod()
    sides = sides - [0.0, 0.0, 0.5]
    vertices, triangles = [sides], [faces]
    for level, order in ((0, (0, 2, 1)), (1, (0, 1, 2))):
        rim = sides[level * SIDES : (level + 1) * SIDES]
        start = sum(len(part) for part in vertices)
        k = np.arange(SIDES)
        fan = np.stack([np.full(SIDES, SIDES), k, (k + 1) % SIDES], axis=1)
        vertices.append(np.concatenate([rim, [rim.mean(axis=0)]]))
        triangles.append(fan[:, order] + start)
    return np.concatenate(vertices), np.concatenate(triangles)


def ribbon(line: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return the band that a line (n, 3) sweeps on its way from `low` to `high`, two shifts in space."""
    n = len(line)
    k = np.arange(n - 1)
    faces = np.concatenate([np.stack([k, k + 1, k + 1 + n], axis=1), np.stack([k, k + 1 + n, k + n], axis=1)])
    return np.concatenate([line + low, line + high]), faces


def plate(points: Array, thickness: float) -> tuple[Array, Array]:
    """Return the convex hull of points (n, 3), made `thickness` thick all around; flat ones have one too."""
    from scipy.spatial import ConvexHull  # noqa: PLC0415  # slow to load, and few robots have plates

    corners = np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, -1).T * thickness
    cloud = (points[:, None] + corners).reshape(-1, 3)
    hull = ConvexHull(cloud)
    faces = hull.simplices.copy()
    normals = np.cross(cloud[faces[:, 1]] - cloud[faces[:, 0]], cloud[faces[:, 2]] - cloud[faces[:, 0]])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return cloud, faces


def _bands(rings: int, sides: int) -> Array:
    """Return the triangles between rings of vertices, one after the other."""
    k, level = np.meshgrid(np.arange(sides), np.arange(rings - 1))
    here, there = level * sides + k, level * sides + (k + 1) % sides
    above, beyond = here + sides, there + sides
    return np.concatenate([np.stack([here, there, beyond], axis=-1), np.stack([here, beyond, above], axis=-1)]).reshape(
        -1, 3
    )

"""Configurations of a robot: named and random ones, places of joints in them, velocities that match closed loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers, real_array, several, whole
from appell.errors import InputError
from appell.messages import listed, shown
from appell.model.parameters import joint_of_velocity
from appell.robot.kind import Kind
from appell.robot.properties.records import Named
from appell.robot.verbs.coordinates import check_quaternions, quaternion_joints
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from appell.robot.robot import Robot


def checked(kind: Kind, q: Array) -> Array:
    """Return configurations, or raise where a quaternion is not of unit length."""
    if kind.facts.quaternions:
        own = kind.model.independent
        check_quaternions(own.name, kind.facts.quaternions, quaternion_joints(own), q)
    return q


def places(kind: Kind, letter: str) -> dict[str, list[int]]:
    """Return the indices of each joint's entries in q, v or τ, by name of the joint."""
    if not isinstance(letter, str) or letter not in ("q", "v", "tau"):
        raise InputError(f"places: expected 'q', 'v' or 'tau', got {shown(letter)}")
    facts, found = kind.facts, dict[str, list[int]]()
    if letter == "q":
        names = [name for name, n in zip(facts.joint_names, facts.joint_sizes, strict=True) for _ in range(n)]
    else:
        joints = {body.joint.name for body in kind.model.bodies}
        names = [joint_of_velocity(x, joints)[0] for x in (facts.independent if letter == "v" else facts.forces)]
    for k, name in enumerate(names):
        found.setdefault(name, []).append(k)
    return found


def named(kind: Kind) -> Named[Array]:
    """Return the named configurations (nq,) of the robot's file."""
    at, found = places(kind, "q"), {}
    for name, of in kind.model.configurations:
        q = kind.neutral()
        for joint, values in of:
            q[at.get(joint, [])] = values if joint in at else []
        found[name] = kind.assemble(q)
    return Named(f"robot '{kind.model.name}' has no configuration", found)


def random(kind: Kind, rng: np.random.Generator, size: int | tuple[int, ...] | None) -> Array:
    """Return random configurations, as many as a size or a shape states."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng: expected a generator such as numpy.random.default_rng(0), got {shown(rng)}")
    one = isinstance(size, int | np.integer)
    sizes = [size] if one else several("size: expected an integer, or several", () if size is None else size)
    shape = tuple(whole("size", x, 0) for x in sizes)
    count = whole("size", math.prod(shape), 0, 1 << 32)
    return kind.random(rng, count).reshape(*shape, kind.facts.sizes["q"])


def reorder(kind: Kind, names: Sequence[str]) -> Array:
    """Return the indices that bring an array in the order of `names` into the robot's order."""
    given, own = several("reorder: expected the names of joints", names), kind.facts.joint_names
    if not all(isinstance(name, str) for name in given):
        raise InputError(f"reorder: expected the names of joints, got {shown(names)}")
    missing = [name for name in own if name not in given]
    if missing or len(set(given)) != len(given):
        problem = f"lacks {listed(missing)}" if missing else "contains a joint twice"
        raise InputError(f"reorder: the list {problem}; robot '{kind.model.name}' has joints {listed(own)}")
    return np.array([given.index(name) for name in own], dtype=int)


def matching(robot: Robot, closed: Array, v: ArrayLike) -> Array:
    """Return the independent velocities that match velocities of the tree best, or those given."""
    speed = real_array("v", v, f" for robot '{robot.name}'").astype(float)
    if speed.shape[-1:] == (robot.nv,):
        return speed
    tree = numbers(robot.name, "v", (robot.facts.sizes["t"],), v).astype(float)
    # M v = Γᵀ M_tree v_tree, of momenta that a unit motion of each velocity meets
    columns = np.swapaxes(robot.tree_velocity(closed[..., None, :], np.eye(robot.nv)), -1, -2)
    momenta = robot.evaluate("tree_mass_matrix", closed) @ columns
    right = np.swapaxes(momenta, -1, -2) @ tree[..., None]
    return np.asarray(np.linalg.solve(np.swapaxes(columns, -1, -2) @ momenta, right)[..., 0])

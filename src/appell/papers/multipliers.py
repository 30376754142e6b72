"""A spherical robot as in the simulators of the papers: open chains, closed by constraint forces (multipliers).

It is independent of the closed form and of the recursions. The platform is connected to the base by its Euler angles,
three joints in series; each leg is a chain of two joints, and its tip must point along its axis on the platform:
e_tip(θ, ψ) = e(q). Poses, their derivatives and the forces of the tree are those of Lagrange's equations by automatic
differentiation (:mod:`appell.papers.lagrangian`); passive joints have zero torque,

    tree's forces = Sᵀτ + Kᵀλ,    K = ∂(e_tip − e)/∂(joints).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from appell.loops.spherical.euler import AXES
from appell.loops.spherical.mechanism import Leg, Mechanism
from appell.loops.spherical.read import read_spherical
from appell.model.model import WORLD, Body, Frame, Joint, Model
from appell.papers.lagrangian import Parts, S, T, X, forces, poses
from appell.read import catalogue
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Array
from appell.spatial.vector import IDENTITY, ZERO

PLATFORM, MOTORS, TIPS = 2, [3, 5, 7], [4, 6, 8]
"""Indices of the platform, the motors' joints and the last links among the tree's nine: three Euler angles, then two
joints per leg."""
STEPS = 30
CLOSED = 1e-13


class Simulated(NamedTuple):
    """The chains on a motion of the platform: angles, rates, accelerations (n, 3, 2) of the legs, and torques."""

    angles: Array
    rates: Array
    accelerations: Array
    torques: Array


def mechanism(name: str) -> Mechanism:
    """Return the geometry and inertias of a spherical robot of the catalogue."""
    return read_spherical(catalogue.file_text(name), source=f"{name}.toml")


def by_closed_form(robot: Robot, q: Array, v: Array, a: Array) -> Simulated:
    """Return the same of the closed form."""
    sine, cosine = robot.evaluate("leg_angles", q)
    speeds = robot.evaluate("leg_rates", q, v), robot.evaluate("leg_accelerations", q, v, a)
    angles, rates, thrusts = (np.asarray(x)[..., :2] for x in (np.arctan2(sine, cosine), *speeds))
    return Simulated(angles, rates, thrusts, robot.inverse_dynamics(q, v, a))


def tree(robot: Mechanism) -> Model:
    """Return the open chains of a spherical robot.

    >>> len(tree(mechanism("agile-wrist")).bodies)
    9
    """
    bodies: list[Body] = []
    for k, name in enumerate(robot.sequence):
        joint = Joint(f"angle{k + 1}", "continuous", axis=AXES[name])
        inertia = robot.platform if k == PLATFORM else Inertia()
        bodies.append(Body(f"turn{k + 1}", k - 1 if k else WORLD, joint, inertia))
    frames = [Frame("platform", PLATFORM, Pose())]
    for i, leg in enumerate(robot.legs, 1):
        frames.append(Frame(f"tip{i}", len(bodies) + 1, Pose(_tilt(leg.arcs[2], leg.arcs[3]))))
        bodies += _chain(leg, i, len(bodies))
    return Model(f"{robot.name}-tree", tuple(bodies), tuple(frames), robot.gravity)


def _chain(leg: Leg, i: int, start: int) -> list[Body]:
    placements = Pose(leg.base), Pose(_tilt(leg.arcs[0], leg.arcs[1]))
    links = []
    for j in range(2):
        joint = Joint(f"leg{i}_joint{j + 1}", "continuous", axis=IDENTITY[2], placement=placements[j])
        inertia = leg.inertias[j].moved(Pose(leg.frames[j], ZERO))
        links.append(Body(f"leg{i}_link{j + 1}", start if j else WORLD, joint, inertia))
    return links


def _tilt(c: float, s: float) -> Any:
    return about(IDENTITY[0], c, s)


def simulated(robot: Mechanism, q: Array, v: Array, a: Array, start: Array) -> Simulated:
    """Return the legs' motion and the motor torques (n, …) for the platform's motion; `start` is the initial guess."""
    model, each = tree(robot), np.eye(9)
    joints = np.concatenate([q, start.reshape(len(q), 6)], axis=-1)
    for _ in range(STEPS):
        gaps = _gaps(model, robot, {0: joints[:, None], S: each})
        rows, gap = np.swapaxes(gaps[S], -1, -2), gaps[0][:, 0]
        if np.abs(gap).max() < CLOSED:
            break
        joints[:, 3:] -= _solved(rows[..., 3:], gap)
    rates = np.concatenate([v, -_solved(rows[..., 3:], (rows[..., :3] @ v[..., None])[..., 0])], axis=-1)
    bias = _gaps(model, robot, {0: joints, T: rates, X: rates})[T | X]
    legs = -_solved(rows[..., 3:], bias + (rows[..., :3] @ a[..., None])[..., 0])
    accelerations = np.concatenate([a, legs], axis=-1)
    driven = np.broadcast_to(each[:, MOTORS], (len(q), 9, 3))
    held = np.concatenate([driven, np.swapaxes(rows, -1, -2)], axis=-1)
    torques = _solved(held, forces(model, joints, rates, accelerations))[:, :3]
    angles, speeds, thrusts = (x[:, 3:].reshape(len(q), 3, 2) for x in (joints, rates, accelerations))
    return Simulated(angles, speeds, thrusts, torques)


def _solved(matrix: Array, right: Array) -> Array:
    """Return the least-squares solution of every sample; the three rows per leg have rank two."""
    result: Array = (np.linalg.pinv(matrix, rcond=1e-12) @ right[..., None])[..., 0]
    return result


def _gaps(model: Model, robot: Mechanism, motion: Parts) -> Parts:
    """Return e_tip − e (…, 9) of all legs, and its derivatives: K by the variations S, K̇·rates by TX."""
    places, found = poses(model, motion), dict[int, Array]()
    for unit in places[PLATFORM]:
        gaps = []
        for leg, tip in zip(robot.legs, TIPS, strict=True):
            _, _, c, s = leg.arcs
            end = places[tip].get(unit, np.zeros((4, 4)))[..., :3, :3] @ np.array([0.0, -s, c])
            gaps.append(end - places[PLATFORM][unit][..., :3, :3] @ np.array(leg.platform_axis))
        found[unit] = np.concatenate(np.broadcast_arrays(*gaps), axis=-1)
    return found

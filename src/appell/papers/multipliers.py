"""A spherical robot as in the simulators of the papers: open chains, closed by constraint forces (multipliers).

It is independent of the closed form. The platform is connected to the base by its Euler angles, three joints in series;
each leg is a chain of two joints, and its tip must point along its axis on the platform: e_tip(θ, ψ) = e(q). The
inverse dynamics of the tree is appell's for open robots; passive joints have zero torque,

    tree's forces = Sᵀτ + Kᵀλ,    K = ∂(e_tip − e)/∂(joints).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from appell.loading import load
from appell.loops.spherical.euler import AXES
from appell.loops.spherical.mechanism import Leg, Mechanism
from appell.loops.spherical.read import read_spherical
from appell.model.model import WORLD, Body, Frame, Joint, Model
from appell.read import catalogue
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Array
from appell.spatial.vector import IDENTITY, ZERO

MOTORS = [3, 5, 7]
"""Indices of the motor joints among the tree's nine: three Euler angles, then two joints per leg."""
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


def leg_angles(robot: Robot, q: Array) -> Array:
    """Return θ and ψ (n, 3, 2) of the legs by the closed form."""
    sine, cosine = robot.evaluate("leg_angles", q)
    angles: Array = np.arctan2(sine, cosine)[..., :2]
    return angles


def tree(robot: Mechanism) -> Robot:
    """Return the open chains of a spherical robot.

    >>> tree(mechanism("agile-wrist")).nv
    9
    """
    bodies: list[Body] = []
    for k, name in enumerate(robot.sequence):
        joint = Joint(f"angle{k + 1}", "continuous", axis=AXES[name])
        inertia = robot.platform if k == len(robot.sequence) - 1 else Inertia()
        bodies.append(Body(f"turn{k + 1}", k - 1 if k else WORLD, joint, inertia))
    frames = [Frame("platform", len(bodies) - 1, Pose())]
    for i, leg in enumerate(robot.legs, 1):
        frames.append(Frame(f"tip{i}", len(bodies) + 1, Pose(_tilt(leg.arcs[2], leg.arcs[3]))))
        bodies += _chain(leg, i, len(bodies))
    return load(Model(f"{robot.name}-tree", tuple(bodies), tuple(frames), robot.gravity))


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
    chains = tree(robot)
    joints = np.concatenate([q, start.reshape(len(q), 6)], axis=-1)
    for _ in range(STEPS):
        rows, gaps = _closure(chains, robot, joints)
        if np.abs(gaps).max() < CLOSED:
            break
        joints[:, 3:] -= _solved(rows[..., 3:], gaps)
    rows, _ = _closure(chains, robot, joints)
    rates = np.concatenate([v, -_solved(rows[..., 3:], (rows[..., :3] @ v[..., None])[..., 0])], axis=-1)
    bias = _bias(chains, robot, joints, rates)
    legs = -_solved(rows[..., 3:], bias + (rows[..., :3] @ a[..., None])[..., 0])
    accelerations = np.concatenate([a, legs], axis=-1)
    forces = chains.inverse_dynamics(joints, rates, accelerations)
    driven = np.zeros((9, 3))
    driven[MOTORS, range(3)] = 1.0
    held = np.concatenate([np.broadcast_to(driven, (len(q), 9, 3)), np.swapaxes(rows, -1, -2)], axis=-1)
    torques = _solved(held, forces)[:, :3]
    angles, speeds, thrusts = (x[:, 3:].reshape(len(q), 3, 2) for x in (joints, rates, accelerations))
    return Simulated(angles, speeds, thrusts, torques)


def _solved(matrix: Array, right: Array) -> Array:
    """Return the least-squares solution of every sample; the three rows per leg have rank two."""
    result: Array = (np.linalg.pinv(matrix, rcond=1e-12) @ right[..., None])[..., 0]
    return result


def _ends(chains: Robot, robot: Mechanism, joints: Array) -> list[tuple[str, Array]]:
    """Return frames and directions in pairs: each leg's tip and its axis on the platform."""
    platform = chains.pose(joints, "platform")[..., :3, :3]
    ends = []
    for i, leg in enumerate(robot.legs, 1):
        ends.append((f"tip{i}", chains.pose(joints, f"tip{i}")[..., :3, 2]))
        ends.append(("platform", platform @ np.array(leg.platform_axis)))
    return ends


def _closure(chains: Robot, robot: Mechanism, joints: Array) -> tuple[Array, Array]:
    """Return K (n, 9, 9) and e_tip − e (n, 9) of all legs; ė = ω × e."""
    rows, gaps = [], []
    for k, (frame, e) in enumerate(_ends(chains, robot, joints)):
        sign = -1.0 if k % 2 else 1.0
        spin = chains.jacobian(joints, frame)[..., 3:, :]
        rows.append(sign * np.cross(spin, e[..., None], axisa=-2, axisb=-2, axisc=-2))
        gaps.append(sign * e)
    pairs = range(0, len(rows), 2)
    whole = np.concatenate([rows[k] + rows[k + 1] for k in pairs], axis=-2)
    return whole, np.concatenate([gaps[k] + gaps[k + 1] for k in pairs], axis=-1)


def _bias(chains: Robot, robot: Mechanism, joints: Array, rates: Array) -> Array:
    """Return K̇·rates: ω̇ × e + ω × (ω × e) at zero accelerations, tip less platform."""
    still, parts = np.zeros_like(rates), []
    for k, (frame, e) in enumerate(_ends(chains, robot, joints)):
        omega = chains.velocity(joints, rates, frame)[..., 3:]
        alpha = chains.acceleration(joints, rates, still, frame)[..., 3:]
        parts.append((-1.0 if k % 2 else 1.0) * (np.cross(alpha, e) + np.cross(omega, np.cross(omega, e))))
    return np.concatenate([parts[k] + parts[k + 1] for k in range(0, len(parts), 2)], axis=-1)

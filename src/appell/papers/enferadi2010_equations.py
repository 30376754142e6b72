"""The equations of enferadi2010 group by group, along its second motion, against chains closed by multipliers.

The chains (:mod:`appell.papers.multipliers`) solve the joints by iteration, and their rates and accelerations from the
loop closure; they share only frames and arcs with the paper's equations.
"""

from __future__ import annotations

import numpy as np

from appell.loading import load
from appell.papers.enferadi2010_motion import study, trajectory
from appell.papers.multipliers import mechanism, tree
from appell.reports.rules import Checked
from appell.reports.table import Cell, Table
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

CHECK = Checked(1e-9, "chains closed by multipliers, relative")
TITLE = "Equations. The paper's, corrected, along motion 2"


def equations() -> Table:
    """Return each group of equations, the call that computes it, and the error.

    >>> len(equations().rows)
    7
    """
    robot, made = load("sst"), study(2)
    q, v, a = trajectory(2, made.t)
    J, K, M, N, J_a, J_ipl = robot.evaluate("virtual_work_matrices", q, v)
    omega, alpha = robot.velocity(q, v, "platform")[:, 3:], robot.acceleration(q, v, a, "platform")[:, 3:]
    chains, legs = tree(mechanism("sst")), made.simulator
    joints, rates, speeding = (
        np.concatenate([star, leg.reshape(len(q), 6)], axis=-1)
        for star, leg in zip((q, v, a), (legs.angles, legs.rates, legs.accelerations), strict=True)
    )
    spins = chains.velocity(joints, rates, "platform")[:, 3:], chains.acceleration(joints, rates, speeding, "platform")
    gamma = -_solved(J, _times(K, omega))
    gamma2 = -_solved(J, _times(K, alpha) + _times(M, gamma) + N)
    first = np.stack([_times(J_a[:, k], omega) for k in range(3)], axis=1)  # γ̇ w, w the link's own z
    second = [_times(robot.pose(q, f"leg{k}_link2")[:, :3, :3] @ J_ipl[:, k - 1], omega) for k in (1, 2, 3)]
    tips = [chains.velocity(joints, rates, f"tip{k}")[:, 3:] for k in (1, 2, 3)]
    links = _off(first, legs.rates[..., :1] * np.array([0.0, 0.0, 1.0])), _off(np.stack(second), np.stack(tips))
    leg_rates = robot.evaluate("leg_rates", q, v)
    passive = (
        _off(leg_rates[..., 1], legs.rates[..., 1]),
        max(_off(_spin(robot, q, leg_rates, k), spins[0]) for k in range(3)),
    )
    rows: tuple[tuple[Cell, ...], ...] = (
        ("(1)–(18)", "motor angles γ", CHECK(_off(robot.actuator_positions(q), legs.angles[..., 0]))),
        ("(19)–(24)", "ω and ω̇ of the star", CHECK(max(_off(omega, spins[0]), _off(alpha, spins[1][:, 3:])))),
        ("(25)–(31)", "rates of the motors, J γ̇ + K ω = 0", CHECK(_off(gamma, legs.rates[..., 0]))),
        ("(32)–(42)", "their accelerations, J γ̈ + K ω̇ + M γ̇ + N = 0", CHECK(_off(gamma2, legs.accelerations[..., 0]))),
        ("(34), (35)", "rates of all joints, w γ̇ − r μ̇ − t β̇ = ω", CHECK(max(passive))),
        ("(43)–(62)", "link Jacobians J_a and J_ipl", CHECK(max(links))),
        ("(63)–(75)", "torques by virtual work", CHECK(_off(made.virtual_work, legs.torques))),
    )
    return Table(TITLE, ("equations", "what", "verdict"), rows)


def _spin(robot: Robot, q: Array, rates: Array, leg: int) -> Array:
    """Return ω of the star from the rates γ̇, μ̇, β̇ of a leg (26)."""
    first, second = (robot.pose(q, f"leg{leg + 1}_link{link}")[:, :3, :3] for link in (1, 2))
    axes = np.stack([first[..., 2], -second[..., 0], -second[..., 2]], axis=-1)
    return _times(axes, rates[:, leg])


def _off(ours: Array, theirs: Array) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _solved(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, vector[..., None])[..., 0])

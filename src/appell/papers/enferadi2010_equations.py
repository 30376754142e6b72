"""The equations of enferadi2010 group by group, along its second motion, against chains closed by multipliers.

The chains (:mod:`appell.papers.multipliers`) solve the joints by iteration, and their rates and accelerations from the
loop closure; they share only frames and arcs with the paper's equations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appell.loading import load
from appell.loops.spherical.kind import Spherical
from appell.papers.enferadi2010_motion import study, trajectory
from appell.papers.multipliers import mechanism, simulated, tree
from appell.papers.paper import Check, checks
from appell.reports.table import Table
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array

BY = "chains closed by multipliers"


def equations() -> Table:
    """Return each group of equations, the call that computes it, and the error.

    >>> len(equations().rows)
    8
    """
    robot, made = load("sst"), study(2)
    q, v, a = trajectory(2, made.t)
    J, K, M, N, J_a, J_ipl = robot.evaluate("virtual_work_matrices", q, v)
    omega, alpha = robot.velocity(q, v, "platform")[:, 3:], robot.acceleration(q, v, a, "platform")[:, 3:]
    chains, legs = load(tree(mechanism("sst"))), made.simulator
    joints, rates, speeding = (
        np.concatenate([star, leg.reshape(len(q), 6)], axis=-1)
        for star, leg in zip((q, v, a), (legs.angles, legs.rates, legs.accelerations), strict=True)
    )
    spin = chains.velocity(joints, rates, "platform")[:, 3:]
    growth = chains.acceleration(joints, rates, speeding, "platform")[:, 3:]
    gamma = -_solved(J, _times(K, omega))
    gamma2 = -_solved(J, _times(K, alpha) + _times(M, gamma) + N)
    # γ̇ w of the actuated links, w their own z; and the spins of the passive links
    actuated = [_times(J_a[:, k], omega) for k in range(3)]
    passive = [_times(robot.pose(q, f"leg{k}_link2")[:, :3, :3] @ J_ipl[:, k - 1], omega) for k in (1, 2, 3)]
    tips = [chains.velocity(joints, rates, f"tip{k}")[:, 3:] for k in (1, 2, 3)]
    leg_rates = robot.evaluate("leg_rates", q, v)
    spins = [_spin(robot, q, leg_rates, k) for k in range(3)]
    turning = [legs.rates[:, k, :1] * np.array([0.0, 0.0, 1.0]) for k in range(3)]
    rows: tuple[Check, ...] = (
        ("(1)–(18)", "motor angles γ", robot.actuator_positions(q), legs.angles[..., 0], BY),
        ("(19)–(24)", "ω and ω̇ of the star", [omega, alpha], [spin, growth], BY),
        ("(25)–(31)", "rates of the motors, J γ̇ + K ω = 0", gamma, legs.rates[..., 0], BY),
        ("(32)–(42)", "accelerations, J γ̈ + K ω̇ + M γ̇ + N = 0", gamma2, legs.accelerations[..., 0], BY),
        ("(34), (35)", "rates of all joints, w γ̇ − r μ̇ − t β̇ = ω", spins, 3 * [spin], BY),
        ("(43)–(62)", "link Jacobians J_a and J_ipl", [*actuated, *passive], [*turning, *tips], BY),
        ("(63)–(75)", "torques by virtual work", made.virtual_work, legs.torques, BY),
        ("(54), (68)", "the same, I_ipl with products of inertia", *_general(q, v, a, legs.angles), BY),
    )
    return checks("Equations. The paper's, corrected, along motion 2", rows)


def _general(q: Array, v: Array, a: Array, start: Array) -> tuple[Array, Array]:
    """Return the torques of a star-triangle with full I_ipl; in a diagonal one the signs of μ̇ r cancel."""
    given = mechanism("sst")
    full = Inertia(0.06, (0.01, 0.02, 0.03), ((0.005, 0.001, 0.002), (0.001, 0.003, -0.001), (0.002, -0.001, 0.004)))
    legs = tuple(replace(leg, inertias=(leg.inertias[0], full)) for leg in given.legs)
    made = replace(given, legs=legs)
    tau = Robot(Spherical(made)).inverse_dynamics(q, v, a, formulation="virtual-work")
    return tau, simulated(made, q, v, a, start).torques


def _spin(robot: Robot, q: Array, rates: Array, leg: int) -> Array:
    """Return ω of the star from the rates γ̇, μ̇, β̇ of a leg (26)."""
    first, second = (robot.pose(q, f"leg{leg + 1}_link{link}")[:, :3, :3] for link in (1, 2))
    axes = np.stack([first[..., 2], -second[..., 0], -second[..., 2]], axis=-1)
    return _times(axes, rates[:, leg])


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _solved(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, vector[..., None])[..., 0])

"""The equations of abedloo2014: each group along the trajectory (52) against an independent computation.

Rates are checked against finite differences in time, the leg angles against the loop closure of three chains, and
torques against finite differences of the Gibbs function.
"""

from __future__ import annotations

import numpy as np

from appell.loading import load
from appell.papers.abedloo2014_loop import chains, trajectory
from appell.papers.differences import off, rate
from appell.papers.multipliers import leg_angles
from appell.reports.rules import Checked
from appell.reports.table import Table
from appell.spatial.scalar import Array

LINKS = ("platform", "leg1_link1", "leg2_link2")
CHECK = Checked(1e-9, "an independent computation, relative")


def equations() -> Table:
    """Return each group of equations, its independent check, and the error."""
    checks: tuple[tuple[str, str, str, float], ...] = (
        ("(2)–(9), (13)–(16)", "forces ∂S/∂q̈", "differences of the Gibbs function", _gradient()),
        ("(1), (17)–(22)", "M q̈ + C q̇ + G, C as printed", "∂S/∂q̈", _closed_form()),
        ("(10)–(12), (23)–(26), (42)", "angular velocities J q̇", "differences of attitudes", _velocities()),
        ("(43)–(48)", "angular accelerations J q̈ + J̇ q̇", "differences of velocities", _accelerations()),
        ("(27)–(36)", "θ and ψ of the legs", "the loops of three chains", _closure()),
        ("(37)–(40)", "θ̇ and ψ̇", "differences of θ and ψ", _leg_rates()),
        ("(41)", "θ̈ and ψ̈", "differences of θ̇ and ψ̇", _leg_accelerations()),
        ("(49)–(51)", "power of the motors", "power of the forces on q̇", _power()),
    )
    rows = tuple((where, what, against, CHECK(error)) for where, what, against, error in checks)
    columns = ("equations", "what", "checked against", "verdict")
    return Table("Equations. Each group along the trajectory (52)", columns, rows)


T = np.linspace(0.0, 4.0, 81)


def _gradient() -> float:
    robot, (q, v, a) = load("agile-wrist"), trajectory(T)
    # S is quadratic in q̈: central differences are exact for any step
    columns = [robot.gibbs(q, v, a + unit) - robot.gibbs(q, v, a - unit) for unit in np.eye(3)]
    return off(robot.evaluate("generalised_forces", q, v, a), 0.5 * np.stack(columns, axis=-1))


def _closed_form() -> float:
    robot, (q, v, a) = load("agile-wrist"), trajectory(T)
    matrices = robot.mass_matrix(q), robot.coriolis_matrix(q, v, formulation="abedloo2014")
    forces = sum((m @ x[..., None])[..., 0] for m, x in zip(matrices, (a, v), strict=True))
    return off(np.asarray(forces + robot.gravity(q)), robot.evaluate("generalised_forces", q, v, a))


def _velocities() -> float:
    robot, (q, v, _) = load("agile-wrist"), trajectory(T)

    def worst(link: str) -> float:
        def attitude(t: Array) -> Array:
            return robot.pose(trajectory(t)[0], link)[..., :3, :3]

        spin = rate(attitude, T) @ np.swapaxes(attitude(T), -1, -2)  # Ṙ Rᵀ = ω~
        omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)
        return off((robot.jacobian(q, link)[..., 3:, :] @ v[..., None])[..., 0], omega)

    return max(map(worst, LINKS))


def _accelerations() -> float:
    robot, (q, v, a) = load("agile-wrist"), trajectory(T)

    def worst(link: str) -> float:
        omega_rate = rate(lambda t: robot.velocity(*trajectory(t)[:2], link)[..., 3:], T)
        return off(robot.acceleration(q, v, a, link)[..., 3:], omega_rate)

    return max(map(worst, LINKS))


def _closure() -> float:
    return float(np.max(chains().closure_error(load("agile-wrist").tree_configuration(trajectory(T)[0]))))


def _leg_rates() -> float:
    robot, (q, v, _) = load("agile-wrist"), trajectory(T)
    return off(robot.evaluate("leg_rates", q, v)[..., :2], rate(lambda t: leg_angles(robot, trajectory(t)[0]), T))


def _leg_accelerations() -> float:
    robot, (q, v, a) = load("agile-wrist"), trajectory(T)
    speeds = rate(lambda t: robot.evaluate("leg_rates", *trajectory(t)[:2])[..., :2], T)
    return off(robot.evaluate("leg_accelerations", q, v, a)[..., :2], speeds)


def _power() -> float:
    robot, (q, v, a) = load("agile-wrist"), trajectory(T)
    motors = (robot.actuator_jacobian(q) @ v[..., None])[..., 0]
    by_motors = np.sum(robot.inverse_dynamics(q, v, a) * motors, axis=-1)
    return off(by_motors, np.sum(robot.evaluate("generalised_forces", q, v, a) * v, axis=-1))

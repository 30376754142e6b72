"""The equations of abedloo2014: each group along the trajectory (52) against an independent computation.

Rates are checked against finite differences in time, the leg angles against the loop closure of three chains, and
torques against finite differences of the Gibbs function.
"""

from __future__ import annotations

import numpy as np

from appell.loading import load
from appell.papers.abedloo2014_loop import chains, trajectory
from appell.papers.differences import rate
from appell.papers.multipliers import mechanism
from appell.papers.paper import Check, checks
from appell.reports.table import Table
from appell.spatial.scalar import Array

LINKS = ("platform", "leg1_link1", "leg2_link2")


def equations() -> Table:
    """Return each group of equations, its independent check, and the error."""
    robot, (q, v, a) = load("agile-wrist"), trajectory(T)
    forces, rates = robot.evaluate("generalised_forces", q, v, a), robot.evaluate("leg_rates", q, v)[..., :2]
    matrices = robot.mass_matrix(q), robot.coriolis_matrix(q, v, formulation="abedloo2014")
    closed = sum((m @ x[..., None])[..., 0] for m, x in zip(matrices, (a, v), strict=True)) + robot.gravity(q)
    motors = (robot.actuator_jacobian(q) @ v[..., None])[..., 0]
    power = np.sum(robot.inverse_dynamics(q, v, a) * motors, axis=-1)
    spins = [(robot.jacobian(q, link)[..., 3:, :] @ v[..., None])[..., 0] for link in LINKS]
    quickened = [robot.acceleration(q, v, a, link)[..., 3:] for link in LINKS]
    accelerations = robot.evaluate("leg_accelerations", q, v, a)[..., :2]
    open_by = 1.0 + np.max(chains().closure_error(robot.tree_configuration(q)))
    # S is quadratic in q̈: central differences are exact for any step
    columns = [robot.gibbs(q, v, a + unit) - robot.gibbs(q, v, a - unit) for unit in np.eye(3)]
    gradient = 0.5 * np.stack(columns, axis=-1)
    rows: tuple[Check, ...] = (
        ("(2)–(9), (13)–(16)", "forces ∂S/∂q̈", forces, gradient, "differences of the Gibbs function"),
        ("(1), (17)–(22)", "M q̈ + C q̇ + G, C as printed", closed, forces, "∂S/∂q̈"),
        (
            "(10)–(12), (23)–(26), (42)",
            "angular velocities J q̇",
            spins,
            [*map(_spin, LINKS)],
            "differences of attitudes",
        ),
        ("(43)–(48)", "angular accelerations J q̈ + J̇ q̇", quickened, [*map(_quickening, LINKS)], "those of velocities"),
        ("(27)–(36)", "θ and ψ of the legs", open_by, 1.0, "the loops of three chains"),
        ("(37)–(40)", "θ̇ and ψ̇", rates, rate(_angles, T), "differences of θ and ψ"),
        ("(41)", "θ̈ and ψ̈", accelerations, rate(_rates, T), "differences of θ̇ and ψ̇"),
        ("(49)–(51)", "power of the motors", power, np.sum(forces * v, axis=-1), "power of the forces on q̇"),
    )
    return checks("Equations. Each group along the trajectory (52)", rows)


T = np.linspace(0.0, 4.0, 81)


def _angles(t: Array) -> Array:
    sine, cosine = load("agile-wrist").evaluate("leg_angles", trajectory(t)[0])
    return np.asarray(np.arctan2(sine, cosine))[..., :2]


def _rates(t: Array) -> Array:
    return np.asarray(load("agile-wrist").evaluate("leg_rates", *trajectory(t)[:2]))[..., :2]


def _spin(link: str) -> Array:
    def attitude(t: Array) -> Array:
        return load("agile-wrist").pose(trajectory(t)[0], link)[..., :3, :3]

    spin = rate(attitude, T) @ np.swapaxes(attitude(T), -1, -2)  # Ṙ Rᵀ = ω~
    return np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)


def _quickening(link: str) -> Array:
    return rate(lambda t: load("agile-wrist").velocity(*trajectory(t)[:2], link)[..., 3:], T)


def as_printed() -> Table:
    """Return (34), (36) and (41) as the paper prints them, beside the invariant forms that appell computes.

    appell takes e₂ = w from its angles to u and v, the rates from products of the axes, and ψ from its sine and cosine.
    """
    robot, (q, v, a) = load("agile-wrist"), trajectory(T)
    turned = robot.pose(q, "platform")[:, :3, :3]
    omega, alpha = robot.velocity(q, v, "platform")[:, 3:], robot.acceleration(q, v, a, "platform")[:, 3:]
    found: list[list[Array]] = []
    for leg in mechanism("agile-wrist").legs:
        c1, s1, c2, s2 = leg.arcs
        base: Array = np.array(leg.base)
        axis = turned @ np.array(leg.platform_axis)
        turning = (axis @ base) * np.array([s1, -s1, c1])  # (32)
        y, x, z = turning[:, 1], turning[:, 0], c2 - turning[:, 2]
        theta = np.arctan2(x, y) + leg.branch * np.arctan2(np.sqrt(x * x + y * y - z * z), z)  # (34)
        u = np.broadcast_to(base[:, 2], axis.shape)
        w = np.stack([s1 * np.sin(theta), -s1 * np.cos(theta), np.full_like(theta, c1)], axis=-1) @ base.T  # (31)
        normals = np.cross(u, w) / s1, np.cross(w, axis) / s2  # (35)
        cosine = np.sum(normals[0] * normals[1], axis=-1)
        sine = np.sum(np.cross(*normals) * w, axis=-1)
        p1, p2 = np.cross(axis, w), np.cross(u, axis)  # (39)
        h = np.sum(p1 * u, axis=-1, keepdims=True)
        speeds = [np.sum(p / h * omega, axis=-1) for p in (p1, p2)]  # (40)
        moved = np.cross(omega, axis), speeds[0][:, None] * np.cross(u, w)
        changes = np.cross(moved[0], w) + np.cross(axis, moved[1]), np.cross(u, moved[0])
        growth = np.sum(changes[0] * u, axis=-1, keepdims=True)
        thrusts = [
            np.sum(p / h * alpha + (h * change - growth * p) / (h * h) * omega, axis=-1)  # (41)
            for p, change in zip((p1, p2), changes, strict=True)
        ]
        found.append([theta, np.arccos(np.clip(cosine, -1.0, 1.0)), np.arctan2(sine, cosine), *speeds, *thrusts])
    theta, printed, signed, *rest = (np.stack(column, axis=1) for column in zip(*found, strict=True))
    angles, rates = _angles(T), _rates(T)
    quick = robot.evaluate("leg_accelerations", q, v, a)

    def circle(angle: Array) -> Array:
        return np.stack([np.cos(angle), np.sin(angle)])

    by = "appell's invariant form"
    rows: tuple[Check, ...] = (
        ("(34)", "θ, the sign of the root as in the branch", circle(theta), circle(angles[..., 0]), by),
        ("(36)", "ψ = cos⁻¹(n₁·n₂), as printed", circle(printed), circle(angles[..., 1]), by),
        ("(36), its sign", "ψ = atan2((n₁ × n₂)·w, n₁·n₂)", circle(signed), circle(angles[..., 1]), by),
        ("(40)", "θ̇ and ψ̇", rest[:2], [rates[..., 0], rates[..., 1]], by),
        ("(41)", "θ̈ and ψ̈", rest[2:], [quick[..., 0], quick[..., 1]], by),
    )
    return checks("As printed. (34), (36), (40) and (41) beside the invariant forms", rows)

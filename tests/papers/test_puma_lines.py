"""The straight lines of valera2003 and of mata2002, section 5.2: all eight branches, their joints and torques."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import appell
from appell.planning.analytic_ik import LABELS
from appell.planning.goal import pose

PUMA = appell.load("puma600")
LINES = {
    "valera2003": (pose([0.6, 0.175, 0.25], np.deg2rad([45.0, 60.0, 90.0])), [0.018, 0.757, 0.0]),
    "mata2002": (pose([0.5, 0.0, 0.05], np.deg2rad([0.0, 90.0, 180.0])), [0.62, 0.3, 0.11]),
}
"""Where the wrist's centre starts, with its attitude, and where it ends."""


def line(paper: str, label: tuple[int, int, int]) -> appell.trajectory.CartesianLine:
    start, end = LINES[paper]
    return appell.trajectory.CartesianLine(PUMA, appell.planning.analytic_ik(PUMA, start).pick(*label), end, speed=0.1)


def test_the_first_configuration_of_valera2003_is_the_papers():
    q = appell.planning.analytic_ik(PUMA, LINES["valera2003"][0]).pick(shoulder=1, elbow=1, wrist=1)
    np.testing.assert_allclose(np.rad2deg(q), [2.374, -63.169, 174.028, 139.805, 65.329, -45.861], atol=5e-4)


def test_the_first_torques_of_valera2003_are_the_papers():
    tau = PUMA.inverse_dynamics(*line("valera2003", (1, 1, 1))(0.0))
    np.testing.assert_allclose(tau, [0.0371, -56.3153, -25.3889, 0.1091, 0.1245, 0.0], atol=5e-5)


@pytest.mark.parametrize(("paper", "duration"), [("valera2003", 8.60202), ("mata2002", 3.28634)])
def test_the_lines_at_a_tenth_of_a_metre_per_second_take_as_long_as_they_are(paper, duration):
    assert line(paper, (1, 1, 1)).duration == pytest.approx(duration, abs=5e-6)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("paper", LINES)
def test_each_branch_follows_the_line_and_stays_the_same_branch(paper, label):
    followed = line(paper, label)
    q = followed(np.linspace(0.0, followed.duration, 21)).q
    start, end = LINES[paper]
    goals = np.tile(start, (21, 1, 1))
    goals[:, :3, 3] = np.linspace(start[:3, 3], end, 21)
    np.testing.assert_allclose(PUMA.pose(q, "dh6"), goals, atol=1e-13)
    same = appell.planning.analytic_ik(PUMA, goals).pick(*label)
    np.testing.assert_allclose(np.exp(1j * q), np.exp(1j * same), atol=1e-12)


@pytest.mark.parametrize(("name", "key"), [("q", "q"), ("v", "qd"), ("a", "qdd"), ("tau", "tau")])
def test_joints_and_torques_along_valera2003s_line_are_the_references(references, name, key):
    file = references("valera_puma_line_torques")
    for label, rows in file["branches"].items():
        motion = line("valera2003", ast.literal_eval(label))([row["t"] for row in rows])
        ours = PUMA.inverse_dynamics(*motion) if name == "tau" else getattr(motion, name)
        np.testing.assert_allclose(ours, [row[key] for row in rows], rtol=0, atol=1e-9)


@pytest.mark.parametrize("label", LABELS)
def test_the_power_of_the_torques_is_the_change_of_energy_along_the_line(label):
    motion = line("valera2003", label)(np.linspace(1.0, 7.0, 7))
    tau = PUMA.inverse_dynamics(*motion)
    h = 1e-4

    def energy(s: float) -> np.ndarray:
        q, v = motion.q + s * motion.v + 0.5 * s * s * motion.a, motion.v + s * motion.a
        return PUMA.kinetic_energy(q, v) + PUMA.potential_energy(q)

    power = (tau * motion.v).sum(axis=-1)
    np.testing.assert_allclose((energy(h) - energy(-h)) / (2 * h), power, atol=1e-6)

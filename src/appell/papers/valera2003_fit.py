"""valera2003, end of section 4: the parameters of τ = K·Φ by four matrix techniques, here on a simulated PUMA 600.

The paper names the techniques and gives no numbers. Logs are simulated with the arm's model along Fourier series; the
fits start from masses and inertias 5 % too large. On an exciting motion the four agree. Two logs of one harmonic and
small amplitude separate them: noise is amplified by least squares and suppressed by truncated singular values and by
ridge regression; without noise the normal equations lose digits, since they square the condition number.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from appell.control.plant import perturbed
from appell.identification.fit import Fit
from appell.identification.identify import identify
from appell.loading import load
from appell.logs.log import Log
from appell.papers.paper import read
from appell.planning.trajectory.curves import Fourier
from appell.reports.rules import Checked, Falls
from appell.reports.table import Cell, Table
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

PAPER = read("valera2003")
TECHNIQUES = {
    "qr": "QR decomposition",
    "svd": "singular values",
    "pinv": "pseudo-inverse",
    "ridge": "ridge regression",
}
WRONG = 1.05
"""Factor of the initial masses and inertias of the fits."""
DURATION, RATE = 20.0, 50.0


class LogMotion(NamedTuple):
    """A motion for identification: amplitude [rad], number of harmonics, and relative torque noise."""

    amplitude: float
    harmonics: int
    noise: float
    seed: int = 1


EXCITING = LogMotion(0.3, 5, 0.01)
OTHER = LogMotion(0.3, 5, 0.01, 2)
"""A held-out motion."""
NOISY, CLEAN = LogMotion(0.1, 1, 0.01, 4), LogMotion(0.01, 1, 0.0)


def identification_table() -> Table:
    """Return the results of the four techniques: errors in standard deviations, and torque errors of another motion.

    >>> identification_table().columns[0]
    'technique'
    """
    rule = Checked(EXCITING.noise, "the torques of another motion, relative")
    rows = []
    for method, name in TECHNIQUES.items():
        fit = fitted(method, EXCITING)
        off = np.abs(fit.values - fit.base.values(_arm())) / fit.standard_errors
        error = fit.predict(_log(OTHER)).score
        rows.append((name, fit.base.n, float(np.sqrt(np.mean(off**2))), float(off.max()), 100.0 * error, rule(error)))
    return PAPER.table("identification", rows, duration=DURATION, noise=EXCITING.noise)


def conditioning_table() -> Table:
    """Return the errors of the four techniques on poorly exciting logs, which separate them."""
    held, orthogonal = Falls("regularisation, from QR"), Falls("orthogonality, from pseudo-inverse to QR")
    rows: list[tuple[Cell, ...]] = []
    for name, motion in (("one harmonic, 1 % noise", NOISY), ("one tiny harmonic, no noise", CLEAN)):
        errors = {method: parameter_error(fitted(method, motion)) for method in TECHNIQUES}
        verdict = (
            held(errors["qr"], max(errors["svd"], errors["ridge"]))
            if motion is NOISY
            else orthogonal(errors["pinv"], errors["qr"])
        )
        rows.append((name, condition(motion), *errors.values(), verdict))
    columns = ("log", "condition number", *TECHNIQUES.values(), "verdict")
    values = {"wrong": WRONG - 1.0, "noisy": NOISY.amplitude, "clean": CLEAN.amplitude}
    return PAPER.table("conditioning", rows, columns, **values)


@cache
def fitted(method: str, motion: LogMotion) -> Fit:
    """Return the fit of one technique on the log of a motion."""
    return identify(_believed(), _log(motion), method, friction=False, rotors=False)


def parameter_error(fit: Fit) -> float:
    """Return the relative error of the base parameters."""
    true = fit.base.values(_arm())
    return float(np.linalg.norm(fit.values - true) / np.linalg.norm(true))


def condition(motion: LogMotion) -> float:
    """Return the condition number of the observation matrix of base parameters, with normalised columns."""
    kept = list(fitted("qr", motion).base.kept)
    columns = _arm().regressor(*_states(motion)[1:]).reshape(-1, len(_arm().parameters))[:, kept]
    return float(np.linalg.cond(columns / np.linalg.norm(columns, axis=0)))


@cache
def _arm() -> Robot:
    return load("puma600", friction=False)


@cache
def _believed() -> Robot:
    return perturbed(_arm(), WRONG)


def _states(motion: LogMotion) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(motion.seed)
    sine, cosine = motion.amplitude * rng.normal(size=(2, motion.harmonics, _arm().nv))
    t = np.arange(0.0, DURATION, 1.0 / RATE)
    return t, *Fourier(np.zeros(_arm().nv), sine, cosine, 1.0 / DURATION)(t)


@cache
def _log(motion: LogMotion) -> Log:
    t, q, v, a = _states(motion)
    tau = _arm().inverse_dynamics(q, v, a)
    noise = np.random.default_rng([motion.seed, 1]).normal(size=tau.shape)
    return Log.from_arrays(t, q, v, tau=tau + motion.noise * tau.std(axis=0) * noise)

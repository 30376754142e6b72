"""valera2003, end of section 2: the parameters of τ = K·Φ by four matrix techniques, here on a simulated PUMA 600.

The paper names the techniques and gives no numbers. The log is of the arm's own model along a Fourier series, its
torques with 1 % of noise; the fits begin from masses a third too large, and have not seen the motion that they are
tried on.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from appell.control.simulated import perturbed
from appell.identification.identify import identify
from appell.logs.log import Log
from appell.loops.load import load
from appell.planning.trajectory.curves import Fourier
from appell.reports.rules import Checked
from appell.reports.table import Table
from appell.robot.robot import Robot

TECHNIQUES = {
    "qr": "QR decomposition",
    "svd": "singular values",
    "pinv": "pseudo-inverse",
    "ridge": "ridge regression",
}
NOISE = 0.01
"""Noise of the torques, a part of their spread."""
WRONG = 4.0 / 3.0
"""By what factor the masses are off that the fits begin from."""
DURATION, RATE, HARMONICS = 20.0, 100.0, 5


def identification_table() -> Table:
    """Return what the four techniques find: errors in standard deviations, and of the torques of another motion.

    >>> identification_table().columns[0]
    'technique'
    """
    robot, logged, other = perturbed(_arm(), WRONG), _log(1), _log(2)
    rule = Checked(NOISE, "the torques of another motion, relative")
    rows = []
    for method, name in TECHNIQUES.items():
        fit = identify(robot, logged, method, friction=False, rotors=False)
        off = np.abs(fit.values - fit.base.values(_arm())) / fit.standard_errors
        error = fit.predict(other).score
        rows.append((name, fit.base.n, float(np.sqrt(np.mean(off**2))), float(off.max()), 100.0 * error, rule(error)))
    columns = ("technique", "base parameters", "error: rms [σ]", "error: largest [σ]", "other motion [%]", "verdict")
    notes = (
        f"Simulated log of {DURATION:g} s with {NOISE:.0%} noise; σ are the deviations that the fit states.",
        "The paper names the techniques; it prints no results of them.",
    )
    return Table("Identification. Four techniques on a simulated PUMA 600", columns, tuple(rows), notes)


@cache
def _arm() -> Robot:
    return load("puma600", friction=False)


def _log(seed: int) -> Log:
    rng = np.random.default_rng(seed)
    sine, cosine = 0.3 * rng.normal(size=(2, HARMONICS, _arm().nv))
    motion = Fourier(np.zeros(_arm().nv), sine, cosine, 1.0 / DURATION)
    t = np.arange(0.0, DURATION, 1.0 / RATE)
    q, v, a = motion(t)
    tau = _arm().inverse_dynamics(q, v, a)
    return Log.from_arrays(t, q, v, tau=tau + NOISE * tau.std(axis=0) * rng.normal(size=tau.shape))

"""Identification of an arm from a noisy log with friction: values with standard errors, scores, and a URDF file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import appell
from appell.identification.validation import cross_validate, residuals


def recorded(robot: appell.Robot, motion: appell.trajectory.Fourier, seed: int) -> appell.identification.Log:
    """Return a simulated log of 10 s at 200 Hz: torques with friction, and noise on all signals."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, 10.0, 0.005)
    q, v, a = motion(t)
    coulomb, viscous = np.array([8.0, 8.0, 6.0, 1.0, 0.8, 0.6]), np.array([4.0, 5.0, 3.0, 0.4, 0.4, 0.3])
    tau = robot.inverse_dynamics(q, v, a) + coulomb * np.sign(v) + viscous * v
    noise = 0.02 * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    q, v = q + 1e-5 * rng.normal(size=q.shape), v + 1e-4 * rng.normal(size=v.shape)
    return appell.identification.Log.from_arrays(t, q, v=v, tau=tau + noise)


def main(folder: str = "out") -> None:
    """Identify a PUMA 560 from one motion, predict another, and save the identified robot."""
    robot = appell.load("puma560", friction=False, armature=False)
    rng = np.random.default_rng(0)
    waves = [
        appell.trajectory.Fourier(rng.normal(size=6), 0.3 * rng.normal(size=(4, 6)), 0.3 * rng.normal(size=(4, 6)), 0.1)
        for _ in range(2)
    ]
    log = recorded(robot, waves[0], 1)
    fit = appell.identify(robot, log, method="physical", friction="coulomb", cutoff=40.0)
    print(fit)
    print(f"physically consistent: {fit.is_physical}")
    for name, value, error, rating, before, formula in fit.table().rows[:12]:
        print(f"{name:6s} {value:9.4f} ± {error:7.4f}  {rating:15s} true {before:9.4f}  {formula}")

    prediction = fit.predict(recorded(robot, waves[1], 2))
    print(f"prediction error of another motion: {prediction.score:.2%}")
    print(cross_validate(fit, folds=2))
    for motor in residuals(fit).motors:
        print(f"{motor.motor}: explained {motor.explained:.2%}, {'; '.join(motor.hints) or 'no hints'}")

    fit.plot(Path(folder, "identify_friction.png"))
    print("written to", fit.save(Path(folder, "puma560_fitted.urdf")))


if __name__ == "__main__":
    main(*sys.argv[1:2])

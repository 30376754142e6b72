"""Results of an identification: values, standard errors, predictions, and the identified robot."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.display import Html, card
from appell.errors import InputError
from appell.identification.base_parameters import BaseParameters, motor_joints, motor_velocities, motors, spring_places
from appell.identification.friction import sliding
from appell.identification.payload import Payload, payload
from appell.identification.physical import is_possible
from appell.identification.prediction import SCORED, Prediction, friction
from appell.identification.problem import LogRecord, Problem
from appell.identification.solve import Shown, rating
from appell.logs.log import Repair
from appell.logs.prepare import AnyLog
from appell.model.parameters import PER_BODY
from appell.reports.table import Table
from appell.results.style import written
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from appell.identification.identify import Settings


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of :func:`appell.identify`.

    Attributes
    ----------
    problem : Problem
        The robot and its unknowns.
    theta : array
        The value of every unknown; nominal where not identifiable.
    seen : Shown
        The identifiable base parameters and friction terms.
    values, covariance : array
        Their values (n,) and covariance (n, n).
    sigma : array, shape (motors,)
        Standard deviation of the torque residuals [N·m, N].
    method : str
        The method of the fit.
    settings : Settings
        The options of the fit.
    records : tuple of Record
        The logs of the fit.

    Examples
    --------
    >>> import appell, numpy as np, tempfile
    >>> robot, t = appell.load("two-link"), np.arange(0.0, 10.0, 0.01)
    >>> q, v, a = appell.trajectory.Fourier([0.0, 0.5], [[0.8, 0.2], [0.3, -0.6]], [[0.1, 0.5], [0.4, 0.2]], 0.2)(t)
    >>> log = {"t": t, "q": q, "v": v, "tau": robot.inverse_dynamics(q, v, a) + 2.0 * np.sign(v)}
    >>> fit = appell.identify(robot, log, "qr", friction="coulomb", rotors=False)
    >>> fit.predict(log).score < 0.01, fit.predicted(fit.record(log)).score < 0.01
    (True, True)
    >>> fit.torque([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).shape, abs(fit.payload(log).mass) < 0.1
    ((2,), True)
    >>> print(fit.table().columns, len(fit.plot().axes))
    ('parameter', 'value', 'standard error', 'rating', 'file', 'definition') 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(folder + "/fitted.toml").name
    'fitted.toml'
    """

    problem: Problem
    theta: Array
    seen: Shown
    values: Array
    covariance: Array
    sigma: Array
    method: str
    settings: Settings
    records: tuple[LogRecord, ...]

    def __str__(self) -> str:
        n = len(self.values) - self.base.n
        scores = ", ".join(f"{x:.1%}" for x in self.training.relative)
        return (
            f"fit of '{self.problem.robot.name}' by {self.method}: {self.base.n} base parameters, {n} of friction; "
            f"residual per motor {scores}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(str(self), Html(self.table()._repr_html_()))

    @property
    def base(self) -> BaseParameters:
        """Return the base parameters of inertias, rotors and springs."""
        return self.problem.base

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of `values`."""
        return self.seen.names

    @cached_property
    def standard_errors(self) -> Array:
        """Return the standard errors of `values`, corrected for correlated residuals."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def parameters(self) -> Array:
        """Return the inertial parameters of all bodies, in the order of `robot.parameters`."""
        return self.theta[: PER_BODY * len(self.problem.robot.link_names)]

    @cached_property
    def is_physical(self) -> bool:
        """Return whether all bodies are physically consistent: every pseudo-inertia is positive definite."""
        return all(is_possible(pi) for pi in self.parameters.reshape(-1, PER_BODY))

    @cached_property
    def repairs(self) -> tuple[Repair, ...]:
        """Return all dropped, filled or changed samples of the logs."""
        return tuple(repair for record in self.records for repair in record.log.repairs)

    # Predictions

    @cached_property
    def training(self) -> Prediction:
        """Return the prediction of the training logs, concatenated."""
        return Prediction.joined([self.predicted(record) for record in self.records])

    def predict(self, log: AnyLog) -> Prediction:
        """Predict the torques along another log.

        Parameters
        ----------
        log : str, path, Log, Prepared or mapping
            A log as for :func:`appell.identify`.

        Returns
        -------
        Prediction
            Predicted and measured torques, filtered alike.

        Raises
        ------
        InputError
            When the log does not match the robot.
        """
        return self.predicted(self.record(log))

    def record(self, log: AnyLog) -> LogRecord:
        """Prepare a log as in the fit.

        Parameters
        ----------
        log : str, path, Log, Prepared or mapping
            A log as for :func:`appell.identify`.

        Returns
        -------
        Record
            States along the log, and the rows used in a fit.

        Raises
        ------
        InputError
            When the log does not match the robot.
        """
        return self.settings.record(log, self.problem)

    def predicted(self, record: LogRecord) -> Prediction:
        """Predict the torques along a prepared log.

        Parameters
        ----------
        record : Record
            A log of :meth:`record`.

        Returns
        -------
        Prediction
            Predicted and measured torques.
        """
        return Prediction(
            record.log.t,
            record.torque(self.theta),
            record.moved.tau,
            record.moved.speed,
            tuple(self.problem.robot.actuators),
            SCORED * self.problem.levers,
            record.log.source,
            tuple("N·m" if turns else "N" for turns in self.problem.turns),
        )

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return the motor torques of single states, with friction as it is away from reversals.

        Parameters
        ----------
        q, v, a : array_like
            Configurations (..., nq), velocities and accelerations (..., nv).

        Returns
        -------
        array, shape (..., motors)
            Torques [N·m, N].
        """
        states = [np.asarray(x, dtype=float) for x in (q, v, a)]
        rigid = self.problem.rigid(*states) @ self.theta[: self.problem.n_rigid]
        speed = np.broadcast_to(motor_velocities(self.problem.robot, *states[:2]), rigid.shape)
        values = self.problem.friction_values(sliding(speed, rigid))
        return rigid + np.sum(values * self.problem.friction(self.theta), axis=-1)

    def payload(self, log: AnyLog, link: str | None = None) -> Payload:
        """Identify a payload from a log of the loaded robot; this is the fit of the unloaded one.

        Parameters
        ----------
        log : str, path, Log, Prepared or mapping
            A log as for :func:`appell.identify`.
        link : str, optional
            The link that carries the payload. Default: the last one.

        Returns
        -------
        Payload
            Mass, mass centre and inertia with standard errors.

        Raises
        ------
        InputError
            When the link is unknown, or no motor moves.
        """
        return payload(self, self.record(log), link)

    # Output

    def table(self) -> Table:
        """Return the values with standard errors, ratings and definitions.

        Returns
        -------
        Table
            One row per base parameter and friction term.
        """
        definitions = (*self.base.formulas, *("" for _ in self.values[self.base.n :]))
        nominal = (*self.base.values(self.problem.nominal[: self.problem.n_rigid]).tolist(),)
        nominal += (None,) * (len(self.values) - len(nominal))
        rows = tuple(
            (name, float(value), float(error), rating(value, error), before, formula)
            for name, value, error, before, formula in zip(
                self.names, self.values, self.standard_errors, nominal, definitions, strict=True
            )
        )
        notes = [f"not distinguishable from others: {', '.join(self.seen.left_out)}"] if self.seen.left_out else []
        if self.method == "physical":
            notes.append("standard errors of the fit without bounds")
        columns = ("parameter", "value", "standard error", "rating", "file", "definition")
        return Table(f"{self.problem.robot.name}: identified parameters", columns, rows, tuple(notes))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot friction against speed, one panel per motor; `fit.training.plot()` plots torques.

        Parameters
        ----------
        path : str or path, optional
            The file to write: .png, .pdf or .svg.

        Returns
        -------
        Figure
            The Matplotlib figure.

        Raises
        ------
        InputError
            When the fit has no friction.
        """
        if not self.problem.terms:
            raise InputError("fit.plot: the fit has no friction; fit.training.plot() plots its torques")
        return written("fit.plot", path, lambda: friction(self))

    # Identified robot

    @cached_property
    def robot(self) -> Robot:
        """Return the identified robot.

        A robot has only Coulomb and viscous friction: each motor gets the least-squares approximation of its identified
        friction over the logs. A spherical robot in closed form has neither friction nor rotors. :meth:`torque` and
        :meth:`predict` use the full model.
        """
        robot = self.problem.robot
        coulomb, viscous = self.simple_friction
        rotors = self._rotors()
        motor = {joint.name: k for k, joint in enumerate(motor_joints(robot))}
        own, places = np.array(robot.parameters), spring_places(robot)
        own[places] = self.theta[self.problem.n_rigid - len(places) : self.problem.n_rigid]
        model = robot.with_parameters(own).model if places else robot.model
        changed = []
        for body, pi in zip(model.bodies, self.parameters.reshape(-1, PER_BODY), strict=True):
            joint, k = body.joint, motor.get(body.joint.name)
            if k is not None:
                joint = replace(joint, friction=float(coulomb[k]), damping=float(viscous[k]), armature=float(rotors[k]))
            changed.append(replace(body, joint=joint, inertia=Inertia.from_parameters(tuple(map(float, pi)))))
        return robot.with_model(replace(model, bodies=tuple(changed)))

    @cached_property
    def simple_friction(self) -> tuple[Array, Array]:
        """Return the nonnegative Coulomb and viscous friction per motor nearest to the identified friction."""
        coulomb, viscous = np.zeros(self.problem.n_motors), np.zeros(self.problem.n_motors)
        if not self.problem.terms:
            return coulomb, viscous
        theta = self.theta
        friction = np.concatenate([record.friction_torque(theta, record.rigid(theta)) for record in self.records])
        speed = np.concatenate([record.moved.speed for record in self.records])
        counted = np.concatenate([record.log.moving for record in self.records])
        for j in range(self.problem.n_motors):
            v = speed[counted[:, j], j]
            columns = np.column_stack([np.sign(v), v, np.ones_like(v)])
            both = np.linalg.lstsq(columns, friction[counted[:, j], j], rcond=None)[0]
            coulomb[j], viscous[j] = np.maximum(both[:2], 0.0)
        return coulomb, viscous

    def _rotors(self) -> Array:
        start = PER_BODY * len(self.problem.robot.link_names)
        found = self.theta[start : start + len(motors(self.problem.robot))]
        return found if self.problem.rotors else np.zeros(self.problem.n_motors)

    def save(self, path: str | os.PathLike[str], template: str | os.PathLike[str] | None = None) -> Path:
        """Write the identified robot to a file; see :meth:`appell.Robot.save`.

        Parameters
        ----------
        path : str or path
            The file; its extension selects the format.
        template : str or path, optional
            The URDF file of the robot, to be copied with only the identified numbers changed.

        Returns
        -------
        Path
            The path of the file.
        """
        robot: Any = self.robot
        return robot.save(path, template)

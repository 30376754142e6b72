"""A fit: what was found, how sure it is, what it predicts, and the robot it makes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from appell.display import Html, card
from appell.errors import InputError
from appell.identification.base_parameters import BaseParameters
from appell.identification.basis import Array, motor_joints, motor_velocities, motors, spring_places
from appell.identification.friction import sliding
from appell.identification.payload import Payload, payload
from appell.identification.physical import is_possible
from appell.identification.prediction import SCORED, Prediction
from appell.identification.problem import Problem, Record
from appell.identification.solve import Shown
from appell.identification.uncertainty import rating
from appell.logs.log import Log, Repair
from appell.logs.prepare import Prepared
from appell.model.parameters import PER_BODY
from appell.reports.table import Table
from appell.results.style import written
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from appell.identification.identify import Settings


@dataclass(frozen=True, eq=False)
class Fit:
    """What a log told of a robot.

    Attributes
    ----------
    problem
        The robot with its unknowns; `theta` has a value for each, the nominal one where no motion tells.
    seen, values, covariance
        The sums and terms that motions tell: their names, values, and covariance.
    sigma
        Standard deviation of the torques' residuals per motor [N·m, N].
    method, settings
        How it was fitted.
    records
        The logs it was fitted to.
    """

    problem: Problem
    theta: Array
    seen: Shown
    values: Array
    covariance: Array
    sigma: Array
    method: str
    settings: Settings
    records: tuple[Record, ...]

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
        """Return the sums of inertias and rotors that motions can tell."""
        return self.problem.base

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of `values`."""
        return self.seen.names

    @cached_property
    def standard_errors(self) -> Array:
        """Return the standard errors of `values`, which know of correlated residuals."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def parameters(self) -> Array:
        """Return the ten parameters of every body, in the order of `robot.parameters`."""
        return self.theta[: PER_BODY * len(self.problem.robot.link_names)]

    @cached_property
    def is_physical(self) -> bool:
        """Return whether every body could be made: its pseudo-inertia is positive definite."""
        return all(is_possible(pi) for pi in self.parameters.reshape(-1, PER_BODY))

    @cached_property
    def repairs(self) -> tuple[Repair, ...]:
        """Return all that was left out, filled or changed in the logs."""
        return tuple(repair for record in self.records for repair in record.log.repairs)

    # What it predicts

    @cached_property
    def training(self) -> Prediction:
        """Return the prediction of the logs it was fitted to, one after another."""
        return Prediction.joined([self.predicted(record) for record in self.records])

    def predict(self, log: Log | Prepared | Mapping[str, ArrayLike] | str | os.PathLike[str]) -> Prediction:
        """Return the torques along another log beside those measured there, filtered alike."""
        return self.predicted(self.record(log))

    def record(self, log: Log | Prepared | Mapping[str, ArrayLike] | str | os.PathLike[str]) -> Record:
        """Return a log as the fit sees it: states along it, and which rows count."""
        return self.settings.record(log, self.problem)

    def predicted(self, record: Record) -> Prediction:
        """Return the torques along a record beside those measured there."""
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
        """Return the motor torques of single states (..., motors), friction as it is away from reversals."""
        states = [np.asarray(x, dtype=float) for x in (q, v, a)]
        rigid = self.problem.rigid(*states) @ self.theta[: self.problem.n_rigid]
        speed = np.broadcast_to(motor_velocities(self.problem.robot, *states[:2]), rigid.shape)
        values = self.problem.friction_values(sliding(speed, rigid))
        result: Array = rigid + np.sum(values * self.problem.friction(self.theta), axis=-1)
        return result

    def payload(
        self, log: Log | Prepared | Mapping[str, ArrayLike] | str | os.PathLike[str], link: str | None = None
    ) -> Payload:
        """Return the load that a link (the last one) carried in a log, this being the fit of the empty robot."""
        return payload(self, self.record(log), link)

    # What it says

    def table(self) -> Table:
        """Return the values with standard errors, ratings, and the sums of parameters they stand for."""
        stands = (*self.base.formulas, *("" for _ in self.values[self.base.n :]))
        nominal = (*self.base.values(self.problem.nominal[: self.problem.n_rigid]).tolist(),)
        nominal += (None,) * (len(self.values) - len(nominal))
        rows = tuple(
            (name, float(value), float(error), rating(value, error), before, formula)
            for name, value, error, before, formula in zip(
                self.names, self.values, self.standard_errors, nominal, stands, strict=True
            )
        )
        notes = [f"not to be told apart from others: {', '.join(self.seen.left_out)}"] if self.seen.left_out else []
        if self.method == "physical":
            notes.append("standard errors are those of the fit without bounds")
        columns = ("parameter", "value", "standard error", "rating", "file", "stands for")
        return Table(f"{self.problem.robot.name}: what the log tells", columns, rows, tuple(notes))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Return a figure of friction per motor against speed; write it to `path`, a .png, .pdf or .svg file.

        `fit.training.plot()` and `fit.predict(log).plot()` show torques.
        """
        from appell.identification.plots import friction  # noqa: PLC0415  # it knows of fits

        if not self.problem.terms:
            raise InputError("fit.plot: the fit has no friction to draw; fit.training.plot() shows its torques")
        return written("fit.plot", path, lambda: friction(self))

    # The robot it makes

    @cached_property
    def robot(self) -> Robot:
        """Return the fitted robot, with all verbs.

        Robots have Coulomb and viscous friction alone: each motor gets those that come nearest, over the logs, to the
        friction that was fitted. Springs have the stiffness that was fitted. A spherical robot in closed form has
        neither friction nor rotors. :meth:`torque` and :meth:`predict` have all that was fitted.
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
        """Return the Coulomb and viscous friction per motor nearest to what was fitted, none negative."""
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
        """Write the fitted robot to a file; see :meth:`appell.Robot.save`.

        Parameters
        ----------
        path
            The file; its extension names the format.
        template
            The URDF file that the robot was loaded from: a copy of it in which only the fitted numbers change.
        """
        robot: Any = self.robot
        result: Path = robot.save(path, template)
        return result

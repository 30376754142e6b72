"""The peer of the benchmarks: Pinocchio, if installed, with the same robot and samples."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.extras import extra
from appell.model.model import GRAVITY, Model
from appell.read.write_urdf import urdf_text
from appell.robot.robot import Robot
from appell.spatial.scalar import Array


def pinocchio() -> Any:
    """Return the module of Pinocchio, or None if it is not installed."""
    try:
        found = extra("pinocchio", "the comparison needs")
    except InputError:
        return None
    return found if hasattr(found, "buildModelFromUrdf") else None


def ur5() -> Path | None:
    """Return the UR5 file of the package example-robot-data, or None if it is not installed."""
    place = Path("cmeel.prefix", "share", "example-robot-data", "robots", "ur_description", "urdf", "ur5_robot.urdf")
    file = Path(sysconfig.get_path("purelib"), place)
    return file if file.is_file() else None


def from_model(pin: Any, model: Model) -> Any:
    """Return a Pinocchio model with the same bodies and joints, for robots without a URDF.

    Raises
    ------
    ModelError
        When the robot has a joint that URDF does not have.
    """
    built = pin.buildModelFromXML(urdf_text(replace(model, gravity=GRAVITY)))
    built.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    return built


@dataclass(frozen=True)
class Peer:
    """A robot in Pinocchio; arrays have one row per sample, in the joint order of this robot."""

    pin: Any
    model: Any
    data: Any
    pool: Any
    velocity: Array

    @classmethod
    def of(cls, pin: Any, robot: Robot, file: Path | None) -> Peer:
        """Return the peer of a robot, read from its URDF by Pinocchio if there is one."""
        if robot.nq != robot.nv:
            raise NotImplementedError(f"robot '{robot.name}' has quaternions, which are not converted")
        by_file = file is not None and file.suffix.lower() in (".urdf", ".xml")
        model = pin.buildModelFromUrdf(str(file)) if by_file else from_model(pin, robot.model)
        if by_file:
            model.gravity = pin.Motion(np.array(robot.model.gravity), np.zeros(3))
        model.armature = np.zeros(model.nv)
        velocity = np.array([model.joints[model.getJointId(name)].idx_v for name in robot.joint_names])
        return cls(pin, model, model.createData(), pin.ModelPool(model, 1), velocity)

    def coordinates(self, q: Array) -> Array:
        """Return configurations of Pinocchio: in its order, with cosine and sine for continuous joints."""
        neutral = self.pin.neutral(self.model)
        return np.array([self.pin.integrate(self.model, neutral, row) for row in self.velocities(q)])

    def velocities(self, v: Array) -> Array:
        """Return velocities (or accelerations, or forces) in the order of Pinocchio."""
        turned = np.empty_like(v)
        turned[:, self.velocity] = v
        return turned

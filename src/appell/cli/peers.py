"""The peer of the benchmarks: Pinocchio, where it is installed, on the same robot and the same samples."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.model.model import GRAVITY, Model
from appell.read.extras import extra
from appell.read.write_urdf import urdf_text
from appell.robot.robot import Robot
from appell.spatial.scalar import Array


def pinocchio() -> Any:
    """Return Pinocchio's module, or None where it is not installed."""
    try:
        found = extra("pinocchio", "the comparison needs")
    except InputError:
        return None
    return found if hasattr(found, "buildModelFromUrdf") else None


def ur5() -> Path | None:
    """Return the UR5's file of the package example-robot-data, or None where that is not installed."""
    place = Path("cmeel.prefix", "share", "example-robot-data", "robots", "ur_description", "urdf", "ur5_robot.urdf")
    file = Path(sysconfig.get_path("purelib"), place)
    return file if file.is_file() else None


def from_model(pin: Any, model: Model) -> Any:
    """Return Pinocchio's model of the same bodies and joints, for robots that have no URDF.

    Raises
    ------
    ModelError
        When the robot has a joint that URDF does not know.
    """
    built = pin.buildModelFromXML(urdf_text(replace(model, gravity=GRAVITY)))
    built.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    return built


@dataclass(frozen=True)
class Peer:
    """Pinocchio on one robot; arrays have one row a sample in this robot's order of joints."""

    pin: Any
    model: Any
    data: Any
    pool: Any
    velocity: Array

    @classmethod
    def of(cls, pin: Any, robot: Robot, file: Path | None) -> Peer:
        """Return the peer of a robot, read from its URDF by Pinocchio itself where there is one."""
        if robot.nq != robot.nv:
            raise NotImplementedError(f"robot '{robot.name}' has quaternions, which are not carried over")
        by_file = file is not None and file.suffix.lower() in (".urdf", ".xml")
        model = pin.buildModelFromUrdf(str(file)) if by_file else from_model(pin, robot.model)
        if by_file:
            model.gravity = pin.Motion(np.array(robot.model.gravity), np.zeros(3))
        model.armature = np.zeros(model.nv)
        velocity = np.array([model.joints[model.getJointId(name)].idx_v for name in robot.joint_names])
        return cls(pin, model, model.createData(), pin.ModelPool(model, 1), velocity)

    def coordinates(self, q: Array) -> Array:
        """Return configurations as Pinocchio has them: its own order, a circle's point for continuous joints."""
        neutral = self.pin.neutral(self.model)
        return np.array([self.pin.integrate(self.model, neutral, row) for row in self.velocities(q)])

    def velocities(self, v: Array) -> Array:
        """Return velocities (or accelerations, or forces) in Pinocchio's order."""
        turned = np.empty_like(v)
        turned[:, self.velocity] = v
        return turned

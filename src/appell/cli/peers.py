"""The peer of the benchmarks: Pinocchio, where it is installed, on the same robot and the same samples."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.model.model import WORLD, Model
from appell.robot.robot import Robot

Array = NDArray[Any]

_ALIGNED = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}


def pinocchio() -> Any:
    """Return Pinocchio's module, or None where it is not installed."""
    try:
        import pinocchio  # noqa: PLC0415  # a peer that need not be there
    except ImportError:
        return None
    return pinocchio if hasattr(pinocchio, "buildModelFromUrdf") else None


def ur5() -> Path | None:
    """Return the UR5's file of the package example-robot-data, or None where that is not installed."""
    place = Path("cmeel.prefix", "share", "example-robot-data", "robots", "ur_description", "urdf", "ur5_robot.urdf")
    file = Path(sysconfig.get_path("purelib"), place)
    return file if file.is_file() else None


def from_model(pin: Any, model: Model) -> Any:
    """Return Pinocchio's model of the same bodies and joints, for robots that have no URDF."""
    built = pin.Model()
    built.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    for i, body in enumerate(model.bodies):
        joint, placement = body.joint, body.joint.placement
        if joint.kind not in ("revolute", "continuous", "prismatic"):
            raise NotImplementedError(f"joint '{joint.name}' is of kind {joint.kind}, which is not carried over")
        if joint.offset:
            raise NotImplementedError(f"joint '{joint.name}' has an offset, which Pinocchio's joints do not")
        seat = pin.SE3(np.array(placement.rotation), np.array(placement.position))
        sort, axis = ("Prismatic", "P") if joint.kind == "prismatic" else ("Revolute", "R"), tuple(joint.axis)
        if axis in _ALIGNED:
            moving = getattr(pin, f"JointModel{sort[1]}{_ALIGNED[axis]}")()
        else:
            moving = getattr(pin, f"JointModel{sort[0]}Unaligned")(np.array(axis))
        index = built.addJoint(0 if body.parent == WORLD else body.parent + 1, moving, seat, joint.name)
        if index != i + 1:
            raise NotImplementedError(f"Pinocchio numbered joint '{joint.name}' {index}, expected {i + 1}")
        m, c = body.inertia.mass, np.array(body.inertia.centre, dtype=float)
        about_origin = np.array(body.inertia.tensor, dtype=float)
        central = about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))
        built.appendBodyToJoint(index, pin.Inertia(m, c, central), pin.SE3.Identity())
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

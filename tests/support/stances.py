"""Robots of example-robot-data on their feet, here and in Pinocchio with its constrained dynamics."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import appell

Array = NDArray[Any]
ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")


@dataclass(frozen=True)
class Stance:
    """A robot's file, the frames of its feet, the rows that hold each, and the angles of some of its joints."""

    file: str
    feet: tuple[str, ...]
    rows: int
    angles: tuple[tuple[str, float], ...]

    def on(self, *feet: int) -> Stance:
        """Return the same robot on some of its feet."""
        return Stance(self.file, tuple(self.feet[k] for k in feet), self.rows, self.angles)


def _legs(names: tuple[str, ...], angles: dict[str, tuple[float, ...]]) -> tuple[tuple[str, float], ...]:
    return tuple((joint.format(leg), x) for joint, row in angles.items() for leg, x in zip(names, row, strict=True))


STANCES = {
    "anymal": Stance(
        "anymal_b_simple_description/robots/anymal.urdf",
        ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
        3,
        _legs(
            ("LF", "RF", "LH", "RH"),
            {"{}_HAA": (-0.1, 0.1, -0.1, 0.1), "{}_HFE": (0.7, 0.7, -0.7, -0.7), "{}_KFE": (-1.0, -1.0, 1.0, 1.0)},
        ),
    ),
    "go2": Stance(
        "go2_description/urdf/go2.urdf",
        ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
        3,
        _legs(
            ("FL", "FR", "RL", "RR"),
            {
                "{}_hip_joint": (0.068, -0.068, 0.068, -0.068),
                "{}_thigh_joint": (0.785,) * 4,
                "{}_calf_joint": (-1.44,) * 4,
            },
        ),
    ),
    "talos": Stance(
        "talos_data/robots/talos_reduced.urdf",
        ("left_sole_link", "right_sole_link"),
        6,
        _legs(
            ("left", "right"),
            {"leg_{}_3_joint": (-0.411,) * 2, "leg_{}_4_joint": (0.859,) * 2, "leg_{}_5_joint": (-0.448,) * 2},
        ),
    ),
}
"""The standing postures of their SRDF files, rounded."""


def standing(stance: Stance, **options: Any) -> appell.Robot:
    """Return the robot held by its feet, without joint friction."""
    free = appell.load(ROBOTS / stance.file, floating=True, friction=False, **options)
    q, places = free.neutral(), free.places("q")
    for joint, angle in stance.angles:
        q[places[joint]] = angle
    return free.held(dict.fromkeys(stance.feet, stance.rows), at=q)


class Peer:
    """The same robot in Pinocchio: the tree, and a contact without Baumgarte terms per held frame."""

    def __init__(self, stance: Stance, robot: appell.Robot) -> None:
        self.model = pin.buildModelFromUrdf(
            str(ROBOTS / stance.file), pin.JointModelFreeFlyer(), root_joint_name="root"
        )
        ours = {body.joint.name: i for i, body in enumerate(robot.model.bodies)}
        order = [ours[name] for name in list(self.model.names)[1:]]
        self.to_q, self.to_v = (
            np.concatenate([np.arange(slices[i].start, slices[i].stop) for i in order])
            for slices in (robot.model.q_slices, robot.model.v_slices)
        )
        self.data = self.model.createData()
        self.constraints, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        pin.framesForwardKinematics(self.model, self.data, robot.neutral()[self.to_q])
        self.frames = [self.model.getFrameId(name) for name in stance.feet]
        kind = {3: pin.ContactType.CONTACT_3D, 6: pin.ContactType.CONTACT_6D}[stance.rows]
        for frame in self.frames:
            where = self.model.frames[frame]
            tie = pin.RigidConstraintModel(
                kind, self.model, where.parentJoint, where.placement, 0, self.data.oMf[frame], pin.LOCAL
            )
            self.constraints.append(tie)
            self.datas.append(tie.createData())
        try:
            pin.initConstraintDynamics(self.model, self.data, self.constraints, self.datas)
        except TypeError:  # before Pinocchio 4
            pin.initConstraintDynamics(self.model, self.data, self.constraints)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the accelerations of the tree, for its velocities and forces, all in appell's order."""
        result = np.empty_like(v)
        result[self.to_v] = self.solve(q[self.to_q], v[self.to_v], tau[self.to_v])
        return result

    def solve(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the accelerations of the tree, all in Pinocchio's order."""
        return np.asarray(
            pin.constraintDynamics(self.model, self.data, q, v, tau, self.constraints, self.datas, self.settings)
        )

    def wrenches(self, q: Array) -> Array:
        """Return the forces and moments of the last call on the feet, in world axes."""
        pin.framesForwardKinematics(self.model, self.data, q[self.to_q])
        found = []
        for frame, data in zip(self.frames, self.datas, strict=True):
            turn, force = self.data.oMf[frame].rotation, data.contact_force
            found.append(np.concatenate([turn @ force.linear, turn @ force.angular]))
        return np.array(found)

    def jacobian(self, q: Array, rows: int) -> Array:
        """Return the feet's Jacobians in world axes, one above the other."""
        pin.computeJointJacobians(self.model, self.data, q[self.to_q])
        pin.updateFramePlacements(self.model, self.data)
        each = [pin.getFrameJacobian(self.model, self.data, f, pin.LOCAL_WORLD_ALIGNED)[:rows] for f in self.frames]
        result = np.empty((len(each) * rows, self.model.nv))
        result[:, self.to_v] = np.concatenate(each)
        return result

    def mass_and_bias(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return M and C·v + G of the tree."""
        mass, bias = np.empty((self.model.nv, self.model.nv)), np.empty(self.model.nv)
        theirs = pin.crba(self.model, self.data, q[self.to_q])
        mass[np.ix_(self.to_v, self.to_v)] = np.triu(theirs) + np.triu(theirs, 1).T
        bias[self.to_v] = pin.nonLinearEffects(self.model, self.data, q[self.to_q], v[self.to_v])
        return mass, bias


def tree_forces(robot: appell.Robot, tau: Array) -> Array:
    """Return forces of the actuators as forces on every velocity of the tree."""
    forces = np.zeros((*tau.shape[:-1], robot.model.nv))
    forces[..., list(robot.facts.actuated)] = tau
    return forces

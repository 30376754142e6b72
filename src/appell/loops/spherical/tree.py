"""A spherical robot as a tree of bodies: its legs, two links each, and its platform behind the first leg.

All origins are at the common centre. The Euler angles of the platform move the tree in closed form
(:mod:`appell.loops.spherical.leg`): every joint's cosine and sine, rate and acceleration. So all that the recursions of
trees compute, poses, momenta, regressors and the rest, is the spherical robot's too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from appell.loops.spherical import euler, leg, programs
from appell.loops.spherical.mechanism import Mechanism
from appell.loops.spherical.programs import motor_torques
from appell.loops.spherical.sums import combined
from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Body, Frame, Joint, Model
from appell.read.values import cos_sin, tidy
from appell.recursion.kinematics import Scalars
from appell.robot.verbs.embedding import Actuation, Forces, Posture
from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Angle, Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, dot, matmul, matvec_t, sub, transpose


def tree(robot: Mechanism) -> Model:
    """Return the legs and the platform as a tree; its frames are its links and joints."""
    bodies: list[Body] = []
    for i, one in enumerate(robot.legs, 1):
        to1, to2 = one.frames
        first = _joint(f"{robot.joints[0]}{i}", matmul(one.base, to1), to1)
        second = _joint(f"{robot.joints[1]}{i}", matmul(transpose(to1), matmul(_about_x(one.alpha1), to2)), to2)
        bodies.append(Body(f"leg{i}_link1", WORLD, first, one.inertias[0]))
        bodies.append(Body(f"leg{i}_link2", len(bodies) - 1, second, one.inertias[1]))
    one = robot.legs[0]
    placement = matmul(transpose(one.frames[1]), matmul(_about_x(one.alpha2), transpose(one.platform)))
    third = _joint(f"{robot.joints[2]}1", placement, transpose(one.platform))
    bodies.append(Body("platform", 1, third, robot.platform))
    frames = [Frame(name, k, Pose()) for k, body in enumerate(bodies) for name in (body.joint.name, body.name)]
    index = {body.name: k for k, body in enumerate(bodies)}
    frames += [Frame(name, index[link], pose) for name, link, pose in robot.frames]
    return Model(robot.name, tuple(bodies), tuple(frames), robot.gravity)


def hinged(robot: Mechanism, model: Model) -> Model:
    """Return the tree with hinges between the platform and the legs that do not carry it: a closed chain.

    z of either frame of a hinge is e₃: of the platform's by the leg's frame on it, of the second link's by its arc.
    """
    frames, closures = list(model.frames), []
    for i, one in enumerate(robot.legs[1:], 2):
        name, arc = f"hinge{i}", tidy(matmul(transpose(one.frames[1]), _about_x(one.alpha2)))
        frames += [Frame(f"{name}/first", len(model.bodies) - 1, Pose(one.platform))]
        frames += [Frame(f"{name}/second", 2 * i - 1, Pose(arc))]
        closures.append(Closure(name, f"{name}/first", f"{name}/second", KINDS["revolute"]))
    return replace(model, frames=tuple(frames), closures=tuple(closures))


def _joint(name: str, placement: Matrix, axes: Matrix) -> Joint:
    """Return a revolute joint about the z axis that a body's own axes are seen from."""
    return Joint(name, "revolute", matvec_t(axes, IDENTITY[2]), Pose(tidy(placement), ZERO))


def _about_x(angle: float) -> Matrix:
    return about(IDENTITY[0], *cos_sin(angle))


@dataclass(frozen=True)
class SphericalTree:
    """The tree of a spherical robot, moved by its Euler angles."""

    robot: Mechanism
    model: Model

    def at(self, q: Scalars) -> Posture:
        """Return the posture of Euler angles."""
        return SphericalPosture(self.robot, self.model, q)

    def tracking_error(self, q: Scalars, goal: Scalars) -> Scalars:
        """Return the difference of the angles."""
        return tuple(b - a for a, b in zip(q, goal, strict=True))

    def finished(self, q: Scalars) -> Forces:
        """Return q: its loops are closed by construction."""
        return q

    def weightless(self) -> SphericalTree:
        """Return the robot without gravity."""
        return SphericalTree(replace(self.robot, gravity=ZERO), replace(self.model, gravity=ZERO))


class SphericalPosture(Posture):
    """A spherical robot at Euler angles; the joints of its tree are known by cosine and sine."""

    def __init__(self, robot: Mechanism, model: Model, angles: Scalars) -> None:
        self.robot, self.model, self.own = robot, model, angles
        self.n, self.n_driven, self.n_actuators = len(angles), len(angles), len(robot.motors)
        self.posture = programs.posture(robot, angles)
        self._euler = euler.jacobian(robot.sequence, angles)

    @cached_property
    def q(self) -> Scalars:  # type: ignore[override]  # made when a recursion needs it
        """Return the joints of the tree: θ and ψ of every leg, then ξ of the first."""
        sines, cosines = programs.leg_angles(self.robot, self.own)
        legs = [
            Angle(c, s) for sine, cosine in zip(sines, cosines, strict=True) for s, c in zip(sine, cosine, strict=True)
        ]
        return (*(x for k, x in enumerate(legs) if k % 3 < 2), legs[2])

    @cached_property
    def _rows(self) -> list[Vector]:
        """Return the rows of Γ by ω, in the platform's axes: of θ̇ and ψ̇ of every leg, and of ξ̇ of the first."""
        first, one = self.posture.axes[0], self.robot.legs[0]
        theta, psi = self.posture.rows[0]
        # ω·e₃ = θ̇ k + ψ̇ c₂ + ξ̇
        third = sub(first.platform, combined((theta, psi), (first.k, one.arcs[2])))
        return [*(row for rows in self.posture.rows for row in rows), third]

    def velocities(self, v: Scalars) -> Scalars:
        """Return Γv."""
        omega = euler.spin(self.robot.sequence, self.own, v, ZERO).omega
        return tuple(dot(row, omega) for row in self._rows)

    def accelerations(self, v: Scalars, moving: Scalars, a: Scalars) -> Scalars:
        """Return Γa + γ."""
        spin = euler.spin(self.robot.sequence, self.own, v, a)
        rates = programs.leg_rates(self.robot, self.posture, spin)
        third = leg.third_acceleration(self.robot.legs[0], self.posture.axes[0], rates[0], spin)
        return (*(x for rate in rates for x in (rate.theta2, rate.psi2)), third)

    def gathered(self, forces: Forces) -> Forces:
        """Return Γᵀf."""
        return matvec_t(self._euler, combined(self._rows, forces))

    def columns(self, which: Sequence[int]) -> list[Scalars]:
        """Return columns of Γ."""
        units = transpose(self._euler)
        return [tuple(dot(row, units[k]) for row in self._rows) for k in which]

    def rates(self, v: Scalars, moving: Scalars) -> Scalars:
        """Return v."""
        return v

    def pushed(self, tau: Scalars) -> Forces:
        """Return Jᵀτ of the motors."""
        return matvec_t(self._euler, combined(self.posture.motors, tau))

    def actuated(self, total: Forces, shares: Sequence[Forces], weights: Scalars = ()) -> Actuation:
        """Return the motors' torques, Jᵀτ = total."""
        rows = [matvec_t(self._euler, row) for row in self.posture.motors]
        return Actuation(motor_torques(rows, (total[0], total[1], total[2]), weights))

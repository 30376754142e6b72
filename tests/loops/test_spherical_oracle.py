"""Spherical robots of random geometry against Pinocchio: three open chains, closed by multipliers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from appell.loops.spherical.agile_wrist import AgileWrist
from appell.loops.spherical.kind import Spherical
from appell.loops.spherical.sst import StarTriangle
from appell.robot.robot import Robot
from appell.spatial.inertia import Inertia

pin = pytest.importorskip("pinocchio")
X, Y, Z = np.eye(3)
GRAVITY = (0.3, -2.0, -9.0)


def turn(axis, angle):
    return pin.AngleAxis(angle, np.asarray(axis, dtype=float)).toRotationMatrix()


def vector(x):
    return (float(x[0]), float(x[1]), float(x[2]))


def random_inertia(rng):
    mass, spread = rng.uniform(0.5, 3.0), rng.normal(size=(3, 3))
    second = 0.02 * mass * (spread @ spread.T + 0.1 * np.eye(3))
    tensor = np.trace(second) * np.eye(3) - second
    return Inertia.from_centre(mass, vector(0.1 * rng.normal(size=3)), tuple(map(vector, tensor)))


def random_bodies(rng):
    return tuple(random_inertia(rng) for _ in range(3))


def random_wrist(seed, branches=(1, 1, 1)):
    rng = np.random.default_rng(seed)
    near = math.acos(math.sqrt(1.0 / 3.0))
    thirds = np.array([0.0, 2.0, 4.0]) * math.pi / 3.0
    return AgileWrist(
        alpha1=tuple(rng.uniform(1.3, 1.7, 3)),
        alpha2=tuple(rng.uniform(1.1, 1.5, 3)),
        lambda_=tuple(thirds + rng.uniform(-0.2, 0.2, 3)),
        eta=tuple(thirds + rng.uniform(-0.2, 0.2, 3)),
        gamma=tuple(near + rng.uniform(-0.2, 0.2, 3)),
        beta=tuple(0.5 * math.pi - near + rng.uniform(-0.2, 0.2, 3)),
        links1=random_bodies(rng),
        links2=random_bodies(rng),
        platform=random_inertia(rng),
        branches=branches,
    )


def random_star(seed, branches=(1, 1, 1)):
    rng = np.random.default_rng(seed)
    first, second = rng.uniform(1.9, 2.3, 2)
    return StarTriangle(
        corners=tuple(map(vector, np.eye(3) + rng.uniform(-0.15, 0.15, (3, 3)))),
        star=(2.0 * math.pi - first - second, first, second),
        actuated=random_bodies(rng),
        passive=random_bodies(rng),
        platform=random_inertia(rng),
        branches=branches,
    )


class Oracle:
    """A spanning tree of seven joints: two a leg, and a third that holds the platform on leg 1.

    `legs` are, per leg, the joints' placements and axes, and the axis on the platform in link 2 and in the platform.
    """

    def __init__(self, legs, hold, inertias, platform, gravity):
        self.model = pin.Model()
        self.model.gravity.linear = np.array(gravity)
        self.tips, self.motors = [], []
        for leg, (first, second) in zip(legs, inertias, strict=True):
            base, axis1, middle, axis2, tip = leg
            one = self._add(0, base, axis1, first)
            two = self._add(one, middle, axis2, second)
            self.motors.append(self.model.idx_vs[one])
            self.tips.append((two, tip))
        placement, axis, rest = hold  # of the joint, and the platform's axes within its frame
        self.platform = self._add(self.tips[0][0], placement, axis, None)
        self.rest = rest
        body = pin.Inertia.FromDynamicParameters(np.array(platform.parameters))
        self.model.appendBodyToJoint(self.platform, body, pin.SE3(rest, np.zeros(3)))
        self.data = self.model.createData()

    def _add(self, parent, rotation, axis, inertia):
        joint = pin.JointModelRevoluteUnaligned(np.asarray(axis, dtype=float))
        index = self.model.addJoint(parent, joint, pin.SE3(rotation, np.zeros(3)), f"joint{self.model.njoints}")
        if inertia is not None:
            parameters = np.array(inertia.parameters)
            self.model.appendBodyToJoint(index, pin.Inertia.FromDynamicParameters(parameters), pin.SE3.Identity())
        return index

    def attitude(self, joint):
        return self.data.oMi[joint].rotation

    def spin(self, joint):
        return pin.getJointJacobian(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED)[3:]

    def drift(self, joint):
        """Return ω̇ of a joint at zero joint accelerations, and its ω."""
        frame = pin.LOCAL_WORLD_ALIGNED
        spin = pin.getVelocity(self.model, self.data, joint, frame).angular
        return pin.getClassicalAcceleration(self.model, self.data, joint, frame).angular, spin

    def torques(self, joints, axes, rotation, omega, alpha):
        """Return the motors' torques of a motion of the platform, closed in its axes and found by multipliers.

        `joints` is a start for Newton's method; the axes of legs 2 and 3 in link 2 and in the platform must agree.
        """
        q = np.array(joints)
        for _ in range(20):
            rows, gaps = self.closure(q, axes)
            error = pin.log3(self.attitude(self.platform) @ self.rest @ rotation.T)
            turning = self.spin(self.platform)
            q = q - np.linalg.lstsq(np.vstack([turning, rows]), np.concatenate([error, gaps]), rcond=None)[0]
        rows, gaps = self.closure(q, axes)
        assert np.abs(gaps).max() < 1e-14
        whole = np.vstack([self.spin(self.platform), rows])
        v = np.linalg.lstsq(whole, np.concatenate([omega, np.zeros(len(rows))]), rcond=None)[0]
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros_like(v))
        right = [alpha - self.drift(self.platform)[0]]
        for (tip, own), axis in list(zip(self.tips, axes, strict=True))[1:]:
            right.append(-(self._axis_drift(tip, own) - self._axis_drift(self.platform, self.rest @ axis)))
        a = np.linalg.lstsq(whole, np.concatenate(right), rcond=None)[0]
        forces = pin.rnea(self.model, self.data, q, v, a)
        driven = np.zeros((len(v), 3))
        driven[self.motors, range(3)] = 1.0
        tau = np.linalg.lstsq(np.hstack([driven, rows.T]), forces, rcond=None)[0][:3]
        return tau, q, v, a

    def _axis_drift(self, joint, axis):
        """Return the second derivative of a body's axis at zero joint accelerations: ω̇ × e + ω × (ω × e)."""
        e = self.attitude(joint) @ axis
        drift, spin = self.drift(joint)
        return np.cross(drift, e) + np.cross(spin, np.cross(spin, e))

    def closure(self, q, axes):
        pin.computeJointJacobians(self.model, self.data, q)
        rows, gaps = [], []
        for (tip, own), axis in list(zip(self.tips, axes, strict=True))[1:]:
            ends = [(tip, self.attitude(tip) @ own), (self.platform, self.attitude(self.platform) @ self.rest @ axis)]
            gaps.append(ends[0][1] - ends[1][1])
            rows.append(-pin.skew(ends[0][1]) @ self.spin(tip) + pin.skew(ends[1][1]) @ self.spin(self.platform))
        return np.vstack(rows), np.concatenate(gaps)


def wrist_oracle(wrist, gravity):
    """Return the tree of abedloo2014 (27), (28)."""
    legs = []
    for i in range(3):
        base = turn(Z, wrist.lambda_[i]) @ turn(X, wrist.gamma[i] - math.pi)
        legs.append((base, Z, turn(X, wrist.alpha1[i]), Z, turn(X, wrist.alpha2[i]) @ Z))
    above = [turn(Z, wrist.eta[i]) @ turn(X, -wrist.beta[i]) for i in range(3)]
    hold = (turn(X, wrist.alpha2[0]), Z, above[0].T)
    inertias = list(zip(wrist.links1, wrist.links2, strict=True))
    return Oracle(legs, hold, inertias, wrist.platform, gravity), [frame @ Z for frame in above]


def star_oracle(star, gravity):
    """Return the tree of enferadi2010: {0k}, a turn γ about w, a turn −μ about r, a turn −β about t."""
    legs = []
    corners = [np.array(corner) / np.linalg.norm(corner) for corner in star.corners]
    for k in range(3):
        w = np.cross(corners[k], corners[(k + 1) % 3])
        w /= np.linalg.norm(w)
        legs.append((np.column_stack([corners[k], np.cross(w, corners[k]), w]), Z, np.eye(3), -X, Z))
    axes = [turn(Z, angle) @ Y for angle in (0.0, star.star[2], -star.star[1])]
    # with β = 0 the radius r, x of link 2, lies along the star's pole s, and t along its y: x → z, z → y, y → x
    hold = (np.eye(3), -Z, np.column_stack([Y, Z, X]))
    inertias = list(zip(star.actuated, star.passive, strict=True))
    return Oracle(legs, hold, inertias, star.platform, gravity), axes


class Attitude:
    """The platform's Euler angles as three joints in a row, in Pinocchio."""

    def __init__(self, sequence):
        self.model = pin.Model()
        for k, name in enumerate(sequence):
            joint = pin.JointModelRevoluteUnaligned({"x": X, "y": Y, "z": Z}[name])
            self.model.addJoint(k, joint, pin.SE3.Identity(), f"angle{k}")
        self.data = self.model.createData()

    def __call__(self, q, v, a):
        pin.forwardKinematics(self.model, self.data, q, v, a)
        frame = pin.LOCAL_WORLD_ALIGNED
        spin = pin.getVelocity(self.model, self.data, 3, frame).angular
        alpha = pin.getClassicalAcceleration(self.model, self.data, 3, frame).angular
        return self.data.oMi[3].rotation.copy(), spin, alpha


BRANCHES = [(1, -1, 1), (-1, 1, -1)]
"""Between them every leg is on either branch."""
KINDS = {"wrist": (random_wrist, wrist_oracle, "zyx"), "star": (random_star, star_oracle, "zyz")}


@pytest.fixture(params=[(kind, branches) for kind in KINDS for branches in BRANCHES], ids=str, scope="module")
def pair(request):
    kind, branches = request.param
    make, oracle, sequence = KINDS[kind]
    parameters = make(10 + BRANCHES.index(branches), branches)
    tree, axes = oracle(parameters, GRAVITY)
    return Robot(Spherical(parameters.mechanism(gravity=GRAVITY))), tree, axes, Attitude(sequence)


def motions(robot, count):
    rng = np.random.default_rng(7)
    q = robot.random(rng, count)
    return q, rng.normal(size=(count, 3)), rng.normal(size=(count, 3)) * 3.0


def tree_of(joints):
    """Return the seven joints of the tree, in order of making, from all nine: θ and ψ of each leg, then ξ₁."""
    return np.concatenate([joints[:, :2].ravel(), joints[0, 2:]])


def solved(pair, q, v, a):
    """Return torques and joint motion of the tree for one sample."""
    robot, oracle, axes, attitude = pair
    return oracle.torques(tree_of(np.arctan2(*robot.evaluate("leg_angles", q))) + 1e-3, axes, *attitude(q, v, a))


def test_the_motors_torques_are_those_of_three_chains_closed_by_multipliers(pair, agree):
    robot = pair[0]
    for q, v, a in zip(*motions(robot, 4), strict=True):
        agree(robot.inverse_dynamics(q, v, a), solved(pair, q, v, a)[0], 1e-11)


def test_the_joints_angles_rates_and_accelerations_are_the_trees(pair, agree):
    robot = pair[0]
    for q, v, a in zip(*motions(robot, 4), strict=True):
        _, joints, rates, accelerations = solved(pair, q, v, a)
        agree(np.exp(1j * tree_of(np.arctan2(*robot.evaluate("leg_angles", q)))), np.exp(1j * joints), 1e-12)
        agree(tree_of(robot.evaluate("leg_rates", q, v)), rates, 1e-12)
        agree(tree_of(robot.evaluate("leg_accelerations", q, v, a)), accelerations, 1e-11)


def test_the_external_moment_is_what_the_motors_need_not_do(pair, agree):
    robot, oracle, axes, _ = pair
    q, v, a = (x[0] for x in motions(robot, 1))
    moment = np.array([0.4, -1.0, 2.0])
    tau, joints, *_ = solved(pair, q, v, a)
    rows, _ = oracle.closure(joints, axes)
    driven = np.zeros((7, 3))
    driven[oracle.motors, range(3)] = 1.0
    pushed = oracle.spin(oracle.platform).T @ moment
    spared = np.linalg.lstsq(np.hstack([driven, rows.T]), pushed, rcond=None)[0][:3]
    agree(robot.inverse_dynamics(q, v, a, wrenches={"platform": [0.0, 0.0, 0.0, *moment]}), tau - spared, 1e-11)


def test_the_frames_of_links_and_platform_are_the_trees(pair, agree):
    robot, oracle, _, attitude = pair
    q = motions(robot, 1)[0][0]
    solved(pair, q, np.zeros(3), np.zeros(3))
    for leg, (tip, _) in enumerate(oracle.tips, 1):
        agree(robot.pose(q, f"leg{leg}_link2")[:3, :3], oracle.attitude(tip), 1e-12)
        agree(robot.pose(q, f"leg{leg}_link1")[:3, :3], oracle.attitude(tip - 1), 1e-12)
    agree(robot.pose(q, "platform")[:3, :3], attitude(q, np.zeros(3), np.zeros(3))[0], 1e-12)


def test_gravity_may_be_left_out(agree):
    wrist = random_wrist(3)
    heavy, light = (Robot(Spherical(wrist.mechanism(gravity=g))) for g in (GRAVITY, (0.0, 0.0, 0.0)))
    assert np.all(light.gravity(heavy.neutral()) == 0.0)
    q, v, a = motions(heavy, 5)
    agree(heavy.generalised_forces(q, v, a) - heavy.gravity(q), light.generalised_forces(q, v, a), 1e-12)


def test_the_other_branch_of_a_leg_has_another_motor_angle():
    wrist = random_wrist(3)
    home = np.zeros(3)
    angles = [
        Robot(Spherical(replace(wrist, branches=branches).mechanism())).actuator_positions(home)
        for branches in BRANCHES
    ]
    assert np.all(np.abs(angles[1] - angles[0]) > 1e-6)

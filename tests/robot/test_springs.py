"""Springs of joints, springs between joints and elastic transmissions, through the verbs."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import appell
from appell.errors import InputError, ModelError, ReadError
from appell.read.toml import read_toml

BELT = appell.Spring("belt", (("joint1", 1.0), ("joint3", -0.5)), stiffness=40.0, damping=2.0, reference=0.3)
SAG = appell.Spring("sag", (("joint2", 2.0),), stiffness=15.0, damping=1.0, reference=-0.2)


def arm(**own):
    rows = [
        {"alpha": alpha, "a": 0.3, "mass": 2.0, "centre": [0.1, 0.05, 0.0], "inertia": [0.02, 0.03, 0.04], **own}
        for alpha in (0.3, 0.0, "90 deg", 0.0)
    ]
    return appell.from_dh(rows)


FINGERS = """
name = "fingers"
mimic = true
links = [{ name = "palm" }, { name = "left", mass = 1.0, centre = [0.1, 0.0, 0.0], inertia = [0.01, 0.02, 0.03] },
    { name = "right", mass = 0.7, centre = [0.0, 0.2, 0.1], inertia = [0.01, 0.02, 0.02] }]

[[joints]]
name = "one"
kind = "revolute"
parent = "palm"
child = "left"
axis = [0.0, 1.0, 0.0]
stiffness = 6.0
spring_reference = "20 deg"

[[joints]]
name = "two"
kind = "prismatic"
parent = "left"
child = "right"
stiffness = 30.0
spring_reference = 0.1
mimic = { joint = "one", multiplier = 0.5, offset = 0.2 }

[[springs]]
name = "tendon"
joints = { one = 1.0, two = 3.0 }
stiffness = 4.0
damping = 0.2
reference = 0.1
"""
CROSSED = appell.Spring("cross", (("mot1", 1.0), ("free2", 0.5)), 12.0, 0.3, 0.1)
SPRUNG = {
    "joints": lambda: arm(stiffness=25.0, spring_reference=0.4, damping=0.5),
    "between": lambda: arm(armature=0.05).with_springs(BELT, SAG),
    "elastic": lambda: arm().with_elastic_joints({"joint2": appell.Elasticity(300.0, 1.5, 2e-3, 20.0)}),
    "mimic": lambda: appell.load(read_toml(FINGERS)),
    "closed": lambda: appell.load("five-bar").with_springs(CROSSED),
    "closed elastic": lambda: appell.load("four-bar").with_elastic_joints(
        {"crank": appell.Elasticity(50.0, 0.4, 0.02, 5.0)}
    ),
}


QUICK = ("mimic", "closed")
"""The robots of every run: springs of joints, between them, on a follower and in a loop."""


@pytest.fixture(scope="module", params=[x if x in QUICK else pytest.param(x, marks=pytest.mark.slow) for x in SPRUNG])
def robot(request):
    return SPRUNG[request.param]()


@pytest.fixture
def state(robot, rng):
    """Return q, v, all accelerations and actuator torques."""
    return robot.random(rng), *(rng.normal(size=n) for n in (robot.nv, robot.nv, robot.nu))


def along(robot, function, q, e=1e-4):
    """Return the derivative of a function of q along the independent velocities, by differences of fourth order."""
    a, b, c, d = (
        np.array([function(robot.integrate(q, s * e * unit)) for unit in np.eye(robot.nv)]) for s in (-2, -1, 1, 2)
    )
    return ((a - 8.0 * b + 8.0 * c - d) / (12.0 * e)).T


def agree(ours, theirs, within=1e-11):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=within * max(np.abs(theirs).max(), 1.0))


def test_gravity_is_the_gradient_of_potential_energy_springs_included(robot, state):
    q, *_ = state
    agree(robot.gravity(q), along(robot, robot.potential_energy, q), 1e-8)


def test_springs_hold_energy(robot, state):
    q, *_ = state
    weight = appell.load(robot.model.without("stiffness")).potential_energy(q)
    assert robot.potential_energy(q) > weight


def test_dynamics_is_linear_in_stiffness_and_damping(robot, state):
    q, v, a, _ = state
    tau = robot.evaluate("generalised_forces", q, v, a)
    agree(robot.regressor(q, v, a) @ robot.parameters, tau)
    energies = robot.kinetic_energy(q, v), robot.potential_energy(q)
    agree(robot.energy_regressor(q, v) @ robot.parameters, energies)
    assert len(robot.parameter_names) == len(robot.parameters) == len({*robot.parameter_names})


def test_other_stiffnesses_can_be_given(robot, state):
    q, v, a, tau = state
    pi = robot.parameters * np.linspace(0.8, 1.2, len(robot.parameters))
    agree(robot.evaluate("generalised_forces", q, v, a, parameters=pi), robot.regressor(q, v, a) @ pi)
    agree(robot.evaluate("motion", q, v, tau, parameters=robot.parameters)[1], robot.forward_dynamics(q, v, tau))


def test_forward_dynamics_gives_back_the_accelerations(robot, state):
    q, v, a, _ = state
    tau = robot.inverse_dynamics(q, v, a[: robot.nu])
    agree(robot.forward_dynamics(q, v, tau)[: robot.nu], a[: robot.nu], 1e-9)


def test_bias_is_coriolis_gravity_and_damping(robot, state):
    q, v, *_ = state
    smooth = appell.load(robot.model.without_friction())
    agree(smooth.bias(q, v), smooth.coriolis_matrix(q, v) @ v + smooth.gravity(q))
    agree(smooth.passive_inverse_dynamics(q, v, v, 0.0 * v), smooth.bias(q, v))


def test_derivatives_are_those_of_differences(robot, state):
    q, v, _, tau = state
    by_q, by_v, _ = robot.forward_dynamics_derivatives(q, v, tau)
    agree(by_q, along(robot, lambda x: robot.forward_dynamics(x, v, tau), q), 1e-7)
    e = 1e-4
    differences = [
        robot.forward_dynamics(q, v + e * u, tau) - robot.forward_dynamics(q, v - e * u, tau) for u in np.eye(robot.nv)
    ]
    agree(by_v, np.array(differences).T / (2.0 * e), 1e-7)
    w = np.arange(1.0, robot.nv + 1.0)
    by = robot.forward_dynamics_vjp(q, v, tau, w)
    agree(by[0], w @ by_q, 1e-9)
    agree(by[1], w @ by_v, 1e-9)


def test_springs_are_saved_and_pickled(robot, state, tmp_path):
    q, v, a, _ = state
    tau = robot.inverse_dynamics(q, v, a[: robot.nu])
    again = appell.load(robot.save(tmp_path / "robot.toml"))
    assert again.model.springs == robot.model.springs
    agree(again.inverse_dynamics(q, v, a[: robot.nu]), tau)
    agree(pickle.loads(pickle.dumps(robot)).inverse_dynamics(q, v, a[: robot.nu]), tau, 0.0)


@pytest.mark.parametrize("name", [pytest.param("joints", marks=pytest.mark.slow), "between"])
def test_springs_are_written_to_mjcf(name, rng, tmp_path):
    pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")
    robot = SPRUNG[name]()
    again = appell.load(robot.save(tmp_path / "robot.xml"))
    q, v, a = rng.normal(size=(3, robot.nv))
    agree(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))


def test_springs_of_joints_are_written_to_urdf_and_those_between_are_refused(rng, tmp_path):
    robot = SPRUNG["joints"]()
    q, v, a = rng.normal(size=(3, robot.nv))
    again = appell.load(robot.save(tmp_path / "robot.urdf"))
    agree(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))
    with pytest.raises(ModelError, match="URDF cannot represent springs between joints"):
        SPRUNG["between"]().save(tmp_path / "robot.urdf")


def test_energy_is_constant_in_a_simulation_without_losses(robot, rng):
    smooth = appell.load(robot.model.without("damping", "friction"))
    run = appell.simulate(smooth, smooth.neutral(), 0.3 * rng.normal(size=smooth.nv), 0.3)
    assert np.ptp(run.energy) <= 1e-7 * max(np.abs(run.energy).max(), 1.0)


# Elastic transmissions

STIFFNESS, LINK, ROTOR, RATIO = 120.0, 0.5, 2e-3, 10.0


def two_masses(**own):
    """Return a link that turns about the vertical, and its motor behind an elastic transmission."""
    model = appell.from_dh([{"mass": 1.0, "inertia": [0.4, 0.3, LINK]}])
    return model.with_elastic_joints({"joint1": appell.Elasticity(STIFFNESS, rotor_inertia=ROTOR, ratio=RATIO, **own)})


def test_the_frequency_of_two_masses_is_that_of_the_closed_form(rng):
    robot = two_masses()
    expected = STIFFNESS * (1.0 / LINK + 1.0 / (RATIO**2 * ROTOR))  # s̈ = −ω² s of the stretch s = q − θ/N
    by_q, _, _ = robot.forward_dynamics_derivatives([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    np.testing.assert_allclose(sorted(np.linalg.eigvals(by_q)), [-expected, 0.0], atol=1e-9 * expected)
    run = appell.simulate(robot, [0.02, 0.0], [0.0, 0.0], 0.5, rtol=1e-11, atol=1e-12)
    stretch = run.q[:, 0] - run.q[:, 1] / RATIO
    np.testing.assert_allclose(stretch, 0.02 * np.cos(math.sqrt(expected) * run.t), atol=1e-8)
    np.testing.assert_allclose(run.energy, 0.5 * STIFFNESS * 0.02**2, rtol=1e-8)


@pytest.mark.slow
def test_a_stiff_transmission_moves_as_the_rigid_joint(rng):
    rigid = arm(armature=0.08)
    stiff = rigid.with_elastic_joints({"joint2": appell.Elasticity(1e9, ratio=7.0)})
    q, v, tau = rng.normal(size=(3, 4))
    full = [np.append(x, 7.0 * x[1]) for x in (q, v)]  # the spring relaxed, and staying so
    at_motor = np.append(tau * [1.0, 0.0, 1.0, 1.0], tau[1] / 7.0)
    sum_of_both = stiff.forward_dynamics(*full, at_motor)
    # what is common to both sides: (link + reflected rotor) accelerations, weighed by their inertias
    A = stiff.mass_matrix(full[0])
    along_rigid = np.vstack([np.eye(4), 7.0 * np.eye(4)[1]])
    np.testing.assert_allclose(
        np.linalg.solve(along_rigid.T @ A @ along_rigid, along_rigid.T @ A @ sum_of_both),
        rigid.forward_dynamics(q, v, tau),
        rtol=1e-9,
    )


def test_stiffness_is_identified_from_both_encoders(rng):
    robot = two_masses(damping=0.7)
    t = np.linspace(0.0, 2.0, 400)
    run = appell.simulate(
        robot, [0.0, 0.0], [0.0, 0.0], 2.0, control=lambda t, q, v: [0.0, math.sin(20.0 * t) + math.cos(7.0 * t)]
    )
    q, v = (np.array([np.interp(t, run.t, x) for x in part.T]).T for part in (run.q, run.v))
    tau = np.stack([0.0 * t, np.sin(20.0 * t) + np.cos(7.0 * t)], axis=-1)
    a = robot.forward_dynamics(q, v, tau)
    Y, pi = robot.regressor(q, v, a), np.array(robot.parameters)
    unknown = [robot.parameter_names.index(name) for name in ("k_joint1/spring", "d_joint1/spring", "Ia_joint1/motor")]
    known = np.delete(np.arange(len(pi)), unknown)
    rest = tau - Y[..., known] @ pi[known]
    found, *_ = np.linalg.lstsq(Y[..., unknown].reshape(-1, 3), rest.reshape(-1), rcond=None)
    np.testing.assert_allclose(found, [STIFFNESS, 0.7, ROTOR], rtol=1e-9)


# What is refused


@pytest.mark.parametrize(
    ("spring", "message"),
    [
        (appell.Spring("joint1", (("joint2", 1.0),)), "spring 'joint1': a joint or another spring has this name"),
        (appell.Spring("s", ()), "spring 's' has no joint"),
        (appell.Spring("s", (("elbow", 1.0),)), "no moving joint 'elbow'; known: 'joint1', 'joint2'"),
        (appell.Spring("s", (("joint1", 1.0),), stiffness=-1.0), "spring 's' has a negative stiffness"),
        (appell.Spring("s", (("joint1", 1.0),), stiffness=math.nan), "spring 's': stiffness is nan"),
    ],
)
def test_a_spring_that_cannot_be_is_refused(spring, message):
    with pytest.raises(ModelError, match=message):
        arm().with_springs(spring)


@pytest.mark.parametrize(
    ("name", "own", "message"),
    [
        ("elbow", appell.Elasticity(1.0, rotor_inertia=1.0), "no moving joint 'elbow'"),
        ("joint1", appell.Elasticity(1.0), "needs a rotor_inertia above zero"),
        ("joint1", appell.Elasticity(0.0, rotor_inertia=1.0), "stiffness above zero"),
        ("joint1", appell.Elasticity(1.0, rotor_inertia=1.0, ratio=0.0), "a ratio other than zero"),
    ],
)
def test_an_elasticity_that_cannot_be_is_refused(name, own, message):
    with pytest.raises(ModelError, match=message):
        arm().with_elastic_joints({name: own})


def test_a_joint_is_made_elastic_once():
    robot = SPRUNG["elastic"]()
    with pytest.raises(ModelError, match="is elastic already; change the stiffness of its spring 'joint2/spring'"):
        robot.with_elastic_joints({"joint2": appell.Elasticity(1.0, rotor_inertia=1.0)})


def test_a_spherical_robot_has_no_springs():
    with pytest.raises(InputError, match="closed form"):
        appell.load("agile-wrist").with_springs(appell.Spring("s", (("theta1", 1.0),), 1.0))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('kind = "prismatic"', 'kind = "ball"', "is ball and has a stiffness; only joints with one coordinate"),
        ("one = 1.0", "three = 1.0", "no moving joint 'three'"),
        ("stiffness = 4.0", "stifness = 4.0", "stifness"),
        ("damping = 0.2", 'damping = "soft"', "damping"),
        ("stiffness = 6.0", "elasticity = { damping = 1.0 }", "missing key 'stiffness'"),
        ("stiffness = 6.0", "elasticity = { stiffness = 1.0 }", "needs a rotor_inertia"),
    ],
)
def test_a_file_of_springs_that_cannot_be_is_refused(before, after, message):
    assert before in FINGERS
    with pytest.raises(ReadError, match=message):
        read_toml(FINGERS.replace(before, after))


def test_elasticity_is_read_from_a_file():
    text = FINGERS.replace("stiffness = 6.0", "elasticity = { stiffness = 8.0, rotor_inertia = 0.1, ratio = 3.0 }")
    model = read_toml(text.replace("mimic = true", ""))
    assert [body.joint.name for body in model.bodies] == ["one", "two", "one/motor"]
    assert model.springs[0] == appell.Spring("one/spring", (("one", 1.0), ("one/motor", -1.0 / 3.0)), 8.0)

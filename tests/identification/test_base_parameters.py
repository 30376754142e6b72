"""Base parameters: as many as the literature counts, as few as torques depend on, written as the books write them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.identification.base_parameters import (
    base_of,
    base_parameters,
    columns,
    essential,
    nominal,
    preference,
    random_states,
)
from appell.spatial.inertia import Inertia


def rebuilt(robot, pi):
    """Return the same robot with other inertial parameters."""
    inertias = [Inertia.from_parameters(tuple(map(float, ten))) for ten in np.reshape(pi, (-1, 10))]
    bodies = tuple(replace(b, inertia=i) for b, i in zip(robot.model.bodies, inertias, strict=True))
    return robot.with_model(replace(robot.model, bodies=bodies))


def small_floating(tree):
    return appell.load(tree(np.random.default_rng(5), [("revolute", 0), ("revolute", 0)]).floating())


def pinocchio_rank(model, peer, rng):
    """Return the rank of Pinocchio's regressor of an open robot, at states of its own."""
    other = peer(model)
    rows = []
    for _ in range(40 * len(model.bodies)):
        q, v, a = rng.uniform(-3.0, 3.0, model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)
        rows.append(other.pin.computeJointTorqueRegressor(other.model, other.data, q, v, a).copy())
    values = np.linalg.svd(np.concatenate(rows), compute_uv=False)
    return int((values > 1e-9 * values[0]).sum())


# Counts


@pytest.mark.parametrize(
    ("name", "rotors", "count"), [("puma560", False, 36), ("puma560", True, 40), ("rx90", False, 36)]
)
def test_arms_have_as_many_base_parameters_as_the_literature_counts(name, rotors, count):
    assert base_parameters(appell.load(name), rotors=rotors).n == count


@pytest.mark.parametrize(("vertical", "count"), [(True, 15), (False, 17)])
def test_a_general_chain_has_seven_a_joint_but_for_the_first(vertical, count):
    chain = appell.random_chain(3, np.random.default_rng(3), vertical=vertical)
    assert base_parameters(chain).n == count


@pytest.mark.parametrize(("rotors", "count"), [(False, 36), (True, 40)])
def test_the_ur10e_has_36_and_40_with_its_rotors(shared, rotors, count):
    robot = appell.load(shared / "data" / "ur10e" / "ur10e.urdf")
    assert base_parameters(robot, rotors=rotors).n == count


@pytest.mark.parametrize("seed", range(4))
def test_the_count_is_the_rank_of_pinocchios_regressor(tree, peer, rng, seed):
    model = tree(np.random.default_rng(seed), 3)
    assert base_parameters(appell.load(model)).n == pinocchio_rank(model, peer, rng)


def test_a_free_base_shows_all_ten_of_its_own_and_seven_per_joint_behind(tree):
    model = tree(np.random.default_rng(5), [("revolute", 0), ("revolute", 0)])
    assert base_parameters(appell.load(model.floating())).n == 24


def test_the_gap_of_the_singular_values_is_wide():
    assert base_parameters(appell.load("five-bar")).gap > 1e10


# What base parameters are


@pytest.fixture(scope="module", params=["two-link", "five-bar", "mobile-arm", "sst", "floating", "prismatic"])
def robot(request, tree):
    if request.param == "floating":
        return small_floating(tree)
    if request.param == "prismatic":
        return appell.load(tree(np.random.default_rng(8), [("revolute", 0), ("prismatic", 0), ("revolute", 0)]))
    return appell.load(request.param)


def test_torques_do_not_change_along_the_nullspace(robot, rng, agree):
    base = base_parameters(robot)
    pi = nominal(robot)
    other = rebuilt(robot, pi + base.nullspace @ rng.normal(size=len(base.rest)))
    state = random_states(robot, 20, rng)
    agree(other.inverse_dynamics(*state), robot.inverse_dynamics(*state), within=1e-9)


def test_torques_change_along_every_base_parameter(robot, rng):
    W = base_parameters(robot).regressor(robot, *random_states(robot, 100, rng)).reshape(100 * robot.nv, -1)
    assert np.linalg.cond(W / np.linalg.norm(W, axis=0)) < 1e4


def test_torques_are_the_base_regressor_times_base_parameters(robot, rng, agree):
    base, state = base_parameters(robot), random_states(robot, 20, rng)
    agree(base.regressor(robot, *state) @ base.values(robot), columns(robot, *state) @ nominal(robot))


def test_expanded_base_parameters_have_the_values_they_were_made_of(robot, rng, agree):
    base = base_parameters(robot)
    values = rng.normal(size=base.n)
    agree(base.values(base.expand(values, nominal(robot))), values)


def test_parameters_that_have_the_values_already_are_their_own_expansion(robot, agree):
    base = base_parameters(robot)
    agree(base.expand(base.values(robot), nominal(robot)), nominal(robot))


def test_joint_friction_does_not_change_them(tree):
    model = tree(np.random.default_rng(1), 3, has_friction=True)
    assert (
        base_parameters(appell.load(model)).formulas == base_parameters(appell.load(model.without_friction())).formulas
    )


def test_they_do_not_depend_on_the_random_states():
    robot = appell.load("rx90")
    assert base_parameters(robot, seed=1).formulas == base_parameters(robot, seed=2).formulas


@pytest.mark.parametrize(
    ("name", "independent"), [("five-bar", None), ("five-bar", ["mot1", "free1"]), ("mobile-arm", None)]
)
def test_rotors_of_a_closed_robot_act_on_its_motors(name, independent, rng, agree):
    """Rotor inertia in the regressor is the armature of the model: an independent road to the same forces."""
    plain = appell.load(name).with_independent(independent) if independent else appell.load(name)
    bodies = [
        replace(b, joint=replace(b.joint, armature=0.3)) if b.joint.name in plain.actuators else b
        for b in plain.model.bodies
    ]
    heavy = plain.with_model(replace(plain.model, bodies=tuple(bodies)))
    state = random_states(plain, 10, rng)
    more = heavy.generalised_forces(*state) - plain.generalised_forces(*state)
    agree(columns(plain, *state, rotors=True)[..., -plain.nu :] @ np.full(plain.nu, 0.3), more)


def test_rotors_of_a_spherical_robot_turn_with_its_legs(rng, agree):
    robot = appell.load("agile-wrist")
    state = random_states(robot, 10, rng)
    expected = robot.evaluate("leg_accelerations", *state)[..., 0]
    agree(columns(robot, *state, rotors=True)[..., -3:] @ np.ones(3), expected)


# How they are written


def test_a_planar_arm_has_the_sums_of_the_textbooks():
    arm = appell.load("two-link")
    length = arm.model.bodies[1].joint.placement.position[0]
    expected = (f"mcx1 + {length:.4g} m2", "mcy1", f"Izz1 + {length**2:.4g} m2", "mcx2", "mcy2", "Izz2")
    assert base_parameters(arm).formulas == expected


def test_the_rx90_has_the_sums_of_khalil_and_dombre():
    """Khalil and Dombre, Modeling, Identification and Control of Robots (2002), ch. 9: D3 = RL4 = 0.45 m."""
    d, r = 0.45, 0.45
    sums = dict(zip((base := base_parameters(appell.load("rx90"), rotors=True)).labels, base.formulas, strict=True))
    behind = " ".join(f"+ {d * d:.4g} m{k}" for k in (4, 5, 6))
    assert sums["Izz1"] == f"Izz1 + Iyy2 + {d * d:.4g} m3 + Iyy3 {behind} + Ia1"
    assert sums["Ixz2"] == f"Ixz2 − {d:.4g} mcz3"
    assert sums["Ixx3"] == f"Ixx3 − Iyy3 + {r * r:.4g} m4 + {2 * r:.4g} mcz4 + Iyy4 + {r * r:.4g} m5 + {r * r:.4g} m6"
    assert sums["mcy4"] == "mcy4 − mcz5"
    assert sums["Ixx6"] == "Ixx6 − Iyy6"


def test_a_body_that_turns_about_y_gives_away_its_moments_along_y():
    """The same arm in other axes: what is z in a table of Denavit and Hartenberg may be y in a URDF."""
    joints = [appell.model.model.Joint(f"j{k}", "revolute", (0.0, 1.0, 0.0)) for k in range(2)]
    bodies = [appell.model.model.Body(f"b{k}", k - 1, j, Inertia()) for k, j in enumerate(joints)]
    names = [x for x in range(20) if x // 10 == 1]
    order = [k for k in preference(appell.load(appell.model.model.Model("y", tuple(bodies)))) if k in names]
    assert order[-3:] == [19, 12, 10]  # Izz, mcy, m


# Bad input


def test_a_rank_without_a_gap_is_an_error():
    U, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 16)))
    V, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(16, 16)))
    with pytest.raises(appell.ModelError, match="the rank of the regressor is ambiguous"):
        base_of(U * 10.0 ** -np.arange(16.0) @ V.T, [f"x{k}" for k in range(16)])


def test_a_regressor_of_other_columns_is_refused():
    robot = appell.load("puma560")
    with pytest.raises(appell.InputError, match=r"expected 60 columns.*got shape"):
        base_parameters(robot).reduce(robot.regressor([0.0] * 6, [0.0] * 6, [0.0] * 6))


def test_too_few_samples_are_refused():
    with pytest.raises(appell.InputError, match="20 rows or more"):
        base_parameters(appell.load("two-link"), samples=3)


# Essential parameters


def test_a_parameter_that_noise_covers_is_not_essential(rng):
    W = rng.normal(size=(400, 4))
    tau = W @ [1.0, 2e-4, 3.0, -2.0] + 0.02 * rng.normal(size=400)
    assert essential(W, tau).kept == (0, 2, 3)


def test_a_column_that_the_motion_hardly_excites_is_not_essential(rng):
    W = rng.normal(size=(400, 3)) * [1.0, 1e-3, 1.0]
    tau = W @ [1.0, 1.0, 1.0] + 0.02 * rng.normal(size=400)
    assert [x.name for x in essential(W, tau, names=["m", "mcx", "Izz"]).dropped] == ["mcx"]


def test_deviations_are_those_of_repeated_fits(rng):
    W, sigma = rng.normal(size=(60, 2)), np.where(np.arange(60) % 2, 0.1, 0.4)
    fits = np.array([essential(W, W @ [1.0, 1.0] + sigma * rng.normal(size=60), sigma).values for _ in range(400)])
    deviations = essential(W, W @ [1.0, 1.0], sigma).standard_errors
    assert np.abs(fits.std(axis=0) / deviations - 1.0).max() < 0.15


def test_dependent_columns_are_refused(rng):
    W = rng.normal(size=(50, 2))
    with pytest.raises(appell.InputError, match="do not have full rank"):
        essential(np.column_stack([W, W.sum(axis=1)]), W[:, 0])

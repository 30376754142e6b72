"""The catalogue's robots against the papers and programs their numbers come from."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from appell.errors import InputError
from appell.read.catalogue import file_text, names, random_chain, read
from appell.spatial.inertia import Inertia

TREES = [name for name in names() if "[spherical]" not in file_text(name)]
"""All but the robots in closed form, which have a reader of their own."""
CLOSED = [name for name in TREES if "[[closures]]" in file_text(name)]
"""Trees whose loops are closed: they have links without mass, and joints that tests/loops knows."""
READY = [0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0]
"""The nominal pose of the Robotics Toolbox's PUMA 560, qn."""


def test_the_names_are_the_files():
    assert names() == [
        "agile-wrist",
        "delta",
        "five-bar",
        "four-bar",
        "mobile-arm",
        "puma560",
        "puma600",
        "rx90",
        "shafei-tree",
        "sst",
        "stanford",
        "stewart",
        "two-link",
    ]


def test_a_robot_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(InputError, match=r"no robot 'puma' in the catalogue; did you mean 'puma560' or 'puma600'"):
        read("puma")


def test_a_robot_in_closed_form_is_not_a_tree():
    with pytest.raises(InputError, match=r"'sst' is a closed robot, .* use appell.load\('sst'\)"):
        read("sst")


@pytest.mark.parametrize("name", names())
def test_every_file_names_its_source_and_itself(name):
    top = tomllib.loads(file_text(name))
    assert top["name"] == name
    assert len(top["source"]) > 40


@pytest.mark.parametrize("name", [name for name in TREES if name not in CLOSED])
def test_every_robot_has_a_positive_definite_mass_matrix(name, rng, peer):
    model = read(name)
    assert np.linalg.eigvalsh(peer(model).mass_matrix(rng.normal(size=model.nq)))[0] > 0


@pytest.mark.parametrize("name", TREES)
def test_every_inertia_but_the_puma_560s_belongs_to_a_rigid_body(name):
    smallest = []
    for body in read(name).bodies:
        m, first, second = body.inertia
        centred = np.array(second) - (np.outer(first, first) / m if m else 0.0)
        if body.inertia == Inertia():  # the base point of shafei2018's tree, and crosses and the like of closed robots
            assert body.name in ("slide1", "slide2") or name in CLOSED
            continue
        smallest.append(np.linalg.eigvalsh(centred)[0] / np.trace(centred))
    odd = [i + 1 for i, value in enumerate(smallest) if value < -1e-12]
    assert odd == ([1, 3] if name == "puma560" else [])


def test_gravity_is_the_files_unless_given():
    assert read("two-link").gravity == (0.0, -9.81, 0.0)
    assert read("two-link", gravity=(0, 0, 1)).gravity == (0.0, 0.0, 1.0)


def test_the_puma_600_has_the_first_torques_of_valeras_line(peer):
    q = [
        0.041428258169364796,
        -1.10249833407328,
        3.037355494559753,
        2.440048856100854,
        1.1402033193416035,
        -0.8004317924260729,
    ]
    v = [
        0.11603558064063499,
        -0.08412976583917538,
        0.19455688263805837,
        0.11209821701579396,
        0.014368635284564193,
        -0.1695724978173466,
    ]
    a = [
        0.02145617928956973,
        0.03877294384700378,
        -0.059748749280372826,
        0.015408037320614949,
        -0.008744205327094518,
        0.004770971078187308,
    ]
    torque = peer(read("puma600")).torque(q, v, a)
    np.testing.assert_allclose(torque, [0.0371, -56.3153, -25.3889, 0.1091, 0.1245, 0.0], atol=5e-5)


def test_the_puma_600_has_the_torques_of_valeras_line(references, peer):
    reference = references("valera_puma_line_torques")
    arm = peer(read("puma600"))
    for sample in (sample for branch in reference["branches"].values() for sample in branch):
        torque = arm.torque(sample["q"], sample["qd"], sample["qdd"])
        np.testing.assert_allclose(torque, sample["tau"], atol=1e-12)


def test_the_two_link_arm_has_the_accelerations_of_its_reference(references, peer):
    reference = references("mata_ascher_two_link")
    arm = peer(read("two-link"))
    for step, expected in enumerate(reference["qdd_double"]):
        q = [0.0, np.radians(2.0 * step)]
        torque = arm.torque(q, [0.0, 0.0], [0.0, 0.0])
        np.testing.assert_allclose(np.linalg.solve(arm.mass_matrix(q), -torque), expected, rtol=1e-10)


def test_the_two_link_arm_is_two_plates():
    for body, mass, length in zip(read("two-link").bodies, (0.1, 10.0), (0.02, 2.0), strict=True):
        assert body.inertia.mass == mass
        assert body.inertia.tensor[2][2] == pytest.approx(
            mass * ((length**2 + 0.02**2) / 12 + length**2 / 4), rel=1e-14
        )


def test_the_puma_560_carries_the_toolboxs_gravity(peer):
    torque = peer(read("puma560")).torque(READY, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(torque, [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0], atol=5e-5)


def test_the_puma_560_has_the_toolboxs_mass_matrix_rotors_included(peer):
    model = read("puma560")
    total = peer(model).mass_matrix(READY) + np.diag([body.joint.armature for body in model.bodies])
    expected = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0, 0.0],
        [-0.4044, 4.4137, 0.3509, 0.0, 0.0024, 0.0],
        [0.1006, 0.3509, 0.9378, 0.0, 0.0015, 0.0],
        [-0.0025, 0.0, 0.0, 0.1925, 0.0, 0.0],
        [0.0, 0.0024, 0.0015, 0.0, 0.1713, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.1941],
    ]
    np.testing.assert_allclose(total, expected, atol=5e-5)


def test_the_puma_560_has_the_toolboxs_velocity_torques(peer):
    model = read("puma560")
    torque = peer(model).torque(READY, np.ones(6), np.zeros(6)) + [body.joint.damping for body in model.bodies]
    # What the toolbox gives for unit velocities, less its Coulomb friction of that direction.
    gear = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
    coulomb = gear * [0.395, 0.126, 0.132, 11.2e-3, 9.26e-3, 3.96e-3]
    np.testing.assert_allclose(torque, [29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196] - coulomb, atol=5e-5)


def test_the_puma_560s_friction_is_the_mean_of_both_directions():
    gear = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
    one = np.array([0.395, 0.126, 0.132, 11.2e-3, 9.26e-3, 3.96e-3])
    other = np.array([0.435, 0.071, 0.105, 16.9e-3, 14.5e-3, 10.5e-3])
    friction = [body.joint.friction for body in read("puma560").bodies]
    np.testing.assert_allclose(friction, gear * (one + other) / 2, rtol=1e-14)


def test_the_stanford_arms_hand_hangs_from_its_boom(peer):
    # Arm level (q₂ = 90°), boom 0.5 m out: the weights of links 3 to 6 and their levers turn joint 2.
    torque = peer(read("stanford")).torque([0.0, np.pi / 2, 0.5, 0.0, 0.0, 0.0], np.zeros(6), np.zeros(6))
    weights = 9.81 * np.array([4.25, 1.08, 0.63, 0.51])
    levers = 0.5 + np.array([-0.6447, -0.0092, 0.0566, 0.1554])
    assert torque[1] == pytest.approx(-weights @ levers, rel=1e-12)


def test_the_rx_90_reaches_as_far_as_its_links():
    placements = [body.joint.placement.position for body in read("rx90").bodies]
    assert [placement for placement in placements if any(placement)] == [(0.45, 0.0, 0.0), (0.0, 0.45, 0.0)]


@pytest.mark.parametrize("vertical", [False, True])
def test_a_chain_is_general_where_it_can_be(rng, vertical):
    model = random_chain(6, rng, vertical=vertical)
    for i, body in enumerate(model.bodies):
        assert all(body.inertia.parameters)
        assert all(body.joint.placement.position) or (vertical and i == 0)
        assert (body.joint.placement.rotation[1][2] == 0.0) == (vertical and i == 0)


def test_a_chains_inertias_belong_to_rigid_bodies(rng):
    for body in random_chain(20, rng).bodies:
        m, first, second = body.inertia
        assert np.linalg.eigvalsh(np.array(second) - np.outer(first, first) / m)[0] > 0


def test_a_chain_is_made_of_floats_of_python(rng):
    body = random_chain(2, rng).bodies[1]
    assert {type(x) for x in (*body.inertia.parameters, *body.joint.placement.position)} == {float}


@pytest.mark.parametrize("n", [0, -1, 2.0, True, 2**70])
def test_a_chain_has_joints(rng, n):
    with pytest.raises(InputError, match="an integer from 1"):
        random_chain(n, rng)

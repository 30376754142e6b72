"""Couplings: followers beside loops, and URDF+; against a projection of MuJoCo's equations of the same robot."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning, ReadError
from appell.read import read_toml, read_urdf
from appell.read.catalogue import file_text
from tests.support.projection import equalities_alone, projected

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")

LINKS = {
    "crank": ("0.4", 1.0),
    "coupler": ("1.0", 2.0),
    "rocker": ("0.5", 1.5),
    "rotor": ("0.1", 0.3),
    "arm": ("0.3", 0.7),
}
JOINTS = (
    ("a", "base", "crank", "0 0 0"),
    ("b", "crank", "coupler", "0.4 0 0"),
    ("c", "base", "rocker", "1.1 0 0"),
    ("d", "coupler", "arm", "0.2 0 0"),
    ("r", "base", "rotor", "0 0 0.1"),
)


def urdf(ties):
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="{float(length) / 2} 0 0.02"/><mass value="{mass}"/><inertia '
        'ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>'
        for name, (length, mass) in LINKS.items()
    )
    joints = "".join(
        f'<joint name="{name}" type="continuous" independent="{str(name == "a").lower()}"><parent link="{parent}"/>'
        f'<child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 1 0"/><dynamics damping="0.1"/></joint>\n'
        for name, parent, child, xyz in JOINTS
    )
    return f'<robot name="linkage"><link name="base"/>{links}\n{joints}{ties}</robot>'


LOOP = """<loop name="pin" type="revolute"><predecessor link="coupler"><origin xyz="1 0 0"/></predecessor>
<successor link="rocker"><origin xyz="0.5 0 0"/></successor><axis xyz="0 1 0"/></loop>"""
GEAR = (
    '<coupling name="gear" type="rolling"><predecessor link="{}"/><successor link="rotor"/>'
    '<ratio value="-6"/></coupling>'
)


def mjcf(polynomial):
    """Return the same robot for MuJoCo, drawn folded up so that its loop is open: joints at zero are in one line."""

    def body(link):
        length, mass = LINKS[link]
        name, _, _, xyz = next(j for j in JOINTS if j[2] == link)
        below = "".join(body(j[2]) for j in JOINTS if j[1] == link)
        return (
            f'<body name="{link}" pos="{xyz}"><joint name="{name}" axis="0 1 0" damping="0.1"/><inertial '
            f'pos="{float(length) / 2} 0 0.02" mass="{mass}" fullinertia="0.01 0.02 0.025 0.001 0 0"/>'
            f'<site name="{link}/tip" pos="{length} 0 0"/>{below}</body>'
        )

    bodies = "".join(body(j[2]) for j in JOINTS if j[1] == "base")
    joint = f'<joint joint1="r" joint2="{polynomial}" polycoef="0 -6 0 0 0"/>'
    return (
        f'<mujoco><option gravity="0 0 -9.81"/><worldbody>{bodies}</worldbody><equality>'
        f'<connect name="pin" site1="coupler/tip" site2="rocker/tip"/>{joint}</equality></mujoco>'
    )


def agree_with_the_projection(robot, compiled, rng):
    compiled = equalities_alone(mujoco, compiled)
    there = appell.interop.mujoco(robot, compiled)
    for _ in range(3):
        q = robot.integrate(robot.neutral(), 0.2 * rng.normal(size=robot.nv))
        v, tau = rng.normal(size=robot.nv), rng.normal(size=len(robot.actuators))
        forces = np.zeros(robot.model.nv)
        forces[list(robot.facts.actuated)] = tau
        tree_v = robot.tree_velocity(q, v)
        ours = robot.tree_acceleration(q, v, robot.forward_dynamics(q, v, tau))
        theirs = projected(mujoco, compiled, there.q(q), there.v(q, tree_v), there.tau(q, forces))
        found = there.a(q, tree_v, ours)
        np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-8 * np.abs(theirs).max())


def test_loops_and_couplings_of_urdf_plus_move_as_projected(rng):
    robot = appell.load(read_urdf(urdf(LOOP + GEAR.format("crank"))))
    assert robot.actuators == ["a"]
    assert (robot.nq, robot.nv) == (5, 2)
    assert [c.kind for c in robot.model.closures] == ["revolute", "coupling"]
    agree_with_the_projection(robot, mujoco.MjModel.from_xml_string(mjcf("a")), rng)


def test_a_robot_drawn_stretched_out_starts_where_it_is_well_conditioned():
    robot = appell.load(read_urdf(urdf(LOOP.replace('"0.5 0 0"', '"0.3 0 0"') + GEAR.format("crank"))))
    q = robot.neutral()
    assert robot.kind.closure_error(q) < 1e-12
    assert robot.kind.condition(q) < 100.0


def test_followers_beside_loops_are_bound(tmp_path, rng):
    file = tmp_path / "linkage.xml"
    file.write_text(mjcf("c"))
    with pytest.warns(AppellWarning, match=r"not enforced \('r'\); load with mimic=True to couple them"):
        assert appell.load(file).nv == 3
    robot = appell.load(file, mimic=True)
    assert robot.nv == 2
    agree_with_the_projection(robot, mujoco.MjModel.from_xml_path(str(file)), rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AppellWarning)
        assert appell.load(file, mimic=True, loops=False).nv == 4


def test_a_coupling_sums_the_joints_on_its_ways():
    model = read_urdf(urdf(GEAR.format("arm")))
    assert model.closures[0].coupling == (("d", -6.0), ("b", -6.0), ("a", -6.0), ("r", -1.0))


def test_couplings_are_kept_by_toml(rng):
    robot = appell.load(read_urdf(urdf(LOOP + GEAR.format("crank"))))
    again = appell.load(read_toml(robot.kind.text()))
    q, v = robot.neutral(), rng.normal(size=robot.nv)
    np.testing.assert_allclose(again.tree_velocity(q, v), robot.tree_velocity(q, v), rtol=1e-12)


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (
            '<predecessor link="crank"/>',
            '<predecessor link="crunk"/>',
            "coupling 'gear': no link 'crunk'; did you mean 'crank'?",
        ),
        ('<ratio value="-6"/>', "", "coupling 'gear': no <ratio>; add one"),
        ('"-6"', '"six"', "expected a number, got 'six'"),
        ('type="revolute"', 'type="screw"', "loop 'pin': unknown type 'screw'; known: 'revolute'"),
        ('<axis xyz="0 1 0"/></loop>', '<axis xyz="0 0 0"/></loop>', "'pin', <axis xyz>: the axis has zero length"),
        (
            '<successor link="rotor"/>',
            '<successor link="crank"/>',
            "no joint between its predecessor and its successor",
        ),
        ('<successor link="rotor"/>', "", "coupling 'gear': no <successor>; add one"),
        ('name="gear"', 'name="pin"', "two constraints have this name"),
    ],
)
def test_faults_of_urdf_plus_name_the_line(good, bad, message):
    text = urdf(LOOP + GEAR.format("crank"))
    assert good in text
    with pytest.raises(ReadError, match=rf"arm.urdf:\d+: .*{message}"):
        read_urdf(text.replace(good, bad), source="arm.urdf")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('coupling = [{ joint = "no" }]', "expected a joint of one coordinate, each once, got 'no'"),
        ('coupling = [{ joint = "joint1", coefficient = 0 }]', "not all zero"),
        ('coupling = [{ joint = "joint1", ratio = 2 }]', "unknown key 'ratio'"),
        ("coupling = 3", "expected a list"),
    ],
)
def test_faults_of_couplings_in_toml_are_named(entry, message):
    text = file_text("two-link")
    with pytest.raises(ReadError, match=message):
        read_toml(f"{text}\n[[closures]]\n{entry}\n")

"""Exported C of robots: the same robot gives the same bytes, bad states give codes, mistakes are told."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.read.catalogue import file_text
from appell.robot.descriptions import verb_description
from tests.support.robots import light_arm


@pytest.fixture
def library(any_compiler):
    """The maker of a library of a C file."""

    def made(file):
        shared = file.with_suffix(".so")
        any_compiler.build("-O0", "-fPIC", "-shared", file, "-o", shared, "-lm")
        return ctypes.CDLL(str(shared))

    return made


def place(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def check(robot, verbs, frame, c):
    """Compare every function with its tape, run step by step; of the guards, pivot growth alone is a result in C."""
    rng = np.random.default_rng(1)
    for verb in verbs:
        about = frame if robot.verbs[verb].about == "frame" else None
        tape, hidden = robot.tape(verb, about), {"inverse_mass_norm", "quaternion_error", "reach", "actuation_growth"}
        sizes = {"dt": 1e-3}  # a longer step may leave the workspace
        given = [robot.random(rng), *(sizes.get(p.name, 1.0) * rng.normal(size=p.shape) for p in tape.inputs[1:])]
        every = {port.name: np.full(port.shape, np.nan) for port in tape.outputs}
        found = [x for name, x in every.items() if name not in hidden]
        code = getattr(c, f"arm_{verb}" + (f"_{frame}" if about else ""))(*map(place, (*given, *found)))
        assert code == 0 or not robot.program(verb, about).guards
        expected, start = tape.run(*given), 0
        for port in tape.outputs:
            if port.name not in hidden:
                own = np.reshape(expected[start : start + port.size], port.shape)
                np.testing.assert_allclose(every[port.name], own, rtol=1e-11, atol=1e-11, err_msg=verb)
            start += port.size


def exported(robot):
    """Return all verbs that C has names for."""
    return [name for name, verb in robot.verbs.items() if verb.about != "points"]


@pytest.mark.parametrize("name", ["two-link", "five-bar", "agile-wrist"])
def test_every_verb_has_words_for_its_header(name):
    for verb in appell.load(name).verbs:
        assert len(verb_description(verb)) > 10


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_every_verb_of_an_open_robot_is_exported(library, floating, tmp_path):
    model = appell.random_chain(1 if floating else 2, np.random.default_rng(0)).model
    model = replace(model, base=replace(model.base, inertia=model.bodies[0].inertia))
    robot = appell.load(model.floating() if floating else model)
    frame, verbs = robot.link_names[-1], exported(robot)
    check(robot, verbs, frame, library(robot.export(verbs, path=tmp_path / "all.c", frame=frame, prefix="arm")))


def test_every_verb_of_a_closed_robot_is_exported(library, tmp_path):
    robot = appell.load("five-bar")
    frame, verbs = robot.link_names[-1], exported(robot)
    check(robot, verbs, frame, library(robot.export(verbs, path=tmp_path / "all.c", frame=frame, prefix="arm")))


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_the_header_is_c_plus_plus_too(tmp_path):
    file = appell.load("five-bar").export("inverse_dynamics", path=tmp_path / "robot.c")
    (tmp_path / "user.cc").write_text('#include "robot.h"\n#include "robot.h"\nint n = FIVE_BAR_NQ;\n')
    command = ["g++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", str(file.with_name("user.cc"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_verb_of_a_spherical_robot_is_exported(library, tmp_path):
    robot = appell.load("agile-wrist")
    verbs = exported(robot)
    c = library(robot.export(verbs, path=tmp_path / "all.c", frame="platform", prefix="arm"))
    q, found = np.array([0.1, 0.2, 0.3]), np.empty((6, 3))
    assert c.arm_jacobian_platform(place(q), place(found)) == 0
    np.testing.assert_allclose(found, robot.jacobian(q, "platform"), atol=1e-13)
    check(robot, verbs, "platform", c)


def test_a_quaternion_not_of_unit_length_is_told_by_a_code(library, tmp_path):
    robot = appell.load("two-link", floating=True)
    c = library(robot.export("gravity", path=tmp_path / "robot.c"))
    assert "#define TWO_LINK_NOT_UNIT 1 " in (tmp_path / "robot.h").read_text()
    q, tau = robot.neutral(), np.empty(robot.nv)
    assert c.two_link_gravity(place(q), place(tau)) == 0
    q[6] = 1.001
    assert c.two_link_gravity(place(q), place(tau)) == 1
    q[6] = np.nan
    assert c.two_link_gravity(place(q), place(tau)) == 1


def test_open_loops_are_told_by_a_code(library, tmp_path):
    robot = appell.load("five-bar")
    c = library(robot.export("inverse_dynamics", path=tmp_path / "robot.c"))
    q, zero, tau, growth = robot.neutral(), np.zeros(2), np.empty(2), np.empty(1)
    arguments = (q, zero, zero, tau, growth)
    assert c.five_bar_inverse_dynamics(*map(place, arguments)) == 0
    assert 0.0 < growth[0] < 100.0
    np.testing.assert_allclose(tau, robot.inverse_dynamics(q, zero, zero), rtol=1e-12)
    q += 0.1
    assert c.five_bar_inverse_dynamics(*map(place, arguments)) == 2
    assert growth[0] > 1e6


def test_a_leg_out_of_reach_is_told_by_a_code(library, tmp_path):
    robot = appell.load("agile-wrist")
    c = library(robot.export(["inverse_dynamics", "discriminants"], path=tmp_path / "robot.c"))
    rng, zero, tau, found = np.random.default_rng(0), np.zeros(3), np.empty(3), np.empty(3)
    seen = set()
    for q in rng.uniform(-3.0, 3.0, (50, 3)):
        c.agile_wrist_discriminants(place(q), place(found))
        code = c.agile_wrist_inverse_dynamics(*map(place, (q, zero, zero, tau)))
        assert code & 4 == (0 if (found > 0.0).all() else 4)
        seen.add(code & 4)
    assert seen == {0, 4}


def test_an_actuation_singularity_is_told_by_a_code(library, tmp_path):
    (tmp_path / "wrist.toml").write_text(file_text("agile-wrist").replace('"240 deg"', '"0 deg"'))
    c = library(appell.load(tmp_path / "wrist.toml").export("inverse_dynamics", path=tmp_path / "robot.c"))
    zero = np.zeros(3)
    assert c.agile_wrist_inverse_dynamics(*map(place, (zero, zero, zero, np.empty(3)))) == 2


def test_a_robot_that_cannot_move_is_exported(library, tmp_path):
    (tmp_path / "still.urdf").write_text('<robot name="still"><link name="base"/></robot>')
    robot = appell.load(tmp_path / "still.urdf")
    c = library(robot.export("pose", path=tmp_path / "still.c", frame="base"))
    found = np.empty((4, 4))
    c.still_pose_base(None, place(found))
    np.testing.assert_array_equal(found, np.eye(4))


def test_names_that_c_does_not_know_stay_in_comments(library, tmp_path):
    (tmp_path / "odd.urdf").write_text(
        '<robot name="7 */ #error é"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="*/ ??/ \\" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        "</joint></robot>"
    )
    robot = appell.load(tmp_path / "odd.urdf")
    c = library(robot.export("inverse_dynamics", path=tmp_path / "2 odd.c"))
    assert c.r7_error_inverse_dynamics is not None


@pytest.mark.parametrize("name", ["puma560", "stewart", "agile-wrist"])
def test_the_same_robot_gives_the_same_bytes(name, tmp_path):
    texts = []
    for folder in ("one", "two"):
        file = appell.load(name).export("inverse_dynamics", path=tmp_path / folder / "robot.c", libm=False)
        texts.append((file.read_bytes(), file.with_suffix(".h").read_bytes()))
        assert str(tmp_path).encode() not in b"".join(texts[-1])
    assert texts[0] == texts[1]


def test_the_header_names_joints_in_order(tmp_path):
    robot = appell.load("puma560")
    text = robot.export("gravity", path=tmp_path / "arm.c").with_suffix(".h").read_text()
    places = [text.index(f"q[{k}]       {joint}: angle [rad]") for k, joint in enumerate(robot.joint_names)]
    assert places == sorted(places)
    assert "#define PUMA560_NQ 6 " in text


def test_a_prefix_begins_every_name(tmp_path):
    text = appell.load("two-link").export("gravity", path=tmp_path / "arm.c", prefix="left").read_text()
    assert "void left_gravity(const double q[LEFT_NQ]" in text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"verb": "torque"}, "robot 'two-link' has no verb 'torque'; known: 'inverse_dynamics'"),
        ({"to": "fortran"}, "no target 'fortran'; known: 'c'"),
        ({"real": "half"}, "expected 'double', 'float', got 'half'"),
        ({"path": "arm.cpp"}, "unknown extension of 'arm.cpp'; known: '.c'"),
        ({"verb": "pose"}, "needs a frame for 'pose'; known: "),
        ({"verb": "pose", "frame": "nose"}, "robot 'two-link' has no frame 'nose'; known: "),
        ({"frame": "link1"}, "leave frame out"),
        ({"verb": []}, "expected at least one verb"),
        ({"prefix": "1 a"}, "prefix: expected letters"),
    ],
)
def test_a_mistake_is_told(options, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        appell.load("two-link").export(**{"verb": "gravity", "path": "arm.c", **options})
    assert told in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("real", "good", "bad"), [("double", 1e-6, 1e-9), ("float", 1e-2, 1e-6)])
def test_a_singular_mass_matrix_is_told_by_a_code(library, tmp_path, real, good, bad):
    """The middle link is so light that the precision does not tell it from none; a heavier one needs no code."""
    number, path = {"double": np.float64, "float": np.float32}[real], tmp_path / "arm.c"
    appell.load(light_arm(good)).export("forward_dynamics", path=path, prefix="arm", real=real)
    assert "void arm_forward_dynamics" in path.with_suffix(".h").read_text()
    file = appell.load(light_arm(bad)).export("forward_dynamics", path=path, prefix="arm", real=real)
    assert "#define ARM_SINGULAR_MASS_MATRIX 8" in path.with_suffix(".h").read_text()
    given = [np.array(x, number) for x in ([0.3, 0.5, 0.7], [0, 0, 0], [1, 2, 3], [0, 0, 0])]
    assert library(file).arm_forward_dynamics(*(x.ctypes.data_as(ctypes.c_void_p) for x in given)) == 8

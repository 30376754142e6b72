"""Loops in files: the yaml beside a URDF, appell's toml, MJCF's equalities; errors say where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import appell
from appell.errors import ReadError
from appell.model.closure import KINDS, Closure
from appell.model.model import Model
from appell.read import read_mjcf, read_toml, read_urdf
from appell.read.closures import with_loops

LINKS = "".join(f'<link name="{name}"/>' for name in ("base", "a", "b", "c", "tip", "end"))
TREE = f"""<robot name="tree">{LINKS}
<joint name="j1" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="j2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="j3" type="revolute"><parent link="base"/><child link="c"/><origin xyz="1 1 0"/><axis xyz="0 0 1"/></joint>
<joint name="f1" type="fixed"><parent link="b"/><child link="tip"/><origin xyz="1 0 0"/></joint>
<joint name="f2" type="fixed"><parent link="c"/><child link="end"/><origin xyz="0 1 0"/></joint>
</robot>"""


@pytest.fixture
def tree() -> Model:
    return read_urdf(TREE)


@pytest.fixture
def beside(tmp_path: Path):
    def write(text: str, name: str = "robot.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# The yaml


def test_a_yaml_pairs_frames_and_names_motors(tree, beside):
    model = with_loops(tree, beside("closed_loop: [['tip', 'end']]\ntype: ['6d']\nname_mot: ['j1']\n"))
    assert model.closures == (Closure("tip|end", "tip", "end", KINDS["frame"], line=1),)
    assert model.actuators == ("j1",)


def test_block_style_is_yaml_too(tree, beside):
    model = with_loops(tree, beside("closed_loop:\n  - - tip\n    - end\ntype:\n  - 3d\n"))
    assert model.closures[0].kind == "point"


def test_substitutions_change_joints_before_the_tree_is_closed(tree, beside):
    yaml = "closed_loop: [['tip', 'end']]\ntype: ['3d']\njoint_name: ['j2', 'j3', 'j1']\n"
    model = with_loops(tree, beside(yaml + "joint_type: ['SPHERICAL', 'FIXED', 'UJOINT_XZ']\n"))
    assert [body.joint.name for body in model.bodies] == ["j1_X", "j1_Z", "j2"]
    assert [body.joint.kind for body in model.bodies] == ["revolute", "revolute", "ball"]
    assert model.bodies[0].joint.axis == (1.0, 0.0, 0.0)
    assert model.frame_index["end"].placement.position == (1.0, 2.0, 0.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "closed_loop: [['tipp', 'end']]\ntype: ['3d']\n",
            r"robot\.yaml:1: .*frame 'tipp' is not .*did you mean 'tip'",
        ),
        ("closed_loop: [['tip', 'end']]\ntype: ['3d']\nname_mot: ['j9']\n", r":3: name_mot: joint 'j9' is not in"),
        ("closed_loop: [['tip', 'end']]\ntype: ['4d']\n", r":2: type: unknown type '4d'; known: '3d', '6d'"),
        ("closed_loop: [['tip', 'end']]\ntype: []\n", r"closed_loop has 1 entries and type 0"),
        ("closed_loop: [['tip']]\ntype: ['3d']\n", r":1: closed_loop: expected pairs"),
        ("type: ['3d']\n", r"missing key 'closed_loop'"),
        ("closed_loop: 3\ntype: ['3d']\n", r":1: closed_loop: expected a list"),
        ("closed_loop: []\ntype: []\nmotors: []\n", r":3: unknown key 'motors'; known: 'closed_loop'"),
        ("closed_loop: [[\n", r"not readable as YAML: "),
        ("- a\n", r"expected keys such as closed_loop"),
        (
            "closed_loop: [['tip', 'end']]\ntype: ['3d']\njoint_name: ['j1']\njoint_type: ['UJOINT_XX']\n",
            r":3: joint_type: unknown type 'UJOINT_XX' of joint 'j1'; known types: 'SPHERICAL', 'FIXED'",
        ),
    ],
)
def test_what_is_wrong_in_a_yaml_is_said_with_its_line(text, said, tree, beside):
    with pytest.raises(ReadError, match=said):
        with_loops(tree, beside(text))


def test_loops_of_another_kind_of_file_are_refused(tree, beside):
    with pytest.raises(ReadError, match=r"unknown extension '\.json' of a file of loops; known: '\.yaml', '\.toml'"):
        with_loops(tree, beside("{}", "robot.json"))


def test_a_toml_of_loops_goes_beside_a_urdf(tree, beside):
    path = beside('actuators = ["j1"]\n[[closures]]\nkind = "revolute"\nfirst = "tip"\nsecond = "end"\n', "loops.toml")
    model = with_loops(tree, path)
    assert [tie.kind for tie in model.closures] == ["revolute"]


# Appell's toml

ROD = """
name = "rod"
[[links]]
name = "ground"
[[links]]
name = "bar"
mass = 1.0
[[joints]]
name = "hinge"
kind = "revolute"
parent = "ground"
child = "bar"
"""
PIN = '[[closures]]\nkind = "point"\nfirst = "bar"\nsecond = "ground"\n'


def test_any_choice_of_rows_is_a_closure_in_its_own_order():
    model = read_toml(ROD + PIN.replace('kind = "point"', 'rows = ["rz", "x"]'))
    (tie,) = model.closures
    assert tie.rows == ("x", "rz")
    assert tie.kind == "x rz"


def test_a_frame_given_in_place_gets_a_name():
    model = read_toml(ROD + PIN.replace('"bar"', '{ link = "bar", xyz = [1.0, 2.0, 3.0] }'))
    (tie,) = model.closures
    assert (tie.name, tie.first, tie.second) == ("closure1", "closure1/first", "ground")
    assert model.frame_index["closure1/first"].placement.position == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PIN.replace('"point"', '"knot"'), r"closures\[0\]\.kind: unknown kind 'knot'; known: 'point', 'frame'"),
        (PIN.replace('kind = "point"', 'rows = ["w"]'), r"closures\[0\]\.rows: 'w' is unknown or repeated"),
        (PIN.replace('kind = "point"', "rows = []"), r"a closure needs a row"),
        (PIN.replace('kind = "point"', ""), r"give either kind or rows"),
        (PIN.replace('"bar"', '"rod"'), r"closures\[0\]\.first: no frame 'rod'; known:"),
        (PIN.replace('first = "bar"\n', ""), r"missing key 'first'; add it"),
        (PIN.replace('"point"', '"rolling"'), r"a rolling closure needs 'radius'"),
        (PIN + "radius = -1.0\n", r"closures\[0\]\.radius: expected a radius above zero"),
        (PIN + PIN, r"closures\[1\]\.name: two closures are named 'bar\|ground'"),
        (PIN.replace("first", "frist"), r"unknown key 'frist'"),
    ],
)
def test_what_is_wrong_in_a_closure_is_said_with_its_place(text, said):
    with pytest.raises(ReadError, match=said):
        read_toml(ROD + text)


@pytest.mark.parametrize("key", ["actuators = ['knee']", "home = { knee = 1.0 }"])
def test_a_joint_that_is_not_there_is_said(key):
    with pytest.raises(ReadError, match=r"(actuators|home): no moving joint 'knee'; known: 'hinge'"):
        read_toml(key + ROD + PIN)


# MJCF

LOOP = """<mujoco model="loop"><worldbody>
<body name="a" pos="0 0 0.1"><joint name="ja" axis="0 1 0" ref="0.1"/>
  <inertial pos="0.1 0 0.02" mass="1" diaginertia="0.01 0.02 0.015"/>
  <body name="b" pos="0.3 0 0" euler="0 40 0"><joint name="jb" axis="0 1 0"/>
    <inertial pos="0.1 0.01 0" mass="0.7" diaginertia="0.01 0.02 0.015"/><site name="s" pos="0.2 0 0"/></body></body>
<body name="c" pos="0.5 0 0.3" euler="0 10 0"><joint name="jc" axis="0 1 0" pos="0 0 0.05"/>
  <inertial pos="0.1 0 0" mass="1.5" diaginertia="0.01 0.02 0.015"/></body>
<body name="d" pos="0.6 0.2 0.1" euler="20 0 30"><freejoint name="fd"/>
  <inertial pos="0 0.01 0" mass="0.5" diaginertia="0.01 0.02 0.015"/></body></worldbody>
<equality><connect name="pin" body1="b" body2="c" anchor="0.25 0 0.1"/><weld body1="c" body2="d"/></equality>
<actuator><motor joint="ja"/></actuator></mujoco>"""


def test_equalities_that_tie_bodies_are_closures():
    pytest.importorskip("mujoco")
    model = read_mjcf(LOOP)
    assert [(tie.name, tie.kind) for tie in model.closures] == [("pin", "point"), ("weld1", "frame")]
    assert model.actuators == ("ja",)


def test_the_closures_of_equalities_allow_the_motions_that_mujoco_allows(tmp_path, agree):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "loop.xml"
    path.write_text(LOOP)
    robot = appell.load(path)
    assert robot.closure_names
    compiled = mujoco.MjModel.from_xml_string(LOOP)
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    q = robot.neutral()
    agree(robot.closure_error(q), 0.0, within=1e-12, size=1.0)
    # in the file's pose: a velocity of ours, with the free joint's linear part in world axes, breaks no row of theirs
    v = robot.tree_velocity(q, np.eye(robot.nv))
    turn = robot.pose(q, "d")[:3, :3]
    v[:, 3:6] = v[:, 3:6] @ turn.T
    rows = data.efc_J.reshape(data.nefc, compiled.nv)
    agree(rows @ v.T, np.zeros((data.nefc, robot.nv)), within=1e-10, size=np.abs(v).max())
    assert robot.nv == compiled.nv - np.linalg.matrix_rank(rows, tol=1e-9)


def test_sites_are_tied_by_their_own_frames():
    pytest.importorskip("mujoco")
    sites = LOOP.replace(
        '<connect name="pin" body1="b" body2="c" anchor="0.25 0 0.1"/>', '<connect site1="s" site2="t"/>'
    )
    sites = sites.replace("</worldbody>", '<site name="t" pos="0.4 0 0.2"/></worldbody>')
    model = read_mjcf(sites)
    first, second = (model.frame_index[name] for name in (model.closures[0].first, model.closures[0].second))
    assert first.placement == model.frame_index["s"].placement
    assert second.placement.position == (0.4, 0.0, 0.2)

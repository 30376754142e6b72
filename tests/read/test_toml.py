"""Appell's own format: what its page says is what is read."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appell.errors import ReadError
from appell.model.model import Limits
from appell.read import from_dh, read_toml, read_urdf

PAGE = Path(__file__).parents[2] / "docs" / "toml.md"

TREE = """name = "pendulum"
gravity = [0, 0, -1.62]
[[links]]
name = "base"
[[links]]
name = "rod"
mass = 2
centre = [0, 0, 0.5]
inertia = [0.2, 0.2, 0.1]
[[links]]
name = "tip"
[[joints]]
name = "hinge"
kind = "revolute"
parent = "base"
child = "rod"
axis = [0, 0, 2]
origin = { xyz = [0, 0, 1], rpy = ["90 deg", 0, 0] }
limits = { lower = -1, upper = 1, velocity = 5, effort = 10 }
damping = 0.1
friction = 0.2
armature = 0.3
[[joints]]
name = "weld"
kind = "fixed"
parent = "rod"
child = "tip"
"""

URDF = """<robot name="pendulum"><link name="base"/><link name="tip"/>
<link name="rod"><inertial><origin xyz="0 0 0.5"/><mass value="2"/>
<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/>
<origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="10" velocity="5"/><dynamics damping="0.1" friction="0.2" armature="0.3"/></joint>
<joint name="weld" type="fixed"><parent link="rod"/><child link="tip"/></joint></robot>"""

DH = """name = "arm"
[dh]
modified = false
[[dh.rows]]
a = 0.3
alpha = "90 deg"
mass = 1.5
"""


def test_a_tree_is_what_the_same_urdf_is():
    assert read_toml(TREE, source="x") == read_urdf(URDF, gravity=(0, 0, -1.62), source="x")


def test_a_table_is_what_from_dh_makes_of_it():
    rows = [{"a": 0.3, "alpha": "90 deg", "mass": 1.5}]
    assert read_toml(DH, source="").bodies == from_dh(rows, modified=False).bodies


def test_an_offset_is_added_to_q():
    turned = read_toml(TREE.replace("damping = 0.1", 'offset = "180 deg"'))
    assert turned.bodies[0].joint.pose((0.0,)).rotation[0] == pytest.approx((-1.0, 0.0, 0.0), abs=1e-15)


def test_limits_left_out_are_none():
    free = read_toml(re.sub("limits.*\n", "limits = { effort = inf }\n", TREE))
    assert free.bodies[0].joint.limits == Limits()


def test_gravity_is_the_files_unless_given():
    assert read_toml(TREE).gravity == (0.0, 0.0, -1.62)
    assert read_toml(TREE, gravity=(0, 0, 0)).gravity == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("number", "count"), [(0, 1), (1, 2), (2, 4)], ids=["tree", "table", "kinds"])
def test_the_examples_of_the_page_are_robots(number, count):
    examples = re.findall(r"```toml[^\n]*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert read_toml(examples[number]).nq == count


WRONG = {
    "syntax": ("mass = 2", "mass = = 2", "arm.toml:7: not readable as TOML"),
    "not utf-8": ("base", "b\udce9se", "arm.toml:4: not UTF-8"),
    "top key": ('name = "pendulum"', 'nam = "x"', "arm.toml: unknown key 'nam'; did you mean 'name'?"),
    "link key": ("mass = 2", "mas = 2", "arm.toml: links[1]: unknown key 'mas'; did you mean 'mass'? known: 'name', "),
    "joint key": ("damping", "dampng", "arm.toml: joints[0]: unknown key 'dampng'; did you mean 'damping'?"),
    "origin key": (
        "{ xyz",
        "{ xzy",
        "arm.toml: joints[0].origin: unknown key 'xzy'; known: 'xyz', 'rpy'",
    ),
    "no name": ('name = "rod"', "", "arm.toml: links[1]: missing key 'name'"),
    "no kind": ('kind = "revolute"', "", "arm.toml: joints[0]: missing key 'kind'"),
    "kind": ('"revolute"', '"hinge"', "arm.toml: joints[0].kind: unknown kind 'hinge'; known: 'revolute', "),
    "number": ("mass = 2", 'mass = "2"', "arm.toml: links[1].mass: expected a number, got '2'"),
    "finite": ("mass = 2", "mass = inf", "arm.toml: links[1].mass: expected a finite number"),
    "axis": ("[0, 0, 2]", "[0, 2]", "arm.toml: joints[0].axis: expected 3 numbers, got 2"),
    "zero axis": ("[0, 0, 2]", "[0, 0, 0]", "arm.toml: joint 'hinge' has an axis of zero length"),
    "angle": ('"90 deg"', '"90"', "arm.toml: joints[0].origin.rpy[0]: expected radians as a number or degrees"),
    "empty name": ('"tip"', '""', "arm.toml: links[2].name: expected text, got an empty one"),
    "gravity": ("[0, 0, -1.62]", "-1.62", "arm.toml: gravity: expected a list, got -1.62"),
    "list": ("[[links]]", "[links]", "arm.toml:5: not readable as TOML"),
    "both": ("[[links]]", "[dh]\n[[links]]", "arm.toml: give [dh] or [[links]], not both"),
    "parent": (
        'parent = "base"',
        'parent = "bas"',
        "arm.toml: joint 'hinge' has parent link 'bas', which is not defined",
    ),
    "limits": ("lower = -1", "lower = 2", "arm.toml: joints[0].limits: the lower limit 2 is above the upper limit 1"),
    "notes": ('name = "pendulum"', "notes = 3", "arm.toml: notes: expected text, got 3"),
}


@pytest.mark.parametrize(("good", "bad", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_names_file_and_key(good, bad, message):
    assert good in TREE
    with pytest.raises(ReadError) as caught:
        read_toml(TREE.replace(good, bad, 1), source="arm.toml")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", "arm.toml: no robot; add [[links]] and [[joints]], or [dh]"),
        ("[dh]\n", "arm.toml: dh.rows: no row"),
        ("[dh]\nrow = 1", "arm.toml: dh: unknown key 'row'; did you mean 'rows'? known: 'modified', 'd_sign', 'rows'"),
        ("[dh]\nmodified = 1", "arm.toml: dh.modified: expected true or false, got 1"),
        ("[dh]\nd_sign = true", "arm.toml: dh.d_sign: expected 1 or -1, got True"),
        ("\ndh = 1", "arm.toml: dh: expected a table of keys and values, got 1"),
        ("[[dh.rows]]\nalpha = 1\nmass = [1]", "arm.toml: dh.rows[0].mass: expected a number, got [1]"),
        ("links = 1\n", "arm.toml: links: expected a list, got 1"),
        ("links = [1]\n", "arm.toml: links[0]: expected a table of keys and values, got 1"),
        ("x = " + "[" * 5000 + "\n", "arm.toml: not readable as TOML: nested too deeply"),
    ],
    ids=["empty", "no rows", "key", "modified", "sign", "no table", "mass", "no list", "no link", "deep"],
)
def test_a_file_that_is_no_robot_is_refused(text, message):
    with pytest.raises(ReadError) as caught:
        read_toml(text, source="arm.toml")
    assert str(caught.value).startswith(message)


@given(
    start=st.integers(0, len(TREE)),
    length=st.integers(0, 40),
    put=st.one_of(
        st.sampled_from(["", "=", "[[", "inf", "nan", '"', "0", "{}", "[dh]\n", "9" * 400]), st.text(max_size=8)
    ),
)
@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_a_damaged_file_is_read_or_refused_but_never_crashes(start, length, put):
    with contextlib.suppress(ReadError):
        read_toml("\n" + TREE[:start] + put + TREE[start + length :])

"""Every way a URDF can be wrong has one clear error with its line."""

from __future__ import annotations

import contextlib
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appell.errors import AppellWarning, ReadError
from appell.read import read_urdf

GOOD = """<robot name="pendulum">
  <link name="base"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/>
    <child link="rod"/>
    <origin xyz="0 0 1" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/>
    <dynamics damping="0.1" friction="0.2" armature="0.3"/>
  </joint>
</robot>
"""

AGAIN = '<joint name="again" type="fixed"><parent link="rod"/><child link="{}"/></joint>'

WRONG = {
    "missing link": ('<child link="rod"/>', '<child link="rot"/>', 10, "child link 'rot', which is not defined"),
    "two roots": ('<link name="base"/>', '<link name="base"/><link name="b2"/>', 2, "2 root links ('base', 'b2')"),
    "cycle": ("</robot>", AGAIN.format("base") + "</robot>", 10, "form a kinematic loop"),
    "two parents": ("</robot>", AGAIN.format("rod") + "</robot>", 18, "the child of joints 'hinge' and 'again'"),
    "link twice": ('<link name="base"/>', '<link name="base"/><link name="base" x="1"/>', 2, "'base' is defined twice"),
    "unknown type": ('type="revolute"', 'type="hinge"', 10, "unknown type 'hinge'; known: 'revolute', "),
    "zero axis": ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', 10, "axis of zero length"),
    "negative mass": ('<mass value="2"/>', '<mass value="-2"/>', 3, "'rod' has a mass of -2 kg"),
    "negative damping": ('damping="0.1"', 'damping="-0.1"', 10, "'hinge' has a negative damping"),
    "not a number": ('ixx="0.2"', 'ixx="nan"', 7, "link 'rod', <inertia ixx>: expected a number, got NaN"),
    "infinite": ('xyz="0 0 0.5"', 'xyz="0 0 inf"', 5, "link 'rod', <origin xyz>: expected a finite number"),
    "enormous": ('<mass value="2"/>', '<mass value="1e300"/>', 6, "<mass value>: expected a finite number"),
    "nan limit": ('lower="-1"', 'lower="nan"', 15, "<limit lower>: expected a number, got NaN"),
    "two values": ('<axis xyz="0 0 1"/>', '<axis xyz="0 1"/>', 14, "<axis xyz>: expected 3 numbers, got 2 in '0 1'"),
    "four values": ('rpy="0 0 0"/>\n    <axis', 'rpy="0 0 0 1"/>\n    <axis', 13, "expected 3 numbers, got 4"),
    "two masses": ('<mass value="2"/>', '<mass value="2 3"/>', 6, "expected 1 number, got 2 in '2 3'"),
    "unparseable": (
        '<axis xyz="0 0 1"/>',
        '<axis xyz="0 0 up"/>',
        14,
        "joint 'hinge', <axis xyz>: expected a number, got 'up'",
    ),
    "comma": ('<mass value="2"/>', '<mass value="2,5"/>', 6, "expected a number, got '2,5'"),
    "underscore": ('<mass value="2"/>', '<mass value="2_5"/>', 6, "expected a number, got '2_5'"),
    "empty value": ('<mass value="2"/>', '<mass value=""/>', 6, "<mass> has no attribute 'value'"),
    "no moment of inertia": ('ixx="0.2"', "", 7, "<inertia> has no attribute 'ixx'"),
    "two masses in other words": ('<mass value="2"/>', '<mass value="2"/>\n<mass value="3"/>', 7, "2 elements <mass>"),
    "no link name": ('<link name="base"/>', "<link/>", 2, "<link> has no attribute 'name'"),
    "no joint name": ('<joint name="hinge"', "<joint", 10, "<joint> has no attribute 'name'"),
    "no type": (' type="revolute"', "", 10, "joint 'hinge': <joint> has no attribute 'type'"),
    "no parent": ('<parent link="base"/>', "", 10, "joint 'hinge': no <parent>"),
    "no child link": ('<child link="rod"/>', "<child/>", 12, "<child> has no attribute 'link'"),
    "no axis xyz": ('<axis xyz="0 0 1"/>', "<axis/>", 14, "<axis> has no attribute 'xyz'"),
    "two axes": ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/>\n<axis xyz="1 0 0"/>', 15, "2 elements <axis>"),
    "decimal comma": ('<axis xyz="0 0 1"/>', '<axis xyz="0,5 0 1"/>', 14, "expected a number, got '0,5'"),
    "commas alone": ('<axis xyz="0 0 1"/>', '<axis xyz="0,0,1"/>', 14, "expected 3 numbers, got 1 in '0,0,1'"),
    "comment to the end": ("</robot>", "<!-- a -- b </robot>", 18, "not readable as XML"),
    "broken beside a comment": ("</robot>", "<!-- a -- b --><link></robot>", 18, "Opening and ending tag mismatch"),
    "macro without a prefix": (
        "</robot>",
        '<xacro:macro name="leg" params="x"/><leg x="1"/></robot>',
        18,
        "<leg> is a xacro macro; use the extension .xacro to have it expanded",
    ),
    "include": ("</robot>", '<xacro:include filename="a"/></robot>', 18, "<xacro:include> is a xacro macro"),
    "substitution": ('<mass value="2"/>', '<mass value="$(arg m)"/>', 6, "'$(arg m)' is a xacro expression"),
    "mimic of nobody": ("<parent", "<mimic/><parent", 11, "<mimic> has no attribute 'joint'"),
    "mimic without a number": (
        "<parent",
        '<mimic joint="other" multiplier="x"/><parent',
        11,
        "expected a number, got 'x'",
    ),
    "cut off": ("</robot>\n", "", 18, "not readable as XML"),
    "two faults": ("</link>", "<x:y/></lin>", 9, "Opening and ending tag mismatch"),
    "bad tag": ("</inertial>", "</inertia>", 8, "not readable as XML: Opening and ending tag mismatch"),
    "not a robot": ("<robot", "<robots", 18, "not readable as XML: Opening and ending tag mismatch"),
    "macro": (
        "</robot>",
        '<xacro:leg xmlns:xacro="x"/></robot>',
        18,
        "<xacro:leg> is a xacro macro; use the extension .xacro to have it expanded",
    ),
    "bare macro": (
        "</robot>",
        "<xacro:leg/></robot>",
        18,
        "<xacro:leg> is a xacro macro; use the extension .xacro to have it expanded",
    ),
    "expression": (
        '<mass value="2"/>',
        '<mass value="${m}"/>',
        6,
        "'${m}' is a xacro expression; use the extension .xacro to have it expanded",
    ),
    "document type": ("<robot", "<!DOCTYPE robot>\n<robot", 1, "remove <!DOCTYPE>"),
    "entity": ("<robot", '\n<!DOCTYPE robot [<!ENTITY a "b">]>\n<robot', 2, "remove <!DOCTYPE>"),
    "unknown entity": ('name="base"', 'name="&base;"', 2, "not readable as XML: Entity 'base' not defined"),
}


@pytest.mark.parametrize(("good", "bad", "line", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_names_file_line_and_fault(good, bad, line, message):
    assert good in GOOD
    with pytest.raises(ReadError) as caught:
        read_urdf(GOOD.replace(good, bad, 1), source="arm.urdf")
    assert str(caught.value).startswith(f"arm.urdf:{line}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<sdf/>", "arm:1: the file is SDF (<sdf>), not URDF; use the extension .sdf"),
        ("<mujoco/>", "arm:1: the file is MJCF"),
        ("<!-- x -->\n<robot/>", "arm:2: no <link>"),
        ("<", "arm:1: not readable as XML"),
        ("<robot>\ud800</robot>", "arm:1: not readable as XML"),
        ("<a>" * 300, "arm:1: not readable as XML: Excessive depth"),
    ],
    ids=["sdf", "mjcf", "no link", "cut off", "surrogate", "deep"],
)
def test_a_document_that_is_no_robot_is_refused(text, message):
    with pytest.raises(ReadError) as caught:
        read_urdf(text, source="arm")
    assert str(caught.value).startswith(message)


def test_a_file_of_entities_that_multiply_is_refused():
    entities = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))
    bomb = f'<!DOCTYPE robot [<!ENTITY a0 "0123456789">{entities}]>\n<robot name="&a9;"/>'
    with pytest.raises(ReadError, match="entity amplification"):
        read_urdf(bomb)


def test_an_entity_that_names_a_file_is_not_opened(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    with pytest.raises(ReadError) as caught:
        read_urdf(f'<!DOCTYPE robot [<!ENTITY s SYSTEM "{secret.as_uri()}">]><robot><link name="l">&s;</link></robot>')
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", ":1: the file is empty"), (b" \n", ":1: the file is empty"), (bytes(range(256)), ":1: not readable as XML")],
    ids=["empty", "blank", "binary"],
)
def test_a_file_without_xml_is_refused(tmp_path, data, message):
    path = tmp_path / "arm.urdf"
    path.write_bytes(data)
    with pytest.raises(ReadError) as caught:
        read_urdf(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_an_inertia_of_no_rigid_body_is_a_warning():
    with pytest.warns(
        AppellWarning, match=r"arm.urdf:3: link 'rod' has an inertia that breaks the triangle inequality"
    ):
        model = read_urdf(GOOD.replace('izz="0.1"', 'izz="0.9"'), source="arm.urdf")
    assert model.bodies[0].inertia.tensor[2][2] == pytest.approx(0.9)


@given(
    start=st.integers(0, len(GOOD)),
    length=st.integers(0, 40),
    put=st.one_of(
        st.sampled_from(
            ["", "0", "-", "1e400", '"', "<", ">", "/>", "&amp;", "&x;", "nan", "fixed", "base", "<axis/>", " "]
        ),
        st.text(max_size=8),
    ),
)
def test_a_damaged_file_is_read_or_refused_but_never_crashes(start, length, put):
    damaged = GOOD[:start] + put + GOOD[start + length :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AppellWarning)
        with contextlib.suppress(ReadError):
            read_urdf("<!---->" + damaged)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=5), st.text("abcd", max_size=4))
def test_any_graph_of_links_is_a_tree_or_an_error(edges, names):
    links = "".join(f'<link name="{name}" n="{i}"/>' for i, name in enumerate(names))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="{child}"/></joint>'
        for i, (parent, child) in enumerate(edges)
    )
    try:
        model = read_urdf(f"<robot>{links}{joints}</robot>")
    except ReadError:
        return
    assert len(model.bodies) == len(edges) == len(names) - 1

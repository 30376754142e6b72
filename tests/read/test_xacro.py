"""Xacro files: expanded as the xacro command does, found without ROS, refused with the file and the remedy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import appell
from appell.errors import AppellWarning, InputError, ReadError
from appell.read import read, read_urdf

xacro = pytest.importorskip("xacro", reason="xacro is not installed")

HEAD = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
ROD = """
  <xacro:macro name="rod" params="name length">
    <xacro:property name="mass" value="${density*length}"/>
    <link name="${name}"><inertial>
      <origin xyz="0 0 ${length/2}"/><mass value="${mass}"/>
      <inertia ixx="${mass*length**2/12}" ixy="0" ixz="0" iyy="${mass*length**2/12}" iyz="0" izz="1e-4"/>
    </inertial></link>
  </xacro:macro>"""
ARM = f"""{HEAD}
  <xacro:arg name="links" default="2"/>
  <xacro:arg name="density" default="3.5"/>
  <xacro:property name="density" value="$(arg density)"/>
  <xacro:include filename="$(find arm_parts)/urdf/rod.xacro"/>
  <link name="base"/>
  <xacro:macro name="chain" params="parent n">
    <xacro:rod name="rod${{n}}" length="${{0.5/n}}"/>
    <joint name="joint${{n}}" type="continuous">
      <parent link="${{parent}}"/><child link="rod${{n}}"/><axis xyz="0 1 0"/><origin rpy="0 0 ${{radians(30)}}"/>
    </joint>
    <xacro:if value="${{n > 1}}"><xacro:chain parent="rod${{n}}" n="${{n-1}}"/></xacro:if>
  </xacro:macro>
  <xacro:chain parent="base" n="$(arg links)"/>
</robot>"""


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "ws" / "arm_parts" / "urdf").mkdir(parents=True)
    (tmp_path / "ws" / "arm_parts" / "urdf" / "rod.xacro").write_text(f"\n{HEAD}{ROD}</robot>")
    file = tmp_path / "ws" / "arm_description" / "robots" / "arm.urdf.xacro"
    file.parent.mkdir(parents=True)
    file.write_text(ARM)
    return file


def test_a_file_is_what_the_command_makes_of_it(arm, monkeypatch):
    model = read(arm)
    assert [body.name for body in model.bodies] == ["rod2", "rod1"]
    assert model.source == str(arm)
    flat = ARM.replace("$(find arm_parts)", str(arm.parents[2] / "arm_parts"))
    (arm.parent / "flat.xacro").write_text(flat)
    (arm.parents[2] / "arm_parts" / "urdf" / "rod.xacro").write_text(f"{HEAD}{ROD}</robot>")
    command = [sys.executable, "-c", "import xacro; xacro.main()", str(arm.parent / "flat.xacro"), "links:=3"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert read(arm, xacro={"links": 3}).bodies == read_urdf(text).bodies


def test_arguments_are_text_numbers_and_truth_values(arm):
    heavy = appell.load(arm, xacro={"density": 7.0, "links": "1"})
    assert heavy.link_names == ["rod1"]
    assert heavy.model.bodies[0].inertia.mass == 3.5
    with pytest.raises(ReadError, match=r"the file has no argument 'desnity'; did you mean 'density'"):
        read(arm, xacro={"desnity": 7.0})
    with pytest.raises(InputError, match="for 'links', got list"):
        read(arm, xacro={"links": [1]})
    with pytest.raises(InputError, match=r"xacro= is for .xacro files"):
        appell.load("puma560.urdf", xacro={"links": 1})


def test_packages_are_found_beside_the_file_by_argument_by_ros_and_by_their_manifest(arm, tmp_path, monkeypatch):
    found = read(arm)
    parts = arm.parents[2] / "arm_parts"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    parts.rename(elsewhere / "arm_parts")
    with pytest.raises(ReadError, match=r"arm.urdf.xacro: \$\(find arm_parts\): package 'arm_parts' not found; pass"):
        read(arm)
    assert read(arm, packages=[elsewhere]) == found
    assert read(arm, packages=[elsewhere / "arm_parts"]) == found
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{elsewhere}")
    assert read(arm) == found
    (elsewhere / "arm_parts").rename(elsewhere / "renamed")
    (elsewhere / "renamed" / "package.xml").write_text("<package><name>arm_parts</name></package>")
    assert read(arm, packages=[elsewhere / "renamed"]) == found
    with pytest.raises(InputError, match="packages: no such folder '/no/where'"):
        read(arm, packages="/no/where")


def test_a_renamed_folder_above_the_file_is_taken_for_the_package_with_a_warning(arm):
    own = arm.parents[1]
    (own / "urdf").mkdir()
    (arm.parents[2] / "arm_parts" / "urdf" / "rod.xacro").rename(own / "urdf" / "rod.xacro")
    arm.write_text(ARM.replace("find arm_parts", "find arm_description_support"))
    with pytest.warns(AppellWarning, match="package 'arm_description_support' not found; using folder"):
        assert len(read(arm).bodies) == 2


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ("${n-1}", "${n-}", r"arm.urdf.xacro: xacro: .*invalid syntax"),
        ("$(arg links)", "$(arg lynx)", r"Undefined substitution argument .*lynx.*; give it as xacro="),
        ("${n > 1}", "${n > 1 or n == 0 or True}", r"arm.urdf.xacro: xacro: "),
        ("/urdf/rod.xacro", "/urdf/rad.xacro", r"rad.xacro: file not found; check the path"),
        ("</robot>", "</robots>", r"arm.urdf.xacro:15: not readable as XML: mismatched tag"),
        ("${radians(30)}", "${().__class__}", r"arm.urdf.xacro: xacro: .*invalid name"),
        ("<robot", "<!DOCTYPE robot><robot", "remove <!DOCTYPE>"),
        (
            '<xacro:chain parent="base" n="$(arg links)"/>',
            '<link name="other"/>',
            r"\(expanded\):4: there are 2 root links",
        ),
        ('<link name="base"/>', "<limk/>", r"arm.urdf.xacro \(expanded\):\d+: joint 'joint2' has parent link 'base'"),
    ],
)
def test_faults_name_the_file(arm, good, bad, message):
    assert good in ARM
    arm.write_text(ARM.replace(good, bad))
    with pytest.raises(ReadError, match=message):
        read(arm)


def test_a_fault_in_an_included_file_names_both(arm):
    (arm.parents[2] / "arm_parts" / "urdf" / "rod.xacro").write_text(f"{HEAD}\n<link></robot>")
    with pytest.raises(ReadError, match=r"rod.xacro:2: not readable as XML: .*included by .*arm.urdf.xacro"):
        read(arm)


def test_a_file_of_macros_says_so(arm):
    with pytest.raises(ReadError, match="it expands to no link, only to macros"):
        read(arm.parents[2] / "arm_parts" / "urdf" / "rod.xacro")


def test_what_xacro_remarks_is_a_warning(arm):
    arm.write_text(ARM.replace('<link name="base"/>', '<link name="base"/>${xacro.warning("old file")}'))
    with pytest.warns(AppellWarning, match=r"arm.urdf.xacro: xacro: warning: old file"):
        read(arm)


def test_xacro_is_left_as_it_was(arm):

    substitution_args = xacro.substitution_args

    before = xacro.parse, substitution_args._eval_find, substitution_args._eval_dict["find"]
    read(arm)
    assert (xacro.parse, substitution_args._eval_find, substitution_args._eval_dict["find"]) == before


def test_without_the_package_the_remedy_is_named(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(ReadError, match=r"xacro files need xacro, which .*pip install 'appell\[xacro\]', or expand it"):
        read(arm)

"""Where files are: the user's home, package:// and the names of robot_descriptions."""

from __future__ import annotations

import sys
import types

import pytest

import appell
from appell.errors import InputError, ReadError
from appell.read import read

URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""


@pytest.fixture
def package(tmp_path):
    file = tmp_path / "r_description" / "urdf" / "r.urdf"
    file.parent.mkdir(parents=True)
    file.write_text(URDF)
    return file


def test_a_tilde_is_the_home_of_the_user(package, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert read("~/r_description/urdf/r.urdf") == read(package)
    appell.load("~/r_description/urdf/r.urdf").save("~/r.toml")
    assert (tmp_path / "r.toml").is_file()
    with pytest.raises(ReadError, match="file not found"):
        read("~nobody_at_all/r.urdf")


def test_package_paths_are_found_by_argument_and_by_ros(package, tmp_path, monkeypatch):
    name = "package://r_description/urdf/r.urdf"
    with pytest.raises(ReadError, match=f"{name}: package 'r_description' not found; pass its folder in packages="):
        appell.load(name)
    assert appell.load(name, packages=[tmp_path]).nv == 1
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert appell.load(name).nv == 1
    with pytest.raises(ReadError, match="file not found"):
        appell.load("package://r_description/urdf/s.urdf")


def a_module(monkeypatch, name, **attributes):
    """Put a module of robot_descriptions in its place, as its clone of a repository would."""
    top = types.ModuleType("robot_descriptions")
    known = dict.fromkeys((name, "other_description", "gone_description"))
    vars(top).update(DESCRIPTIONS=known, __path__=[], __spec__=types.SimpleNamespace(name="robot_descriptions"))
    inner = types.ModuleType(f"robot_descriptions.{name}")
    vars(inner).update(attributes)
    monkeypatch.setitem(sys.modules, "robot_descriptions", top)
    monkeypatch.setitem(sys.modules, f"robot_descriptions.{name}", inner)


def test_a_name_of_robot_descriptions_is_its_urdf(package, monkeypatch):
    a_module(monkeypatch, "r_description", URDF_PATH=str(package))
    robot = appell.load("r_description", floating=True)
    assert (robot.name, robot.nv, robot.model.source) == ("r", 7, str(package))


def test_a_name_of_robot_descriptions_may_be_xacro(tmp_path, monkeypatch):
    pytest.importorskip("xacro", reason="xacro is not installed")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "b.xacro").write_text(URDF)
    head = (
        '<robot name="$(arg name)" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="name" default="none"/>'
    )
    (tmp_path / "r.xacro").write_text(f'{head}<xacro:include filename="$(find parts)/b.xacro"/></robot>')
    a_module(
        monkeypatch,
        "r_description",
        XACRO_PATH=str(tmp_path / "r.xacro"),
        XACRO_ARGS={"name": "theirs"},
        XACRO_PACKAGE_PATHS={"parts": str(tmp_path / "parts")},
    )
    assert appell.load("r_description").name == "theirs"
    assert appell.load("r_description", xacro={"name": "mine"}).name == "mine"


def test_unknown_and_unreachable_names_are_refused_in_words(monkeypatch):
    a_module(monkeypatch, "panda_description")
    with pytest.raises(InputError, match="robot_descriptions has no 'pnada_description'; did you mean 'panda_desc"):
        appell.load("pnada_description")
    with pytest.raises(InputError, match=r"robot_descriptions could not fetch 'gone_description': .*network"):
        appell.load("gone_description")
    with pytest.raises(InputError, match="'panda_description' of robot_descriptions has neither a URDF nor an MJCF"):
        appell.load("panda_description")


def test_without_the_package_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr("appell.loading.description", lambda name: None)
    monkeypatch.setattr("appell.loading.is_installed", lambda name: False)
    with pytest.raises(InputError, match=r"neither a file nor in the catalogue.*pip install robot_descriptions"):
        appell.load("panda_description")

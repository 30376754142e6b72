"""One door for every kind of file."""

from __future__ import annotations

import pytest

from appell.errors import InputError, ReadError
from appell.read import read

URDF = '<robot name="r"><link name="a"/></robot>'


@pytest.mark.parametrize(
    ("name", "text"),
    [("r.urdf", URDF), ("r.URDF", URDF), ("r.xml", URDF), ("r.toml", '[[links]]\nname = "a"\n')],
)
def test_the_end_of_the_name_chooses_the_reader(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert read(str(path)).frames == read(path).frames
    assert read(path).source == str(path)


def test_gravity_is_the_callers(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF)
    assert read(path, gravity=[0, -3.7, 0]).gravity == (0.0, -3.7, 0.0)


@pytest.mark.parametrize(
    "gravity", [9.81, (0, 9.81), (0, 0, float("nan")), (0, 0, float("inf")), "0 0 9", (0, 0, None)]
)
def test_gravity_is_three_finite_numbers(tmp_path, gravity):
    path = tmp_path / "r.urdf"
    path.write_text(URDF)
    with pytest.raises(InputError, match="three finite numbers"):
        read(path, gravity=gravity)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("r.step", "unknown extension '.step'; known: '.urdf', '.xml', '.mjcf', '.sdf', '.toml'"),
        ("robot", "no extension; known: '.urdf', '.xml', '.mjcf', '.sdf', '.toml'"),
        ("absent.urdf", "file not found"),
        ("absent.toml", "file not found"),
        ("folder.urdf", "is a folder"),
        ("nul\0.urdf", "invalid file name"),
        ("absent.xml", "file not found"),
        ("mujoco.urdf", "the file is MJCF"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, message):
    (tmp_path / "folder.urdf").mkdir()
    (tmp_path / "mujoco.urdf").write_text("<mujoco/>")
    with pytest.raises(ReadError) as caught:
        read(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name).replace("\0", r"\x00"))
    assert message in str(caught.value)


@pytest.mark.parametrize("path", [None, 3, b"r.urdf"])
def test_a_path_is_text(path):
    with pytest.raises(InputError, match="expected the path of a file"):
        read(path)


def test_a_fragment_of_mjcf_names_the_file_that_includes_it(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "arm.xml").write_text("<mujocoinclude><body/></mujocoinclude>")
    (tmp_path / "scene.xml").write_text('<mujoco><worldbody><include file="assets/arm.xml"/></worldbody></mujoco>')
    with pytest.raises(ReadError, match=r"arm.xml:1: is an MJCF fragment .*; load.* includes it: 'scene.xml'"):
        read(tmp_path / "assets" / "arm.xml")

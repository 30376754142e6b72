"""What a file says of how a robot looks: shapes in their places, files where they are, remarks where they are not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.model.model import WORLD
from appell.read.finder import Finder
from appell.shapes import meshes
from appell.shapes.drawable import body_poses, drawable
from appell.shapes.skeleton import skeleton

trimesh = pytest.importorskip("trimesh")

ARM = """
<robot name="arm">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><visual><geometry><box size="1 2 3"/></geometry></visual></link>
  <link name="rod">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 0.5" rpy="1.5707963267948966 0 0"/><geometry>{shape}</geometry>
      <material name="red"/></visual>
  </link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><origin xyz="0 0 1"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>"""


def written(folder: Path, shape: str) -> Path:
    file = folder / "arm.urdf"
    file.write_text(ARM.format(shape=shape))
    return file


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ('<box size="0.1 0.2 0.4"/>', (0.1, 0.4, 0.2)),
        ('<cylinder radius="0.1" length="0.4"/>', (0.2, 0.4, 0.2)),
        ('<sphere radius="0.1"/>', (0.2, 0.2, 0.2)),
        ('<capsule radius="0.1" length="0.4"/>', (0.2, 0.6, 0.2)),
    ],
)
def test_a_shape_has_its_size_and_stands_where_its_origin_says(shape: str, size: Any, tmp_path: Path) -> None:
    drawn = drawable(appell.load(written(tmp_path, shape)))
    piece = next(piece for piece in drawn.pieces if piece.body == 0)
    assert np.allclose(np.ptp(piece.vertices, axis=0), size, atol=0.004)
    assert np.allclose(0.5 * (piece.vertices.min(axis=0) + piece.vertices.max(axis=0)), (0.0, 0.0, 0.5), atol=1e-3)
    assert piece.colour == (1.0, 0.0, 0.0, 1.0)
    assert drawn.stick_figure is None


def test_facets_look_outwards(tmp_path: Path) -> None:
    for shape in ('<box size="1 1 1"/>', '<cylinder radius="1" length="1"/>', '<capsule radius="1" length="1"/>'):
        drawn = drawable(appell.load(written(tmp_path, shape)))
        piece = next(piece for piece in drawn.pieces if piece.body == 0)
        assert trimesh.Trimesh(piece.vertices, piece.faces).volume > 0.0


@pytest.mark.parametrize(("name", "place"), [("package://kit/a/ball.stl", "kit/a"), ("meshes/ball.stl", "meshes")])
def test_meshes_are_found_beside_the_file_and_above_it(name: str, place: str, tmp_path: Path) -> None:
    (tmp_path / place).mkdir(parents=True)
    trimesh.creation.icosphere(radius=0.2).export(tmp_path / place / "ball.stl")
    folder = tmp_path if name.startswith("meshes") else tmp_path / "kit" / "urdf"
    folder.mkdir(exist_ok=True)
    drawn = drawable(appell.load(written(folder, f'<mesh filename="{name}" scale="2 2 2"/>')))
    piece = next(piece for piece in drawn.pieces if piece.body == 0)
    assert np.allclose(np.ptp(piece.vertices, axis=0), 0.8, atol=0.02)
    assert drawn.remarks == []


def test_packages_and_ros_package_path_are_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far" / "kit").mkdir(parents=True)
    mesh = tmp_path / "far" / "kit" / "a.stl"
    mesh.write_bytes(b"")
    name, urdf = "package://kit/a.stl", tmp_path / "near" / "arm.urdf"
    assert Finder(urdf).find(name) is None
    assert Finder(urdf, [tmp_path / "far"]).find(name) == mesh
    assert Finder(urdf, [tmp_path / "far" / "kit"]).find(name) == mesh
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "far"))
    assert Finder(urdf).find(name) == mesh


@pytest.mark.parametrize("name", ["../out.stl", "{out}", "file://{out}", "link.stl", "d/out.stl"])
def test_meshes_outside_of_the_folders_are_named_and_not_read(name: str, tmp_path: Path) -> None:
    folder, out = tmp_path / "robot", tmp_path / "out.stl"
    folder.mkdir()
    trimesh.creation.icosphere(radius=0.2).export(out)
    (folder / "link.stl").symlink_to(out)
    (folder / "d").symlink_to(tmp_path)
    file = written(folder, f'<mesh filename="{name.format(out=out)}"/>')
    drawn = drawable(appell.load(file))
    assert {piece.body for piece in drawn.pieces} == {WORLD}
    assert [str(out) in remark and "--packages" in remark for remark in drawn.remarks] == [True]
    allowed = drawable(appell.load(file), packages=[tmp_path])
    assert 0 in {piece.body for piece in allowed.pieces}
    assert allowed.remarks == []


def test_the_folder_of_a_package_is_that_of_its_robot(tmp_path: Path) -> None:
    """In a package with a package.xml meshes are anywhere; the package above it is another one."""
    folder = tmp_path / "above" / "arm" / "models" / "left"
    for place in (folder, tmp_path / "above" / "arm" / "meshes"):
        place.mkdir(parents=True)
    (tmp_path / "above" / "arm" / "package.xml").write_text("<package/>")
    inside, outside = tmp_path / "above" / "arm" / "meshes" / "a.stl", tmp_path / "above" / "b.stl"
    for mesh in (inside, outside):
        mesh.write_bytes(b"")
    finder = Finder(folder / "arm.urdf")
    assert finder.find("package://arm/meshes/a.stl") == finder.find("../../meshes/a.stl") == inside
    assert finder.find("../../../b.stl") is finder.find("package://above/b.stl") is None
    assert finder.outside("../../../b.stl") == outside


@pytest.mark.parametrize(
    "name", ["a" * 5000, "a\0b", "package://", "file://", "ring.stl", "", ".", "//", "package://%00/a"]
)
def test_a_name_that_no_file_can_have_is_not_found(name: str, tmp_path: Path) -> None:
    (tmp_path / "ring.stl").symlink_to(tmp_path / "ring.stl")
    finder = Finder(tmp_path / "arm.urdf")
    assert finder.find(name) is finder.outside(name) is None


def test_a_mesh_that_is_not_there_is_told_and_drawn_as_a_rod(tmp_path: Path) -> None:
    drawn = drawable(appell.load(written(tmp_path, '<mesh filename="package://kit/gone.stl"/>')))
    assert "'package://kit/gone.stl'" in drawn.remarks[0]
    assert "--packages" in drawn.remarks[0]
    assert drawn.stick_figure is not None


def test_a_mesh_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_bytes(b"no mesh at all")
    drawn = drawable(appell.load(written(tmp_path, '<mesh filename="bad.stl"/>')))
    assert "'bad.stl'" in drawn.remarks[0]


def test_a_shape_that_is_written_wrongly_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.warns(appell.AppellWarning, match=r"arm.urdf:7: .*expected 3 numbers.*; the shape is left out"):
        robot = appell.load(written(tmp_path, '<box size="1 2"/>'))
    assert robot.links["rod"].visuals == ()


def test_what_collides_is_drawn_where_what_is_seen_cannot_be(tmp_path: Path) -> None:
    shape = '<mesh filename="gone.stl"/></geometry></visual><collision><geometry><sphere radius="0.3"/></geometry></collision><visual><geometry><mesh filename="gone.stl"/>'  # noqa: E501
    drawn = drawable(appell.load(written(tmp_path, shape)))
    piece = next(piece for piece in drawn.pieces if piece.body == 0)
    assert np.allclose(np.ptp(piece.vertices, axis=0), 0.6, atol=0.01)


def test_an_arm_nobody_here_drew_has_all_its_meshes(robots: Path) -> None:
    drawn = drawable(appell.load(robots / "solo_description" / "robots" / "solo12.urdf"))
    assert drawn.stick_figure is None
    assert drawn.remarks == []
    assert {piece.body for piece in drawn.pieces} >= set(range(12))


def test_collada_without_its_reader_is_told_once_and_what_collides_is_drawn(
    robots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meshes, "_has_collada", lambda: False)
    drawn = drawable(appell.load(robots / "ur_description" / "urdf" / "ur5_robot.urdf"))
    assert ["pip install pycollada" in remark for remark in drawn.remarks] == [True]
    assert {piece.body for piece in drawn.pieces} == {-1, 0, 1, 2, 3, 4, 5}


def test_a_source_or_folder_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match="there is no file"):
        drawable(appell.load("two-link"), source="gone.urdf")
    with pytest.raises(InputError, match="no such folder 'gone'"):
        drawable(appell.load("two-link"), packages=["gone"])


def test_mjcf_geoms_stand_where_mujoco_puts_them(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "arm.xml"
    file.write_text(
        '<mujoco><default><geom contype="0" conaffinity="0"/></default>'
        '<worldbody><body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" pos="0.1 0 0.2"/>'
        '<geom name="g" type="capsule" fromto="0 0 0 0 0 0.5" size="0.05"/>'
        '<body name="b" pos="0 0 0.5" euler="0 0 30"><joint name="k" axis="1 0 0"/>'
        '<geom name="h" type="box" pos="0.2 0 0" size="0.1 0.02 0.03" mass="1"/></body></body></worldbody></mujoco>'
    )
    robot = appell.load(file)
    drawn = drawable(robot)
    compiled = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(compiled)
    data.qpos[:] = q = np.array([0.3, -0.7])
    mujoco.mj_forward(compiled, data)
    poses = drawn.poses(q)
    for piece, centre in zip(drawn.pieces, data.geom_xpos, strict=True):
        placed = piece.vertices @ poses[piece.body, :3, :3].T + poses[piece.body, :3, 3]
        assert np.allclose(placed.mean(axis=0), centre, atol=1e-6)


def test_bodies_are_where_the_robot_says(rng: Any) -> None:
    robot = appell.load("puma560")
    q = robot.random(rng)
    poses = body_poses(robot, q)
    for k, name in enumerate(robot.link_names):
        assert np.allclose(poses[k], robot.pose(q, name), atol=1e-12)


@pytest.mark.parametrize("name", ["agile-wrist", "sst", "panda", "stewart"])
def test_bodies_of_every_kind_are_where_the_robot_says(name: str, robots: Path, rng: Any) -> None:
    panda = robots / "panda_description" / "urdf" / "panda.urdf"
    robot = appell.load(panda, mimic=True) if name == "panda" else appell.load(name)
    q = robot.random(rng)
    poses = body_poses(robot, q)
    for k, body in enumerate(robot.link_names):
        assert np.allclose(poses[k], robot.pose(q, body), atol=1e-12)


def test_the_arcs_of_a_spherical_robot_stay_joined(rng: Any) -> None:
    """In every leg the second arc begins where the first ends, and a spoke of the platform where the second ends."""
    robot = appell.load("agile-wrist")
    shape = skeleton(robot)
    points = shape.positions(robot, robot.random(rng, 5))
    arcs = [points[:, list(line)] for line in shape.lines]
    for first, second, spoke in (arcs[k : k + 3] for k in (0, 3, 6)):
        assert np.allclose(first[:, -1], second[:, 0], atol=1e-12)
        assert np.allclose(second[:, -1], spoke[:, 0], atol=1e-12)
        assert np.allclose(np.linalg.norm(first, axis=-1), 0.1)


def test_the_carriages_of_a_star_are_on_its_arcs_and_on_the_triangle(rng: Any) -> None:
    robot = appell.load("sst")
    shape = skeleton(robot)
    points = shape.positions(robot, robot.random(rng, 5))
    arcs = [points[:, list(line)] for line in shape.lines]
    for side, carriage, star in (arcs[k : k + 3] for k in (0, 3, 6)):
        spacing = np.linalg.norm(np.diff(side[0], axis=0), axis=-1).max()
        for arc in (side, star):  # within half the distance of two points of the arc, and its sagitta
            assert np.linalg.norm(arc - carriage, axis=-1).min(axis=1).max() < 0.51 * spacing
    assert {WORLD, 6} <= {place.body for place in shape.places}


def test_a_spherical_robot_has_a_hub_per_joint() -> None:
    drawn = drawable(appell.load("agile-wrist"))
    assert drawn.stick_figure is not None
    place, turned = drawn.stick_figure.turns(drawn.poses([0.1, 0.2, 0.3]))
    assert len(place) == 9
    assert np.allclose(turned[:, :, 2], place / 0.1, atol=1e-12)  # every axis goes through the centre


def test_rods_join_their_ends() -> None:
    robot = appell.load("stewart")
    drawn = drawable(robot)
    assert drawn.stick_figure is not None
    poses = drawn.poses(robot.neutral())
    start, turned, length = drawn.stick_figure.sticks(poses)
    ends = drawn.stick_figure.points(poses)[drawn.stick_figure.rods[:, 1]]
    assert np.allclose(start + length[:, None] * turned[:, :, 2], ends, atol=1e-12)
    assert math.isfinite(drawn.stick_figure.radius)


def test_an_mjcf_file_with_meshes_outside_of_its_folder_is_drawn_without_shapes(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "robot" / "assets").mkdir(parents=True)
    file, out = tmp_path / "robot" / "arm.xml", tmp_path / "out.stl"
    for place in (out, tmp_path / "robot" / "assets" / "in.stl"):
        trimesh.creation.box((0.1, 0.2, 0.3)).export(place)
    for name, is_read in (("in.stl", True), ("../../out.stl", False)):
        file.write_text(
            f'<mujoco><compiler meshdir="assets"/><asset><mesh name="m" file="{name}"/></asset><worldbody>'
            '<body name="a"><joint name="j"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
        )
        drawn = drawable(appell.load(file))
        assert (drawn.stick_figure is None) == is_read
        assert [str(out) in remark and "--packages" in remark for remark in drawn.remarks] == [True] * (not is_read)
    assert drawable(appell.load(file), packages=[tmp_path]).stick_figure is None

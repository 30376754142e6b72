"""Shapes of links: formats keep them, edits keep them, MuJoCo puts them where appell does, faults are named."""

from __future__ import annotations

import sysconfig
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.model.model import Model
from appell.model.shapes import COLLISION, VISUAL, Shape
from appell.read import read, read_mjcf, read_sdf, read_toml, read_urdf
from appell.read.closures import with_loops
from appell.read.parts import principal
from appell.read.shapes import _readable_mesh
from appell.read.write_mjcf import mjcf_text
from appell.read.write_sdf import sdf_text
from appell.read.write_toml import toml_text
from appell.read.write_urdf import urdf_text
from appell.recursion.kinematics import world_poses
from appell.spatial.pose import Pose
from appell.spatial.rotation import from_quaternion

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FILES = [path for path in sorted(ROBOTS.rglob("*.urdf")) if path.name != "ur3.urdf"]
MJCFS = sorted(Path(sysconfig.get_path("purelib"), "gymnasium/envs/mujoco/assets").glob("*.xml"))
FEW = ("ur5_robot", "panda", "solo12", "hyq_no_sensors", "TwoDofs", "panda_collision")
WAYS = {
    ".urdf": lambda model: read_urdf(urdf_text(model)),
    ".toml": lambda model: read_toml(toml_text(model)),
    ".sdf": lambda model: read_sdf(sdf_text(model)),
}
TURNED = Pose(from_quaternion(0.1, 0.7, 0.5, 0.5), (0.1, -0.2, 0.3))
SOLIDS = {
    "sphere": (0.1,),
    "capsule": (0.1, 0.4),
    "cylinder": (0.2, 0.5),
    "box": (0.1, 0.2, 0.3),
    "ellipsoid": (0.1, 0.2, 0.3),
}


def placed(model: Model) -> list[tuple[Any, ...]]:
    """Return use, kind, file, carrying body, sizes, rotation and position of each shape, in an order of their own."""
    names = {-1: "", **{i: body.name for i, body in enumerate(model.bodies)}}
    seats = [(shape, *model.seat(shape)) for shape in model.shapes]
    rows = [(x.use, x.kind, Path(x.file).name, names[i], x.sizes, *pose, x.colour) for x, i, pose in seats]
    return sorted(rows, key=lambda row: (*row[:4], np.round([*row[4], *row[6], *np.ravel(row[5])], 6).tolist()))


def check_same(found: Model, wanted: Model, *, colours: bool = True) -> None:
    ours, theirs = placed(wanted), placed(found)
    assert [row[:4] for row in theirs] == [row[:4] for row in ours]
    for a, b in zip(ours, theirs, strict=True):
        for k in (4, 5, 6):
            np.testing.assert_allclose(b[k], a[k], atol=1e-12, rtol=1e-12)
        assert b[7] == a[7] or not colours


@pytest.fixture
def arm() -> Model:
    """Return a robot with a shape of every kind, at a pose, for both uses, on a moving and on a fixed link."""
    model = read_urdf(
        '<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/><inertia ixx="1" ixy="0" '
        'ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="tip"/><joint name="hinge" type="continuous">'
        '<parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint><joint name="weld" type="fixed">'
        '<parent link="rod"/><child link="tip"/><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/></joint></robot>'
    )
    shapes = [
        Shape(link, use, kind, sizes, TURNED, colour=(0.1, 0.2, 0.3, 0.5) if use == VISUAL else None)
        for link in ("base", "rod", "tip")
        for use in (VISUAL, COLLISION)
        for kind, sizes in SOLIDS.items()
        if not (link == "base" and kind == "box" and use == VISUAL)
    ]
    return replace(model, shapes=tuple(shapes))


PATHS = [pytest.param(p, id=p.stem, marks=() if p.stem in FEW else pytest.mark.slow) for p in FILES]


@pytest.mark.parametrize("ending", WAYS)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_a_real_robot_keeps_all_its_shapes(path, ending):
    model = read(path)
    if path.stem not in ("simple_humanoid_classical",):
        assert model.shapes
    copy = WAYS[ending](model)
    check_same(copy, model)
    if ending != ".sdf":  # the links of fixed joints are frames of SDF
        assert {x.link for x in copy.shapes} == {x.link for x in model.shapes}
        assert sorted(x.file for x in copy.shapes) == sorted(x.file for x in model.shapes)


@pytest.mark.parametrize("path", PATHS)
def test_mjcf_has_all_shapes_whose_files_mujoco_reads_and_names_the_others(path):
    pytest.importorskip("mujoco")
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", appell.AppellWarning)
        model = read(path)
        if any(principal(body.inertia) is None for body in model.bodies):
            pytest.skip("MuJoCo rejects its inertia")
        copy = read_mjcf(mjcf_text(model))
    kept = [x for x in model.shapes if x.kind != "mesh" or _readable_mesh(x) is not None]
    check_same(copy, replace(model, shapes=tuple(kept)), colours=False)
    lost = {x.file for x in model.shapes} - {x.file for x in kept}
    assert any("that MuJoCo does not read" in str(x.message) for x in given) == bool(lost)


def test_a_tree_with_other_joints_keeps_its_shapes(arm, tmp_path):
    """Files of loops may change the kinds of joints: the tree is built again."""
    yaml = "closed_loop: [['tip', 'base']]\ntype: ['3d']\njoint_name: ['hinge']\njoint_type: ['SPHERICAL']\n"
    (tmp_path / "robot.yaml").write_text(yaml)
    built = with_loops(arm, tmp_path / "robot.yaml")
    assert built.bodies[0].joint.kind == "ball"
    check_same(built, arm)


@pytest.mark.parametrize("ending", WAYS)
def test_every_kind_of_shape_comes_back(arm, ending):
    if ending == ".urdf":
        with pytest.warns(appell.AppellWarning, match=r"URDF cannot represent: shapes 'ellipsoid of base', 'elli"):
            copy = WAYS[ending](arm)
        arm = replace(arm, shapes=tuple(x for x in arm.shapes if x.kind != "ellipsoid"))
    else:
        copy = WAYS[ending](arm)
    check_same(copy, arm)


@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning:")
def test_mujoco_has_the_sizes_and_poses_of_the_shapes_that_are_written(arm, rng):
    mujoco = pytest.importorskip("mujoco")
    text = mjcf_text(arm)
    check_same(read_mjcf(text), arm)
    compiled = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(compiled)
    q = float(rng.normal())
    data.qpos[:] = q
    mujoco.mj_forward(compiled, data)
    poses = [*world_poses(arm, (q,)), Pose()]
    merged = list(dict.fromkeys((x.link, x.kind, x.sizes, x.placement) for x in arm.shapes))
    assert compiled.ngeom == len(merged) == 15
    theirs = [(*compiled.geom_size[g], *data.geom_xpos[g], *data.geom_xmat[g]) for g in range(compiled.ngeom)]
    halves = {"sphere": [1.0], "capsule": [1.0, 0.5], "cylinder": [1.0, 0.5], "box": [0.5] * 3, "ellipsoid": [1.0] * 3}
    ours = []
    for link, kind, sizes, placement in merged:
        body, pose = arm.seat(Shape(link, VISUAL, kind, sizes, placement))
        seen = poses[body].then(pose)
        size = [*np.multiply(sizes, halves[kind]), 0.0, 0.0][:3]
        ours.append((*size, *seen.position, *np.ravel(seen.rotation)))
    np.testing.assert_allclose(in_order(theirs), in_order(ours), atol=1e-12)
    # a shape that is drawn and collides is one geom; others have the flags of their use
    assert sorted(set(compiled.geom_contype.tolist())) == [1]
    assert sorted(set(compiled.geom_group.tolist())) == [0, 3]


def in_order(rows: Any) -> Any:
    return np.array(sorted(map(list, rows), key=lambda row: np.round(row, 6).tolist()))


def test_the_geoms_of_a_file_have_mujocos_sizes_and_poses(tmp_path, rng):
    mujoco = pytest.importorskip("mujoco")
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "assets").mkdir()
    solid = trimesh.util.concatenate([trimesh.creation.box((0.1, 0.2, 0.3)), trimesh.creation.icosphere(1, 0.11)])
    solid.apply_translation((0.3, 0.1, 0.05))
    solid.export(tmp_path / "assets" / "m.stl")
    (tmp_path / "arm.xml").write_text(
        '<mujoco><compiler meshdir="assets"/><asset><mesh name="m" file="m.stl" scale="2 1 1.5"/></asset>'
        '<default><geom contype="0" conaffinity="0"/></default><worldbody>'
        '<body name="a" pos="0 0 1"><joint axis="0 1 0" pos="0.1 0 0.2"/>'
        '<geom type="mesh" mesh="m" pos="1 2 3" quat="0.5 0.1 0.2 0.3" rgba="1 0 0 1"/>'
        '<geom type="capsule" fromto="0 0 0 0.1 0.2 0.5" size="0.05"/>'
        '<body name="b" pos="0 0 0.5" euler="0 0 30"><joint axis="1 0 0"/>'
        '<geom type="ellipsoid" pos="0.2 0 0" size="0.1 0.02 0.03" mass="1"/>'
        '<geom type="box" pos="0.2 0 0" quat="1 1 0 0" size="0.1 0.02 0.03" mass="1"/></body></body>'
        '<geom type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    robot = appell.load(tmp_path / "arm.xml")
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mujoco.MjData(compiled)
    data.qpos[:] = q = rng.normal(size=2)
    mujoco.mj_forward(compiled, data)
    assert [x.kind for x in robot.model.shapes] == ["mesh", "capsule", "ellipsoid", "box"]
    mesh, *others = robot.model.shapes
    assert (mesh.file, mesh.sizes, mesh.colour) == ("assets/m.stl", (2.0, 1.0, 1.5), (1.0, 0.0, 0.0, 1.0))
    poses = {x: robot.pose(q, x.link) @ matrix(x.placement) for x in robot.model.shapes}
    geoms = [g for g in range(compiled.ngeom) if compiled.geom_type[g] in (3, 4, 6)]  # capsule, ellipsoid, box
    wanted = [(0.05, float(np.linalg.norm([0.1, 0.2, 0.5]))), (0.1, 0.02, 0.03), (0.2, 0.04, 0.06)]
    for x, g, sizes in zip(others, geoms, wanted, strict=True):
        np.testing.assert_allclose(x.sizes, sizes, rtol=1e-12)
        np.testing.assert_allclose(poses[x][:3, 3], data.geom_xpos[g], atol=1e-12)
        np.testing.assert_allclose(poses[x][:3, :3].ravel(), data.geom_xmat[g], atol=1e-12)
    (k,) = np.flatnonzero(compiled.geom_type == 7)
    theirs = compiled.mesh_vert @ data.geom_xmat[k].reshape(3, 3).T + data.geom_xpos[k]
    ours = trimesh.load(tmp_path / "assets" / "m.stl").vertices * mesh.sizes
    ours = ours @ poses[mesh][:3, :3].T + poses[mesh][:3, 3]
    np.testing.assert_allclose(np.unique(theirs.round(5), axis=0), np.unique(ours.round(5), axis=0), atol=2e-5)


@pytest.mark.parametrize("path", MJCFS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_the_geoms_of_other_peoples_files_are_where_mujoco_puts_them(path, rng, tmp_path, monkeypatch):
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its remarks into a file where it runs
    robot, compiled = appell.load(path), mujoco.MjModel.from_xml_path(str(path))
    data, q = mujoco.MjData(compiled), robot.random(rng)
    data.qpos[:] = appell.interop.mujoco(robot, compiled).q(q)
    mujoco.mj_forward(compiled, data)
    solid = (compiled.geom_type >= 2) & (compiled.geom_type <= 6)  # all but planes, height fields and meshes
    of_use = {VISUAL: compiled.geom_group < 3, COLLISION: (compiled.geom_contype | compiled.geom_conaffinity) != 0}
    for use, chosen in of_use.items():
        shapes = [x for x in robot.model.shapes if x.use == use]
        for shape, g in zip(shapes, np.flatnonzero(solid & chosen), strict=True):
            seen = robot.pose(q, shape.link) @ matrix(shape.placement)
            np.testing.assert_allclose(seen[:3, 3], data.geom_xpos[g], atol=1e-7)
            np.testing.assert_allclose(seen[:3, :3].ravel(), data.geom_xmat[g], atol=1e-7)
            assert shape.sizes[0] in (compiled.geom_size[g, 0], 2.0 * compiled.geom_size[g, 0])
    check_same(read_mjcf(mjcf_text(robot.model)), robot.model)


def matrix(pose: Pose) -> Any:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = pose
    return made


def world(robot: appell.Robot, q: Any) -> list[tuple[Any, ...]]:
    """Return name, kind and pose in the world of all shapes."""
    every = ((x, robot.pose(q, x.link) @ matrix(x.placement)) for x in robot.model.shapes)
    return sorted((x.link, x.use, x.kind, *pose.ravel().round(9)) for x, pose in every)


def test_edits_keep_shapes_where_they_are(arm):
    robot = appell.load(arm)
    seen, q = world(robot, [0.4]), [0.4]
    assert world(robot.with_frame("tool", "tip", np.eye(4)), q) == seen
    assert world(robot.locked({"hinge": 0.4}), []) == seen
    assert world(robot.subtree("hinge"), q) == seen
    assert {x.link for x in robot.subtree("rod").model.shapes} == {"rod", "tip"}
    floating = appell.load(arm, floating=True)
    assert world(floating, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.4]) == seen
    assert world(floating.held({"base": 3}), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.4]) == seen
    both = robot.attached(robot, "tip", prefix="second_")
    assert [row for row in world(both, [0.4, 0.0]) if not row[0].startswith("second_")] == seen
    assert len(both.model.shapes) == 2 * len(arm.shapes)
    assert {x.link for x in both.model.shapes} >= {"second_base", "second_rod", "second_tip"}


def test_the_records_of_a_link_have_its_shapes(arm):
    link = appell.load(arm).links["tip"]
    assert [shape.kind for shape in link.collisions] == list(SOLIDS)
    assert [shape.sizes for shape in link.visuals] == list(SOLIDS.values())
    assert link.visuals[0].placement == TURNED


def test_a_saved_robot_finds_its_meshes_from_its_folder_and_from_another(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    mesh = tmp_path / "arm" / "meshes" / "a.stl"
    trimesh.creation.icosphere(1).export(mesh)
    shape = '<link name="base"><visual><geometry><mesh filename="{}"/></geometry></visual></link>'
    for name in ("meshes/a.stl", "package://arm/meshes/a.stl"):
        (tmp_path / "arm" / "arm.urdf").write_text(f'<robot name="arm">{shape.format(name)}</robot>')
        robot = appell.load(tmp_path / "arm" / "arm.urdf")
        for ending in (".urdf", ".toml", ".sdf", ".xml"):
            if ending == ".xml":
                pytest.importorskip("mujoco")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", appell.AppellWarning)
                near, far = (
                    appell.load(robot.save(folder / f"copy{ending}")).model.shapes[0].file
                    for folder in (tmp_path / "arm", tmp_path)
                )
            package = name if name.startswith("package") and ending != ".xml" else None
            assert near == (package or "meshes/a.stl")
            assert far == (package or "arm/meshes/a.stl")
            other = appell.load(robot.save(tmp_path / "other" / f"copy{ending}")).model.shapes[0].file
            assert other == (package or str(mesh))


TOML = """
[[links]]
name = "base"
collisions = [{ %s }]
visuals = [{ kind = "sphere", radius = 1 }]
"""


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ('kind = "sphere", radius = -1', r"links\[0\]\.collisions\[0\]: expected a shape, got a sphere of size -1"),
        ('kind = "box", size = [1, 0, 1]', r"collisions\[0\]: expected a shape, got a box of size 1, 0, 1"),
        ('kind = "box", size = [1, 1]', r"collisions\[0\]\.size: expected 3 numbers, got 2"),
        ('kind = "ball", radius = 1', r"collisions\[0\]\.kind: unknown kind 'ball'"),
        ('kind = "capsule", radius = 1', r"collisions\[0\]: a capsule needs 'length'; add it"),
        ('kind = "sphere", radius = 1, file = "a.stl"', r"collisions\[0\]: unknown key 'file'"),
        ('kind = "mesh"', r"collisions\[0\]: expected a shape, got a mesh without a file"),
        (
            'kind = "mesh", file = "a.stl", scale = [0, 1, 1]',
            r"a mesh of size 0, 1, 1; expected 'scale' other than zero",
        ),
    ],
)
def test_a_faulty_shape_of_toml_is_an_error_at_its_place(entries, message):
    with pytest.raises(appell.ReadError, match=message):
        read_toml(TOML % entries)


SDF = (
    '<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial><visual name="v">%s'
    "</visual></link></model></sdf>"
)


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (read_sdf, SDF % "<geometry><sphere><radius>-1</radius></sphere></geometry>", "a sphere of size -1"),
        (read_sdf, SDF % "<geometry><sphere/></geometry>", "no <radius>"),
        (read_sdf, SDF % "<geometry><plane/></geometry>", "expected one of 'sphere', .* in <geometry>, got 0"),
        (
            read_sdf,
            SDF % "<geometry><mesh><uri>a.dae</uri><submesh><name>b</name></submesh></mesh></geometry>",
            "a <submesh> is not supported",
        ),
        (
            read_urdf,
            '<robot><link name="a"><collision><geometry><box size="1 1 -1"/></geometry></collision></link></robot>',
            "a box of size 1, 1, -1",
        ),
    ],
)
def test_a_faulty_shape_of_xml_is_left_out_with_a_warning(reader, text, message):
    with pytest.warns(
        appell.AppellWarning, match=rf"^<text>:1: link 'a', <\w+>: .*{message}.*; the shape is left out$"
    ):
        assert reader(text).shapes == ()


def test_a_pose_of_sdf_may_name_a_frame():
    model = read_sdf(
        '<sdf version="1.9"><model name="m"><frame name="f"><pose>0 0 2 0 0 0</pose></frame>'
        '<link name="a"><pose>0 1 0 0 0 0</pose><inertial><mass>1</mass></inertial><collision name="c">'
        '<pose relative_to="f">1 0 0 0 0 0</pose><geometry><sphere><radius>1</radius></sphere></geometry>'
        "</collision></link></model></sdf>"
    )
    assert model.shapes[0].placement.position == (1.0, -1.0, 2.0)


def test_a_model_with_a_shape_of_an_unknown_link_is_an_error(arm):
    with pytest.raises(appell.ReadError, match="a shape of link 'nose'; known: "):
        appell.load(replace(arm, shapes=(Shape("nose", VISUAL, "sphere", (1.0,)),)))
    with pytest.raises(appell.ReadError, match="link 'rod': a sphere of size -1; expected 'radius' above zero"):
        appell.load(replace(arm, shapes=(Shape("rod", VISUAL, "sphere", (-1.0,)),)))


def test_what_mjcf_cannot_place_is_named(tmp_path):
    pytest.importorskip("mujoco")
    vertices = '<asset><mesh name="v" vertex="0 0 0 1 0 0 0 1 0 0 0 1"{}/></asset>'
    body = (
        '<worldbody><body name="a"><joint/><geom type="mesh" mesh="v" contype="0" conaffinity="0"/></body></worldbody>'
    )
    with pytest.warns(appell.AppellWarning, match="1 × <geom> with a mesh that has no file"):
        assert read_mjcf(f"<mujoco>{vertices.format('')}{body}</mujoco>").shapes == ()
    with pytest.warns(appell.AppellWarning) as given:
        read_mjcf("<mujoco>" + vertices.format(' refpos="1 0 0"') + body + "</mujoco>")
    assert any("<mesh refpos>" in str(x.message) for x in given)

"""SDF files: random models against MuJoCo, whose MJCF the test writes from the same absolute poses; and every fault.

The poses of links, joints and frames are drawn in the world. The SDF text gives each in a frame that was drawn for it;
the MJCF text each body in its parent, composed by SciPy's rotations. Nothing is shared by the two ways.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import appell
from appell.cli.compare import on_arrays
from appell.errors import AppellWarning, ReadError
from appell.read import read_sdf

INERTIA = np.array([[0.03, 0.004, -0.002], [0.004, 0.05, 0.001], [-0.002, 0.001, 0.04]])


def matrix(rng):
    x = np.eye(4)
    x[:3, :3], x[:3, 3] = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3) * 0.3
    return x


def text_of(values):
    return " ".join(repr(float(value)) for value in values)


def pose_text(x, rng, relative_to=""):
    """Return a <pose> in one of the ways to write it."""
    attributes = f' relative_to="{relative_to}"' if relative_to else ""
    turn = Rotation.from_matrix(x[:3, :3])
    way = rng.integers(3)
    if way == 0:
        attributes, angles = attributes + ' rotation_format="quat_xyzw"', turn.as_quat()
    else:
        angles = turn.as_euler("xyz", degrees=way == 1)
        attributes += ' degrees="true"' if way == 1 else ""
    return f"<pose{attributes}>{text_of(x[:3, 3])} {text_of(angles)}</pose>"


class Drawn:
    """A random tree of links, as SDF text and as MJCF text; `placed` are all frames by name, in the world."""

    def __init__(self, rng, types):
        self.rng, self.model = rng, matrix(rng)
        self.placed = {"__model__": self.model}
        self.sdf: list[str] = []
        self.bodies: dict[str, Any] = {}
        self.children: dict[str, list[str]] = {"world": []}
        for i, kind in enumerate(types):
            link, joint = f"link{i}", f"joint{i}"
            parent = rng.choice(["world", *self.bodies]) if i else "world"
            here, there = matrix(rng), matrix(rng)
            self._element("link", link, here, self._inertial(rng), default="__model__")
            self._element("frame", f"frame{i}", matrix(rng), "", ' attached_to="%s"', default=link)
            axes = rng.normal(size=(2, 3))
            expressed = rng.choice(["", *self.placed])
            turn = there if not expressed else self.placed[expressed]
            inside = [
                f'<{tag}><xyz expressed_in="{expressed}">{text_of(axis)}</xyz>'
                f"<dynamics><damping>{d}</damping></dynamics></{tag}>"
                for tag, axis, d in zip(("axis", "axis2"), axes, (0.25, 0.5), strict=True)
            ]
            inside = inside[: {"fixed": 0, "ball": 0, "universal": 2, "revolute2": 2}.get(kind, 1)]
            through = rng.choice([link, f"frame{i}"])
            default = through
            body = f"<parent>{parent}</parent><child>{through}</child>{''.join(inside)}"
            self._element("joint", joint, there, body, f' type="{kind}"', default=default)
            self.bodies[link] = (parent, here, there, kind, [(turn[:3, :3] @ axis) for axis in axes], joint)
            self.children[link] = []
            self.children[parent].append(link)

    def _inertial(self, rng):
        self.com = matrix(rng)
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        values = INERTIA[np.triu_indices(3)]
        entries = "".join(f"<{key}>{float(x)!r}</{key}>" for key, x in zip(keys, values, strict=True))
        self.coms = {**getattr(self, "coms", {}), len(self.bodies): self.com}
        return f"<inertial>{pose_text(self.com, rng)}<mass>1.5</mass><inertia>{entries}</inertia></inertial>"

    def _element(self, tag, name, x, inside, attributes="", default=""):
        attributes = attributes % default if "%s" in attributes else attributes
        relative_to = self.rng.choice(["", *self.placed])
        seen = np.linalg.inv(self.placed[relative_to or default]) @ x
        self.sdf.append(f'<{tag} name="{name}"{attributes}>{pose_text(seen, self.rng, relative_to)}{inside}</{tag}>')
        self.placed[name] = x

    def sdf_text(self):
        elements = list(self.sdf)
        self.rng.shuffle(elements)
        pose = pose_text(self.model, self.rng)
        return f'<sdf version="1.9">\n<model name="drawn">{pose}\n' + "\n".join(elements) + "\n</model></sdf>"

    def mjcf_text(self):
        def body(link):
            parent, here, there, kind, axes, joint = self.bodies[link]
            above = np.eye(4) if parent == "world" else self.bodies[parent][1]
            x, j = np.linalg.inv(above) @ here, np.linalg.inv(here) @ there
            name = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "ball": "ball"}.get(kind, "hinge")
            count = {"fixed": 0, "ball": 1, "universal": 2, "revolute2": 2}.get(kind, 1)
            joints = "".join(
                f'<joint name="{joint}{f"/{k + 1}" if count == 2 else ""}" type="{name}" pos="{text_of(j[:3, 3])}" '
                f'axis="{text_of(here[:3, :3].T @ axes[k])}" damping="{(0.25, 0.5)[k] if name != "ball" else 0}"/>'
                for k in range(count)
            )
            com = self.coms[int(link[4:])]
            tensor = com[:3, :3] @ INERTIA @ com[:3, :3].T
            full = text_of(tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
            inertial = f'<inertial pos="{text_of(com[:3, 3])}" mass="1.5" fullinertia="{full}"/>'
            below = "".join(map(body, self.children[link]))
            w = np.roll(Rotation.from_matrix(x[:3, :3]).as_quat(), 1)
            place = f'name="{link}" pos="{text_of(x[:3, 3])}" quat="{text_of(w)}"'
            return f"<body {place}>{joints}{inertial}{below}</body>"

        return f"<mujoco><worldbody>{''.join(map(body, self.children['world']))}</worldbody></mujoco>"


TYPES = ["revolute", "prismatic", "ball", "universal", "fixed", "continuous", "revolute2"]


@pytest.mark.parametrize("seed", range(6))
def test_a_random_model_moves_as_mujoco_moves_it(seed):
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")
    rng = np.random.default_rng(seed)
    drawn = Drawn(rng, rng.permutation([*TYPES, *TYPES])[:9])
    robot = appell.load(read_sdf(drawn.sdf_text()))
    compiled = mujoco.MjModel.from_xml_string(drawn.mjcf_text())
    compiled.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(compiled)
    there = appell.interop.mujoco(robot, compiled)
    q, v = robot.random(rng, 3), rng.normal(size=(3, robot.nv))
    a = rng.normal(size=(3, robot.nv))
    tau = on_arrays(robot, "inverse_dynamics", [q, v, a])
    links = np.stack([on_arrays(robot, "pose", [q], link) for link in drawn.bodies], axis=1)
    for k in range(3):
        data.qpos, data.qvel, data.qacc = there.q(q[k]), there.v(q[k], v[k]), there.a(q[k], v[k], a[k])
        mujoco.mj_inverse(compiled, data)
        np.testing.assert_allclose(there.tau(q[k], tau[k]), data.qfrc_inverse, rtol=0, atol=1e-10 * abs(tau).max())
        for i in range(len(drawn.bodies)):
            body = mujoco.mj_name2id(compiled, mujoco.mjtObj.mjOBJ_BODY, f"link{i}")
            np.testing.assert_allclose(links[k, i, :3, 3], data.xpos[body], atol=1e-12)
            np.testing.assert_allclose(links[k, i, :3, :3].ravel(), data.xmat[body], atol=1e-12)


def test_frames_are_where_they_were_drawn():
    rng = np.random.default_rng(8)
    drawn = Drawn(rng, TYPES)
    robot = appell.load(read_sdf(drawn.sdf_text()))
    for i in range(len(TYPES)):
        found = on_arrays(robot, "pose", [robot.neutral()[None]], f"frame{i}")[0]
        np.testing.assert_allclose(found, drawn.placed[f"frame{i}"], atol=1e-12)


# Words of the format

LINK = "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"


def one(joint="", version="1.9", kind="revolute", axis="<axis><xyz>0 1 0</xyz></axis>", link="", model=""):
    return f"""<sdf version="{version}">
<model name="m">{model}
<link name="rod"><pose>0 0 1 0.5 0 0</pose>{link or LINK}</link>
<joint name="hinge" type="{kind}"><parent>world</parent><child>rod</child>
{axis}{joint}</joint>
</model></sdf>"""


def joint_of(*words, **options):
    return read_sdf(one(*words, **options), source="m.sdf").bodies[0].joint


def test_limits_losses_and_mimics():
    axis = """<axis><xyz>0 1 0</xyz>
    <limit><lower>-1</lower><upper>2</upper><effort>-1</effort><velocity>3</velocity></limit>
    <dynamics><damping>0.5</damping><friction>0.25</friction></dynamics>
    <mimic joint="other"><multiplier>2</multiplier><offset>1</offset><reference>0.25</reference></mimic></axis>"""
    joint = joint_of(axis=axis)
    assert (joint.limits.lower, joint.limits.upper, joint.limits.velocity, joint.limits.effort) == (-1, 2, 3, math.inf)
    assert (joint.damping, joint.friction) == (0.5, 0.25)
    assert (joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset) == ("other", 2.0, 0.5)
    assert joint_of(axis="<axis><limit><lower>-1e16</lower><upper>1e16</upper></limit></axis>").limits.upper == math.inf


def test_axes_are_in_the_joint_or_the_model_by_version_and_by_flag():
    turned = (0.0, math.cos(0.5), -math.sin(0.5))
    old = "<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>"
    assert joint_of().axis == (0.0, 1.0, 0.0)
    for joint in (joint_of(version="1.4"), joint_of(version="1.5", axis=old)):
        np.testing.assert_allclose(joint.axis, turned, atol=1e-15)


@pytest.mark.parametrize(
    ("words", "advance"),
    [
        ("<screw_thread_pitch>0.02</screw_thread_pitch>", 0.02),
        ("<thread_pitch>-314.1592653589793</thread_pitch>", 0.02),
    ],
)
def test_a_right_handed_screw_advances_by_its_pitch_in_a_turn(words, advance):
    joint = joint_of(words, kind="screw")
    position = joint.pose((2.0 * math.pi,)).position
    np.testing.assert_allclose(position, (0.0, advance, 0.0), atol=1e-15)


def test_gravity_is_that_of_the_world_or_the_callers():
    text = (
        one()
        .replace("<model", "<world name='w'><gravity>0 0 -1.62</gravity><model")
        .replace("</model>", "</model></world>")
    )
    assert read_sdf(text).gravity == (0.0, 0.0, -1.62)
    assert read_sdf(text, gravity=(0, 0, -3)).gravity == (0.0, 0.0, -3.0)


def test_a_nested_model_has_names_of_its_own_and_a_placement_frame():
    inner = f"""<model name="tool" placement_frame="grip"><pose relative_to="rod">0 0 2 0 0 0</pose>
    <link name="rod">{LINK}</link><frame name="grip"><pose>0 0 0.5 0 0 0</pose></frame></model>
    <joint name="weld" type="fixed"><parent>rod</parent><child>tool::grip</child></joint>"""
    model = read_sdf(one(model=inner))
    assert [body.inertia.mass for body in model.bodies] == [4.0]
    np.testing.assert_allclose(model.frame_index["tool::grip"].placement.position, (0, 0, 2.0), atol=1e-15)
    np.testing.assert_allclose(model.frame_index["tool::rod"].placement.position, (0, 0, 1.5), atol=1e-15)


def test_a_model_without_a_joint_to_the_world_stands_on_its_first_link():
    text = (
        one().replace("world", "stand").replace('<model name="m">', f'<model name="m"><link name="stand">{LINK}</link>')
    )
    model = read_sdf(text)
    assert (model.base.name, len(model.bodies)) == ("stand", 1)
    assert appell.load(model, floating=True).nv == 7
    with pytest.warns(AppellWarning, match=r"m.sdf:2: link 'stand' is the base; the rotation of its"):
        read_sdf(text.replace('<link name="stand">', '<link name="stand"><pose>0 0 0 1 0 0</pose>'), source="m.sdf")


def test_a_link_without_a_parent_beside_the_base_is_a_free_body():
    model = read_sdf(one(model=f'<link name="ball"><pose>1 2 3 0 0 0</pose>{LINK}</link>'))
    assert sorted(body.joint.kind for body in model.bodies) == ["free", "revolute"]


def test_inertia_has_the_defaults_of_the_format():
    with pytest.warns(AppellWarning, match=r"m.sdf:3: link 'rod' has no <inertial>: 1 kg"):
        model = read_sdf(one(link="<visual/>"), source="m.sdf")
    assert model.bodies[0].inertia.mass == 1.0
    assert read_sdf(one(link="<inertial/>")).bodies[0].inertia == model.bodies[0].inertia


# Loops

FOUR_BAR = """<sdf version="1.8"><model name="four-bar">
{links}
<joint name="a" type="revolute"><parent>world</parent><child>crank</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="b" type="revolute"><parent>crank</parent><child>coupler</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="c" type="{kind}"><parent>coupler</parent><child>rocker</child><pose>0 0 0.6 0 0 0</pose>
  <axis><xyz>0 1 0</xyz></axis>{axis2}</joint>
<joint name="d" type="revolute"><parent>world</parent><child>rocker</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""
LINKS = "".join(
    f'<link name="{name}"><pose>{pose}</pose><inertial><pose>0 0 0.2 0 0 0</pose><mass>{mass}</mass><inertia><ixx>0.01'
    "</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial></link>"
    for name, pose, mass in (
        ("crank", "0 0 0 0 0.2 0", 1),
        ("coupler", "0.1 0 0.4 0 1.2 0", 2),
        ("rocker", "0.7 0 0 0 -0.1 0", 3),
    )
)


@pytest.mark.parametrize(("kind", "axis2"), [("revolute", ""), ("universal", "<axis2><xyz>1 0 0</xyz></axis2>")])
def test_a_joint_to_a_link_that_has_one_closes_a_loop(kind, axis2):
    """Joint "d" is later than "c": it closes the loop, and the projection of the tree's equations is the law."""
    robot = appell.load(read_sdf(FOUR_BAR.format(links=LINKS, kind=kind, axis2=axis2)))
    assert [c.name for c in robot.model.closures] == ["d"]
    assert robot.nv == 1
    rng = np.random.default_rng(3)
    q = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=1))
    tree = appell.load(robot.model, loops=False)
    first, second = robot.model.closures[0].first, robot.model.closures[0].second

    def gap(at):
        a, b = tree.pose(at, first), tree.pose(at, second)
        seen = np.linalg.inv(a) @ b
        return np.array([*seen[:3, 3], seen[0, 2], seen[1, 2]])

    def moved(x):
        return gap(tree.integrate(q, x))

    steps = 1e-6 * np.eye(tree.nv)
    jacobian = np.stack([(moved(d) - moved(-d)) / 2e-6 for d in steps], axis=1)
    basis = null_space(jacobian, rcond=1e-6)
    assert basis.shape[1] == 1
    mass = basis.T @ tree.mass_matrix(q) @ basis
    own = robot.tree_velocity(q, np.ones(1))
    scale = float(basis[:, 0] @ own)
    np.testing.assert_allclose(robot.mass_matrix(q), scale**2 * mass, rtol=1e-7)
    gravity = basis[:, 0] @ tree.gravity(q)
    np.testing.assert_allclose(robot.gravity(q), scale * gravity, rtol=1e-6)


def test_a_circle_of_joints_is_cut_at_its_first_link():
    text = FOUR_BAR.format(links=LINKS, kind="revolute", axis2="").replace(
        "<parent>world</parent><child>crank", "<parent>rocker</parent><child>crank"
    )
    text = text.replace("<parent>world</parent><child>rocker</child>", "<parent>crank</parent><child>rocker</child>")
    with pytest.warns(AppellWarning, match="link 'crank' is the base"):
        model = read_sdf(text)
    assert model.base.name == "crank"
    assert [c.name for c in model.closures] == ["a", "d"]


# Faults

WRONG = {
    "type": ('type="revolute"', 'type="hinge"', 4, "unknown type 'hinge'; known: 'revolute'"),
    "child": ("<child>rod", "<child>rad", 4, "no frame 'rad'; known: 'rod', 'hinge'"),
    "no child": ("<child>rod</child>", "", 4, "<child> is missing or empty; add it"),
    "itself": ("<parent>world", "<parent>rod", 4, "its parent and its child are both 'rod'"),
    "axis": ("<axis><xyz>0 1 0</xyz></axis>", "", 4, "no <axis>; add one"),
    "zero axis": ("0 1 0</xyz>", "0 0 0</xyz>", 4, "axis of zero length"),
    "number": ("<mass>2", "<mass>2,0", 3, "link 'rod', <mass>: expected a number, got '2,0'"),
    "pose": ("0 0 1 0.5 0 0", "0 0 1", 3, "link 'rod', <pose>: expected 6 numbers, got 3"),
    "infinite": ("0 0 1 0.5 0 0", "0 0 inf 0.5 0 0", 3, "expected a finite number"),
    "circle": ("<pose>0 0 1", '<pose relative_to="hinge">0 0 1', 4, "cyclically"),
    "same name": ('name="hinge"', 'name="rod"', 4, "the name 'rod' is used in line 3 already"),
    "include": ("<link", "<include><uri>model://arm</uri></include><link", 2, "<include> is not supported; write"),
    "two models": (
        "</model>",
        f'</model><model name="n"><link name="a">{LINK}</link></model>',
        6,
        "2 models ('m', 'n')",
    ),
    "version": ('version="1.9"', 'version="2.0"', 1, "version '2.0' of SDF is not supported; known: 1.4 to 1.12"),
    "auto": ("<inertial>", '<inertial auto="true">', 3, "inertias computed from shapes are not supported"),
    "not SDF": ("sdf", "gdf", 1, "expected <sdf> as the root element, got <gdf>"),
    "expressed": ("<xyz>", '<xyz expressed_in="nowhere">', 5, "no frame 'nowhere'"),
    "parallel": ('type="revolute"', 'type="universal"', 4, "no <axis2>; add one"),
}


@pytest.mark.parametrize(("good", "bad", "line", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_names_file_line_and_fault(good, bad, line, message):
    text = one().replace(good, bad)
    assert text != one()
    with pytest.raises(ReadError) as caught:
        read_sdf(text, source="m.sdf")
    assert str(caught.value).startswith(f"m.sdf:{line}: ")
    assert message in str(caught.value)


def test_springs_of_joints_are_read():
    own = "<spring_stiffness>3</spring_stiffness><spring_reference>0.4</spring_reference>"
    joint = joint_of(axis=f"<axis><xyz>0 1 0</xyz><dynamics>{own}</dynamics></axis>")
    assert (joint.stiffness, joint.spring_reference) == (3.0, 0.4)
    with pytest.raises(ReadError, match=r"joint 'hinge' has a negative stiffness"):
        joint_of(axis=f"<axis><xyz>0 1 0</xyz><dynamics>{own.replace('>3<', '>-3<')}</dynamics></axis>")


def test_springs_of_joints_come_back_from_a_file(rng, tmp_path):
    rows = [{"a": 0.3, "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "stiffness": 5.0, "spring_reference": 0.3}] * 2
    robot = appell.from_dh(rows)
    again = appell.load(robot.save(tmp_path / "robot.sdf"))
    q = rng.normal(size=2)
    np.testing.assert_allclose(again.gravity(q), robot.gravity(q), rtol=1e-12)


def test_an_empty_link_called_world_is_the_world():
    text = """<sdf version="1.6"><model name="m">
    <link name="world"></link>
    <link name="rod"><inertial><mass>2</mass></inertial></link>
    <joint name="hinge" type="revolute"><parent>world</parent><child>rod</child><axis><xyz>0 1 0</xyz></axis></joint>
    </model></sdf>"""
    with pytest.warns(AppellWarning, match=r"m.sdf:2: link 'world' is empty, and its name is the world's"):
        model = read_sdf(text, source="m.sdf")
    assert [body.joint.name for body in model.bodies] == ["hinge"]


def test_a_lower_limit_above_the_upper_one_is_none():
    with pytest.warns(
        AppellWarning, match="m.sdf:5: joint 'hinge': the lower limit 2 is above the upper limit 1; read as no"
    ):
        model = read_sdf(
            one().replace("</xyz>", "</xyz><limit><lower>2</lower><upper>1</upper></limit>"), source="m.sdf"
        )
    limits = model.bodies[-1].joint.limits
    assert (limits.lower, limits.upper) == (-math.inf, math.inf)


def test_a_comment_with_two_hyphens_is_ignored():
    with pytest.warns(AppellWarning, match="m.sdf:1: a comment contains '--'"):
        assert read_sdf("<!-- -- -->" + one(), source="m.sdf").bodies == read_sdf(one()).bodies

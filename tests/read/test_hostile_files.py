"""Files and arguments that no robot comes from: one error at once, never a hang, a traceback or a full memory."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellError, AppellWarning, InputError, ReadError
from appell.model.check import check_numbers
from appell.model.model import Frame
from appell.read import read
from appell.simulation.scenario import read_scenario
from appell.spatial.pose import Pose

URDF = """<robot name="cart"><link name="base"/><link name="slider"/><link name="pole"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="slider"/><axis xyz="1 0 0"/></joint>
<joint name="hinge" type="continuous"><parent link="slider"/><child link="pole"/><axis xyz="0 1 0"/></joint></robot>"""
TOML = 'name = "a"\n[[links]]\nname = "b"\n'
READERS: dict[str, Callable[..., Any]] = {
    ".urdf": appell.load,
    ".xml": appell.load,
    ".mjcf": appell.load,
    ".toml": appell.load,
    ".npz": appell.Run.load,
    ".csv": appell.read_log,
    ".mcap": appell.read_log,
    ".parquet": appell.read_log,
    ".yaml": lambda path: appell.load("two-link", loops=path),
}
"""What reads a file of each ending."""


@pytest.fixture
def file(tmp_path):
    def write(name: str, content: str | bytes) -> Path:
        path = Path(tmp_path, name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# What is no file

NO_PATHS: list[Any] = [None, b"puma560", 3, 1.5, [], {}, ""]
NAMES = [
    "a" * 5000,
    "a" * 5000 + ".urdf",
    "a\0b",
    "a\0b.toml",
    "\ud800.urdf",
    "\udcff.toml",
    "x/" * 3000 + "a.xml",
    ".",
]


@pytest.mark.parametrize("given", [*NO_PATHS, *NAMES], ids=lambda x: repr(x)[:20])
@pytest.mark.parametrize("function", [appell.load, appell.Run.load, appell.read_log, read_scenario])
def test_what_no_file_can_be_called_is_one_short_error(function, given):
    with pytest.raises(AppellError) as caught:
        function(given)
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("given", NO_PATHS)
def test_loops_come_from_a_path(given):
    with pytest.raises(InputError, match="loops: expected the path of a file"):
        appell.load("two-link", loops=given)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
@pytest.mark.parametrize("suffix", READERS)
def test_pipes_and_devices_are_refused_at_once(tmp_path, suffix):
    pipe, device = tmp_path / f"pipe{suffix}", tmp_path / f"device{suffix}"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        with pytest.raises(ReadError, match="is a pipe or a device"):
            READERS[suffix](path)


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".mjcf", ".toml", ".yaml", ".csv"])
def test_a_gigabyte_is_refused_by_its_size(tmp_path, suffix):
    path = tmp_path / f"big{suffix}"
    with path.open("wb") as sparse:
        sparse.truncate(2**30)
    with pytest.raises(ReadError, match=r"1024 MB exceed the limit of [0-9.]+ MB"):
        READERS[suffix](path)


@pytest.mark.parametrize("content", [b"", b"a\0b\nc", b"\xff\xe4 = 'a'\n", b"\xed\xa0\x80\n"])
@pytest.mark.parametrize("suffix", READERS)
def test_empty_and_binary_files_are_refused(file, suffix, content):
    with pytest.raises(AppellError):
        READERS[suffix](file(f"a{suffix}", content))


# XML


def laughs(root: str) -> str:
    entities = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10))
    return f'<!DOCTYPE r [<!ENTITY a0 "ha">{entities}]><{root} name="&a9;">&a9;</{root}>'


@pytest.mark.parametrize(
    "text",
    [
        laughs("robot"),
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="a">&x;<link name="b"/></robot>',
        "<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>",
        f'<robot name="{"a" * 11_000_000}"><link name="b"/></robot>',
        '<?xml version="1.0" encoding="nonsense"?>' + URDF,
    ],
    ids=["entities", "external", "depth", "attribute", "encoding"],
)
def test_bombs_of_xml_are_refused(file, text):
    with pytest.raises(ReadError, match=r"a\.urdf:1: "):
        appell.load(file("a.urdf", text))
    with pytest.raises(ReadError):
        appell.load(file("a.xml", text))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_encodings_that_xml_knows_are_read(file, encoding):
    assert appell.load(file("a.urdf", URDF.encode(encoding))).joint_names == ["slide", "hinge"]


@pytest.mark.parametrize(
    "encoding", ["undefined", "punycode", "idna", "unicode_escape", "utf-7", "rot13", "base64", "a\0b", "ÿ"]
)
@pytest.mark.parametrize("start", ["", "\n"], ids=["first", "misplaced"])
def test_encodings_that_are_none_of_xml_are_one_error(file, encoding, start):
    text = f'{start}<?xml version="1.0" encoding="{encoding}"?>' + "é" * 100_000 + URDF
    for name in ("a.urdf", "a.xml"):
        with pytest.raises(ReadError) as caught:
            appell.load(file(name, text.encode()))
        assert str(caught.value).startswith(str(file(name, text.encode())))
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("encoding", ["iso-8859-15", "windows-1252", "us-ascii", "UTF8", "gb18030"])
def test_declared_encodings_of_xml_are_read(file, encoding):
    name = "joint" if encoding == "us-ascii" else "Stoß"[:3] if encoding == "gb18030" else "Stoß"
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + URDF.replace("slide", name)
    assert appell.load(file("a.urdf", text.encode(encoding))).joint_names[0] == name
    with pytest.warns(AppellWarning, match="follows white space"):
        assert appell.load(file("b.urdf", ("\n" + text).encode(encoding))).joint_names[0] == name


def test_a_tree_of_many_links_is_walked_once(file):
    n = 3000
    links = "".join(f'<link name="l{k}"/>' for k in range(n))
    joint = '<joint name="j{0}" type="fixed"><parent link="l{0}"/><child link="l{1}"/></joint>'
    joints = "".join(joint.format(k, k + 1) for k in range(n - 1))
    assert len(read(file("a.urdf", f"<robot>{links}{joints}</robot>")).frames) == 2 * n - 1


# TOML


@pytest.mark.parametrize(
    "text",
    [
        TOML + "mass = " + "[" * 100_000 + "]" * 100_000,
        TOML + "mass = " + "{a=" * 100_000 + "1" + "}" * 100_000,
        TOML + "mass." + "a." * 300_000 + "a = 1",
        "[" + "a." * 300_000 + "a]\nx = 1\n",
        TOML + "mass = 0x" + "f" * 100_000,
        TOML + "mass = " + "9" * 5000,
        TOML + "mass = 1979-05-27",
        TOML + "mass = 07:32:00",
        TOML + "mass = true",
        TOML + "mass = []",
        TOML + "mass = nan",
        TOML + "mass = inf",
        TOML + "mass = {}",
        TOML + 'inertia = [1979-05-27, "a", true]',
        "gravity = []\n" + TOML,
        "gravity = [0.0, 0.0, true]\n" + TOML,
        "links = 3\n",
        "links = [3]\n",
        "links = [[]]\njoints = {}\n",
        "joints = 1979-05-27\n" + TOML,
        "closures = [[]]\n" + TOML,
        "actuators = [1]\n" + TOML,
        "home = []\n" + TOML,
        "mimic = 1\n" + TOML,
        "dh = 3\nname = 'a'\n",
        "[dh]\nrows = [1]\n",
        "[dh]\nd_sign = 0x" + "f" * 1000 + "\nrows = [{}]\n",
        "spherical = 3\nname = 'a'\n",
        "[spherical]\nkind = ['sst']\n",
        "[spherical]\nkind = 'sst'\nstar = '120 deg'\ncorners = [[0, 0, 0], [0, 1, 0], [0, 0, 1]]\n",
        "[spherical]\nkind = 'agile-wrist'\nalpha1 = 1979-05-27\nalpha2 = []\n",
        "[spherical]\nkind = 'legs'\nlegs = [[]]\n",
    ],
    ids=lambda text: text.replace(TOML, "")[:30],
)
def test_toml_of_wrong_types_and_depths_is_refused(file, text):
    with pytest.raises(AppellError) as caught:
        appell.load(file("a.toml", text))
    assert len(str(caught.value)) < 2100


@pytest.mark.parametrize(
    "text",
    [
        "duration = 1979-05-27",
        "duration = true",
        "duration = nan",
        "duration = 1\nstart = 3",
        "duration = 1\nstart = { q = [1979-05-27, 0] }",
        "duration = 1\nwalls = 3",
        "duration = 1\nwalls = [3]",
        "duration = 1\ncontrol = []",
        "duration = 1\npoints = [{}]",
        f"duration = 1\npoints = [{{ frame = '{'a' * 5000}' }}]",
    ],
)
def test_scenarios_of_wrong_types_are_refused(text):
    with pytest.raises(ReadError) as caught:
        read_scenario(f'robot = "two-link"\n{text}\n')
    assert len(str(caught.value)) < 2100


@pytest.mark.parametrize("robot", ["a" * 5000, "a" * 5000 + ".urdf", r"a\u0000b", "."])
def test_a_robot_of_a_scenario_that_no_file_can_be_is_refused(file, robot):
    with pytest.raises(ReadError, match=r"s\.toml: robot: "):
        read_scenario(file("s.toml", f'robot = "{robot}"\nduration = 1.0\n'))


# YAML

BOMB = "\n".join(
    [
        "a0: &a0 [x, x, x, x, x, x, x, x, x]",
        *(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 9)),
        "closed_loop: *a8",
    ]
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, r":2: alias '\*a0': aliases are not supported"),
        ("closed_loop: &a [*a]", r":1: alias '\*a': aliases are not supported"),
        ("closed_loop: " + "[" * 200_000, r":1: lists are nested more than 16 deep"),
        ("closed_loop: " + "{a: " * 50_000, r":1: lists are nested more than 16 deep"),
        ("- " * 100_000, r":1: lists are nested more than 16 deep"),
        ("? " * 100_000, r":1: lists are nested more than 16 deep"),
        ("closed_loop: !!python/object/apply:os.system [a]", r":1: tag .* tags are not supported"),
        ("type: []\nclosed_loop: []\ntype: []", r":3: key 'type' is defined twice"),
        ("type: []\n[a, b]: 1", r":2: expected a name as key"),
        ("closed_loop: []\n---\ntype: []", r":2: the file has a second document"),
        ("[1]", "expected keys such as closed_loop"),
        ("# nothing", "the file has no document"),
        ("closed_loop: \x01", "not readable as YAML"),
        ("a" * 300_000, "exceed the limit of 0.25 MB"),
    ],
    ids=lambda x: x[:20],
)
def test_bombs_of_yaml_are_refused(file, text, message):
    with pytest.raises(ReadError, match=message):
        appell.load(file("a.urdf", URDF), loops=file("a.yaml", text))


# Numbers of models, whatever they come from

MJCF = """<mujoco><option gravity="0 0 {gravity}"/><worldbody><body name="arm" pos="0 0 {pos}" quat="{quat}">
<joint name="hinge" damping="{damping}" armature="{armature}" frictionloss="{friction}" range="-1 {upper}"/>
<inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia} 1 1"/><site name="tip" pos="0 0 {site}"/>
</body></worldbody></mujoco>"""
SOUND = {
    "gravity": "-9.81", "pos": "1", "quat": "1 0 0 0", "damping": "0.1", "armature": "0.1", "friction": "0.1",
    "upper": "1", "mass": "1", "inertia": "1", "site": "1",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::appell.AppellWarning")
@pytest.mark.parametrize("value", ["nan", "inf", "1e60"])
@pytest.mark.parametrize("key", [key for key in SOUND if key not in ("quat", "upper")])
def test_numbers_of_mjcf_are_checked(file, key, value):
    pytest.importorskip("mujoco")
    with pytest.raises(ReadError, match=r"a\.xml"):
        appell.load(file("a.xml", MJCF.format(**{**SOUND, key: value})))


@pytest.mark.filterwarnings("ignore::appell.AppellWarning")
@pytest.mark.parametrize("quat", ["nan 0 0 0", "0 0 0 0", "inf 0 0 0"])
def test_quaternions_of_mjcf_that_are_no_rotation_are_refused(file, quat):
    pytest.importorskip("mujoco")
    with pytest.raises(ReadError, match=r"a\.xml"):
        appell.load(file("a.xml", MJCF.format(**{**SOUND, "quat": quat})))


def test_sound_mjcf_is_read(file):
    pytest.importorskip("mujoco")
    assert appell.load(file("a.xml", MJCF.format(**SOUND))).nv == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("body_mass", np.nan),
        ("body_mass", -1.0),
        ("body_inertia", np.inf),
        ("body_pos", np.nan),
        ("body_quat", 0.0),
        ("body_iquat", np.nan),
        ("jnt_axis", 0.0),
        ("jnt_pos", np.inf),
        ("dof_damping", np.inf),
        ("dof_armature", -1.0),
        ("dof_frictionloss", np.nan),
        ("site_pos", np.nan),
        ("site_quat", 0.0),
        ("jnt_range", np.nan),
        ("qpos0", np.nan),
    ],
)
def test_compiled_models_of_mujoco_are_checked(field, value):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MJCF.format(**SOUND))
    getattr(model, field)[-1] = value
    with pytest.raises(AppellError):
        appell.interop.from_mujoco(model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: setattr(m.inertias[1], "mass", math.nan), "mass is nan"),
        (lambda m: setattr(m.inertias[1], "mass", -1.0), "mass of -1 kg"),
        (lambda m: m.inertias[1].lever.__setitem__(0, math.inf), "first|second"),
        (lambda m: m.armature.__setitem__(0, math.inf), "armature is inf"),
        (lambda m: m.damping.__setitem__(0, -1.0), "negative damping"),
        (lambda m: setattr(m.jointPlacements[1], "rotation", np.zeros((3, 3))), "is not a rotation"),
        (lambda m: setattr(m.jointPlacements[1], "translation", np.full(3, np.nan)), "position.0. is nan"),
        (lambda m: m.lowerPositionLimit.__setitem__(0, 10.0), "lower limit 10 is above the upper limit"),
        (lambda m: setattr(m.gravity, "linear", np.full(3, np.nan)), "gravity"),
    ],
)
def test_models_of_pinocchio_are_checked(change, message):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildSampleModelManipulator()
    change(model)
    with pytest.raises(AppellError, match=message):
        appell.interop.from_pinocchio(model)


def test_the_check_names_frame_and_number(file):
    model = read(file("a.urdf", URDF))
    check_numbers(model)
    broken = replace(model, frames=(*model.frames, Frame("tool", 1, Pose(position=(0.0, 0.0, math.nan)))))
    with pytest.raises(ReadError, match=r"frame 'tool': position\[2\] is nan"):
        appell.load(broken)


# What MJCF asks of MuJoCo's compiler

ROOT = '<mujoco>{}<worldbody><body><joint/><geom size="1"/></body>{}</worldbody></mujoco>'


@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        ("", '<replicate count="1000000000" offset="1 0 0"><site/></replicate>', "<replicate> makes 1e\\+09 copies"),
        ("", '<replicate count="200"><replicate count="200"><site/></replicate></replicate>', "makes 40000 copies"),
        ('<size nuserdata="2000000000"/>', "", "<size nuserdata> allocates 2e\\+09 numbers"),
        ('<asset><hfield nrow="100000" ncol="100000" size="1 1 1 1"/></asset>', "", "<hfield nrow ncol> allocates 1e"),
        ('<asset><mesh file="pipe.stl"/></asset>', "", "<mesh> names the pipe or device"),
        ('<compiler meshdir="in"/><asset><mesh file="pipe.stl"/></asset>', "", "<mesh> names the pipe or device"),
        ('<include file="pipe.stl"/>', "", "<include> names the pipe or device"),
        ('<include file="other.xml"/>', "", "other.xml:1: <replicate> makes"),
    ],
)
def test_what_would_keep_mujoco_from_ending_is_refused(file, tmp_path, head, body, message):
    pytest.importorskip("mujoco")
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "pipe.stl")
    os.mkfifo(tmp_path / "in" / "pipe.stl")
    file("other.xml", '<mujoco><worldbody><replicate count="99999"><site/></replicate></worldbody></mujoco>')
    with pytest.raises(ReadError, match=message):
        appell.load(file("a.xml", ROOT.format(head, body)))


SEEDS = Path(__file__).parents[1] / "fuzz" / "seeds"
OF_SEEDS: dict[str, Callable[[Path], Any]] = {
    "log-mcap": appell.read_log,
    "log-npz": appell.read_log,
    "loops-yaml": lambda path: appell.load("two-link", loops=path),
    "mjcf": appell.load,
    "run": appell.Run.load,
    "toml": appell.load,
    "toml-closed": appell.load,
    "toml-spherical": appell.load,
    "urdf": appell.load,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", OF_SEEDS)
def test_findings_of_mutation_runs_are_read_or_refused(kind):
    files = sorted((SEEDS / kind).glob("[a-z]*"))
    assert files
    for path in files:
        with contextlib.suppress(AppellError):
            OF_SEEDS[kind](path)

"""A file that is no robot is told in one line, with exit code 2, by every command that takes a robot."""

from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

from appell.cli import app
from docs.command_page import commands

URDF = (
    '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="MASS"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
)
TOML = (
    'name = "t"\n[[links]]\nname = "a"\n[[links]]\nname = "b"\nmass = MASS\ninertia = [1.0, 1.0, 1.0]\n'
    '[[joints]]\nname = "j"\nkind = "continuous"\nparent = "a"\nchild = "b"\n'
)
BAD: dict[str, bytes | None] = {
    "missing.urdf": None,
    "missing.xml": None,
    "missing.toml": None,
    "folder.urdf/": None,
    "folder.toml/": None,
    "empty.urdf": b"",
    "empty.xml": b"",
    "empty.toml": b"",
    "truncated.urdf": URDF[:120].encode(),
    "truncated.xml": b"<mujoco><worldbody><body",
    "truncated.toml": TOML[:60].encode(),
    "binary.urdf": bytes(range(256)) * 8,
    "binary.xml": bytes(range(256)) * 8,
    "binary.toml": bytes(range(256)) * 8,
    "robot.step": b"x",
    "robot": b"x",
    "nan.urdf": URDF.replace("MASS", "nan").encode(),
    "huge.urdf": URDF.replace("MASS", "1e999").encode(),
    "word.urdf": URDF.replace("MASS", "heavy").encode(),
    "nan.toml": TOML.replace("MASS", "nan").encode(),
    "huge.toml": TOML.replace("MASS", "9" * 400).encode(),
    "deep.urdf": b"<a>" * 5000,
    "entities.urdf": b'<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"><link name="x"/></robot>',
    "nul\0name.urdf": None,
    "x" * 300 + ".urdf": None,
}
MORE = {
    "id": ["-q", "0"],
    "fd": ["-q", "0"],
    "export": ["--verb", "mass_matrix", "--out", "OUT.c"],
    "bench": ["--seconds", "0", "--out", "OUT.json"],
    "compare": [],
    "identify": ["LOG.csv"],
    "view": ["--no-open"],
}
"""What a command needs beside the robot."""
TAKES = [
    name
    for name, command in commands().items()
    if any(
        parameter.param_type_name == "argument" and parameter.metavar in ("ROBOT", "PATH", "SCENARIO")
        for parameter in command.params
    )
]


def told(command, file, folder):
    """Return the one line of a mistake."""
    more = [
        word.replace("OUT", str(folder / "out")).replace("LOG", str(folder / "log")) for word in MORE.get(command, [])
    ]
    result = CliRunner().invoke(app, [command, str(file), *more], prog_name="appell")
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("appell: ")
    assert not list(folder.glob("out*"))
    return lines[0]


def test_the_commands_that_take_a_robot_are_found():
    assert {"info", "id", "fd", "ops", "export", "bench", "compare", "simulate"} <= set(TAKES)


@pytest.mark.parametrize("name", BAD, ids=lambda name: ascii(name)[:30])
@pytest.mark.parametrize("command", TAKES)
def test_a_bad_file_is_one_line(command, name, tmp_path):
    if command == "compare":
        pytest.importorskip("pinocchio")
    (tmp_path / "log.csv").write_text("t,q1,v1,tau1\n0,0,0,0\n")
    file = tmp_path / name
    content = BAD[name]
    if name.endswith("/"):
        file.mkdir()
    elif content is not None:
        file.write_bytes(content)
    told(command, file, tmp_path)


def test_a_file_that_may_not_be_read_is_one_line(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(URDF)
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    for command in TAKES:
        assert str(file) in told(command, file, tmp_path)

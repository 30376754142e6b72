"""Names of anything: in every format they are read back, shown with escapes, or refused with one error of one line.

Robot, joint, link, frame, spring, configuration and file get each name of one table. What is written is parsed,
compiled or run; code inside a name would leave a mark.
"""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.errors import AppellError, AppellWarning
from appell.model.model import Spring
from appell.results import plots
from appell.results.player import page as player
from appell.results.plots import energies
from appell.robot.export import ros2
from appell.robot.export.equations import displayed
from tests.support.compilers import Compiler

MARK = "intruder"
RUN = f'__import__("pathlib").Path("{MARK}").touch()'
"""Python code that leaves a file."""
NAMES = (
    # Python
    *(f'"""; {RUN}; """', f"'''; {RUN}; '''", f'"\n{RUN}\n"', f"\r{RUN}", f"\n{RUN}", f"\x0c{RUN}", f"\u2028{RUN}"),
    *(f"{{{RUN}}}", f"'); {RUN} #", f"\\\n{RUN}", '"', "'", '""', '"""', "'''", "ends in \\", "ends in \\\\", "\\N{x}"),
    *("\\u12", "\\x", "x\\'", "%s%n", "0", "0.5", "-1", "nan", "__init__", "lambda", "None", "class", "q", "joint2_1"),
    # C
    *(f"*/\n#error {MARK}\n/*", f"// */ int {MARK} = ; /*", f"\n#error {MARK}\n", f'"; int {MARK} = ; "', "*/", "**/"),
    *("/*", "/*/", "//", "??/", "???/", "??/\n", "\\\n", "int", "for"),
    # XML, HTML, xacro
    *("-->", "--", "]]>", "<!--", "&amp;", "&x;", "<a>", f"</robot><{MARK}/>", f'"><{MARK} a="', f"'><{MARK}>"),
    *("</script>", f"</script><script>{MARK}</script>", f"</title><{MARK}>", "<!DOCTYPE a>", "<?xml?>"),
    *("${1 + 1}", "$(arg x)", "$name", "${name}"),
    # LaTeX, Markdown, Matplotlib
    *(
        f"\\input{{{MARK}}}",
        "%",
        "$",
        "#",
        "_",
        "^",
        "&",
        "~",
        "{",
        "}",
        "a_b^c",
        "$\\frac$",
        "a__b",
        "_a",
        "a_",
        "^^M",
    ),
    *("`", "``", "a`", f"[{MARK}](http://x)", f"`<{MARK}>`"),
    # YAML, TOML, SDF
    *(f"]\n[[{MARK}]]", f": {MARK}", "- a", "!a", "*a", "yes", "1e3", "null", "a, b", "a: b", "a.b", "a=b"),
    *("a::b", "__a__", "world", "[0]", "a[0]", "a[", "a]", "a/b", "a-b"),
    # characters
    *("\x0b", "a\x0bb", "\x00", "a\x00b", "\x01", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeff"),
    *("\ufffe", "\ud800", "\udc80", "\U0001f600", "\u202eabc", "\u200b", "ä", "関節", "e\u0301", "\t", "\r", "\n"),
    *("a\nb", "a\tb", "", " ", " a", "a ", "a  b", "x" * 3000),
)
"""Hostile names."""


def arm(name: str) -> appell.Robot:
    """Return an arm with a name in every place: itself, its joint, its link, its frames."""
    rod = {"a": 0.5, "mass": 2.0, "centre": [-0.2, 0.0, 0.0], "inertia": [0.1, 0.2, 0.3], "damping": 0.1}
    model = appell.from_dh([rod], modified=False).model
    body = model.bodies[0]
    body = replace(body, name=f"link{name}", joint=replace(body.joint, name=name))
    names = {"joint1": name, "link1": body.name, "dh1": f"frame{name}"}
    frames = [replace(frame, name=names.get(frame.name, frame.name)) for frame in model.frames]
    frames.append(replace(frames[-1], name=f"{name}frame"))
    return appell.load(replace(model, name=name, bodies=(body,), frames=tuple(frames)))


def furnished(name: str) -> appell.Robot:
    """Return an arm with a spring and a configuration of a name."""
    spring = Spring(name, (("a", 0.5),), 2.0, 0.0, 0.0)
    return appell.load(replace(arm("a").model, springs=(spring,), configurations=((name, (("a", (0.1,)),)),)))


def faults(check: Callable[[int, str], object]) -> dict[str, str]:
    """Return what goes wrong with each name: a failed check, or an exception that is no clear error."""
    found = {}
    for k, name in enumerate(NAMES):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AppellWarning)
                check(k, name)
        except AppellError as error:
            if not str(error).isprintable() or not str(error) or len(str(error)) > 2500:
                found[name[:60]] = f"not one short line: {error!r}"
        except Exception as error:  # any is a fault
            found[name[:60]] = f"{type(error).__name__}: {error}"[:400]
    return found


# Python


@pytest.mark.parametrize("to", ["sympy", "casadi", "jax"])
def test_python_modules_run_no_name(to, tmp_path, monkeypatch):
    pytest.importorskip(to)
    monkeypatch.chdir(tmp_path)

    def check(k: int, name: str) -> None:
        robot = arm(name)
        robot.export("gravity", to=to, path=f"m{k}.py")
        if to != "sympy":
            robot.export("pose", frame=f"{name}frame", to=to, path=f"p{k}.py")

    assert faults(check) == {}
    program = """
import json, pathlib, runpy
documents = {}
for file in pathlib.Path().glob("*.py"):
    documents[file.name] = runpy.run_path(str(file))["__doc__"]
print(json.dumps(documents))"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not Path(MARK).exists()
    documents = json.loads(done.stdout)
    assert len(documents) > len(NAMES) - 3
    for k, name in enumerate(NAMES):
        if name.isprintable() and name.strip():
            assert f"robot '{name}'" in documents[f"m{k}.py"]


def test_names_run_no_code_in_this_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def check(k: int, name: str) -> None:
        robot = arm(name)
        for to in ("sympy", "latex", "casadi"):
            robot.export("gravity", to=to)
        repr(robot), str(robot.equations().M)

    assert faults(check) == {}
    assert not Path(MARK).exists()


# C


def test_c_compiles(any_compiler, tmp_path):
    def check(k: int, name: str) -> None:
        arm(name).export(["gravity", "pose"], frame=f"{name}frame", path=tmp_path / f"r{k}.c")

    assert faults(check) == {}
    assert len(list(tmp_path.glob("*.c"))) > len(NAMES) - 3
    compiled(any_compiler, tmp_path)


def test_c_compiles_whatever_its_file_is_called(any_compiler, tmp_path):
    robot = appell.load("two-link")

    def check(k: int, name: str) -> None:
        if "/" not in name:
            robot.export("gravity", path=tmp_path / f"{name}.c")

    assert faults(check) == {}
    assert len(list(tmp_path.glob("*.c"))) > len(NAMES) / 2
    compiled(any_compiler, tmp_path)


def compiled(compiler: Compiler, folder: Path) -> None:
    """Compile all files of a folder, every warning an error, trigraphs of C99 included."""
    files = sorted(map(str, folder.glob("*.c")))
    for some in (files[k : k + 50] for k in range(0, len(files), 50)):
        compiler.build("-fsyntax-only", *some)


# LaTeX


def latex_commands(text: str) -> set[str]:
    """Return the commands of LaTeX outside comments, and every character with a meaning."""
    lines = re.split("\r\n|\n|\r", text)
    lines = [re.sub(r"(?<!\\)((?:\\\\)*)%.*", r"\1", line) for line in lines]
    plain = "\n".join(lines)
    depth = 0
    for token in re.findall(r"\\.|[{}]", plain, flags=re.S):
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0, "braces"
    assert depth == 0, "braces"
    assert plain.replace("\n", "").isprintable()
    return set(re.findall(r"\\[A-Za-z]+|\\.|[$#~]|\^\^|begin\{.*?\}", plain, flags=re.S))


def test_latex_has_no_command_of_a_name():
    def commands(name: str) -> set[str]:
        robot = arm(name)
        shown = displayed("G", robot.equations().G)  # with the names of parameters
        return latex_commands(robot.export("gravity", to="latex")) | latex_commands(shown)

    known = commands("a") | {f"\\{mark}" for mark in "&%$#_{}"}
    known |= {r"\lambda", r"\text", r"\textbackslash", r"\textasciitilde", r"\textasciicircum"}

    def check(k: int, name: str) -> None:
        assert commands(name) <= known

    assert faults(check) == {}


# ROS 2


def test_ros2_packages_hold_any_name(any_compiler, tmp_path, monkeypatch):
    monkeypatch.setattr(ros2, "_friction", lambda robot: np.zeros((2, robot.nv)))  # which is compiled natively
    markdown = pytest.importorskip("markdown_it").MarkdownIt()
    plain = (arm("a").export(to="ros2", path=tmp_path / "plain") / "src" / "solver.cpp").read_text().split("\n")
    literals = {}

    def check(k: int, name: str) -> None:
        folder = arm(name).export(to="ros2", path=tmp_path / f"arm{k}")
        for file in ("package.xml", "plugin.xml"):
            assert [x.tag for x in ET.parse(folder / file).iter()] == [
                x.tag for x in ET.parse(tmp_path / "plain" / file).iter()
            ]
        given = yaml.safe_load((folder / "config" / "solver.yaml").read_bytes())
        assert given["/**"]["ros__parameters"]["dynamics_solver"]["joints"] == [name]
        tags = Tags((tmp_path / "plain" / "README.md").read_text(), markdown.render)
        assert Tags((folder / "README.md").read_text(), markdown.render).tags == tags.tags
        lines = (folder / "src" / "solver.cpp").read_bytes().decode().replace(f"arm{k}", "plain").split("\n")
        differ = [x for x, y in zip(lines, plain, strict=True) if x != y and "r_" not in x]
        differ = [x for x in differ if not re.match(r"\s*\w+_(mass_matrix|bias|gravity|inverse_dynamics)\(", x)]
        assert all(x.isascii() and x.isprintable() for x in differ)
        assert not any(x.endswith("\\") or "??" in x for x in differ)
        comment, names = differ if len(differ) == 2 else (lines[0], differ[0])
        assert comment.startswith("// Dynamics of robot '")
        literals[name] = names.partition("= {")[2].removesuffix("};")

    assert faults(check) == {}
    assert len(literals) > len(NAMES) - 12
    lines = ["#include <stdio.h>", "static const struct { const char *a; unsigned long n; } all[] = {"]
    lines += [f"    {{{found}, sizeof {found}}}," for found in literals.values()]
    lines += ["};", "int main(void) {", "    for (unsigned long k = 0; k < sizeof all / sizeof *all; k++)"]
    lines += ['        for (unsigned long i = 0; i < all[k].n; i++) printf("%02x%s", (unsigned char)all[k].a[i],']
    lines += ['            i + 1 < all[k].n ? "" : "\\n");', "    return 0;", "}", ""]
    file, program = tmp_path / "names.c", tmp_path / "names"
    file.write_text("\n".join(lines))
    any_compiler.build(file, "-o", program)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    assert [bytes.fromhex(line) for line in printed] == [name.encode() + b"\0" for name in literals]


# Files of robots


@pytest.mark.parametrize("kind", ["urdf", "xml", "sdf", "toml"])
@pytest.mark.parametrize("make", [arm, furnished], ids=["arm", "furnished"])
def test_saved_robots_are_read_back_with_their_names(kind, make, tmp_path):
    if kind == "xml":
        pytest.importorskip("mujoco")
    kept = []

    def check(k: int, name: str) -> None:
        robot = make(name)
        file = robot.save(tmp_path / f"{k}.{kind}")
        try:
            again = appell.load(file)
        except AppellError as error:
            raise AssertionError(f"written, but not read: {error}") from None
        assert (again.name, again.joint_names) == (robot.name, robot.joint_names)
        assert set(again.frame_names) >= set(robot.frame_names)
        assert [name for name, _ in again.model.configurations] in ([], [name])
        assert [spring.name for spring in again.model.springs] in ([], [spring.name for spring in robot.model.springs])
        kept.append(name)

    assert faults(check) == {}
    assert len(kept) > len(NAMES) * (0.9 if kind == "toml" else 0.55) or (kind, make) == ("urdf", furnished)


# HTML


class Tags(HTMLParser):
    """The elements of a page with their attributes' names, and its text."""

    def __init__(self, text: str, render: Callable[[str], str] = str) -> None:
        super().__init__()
        self.tags: list[Any] = []
        self.text = ""
        self.feed(render(text))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(tag)

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")

    def handle_data(self, data: str) -> None:
        self.text += data


def pages(name: str, plain: appell.Run, folder: Path) -> Iterator[str]:
    """Yield all pages with a name."""
    robot = arm(name)
    yield robot._repr_html_()
    run = replace(plain, robot=robot, robot_name=name, joint_names=tuple(robot.joint_names), notes=(name or "-",))
    yield run._repr_html_()
    page = run.to_html(folder / "run.html").read_bytes().decode()
    yield page
    about = re.search(r'<script type="application/json" id="about">(.*?)</script>', page, re.S)
    assert about is not None
    assert json.loads(about[1])["title"] == name


def test_pages_have_no_element_of_a_name(tmp_path, monkeypatch):
    run = appell.simulate(arm("a"), [0.0], [0.0], 0.01)
    known = energies(run)
    monkeypatch.setattr(player, "energies", lambda run: known)  # which are compiled natively
    plain = [Tags(text).tags for text in pages("a", run, tmp_path)]

    def check(k: int, name: str) -> None:
        assert [Tags(text).tags for text in pages(name, run, tmp_path)] == plain

    assert faults(check) == {}


# Figures


def test_figures_show_any_name(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    run = appell.simulate(arm("a"), [0.0], [0.0], 0.01)
    known = energies(run)
    monkeypatch.setattr(plots, "energies", lambda run: known)  # which are compiled natively
    robot = arm("$\\frac$ [b](c) \ud800\x1b")
    named = replace(run, robot=robot, robot_name=robot.name, joint_names=tuple(robot.joint_names))
    drawn = named.plot(tmp_path / "run.png")
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.texts] == [r"\$\frac\$ [b](c) \ud800\x1b"]


def test_a_joint_with_brackets_has_its_own_places():
    assert arm("a[0]").places("v") == arm("a[0]").places("q") == {"a[0]": [0]}
    assert arm("a[b").places("tau") == {"a[b": [0]}
    assert appell.load("two-link", floating=True).places("v")["root"] == [0, 1, 2, 3, 4, 5]


# The terminal


@pytest.mark.parametrize("name", ["\x1b]0;title\x07", "a\x1b[2K\rb", "a\u202eb", "a\nb"])
def test_commands_print_names_without_control_characters(name, tmp_path):
    file = arm(name).save(tmp_path / "arm.toml")
    for words in (["info"], ["ops"], ["id", "-q", "0.1"], ["id", "-q", "0.1,0.2"]):
        result = CliRunner().invoke(app, [words[0], str(file), *words[1:]])
        assert result.exit_code == (2 if "0.1,0.2" in words else 0)
        assert all(line.isprintable() for line in result.output.split("\n"))


@pytest.mark.parametrize("name", ["a,b", "a;b", '"', "a\nb", " a", "a b"])
def test_samples_are_read_back_whatever_joints_are_called(name, tmp_path):
    file = arm(name).save(tmp_path / "arm.toml")
    runner, first, second = CliRunner(), tmp_path / "first.csv", tmp_path / "second.csv"
    given = tmp_path / "given.csv"
    given.write_text("q1,v1,a1\n0.1,0.2,0.3\n0.4,0.5,0.6\n")
    for source, result in ((given, first), (first, second)):
        done = runner.invoke(
            app, ["fd" if source == first else "id", str(file), "--in", str(source), "--out", str(result)]
        )
        assert done.exit_code == 0, done.output
    assert len(first.read_text().splitlines()) == 3


# Messages


def test_messages_are_one_line(tmp_path):
    arm_of_a = appell.load("two-link")

    def check(k: int, name: str) -> None:
        with pytest.raises(AppellError) as caught:
            arm_of_a.pose([0.0, 0.0], f"{name} of none")
        assert str(caught.value).isprintable()
        raise caught.value

    assert faults(check) == {}


def test_an_error_shows_control_characters_as_escapes():
    assert str(appell.InputError("a\nb\x1b[0m\u2028")) == "a\\nb\\x1b[0m\\u2028"
    assert str(AppellWarning("a\nb")) == "a\\nb"
    assert str(pickle.loads(pickle.dumps(appell.ReadError("a\nb", "c\n", 3)))) == "c\\n:3: a\\nb"


FILES = {
    "toml": ('name = "a"\n[[links]]\nname = "a"\n"k\\nl\\u001b" = 1\n', "k\\nl\\x1b"),
    "urdf": ('<robot name="a"><link name="k&#10;l"/><link name="k"/></robot>', "k\\nl"),
    "sdf": ('<sdf version="1.9"><model name="a"><link name="k&#10;l"/><link name="k&#10;l"/></model></sdf>', "k\\nl"),
}


@pytest.mark.parametrize("kind", FILES)
def test_names_of_files_are_escaped_in_messages(kind, tmp_path):
    text, expected = FILES[kind]
    file = tmp_path / f"a.{kind}"
    file.write_text(text)
    with pytest.raises(AppellError) as caught:
        appell.load(file)
    assert str(caught.value).isprintable()
    assert expected in str(caught.value)

"""What the source must not do: look behind the one robot, hide a package behind a function."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import appell
from appell.extras import PACKAGES

PACKAGE = Path(appell.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
FACTORY = "loading.py"
KINDS = "Tree|LongTree|Closed|Spherical"
OWN = ("robot", "loops")
"""The rooms that a robot and its kinds are made in."""


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def found(pattern: str, *, outside: tuple[str, ...] = ()) -> list[str]:
    """Return the lines of the source in which a pattern occurs, files and rooms left out that are named."""
    lines = []
    for path in FILES:
        if place(path) in outside or place(path).partition("/")[0] in outside:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(pattern, line):
                lines.append(f"{place(path)}:{number}: {line.strip()}")
    return lines


def test_only_the_factory_tells_kinds_of_robot_apart():
    listed = rf"isinstance\([^()]*,\s*\(?[^()]*\b(?:{KINDS})\b"
    assert found(listed, outside=(FACTORY,)) == []


def test_the_kinds_are_no_robots_of_their_own():
    assert found(r"\b(?:ClosedRobot|SphericalRobot)\b") == []


def test_there_is_one_class_of_robot_and_it_is_final():
    assert [line.partition(":")[0] for line in found(r"^class \w*Robot\b")] == ["robot/robot.py"]
    assert appell.Robot.__bases__ == (object,)
    assert getattr(appell.Robot, "__final__", False)


@pytest.mark.parametrize(
    "pattern",
    [r"\brobot\._[a-z]", r"\._call\(", r"\._kernels\b", r"\.kind\._[a-z]", r"\b_robot\._[a-z]"],
    ids=["robot._", "._call(", "._kernels", ".kind._", "_robot._"],
)
def test_no_room_looks_at_private_members_of_robots_and_kinds(pattern):
    outside = OWN if pattern != r"\.kind\._[a-z]" else ()
    assert found(pattern, outside=outside) == []


def test_no_room_but_the_command_changes_what_all_threads_share():
    # filters of warnings, restored in another order than they were set, would stay off for the whole process
    assert found(r"catch_warnings|simplefilter|filterwarnings|os\.chdir", outside=("cli",)) == []


@pytest.mark.parametrize("name", appell.__all__)
def test_no_public_function_shadows_a_package(name):
    if inspect.isfunction(getattr(appell, name)):
        assert importlib.util.find_spec(f"appell.{name}") is None


def test_every_public_name_is_there():
    assert all(hasattr(appell, name) for name in appell.__all__)
    assert len(set(appell.__all__)) == len(appell.__all__)


REQUIRED = ("appell", "llvmlite", "lxml", "numpy", "rich", "scipy", "threadpoolctl", "typer")
"""What may be imported anywhere beside the standard library; all else is loaded by extras.py."""


def executed_imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and package of every import but those of types, which do not run."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.lineno, (node.module or "").partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from executed_imports(child)


@pytest.mark.parametrize("path", FILES, ids=place)
def test_optional_packages_are_imported_by_their_loader_alone(path):
    known = (*REQUIRED, *sys.stdlib_module_names)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [(line, name) for line, name in executed_imports(tree) if name not in known] == []


def test_no_package_is_imported_by_name_outside_its_loader():
    assert found(r"(?:import_module|__import__|find_spec)\(f?[\"']", outside=("extras.py", "papers/__init__.py")) == []


def test_the_loader_knows_what_brings_every_package_that_it_is_asked_for():
    asked = {name for path in FILES for name in re.findall(r'\bextra\(f?"(\w+)', path.read_text(encoding="utf-8"))}
    assert asked <= set(PACKAGES)
    assert len(asked) > 8

"""Shared by the commands: options, loading of robots, printing."""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import json
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from appell.cli import terminal
from appell.errors import AppellWarning, InputError, visible
from appell.files import extension
from appell.kernels.runtime import native
from appell.loading import catalogue, load
from appell.logs.table import is_number
from appell.reports.layout import wrapped
from appell.robot.robot import Robot

Words = Iterable[str] | Callable[[], Iterable[str]]
"""Words for shell completion, or a function that returns them."""


def completed(known: Words) -> Callable[[str], list[str]]:
    """Return the completion function of a shell: the known words that begin with the given text.

    >>> completed(["gibbs", "gauss", "euler"])("g")
    ['gibbs', 'gauss']
    """

    def words(incomplete: str) -> list[str]:
        return [word for word in (known() if callable(known) else known) if word.startswith(incomplete)]

    return words


def option(usage: str, text: str, words: Words = (), *, default: Any = None, **given: Any) -> Any:
    """Return an option of a command: its usage, help text, words for completion, and default.

    It is the default of a parameter. Inside ``Annotated`` the default is ``...``, and the parameter has its own.

    >>> option("--out -o FILE", "The output file.").metavar
    'FILE'
    """
    names = [word for word in usage.split() if word.startswith("-")]
    value = usage.removeprefix(" ".join(names)).strip() or None
    given["autocompletion"] = completed(words) if words else None
    return typer.Option(default, *names, metavar=value, help=text, **given)


def argument(value: str, text: str, words: Words = (), *, default: Any = None) -> Any:
    """Return an argument of a command, as :func:`option` does: placeholder, help text, words for completion.

    >>> argument("FILE", "The file to read.").metavar
    'FILE'
    """
    return typer.Argument(default, metavar=value, help=text, autocompletion=completed(words) if words else None)


@contextlib.contextmanager
def collected() -> Iterator[list[str]]:
    """Yield a list that gets appell's warnings of the block, at its end."""
    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AppellWarning)
        yield remarks
    remarks += [str(one.message) for one in caught if issubclass(one.category, AppellWarning)]


FILES = ".urdf, .xacro, .sdf, .xml (MJCF) or .toml file"
RobotName = Annotated[
    str, argument("ROBOT", f"A {FILES}, or a catalogue name such as puma560.", catalogue, default=...)
]


def _for_programs(is_json: bool) -> bool:
    """Show no progress of compiling where a program reads the output."""
    if is_json:
        native.switch_off()
    return is_json


AsJson = Annotated[bool, option("--json", "Print JSON instead of tables.", callback=_for_programs, default=...)]
Gravity = Annotated[str | None, option("--gravity X,Y,Z", "Gravity in world axes [m/s²], e.g. 0,0,-9.81.", default=...)]
Loops = Annotated[
    str | None, option("--loops FILE", "Loop closures of the robot: a robot.yaml or a .toml file.", default=...)
]
Plot = Annotated[Path | None, option("--plot FILE", "Save a plot as .png, .pdf or .svg.", default=...)]


@dataclass(frozen=True)
class RobotOptions:
    """The robot of a command and the options of loading it, the same for all commands."""

    robot: RobotName
    floating: Annotated[
        bool, option("--floating", "Give the robot a floating base: a first joint 'root'.", default=...)
    ] = False
    mimic: Annotated[bool, option("--mimic", "Couple mimic joints to the joints they follow.", default=...)] = False
    no_friction: Annotated[bool, option("--no-friction", "Ignore joint damping and Coulomb friction.", default=...)] = (
        False
    )
    no_armature: Annotated[bool, option("--no-armature", "Ignore rotor inertia (armature).", default=...)] = False
    gravity: Gravity = None
    loops: Loops = None
    xacro: Annotated[
        list[str] | None, option("--xacro NAME=VALUE", "Argument of a .xacro file; repeatable.", default=...)
    ] = None

    def load(self) -> tuple[Robot, list[str]]:
        """Return the robot and the warnings about its file.

        >>> RobotOptions("two-link").load()
        (<Robot 'two-link': 2 bodies, nq 2, nv 2>, [])
        """
        down = None if self.gravity is None else numbers("--gravity", self.gravity, 3)
        chosen: Any = {"floating": self.floating, "mimic": self.mimic}
        chosen |= {"friction": not self.no_friction, "armature": not self.no_armature}
        with collected() as remarks:
            robot = load(self.robot, gravity=down, loops=self.loops or True, xacro=self._arguments(), **chosen)
        return robot, remarks

    def _arguments(self) -> dict[str, str] | None:
        """Return the arguments of a xacro file, given as NAME=VALUE or as NAME:=VALUE."""
        if not self.xacro:
            return None
        pairs = [text.partition("=") for text in self.xacro]
        for name, sign, _ in pairs:
            if not sign or not name.rstrip(":"):
                raise InputError(f"--xacro: expected NAME=VALUE, got '{name}{sign}'")
        return {name.rstrip(":"): value for name, _, value in pairs}


def with_robot_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes a robot and the options of loading it instead of a first :class:`RobotOptions`.

    A parameter ``robot`` of the command replaces the description of that argument.
    """
    shared = dict(inspect.signature(RobotOptions, eval_str=True).parameters)
    own = dict(list(inspect.signature(command, eval_str=True).parameters.items())[1:])
    every = {"robot": shared["robot"], **own, **{name: x for name, x in shared.items() if name not in own}}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(RobotOptions(**{name: given[name] for name in shared}), **{name: given[name] for name in own})

    run.__annotations__ = {name: parameter.annotation for name, parameter in every.items()}
    run.__signature__ = inspect.Signature(list(every.values()))  # type: ignore[attr-defined]  # which inspect looks for
    return run


def check_endings(files: Mapping[str, tuple[Path | None, Sequence[str]]]) -> None:
    """Refuse output files with an unknown extension before any work is done.

    >>> check_endings({"--plot": (Path("run.png"), (".png", ".pdf")), "--out": (None, (".npz",))})
    """
    for option, (file, endings) in files.items():
        if file is not None:
            extension(option, file, endings)


def warn(remarks: list[str]) -> None:
    """Print warnings on stderr, one line each."""
    for remark in remarks:
        terminal.say(f"appell: warning: {remark}")


def numbers(option: str, text: str, size: int) -> list[float]:
    """Return comma-separated finite numbers; raise unless there are `size` of them.

    >>> numbers("-q", "0.1, -2", 2)
    [0.1, -2.0]
    """
    parts = [part.strip() for part in text.split(",")]
    try:
        values = [float(part) for part in parts]
    except ValueError:
        wrong = next(part for part in parts if not is_number(part))
        raise InputError(f"{option}: expected numbers separated by commas, got '{wrong}' in '{text}'") from None
    if len(values) != size:
        raise InputError(f"{option}: expected {size} numbers separated by commas, got {len(values)} in '{text}'")
    for part, value in zip(parts, values, strict=True):
        if not math.isfinite(value):
            raise InputError(f"{option}: expected finite numbers, got '{part}' in '{text}'")
    return values


class _Screen(Console):
    """A console that leaves a closed pipe to :class:`appell.cli.group.Group`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, "the reader is gone")


def show(*things: Any) -> None:
    """Print tables and lines on stdout, in the width of the terminal or of COLUMNS, without splitting a token."""
    width = terminal.width()
    for thing in things:
        show_lines(wrapped(thing, width) if isinstance(thing, str) else [thing])


def show_lines(lines: Iterable[Any]) -> None:
    """Print lines that fit, and tables, on stdout."""
    console = _Screen(highlight=False, width=terminal.width())
    for line in lines:
        console.print(
            visible(line) if isinstance(line, str) else line,
            markup=False,
            no_wrap=isinstance(line, str),
            overflow="ignore",
            crop=False,
        )


def show_json(value: Any) -> None:
    """Print a value as JSON on stdout; infinities become null."""
    typer.echo(json.dumps(plain(value), ensure_ascii=not terminal.has_every_character(), indent=2))


def plain(value: Any) -> Any:
    """Return a value made of dictionaries, lists, text and finite numbers only.

    >>> plain({"limit": float("inf"), "axis": (0.0, 0.0, 1.0)})
    {'limit': None, 'axis': [0.0, 0.0, 1.0]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    return value

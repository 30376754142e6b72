"""``appell compare``: robots of a folder compared with Pinocchio or MuJoCo, in one table."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import track

from appell.cli.agreement import QUANTITIES, Agreement, agreement, mujoco_agreement, pinocchio
from appell.cli.common import AsJson, RobotOptions, argument, option, show, show_json
from appell.errors import InputError
from appell.files import file_bytes, write
from appell.read.xml import elements, outermost, tag
from appell.reports.table import Cell, Table

ENDINGS = (".urdf", ".xacro", ".sdf", ".xml", ".mjcf")
OUTERMOST = ("robot", "mujoco", "mujocoinclude", "sdf")
"""The outermost elements of files of robots, or of parts of them."""


def command(
    places: list[Path] | None = argument(
        "PATH", "URDF, xacro, SDF and MJCF files, or folders of them; default example-robot-data."
    ),
    samples: int = option("--samples", "Number of random states per robot.", min=1, default=50),
    within: float = option("--within", "Tolerance on the relative error.", default=1e-9),
    out: Path | None = option("--out -o FILE.md", "Save the table as Markdown."),
    as_json: AsJson = False,
) -> None:
    """Compare robots with Pinocchio and MuJoCo.

    URDF, xacro and SDF files are compared with Pinocchio, on a fixed and on a floating base; MJCF files with MuJoCo.
    The table has the largest relative errors, or the reason why a file is not compared.

    Mimic joints are not coupled, as is the default in Pinocchio, and loops are open. Nothing is compiled: the
    recursions run on arrays of all states. The exit code is 1 if a robot does not agree.

    Example: appell compare robots/ --out out/robots.md
    """
    files = robot_files(places or [_examples()])
    pin = pinocchio()
    if pin is None and not all(map(is_mjcf, files)):
        raise InputError("compare: Pinocchio is not installed; pip install pin")
    for file in (place for place in places or () if place.is_file()):
        RobotOptions(
            str(file)
        ).load()  # a refused file is an error if it is named, and a row of the table if it is in a folder
    jobs = [(file, free) for file in files for free in ((False,) if is_mjcf(file) else (False, True))]
    console = Console(stderr=True)
    bar = track(jobs, "comparing", console=console, transient=True, disable=not console.is_terminal)
    rows = [_compared(pin, file, is_floating, samples) for file, is_floating in bar]
    table = tabulated(rows, within, samples)
    if out is not None:
        write(out, table.markdown())
    show_json(table.json()) if as_json else show(table)
    if any(row.worst > within for row in rows):
        raise typer.Exit(1)


def _compared(pin: Any, file: Path, is_floating: bool, samples: int) -> Agreement:
    if is_mjcf(file):
        return mujoco_agreement(file, samples=samples)
    return agreement(pin, file, is_floating=is_floating, samples=samples)


def is_mjcf(file: Path) -> bool:
    """Return whether a file is MJCF or a fragment of it."""
    ending = file.suffix.lower()
    return ending == ".mjcf" or (ending == ".xml" and outermost(file) in ("mujoco", "mujocoinclude"))


def robot_files(places: list[Path]) -> list[Path]:
    """Return the robot files among files and folders, each once; an .xml file counts by its root element."""
    found: dict[Path, None] = {}
    for place in places:
        if not _exists(place):
            raise InputError(f"compare: '{place}' is neither a file nor a folder; name an existing one")
        inside = _inside(place) if place.is_dir() else [place]
        if not inside:
            raise InputError(f"compare: folder '{place}' has no robot files ({', '.join(ENDINGS)})")
        found |= dict.fromkeys(inside)
    return list(found)


def _inside(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
    return [file for file in files if file.suffix.lower() != ".xml" or _is_robots(file)]


def _is_robots(file: Path) -> bool:
    """Return whether an .xml file is a robot file: other files with a <robot> element have no links."""
    root = outermost(file)
    return root in OUTERMOST and (
        root != "robot" or any(tag(element) == "link" for element in elements(file_bytes(file)))
    )


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that no file can have
        return False


def _examples() -> Path:
    folder = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    if not folder.is_dir():
        raise InputError("compare: example-robot-data is not installed; name a folder of URDF files, or pip install it")
    return folder


def tabulated(rows: list[Agreement], within: float, samples: int) -> Table:
    """Return the table of robots against their peers."""
    columns = ("robot", "peer", "base", "nq", "nv", *QUANTITIES, "largest", "verdict")
    away = sum(row.worst > within for row in rows)
    refused, fragments, unmatched = (
        sum(getattr(row, key) for row in rows) for key in ("is_refused", "is_fragment", "is_unmatched")
    )
    still = sum(not row.errors and not (row.is_refused or row.is_fragment or row.is_unmatched) for row in rows)
    agreeing = len(rows) - away - refused - fragments - unmatched - still
    notes = (
        f"{agreeing} agree within {within:g}, {away} do not, {refused} are refused, {still} have no moving joint, "
        f"{fragments} are fragments of other files, {unmatched} are not read by the peer.",
        f"Largest errors over {samples} random states, relative to the largest entry of the quantity; C v and gravity "
        "relative to the largest torque. Poses and Jacobians of all links. The residual is M·a + bias − tau with a of "
        "appell, and M and bias of the peer.",
        "Mimic joints are not coupled, and loops are open. With Pinocchio, joint friction is ignored by both; with "
        "MuJoCo, damping and rotor inertia are included, and constraints, springs and actuators are off. Values of "
        "appell are those of the recursions on arrays, not of compiled code.",
    )
    return Table("Robots against Pinocchio and MuJoCo", columns, tuple(_row(row, within) for row in rows), notes)


def _row(row: Agreement, within: float) -> tuple[Cell, ...]:
    errors: list[Cell] = [f"{row.errors[key]:.0e}" if key in row.errors else None for key in QUANTITIES]
    largest = f"{row.worst:.0e}" if row.errors else None
    word = "differs" if row.worst > within else "agrees" if row.errors else ""
    verdict = ", ".join(part for part in (word, row.note) if part)
    base = row.base or ("floating" if row.is_floating else "fixed")
    return (_name(row.path), row.peer, base, row.nq, row.nv, *errors, largest, verdict)


def _name(path: Path) -> str:
    """Return the name of a file with the folder that identifies it."""
    folder = next((part for part in reversed(path.parts[:-1]) if part not in ("urdf", "robots")), "")
    return f"{folder.removesuffix('_description')}/{path.name}"

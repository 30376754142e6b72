"""``appell compare``: every robot of a folder against Pinocchio or MuJoCo, in one table."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from appell.cli.agreement import QUANTITIES, Agreement, agreement
from appell.cli.common import AsJson, RobotOptions, argument, option, show, show_json
from appell.cli.mujoco_agreement import mujoco_agreement
from appell.cli.peers import pinocchio
from appell.errors import InputError
from appell.read.files import write
from appell.read.regular import file_bytes
from appell.read.xml import elements, outermost, tag
from appell.reports.table import Cell, Table

Places = Annotated[
    list[Path] | None,
    argument("PATH", "URDF, xacro, SDF and MJCF files, and folders of them; where none, example-robot-data."),
]
ENDINGS = (".urdf", ".xacro", ".sdf", ".xml", ".mjcf")
OUTERMOST = ("robot", "mujoco", "mujocoinclude", "sdf")
"""The outermost elements of files of robots, or of parts of them."""
Samples = Annotated[int, typer.Option("--samples", min=1, help="Random states a robot.")]
Within = Annotated[float, typer.Option("--within", help="The largest relative error that counts as agreement.")]
Out = Annotated[Path | None, option("--out -o", "FILE.md", "Write the table there, as Markdown.")]


def command(
    places: Places = None, samples: Samples = 50, within: Within = 1e-9, out: Out = None, as_json: AsJson = False
) -> None:
    """Compare the numbers of robots with Pinocchio's and MuJoCo's.

    URDF, xacro and SDF files with Pinocchio, on a fixed and on a free base; MJCF files with MuJoCo. Of each it says how
    far it is off, or why it is not compared.

    Joints that mimic others move by themselves, as in Pinocchio's default, and loops are open. Nothing is compiled: the
    recursions run on arrays of all states. Exit code 1 where a robot does not agree.

    Example: appell compare robots/ --out out/robots.md
    """
    files = robot_files(places or [_examples()])
    pin = pinocchio()
    if pin is None and not all(map(is_mjcf, files)):
        raise InputError("compare: Pinocchio is not installed; pip install pin")
    for file in (place for place in places or () if place.is_file()):
        RobotOptions(str(file)).load()  # in a folder, one robot of many may be refused; a file that is named may not
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
    """Return whether a file is MJCF, or a fragment of it."""
    ending = file.suffix.lower()
    return ending == ".mjcf" or (ending == ".xml" and outermost(file) in ("mujoco", "mujocoinclude"))


def robot_files(places: list[Path]) -> list[Path]:
    """Return the files of robots among files and in folders, without repeats; an .xml by its outermost element."""
    found: dict[Path, None] = {}
    for place in places:
        if not _exists(place):
            raise InputError(f"compare: '{place}' is neither a file nor a folder")
        inside = _inside(place) if place.is_dir() else [place]
        if not inside:
            raise InputError(f"compare: there is no file of a robot in folder '{place}' ({', '.join(ENDINGS)})")
        found |= dict.fromkeys(inside)
    return list(found)


def _inside(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
    return [file for file in files if file.suffix.lower() != ".xml" or _is_robots(file)]


def _is_robots(file: Path) -> bool:
    """Return whether an .xml file is one of a robot: others have <robot> outermost too, but no links."""
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
        f"{agreeing} agree within {within:g}, {away} do not, {refused} are refused, {still} have nothing that moves, "
        f"{fragments} are parts of other files, {unmatched} are not read by the peer.",
        f"Worst errors of {samples} random states, relative to the quantity's largest entry; C v and gravity to the "
        "largest torque. Poses and Jacobians are of all links. The residual is M·a + bias − tau with our a and the "
        "peer's M and bias.",
        "Joints that mimic others move by themselves, and loops are open. Against Pinocchio joint friction is left out "
        "on both sides; against MuJoCo damping and rotor inertia stay, and constraints, springs and servos are off. "
        "Our numbers are those of the recursions on arrays, not of compiled code.",
    )
    return Table("Robots against Pinocchio and MuJoCo", columns, tuple(_row(row, within) for row in rows), notes)


def _row(row: Agreement, within: float) -> tuple[Cell, ...]:
    errors: list[Cell] = [f"{row.errors[key]:.0e}" if key in row.errors else None for key in QUANTITIES]
    largest = f"{row.worst:.0e}" if row.errors else None
    word = "differs" if row.worst > within else "agrees" if row.errors else ""
    verdict = ", ".join(part for part in (word, row.note) if part)
    base = row.base or ("free" if row.is_floating else "fixed")
    return (_name(row.path), row.peer, base, row.nq, row.nv, *errors, largest, verdict)


def _name(path: Path) -> str:
    """Return a file's name with the folder that tells it from others of that name."""
    folder = next((part for part in reversed(path.parts[:-1]) if part not in ("urdf", "robots")), "")
    return f"{folder.removesuffix('_description')}/{path.name}"

"""``appell compare``: every robot of a folder against Pinocchio, in one table."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from appell.cli.agreement import QUANTITIES, Agreement, agreement
from appell.cli.common import AsJson, RobotOptions, argument, option, show, show_json
from appell.cli.peers import pinocchio
from appell.errors import InputError
from appell.read.files import write
from appell.reports.table import Cell, Table

Places = Annotated[
    list[Path] | None, argument("PATH", "URDF files and folders of them; where none, example-robot-data.")
]
Samples = Annotated[int, typer.Option("--samples", min=1, help="Random states a robot.")]
Within = Annotated[float, typer.Option("--within", help="The largest relative error that counts as agreement.")]
Out = Annotated[Path | None, option("--out -o", "FILE.md", "Write the table there, as Markdown.")]


def command(
    places: Places = None, samples: Samples = 50, within: Within = 1e-9, out: Out = None, as_json: AsJson = False
) -> None:
    """Compare the numbers of robots with Pinocchio's.

    On a fixed and on a free base; of each it says how far it is off, or why it is not compared.

    Joints that mimic others move by themselves, as in Pinocchio's default. Nothing is compiled: the recursions run on
    arrays of all states. Exit code 1 where a robot does not agree.

    Example: appell compare robots/ --out out/robots.md
    """
    pin = pinocchio()
    if pin is None:
        raise InputError("compare: Pinocchio is not installed; pip install pin")
    files = urdf_files(places or [_examples()])
    for file in (place for place in places or () if place.is_file()):
        RobotOptions(str(file)).load()  # in a folder, one robot of many may be refused; a file that is named may not
    jobs = [(file, is_floating) for file in files for is_floating in (False, True)]
    console = Console(stderr=True)
    bar = track(jobs, "comparing", console=console, transient=True, disable=not console.is_terminal)
    rows = [agreement(pin, file, is_floating=is_floating, samples=samples) for file, is_floating in bar]
    table = tabulated(rows, within, samples)
    if out is not None:
        write(out, table.markdown())
    show_json(table.json()) if as_json else show(table)
    if any(row.worst > within for row in rows):
        raise typer.Exit(1)


def urdf_files(places: list[Path]) -> list[Path]:
    """Return the URDF files among files and in folders, without repeats."""
    found: dict[Path, None] = {}
    for place in places:
        if not _exists(place):
            raise InputError(f"compare: '{place}' is neither a file nor a folder")
        inside = sorted(place.rglob("*.urdf")) if place.is_dir() else [place]
        if not inside:
            raise InputError(f"compare: there is no .urdf in folder '{place}'")
        found |= dict.fromkeys(inside)
    return list(found)


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
    """Return the table of robots against Pinocchio."""
    columns = ("robot", "base", "nq", "nv", *QUANTITIES, "verdict")
    away = sum(row.worst > within for row in rows)
    refused = sum(row.is_refused for row in rows)
    still = sum(not row.errors and not row.is_refused for row in rows)
    notes = (
        f"{len(rows) - away - refused - still} agree within {within:g}, {away} do not, {refused} are refused, "
        f"{still} have nothing that moves.",
        f"Worst errors of {samples} random states, relative to the quantity's largest entry; C v and gravity to the "
        "largest torque. Poses and Jacobians are of all links. The residual is M·a + bias − tau with our a and "
        "Pinocchio's M and bias.",
        "Joint friction is left out on both sides, and joints that mimic others move by themselves. Our numbers are "
        "those of the recursions on arrays, not of compiled code.",
    )
    return Table("Robots against Pinocchio", columns, tuple(_row(row, within) for row in rows), notes)


def _row(row: Agreement, within: float) -> tuple[Cell, ...]:
    errors: list[Cell] = [f"{row.errors[key]:.0e}" if key in row.errors else None for key in QUANTITIES]
    word = "differs" if row.worst > within else "agrees" if row.errors else ""
    verdict = ", ".join(part for part in (word, row.note) if part)
    return (_name(row.path), "free" if row.is_floating else "fixed", row.nq, row.nv, *errors, verdict)


def _name(path: Path) -> str:
    """Return a file's name with the folder that tells it from others of that name."""
    folder = next((part for part in reversed(path.parts[:-1]) if part not in ("urdf", "robots")), "")
    return f"{folder.removesuffix('_description')}/{path.name}"

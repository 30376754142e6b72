"""What an MJCF file asks of MuJoCo's compiler, looked at before: files that would block it, counts that take hours."""

from __future__ import annotations

import contextlib
import math
import stat
from pathlib import Path

from appell.errors import ReadError
from appell.read.regular import file_bytes, shortened
from appell.read.xml import Element, elements, line_of, tag

COPIES = 10_000
"""The most copies that <replicate> may make, those inside each other multiplied: its time grows with their square."""
ENTRIES = 10**8
"""The most numbers that an attribute may ask memory for: a texture of 10,000 × 10,000."""
ALLOCATED = {"texture": ("width", "height"), "hfield": ("nrow", "ncol"), "flexcomp": ("count",)}
"""Attributes whose product is allocated; of <size> each is, but for its text `memory`."""
FOLDERS = ("meshdir", "texturedir", "assetdir")
INCLUDING = ("include", "model")


def check_costs(data: bytes, source: str, folder: Path, seen: frozenset[Path] = frozenset()) -> None:
    """Refuse an MJCF text, or one that it includes, that would keep MuJoCo's compiler from ending.

    Raises
    ------
    ReadError
        When a file that it names is a pipe or a device, or a count is beyond what a robot needs; faults of any other
        kind are the compiler's to name.
    """
    every = list(elements(data))
    folders = [folder, *(folder / x for element in every for key in FOLDERS if (x := element.get(key)))]
    for element in every:
        _check_counts(element, source)
        for place in (_joined(root, element.get("file", "")) for root in folders):
            if place is None or place in seen:
                continue
            if not stat.S_ISREG(place.stat().st_mode) and not place.is_dir():
                raise ReadError(
                    f"<{tag(element)}> names the pipe or device '{shortened(place)}'; expected a regular file",
                    source,
                    line_of(element),
                )
            if tag(element) in INCLUDING and place.is_file():
                check_costs(file_bytes(place), shortened(place), folder, seen | {place})


def _joined(folder: Path, name: str) -> Path | None:
    """Return the place of a file that exists."""
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        return folder / name if name and (folder / name).exists() else None
    return None


def _check_counts(element: Element, source: str) -> None:
    copies = math.prod(
        _count(outer, "count") for outer in (element, *element.iterancestors()) if tag(outer) == "replicate"
    )
    if copies > COPIES:
        raise ReadError(f"<replicate> makes {copies:g} copies, more than {COPIES}", source, line_of(element))
    names = [key for key in element.keys() if key != "memory"] if tag(element) == "size" else []  # noqa: SIM118
    products = [(key,) for key in names] or [ALLOCATED.get(tag(element), ())]
    for keys in products:
        entries = math.prod(_count(element, key) for key in keys)
        if entries > ENTRIES:
            raise ReadError(
                f"<{tag(element)} {' '.join(keys)}> asks for {entries:g} numbers, more than {ENTRIES:g}",
                source,
                line_of(element),
            )


def _count(element: Element, name: str) -> float:
    """Return the product of an attribute's numbers, 1 where they are none; negative ones are the compiler's to name."""
    product = 1.0
    for token in (element.get(name) or "").split():
        with contextlib.suppress(ValueError):
            product *= max(float(token), 1.0)
    return product

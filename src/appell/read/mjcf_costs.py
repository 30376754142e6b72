"""Limits on MJCF files, checked before MuJoCo compiles them: no pipes or devices, no excessive counts."""

from __future__ import annotations

import contextlib
import math
import stat
from pathlib import Path

from appell.errors import ReadError
from appell.files import file_bytes, shortened
from appell.read.xml import Element, elements, line_of, tag

COPIES = 10_000
"""The largest number of copies by <replicate>, nested ones multiplied: its time grows with their square."""
ENTRIES = 10**8
"""The largest number of entries that attributes may allocate: a texture of 10,000 × 10,000."""
ALLOCATED = {"texture": ("width", "height"), "hfield": ("nrow", "ncol"), "flexcomp": ("count",)}
"""Attributes whose product is allocated; for <size> each one is, except the text `memory`."""
FOLDERS = ("meshdir", "texturedir", "assetdir")
INCLUDING = ("include", "model")


def check_costs(data: bytes, source: str, folder: Path, seen: frozenset[Path] = frozenset()) -> None:
    """Reject an MJCF text that would block MuJoCo's compiler, itself or by a file that it includes.

    Raises
    ------
    ReadError
        When it names a pipe or a device, or a count exceeds its limit; other faults are left to the compiler.
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
    with contextlib.suppress(OSError, ValueError):  # an invalid file name
        return folder / name if name and (folder / name).exists() else None
    return None


def _check_counts(element: Element, source: str) -> None:
    copies = math.prod(
        _count(outer, "count") for outer in (element, *element.iterancestors()) if tag(outer) == "replicate"
    )
    if copies > COPIES:
        raise ReadError(f"<replicate> makes {copies:g} copies, more than {COPIES}", source, line_of(element))
    names = [key for key in element.keys() if key != "memory"] if tag(element) == "size" else []  # noqa: SIM118
    products: list[tuple[str, ...]] = [(key,) for key in names] or [ALLOCATED.get(tag(element), ())]
    for keys in products:
        entries = math.prod(_count(element, key) for key in keys)
        if entries > ENTRIES:
            raise ReadError(
                f"<{tag(element)} {' '.join(keys)}> allocates {entries:g} numbers, more than {ENTRIES:g}",
                source,
                line_of(element),
            )


def _count(element: Element, name: str) -> float:
    """Return the product of an attribute's numbers, 1 for invalid ones; the compiler reports negative ones."""
    product = 1.0
    for token in (element.get(name) or "").split():
        with contextlib.suppress(ValueError):
            product *= max(float(token), 1.0)
    return product

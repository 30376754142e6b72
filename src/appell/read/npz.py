"""Arrays from .npz files: headers are checked before memory is allocated, and nothing is unpickled."""

from __future__ import annotations

import math
import re
import struct
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from appell.errors import ReadError
from appell.files import check_expansion, opened, shortened
from appell.messages import shown
from appell.spatial.scalar import Array

SUFFIX = ".npy"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods of numpy's savez and savez_compressed; both declare the size."""
LENGTHS = {(1, 0): struct.Struct("<H"), (2, 0): struct.Struct("<I")}
"""The length of an array's header, by version of the format."""
LONGEST = 10_000
"""Bytes of the longest header that is read, as in NumPy."""
HEADER = re.compile(
    r"\{'descr': '([^'\\]+)', 'fortran_order': (True|False), 'shape': \(((?:-?\d+L?, ?)*(?:-?\d+L?)?)\),? ?\}\s*"
)
"""The header of an array of numbers or text. NumPy's own reader evaluates it as Python, which warns of damaged ones."""
REMEDY = "save it by numpy.savez, which does not compress, or in parts"


def read_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of an .npz file by name, only of numbers and text.

    Raises
    ------
    ReadError
        When the file is missing or is not a complete archive of arrays, an array contains Python objects or has another
        size than its header declares, or the arrays expand to more than :func:`appell.files.check_expansion`
        allows; the message names the file and the array.
    """
    source, part = shortened(path), ""
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            packed = path.stat().st_size
            check_expansion(sum(entry.file_size for entry in entries), packed, source, REMEDY)
            arrays: dict[str, Array] = {}
            for entry in entries:
                part = entry.filename.removesuffix(SUFFIX)
                if part in arrays:
                    raise ReadError(f"part '{part}' is defined twice", source)
                with archive.open(entry) if entry.compress_type in METHODS else _refused(entry) as member:
                    arrays[part] = _array(member, entry.file_size)
            return arrays
    except ReadError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise errors of many types on damaged files
        where = f"part '{part}': " if part else "incomplete or damaged .npz file: "
        raise ReadError(f"{where}{_described(error)}", source) from None


def _refused(entry: zipfile.ZipInfo) -> IO[bytes]:
    raise ValueError(f"compressed by method {entry.compress_type}, expected 0 (stored) or 8 (deflated)")


def _described(error: Exception) -> str:
    """Return the first line of an error, cut where it is long, or its type where it has no text."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:200] + "…"


def _array(member: IO[bytes], size: int) -> Array:
    """Return the array of an entry of so many bytes, header included."""
    version = np.lib.format.read_magic(member)
    if version not in LENGTHS:
        raise ValueError(f"array format version {version} is not supported; known: {', '.join(map(str, LENGTHS))}")
    (length,) = LENGTHS[version].unpack(member.read(LENGTHS[version].size))
    text = member.read(min(length, LONGEST)).decode("latin-1")
    if (found := HEADER.fullmatch(text)) is None:
        objects = "contains Python objects or records" if "'descr': [" in text else "has a damaged array header"
        raise ValueError(f"{objects}: {shown(text)}; save arrays of numbers")
    dtype, is_fortran = np.dtype(found[1]), found[2] == "True"
    shape = tuple(int(n) for n in found[3].replace("L", "").split(",") if n.strip())
    if dtype.itemsize == 0:
        raise ValueError(f"has entries of zero size ({dtype})")
    if dtype.hasobject:
        raise ValueError("contains Python objects, which are not loaded; save numbers")
    if any(n < 0 for n in shape):
        raise ValueError(f"has shape {shape}")
    declared, stored = math.prod(shape) * dtype.itemsize, size - member.tell()
    if declared != stored:
        raise ValueError(f"shape {shape} of {dtype} takes {declared} bytes, but the file has {stored}")
    return np.ndarray(shape, dtype, bytearray(member.read()), order="F" if is_fortran else "C")

"""Compiled code on disk, so that a robot is compiled once per machine and not once per process.

An entry is one file named by a digest of everything that determines the code. It holds a checksum before the code:
a file that is cut off, mixed up or of another time is taken for absent. Files are written beside their place and moved
there in one step, so that two processes writing at once leave one whole file. A folder that cannot be written to costs
only time. ``APPELL_CACHE`` names another folder; ``APPELL_CACHE=off`` does without.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import llvmlite

MAGIC = b"appell\n"
DIGEST = hashlib.sha256().digest_size
SUFFIX = ".appell"
PACKAGE = Path(__file__).resolve().parents[2]
"""The folder of appell itself."""


def folder() -> Path | None:
    """Return where compiled code is kept, or None when the cache is off."""
    chosen = os.environ.get("APPELL_CACHE")
    if chosen is not None:
        return None if chosen.strip().lower() in ("", "off", "0", "none") else Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "appell" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "appell"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "appell"


@functools.cache
def versions(package: Path = PACKAGE) -> str:
    """Return what stands for the compiler: the text of every module of appell, and the version of llvmlite.

    Any module may trace a program or take part in one, so none is left out and no list has to follow the code. That
    costs about 7 ms, once per process; and a new version of appell compiles anew, whatever changed in it.
    """
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return f"{digest.hexdigest()} llvmlite {llvmlite.__version__}"


def digest(*parts: str) -> str:
    """Return the name of an entry determined by some texts and by the compiler's version."""
    return hashlib.sha256("\0".join((versions(), *parts)).encode()).hexdigest()


def load(name: str) -> bytes | None:
    """Return the code kept under a name, or None when there is none that is whole."""
    base = folder()
    if base is None:
        return None
    try:
        content = (base / (name + SUFFIX)).read_bytes()
    except OSError:
        return None
    checksum, code = content[len(MAGIC) : len(MAGIC) + DIGEST], content[len(MAGIC) + DIGEST :]
    whole = content.startswith(MAGIC) and hashlib.sha256(code).digest() == checksum
    return code if whole else None


def save(name: str, code: bytes) -> None:
    """Keep code under a name, in one step."""
    base = folder()
    if base is None:
        return
    with contextlib.suppress(OSError):
        base.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=base, suffix=".draft")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(code).digest() + code)
            Path(draft).replace(base / (name + SUFFIX))
        except OSError:
            with contextlib.suppress(OSError):
                Path(draft).unlink()
            raise


def clear() -> tuple[int, int]:
    """Remove every entry; return how many there were and their size in bytes."""
    base = folder()
    count = size = 0
    if base is not None and base.is_dir():
        for file in [*base.glob(f"*{SUFFIX}"), *base.glob("*.draft")]:
            with contextlib.suppress(OSError):
                size += file.stat().st_size
                file.unlink()
                count += 1
    return count, size

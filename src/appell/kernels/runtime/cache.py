"""Compiled code on disk, so that a robot is compiled once per machine and not once per process.

An entry is one file named by a digest of everything that determines the code. It holds a checksum of its name and code
before the code: a file that is cut off, changed or copied from another entry is taken for absent. Files are written in
one step, so that two processes writing at once leave one whole file. A folder that cannot be written to costs only
time. Since entries are executed, a folder that others can write to is not used; ours is made with mode 0700.
``APPELL_CACHE`` names another folder; ``APPELL_CACHE=off`` disables the cache.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
from pathlib import Path

import llvmlite

from appell.errors import InputError, warn
from appell.files import DRAFT, write

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
    """Return what stands for the compiler: every module and LLVM text of appell, and the version of llvmlite.

    Any module may trace a program or take part in one, so none is left out and no list has to follow the code. That
    costs about 7 ms, once per process; and a new version of appell compiles anew, whatever changed in it.
    """
    digest = hashlib.sha256()
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.ll")]):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return f"{digest.hexdigest()} llvmlite {llvmlite.__version__}"


def digest(*parts: str) -> str:
    """Return the name of an entry determined by some texts and by the compiler's version."""
    return hashlib.sha256("\0".join((versions(), *parts)).encode()).hexdigest()


def load(name: str) -> bytes | None:
    """Return the code kept under a name, or None when there is none that is whole."""
    base = folder()
    if base is None or not _is_private(base):
        return None
    try:
        content = (base / (name + SUFFIX)).read_bytes()
    except OSError:
        return None
    checksum, code = content[len(MAGIC) : len(MAGIC) + DIGEST], content[len(MAGIC) + DIGEST :]
    whole = content.startswith(MAGIC) and _checksum(name, code) == checksum
    return code if whole else None


def save(name: str, code: bytes) -> None:
    """Keep code under a name, in one step."""
    base = folder()
    if base is None:
        return
    with contextlib.suppress(OSError, InputError):
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_private(base):
            write(base / (name + SUFFIX), MAGIC + _checksum(name, code) + code)


def _checksum(name: str, code: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(code)
    return digest.digest()


def _is_private(base: Path) -> bool:
    """Return whether nobody but this user can write to a folder; where others can, warn once."""
    if sys.platform == "win32":  # where the folder of a user is private by its access list
        return True
    try:
        found = base.stat()
    except OSError:
        return True  # there is none yet
    reason = ""
    if found.st_uid != os.geteuid():
        reason = f"belongs to user {found.st_uid}, not to {os.geteuid()}; name another folder by APPELL_CACHE"
    elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = f"can be written by other users; chmod go-w '{base}', or name another folder by APPELL_CACHE"
    if reason:
        _warn(f"the cache of compiled code is not used: {base} {reason}")
    return not reason


@functools.cache
def _warn(message: str) -> None:
    warn(message)


def clear() -> tuple[int, int]:
    """Remove every entry; return how many there were and their size in bytes."""
    base = folder()
    count = size = 0
    if base is not None and base.is_dir():
        for file in [*base.glob(f"*{SUFFIX}"), *base.glob(f"*{DRAFT}")]:
            with contextlib.suppress(OSError):
                size += file.stat().st_size
                file.unlink()
                count += 1
    return count, size

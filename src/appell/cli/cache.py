"""``appell cache``: where compiled code is kept."""

from __future__ import annotations

from typing import Annotated

import typer

from appell.cli.common import AsJson, show, show_json
from appell.kernels.runtime import cache

Clear = Annotated[bool, typer.Option("--clear", help="Remove every entry; robots are compiled anew when next used.")]


def command(clear: Clear = False, as_json: AsJson = False) -> None:
    """Show the folder of compiled code and its size, or clear it.

    The folder is set by APPELL_CACHE; APPELL_CACHE=off does without.

    Example: appell cache --clear
    """
    folder = cache.folder()
    removed, freed = cache.clear() if clear else (0, 0)
    entries = sorted(folder.glob(f"*{cache.SUFFIX}")) if folder is not None and folder.is_dir() else []
    size = sum(entry.stat().st_size for entry in entries)
    if as_json:
        place = None if folder is None else str(folder)
        show_json({"folder": place, "entries": len(entries), "bytes": size, "removed": removed, "freed": freed})
    elif folder is None:
        show("the cache is off (APPELL_CACHE)")
    else:
        show(f"folder   {folder}", f"entries  {len(entries)}", f"size     {size / 2**20:.1f} MiB")
        if clear:
            show(f"removed  {removed} entries, {freed / 2**20:.1f} MiB")

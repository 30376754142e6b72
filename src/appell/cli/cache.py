"""``appell cache``: the cache of compiled code."""

from __future__ import annotations

from appell.cli.common import AsJson, option, show, show_json
from appell.kernels.runtime import cache


def command(
    clear: bool = option("--clear", "Remove all entries; robots are compiled again at their next use.", default=False),
    as_json: AsJson = False,
) -> None:
    """Show the folder and size of the cache of compiled code, or clear it.

    APPELL_CACHE sets the folder; APPELL_CACHE=off disables the cache.

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

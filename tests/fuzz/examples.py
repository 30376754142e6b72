"""Valid files that mutators start from (``valid/``): small, and between them with every element that a reader knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from appell.logs import table

_FILES = {path.name: path.read_bytes() for path in sorted((Path(__file__).parent / "valid").iterdir())}


def valid(ending: str) -> dict[str, bytes]:
    """Return the files of an ending by their names."""
    return {name.removesuffix(ending): data for name, data in _FILES.items() if name.endswith(ending)}


def text_logs(columns: dict[str, Any]) -> list[bytes]:
    """Return logs as text: with a header and without, with commas, semicolons, tabs and decimal commas."""
    written = table.csv_text(columns, {})
    header = (written if isinstance(written, str) else written.decode()).encode()
    rows = np.column_stack([columns["t"], *(columns[name] for name in ("q", "v", "tau"))])
    plain = "\n".join(" ".join(f"{x:.6f}" for x in row) for row in rows).encode()
    semicolons = "\n".join(";".join(f"{x:.6f}" for x in row) for row in rows).replace(".", ",").encode()
    return [header, plain, semicolons, header.replace(b",", b"\t"), b"# a remark\n" + header]

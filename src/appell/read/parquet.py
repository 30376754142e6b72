"""Tables from .parquet files: sizes are checked before memory is allocated, and the content before it is used."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from appell.errors import ReadError
from appell.extras import extra
from appell.files import NUMBER, check_expansion, opened, shortened


def read_table(path: Path, what: str, remedy: str = "", too_large: str = "") -> Any:
    """Return a .parquet file as a table of pyarrow.

    `what` needs pyarrow; `remedy` is the advice for an invalid file, `too_large` for one that expands to too much,
    without which there is no limit.

    Raises
    ------
    ReadError
        When the file is missing, incomplete or invalid, or expands to more than
        :func:`appell.files.check_expansion` allows.
    """
    arrow, parquet = packages(what)
    source = shortened(path)
    with opened(path) as file:
        try:
            reader = parquet.ParquetFile(file, page_checksum_verification=True)
            about = reader.metadata
            stated = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
            if too_large:  # a column of one repeated number takes a few bytes at any length
                most = max(NUMBER * about.num_rows * about.num_columns, stated)
                check_expansion(most, path.stat().st_size, source, too_large)
            content = reader.read()
            content.validate(full=True)
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            advice = f"; {remedy}" if remedy else ""
            raise ReadError(f"is an incomplete or invalid .parquet file: {reason}{advice}", source) from None
    return content


def packages(what: str) -> tuple[ModuleType, ModuleType]:
    """Return pyarrow and pyarrow.parquet, which `what` needs."""
    return extra("pyarrow", what), extra("pyarrow.parquet", what)

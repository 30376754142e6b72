"""What a page is opened with."""

from __future__ import annotations

from typing import NamedTuple

from appell.spatial.scalar import Array
from appell.viewer.sliders import Reference


class PageOptions(NamedTuple):
    """The options of a page that :func:`appell.view` has checked: all of them may be absent."""

    q: Array | None = None
    reference: Reference | None = None
    traces: tuple[str, ...] = ()
    drag: str | None = None

"""A run as the text of one HTML file: its numbers compressed, its scripts and styles inside."""

from __future__ import annotations

import base64
import gzip
import os
from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.results.animation import robot_of
from appell.results.player.content import content
from appell.shapes.drawable import drawable
from appell.spatial.scalar import Array
from appell.syntax import html_data, html_text

if TYPE_CHECKING:
    from appell.results.run import Run

SCRIPTS = ("scene.js", "curves.js", "player.js")
ALIGNED = 8
"""Arrays begin at multiples of so many bytes, which typed arrays of JavaScript ask for."""


def page(
    run: Run,
    *,
    source: str | os.PathLike[str] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
    fps: float = 60.0,
    speed: float | None = None,
    plane: str = "auto",
    autoplay: bool = False,
) -> str:
    """Return a page that plays a run; see :meth:`appell.Run.to_html`."""
    drawn = drawable(robot_of(run, "run.to_html"), source, packages)
    about = {**content(run, drawn, fps, speed, plane), "autoplay": autoplay}
    description, data = packed(about)
    return _part("player.html").format(
        title=html_text(run.robot_name or "run"),
        style=_part("player.css"),
        about=html_data(description),
        data=base64.b64encode(gzip.compress(data, 9, mtime=0)).decode(),
        script="\n".join(map(_part, SCRIPTS)),
    )


def packed(about: Any) -> tuple[Any, bytes]:
    r"""Return a description whose arrays are places in a buffer, and that buffer.

    >>> packed({"x": np.array([1.0], dtype=np.float32)})
    ({'x': {'array': {'type': 'float32', 'at': 0, 'count': 1}}}, b'\x00\x00\x80?\x00\x00\x00\x00')
    """
    buffer = bytearray()

    def plain(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return {"array": _appended(buffer, x)}
        if isinstance(x, dict):
            return {key: plain(value) for key, value in x.items()}
        return [plain(value) for value in x] if isinstance(x, list | tuple) else x

    description = plain(about)
    return description, bytes(buffer)


def _appended(buffer: bytearray, array: Array) -> dict[str, Any]:
    start = len(buffer)
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    buffer.extend(little.tobytes())
    buffer.extend(bytes(-len(buffer) % ALIGNED))
    return {"type": array.dtype.name, "at": start, "count": int(array.size)}


def _part(name: str) -> str:
    return (files("appell.results.player") / name).read_text(encoding="utf-8")

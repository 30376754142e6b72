"""The style of figures: readable in print, and with colour blindness."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appell.extras import extra
from appell.files import extension, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".pdf", ".svg")
"""The extensions of figures."""
# Okabe and Ito's colours, which differ in lightness too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def figure(width: float = 7.0, height: float = 4.5) -> Figure:
    """Return an empty figure of a size in inches; draw on it inside :func:`png`, which applies the style.

    >>> axes = figure().subplots()
    >>> _ = axes.set_xlabel("t [s]")
    """
    matplotlib()
    from appell.results.figure import Figure as Drawn  # noqa: PLC0415  # it needs Matplotlib

    return Drawn(figsize=(width, height))


def png(draw: Callable[[], Figure]) -> bytes:
    r"""Return a drawing as a PNG file in appell's style.

    >>> def draw():
    ...     drawn = figure()
    ...     drawn.subplots().plot([0, 1], [0, 1])
    ...     return drawn
    >>> png(draw)[:4]
    b'\x89PNG'
    """
    return image(draw, "png")


def image(draw: Callable[[], Figure], form: str) -> bytes:
    """Return a figure as the content of a png, pdf or svg file.

    >>> image(figure, "svg")[:5]
    b'<?xml'
    """
    stream = BytesIO()
    with styled():
        draw().savefig(stream, format=form, metadata={"Software": "appell"} if form == "png" else None)
    return stream.getvalue()


def written(what: str, path: str | os.PathLike[str] | None, draw: Callable[[], Figure]) -> Figure:
    """Return a figure in appell's style, and write it to `path` if given; `what` names the caller in errors.

    Raises
    ------
    InputError
        When the extension is not .png, .pdf or .svg.

    >>> len(written("figure", None, figure).axes)
    0
    """
    with styled():
        drawn = draw()
    if path is not None:
        write(path, image(lambda: drawn, extension(what, path, PICTURES).removeprefix(".")))
    return drawn


def styled() -> AbstractContextManager[None]:
    """Return the context that applies appell's style to figures.

    >>> with styled():
    ...     drawn = figure()
    """
    cycle = {"axes.prop_cycle": matplotlib(".rcsetup").cycler(color=COLOURS)}
    return matplotlib(".style").context([str(Path(__file__).with_name("style.mplstyle")), cycle])


def matplotlib(part: str = "") -> Any:
    """Return the optional package Matplotlib, or one of its modules, such as ".lines".

    >>> matplotlib(".lines").__name__
    'matplotlib.lines'
    """
    return extra("matplotlib" + part, "figures need")

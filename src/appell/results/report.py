"""A report: the tables and figures of one paper or one study, saved as a page that stands alone."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appell.read.files import write
from appell.results.style import png
from appell.results.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


@dataclass(frozen=True)
class Figure:
    """A figure to be: its name (of the file), its caption, and what draws it when it is wanted."""

    name: str
    caption: str
    draw: Callable[[], Drawn]

    def png(self) -> bytes:
        """Return the figure as a PNG file."""
        return png(self.draw)


@dataclass(frozen=True)
class Film:
    """An animation to be: its name (of the file), its caption, and what makes the GIF file when it is wanted."""

    name: str
    caption: str
    make: Callable[[], bytes]

    def gif(self) -> bytes:
        """Return the animation as a GIF file."""
        return self.make()


@dataclass(frozen=True)
class Report:
    """What reproducing a paper gave.

    `name` is the paper's short name, `corrections` are errors found in the paper and put right on the way, `seconds` is
    how long it took, `run` is the motion or fit behind the tables, where there is one. Figures are drawn and films made
    when they are saved, not before.

    >>> report = Report("demo", "A demonstration", (Table("One", ("n",), ((1,),)),))
    >>> report.json()["tables"][0]["rows"]
    [{'n': 1}]
    """

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure | Film, ...] = ()
    corrections: tuple[str, ...] = ()
    seconds: float = 0.0
    run: Any = field(default=None, repr=False)

    def json(self) -> dict[str, Any]:
        """Return the report without its figures as a dictionary of plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "tables": [table.json() for table in self.tables],
            "figures": [{"name": figure.name, "caption": figure.caption} for figure in self.figures],
            "corrections": list(self.corrections),
            "seconds": self.seconds,
        }

    def html(self) -> str:
        """Return the report as one page that needs no other file."""
        return self._page({figure.name: _file(figure) for figure in self.figures})

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the page, one PNG a figure and one GIF a film into a folder; return the place of the page.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Report("demo", "A demonstration").save(folder).name
        'demo.html'
        """
        drawn = {figure.name: _file(figure) for figure in self.figures}
        for figure in self.figures:
            write(Path(folder, f"{self.name}-{figure.name}.{_kind(figure)}"), drawn[figure.name])
        return write(Path(folder, f"{self.name}.html"), self._page(drawn))

    def _page(self, drawn: dict[str, bytes]) -> str:
        tables = "\n".join(table.html() for table in self.tables)
        figures = "\n".join(_figure(figure, drawn[figure.name]) for figure in self.figures)
        found = "".join(f"<li>{html.escape(line)}</li>\n" for line in self.corrections)
        corrections = f"<section><h2>Corrected on the way</h2>\n<ul>\n{found}</ul></section>" if found else ""
        title = html.escape(f"{self.name}: {self.title}")
        return _PAGE.format(title=title, body=f"{tables}\n{figures}\n{corrections}", seconds=self.seconds)


def _kind(figure: Figure | Film) -> str:
    return "png" if isinstance(figure, Figure) else "gif"


def _file(figure: Figure | Film) -> bytes:
    return figure.png() if isinstance(figure, Figure) else figure.gif()


def _figure(figure: Figure | Film, image: bytes) -> str:
    caption = html.escape(figure.caption)
    data = base64.b64encode(image).decode()
    return (
        f'<figure><img alt="{caption}" src="data:image/{_kind(figure)};base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.1rem; margin-top: 2.2rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: left; padding: 0.25rem 1.1rem 0.25rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }}
th {{ border-bottom: 2px solid #888; }}
.note, figcaption, footer {{ color: #555; font-size: 0.9rem; margin: 0.4rem 0; }}
figure {{ margin: 2rem 0; }} img {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
<footer>Made by appell in {seconds:.1f} s.</footer>
</body>
</html>
"""

"""Figures that display themselves in notebooks and describe themselves on a terminal; loaded when one is drawn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from appell.display import is_notebook
from appell.errors import InputError
from appell.extras import extra
from appell.results.style import png

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Base
else:
    Base = extra("matplotlib.figure", "figures need").Figure


class Figure(Base):
    r"""A Matplotlib figure outside pyplot.

    >>> from appell.results.style import figure
    >>> drawn = figure(4.0, 3.0)
    >>> drawn
    <Figure of 4 × 3 inches, 0 panels: displays itself in a notebook; .savefig(path) writes it to a file>
    >>> drawn._repr_png_()[:4]
    b'\x89PNG'
    """

    def __repr__(self) -> str:
        wide, high = self.get_size_inches()
        title = f" '{'; '.join(self.get_suptitle().splitlines())}'" if self.get_suptitle() else ""
        hint = "displays itself in a notebook; .savefig(path) writes it to a file"
        return f"<Figure{title} of {wide:g} × {high:g} inches, {len(self.axes)} panels: {hint}>"

    def _repr_png_(self) -> bytes:
        return png(lambda: self)

    def show(self, *_: Any, **__: Any) -> None:
        """Display the figure in a notebook; elsewhere it has no window.

        Raises
        ------
        InputError
            Outside notebooks.
        """
        if not is_notebook():
            raise InputError("figure.show: appell's figures have no window; .savefig(path) writes them to a file")
        sys.modules["IPython"].display.display(self)

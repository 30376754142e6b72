"""Arrows of forces and impulses, all of one kind to one scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from appell.shapes.palette import linear
from appell.spatial.scalar import Array
from appell.viewer.html import small

LONGEST = 0.3
"""The arrow of the greatest vector while the scale is 1, in sizes of the picture."""
SHORTEST = 0.004
"""Arrows shorter than this are not drawn, in sizes of the picture."""


class Arrows:
    """Arrows under one name of the scene; `greatest` [N or N·s] is drawn LONGEST sizes long at scale 1."""

    def __init__(self, server: Any, name: str, colour: tuple[int, int, int], size: float, greatest: float) -> None:
        self._server, self._name, self._size = server, name, size
        red, green, blue = (x / 255.0 for x in colour)
        self._colour = linear((red, green, blue, 1.0))
        self._handle: Any = None
        self.greatest = greatest
        self.scale = 1.0

    @property
    def length(self) -> float:
        """Return the length [m] of the arrow of a unit vector."""
        return self.scale * LONGEST * self._size / self.greatest if self.greatest > 0.0 else 0.0

    def legend(self, unit: str) -> str:
        """Return the scale in words: a round value, and the length of its arrow."""
        if not self.greatest:
            return ""
        power = 10.0 ** np.floor(np.log10(self.greatest))
        value = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= self.greatest * (1.0 + 1e-12))
        return f"{value:g} {unit} ≙ {1000.0 * value * self.length:.3g} mm"

    def draw(self, places: Sequence[Array], vectors: Sequence[Array]) -> None:
        """Draw vectors at places, in place of those before."""
        ends = [(p, p + self.length * f) for p, f in zip(places, vectors, strict=True)]
        seen = [end for end in ends if float(np.linalg.norm(end[1] - end[0])) > SHORTEST * self._size]
        if self._handle is not None and len(self._handle.points) == len(seen):
            self._handle.points = np.array(seen, dtype=np.float32)
            return
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        if seen:
            self._handle = self._server.scene.add_arrows(
                self._name,
                np.array(seen, dtype=np.float32),
                self._colour,
                shaft_radius=0.006 * self._size,
                head_radius=0.016 * self._size,
                head_length=0.04 * self._size,
            )


class ArrowScale:
    """The slider of the arrows' lengths, and the legend below it."""

    def __init__(self, server: Any, kinds: list[tuple[str, Arrows, str]], wake: Callable[[], None]) -> None:
        self._kinds = [kind for kind in kinds if kind[1].greatest > 0.0]
        gui = server.gui
        with gui.add_folder("Arrows", visible=bool(self._kinds)):
            self.slider = gui.add_slider("Scale", 0.1, 5.0, 0.1, 1.0, hint="length of the arrows")
            self._text = gui.add_html("")
        self.slider.on_update(lambda _: wake())
        self.update()

    def update(self) -> None:
        """Set the arrows' scales to the slider's value."""
        for _, arrows, _ in self._kinds:
            arrows.scale = self.slider.value
        legend = small("; ".join(f"{name}: {arrows.legend(unit)}" for name, arrows, unit in self._kinds))
        if self._text.content != legend:
            self._text.content = legend

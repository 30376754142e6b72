"""Arrows of forces and impulses, all of one kind to one scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from appell.shapes.palette import linear
from appell.spatial.scalar import Array
from appell.viewer.html import small

LENGTH = 0.2
"""The arrow of a typical vector while the scale is 1, in sizes of the picture."""
SHORTEST = 0.004
"""Arrows shorter than this are not drawn, in sizes of the picture."""


def typical_norm(vectors: Sequence[Array]) -> float:
    """Return the geometric mean of the median and the greatest norm of vectors, those of norm zero left out.

    By the greatest alone, a single hard impact would hide all others; by the median alone, it would leave the picture.

    >>> typical_norm([np.array([1.0, 0.0]), np.array([0.0, 4.0]), np.array([0.0, 1.0]), np.zeros(2)])
    2.0
    """
    norms = [float(np.linalg.norm(vector)) for vector in vectors]
    moved = [norm for norm in norms if norm > 0.0]
    return float(np.sqrt(np.median(moved) * max(moved))) if moved else 0.0


class Arrows:
    """Arrows under one name of the scene; a vector of norm `typical` [N or N·s] is drawn LENGTH sizes long."""

    def __init__(self, server: Any, name: str, colour: tuple[int, int, int], size: float, typical: float) -> None:
        self._server, self._name, self._size = server, name, size
        red, green, blue = (x / 255.0 for x in colour)
        self._colour = linear((red, green, blue, 1.0))
        self._handle: Any = None
        self.typical = typical
        self.scale = 1.0

    @property
    def length(self) -> float:
        """Return the length [m] of the arrow of a unit vector."""
        return self.scale * LENGTH * self._size / self.typical if self.typical > 0.0 else 0.0

    def legend(self, unit: str) -> str:
        """Return the scale in words: a round value, and the length of its arrow."""
        if not self.typical:
            return ""
        power = 10.0 ** np.floor(np.log10(self.typical))
        value = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= self.typical * (1.0 + 1e-12))
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
        self._kinds = [kind for kind in kinds if kind[1].typical > 0.0]
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

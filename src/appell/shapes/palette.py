"""The colours of the page, and which way is up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.model.shapes import Colour

RODS: Colour = (0.20, 0.53, 0.76, 1.0)
JOINTS: Colour = (0.30, 0.32, 0.36, 1.0)
GROUND: Colour = (0.60, 0.62, 0.65, 1.0)
TOOL: Colour = (0.90, 0.56, 0.13, 1.0)
WALL = (110, 116, 128)
HIT = (213, 94, 0)
REST = (0, 158, 115)
BRAND = (0, 114, 178)


def linear(colour: Colour) -> tuple[int, int, int]:
    """Return a colour in bytes for things drawn in batches, which the page takes as amounts of light.

    >>> linear((1.0, 0.5, 0.0, 1.0))
    (255, 55, 0)
    """
    red, green, blue = (round(255.0 * x**2.2) for x in colour[:3])
    return (red, green, blue)


def upward(gravity: Iterable[Any]) -> NDArray[Any]:
    """Return the way against gravity; z where there is none.

    >>> upward((0.0, -9.81, 0.0))
    array([-0.,  1., -0.])
    """
    down = np.array([float(x) for x in gravity])
    size = float(np.linalg.norm(down))
    return -down / size if size > 0.0 else np.array([0.0, 0.0, 1.0])

"""Axes and names of frames on the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.model.model import Model
from appell.shapes.drawable import Drawable
from appell.shapes.geometry import matrix, quaternions
from appell.spatial.scalar import Array
from appell.viewer.figure import Figure

NONE, BODIES, ALL = "none", "bodies", "all"
CHOICES = (NONE, BODIES, ALL)
NAMES = 3
"""Names of frames with one origin that are written out; the label counts the others."""


class Axes(NamedTuple):
    """A frame to be drawn: its name, the body it is fixed to, and its pose in it (4, 4)."""

    name: str
    body: int
    pose: Array


def chosen_axes(model: Model, bodies: Iterable[str], which: str, words: str) -> list[Axes]:
    """Return the frames of bodies, or all, whose names contain one of the words; any name for no words.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> [one.name for one in chosen_axes(robot.model, robot.link_names, "bodies", "")]
    ['link1', 'link2']
    >>> [one.name for one in chosen_axes(robot.model, robot.link_names, "all", "ink2 nothing")]
    ['link2']
    """
    if which == BODIES:
        found = [Axes(name, body, np.eye(4)) for body, name in enumerate(bodies)]
    else:
        found = [Axes(frame.name, frame.body, matrix(*frame.placement)) for frame in model.frames if which == ALL]
    wanted = words.lower().replace(",", " ").split()
    return [one for one in found if not wanted or any(word in one.name.lower() for word in wanted)]


def labels(axes: Sequence[Axes], poses: Sequence[Array]) -> dict[int, str]:
    """Return the labels, by the first of the frames they belong to: frames with one origin share a label.

    Origins count as one where they coincide for each of some poses (n + 1, 4, 4) of the bodies.
    """
    together: dict[tuple[float, ...], list[int]] = {}
    for k, one in enumerate(axes):
        places = [(found[one.body] @ one.pose)[:3, 3] for found in poses]
        together.setdefault(tuple(np.round(np.concatenate(places), 6).tolist()), []).append(k)
    return {where[0]: _joined([axes[k].name for k in where]) for where in together.values()}


def _joined(names: list[str]) -> str:
    """Return some names in one line.

    >>> _joined(["a", "b", "c", "d", "e"])
    'a, b, c (+2)'
    """
    more = len(names) - NAMES
    return ", ".join(names[:NAMES]) + (f" (+{more})" if more > 0 else "")


class FrameAxes:
    """Axes on the bodies of a figure; as children of the bodies' nodes they move with them."""

    def __init__(self, server: Any, drawable: Drawable, figure: Figure, size: float) -> None:
        self._server, self._drawable, self._figure, self._size = server, drawable, figure, size
        self._handles: list[Any] = []
        self._shown: tuple[str, bool, str] = (NONE, False, "")

    def show(self, which: str, is_named: bool, words: str) -> None:
        """Draw the axes of frames, with names or without; nothing happens where they are drawn already."""
        if (which, is_named, words) == self._shown:
            return
        self._shown = (which, is_named, words)
        for handle in self._handles:
            handle.remove()
        drawable, scene, length = self._drawable, self._server.scene, 0.06 * self._size
        axes = chosen_axes(drawable.robot.model, drawable.names, which, words)
        rng = np.random.default_rng(0)
        poses = [drawable.poses(q) for q in (drawable.robot.neutral(), drawable.robot.random(rng))]
        texts = labels(axes, poses) if is_named else {}
        self._handles = [
            scene.add_frame(
                f"{self._figure.node(one.body)}/axes{k}",
                axes_length=length,
                axes_radius=0.03 * length,
                wxyz=quaternions(one.pose[:3, :3]),
                position=one.pose[:3, 3],
            )
            for k, one in enumerate(axes)
        ]
        for k, text in texts.items():
            scene.add_label(f"{self._handles[k].name}/name", text, font_screen_scale=0.8, anchor="bottom-left")

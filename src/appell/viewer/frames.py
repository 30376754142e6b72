"""Axes and names of frames on the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from appell.model.model import Model
from appell.shapes.geometry import matrix, quaternions
from appell.spatial.scalar import Array
from appell.viewer.figure import Figure

NONE, BODIES, ALL = "none", "bodies", "all"
CHOICES = (NONE, BODIES, ALL)
NAMES = 3
"""Names of frames at one place that are written out; the label counts the others."""


class Axes(NamedTuple):
    """Frames that coincide: the body they are fixed to, their pose in it (4, 4), and their names."""

    body: int
    pose: Array
    names: list[str]

    @property
    def label(self) -> str:
        """Return the text beside the axes."""
        more = len(self.names) - NAMES
        return ", ".join(self.names[:NAMES]) + (f" (+{more})" if more > 0 else "")


def axes(model: Model, bodies: Iterable[str], which: str, words: str) -> list[Axes]:
    """Return the frames to be drawn: those of bodies, or all, whose names contain one of the words (all for none).

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> [one.names for one in axes(robot.model, robot.link_names, "bodies", "")]
    [['link1'], ['link2']]
    >>> axes(robot.model, robot.link_names, "all", "link2 nothing")[0].names
    ['link2']
    """
    if which == BODIES:
        named = [(name, body, np.eye(4)) for body, name in enumerate(bodies)]
    else:
        named = [(frame.name, frame.body, matrix(*frame.placement)) for frame in model.frames if which == ALL]
    wanted = words.lower().replace(",", " ").split()
    found: dict[tuple[Any, ...], Axes] = {}
    for name, body, pose in named:
        if wanted and not any(word in name.lower() for word in wanted):
            continue
        place = (body, *np.round(pose[:3].ravel(), 6).tolist())
        found.setdefault(place, Axes(body, pose, [])).names.append(name)
    return list(found.values())


class FrameAxes:
    """Axes on the bodies of a figure; as their children they move with them."""

    def __init__(self, server: Any, model: Model, bodies: Iterable[str], figure: Figure, size: float) -> None:
        self._server, self._model, self._bodies, self._figure, self._size = server, model, tuple(bodies), figure, size
        self._handles: list[Any] = []
        self._shown: tuple[str, bool, str] = (NONE, False, "")

    def show(self, which: str, is_named: bool, words: str) -> None:
        """Draw the axes of frames, with names or without; nothing happens where they are drawn already."""
        if (which, is_named, words) == self._shown:
            return
        self._shown = (which, is_named, words)
        for handle in self._handles:
            handle.remove()
        self._handles = []
        scene, length = self._server.scene, 0.06 * self._size
        for k, one in enumerate(axes(self._model, self._bodies, which, words)):
            name = f"{self._figure.node(one.body)}/axes{k}"
            turned, place = quaternions(one.pose[:3, :3]), one.pose[:3, 3]
            self._handles.append(
                scene.add_frame(name, axes_length=length, axes_radius=0.03 * length, wxyz=turned, position=place)
            )
            if is_named:
                scene.add_label(f"{name}/name", one.label, font_screen_scale=0.8, anchor="bottom-left")

"""Impacts and resting contacts on the page: where points struck, how hard, and which rest now."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from appell.model.model import WORLD
from appell.results.run import Impact, Run
from appell.shapes.drawable import Drawable
from appell.shapes.palette import HIT, REST, linear
from appell.spatial.scalar import Array
from appell.viewer.scene import Box

LONGEST = 0.3
"""The arrow of the strongest impulse, in sizes of the picture; lengths are as the root, so that weak ones are seen."""
ARROW = linear((HIT[0] / 255.0, HIT[1] / 255.0, HIT[2] / 255.0, 1.0))
LABELS = 4
"""Points that strike together whose impulses are written out; more would hide each other."""


class Blow(NamedTuple):
    """A point that struck: when, where, what the wall gave it (zero at a joint's limit), and the words for it."""

    time: float
    place: Array
    push: Array
    label: str


def blows(run: Run, drawable: Drawable) -> list[Blow]:
    """Return every point that struck in a run."""
    found = []
    for impact in run.impacts:
        for k, name in enumerate(impact.points):
            push = impact.normals[k] * impact.impulse[k] + impact.friction[k]
            if impact.normals[k].any():
                found.append(Blow(impact.time, impact.positions[k], push, f"{np.linalg.norm(push):.3g} N·s"))
            else:
                found.append(Blow(impact.time, _joint(run, drawable, impact, name), np.zeros(3), f"{name}: limit"))
    return found


def _joint(run: Run, drawable: Drawable, impact: Impact, name: str) -> Array:
    bodies = run.robot.model.bodies if run.robot is not None else ()
    body = next((k for k, body in enumerate(bodies) if body.joint.name == name), WORLD)
    return np.asarray(drawable.poses(run.at(impact.time)[0])[body, :3, 3])


class Contacts:
    """The marks of a run's contacts; :meth:`update` shows those of a moment."""

    def __init__(self, server: Any, run: Run, drawable: Drawable, box: Box) -> None:
        self._server, self._run, self._box = server, run, box
        self._blows = blows(run, drawable)
        self._points = _resting(run, drawable)
        self._shown: tuple[Any, ...] = ()
        greatest = max((float(np.linalg.norm(b.push)) for b in self._blows), default=0.0)
        self._unit = LONGEST * box.size / np.sqrt(greatest) if greatest > 0.0 else 0.0
        self._trail: Any = None
        self._labels: list[Any] = []
        self._rests = 0

    def update(self, t: float, lasting: float, poses: Array) -> None:
        """Show impacts of the last `lasting` seconds, the places of those before, and what rests."""
        recent = tuple(k for k, blow in enumerate(self._blows) if 0.0 <= t - blow.time < lasting)
        past = sum(blow.time <= t for blow in self._blows)
        rests = tuple(rest.point for rest in self._run.rests if rest.start <= t < rest.end)
        self._rest(rests, poses)
        if (recent, past) == self._shown:
            return
        self._shown = (recent, past)
        self._leave_trail(past)
        self._strike([self._blows[k] for k in recent])

    def _strike(self, struck: list[Blow]) -> None:
        scene, size = self._server.scene, self._box.size
        for handle in self._labels:
            handle.remove()
        self._labels = []
        for k, blow in enumerate(struck):
            self._labels.append(
                scene.add_icosphere(f"/impacts/{k}", 0.023 * size, HIT, position=blow.place, cast_shadow=False)
            )
        arrows = [(b.place, b.place + self._arrow(b.push)) for b in struck if b.push.any()]
        if arrows:
            self._labels.append(
                scene.add_arrows(
                    "/impacts/arrows",
                    np.array(arrows),
                    ARROW,
                    shaft_radius=0.005 * size,
                    head_radius=0.014 * size,
                    head_length=0.035 * size,
                )
            )
        for k, blow in enumerate(struck if len(struck) <= LABELS else []):
            beside = blow.place + 1.12 * self._arrow(blow.push)
            self._labels.append(scene.add_label(f"/impacts/label{k}", blow.label, position=beside))

    def _arrow(self, push: Array) -> Array:
        size = float(np.linalg.norm(push))
        return self._unit * push / np.sqrt(size) if size > 0.0 else np.zeros(3)

    def _leave_trail(self, past: int) -> None:
        """Leave a small mark where points have struck so far."""
        if self._trail is not None:
            self._trail.remove()
            self._trail = None
        if past:
            places = np.array([blow.place for blow in self._blows[:past]], dtype=np.float32)
            self._trail = self._server.scene.add_point_cloud(
                "/struck",
                places,
                np.tile(np.array(HIT, dtype=np.uint8), (past, 1)),
                point_size=0.012 * self._box.size,
                point_shape="circle",
            )

    def _rest(self, names: tuple[str, ...], poses: Array) -> None:
        """Mark the points that rest or slide on a wall."""
        known = [self._points[name] for name in names if name in self._points]
        for k, (body, place) in enumerate(known):
            pose = poses[body]
            self._server.scene.add_icosphere(
                f"/rests/{k}",
                0.016 * self._box.size,
                REST,
                position=pose[:3, :3] @ place + pose[:3, 3],
                cast_shadow=False,
                opacity=0.8,
            )
        for k in range(len(known), self._rests):
            self._server.scene.remove_by_name(f"/rests/{k}")
        self._rests = len(known)


def _resting(run: Run, drawable: Drawable) -> dict[str, tuple[int, Array]]:
    """Return the points that ever rest, as a body and a place on it.

    A frame's name says both. Any other point has a name of its own, and the impact that it began with tells where it
    was: it belongs to a body on which all its impacts have one place.
    """
    found: dict[str, tuple[int, Array]] = {}
    frames = run.robot.model.frame_index if run.robot is not None else {}
    for name in {rest.point for rest in run.rests}:
        if name in frames:
            found[name] = (frames[name].body, np.array(frames[name].placement.position, dtype=float))
            continue
        struck = [(i.time, i.positions[i.points.index(name)]) for i in run.impacts if name in i.points]
        if not struck:
            continue
        poses = np.array([drawable.poses(run.at(t)[0]) for t, _ in struck])
        seen = np.array([p for _, p in struck])[:, None] - poses[:, :, :3, 3]
        own = np.einsum("nkji,nkj->nki", poses[:, :, :3, :3], seen)
        spread = np.ptp(own, axis=0).max(axis=-1)
        body = int(np.argmin(spread[:-1]))
        found[name] = (body, own[:, body].mean(axis=0))
    return found

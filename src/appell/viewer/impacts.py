"""Impacts and contacts of a run on the page: points that strike, impulses and contact forces as arrows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from appell.model.model import WORLD
from appell.results.run import Impact, Run
from appell.shapes.drawable import Drawable
from appell.shapes.palette import HIT, REST
from appell.spatial.scalar import Array
from appell.viewer.arrows import Arrows, ArrowScale, typical_norm
from appell.viewer.contact_forces import Contact, run_contacts
from appell.viewer.scene import Box

LABELS = 4
"""Points that strike together whose impulses are written out; more labels would hide each other."""


class PointImpact(NamedTuple):
    """A point that struck: time, place, the wall's impulse on it [N·s] (zero at a joint's limit), and a label."""

    time: float
    place: Array
    impulse: Array
    label: str


def point_impacts(run: Run, drawable: Drawable) -> list[PointImpact]:
    """Return the impacts of a run, one entry per point that struck."""
    found = []
    for impact in run.impacts:
        for k, name in enumerate(impact.points):
            impulse = impact.normals[k] * impact.impulse[k] + impact.friction[k]
            if impact.normals[k].any():
                label = f"{np.linalg.norm(impulse):.3g} N·s"
                found.append(PointImpact(impact.time, impact.positions[k], impulse, label))
            else:
                place = _joint(run, drawable, impact, name)
                found.append(PointImpact(impact.time, place, np.zeros(3), f"{name}: limit"))
    return found


def _joint(run: Run, drawable: Drawable, impact: Impact, name: str) -> Array:
    bodies = drawable.robot.model.bodies
    body = next((k for k, body in enumerate(bodies) if body.joint.name == name), WORLD)
    return np.asarray(drawable.poses(run.at(impact.time)[0])[body, :3, 3])


class Contacts:
    """The marks of a run's impacts and contacts; :meth:`update` shows those of a time."""

    def __init__(self, server: Any, run: Run, drawable: Drawable, box: Box, wake: Callable[[], None]) -> None:
        self._server, self._box = server, box
        self._impacts = point_impacts(run, drawable)
        self.contacts = run_contacts(run, drawable)
        struck = typical_norm([one.impulse for one in self._impacts])
        pressed = typical_norm([force for contact in self.contacts for force in contact.forces])
        self._struck = Arrows(server, "/impacts/arrows", HIT, box.size, struck)
        self._pressed = Arrows(server, "/contacts/arrows", REST, box.size, pressed)
        self.scale = ArrowScale(
            server, [("impulses", self._struck, "N·s"), ("contact forces", self._pressed, "N")], wake
        )
        self._shown: tuple[Any, ...] = ()
        self._past: Any = None
        self._handles: list[Any] = []
        self._balls = 0

    def closed(self, t: float) -> list[Contact]:
        """Return the contacts that exist at a time."""
        return [contact for contact in self.contacts if contact.is_closed(t)]

    def update(self, t: float, lasting: float, poses: Array) -> None:
        """Show impacts of the last `lasting` seconds, marks where points struck before, and contact forces."""
        self.scale.update()
        recent = tuple(k for k, one in enumerate(self._impacts) if 0.0 <= t - one.time < lasting)
        past = sum(one.time <= t for one in self._impacts)
        self._show_contacts(self.closed(t), t, poses)
        if (recent, past, self._struck.scale) == self._shown:
            return
        self._shown = (recent, past, self._struck.scale)
        self._show_past(past)
        self._show_impacts([self._impacts[k] for k in recent])

    def _show_impacts(self, struck: list[PointImpact]) -> None:
        scene, size = self._server.scene, self._box.size
        for handle in self._handles:
            handle.remove()
        self._handles = [
            scene.add_icosphere(f"/impacts/{k}", 0.02 * size, HIT, position=one.place, cast_shadow=False)
            for k, one in enumerate(struck)
        ]
        self._struck.draw([one.place for one in struck], [one.impulse for one in struck])
        for k, one in enumerate(struck if len(struck) <= LABELS else []):
            beside = one.place + 1.12 * self._struck.length * one.impulse
            self._handles.append(scene.add_label(f"/impacts/label{k}", one.label, position=beside))

    def _show_past(self, past: int) -> None:
        """Leave a small mark where points have struck so far."""
        if self._past is not None:
            self._past.remove()
            self._past = None
        if past:
            places = np.array([one.place for one in self._impacts[:past]], dtype=np.float32)
            self._past = self._server.scene.add_point_cloud(
                "/struck",
                places,
                np.tile(np.array(HIT, dtype=np.uint8), (past, 1)),
                point_size=0.012 * self._box.size,
                point_shape="circle",
            )

    def _show_contacts(self, contacts: list[Contact], t: float, poses: Array) -> None:
        """Mark the points in contact, and draw the forces on them."""
        places = [contact.position(poses) for contact in contacts]
        self._pressed.draw(places, [contact.at(t) for contact in contacts])
        for k, place in enumerate(places):
            self._server.scene.add_icosphere(
                f"/contacts/{k}", 0.012 * self._box.size, REST, position=place, cast_shadow=False, opacity=0.8
            )
        for k in range(len(places), self._balls):
            self._server.scene.remove_by_name(f"/contacts/{k}")
        self._balls = len(places)

"""Frames of an SDF file: the frame that each pose refers to, and the link that each frame is fixed to.

Links, joints, frames and nested models share one name space per model; names inside a nested model are written
``model::name``. A pose is given in the frame of ``relative_to``; by default,

    of a link, a nested model   in the model's frame ``__model__``
    of a frame                  in the frame of ``attached_to``, or in ``__model__``
    of a joint                  in the frame of its child
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from appell.messages import alternatives, shown
from appell.read.place import Place
from appell.read.values import number, pose, quaternion_rotation
from appell.read.xml import Element, child, line_of, tag
from appell.spatial.pose import Pose

MODEL = "__model__"
SEPARATOR = "::"
QUATERNION = "quat_xyzw"


@dataclass(frozen=True)
class Entry:
    """A frame: its pose in another one, the frame that it is attached to (a link to itself), and its place."""

    pose: Pose
    relative_to: str
    attached_to: str
    place: Place
    is_link: bool = False


@dataclass
class Frames:
    """All frames of a file by name; relative poses are resolved on demand."""

    entries: dict[str, Entry] = field(default_factory=dict)
    _found: dict[str, Pose] = field(default_factory=dict)

    def add(self, name: str, entry: Entry) -> None:
        """Add a frame; a duplicate name is an error."""
        if name in self.entries:
            first = self.entries[name].place.line
            raise entry.place.error(f"the name '{name}' is used in line {first} already; names must be unique")
        self.entries[name] = entry

    def pose(self, name: str, place: Place) -> Pose:
        """Return the pose of a frame in the world."""
        if name not in self._found:
            for each in reversed(self._way(name, place, lambda entry: entry.relative_to)):
                entry = self.entries[each]
                above = self._found[entry.relative_to] if entry.relative_to else Pose()
                self._found[each] = above.then(entry.pose)
        return self._found[name]

    def link(self, name: str, place: Place) -> str:
        """Return the link, or the world, that a frame is fixed to."""
        return self._way(name, place, lambda entry: "" if entry.is_link else entry.attached_to)[-1]

    def between(self, first: str, second: str, place: Place) -> Pose:
        """Return the pose of the second frame in the first."""
        return self.pose(first, place).inverse().then(self.pose(second, place))

    def _way(self, name: str, place: Place, above: Callable[[Entry], str]) -> list[str]:
        """Return a frame and its chain of reference frames, up to one without a reference."""
        way: list[str] = []
        while name:
            if name in way:
                circle = " → ".join(f"'{each}'" for each in [*way[way.index(name) :], name])
                raise self.entries[way[-1]].place.error(
                    f"frames refer to each other cyclically ({circle}); remove one reference"
                )
            if name not in self.entries:
                raise place.error(f"no frame '{name}'; {alternatives(name, self._known())}")
            way.append(name)
            place = self.entries[name].place
            name = above(self.entries[name])
        return way

    def _known(self) -> list[str]:
        return [name for name in self.entries if not name.endswith(MODEL)]


def words(element: Element) -> list[str]:
    """Return the words of an element's text."""
    return (element.text or "").split()


def numbers_in(element: Element, owner: Place, counts: Sequence[int]) -> list[float]:
    """Return the finite numbers of an element's text, as many as one of `counts`."""
    place = replace(owner, line=line_of(element), path=f"{owner.path}, <{tag(element)}>")
    tokens = words(element)
    if len(tokens) not in counts:
        noun = "number" if list(counts) == [1] else "numbers"
        expected = " or ".join(map(str, counts))
        raise place.error(f"expected {expected} {noun}, got {len(tokens)} in {shown(element.text or '')}")
    values = []
    for token in tokens:
        try:
            values.append(float(token.replace("_", "?")))
        except ValueError:
            raise place.error(f"expected a number, got {shown(token)}") from None
    return [number(value, place) if math.isfinite(value) else value for value in values]


def pose_in(parent: Element, owner: Place) -> tuple[Pose, str]:
    """Return the pose of an element's <pose> and the frame that it names; identity and "" by default."""
    given = child(parent, "pose", owner)
    if given is None:
        return Pose(), ""
    relative_to = (given.get("relative_to") or given.get("frame") or "").strip()
    if not words(given):
        return Pose(), relative_to
    place = replace(owner, line=line_of(given), path=f"{owner.path}, <pose>")
    is_quaternion = given.get("rotation_format", "").strip() == QUATERNION
    values = [number(value, place) for value in numbers_in(given, owner, [7 if is_quaternion else 6])]
    position = (values[0], values[1], values[2])
    if is_quaternion:
        return Pose(quaternion_rotation(values[3:], place), position), relative_to
    if given.get("degrees", "").strip() in ("true", "1"):
        values[3:] = map(math.radians, values[3:])
    return pose(position, (values[3], values[4], values[5])), relative_to

"""SDF files: one model per file, of versions 1.4 to 1.12, with file and line in every error.

The dynamics of a model is read: links with ``<inertial>``, joints with ``<axis>``, ``<axis2>``, limits, damping,
friction, springs and mimics, shapes, frames and nested models. Sensors, plugins and simulator settings are ignored.

- All joints are zero in the poses of the file. A joint's pose is in its child's frame unless it names another.
- A rotating joint whose frame is not at its child's origin carries a link ``child_joint`` at its own origin, and the
child is a frame on that link, as for MJCF.
- A link with two parents closes a loop: its first joint in the file is part of the tree, the others are closures. A
  link without a parent, except the first one, is a free body.
- Joints to ``world`` fix the model at its poses. Without such a joint the first link without a parent is the fixed
base, at the origin; ``floating=True`` gives it a floating base, as in SDF.
- ``revolute2`` and ``universal`` are two revolute joints, ``name/1`` and ``name/2``.
- A lower limit above the upper one is none, with a warning.
- A link without ``<inertial>`` has 1 kg and unit inertia, as the format specifies, with a warning.
- ``<include>`` is rejected: ``gz sdf -p model.sdf`` writes one complete file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from appell.errors import ReadError, warn
from appell.messages import alternatives, listed
from appell.model.build import WORLD_NAME, Link
from appell.model.model import Frame, Joint, Limits, Mimic, Model
from appell.model.shapes import SIZES, Colour, Shape
from appell.read.place import Place, contents
from appell.read.sdf_frames import MODEL, SEPARATOR, Entry, Frames, numbers_in, pose_in, words
from appell.read.sdf_tree import Hinge, assembled
from appell.read.shapes import PLAIN_SCALE, Dialect, colour_of, shapes_in
from appell.read.values import direction, gravity_vector, number
from appell.read.xml import Element, attribute, child, children, document, line_of, ranged, required, tag
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Vector
from appell.spatial.vector import IDENTITY, ZERO, matvec

KINDS_BY_NAME = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "ball": "ball",
    "screw": "helical",
    "fixed": "fixed",
    "universal": "universal",
    "revolute2": "universal",
}
"""The supported joint types: names in SDF and in appell."""
WITHOUT_AXIS = ("fixed", "ball")
UNLIMITED = 1e16
"""Position limits from here on are infinite, by the format."""
MODEL_AXES = 1.5
"""Axes of earlier versions are in the model's frame."""
EXPAND = "write it into one file first: gz sdf -p model.sdf > whole.sdf"
DYNAMICS = {
    "damping": "damping",
    "friction": "friction",
    "stiffness": "spring_stiffness",
    "spring_reference": "spring_reference",
}
"""Attributes of a joint, and their names in ``<dynamics>`` of SDF."""


def read_sdf(
    path_or_text: str | os.PathLike[str], *, gravity: Sequence[float] | None = None, source: str | None = None
) -> Model:
    """Return the model of an SDF file, or of SDF text.

    Parameters
    ----------
    path_or_text
        A path, or the text itself: a string that begins with ``<``.
    gravity
        Gravity in world axes [m/s²]; by default that of ``<world>``, or 9.81 along −z.
    source
        The name of the file in error messages; by default its path.

    Raises
    ------
    ReadError
        When the file cannot be read, has no model or several, or contains invalid joints or frames; the message begins
        with file:line.

    Examples
    --------
    >>> model = read_sdf('''
    ... <sdf version="1.9"><model name="pendulum">
    ...   <link name="rod"><pose>0 0 1 0 0 0</pose><inertial>
    ...     <pose>0 0 -0.5 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.01</izz></inertia>
    ...   </inertial></link>
    ...   <joint name="hinge" type="revolute"><parent>world</parent><child>rod</child>
    ...     <axis><xyz>0 1 0</xyz></axis></joint>
    ... </model></sdf>''')
    >>> model.bodies[0].joint.name, model.bodies[0].joint.placement.position, model.bodies[0].inertia.centre
    ('hinge', (0.0, 0.0, 1.0), (0.0, 0.0, -0.5))
    """
    given = contents(path_or_text, lambda text: text.lstrip("\ufeff \t\r\n").startswith("<"), source)
    root = document(given)
    if tag(root) != "sdf":
        raise ReadError(f"expected <sdf> as the root element, got <{tag(root)}>", given.source, line_of(root))
    version = root.get("version", "1.6").strip()
    element, down = _only_model(root, given.source)
    reading = _Reading(given.source, _version(version, root, given.source))
    reading.model(element, "")
    return reading.built(element, gravity_vector(gravity, down) if down else gravity_vector(gravity))


def _version(text: str, root: Element, source: str) -> float:
    major, _, minor = text.partition(".")
    if major != "1" or not minor.isdigit() or int(minor) < 4:
        raise ReadError(f"version '{text}' of SDF is not supported; known: 1.4 to 1.12", source, line_of(root))
    return 1.0 + int(minor) / 10.0 if int(minor) < 10 else 2.0


def _only_model(root: Element, source: str) -> tuple[Element, Vector | None]:
    """Return the one model of a file, and the gravity of its world."""
    worlds = children(root, "world")
    found = [model for place in (root, *worlds) for model in children(place, "model")]
    for place in (root, *worlds):
        for include in children(place, "include"):
            raise ReadError(f"<include> is not supported; {EXPAND}", source, line_of(include))
    if len(found) != 1:
        names = listed(model.get("name", "") for model in found)
        problem = f"{len(found)} models ({names}); keep one" if found else "no <model>; add one"
        raise ReadError(problem, source, line_of(found[1] if found else root))
    owner = Place(source, line_of(root), "world")
    gravity = child(worlds[0], "gravity", owner) if worlds else None
    if gravity is None:
        return found[0], None
    x, y, z = numbers_in(gravity, owner, [3])
    return found[0], (x, y, z)


def _text(parent: Element, name: str, owner: Place, default: str | None = None) -> str:
    found = child(parent, name, owner)
    value = (found.text or "").strip() if found is not None else ""
    if not value and default is None:
        raise owner.error(f"<{name}> is missing or empty; add it")
    return value or default or ""


def _number(parent: Element | None, name: str, owner: Place, default: float) -> float:
    found = None if parent is None else child(parent, name, owner)
    if found is None or not words(found):
        return default
    return numbers_in(found, owner, [1])[0]


@dataclass
class _Reading:
    """The state of reading a file."""

    source: str
    version: float

    def __post_init__(self) -> None:
        self.frames = Frames()
        self.links: list[tuple[str, Element]] = []
        self.joints: list[tuple[str, str, Element]] = []
        """Name, prefix of the model that it is in, element."""
        self.extra: list[str] = []
        """The frames of the file that are neither links nor joints."""

    def _place(self, element: Element, what: str, name: str = "") -> Place:
        return Place(self.source, line_of(element), f"{what} '{name}'" if name else what)

    def model(self, element: Element, prefix: str, inside: str = "") -> None:
        """Add the links, joints, frames and nested models of a model, their names with a `prefix`."""
        name = attribute(element, "name", self._place(element, "model"))
        place = self._place(element, "model", name)
        if child(element, "include", place) is not None:
            raise place.error(f"<include> is not supported; {EXPAND}")
        own = f"{prefix}{MODEL}"
        links = children(element, "link")
        for each in [x for x in links if x.get("name") == WORLD_NAME and not len(x)]:
            warn("link 'world' is empty, and its name is the world's; read as the world", self.source, line_of(each))
            links.remove(each)
        nested = children(element, "model")
        canonical = (element.get("canonical_link") or "").strip()
        first = (
            links[0].get("name", "") if links else f"{nested[0].get('name', '')}{SEPARATOR}{MODEL}" if nested else ""
        )
        if not canonical and not first:
            raise place.error("no <link>; a model needs at least one")
        given, relative_to = pose_in(element, place)
        outer = f"{inside}{relative_to or MODEL}" if prefix else ""
        self.frames.add(own, Entry(given, outer, f"{prefix}{canonical or first}", place))
        self._links(links, prefix)
        for each in children(element, "frame"):
            self._frame(each, prefix)
        for each in nested:
            inner = attribute(each, "name", self._place(each, "model"))
            self.model(each, f"{prefix}{inner}{SEPARATOR}", prefix)
            alias = Entry(Pose(), f"{prefix}{inner}{SEPARATOR}{MODEL}", f"{prefix}{inner}{SEPARATOR}{MODEL}", place)
            self.frames.add(f"{prefix}{inner}", alias)
        for each in children(element, "joint"):
            self._enter_joint(each, prefix)
        if placed := (element.get("placement_frame") or "").strip():
            # the pose is that of the placement frame
            seen = self.frames.between(own, f"{prefix}{placed}", place)
            self.frames.entries[own] = replace(self.frames.entries[own], pose=given.then(seen.inverse()))
            self.frames._found.clear()

    def _links(self, links: Sequence[Element], prefix: str) -> None:
        for element in links:
            name = f"{prefix}{attribute(element, 'name', self._place(element, 'link'))}"
            place = self._place(element, "link", name)
            given, relative_to = pose_in(element, place)
            self.frames.add(name, Entry(given, f"{prefix}{relative_to or MODEL}", "", place, is_link=True))
            self.links.append((name, element))

    def _frame(self, element: Element, prefix: str) -> None:
        name = f"{prefix}{attribute(element, 'name', self._place(element, 'frame'))}"
        place = self._place(element, "frame", name)
        attached = f"{prefix}{(element.get('attached_to') or '').strip() or MODEL}"
        given, relative_to = pose_in(element, place)
        self.frames.add(name, Entry(given, f"{prefix}{relative_to}" if relative_to else attached, attached, place))
        self.extra.append(name)

    def _enter_joint(self, element: Element, prefix: str) -> None:
        name = f"{prefix}{attribute(element, 'name', self._place(element, 'joint'))}"
        place = self._place(element, "joint", name)
        carried = f"{prefix}{_text(element, 'child', place)}"
        given, relative_to = pose_in(element, place)
        self.frames.add(name, Entry(given, f"{prefix}{relative_to}" if relative_to else carried, carried, place))
        self.joints.append((name, prefix, element))

    # Links and joints

    def built(self, element: Element, gravity: Vector) -> Model:
        """Return the model."""
        links = [Link(name, self._inertia(name, each), line_of(each)) for name, each in self.links]
        hinges = [self._hinge(*joint) for joint in self.joints]
        model = assembled(
            element.get("name", "robot").strip(), links, hinges, self.frames, gravity=gravity, source=self.source
        )
        added = [self._fixed_frame(name, model) for name in self.extra if name not in model.frame_index]
        shapes = (shape for name, each in self.links for shape in self._shapes(name, each))
        return replace(model, frames=(*model.frames, *added), shapes=tuple(shapes))

    def _shapes(self, name: str, link: Element) -> list[Shape]:
        def pose(element: Element, place: Place) -> Pose:
            given, relative_to = pose_in(element, place)
            prefix = "".join(name.rpartition(SEPARATOR)[:2])
            return self.frames.between(name, f"{prefix}{relative_to}", place).then(given) if relative_to else given

        return shapes_in(link, name, self.source, Dialect(SIZES, pose, _sizes, _mesh, _colour))

    def _fixed_frame(self, name: str, model: Model) -> Frame:
        place = self.frames.entries[name].place
        link = self.frames.link(name, place)
        carrier = model.frame_index[link]
        return Frame(name, carrier.body, carrier.placement.then(self.frames.between(link, name, place)))

    def _inertia(self, name: str, link: Element) -> Inertia:
        owner = self._place(link, "link", name)
        inertial = child(link, "inertial", owner)
        if inertial is None:
            warn(f"link '{name}' has no <inertial>: 1 kg and unit inertia by the format", self.source, line_of(link))
            return Inertia.from_centre(1.0, ZERO, IDENTITY)
        owner = replace(owner, line=line_of(inertial))
        if inertial.get("auto", "").strip() in ("true", "1"):
            raise owner.error("inertias computed from shapes are not supported; write the numbers into the file")
        tensor = child(inertial, "inertia", owner)
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        xx, xy, xz, yy, yz, zz = (_number(tensor, key, owner, float(key in ("ixx", "iyy", "izz"))) for key in keys)
        mass = _number(inertial, "mass", owner, 1.0)
        for value in (mass, xx, xy, xz, yy, yz, zz):
            number(value, owner)
        about_centre = Inertia.from_centre(mass, ZERO, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        return about_centre.moved(pose_in(inertial, owner)[0])

    def _hinge(self, name: str, prefix: str, element: Element) -> Hinge:
        """Return a joint between two links, with its frame in either."""
        place = self._place(element, "joint", name)
        given = attribute(element, "type", place)
        if given not in KINDS_BY_NAME:
            raise place.error(f"unknown type '{given}'; {alternatives(given, KINDS_BY_NAME)}")
        kind = KINDS_BY_NAME[given]
        parent = _text(element, "parent", place)
        parent = WORLD_NAME if parent == WORLD_NAME else self.frames.link(f"{prefix}{parent}", place)
        carried = self.frames.link(name, place)
        if parent == carried:
            raise place.error(f"its parent and its child are both '{parent}'; name two links")
        axes = [] if kind in WITHOUT_AXIS else [self._axis(name, prefix, element, "axis", kind)]
        if kind == "universal":
            axes.append(self._axis(name, prefix, element, "axis2", kind))
        if kind == "helical":
            axes[0] = replace(axes[0], pitch=self._pitch(element, place))
        plain = [Joint(name, kind)]
        return Hinge(name, kind, parent, carried, tuple(axes or plain), place)

    def _axis(self, name: str, prefix: str, joint: Element, which: str, kind: str) -> Joint:
        """Return an axis of a joint as a separate joint, in the axes of the joint's frame."""
        owner = self._place(joint, "joint", name)
        element = child(joint, which, owner)
        if element is None:
            raise owner.error(f"no <{which}>; add one")
        owner = replace(owner, line=line_of(element))
        xyz = child(element, "xyz", owner)
        axis = (0.0, 0.0, 1.0) if xyz is None else _triple(numbers_in(xyz, owner, [3]))
        frame = "" if xyz is None else (xyz.get("expressed_in") or "").strip()
        in_model = (
            _text(element, "use_parent_model_frame", owner, "false") in ("true", "1") or self.version < MODEL_AXES
        )
        if frame or in_model:
            seen = self.frames.between(name, f"{prefix}{frame or MODEL}", owner)
            axis = matvec(seen.rotation, axis)
        return Joint(
            name,
            "revolute" if kind == "universal" else kind,
            axis=direction(axis),
            **self._rest(element, owner, kind, prefix),
        )

    def _rest(self, element: Element, owner: Place, kind: str, prefix: str) -> dict[str, Any]:
        """Return limits, damping, friction and the mimic of an axis."""
        dynamics, limit, mimic = (child(element, key, owner) for key in ("dynamics", "limit", "mimic"))
        lower, upper = (_number(limit, key, owner, sign * math.inf) for key, sign in (("lower", -1.0), ("upper", 1.0)))
        effort, velocity = (_number(limit, key, owner, math.inf) for key in ("effort", "velocity"))
        bounds = [math.copysign(math.inf, x) if abs(x) >= UNLIMITED else x for x in (lower, upper)]
        if kind == "continuous":
            bounds = [-math.inf, math.inf]
        limits = Limits(*bounds, *(math.inf if x < 0.0 else x for x in (velocity, effort)))
        found: dict[str, Any] = {"limits": ranged(limits, owner)}
        for name, key in DYNAMICS.items():
            found[name] = number(_number(dynamics, key, owner, 0.0), owner)
        if mimic is not None:
            leader = f"{prefix}{attribute(mimic, 'joint', owner)}"
            multiplier, offset, reference = (
                number(_number(mimic, key, owner, default), owner)
                for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
            )
            found["mimic"] = Mimic(leader, multiplier, offset - multiplier * reference, line_of(mimic))
        return found

    def _pitch(self, joint: Element, owner: Place) -> float:
        """Return the advance [m/rad] of a screw, of [m/rev] for right-handed threads or the older [rad/m]."""
        advance = _number(joint, "screw_thread_pitch", owner, math.nan)
        if not math.isnan(advance):
            return number(advance, owner) / (2.0 * math.pi)
        older = number(_number(joint, "thread_pitch", owner, 1.0), owner)
        if not older:
            raise owner.error("its <thread_pitch> is zero; give <screw_thread_pitch> in m per revolution")
        return -1.0 / older


def _sizes(solid: Element, name: str, count: int, owner: Place) -> Sequence[float]:
    given = child(solid, name, owner)
    if given is None and name == "scale":
        return PLAIN_SCALE
    return numbers_in(required(solid, name, owner) if given is None else given, owner, [count])


def _mesh(solid: Element, owner: Place) -> str:
    if child(solid, "submesh", owner) is not None:
        raise owner.error("a <submesh> is not supported; give it a file of its own")
    return _text(solid, "uri", owner)


def _colour(element: Element, owner: Place) -> Colour | None:
    material = child(element, "material", owner)
    diffuse = None if material is None else child(material, "diffuse", owner)
    return None if diffuse is None else colour_of([*numbers_in(diffuse, owner, [3, 4]), 1.0][:4])


def _triple(values: Sequence[float]) -> Vector:
    return (values[0], values[1], values[2])

"""SDF files (Gazebo, Drake) of models: one model, its links at their poses.

Every body is a link, with its pose relative to the parent link; frames are ``<frame>``. A joint of SDF is zero at the
poses of the file: a tree is written at zero, so that its coordinates stay, a closed robot at home, where its loops are
closed. A loop is closed by one more joint, whose child has a parent already. Joint types missing in SDF are split into
parts (:mod:`appell.read.parts`) with links of 1e-15 kg between them, the smallest mass that readers accept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lxml import etree

from appell.errors import ModelError, warn
from appell.messages import listed
from appell.model.closure import Closure
from appell.model.model import WORLD, Joint, Model
from appell.model.shapes import Shape
from appell.read.compiled import fresh
from appell.read.markup import number
from appell.read.outline import check_names, roll_pitch_yaw, unlisted_frames
from appell.read.parts import SMALLEST, home_of, part_coordinates, parts
from appell.read.shapes import add_sdf, described
from appell.read.write_urdf import centre_and_tensor, tensor_entries, warn_of_gravity
from appell.read.xml import Element, added
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Vector
from appell.spatial.vector import IDENTITY, matvec, matvec_t

TYPES = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "helical": "screw",
    "ball": "ball",
}
"""SDF's names of its joint types."""
CLOSING = {
    "point": "ball",
    "frame": "fixed",
    "revolute": "continuous",
    "prismatic": "prismatic",
    "universal": "universal",
}
"""The joints that close loops, by the kind of closure."""


def sdf_text(model: Model, folder: Path | None = None) -> str:
    """Return a model as the text of an SDF file in a folder, numbers with all digits.

    Raises
    ------
    ModelError
        When SDF has no joint for a closure.

    Warns
    -----
    AppellWarning
        Once, listing the features that the file cannot represent: rotor inertia, actuators, …

    Examples
    --------
    >>> from appell.read.catalogue import read
    >>> print(sdf_text(read("puma600")).splitlines()[1])
    <sdf version="1.9">
    """
    return _Writer(model, folder).text()


class _Writer:
    """A file being written: its names, the poses of its links, and the features that it cannot represent."""

    def __init__(self, model: Model, folder: Path | None) -> None:
        check_names(model, "SDF")
        self.folder = folder
        self.model = model
        for closure in model.closures:
            if closure.kind not in CLOSING:
                raise ModelError(
                    f"robot '{model.name}': SDF has no joint for closure '{closure.name}', which is {closure.kind}; it "
                    f"has {listed(CLOSING)}; save as .toml"
                )
        self.drawn = home_of(model if model.closures else replace(model, home=()))
        self.poses = {WORLD: Pose()}
        self.names = {WORLD: model.base.name, **{i: body.name for i, body in enumerate(model.bodies)}}
        kinds = {body.joint.kind for body in model.bodies}
        followed = any(body.joint.mimic for body in model.bodies)
        version = "1.11" if followed else "1.10" if "helical" in kinds else "1.9"
        self.root = etree.Element("sdf", version=version)
        self.element = added(self.root, "model", name=model.name)
        self.joints: dict[str, str] = {}
        """The names of the joints in the file: links, joints and frames share one name space in SDF."""
        others = {*self.names.values(), *(frame.name for frame in unlisted_frames(model))}
        taken = others | {body.joint.name for body in model.bodies}
        for name in (body.joint.name for body in model.bodies):
            self.joints[name] = fresh(f"{name}_joint", taken) if name in others else name
            taken.add(self.joints[name])
        self.shapes: dict[str, list[Shape]] = {}
        """The shapes of each link, those of links fixed to it included; the world is no link."""
        for shape in model.shapes:
            body, pose = model.seat(shape)
            is_grounded = self.names[body] == "world"
            own = shape if is_grounded else replace(shape, link=self.names[body], placement=pose)
            self.shapes.setdefault(own.link, []).append(own)

    def text(self) -> str:
        model = self.model
        if model.base.name != "world":
            self._link(model.base.name, model.base.inertia, Pose(), "")
            self._joint_element(f"{model.base.name}_to_world", "fixed", "world", model.base.name)
        grounded = [f for f in unlisted_frames(model) if self.names[f.body] == "world" and f.name in self.shapes]
        for frame in grounded:
            self._link(frame.name, Inertia(), frame.placement, "")
            self._joint_element(f"{frame.name}_to_world", "fixed", "world", frame.name)
        for i in range(len(model.bodies)):
            self._body(i)
        for frame in (frame for frame in unlisted_frames(model) if frame not in grounded):
            attached = {} if self.names[frame.body] == "world" else {"attached_to": self.names[frame.body]}
            _pose(added(self.element, "frame", {"name": frame.name, **attached}), frame.placement)
        for closure in model.closures:
            self._closure(closure)
        warn_of_gravity(model, "SDF")
        lost = self._lost()
        if lost:
            warn(f"robot '{model.name}': SDF cannot represent: {'; '.join(lost)}")
        text: bytes = etree.tostring(self.root, pretty_print=True, xml_declaration=True, encoding="UTF-8")
        return text.decode().replace("'", '"', 4)

    # Links and joints

    def _is_loose(self, i: int) -> bool:
        """Return whether a body moves freely in the world, for which SDF has no joint."""
        return self.model.bodies[i].joint.kind == "free" and self.model.bodies[i].parent == WORLD

    def _body(self, i: int) -> None:
        body = self.model.bodies[i]
        joint, parent, q = body.joint, self.names[body.parent], self.drawn[body.joint.name]
        self.poses[i] = self.poses[body.parent].then(joint.placement).then(joint.pose(q))
        if self._is_loose(i):
            self._link(body.name, body.inertia, self.poses[i], "")
            return
        pieces = [joint] if joint.kind in TYPES else parts(joint)
        coordinates = [q] if joint.kind in TYPES else part_coordinates(joint, q, pieces)
        for k, (piece, x) in enumerate(zip(pieces, coordinates, strict=True), 1):
            is_last = k == len(pieces)
            name = body.name if is_last else f"{joint.name}/link{k}"
            self._link(name, body.inertia if is_last else Inertia(), piece.placement.then(piece.pose(x)), parent)
            element = self._joint_element(self.joints.get(piece.name, piece.name), TYPES[piece.kind], parent, name)
            self._axis(element, piece, x)
            parent = name

    def _link(self, name: str, inertia: Inertia, pose: Pose, parent: str) -> None:
        link = added(self.element, "link", name=name)
        _pose(link, pose, "" if parent == "world" else parent)
        centre, tensor = centre_and_tensor(inertia, name, self.model.name, "SDF")
        entries = tensor_entries(tensor)
        if not min(entries[key] for key in ("ixx", "iyy", "izz")) > 0.0:
            entries |= {key: entries[key] + 2.0 * SMALLEST for key in ("ixx", "iyy", "izz")}
        inertial = added(link, "inertial")  # a link without one has the mass 1 in SDF
        _pose(inertial, Pose(IDENTITY, centre))
        _value(inertial, "mass", max(inertia.mass, SMALLEST))
        element = added(inertial, "inertia")
        for key, x in entries.items():
            _value(element, key, x)
        for k, shape in enumerate(self.shapes.get(name, ())):
            add_sdf(link, shape, f"{shape.use}{k}", self.folder, _pose)

    def _joint_element(self, name: str, kind: str, parent: str, child: str) -> Element:
        element = added(self.element, "joint", name=name, type=kind)
        added(element, "parent").text = parent
        added(element, "child").text = child
        return element

    def _axis(self, element: Element, joint: Joint, drawn: tuple[float, ...]) -> None:
        if joint.kind == "ball":
            return
        if joint.kind == "helical":
            _value(element, "screw_thread_pitch", 2.0 * math.pi * joint.pitch)
        axis = _axis_element(element, "axis", joint.axis)
        limits, zero = joint.limits, drawn[0]
        bounds = {"lower": limits.lower - zero, "upper": limits.upper - zero}
        bounds |= {"effort": limits.effort, "velocity": limits.velocity}
        finite = {key: x for key, x in bounds.items() if math.isfinite(x)}
        limit = added(axis, "limit")
        for key, x in finite.items():
            _value(limit, key, x)
        own = {"damping": joint.damping, "friction": joint.friction, "spring_stiffness": joint.stiffness}
        own["spring_reference"] = joint.spring_reference - zero if joint.stiffness else 0.0
        losses = {key: x for key, x in own.items() if x}
        if losses:
            dynamics = added(axis, "dynamics")
            for key, x in losses.items():
                _value(dynamics, key, x)
        if joint.mimic is not None and joint.mimic.joint in self.joints:
            slope, leader = joint.mimic.multiplier, joint.mimic.joint
            mimic = added(axis, "mimic", joint=self.joints[leader], axis="axis")
            _value(mimic, "multiplier", slope)
            _value(mimic, "offset", joint.mimic.offset + slope * self.drawn[leader][0] - zero)
            _value(mimic, "reference", 0.0)

    # Loops

    def _closure(self, closure: Closure) -> None:
        first, second = (self.model.frame_index[name] for name in (closure.first, closure.second))
        if second.body == WORLD:
            first, second = second, first
        parent, child = self.names[first.body], self.names[second.body]
        element = self._joint_element(closure.name, CLOSING[closure.kind], parent, child)
        _pose(element, second.placement)
        if closure.kind in ("revolute", "prismatic"):
            _axis_element(element, "axis", IDENTITY[2])
        elif closure.kind == "universal":
            # the parent's axis is x of the first frame, the child's is y of the second; seen from the joint frame
            at = [self.poses[frame.body].then(frame.placement) for frame in (first, second)]
            own = matvec_t(at[1].rotation, matvec(at[0].rotation, IDENTITY[0]))
            _axis_element(element, "axis", own)
            _axis_element(element, "axis2", IDENTITY[1])

    def _lost(self) -> list[str]:
        """Return the features of the model that the file cannot represent."""
        joints = [body.joint for body in self.model.bodies]
        found = {
            "rotor inertia of joints": [j.name for j in joints if j.armature],
            "damping and friction of joints": [
                j.name for j in joints if j.kind in ("ball", "free") and (j.damping or j.friction)
            ],
            "springs between joints": [spring.name for spring in self.model.springs],
            "the choice of actuated joints": list(self.model.actuators),
            "shapes of the world": described(self.shapes.get("world", ())),
        }
        return [f"{what} {listed(names)}" for what, names in found.items() if names]


def _axis_element(element: Element, tag: str, axis: Vector) -> Element:
    found = added(element, tag)
    added(found, "xyz").text = _texts(axis)
    return found


def _pose(element: Element, pose: Pose, relative_to: str = "") -> None:
    if pose == Pose() and not relative_to:
        return
    child = added(element, "pose", {"relative_to": relative_to} if relative_to else {})
    child.text = _texts((*pose.position, *roll_pitch_yaw(pose.rotation)))


def _value(element: Element, tag: str, x: float) -> None:
    added(element, tag).text = number(x)


def _texts(values: Iterable[float]) -> str:
    return " ".join(map(number, values))

"""MJCF files of models, which MuJoCo compiles to the same robot.

Every body of the model is a body of MuJoCo, with the parts of its joint (:mod:`appell.read.parts`); frames are sites. A
joint's offset is MuJoCo's ``ref``. Shapes are geoms of the body that carries their link. Followers are coupled by
``<equality><joint>``, loops closed by ``<connect>`` and ``<weld>`` between sites, a revolute closure by two connects
along its axis. MuJoCo requires mass and inertia of every moving body: 1e-15 represents zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lxml import etree

from appell.errors import ModelError, warn
from appell.messages import listed
from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Coordinates, Frame, Joint, Model
from appell.model.parameters import joint_of_velocity
from appell.read.markup import number
from appell.read.mjcf import UNBOUNDED
from appell.read.outline import check_names, unlisted_frames
from appell.read.parts import SMALLEST, UNEQUAL, home_of, part_coordinates, parts, principal
from appell.read.shapes import described, mjcf_geoms
from appell.read.write_urdf import centre_and_tensor
from appell.read.xml import Element, added
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import to_quaternion
from appell.spatial.vector import IDENTITY, ZERO

TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "ball": "ball", "free": "free"}
"""MuJoCo's names of its joint types."""
ARM = 0.1
"""Distance of the second point of a revolute closure along its axis [m]."""


def mjcf_text(model: Model, folder: Path | None = None) -> str:
    """Return a model as the text of an MJCF file in a folder, numbers with all digits.

    Raises
    ------
    ModelError
        When MJCF has no constraint for a closure, or MuJoCo would reject the inertia of a body.

    Warns
    -----
    AppellWarning
        Once, listing the features that the file cannot represent: velocity limits, rotor inertia along body axes, …

    Examples
    --------
    >>> from appell.read.catalogue import read
    >>> print(mjcf_text(read("two-link"))[:26])
    <mujoco model="two-link">
    """
    return _Writer(model, folder).text()


class _Writer:
    """A file being written: its elements, and the features that it cannot represent."""

    def __init__(self, model: Model, folder: Path | None) -> None:
        self.model = model
        self.geoms = mjcf_geoms(model, folder)
        check_names(model, "MJCF")
        self.parts = [[b.joint] if self._is_world_free(i) else parts(b.joint) for i, b in enumerate(model.bodies)]
        self.root: Element = etree.Element("mujoco", model=model.name)

    def _is_world_free(self, i: int) -> bool:
        """Return whether a body is free as in MuJoCo: its coordinates are its pose in the world."""
        body = self.model.bodies[i]
        return body.joint.kind == "free" and body.parent == WORLD and body.joint.placement == Pose()

    def text(self) -> str:
        self._check_closures()
        self._check_bodies()
        model, root = self.model, self.root
        added(root, "compiler", angle="radian", inertiafromgeom="false")
        added(root, "option", gravity=_texts(model.gravity))
        added(added(root, "default"), "site", group="4")
        asset = added(root, "asset") if self.geoms.meshes else None
        for mesh in self.geoms.meshes:
            added(asset, "mesh", mesh)
        self._bodies()
        self._tendons()
        self._equalities()
        self._actuators()
        named = {**({"home": model.home} if model.home else {}), **dict(model.configurations)}
        if named:
            keyframe = added(root, "keyframe")
            for name, at in named.items():
                added(keyframe, "key", name=name, qpos=_texts(self._qpos(at)))
        lost = self._lost()
        if lost:
            warn(f"robot '{model.name}': MJCF cannot represent: {'; '.join(lost)}")
        text: bytes = etree.tostring(root, pretty_print=True, encoding="UTF-8")
        return text.decode()

    # Bodies

    def _bodies(self) -> None:
        model = self.model
        base = world = added(self.root, "worldbody")
        at: dict[int, Element] = {WORLD: world}
        sites: dict[int, list[Frame]] = {}
        for frame in unlisted_frames(model):
            sites.setdefault(frame.body, []).append(frame)
        if model.base.name != "world":
            base = added(world, "body", name=model.base.name)
            if model.base.inertia != Inertia() and principal(model.base.inertia) is not None:
                _inertial(base, model.base.inertia)
        self._add_geoms(base, WORLD)
        _sites(world, sites.get(WORLD, ()))
        for i, (body, pieces) in enumerate(zip(model.bodies, self.parts, strict=True)):
            placed = {} if self._is_world_free(i) else _placed(body.joint.placement)
            element = at[i] = added(at[body.parent], "body", {"name": body.name, **placed})
            for piece in pieces:
                added(element, "joint", _joint(piece))
            _inertial(element, body.inertia)
            self._add_geoms(element, i)
            _sites(element, sites.get(i, ()))

    def _add_geoms(self, element: Element, body: int) -> None:
        for attributes, pose in self.geoms.by_body.get(body, ()):
            added(element, "geom", {**attributes, **_placed(pose)})

    # Constraints between joints and bodies

    def _tendons(self) -> None:
        springs = self.model.springs
        tendon = added(self.root, "tendon") if springs else None
        for spring in springs:
            side = -1.0 if spring.reference < 0.0 else 1.0  # spring lengths are positive in MJCF
            own = {"stiffness": spring.stiffness, "damping": spring.damping, "springlength": side * spring.reference}
            attributes = {key: number(float(x)) for key, x in own.items() if x or key == "springlength"}
            fixed = added(tendon, "fixed", {"name": spring.name, **attributes})
            for name, c in spring.terms:
                added(fixed, "joint", joint=name, coef=number(side * c))

    def _equalities(self) -> None:
        pieces = {piece.name: piece for group in self.parts for piece in group}
        ties = [piece for piece in pieces.values() if piece.mimic is not None and piece.mimic.joint in pieces]
        if not ties and not self.model.closures:
            return
        equality = added(self.root, "equality")
        for follower in ties:
            assert follower.mimic is not None
            leader, slope = pieces[follower.mimic.joint], follower.mimic.multiplier
            # q₁ − ref₁ = c₀ + c₁·(q₂ − ref₂), and ref is −offset
            start = follower.mimic.offset + follower.offset - slope * leader.offset
            tied = {"joint1": follower.name, "joint2": leader.name, "polycoef": _texts((start, slope, 0.0, 0.0, 0.0))}
            added(equality, "joint", tied)
        for closure in self.model.closures:
            ends = self._ends(closure)
            is_frame = closure.rows == KINDS["frame"]
            name = {"name": closure.name}
            added(equality, "weld" if is_frame else "connect", name | dict(zip(_SITES, ends, strict=True)))
            if closure.rows == KINDS["revolute"]:
                tips = [f"{closure.name}/tip{k}" for k in (1, 2)]
                tied = {"name": f"{closure.name}/tip", **dict(zip(_SITES, tips, strict=True))}
                added(equality, "connect", tied)

    def _check_closures(self) -> None:
        known = ("point", "frame", "revolute")
        for closure in self.model.closures:
            if closure.is_rolling or closure.rows not in (KINDS[kind] for kind in known):
                raise ModelError(
                    f"robot '{self.model.name}': MJCF has no constraint for closure '{closure.name}', which is "
                    f"{closure.kind}; it has {listed(known)}; save as .toml"
                )

    def _check_bodies(self) -> None:
        for body in self.model.bodies:
            centre_and_tensor(body.inertia, body.name, self.model.name, "MJCF")
            if body.name == "world":
                raise ModelError(
                    f"robot '{self.model.name}': a body is named 'world', a reserved name of MuJoCo; rename it"
                )
        refused = [body.name for body in self.model.bodies if principal(body.inertia) is None]
        if refused:
            raise ModelError(
                f"robot '{self.model.name}': MuJoCo rejects inertias that violate the triangle inequality, which no "
                f"rigid body has: bodies {listed(refused)}; correct them, or save as .toml"
            )

    def _ends(self, closure: Closure) -> list[str]:
        """Return the sites of a closure, created unless its frames are sites already."""
        names = []
        elements = {element.get("name"): element for element in self.root.iter("body")}
        known = {element.get("name") for element in self.root.iter("site")}
        for k, name in enumerate((closure.first, closure.second), 1):
            frame = self.model.frame_index[name]
            owner = self.root.find("worldbody") if frame.body == WORLD else elements[self.model.bodies[frame.body].name]
            site = name if name in known else f"{closure.name}/{'first' if k == 1 else 'second'}"
            if name not in known:
                _sites(owner, [Frame(site, frame.body, frame.placement)])
            if closure.rows == KINDS["revolute"]:
                tip = Pose(IDENTITY, (0.0, 0.0, ARM))
                _sites(owner, [Frame(f"{closure.name}/tip{k}", frame.body, frame.placement.then(tip))])
            names.append(site)
        return names

    # Motors and configurations

    def _actuators(self) -> None:
        model = self.model
        moving = [b.joint.name for b in model.bodies if b.joint.mimic is None and b.joint.kind != "free"]
        groups = {body.joint.name: group for body, group in zip(self.model.bodies, self.parts, strict=True)}
        independent = dict.fromkeys(joint_of_velocity(name, groups)[0] for name in model.independent_velocities)
        names = model.actuators or tuple(independent) or moving
        if not names:
            return
        actuator = added(self.root, "actuator")
        for name in names:
            for piece in groups[name]:
                if piece.mimic is None:
                    _motors(actuator, piece)

    def _qpos(self, at: Coordinates) -> list[float]:
        """Return a configuration in MuJoCo's depth-first order, quaternions w x y z; joints not named are neutral."""
        home, found = home_of(replace(self.model, home=at)), {}
        for body, pieces in zip(self.model.bodies, self.parts, strict=True):
            for piece, q in zip(pieces, part_coordinates(body.joint, home[body.joint.name], pieces), strict=True):
                has_quaternion = piece.kind in ("ball", "free")
                found[piece.name] = (*q[:-4], q[-1], *q[-4:-1]) if has_quaternion else q
        return [x for joint in self.root.find("worldbody").iter("joint") for x in found[joint.get("name")]]

    def _lost(self) -> list[str]:
        """Return the features of the model that the file cannot represent."""
        joints = [body.joint for body in self.model.bodies]
        known = {joint.name for joint in joints}
        found = {
            "velocity limits of joints": [j.name for j in joints if math.isfinite(j.limits.velocity)],
            "position limits of joints that turn freely": [
                j.name for j in joints if j.kind in ("ball", "free") and _range(j)
            ],
            "limits of zero range or zero effort of joints": [
                j.name for j in joints if j.limits.lower == j.limits.upper or j.limits.effort == 0.0
            ],
            "the axes of Coulomb friction (the joint frame's, not the body's) of joints": [
                j.name for j in joints if j.kind in UNEQUAL and j.friction
            ],
            "what is followed by joints": [j.name for j in joints if j.mimic and j.mimic.joint not in known],
            "meshes that are not found or that MuJoCo does not read": described(self.geoms.lost),
        }
        return [f"{what} {listed(names)}" for what, names in found.items() if names]


_SITES = ("site1", "site2")


def _inertial(element: Element, inertia: Inertia) -> None:
    found = principal(inertia)
    assert found is not None  # by the check of bodies
    axes, moments = found
    placed = {"pos": _texts(inertia.centre), **_placed(Pose(axes, ZERO))}
    mass = number(max(inertia.mass, SMALLEST))
    added(element, "inertial", {**placed, "mass": mass, "diaginertia": _texts(moments)})


def _joint(joint: Joint) -> dict[str, str]:
    attributes = {"name": joint.name, "type": TYPES[joint.kind]}
    if joint.kind not in ("ball", "free"):
        attributes["axis"] = _texts(joint.axis)
        if joint.offset:
            attributes["ref"] = number(-joint.offset)
        if _range(joint):
            attributes["range"] = _range(joint)
    losses = {"damping": joint.damping, "frictionloss": joint.friction, "armature": joint.armature}
    losses |= {"stiffness": joint.stiffness, "springref": joint.spring_reference if joint.stiffness else 0.0}
    attributes |= {key: number(x) for key, x in losses.items() if x}
    if 0.0 < joint.limits.effort < math.inf and joint.kind not in ("ball", "free"):
        attributes["actuatorfrcrange"] = _texts((-joint.limits.effort, joint.limits.effort))
    return attributes


def _range(joint: Joint) -> str:
    lower, upper = joint.limits.lower, joint.limits.upper
    is_range = lower < upper and (math.isfinite(lower) or math.isfinite(upper))
    return _texts((max(lower, -UNBOUNDED), min(upper, UNBOUNDED))) if is_range else ""


def _motors(actuator: Element, joint: Joint) -> None:
    effort = joint.limits.effort
    limited = {"ctrlrange": _texts((-effort, effort))} if 0.0 < effort < math.inf else {}
    if joint.type.nv == 1:
        added(actuator, "motor", {"name": joint.name, "joint": joint.name, **limited})
        return
    for k in range(joint.type.nv):
        gear = " ".join("1" if k == i else "0" for i in range(6))
        added(actuator, "motor", {"name": f"{joint.name}[{k}]", "joint": joint.name, "gear": gear, **limited})


def _sites(element: Element, frames: Iterable[Frame]) -> None:
    for frame in frames:
        added(element, "site", {"name": frame.name, **_placed(frame.placement)})


def _placed(pose: Pose) -> dict[str, str]:
    attributes = {} if pose.position == ZERO else {"pos": _texts(pose.position)}
    if pose.rotation != IDENTITY:
        x, y, z, w = to_quaternion(pose.rotation)
        attributes["quat"] = _texts((w, x, y, z))
    return attributes


def _texts(values: Iterable[float]) -> str:
    return " ".join(map(number, values))

"""Random closed robots: linkages in an oblique plane, wheels, loops through joints of every kind, spherical robots."""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import appell
from appell.model import closure, manifold
from appell.model.build import Connection, Link, build
from appell.model.closure import Closure
from appell.model.model import WORLD, Frame, Joint, Model
from appell.read import read_toml
from appell.read.values import rotation
from appell.recursion.kinematics import world_poses
from appell.robot.robot import Robot
from appell.robot.stance import held
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array, Vector
from tests.support.robots import SEEDS, Shape, random_drawing, random_inertia, random_pose, vector

RSSR = """
name = "rssr"
actuators = ["crank"]
home = { crank = 0.3, rocker = 1.2, swivel = [0.0, 0.38, 0.0, 0.925] }

[[links]]
name = "ground"
[[links]]
name = "crank_arm"
mass = 1.0
centre = [0.1, 0.02, 0.01]
inertia = [0.002, 0.01, 0.011]
[[links]]
name = "rod"
mass = 0.8
centre = [0.25, 0.03, 0.0]
inertia = [0.004, 0.02, 0.021]
[[links]]
name = "rocker_arm"
mass = 1.2
centre = [0.0, 0.0, 0.2]
inertia = [0.02, 0.02, 0.003]

[[joints]]
name = "crank"
kind = "continuous"
parent = "ground"
child = "crank_arm"
damping = 0.3
[[joints]]
name = "swivel"
kind = "ball"
parent = "crank_arm"
child = "rod"
origin = { xyz = [0.2, 0.0, 0.05] }
[[joints]]
name = "rocker"
kind = "continuous"
parent = "ground"
child = "rocker_arm"
axis = [0.0, 1.0, 0.0]
origin = { xyz = [0.5, 0.1, -0.3] }
armature = 0.01

[[closures]]
name = "ball"
kind = "point"
first = { link = "rod", xyz = [0.5, 0.0, 0.0] }
second = { link = "rocker_arm", xyz = [0.0, 0.0, 0.4] }
"""
"""A crank and a rocker across it, joined by a rod with balls at both ends: the rod is free to spin."""


@functools.cache
def closed(name: str) -> Robot:
    """Return a closed robot of the catalogue, or the one above, made once."""
    robot = appell.load(read_toml(RSSR)) if name == "rssr" else appell.load(name)
    assert robot.closure_names
    return robot


# Linkages


class _Linkage:
    """A linkage in the making: rods between hinges in a plane xy that is placed at random, about any origin."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.scale = float(rng.uniform(0.5, 2.0))
        self.links = [Link("ground"), Link("frame", random_inertia(rng))]
        mount = Pose(rotation(vector(rng.uniform(-3.0, 3.0, 3))), vector(rng.normal(size=3)))
        self.connections = [Connection(Joint("mount", "fixed", placement=mount), "ground", "frame")]
        self.home: dict[str, tuple[float, ...]] = {}
        self.ends: list[tuple[str, str, Vector, str, Vector]] = []

    def length(self, about: float) -> float:
        """Return a length near one given, in the linkage's scale."""
        return self.scale * about * float(self.rng.uniform(0.95, 1.05))

    def add(self, name: str, parent: str, at: Vector, start: float, **options: Any) -> str:
        """Add a rod on a joint about (or along) an axis, z if none is given, and return the rod's name."""
        friction, damping, armature = (float(x) for x in self.rng.uniform(0.02, 0.1, 3))
        kind = options.pop("kind", "revolute")
        joint = Joint(
            name, kind, placement=Pose(position=at), damping=damping, friction=friction, armature=armature, **options
        )
        self.links.append(Link(f"{name}_rod", random_inertia(self.rng, 0.3 * self.scale)))
        self.connections.append(Connection(joint, parent, f"{name}_rod"))
        self.home[name] = (start,)
        return f"{name}_rod"

    def tie(self, kind: str, first: str, at_first: Vector, second: str, at_second: Vector) -> None:
        """Join points of two rods."""
        self.ends.append((kind, first, at_first, second, at_second))

    def model(self, name: str, actuators: Sequence[str], *, is_floating: bool = False) -> Model:
        """Return the tree with its closures."""
        model = build(name, self.links, self.connections, gravity=vector(4.0 * self.rng.normal(size=3)))
        model = model.floating() if is_floating else model
        frames, ties = list(model.frames), []
        for i, (kind, first, at_first, second, at_second) in enumerate(self.ends):
            for side, link, at in (("first", first, at_first), ("second", second, at_second)):
                frame = model.frame_index[link]
                frames.append(Frame(f"tie{i}/{side}", frame.body, frame.placement.then(Pose(position=at))))
            ties.append(Closure(f"tie{i}", f"tie{i}/first", f"tie{i}/second", closure.KINDS[kind]))
        return replace(
            model,
            frames=tuple(frames),
            closures=tuple(ties),
            actuators=tuple(actuators),
            home=tuple(self.home.items()),
        )


def four_bar(rng: np.random.Generator, *, is_floating: bool = False) -> Model:
    """Return a crank and a rocker, joined by a coupler whose far hinge closes the loop; on a free base if asked."""
    made = _Linkage(rng)
    crank, coupler, rocker, ground = (made.length(x) for x in (0.2, 0.5, 0.4, 0.45))
    first = made.add("crank", "frame", (0.0, 0.0, 0.0), 1.0)
    middle = made.add("coupler", first, (crank, 0.0, 0.0), -0.5)
    last = made.add("rocker", "frame", (ground, 0.0, 0.0), 1.8)
    made.tie("revolute", middle, (coupler, 0.0, 0.0), last, (rocker, 0.0, 0.0))
    return made.model("four-bar", () if is_floating else ("crank",), is_floating=is_floating)


def five_bar(rng: np.random.Generator) -> Model:
    """Return two arms of two rods each that meet at their tips."""
    made = _Linkage(rng)
    lengths = [made.length(x) for x in (0.2, 0.26, 0.22, 0.25)]
    left = made.add("mot1", "frame", (-made.length(0.1), 0.0, 0.0), 2.0)
    left = made.add("free1", left, (lengths[0], 0.0, 0.0), -1.5)
    right = made.add("mot2", "frame", (made.length(0.1), 0.0, 0.0), 0.9)
    right = made.add("free2", right, (lengths[2], 0.0, 0.0), 1.6)
    made.tie("point", left, (lengths[1], 0.0, 0.0), right, (lengths[3], 0.0, 0.0))
    return made.model("five-bar", ("mot1", "mot2"))


def parallelogram(rng: np.random.Generator) -> Model:
    """Return three equal cranks that carry one bar: two loops, of which the second holds nothing new."""
    made = _Linkage(rng)
    length, places = made.length(0.3), (0.0, made.length(0.4), made.length(0.7))
    cranks = [made.add(f"crank{i}", "frame", (x, 0.0, 0.0), 1.4) for i, x in enumerate(places)]
    bar = made.add("bar", cranks[0], (length, 0.0, 0.0), -1.4)
    for crank, x in zip(cranks[1:], places[1:], strict=True):
        made.tie("revolute", bar, (x, 0.0, 0.0), crank, (length, 0.0, 0.0))
    return made.model("parallelogram", ("crank0",))


def slider_crank(rng: np.random.Generator) -> Model:
    """Return a crank whose rod drives a slider along a line that misses the crank's axis."""
    made = _Linkage(rng)
    crank, rod, aside = (made.length(x) for x in (0.2, 0.6, 0.05))
    first = made.add("crank", "frame", (0.0, 0.0, 0.0), 0.8)
    middle = made.add("rod", first, (crank, 0.0, 0.0), -1.0)
    slider = made.add("slider", "frame", (0.0, aside, 0.0), 0.7 * made.scale, kind="prismatic", axis=(1.0, 0.0, 0.0))
    made.tie("revolute", middle, (rod, 0.0, 0.0), slider, (0.0, 0.0, 0.0))
    return made.model("slider-crank", ("crank",))


# Wheels


def cart(rng: np.random.Generator) -> Model:
    """Return a cart on two driven wheels that roll on a floor, with an arm of one joint on it."""
    radius, half = float(rng.uniform(0.05, 0.2)), float(rng.uniform(0.2, 0.4))
    damping, friction, armature = (float(x) for x in rng.uniform(0.02, 0.1, 3))
    losses: dict[str, Any] = {"damping": damping, "friction": friction, "armature": armature}
    sides = {"left": half, "right": -half}
    links = [Link("floor"), Link("cart", random_inertia(rng))]
    connections = [Connection(Joint("drive", "planar"), "floor", "cart")]
    for side, y in sides.items():
        links.append(Link(f"{side}_wheel", _wheel(rng, radius)))
        seat = Pose(rotation((-0.5 * math.pi, 0.0, 0.0)), (0.0, y, radius))
        connections.append(Connection(Joint(side, "continuous", placement=seat, **losses), "cart", f"{side}_wheel"))
    links.append(Link("arm", random_inertia(rng)))
    connections.append(Connection(Joint("arm", "revolute", placement=random_pose(rng), **losses), "cart", "arm"))
    model = build("cart", links, connections)
    ties = (Closure(f"{side}_contact", "floor", f"{side}_wheel", closure.KINDS["rolling"], radius) for side in sides)
    return replace(model, closures=tuple(ties), actuators=("left", "right", "arm"))


def disc(rng: np.random.Generator) -> Model:
    """Return a tilted disc that rolls on the floor, free to move as it will."""
    radius = float(rng.uniform(0.1, 0.5))
    links = [Link("floor"), Link("plate", _wheel(rng, radius))]
    model = build("disc", links, [Connection(Joint("disc", "free"), "floor", "plate")])
    tie = Closure("rim", "floor", "plate", ("x", "y", "z"), radius)
    return replace(model, closures=(tie,), home=(("disc", (0.0, 0.0, radius, 0.6, 0.0, 0.0, 0.8)),))


def _wheel(rng: np.random.Generator, radius: float) -> Inertia:
    """Return the inertia of a wheel about z, its mass centre a little off the axle."""
    mass = float(rng.uniform(0.5, 3.0))
    across, along = 0.25 * mass * radius**2, 0.5 * mass * radius**2
    tensor = ((across, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, along))
    return Inertia.from_centre(mass, vector(0.1 * radius * rng.normal(size=3)), tensor)


def linkages() -> st.SearchStrategy[Model]:
    """Return random linkages and wheels."""
    makers = st.sampled_from([four_bar, five_bar, parallelogram, slider_crank, cart, disc])
    return st.builds(lambda make, seed: make(np.random.default_rng(seed)), makers, SEEDS)


# Loops through any joints


def loop(
    rng: np.random.Generator, shape: Shape, kind: str, actuators: Sequence[str] = (), socket: int = WORLD
) -> Model:
    """Return a chain of joints of any kinds whose tip is tied to the world or to a body, where a random q puts it."""
    model = random_drawing(rng, shape, has_friction=True).model
    q = manifold.random(model, rng, ())
    poses = world_poses(model, tuple(float(x) for x in q))
    tip = model.frame_index["tip"]
    there = poses[tip.body].then(tip.placement)
    seat = Frame("socket", socket, there if socket == WORLD else poses[socket].inverse().then(there))
    places = zip(model.bodies, model.q_slices, strict=True)
    return replace(
        model,
        name=f"{kind} loop",
        frames=(*model.frames, seat),
        closures=(Closure("loop", "socket", "tip", closure.KINDS[kind]),),
        actuators=tuple(actuators),
        home=tuple((body.joint.name, tuple(float(x) for x in q[where])) for body, where in places),
    )


# Robots on their feet


def biped(rng: np.random.Generator) -> Model:
    """Return a floating base on two point feet, knees bent: it turns about the line through its feet as it will.

    So one of its six velocities is passive, and one of its six motors redundant.
    """
    damping, friction, armature = (float(x) for x in rng.uniform(0.02, 0.1, 3))
    losses: dict[str, Any] = {"damping": damping, "friction": friction, "armature": armature}
    links, connections, feet = [Link("trunk", random_inertia(rng))], [], {}
    home = {"hip": 0.1, "thigh": 0.7, "knee": -1.3}
    for side, y in (("left", 0.2), ("right", -0.2)):
        parent, seats = "trunk", {"hip": (0.0, y, 0.0), "thigh": (0.0, 0.1 * y, -0.05), "knee": (0.0, 0.0, -0.4)}
        for joint, seat in seats.items():
            name, at = f"{side}_{joint}", Pose(position=vector(np.array(seat) + 0.02 * rng.normal(size=3)))
            axis = (1.0, 0.0, 0.0) if joint == "hip" else (0.0, 1.0, 0.0)
            links.append(Link(f"{name}_link", random_inertia(rng, 0.3)))
            connections.append(Connection(Joint(name, "revolute", axis, at, **losses), parent, f"{name}_link"))
            parent = f"{name}_link"
        links.append(Link(f"{side}_foot"))
        sole = Joint(f"{side}_ankle", "fixed", placement=Pose(position=(0.0, 0.0, -0.4)))
        connections.append(Connection(sole, parent, f"{side}_foot"))
        feet[f"{side}_foot"] = 3
    model = build("biped", links, connections).floating()
    q, places = manifold.neutral(model), dict(zip((b.joint.name for b in model.bodies), model.q_slices, strict=True))
    for side in ("left", "right"):
        for joint, angle in home.items():
            q[places[f"{side}_{joint}"]] = angle
    return held(model, feet, q)


# Spherical robots

WRIST = """
[spherical]
kind = "agile-wrist"
lambda = ["0 deg", "120 deg", "240 deg"]
eta = ["0 deg", "120 deg", "240 deg"]
gamma = 0.9553166181245093
beta = 0.6154797086703873
alpha1 = "80 deg"
alpha2 = "70 deg"
home = [0.0, 0.0, 0.0]
spread = 0.6
link1 = [{0}, {1}, {2}]
link2 = [{3}, {4}, {5}]
platform = {6}
"""
STAR = """
[spherical]
kind = "sst"
corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
star = "120 deg"
home = [0.7853981633974483, 0.9553166181245093, 0.0]
spread = 0.4
actuated = [{0}, {1}, {2}]
passive = [{3}, {4}, {5}]
platform = {6}
"""


def spherical(text: str, rng: np.random.Generator) -> Robot:
    """Return a spherical robot whose seven bodies have random inertias about the common centre."""
    bodies = [f"{{ parameters = {[float(x) for x in random_inertia(rng, 0.3).parameters]} }}" for _ in range(7)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.toml")
        file.write_text(text.format(*bodies), encoding="utf-8")
        return appell.load(file, gravity=tuple(4.0 * rng.normal(size=3)))


def stretched(robot: Robot, gap: float) -> Array:
    """Return a configuration of the five-bar whose distal rods are in line but for a gap in their elbows' distance."""
    first = 2.8
    elbow = np.array([-0.1, 0.0]) + 0.2 * np.array([np.cos(first), np.sin(first)])

    def other(angle: float) -> Array:
        return np.array([0.1, 0.0]) + 0.22 * np.array([np.cos(angle), np.sin(angle)])

    low, high = 0.0, 2.0  # the distance of the elbows falls as the second motor turns inward
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.linalg.norm(other(middle) - elbow) > 0.51 - gap else (low, middle)
    across = other(low) - elbow
    distance = float(np.linalg.norm(across))
    along = np.arctan2(across[1], across[0])
    inner = np.arccos(np.clip((distance**2 + 0.26**2 - 0.25**2) / (2.0 * distance * 0.26), -1.0, 1.0))
    outer = np.arccos(np.clip((distance**2 + 0.25**2 - 0.26**2) / (2.0 * distance * 0.25), -1.0, 1.0))
    return np.array([first, along + inner - first, low, along + np.pi - outer - low])

"""What every test shares: a cache of its own, random numbers, random robots, robots and numbers of peers.

No folder of tests is on ``sys.path``, so helpers are fixtures too, of session scope, which hypothesis accepts. For
``st.from_type(Model)`` hypothesis draws random trees.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import appell
from appell.loops.closed import close
from appell.loops.closed_robot import ClosedRobot
from appell.model.model import WORLD, Body, Frame, Joint, Model
from appell.read import read_toml
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about, from_rpy
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO
from appell.trace.tape import flatten

Array = NDArray[Any]

# Every run draws the same examples, and a slow machine is no failure.
settings.register_profile("appell", derandomize=True, deadline=None, max_examples=30)
settings.load_profile("appell")


def pytest_configure(config: pytest.Config) -> None:
    """Give this run a cache of compiled code of its own; its workers inherit the name of the folder.

    There is a worker for each core, so that linear algebra in many threads would only be in the way.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ["APPELL_CACHE"] = tempfile.mkdtemp(prefix="appell-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ["APPELL_CACHE"], ignore_errors=True))


# C compilers


class Compiler(NamedTuple):
    """A C compiler: how it is called, and what it can watch while a program runs."""

    name: str
    command: tuple[str, ...]
    sanitizers: str

    def build(self, *arguments: object) -> None:
        """Compile, every warning an error."""
        command = [*self.command, *WARNINGS, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow", "-Wdouble-promotion")


def _compilers() -> list[Compiler]:
    """Return gcc where it is, and clang: the machine's, or the one that the wheel of Zig brings."""
    both = "-fsanitize=address,undefined"
    found = [Compiler(name, (name,), both) for name in ("gcc", "clang") if shutil.which(name)]
    if all(one.name != "clang" for one in found) and importlib.util.find_spec("ziglang"):
        zig = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined")  # which Zig adds unasked
        found.append(Compiler("clang", zig, "-fsanitize=undefined"))
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a compiler with each one."""
    if "compiler" in metafunc.fixturenames:
        metafunc.parametrize("compiler", _compilers(), ids=lambda one: one.name, scope="session")


@pytest.fixture(scope="session")
def any_compiler() -> Compiler:
    """Return one C compiler."""
    found = _compilers()
    if not found:
        pytest.skip("there is no C compiler: neither gcc, nor clang, nor the wheel ziglang")
    return found[0]


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator of random numbers, the same in every test."""
    return np.random.default_rng(2002)


@pytest.fixture(scope="session")
def robots() -> Path:
    """Return the folder of example-robot-data's robots, each a folder of URDF files."""
    folder = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed; run make install")
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of papers and data that stands beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("there is no folder 'shared' beside the repository")
    return folder


# Random robots

Shape = Sequence[tuple[str, int]]
"""Per body the kind of its joint and how many steps rootward from the body before its parent is: 0 goes on a chain."""
MOVING = ("revolute", "continuous", "prismatic")


def random_tree(rng: np.random.Generator, shape: int | Shape, *, has_friction: bool = False) -> Model:
    """Return a random tree of bodies, general or, in places, as special as machines are.

    Axes and placements are often along coordinates, parallel or meeting in a point, since that is where special cases
    live. Every body has a frame of its name and one called "tip" that is fixed to the last.
    """
    if isinstance(shape, int):
        shape = [(MOVING[k], int(back)) for k, back in rng.integers(0, (3, 3), (shape, 2))]
    bodies: list[Body] = []
    frames: list[Frame] = []
    for i, (kind, back) in enumerate(shape):
        friction, damping, armature = rng.uniform(0.1, 1.0, 3) if has_friction else (0.0, 0.0, 0.0)
        joint = Joint(
            name=f"joint{i}",
            kind=kind,
            axis=_random_axis(rng),
            placement=Pose(_random_rotation(rng), _random_position(rng)),
            offset=float(rng.choice([0.0, rng.normal()])),
            damping=float(damping),
            friction=float(friction),
            armature=float(armature),
        )
        parent = i - 1
        for _ in range(back):
            parent = bodies[parent].parent if parent != WORLD else WORLD
        bodies.append(Body(f"body{i}", parent, joint, _random_inertia(rng)))
        frames.append(Frame(f"body{i}", i, Pose()))
    frames.append(Frame("tip", len(bodies) - 1, Pose(_random_rotation(rng), _random_position(rng))))
    gravity = _vector(rng.normal(size=3)) if rng.random() < 0.5 else (0.0, 0.0, -9.81)
    return Model("tree", tuple(bodies), tuple(frames), gravity)


def _vector(x: Array) -> Vector:
    return (float(x[0]), float(x[1]), float(x[2]))


def _random_axis(rng: np.random.Generator) -> Vector:
    if rng.random() < 0.5:
        return _vector(np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]))
    x = rng.normal(size=3)
    return _vector(x / np.linalg.norm(x))


def _random_rotation(rng: np.random.Generator) -> Matrix:
    choice = rng.integers(4)
    if choice == 0:
        return IDENTITY
    if choice == 1:
        angle = float(rng.choice([0.5, 1.0, 1.5])) * math.pi
        return about(_vector(np.eye(3)[rng.integers(3)]), math.cos(angle), math.sin(angle))
    return from_rpy(*_vector(rng.uniform(-3.0, 3.0, 3)))


def _random_position(rng: np.random.Generator) -> Vector:
    choice = rng.integers(4)
    if choice == 0:
        return ZERO
    return _vector(rng.normal(size=3) * (np.eye(3)[rng.integers(3)] if choice == 1 else 1.0))


def _random_inertia(rng: np.random.Generator) -> Inertia:
    mass, spread = rng.uniform(0.5, 5.0), rng.normal(size=(3, 3))
    second = 0.05 * mass * (spread @ spread.T + 0.1 * np.eye(3))  # ∫ x xᵀ dm about the centre
    tensor = np.trace(second) * np.eye(3) - second
    rows = (_vector(tensor[0]), _vector(tensor[1]), _vector(tensor[2]))
    return Inertia.from_centre(float(mass), _vector(0.3 * rng.normal(size=3)), rows)


SHAPES = st.lists(st.tuples(st.sampled_from(MOVING), st.integers(0, 3)), min_size=1, max_size=7)
st.register_type_strategy(
    Model,
    st.builds(
        lambda seed, shape, has_friction: random_tree(np.random.default_rng(seed), shape, has_friction=has_friction),
        st.integers(0, 2**32 - 1),
        SHAPES,
        st.booleans(),
    ),
)


@pytest.fixture(scope="session")
def tree() -> Callable[..., Model]:
    """Return :func:`random_tree`."""
    return random_tree


@pytest.fixture(scope="session")
def state() -> Callable[..., tuple[Array, Array, Array]]:
    """Return a function of a model, and of a number of samples if any, that draws q, v, a; the same at each call."""

    def draw(model: Any, size: int | None = None) -> tuple[Array, Array, Array]:
        rng = np.random.default_rng(model.nv)
        leading = () if size is None else (size,)
        q = rng.uniform(-math.pi, math.pi, (*leading, model.nq))
        return q, 2.0 * rng.normal(size=(*leading, model.nv)), 3.0 * rng.normal(size=(*leading, model.nv))

    return draw


# Evaluation without a compiler


@pytest.fixture(scope="session")
def evaluate() -> Callable[..., Array]:
    """Return a function that runs a recursion on arrays (…, n), real or complex; its scalars are arrays."""
    return _evaluate


def _evaluate(program: Callable[..., Any], model: Model, *arguments: Any) -> Array:
    arrays = [np.asarray(argument) for argument in arguments]
    leading = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    nested = program(model, *(tuple(np.moveaxis(array, -1, 0)) for array in arrays))
    shape, level = [], nested
    while isinstance(level, tuple):
        shape.append(len(level))
        level = level[0] if level else 0.0
    leaves = [np.broadcast_to(x, leading) for x in flatten(nested)]
    return np.stack(leaves, axis=-1).reshape((*leading, *shape)) if leaves else np.zeros((*leading, *shape))


@pytest.fixture(scope="session")
def differentiate() -> Callable[..., Array]:
    """Return a function of a recursion, a model and its arguments that gives ∂result/∂argument by complex step.

    `by` says which argument; the derivative's axis comes last. Exact to rounding: there is no difference of two values.
    """

    def derivative(program: Callable[..., Any], model: Model, *arguments: Any, by: int) -> Array:
        step = 1e-30
        n = len(arguments[by])
        moved = [
            np.asarray(x) + 1j * step * np.eye(n) if k == by else np.tile(x, (n, 1)) for k, x in enumerate(arguments)
        ]
        return np.moveaxis(_evaluate(program, model, *moved).imag / step, 0, -1)

    return derivative


@pytest.fixture(scope="session")
def agree() -> Callable[..., None]:
    """Return a check that two arrays of one shape differ by less than `within` of the largest number of the second.

    Where that may be zero, `size` gives the size of what cancels in it.
    """

    def check(x: Any, y: Any, within: float = 1e-10, size: float = 0.0) -> None:
        x, y = np.asarray(x), np.asarray(y)
        assert x.shape == y.shape
        assert np.abs(x - y).max(initial=0.0) <= within * max(np.abs(y).max(initial=0.0), size)

    return check


# Peers


class Peer:
    """A model in Pinocchio, body by body."""

    def __init__(self, model: Model) -> None:
        self.pin = pytest.importorskip("pinocchio")
        self.offset = np.array([body.joint.offset for body in model.bodies])
        self.model = self.pin.Model()
        self.model.gravity.linear = np.array(model.gravity)
        for body in model.bodies:
            joint, turns = body.joint, body.joint.type.turns
            make = self.pin.JointModelRevoluteUnaligned if turns else self.pin.JointModelPrismaticUnaligned
            placement = self.pin.SE3(np.array(joint.placement.rotation), np.array(joint.placement.position))
            added = self.model.addJoint(body.parent + 1, make(np.array(joint.axis)), placement, joint.name)
            inertia = self.pin.Inertia.FromDynamicParameters(np.array(body.inertia.parameters))
            if body.inertia.mass == 0.0:  # FromDynamicParameters divides by the mass
                inertia = self.pin.Inertia(0.0, np.zeros(3), np.array(body.inertia.tensor))
            self.model.appendBodyToJoint(added, inertia, self.pin.SE3.Identity())
        self.data = self.model.createData()

    def torque(self, q: Any, v: Any, a: Any) -> Array:
        """Return the joint forces, rotor inertia and friction left out."""
        tau: Array = self.pin.rnea(self.model, self.data, np.array(q) + self.offset, np.array(v), np.array(a))
        return tau

    def mass_matrix(self, q: Any) -> Array:
        """Return the inertia matrix."""
        upper = np.triu(self.pin.crba(self.model, self.data, np.array(q) + self.offset))
        full: Array = upper + np.triu(upper, 1).T
        return full


@pytest.fixture(scope="session")
def peer() -> Callable[[Model], Peer]:
    """Return a function that builds a model in Pinocchio; tests that use it are skipped without Pinocchio."""
    return Peer


# Closed robots

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
def _closed(name: str) -> ClosedRobot:
    robot = close(read_toml(RSSR)) if name == "rssr" else appell.load(name)
    assert isinstance(robot, ClosedRobot)
    return robot


@pytest.fixture(scope="session")
def closed() -> Callable[[str], ClosedRobot]:
    """Return a function from a name to a closed robot, made once."""
    return _closed

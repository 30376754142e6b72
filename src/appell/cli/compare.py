"""``appell compare``: robots of a folder compared with Pinocchio or MuJoCo in random states, in one table.

Nothing is compiled: the recursions run on arrays with one number per state. Tracing and native code are covered by the
tests of laws.

MuJoCo's constraints, contacts, springs, servos, fluids and gravity compensation are switched off in the compiled model,
and that model is what both sides take. Damping and rotor inertia stay, but for the rotor inertia of free joints.
"""

from __future__ import annotations

import sysconfig
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from appell import interop
from appell.cli.common import AsJson, RobotOptions, argument, option, show, show_json
from appell.errors import AppellError, AppellWarning, FragmentError, InputError
from appell.extras import extra
from appell.files import file_bytes, write
from appell.interop.convention import Convention
from appell.loading import load
from appell.messages import listed
from appell.model.model import GRAVITY, Model
from appell.read import XACRO
from appell.read.mjcf import model_of_compiled
from appell.read.write_urdf import urdf_text
from appell.read.xacro import expanded
from appell.read.xml import elements, outermost, tag
from appell.reports.table import Cell, Table
from appell.robot.robot import Robot
from appell.robot.singular.massless import massless
from appell.robot.verbs.programs import Actuated, Solved
from appell.spatial.scalar import Array
from appell.trace.tape import flatten


def pinocchio() -> Any:
    """Return the module of Pinocchio, or None if it is not installed."""
    try:
        found = extra("pinocchio", "the comparison needs")
    except InputError:
        return None
    return found if hasattr(found, "buildModelFromUrdf") else None


def ur5() -> Path | None:
    """Return the UR5 file of the package example-robot-data, or None if it is not installed."""
    place = Path("cmeel.prefix", "share", "example-robot-data", "robots", "ur_description", "urdf", "ur5_robot.urdf")
    file = Path(sysconfig.get_path("purelib"), place)
    return file if file.is_file() else None


def from_model(pin: Any, model: Model) -> Any:
    """Return a Pinocchio model with the same bodies and joints, for robots without a URDF.

    Raises
    ------
    ModelError
        When the robot has a joint that URDF does not have.
    """
    built = pin.buildModelFromXML(urdf_text(replace(model, gravity=GRAVITY)))
    built.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    return built


class Peer(NamedTuple):
    """A robot in Pinocchio: its model, the conversion of states, and the places of our velocities among its own."""

    pin: Any
    model: Any
    there: Convention
    order: Array

    @classmethod
    def of(cls, pin: Any, robot: Robot, model: Any) -> Peer:
        """Return the peer of a robot for a model of it, which gets the robot's gravity and no rotor inertia."""
        model.gravity = pin.Motion(np.array(robot.model.gravity), np.zeros(3))
        model.armature = np.zeros(model.nv)
        there = interop.pinocchio(robot, model)
        return cls(pin, model, there, np.argsort(there.v(robot.neutral(), np.arange(robot.nv))))


# Pinocchio

SDF = ".sdf"
FARTHEST = 10.0
"""The largest displacement of a prismatic joint in the compared states [m]."""
QUANTITIES = ("tau", "M", "C v", "gravity", "Y pi", "poses", "Jacobians", "residual")
"""The compared quantities, in the order of the table; the residual of forward dynamics is M·a + bias − tau."""


@dataclass(frozen=True)
class Agreement:
    """One robot and a peer: the largest relative error of each quantity, or why there is none."""

    path: Path
    is_floating: bool
    nq: int | None = None
    nv: int | None = None
    errors: dict[str, float] = field(default_factory=dict)
    note: str = ""
    is_refused: bool = False
    peer: str = "Pinocchio"
    base: str = ""
    """The base, where it is neither fixed nor floating."""
    is_fragment: bool = False
    """Whether the file is a fragment that others include."""
    is_unmatched: bool = False
    """Whether the peer does not read the file."""

    @property
    def worst(self) -> float:
        """Return the largest error; NaN counts as infinite."""
        return max((x if np.isfinite(x) else np.inf for x in self.errors.values()), default=0.0)

    def noted(self, note: str, **changes: Any) -> Agreement:
        """Return the row with one more note."""
        return replace(self, note=", ".join(filter(None, (self.note, note))), **changes)


def refusal(path: Path, error: AppellError, *, peer: str, base: str = "", is_floating: bool = False) -> Agreement:
    """Return the row of a refused file, with the line and the reason."""
    text = str(error).removeprefix(str(path))
    reason = f"line {text[1:]}" if text[:1] == ":" and text[1:2].isdigit() else text.lstrip(": ")
    is_fragment = isinstance(error, FragmentError)
    note = f"{'no robot' if is_fragment else 'refused'}, {reason}"
    return Agreement(
        path, is_floating, note=note, is_refused=not is_fragment, peer=peer, base=base, is_fragment=is_fragment
    )


def singular_note(robot: Robot, mass: Array) -> str:
    """Return a note on the joints that make the mass matrix singular; "" if there are none."""
    idle, together = massless(robot.independent, mass)
    how = "move no inertia" if idle else "together move no inertia"
    return f"singular mass matrix: {listed(idle or together, 3)} {how}" if idle or together else ""


@dataclass(frozen=True)
class States:
    """A robot in appell and in Pinocchio, and the same random states in both orders."""

    pin: Any
    model: Any
    robot: Robot
    order: list[int]
    """The places of our velocities among those of Pinocchio."""
    ours: dict[str, Array]
    theirs: dict[str, Array]

    def peer(self, reference: Callable[..., Any], *names: str) -> Array:
        """Return a function of Pinocchio in every state, in the order of Pinocchio."""
        data = self.model.createData()
        samples = zip(*(self.theirs[name] for name in names), strict=True)
        return np.array([np.array(reference(self.model, data, *sample)) for sample in samples])

    def result(self, verb: str, frame: str | None = None) -> Array:
        """Return our result of a verb in every state."""
        return on_arrays(self.robot, verb, [self.ours[name] for name, _ in self.robot.verbs[verb].inputs], frame)


def on_arrays(robot: Robot, verb: str, arguments: list[Array], frame: str | None = None) -> Array:
    """Return a verb's result for arrays (states, n), by its recursion and without compiling.

    >>> on_arrays(load("two-link"), "mass_matrix", [np.zeros((5, 2))]).shape
    (5, 2, 2)
    """
    competitors = robot.kind.competitors(verb)
    name, variant = next((one for one in competitors if one.formulation == "composite"), competitors[0])
    program, about = robot.kind.formulations(verb)[name].program, () if frame is None else (frame,)
    made = program(robot.kind.embedding(variant), *(tuple(x.T) for x in arguments), *about)
    results = list(flatten(made.results if isinstance(made, Solved | Actuated) else made))
    (port,) = robot.verbs[verb].ports(robot.kind.facts.sizes)[1]
    count = len(arguments[0])
    columns = [np.broadcast_to(np.asarray(x, dtype=float), (count,)) for x in results]
    return np.stack(columns, axis=-1).reshape((count, *port.shape)) if columns else np.zeros((count, *port.shape))


def agreement(pin: Any, path: Path, *, is_floating: bool, samples: int, most: int | None = None) -> Agreement:
    """Return the comparison of one file on a fixed or a floating base; `most` bounds the number of compared links."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AppellWarning)  # about inertias that are not physical: both libraries use them
        try:
            robot = load(path, floating=is_floating, friction=False, armature=False, loops=False)
        except AppellError as error:
            return refusal(path, error, peer="Pinocchio", is_floating=is_floating)
        blank = Agreement(path, is_floating, robot.nq, robot.nv)
        if not robot.nv:
            return blank.noted("no moving joint")
        try:
            model = _peer_model(pin, path, robot, is_floating)
        except (ValueError, RuntimeError, AppellError) as error:
            text = " ".join(str(error).split())
            return blank.noted(f"Pinocchio: {text}", is_unmatched=True)
    if path.suffix.lower() == SDF:
        blank = blank.noted("Pinocchio does not read SDF: its model is built from the links and joints of appell")
    states = random_states(pin, model, robot, samples, np.random.default_rng(2018))
    note = singular_note(robot, states.result("mass_matrix")[0])
    return blank.noted(note, errors=errors(states, not note, most))


def _peer_model(pin: Any, path: Path, robot: Robot, is_floating: bool) -> Any:
    """Return the model of Pinocchio: of the file, of the expanded xacro file, or for SDF of our links and joints."""
    root = [pin.JointModelFreeFlyer()] if is_floating else []
    ending = path.suffix.lower()
    if ending == XACRO:
        return pin.buildModelFromXML(expanded(path), *root)
    if ending == SDF:
        tree = load(path, friction=False, armature=False, loops=False).model
        return pin.buildModelFromXML(urdf_text(replace(tree, gravity=GRAVITY)), *root)
    return pin.buildModelFromUrdf(str(path), *root)


def random_motion(robot: Robot, samples: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return random configurations, velocities and accelerations, with bounded displacements of prismatic joints.

    Some files have ranges of ±10⁶ m, where a Coriolis matrix in world coordinates loses precision: compared with
    extended precision, Pinocchio's is off by 7e-3 there and by 2e-12 within 10 m, ours by 3e-16.
    """
    q, v, a = robot.random(rng, samples), *rng.normal(size=(2, samples, robot.nv))
    for body, where in zip(robot.model.bodies, robot.model.q_slices, strict=True):
        if body.joint.kind == "prismatic" and body.joint.limits.upper - body.joint.limits.lower > 2.0 * FARTHEST:
            q[:, where] = rng.uniform(-FARTHEST, FARTHEST, size=(samples, 1))
    return q, v, a


def random_states(pin: Any, model: Any, robot: Robot, samples: int, rng: np.random.Generator) -> States:
    """Return random states of a robot, also in Pinocchio's order and coordinates."""
    q, v, a = random_motion(robot, samples, rng)
    peer = Peer.of(pin, robot, model)
    back = np.argsort(peer.order)
    theirs = {"q": peer.there.q(q), "v": v[:, back], "a": a[:, back]}
    states = States(pin, model, robot, peer.order.tolist(), {"q": q, "v": v, "a": a}, theirs)
    states.theirs["tau"] = states.peer(pin.rnea, "q", "v", "a")
    states.ours["tau"] = states.theirs["tau"][:, states.order]
    return states


def errors(states: States, has_inverse: bool, most: int | None) -> dict[str, float]:
    """Return the largest error of each quantity, relative to its largest entry in all states.

    C·v and gravity may be zero; their errors are relative to the largest torque.
    """
    pin, order, tau, v = states.pin, states.order, states.ours["tau"], states.ours["v"]
    torque = float(np.abs(tau).max())
    matrices = states.peer(lambda m, d, q: _full(pin.crba(m, d, q)), "q")
    coriolis = states.peer(lambda m, d, q, v: np.atleast_2d(pin.computeCoriolisMatrix(m, d, q, v)) @ v, "q", "v")[
        :, order
    ]
    gravity = states.peer(pin.computeGeneralizedGravity, "q")[:, order]
    found = {
        "tau": relative(states.result("inverse_dynamics"), tau),
        "M": relative(states.result("mass_matrix"), matrices[:, order][:, :, order]),
        "C v": relative(np.einsum("sij,sj->si", states.result("coriolis_matrix"), v), coriolis, torque),
        "gravity": relative(states.result("gravity"), gravity, torque),
        "Y pi": relative(states.result("regressor") @ states.robot.parameters, tau),
        **_of_frames(states, most),
    }
    if has_inverse:
        a = states.result("forward_dynamics")[:, np.argsort(order)]
        bias = states.peer(pin.nonLinearEffects, "q", "v")
        found["residual"] = relative(np.einsum("sij,sj->si", matrices, a) + bias, states.theirs["tau"])
    return found


def _of_frames(states: States, most: int | None) -> dict[str, float]:
    """Return the errors of pose and Jacobian over all links of the file, or over at most `most` of them."""
    pin, frames = states.pin, states.model.frames
    known = states.robot.model.frame_index
    found = [(f.name, k) for k, f in enumerate(frames) if f.type == pin.FrameType.BODY and f.name in known]
    links = dict(found if most is None else found[:: -(-len(found) // most) or 1])

    def poses(model: Any, data: Any, q: Array) -> list[Array]:
        pin.framesForwardKinematics(model, data, q)
        return [data.oMf[index].homogeneous.copy() for index in links.values()]

    def jacobians(model: Any, data: Any, q: Array) -> list[Array]:
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        axes = pin.LOCAL_WORLD_ALIGNED
        # Pinocchio's binding makes a vector of a matrix of one column
        found = (pin.getFrameJacobian(model, data, index, axes) for index in links.values())
        return [np.reshape(matrix, (6, model.nv)).copy() for matrix in found]

    if not links:
        return {}
    ours = np.stack([states.result("pose", name) for name in links], axis=1)
    poses_off = relative(ours, states.peer(poses, "q"))
    ours = np.stack([states.result("jacobian", name) for name in links], axis=1)
    return {"poses": poses_off, "Jacobians": relative(ours, states.peer(jacobians, "q")[..., states.order])}


def relative(x: Array, y: Array, size: float = 0.0) -> float:
    """Return the largest difference, relative to the largest entry of y or to `size`."""
    return float(np.abs(x - y).max() / (max(float(np.abs(y).max()), size) or 1.0))


def _full(upper: Array) -> Array:
    square = np.triu(np.atleast_2d(upper))
    return square + np.triu(square, 1).T


# MuJoCo

OFF = ("CONSTRAINT", "CONTACT", "SPRING", "ACTUATION")
"""The flags of forces beside those of the equations of motion."""


def mujoco_agreement(path: Path, *, samples: int, most: int | None = None) -> Agreement:
    """Return the comparison of an MJCF file with MuJoCo; `most` bounds the number of compared bodies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AppellWarning)  # about features that are ignored
        try:
            loaded = load(path)
            mujoco = extra("mujoco", "the comparison needs")
            compiled = plain(mujoco, mujoco.MjModel.from_xml_path(str(path.absolute())))
            robot = load(model_of_compiled(mujoco, compiled, str(path)), loops=False)
        except AppellError as error:
            return refusal(path, error, peer="MuJoCo", base="file")
    note = f"{len(loaded.model.closures)} loops open" if loaded.model.closures else ""
    blank = Agreement(path, False, robot.nq, robot.nv, note=note, peer="MuJoCo", base="file")
    if not robot.nv:
        return blank.noted("no moving joint")
    q, v, a = random_motion(robot, samples, np.random.default_rng(2018))
    weightless = singular_note(robot, on_arrays(robot, "mass_matrix", [q[:1]])[0])
    found = _errors(mujoco, compiled, robot, (q, v, a), most, has_inverse=not weightless)
    return blank.noted(weightless, errors=found)


def plain(mujoco: Any, compiled: Any) -> Any:
    """Return a compiled model with inertia, gravity, damping and rotor inertia only."""
    for name in OFF:
        compiled.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    compiled.opt.density = compiled.opt.viscosity = 0.0
    for name in ("jnt_stiffness", "tendon_stiffness", "tendon_damping", "tendon_armature", "body_gravcomp"):
        getattr(compiled, name)[:] = 0.0
    compiled.dof_frictionloss[:] = 0.0
    for name in ("jnt_stiffnesspoly", "dof_dampingpoly", "tendon_stiffnesspoly", "tendon_dampingpoly"):
        if hasattr(compiled, name):
            getattr(compiled, name)[:] = 0.0
    return compiled


def _errors(
    mujoco: Any, compiled: Any, robot: Robot, states: tuple[Array, Array, Array], most: int | None, *, has_inverse: bool
) -> dict[str, float]:
    q, v, a = states
    data, there, still = mujoco.MjData(compiled), interop.mujoco(robot, compiled), np.zeros_like(v)
    turns = np.array([there.matrix(x) for x in q])

    def inverse(v: Array, a: Array) -> Array:
        """Return the forces of MuJoCo for these accelerations, in our coordinates."""
        found = []
        for x, speeds, rates, turn in zip(q, v, a, turns, strict=True):
            data.qpos[:], data.qvel[:], data.qacc[:] = there.q(x), there.v(x, speeds), there.a(x, speeds, rates)
            mujoco.mj_inverse(compiled, data)
            found.append(turn.T @ data.qfrc_inverse)
        return np.array(found)

    def matrices() -> Array:
        found = []
        for x, turn in zip(q, turns, strict=True):
            data.qpos[:] = there.q(x)
            mujoco.mj_forward(compiled, data)
            full = np.zeros((compiled.nv, compiled.nv))
            mujoco.mj_fullM(compiled, data, full)
            found.append(turn.T @ full @ turn)
        return np.array(found)

    tau = inverse(v, a)
    torque = float(np.abs(tau).max())
    ours = on_arrays(robot, "inverse_dynamics", [q, v, a])
    gravity = on_arrays(robot, "gravity", [q])
    found = {
        "tau": relative(ours, tau),
        "M": relative(on_arrays(robot, "mass_matrix", [q]), matrices()),
        "gravity": relative(gravity, inverse(still, still), torque),
        "Y pi": relative(on_arrays(robot, "regressor", [q, v, a]) @ robot.parameters, tau),
        "poses": _poses_off(mujoco, compiled, robot, there, q, most),
    }
    if has_inverse:
        found["residual"] = relative(inverse(v, on_arrays(robot, "forward_dynamics", [q, v, tau])), tau)
    return found


def _poses_off(mujoco: Any, compiled: Any, robot: Robot, there: Any, q: Array, most: int | None) -> float:
    names = [(i, compiled.body(i).name or f"body{i}") for i in range(1, compiled.nbody)]
    names = [(i, name) for i, name in names if name in robot.model.frame_index]
    names = names if most is None else names[:: -(-len(names) // most) or 1]
    if not names:
        return 0.0
    data, theirs = mujoco.MjData(compiled), []
    for x in q:
        data.qpos[:] = there.q(x)
        mujoco.mj_kinematics(compiled, data)
        theirs.append([np.c_[data.xmat[i].reshape(3, 3), data.xpos[i]] for i, _ in names])
    ours = np.stack([on_arrays(robot, "pose", [q], name)[:, :3] for _, name in names], axis=1)
    return relative(ours, np.array(theirs))


# The command

ENDINGS = (".urdf", ".xacro", ".sdf", ".xml", ".mjcf")
OUTERMOST = ("robot", "mujoco", "mujocoinclude", "sdf")
"""The outermost elements of files of robots, or of parts of them."""


def command(
    places: list[Path] | None = argument(
        "PATH", "URDF, xacro, SDF and MJCF files, or folders of them; default example-robot-data."
    ),
    samples: int = option("--samples", "Number of random states per robot.", min=1, default=50),
    within: float = option("--within", "Tolerance on the relative error.", default=1e-9),
    out: Path | None = option("--out -o FILE.md", "Save the table as Markdown."),
    as_json: AsJson = False,
) -> None:
    """Compare robots with Pinocchio and MuJoCo.

    URDF, xacro and SDF files are compared with Pinocchio, on a fixed and on a floating base; MJCF files with MuJoCo.
    The table has the largest relative errors, or the reason why a file is not compared.

    Mimic joints are not coupled, as is the default in Pinocchio, and loops are open. Nothing is compiled: the
    recursions run on arrays of all states. The exit code is 1 if a robot does not agree.

    Example: appell compare robots/ --out out/robots.md
    """
    files = robot_files(places or [_examples()])
    pin = pinocchio()
    if pin is None and not all(map(is_mjcf, files)):
        raise InputError("compare: Pinocchio is not installed; pip install pin")
    for file in (place for place in places or () if place.is_file()):
        RobotOptions(
            str(file)
        ).load()  # a refused file is an error if it is named, and a row of the table if it is in a folder
    jobs = [(file, free) for file in files for free in ((False,) if is_mjcf(file) else (False, True))]
    console = Console(stderr=True)
    bar = track(jobs, "comparing", console=console, transient=True, disable=not console.is_terminal)
    rows = [_compared(pin, file, is_floating, samples) for file, is_floating in bar]
    table = tabulated(rows, within, samples)
    if out is not None:
        write(out, table.markdown())
    show_json(table.json()) if as_json else show(table)
    if any(row.worst > within for row in rows):
        raise typer.Exit(1)


def _compared(pin: Any, file: Path, is_floating: bool, samples: int) -> Agreement:
    if is_mjcf(file):
        return mujoco_agreement(file, samples=samples)
    return agreement(pin, file, is_floating=is_floating, samples=samples)


def is_mjcf(file: Path) -> bool:
    """Return whether a file is MJCF or a fragment of it."""
    ending = file.suffix.lower()
    return ending == ".mjcf" or (ending == ".xml" and outermost(file) in ("mujoco", "mujocoinclude"))


def robot_files(places: list[Path]) -> list[Path]:
    """Return the robot files among files and folders, each once; an .xml file counts by its root element."""
    found: dict[Path, None] = {}
    for place in places:
        if not _exists(place):
            raise InputError(f"compare: '{place}' is neither a file nor a folder; name an existing one")
        inside = _inside(place) if place.is_dir() else [place]
        if not inside:
            raise InputError(f"compare: folder '{place}' has no robot files ({', '.join(ENDINGS)})")
        found |= dict.fromkeys(inside)
    return list(found)


def _inside(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
    return [file for file in files if file.suffix.lower() != ".xml" or _is_robots(file)]


def _is_robots(file: Path) -> bool:
    """Return whether an .xml file is a robot file: other files with a <robot> element have no links."""
    root = outermost(file)
    return root in OUTERMOST and (
        root != "robot" or any(tag(element) == "link" for element in elements(file_bytes(file)))
    )


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # a name that no file can have
        return False


def _examples() -> Path:
    folder = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    if not folder.is_dir():
        raise InputError("compare: example-robot-data is not installed; name a folder of URDF files, or pip install it")
    return folder


def tabulated(rows: list[Agreement], within: float, samples: int) -> Table:
    """Return the table of robots against their peers."""
    columns = ("robot", "peer", "base", "nq", "nv", *QUANTITIES, "largest", "verdict")
    away = sum(row.worst > within for row in rows)
    refused, fragments, unmatched = (
        sum(getattr(row, key) for row in rows) for key in ("is_refused", "is_fragment", "is_unmatched")
    )
    still = sum(not row.errors and not (row.is_refused or row.is_fragment or row.is_unmatched) for row in rows)
    agreeing = len(rows) - away - refused - fragments - unmatched - still
    notes = (
        f"{agreeing} agree within {within:g}, {away} do not, {refused} are refused, {still} have no moving joint, "
        f"{fragments} are fragments of other files, {unmatched} are not read by the peer.",
        f"Largest errors over {samples} random states, relative to the largest entry of the quantity; C v and gravity "
        "relative to the largest torque. Poses and Jacobians of all links. The residual is M·a + bias − tau with a of "
        "appell, and M and bias of the peer.",
        "Mimic joints are not coupled, and loops are open. With Pinocchio, joint friction is ignored by both; with "
        "MuJoCo, damping and rotor inertia are included, and constraints, springs and actuators are off. Values of "
        "appell are those of the recursions on arrays, not of compiled code.",
    )
    return Table("Robots against Pinocchio and MuJoCo", columns, tuple(_row(row, within) for row in rows), notes)


def _row(row: Agreement, within: float) -> tuple[Cell, ...]:
    errors: list[Cell] = [f"{row.errors[key]:.0e}" if key in row.errors else None for key in QUANTITIES]
    largest = f"{row.worst:.0e}" if row.errors else None
    word = "differs" if row.worst > within else "agrees" if row.errors else ""
    verdict = ", ".join(part for part in (word, row.note) if part)
    base = row.base or ("floating" if row.is_floating else "fixed")
    return (_name(row.path), row.peer, base, row.nq, row.nv, *errors, largest, verdict)


def _name(path: Path) -> str:
    """Return the name of a file with the folder that identifies it."""
    folder = next((part for part in reversed(path.parts[:-1]) if part not in ("urdf", "robots")), "")
    return f"{folder.removesuffix('_description')}/{path.name}"

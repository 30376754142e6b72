"""Differences between a robot and Pinocchio in random states.

Nothing is compiled: the recursions run on arrays with one number per state. Tracing and native code are covered by the
tests of laws.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from appell import interop
from appell.errors import AppellError, AppellWarning, FragmentError
from appell.loading import load
from appell.messages import listed
from appell.model.model import GRAVITY
from appell.read import XACRO
from appell.read.write_urdf import urdf_text
from appell.read.xacro import expanded
from appell.robot.robot import Robot
from appell.robot.singular.massless import massless
from appell.robot.verbs.programs import Actuated, Solved
from appell.spatial.scalar import Array
from appell.trace.tape import flatten

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
    place = str(path)
    text = str(error).removeprefix(place)
    reason = f"line {text[1:]}" if text[:1] == ":" and text[1:2].isdigit() else text.lstrip(": ")
    is_fragment = isinstance(error, FragmentError)
    note = f"{'no robot' if is_fragment else 'refused'}, {reason}"
    return Agreement(
        path, is_floating, note=note, is_refused=not is_fragment, peer=peer, base=base, is_fragment=is_fragment
    )


def singular_note(robot: Robot, mass: Array) -> str:
    """Return a note on the joints that make the mass matrix singular; "" if there are none."""
    idle, knot = massless(robot.independent, mass)
    return (
        f"singular mass matrix: {listed(idle or knot, 3)} {'move no inertia' if idle else 'together move no inertia'}"
        if idle or knot
        else ""
    )


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

    def ask(self, verb: str, frame: str | None = None) -> Array:
        """Return our result of a verb in every state."""
        inputs = [self.ours[name] for name, _ in self.robot.verbs[verb].inputs]
        return on_arrays(self.robot, verb, inputs, frame)


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
    note = singular_note(robot, states.ask("mass_matrix")[0])
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
    model.gravity = pin.Motion(np.array(robot.model.gravity), np.zeros(3))
    model.armature = np.zeros(model.nv)
    q, v, a = random_motion(robot, samples, rng)
    there = interop.pinocchio(robot, model)
    back = there.v(q[0], np.arange(robot.nv)).astype(int)
    theirs = {"q": there.q(q), "v": v[:, back], "a": a[:, back]}
    states = States(pin, model, robot, np.argsort(back).tolist(), {"q": q, "v": v, "a": a}, theirs)
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
        "tau": relative(states.ask("inverse_dynamics"), tau),
        "M": relative(states.ask("mass_matrix"), matrices[:, order][:, :, order]),
        "C v": relative(np.einsum("sij,sj->si", states.ask("coriolis_matrix"), v), coriolis, torque),
        "gravity": relative(states.ask("gravity"), gravity, torque),
        "Y pi": relative(states.ask("regressor") @ states.robot.parameters, tau),
        **_of_frames(states, most),
    }
    if has_inverse:
        a = states.ask("forward_dynamics")[:, np.argsort(order)]
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
    ours = np.stack([states.ask("pose", name) for name in links], axis=1)
    poses_off = relative(ours, states.peer(poses, "q"))
    ours = np.stack([states.ask("jacobian", name) for name in links], axis=1)
    return {"poses": poses_off, "Jacobians": relative(ours, states.peer(jacobians, "q")[..., states.order])}


def relative(x: Array, y: Array, size: float = 0.0) -> float:
    """Return the largest difference, relative to the largest entry of y or to `size`."""
    return float(np.abs(x - y).max() / (max(float(np.abs(y).max()), size) or 1.0))


def _full(upper: Array) -> Array:
    square = np.triu(np.atleast_2d(upper))
    full: Array = square + np.triu(square, 1).T
    return full

"""Spherical parallel robots in closed form: a platform on legs whose axes all meet in one point.

q are the platform's Euler angles, in the sequence of the robot's paper; v and a their rates and accelerations; τ the
torques of the motors. Outside the workspace a verb raises an error that names the leg.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from appell.errors import InputError, ModelError, warn
from appell.loops.closed import kind_of
from appell.loops.spherical import programs, virtual_work
from appell.loops.spherical.curves import curves
from appell.loops.spherical.mechanism import Leg, Mechanism
from appell.loops.spherical.read import spherical_text
from appell.loops.spherical.tree import SphericalTree, hinged, tree
from appell.messages import listed
from appell.model.model import Model
from appell.model.parameters import PER_BODY
from appell.once import once
from appell.recursion.kinematics import Scalars
from appell.robot.calls.call import Call, prepared
from appell.robot.kind import Facts, Failure, Key, Kind
from appell.robot.singular import recovery
from appell.robot.verbs.coordinates import Limits
from appell.robot.verbs.derivatives import OF_INVERSE, forward_dynamics_vjp, inverse_dynamics_derivatives
from appell.robot.verbs.embedding import Embedding
from appell.robot.verbs.formulations import FORMULATIONS
from appell.robot.verbs.guards import PIVOT_GROWTH, SINGULAR, subject
from appell.robot.verbs.programs import Formulation, Solved, motion, only
from appell.robot.verbs.quantities import base_regressor, regressor_matrix
from appell.robot.verbs.steps import METHODS, step_derivatives, steps
from appell.robot.verbs.table import ACTUATION, MASS, REACH, VERBS, Verb
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array
from appell.trace.derive import jacobian

REGULAR = 0.1
"""Smallest distance of random_postures postures from every singularity, at most 1."""
STEPS, RESTARTS = 60, 30
"""Newton steps of one attempt, and attempts after the first."""
LONGEST = 0.3
"""The longest step [rad]: beyond it the equations are no longer nearly linear."""
CLOSED = 1e-12
"""Greatest gap, a difference of cosines, of a posture that is found."""


def random_postures(robot: Spherical, rng: np.random.Generator, wanted: int) -> Array:
    """Return postures around home, uniform in the Euler angles among those that are regular."""
    home, spread = robot.neutral(), robot.mechanism.spread
    found, kept = np.empty((wanted, 3)), 0
    for _ in range(1000):
        if kept == wanted:
            return found
        q = home + spread * rng.uniform(-1.0, 1.0, (max(4 * (wanted - kept), 16), 3))
        q = q[is_regular(robot, q)][: wanted - kept]
        found[kept : kept + len(q)] = q
        kept += len(q)
    raise ModelError(
        f"robot '{robot.model.name}' has hardly a regular posture within {spread:g} rad of its home; choose another "
        "home"
    )


def is_regular(robot: Spherical, q: Array) -> Array:
    """Return which postures are inside the workspace and away from every singularity."""
    inside = (robot.call("discriminants")(q) > 0.0).all(axis=-1)
    result: Array = np.zeros(inside.shape, dtype=bool)
    measure = robot.singularities(q[inside])
    worst = np.minimum(measure.serial.min(axis=-1), np.minimum(measure.parallel, measure.coordinates))
    result[inside] = worst > REGULAR
    return result


def forward_kinematics(robot: Spherical, theta: Array, guess: Array) -> Array:
    """Return q with e₂(θ)·e₃(q) = cos α₂ for every leg, each leg on its own branch.

    Newton's method with damping from the guess, on all samples at once. Samples that end without a posture, or with a
    leg on its other branch, whose motor angles would not be these, start again at random around the guess and home.
    """
    leading = np.broadcast_shapes(theta.shape[:-1], guess.shape[:-1])
    target = np.broadcast_to(theta, (*leading, theta.shape[-1])).reshape(-1, theta.shape[-1])
    near = np.broadcast_to(guess, (*leading, 3)).reshape(-1, 3)
    q = np.array(near)
    rng = np.random.default_rng(0)
    missing = np.arange(len(q))
    for attempt in range(RESTARTS + 1):
        if attempt:
            around = near[missing] if attempt % 2 else robot.neutral()
            reach = 2.0 * robot.mechanism.spread * min(1.0, 2.0 * attempt / RESTARTS)
            q[missing] = around + reach * rng.uniform(-1.0, 1.0, (len(missing), 3))
        q[missing] = _newton(robot, q[missing], target[missing])
        missing = missing[~_is_found(robot, q[missing], target[missing])]
        if not len(missing):
            return q.reshape((*leading, 3))
    index = tuple(int(i) for i in np.unravel_index(int(missing[0]), leading)) if leading else ()
    sample = f" of sample {index}" if index else ""
    angles = ", ".join(f"{x:.4g}" for x in target[missing[0]])
    raise InputError(
        f"theta{sample}: no posture of robot '{robot.model.name}' with motor angles ({angles}) rad was found in "
        f"{RESTARTS + 1} attempts; use a guess nearer to one, or check the motor angles"
    )


def _newton(robot: Spherical, q: Array, theta: Array) -> Array:
    """Return where damped Newton steps lead: (JᵀJ + λ)·step = −Jᵀgap with λ that falls as the gap does."""
    closure = robot.call("leg_closure")
    for _ in range(STEPS):
        gap, slope = closure(q, theta)
        size = np.abs(gap).max(axis=-1)
        if (size < CLOSED / 100.0).all():
            break
        transposed = np.swapaxes(slope, -1, -2)
        damping = np.minimum(size**2, 1e-2)[:, None, None] * np.eye(3) + 1e-15 * np.eye(3)
        step = np.linalg.solve(transposed @ slope + damping, -(transposed @ gap[..., None]))[..., 0]
        length = np.linalg.norm(step, axis=-1, keepdims=True)
        q = q + step * np.minimum(1.0, LONGEST / np.maximum(length, LONGEST))
    return q


def _is_found(robot: Spherical, q: Array, theta: Array) -> Array:
    gap, _ = robot.call("leg_closure")(q, theta)
    found: Array = (np.abs(gap).max(axis=-1) < CLOSED) & (robot.call("discriminants")(q) > 0.0).all(axis=-1)
    if found.any():
        difference = np.angle(
            np.exp(1j * (robot.tree_configuration(q[found])[..., list(robot.facts.actuated)] - theta[found]))
        )
        found[found] = np.abs(difference).max(axis=-1) < 1e-3  # the other branch is farther off than any rounding
    return found


CLOSED_FORM = "closed-form"
"""The sum over chains and bodies of abedloo2014 (20) and (21)."""
_Q, _V, _A = ("q", "q"), ("v", "v"), ("a", "v")
_LEGS, _SQUARE = ("legs", 3), ("legs", "legs")
_OWN_VERBS = {
    **VERBS,
    **{
        verb.name: verb
        for verb in (
            Verb("regressor", (_Q, _V, _A), (("Y", ("u", "p")),), is_lean=False),
            Verb("base_regressor", (_Q, _V, _A), (("Y", ("u", "n")),), is_lean=False, about="columns"),
            Verb("discriminants", (_Q,), (("D", ("legs",)),), ()),
            Verb("leg_angles", (_Q,), (("sine", _LEGS), ("cosine", _LEGS)), (REACH,)),
            Verb("leg_rates", (_Q, _V), (("rate", _LEGS),), (REACH,)),
            Verb("leg_accelerations", (_Q, _V, _A), (("acceleration", _LEGS),), (REACH,)),
            Verb(
                "singularity_measures",
                (_Q,),
                (("serial", ("legs",)), ("rows", ("u", 3)), ("coordinates", ())),
                (REACH,),
            ),
            Verb(
                "virtual_work_matrices",
                (_Q, _V),
                (
                    *(("J", _SQUARE), ("K", _LEGS), ("M", _SQUARE), ("N", ("legs",))),
                    *(("J_a", ("legs", 3, 3)), ("J_ipl", ("legs", 3, 3))),
                ),
                (REACH,),
            ),
            Verb("leg_closure", (_Q, ("theta", "u")), (("gap", ("u",)), ("slope", ("u", "v"))), ()),
        )
    },
}


class Singularity(NamedTuple):
    """How far a posture is from each kind of singularity: 1 at best, 0 at the singularity.

    `serial` (..., legs): |sin ψ|, zero where a leg is stretched or folded and its motor no longer moves the platform.
    `parallel` (...): the least singular value of the unit vectors along which the motors act, zero where the platform
    moves though all motors are locked. `coordinates` (...): |det E|, zero where the Euler angles fail, though the robot
    does not.
    """

    serial: Array
    parallel: Array
    coordinates: Array


@dataclass(frozen=True, eq=False)
class Spherical(Kind):
    """A spherical parallel robot."""

    mechanism: Mechanism
    model: Model = field(init=False)

    def __reduce__(self) -> Any:
        return Spherical, (self.mechanism,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", tree(self.mechanism))

    @cached_property
    def verbs(self) -> Mapping[str, Verb]:  # type: ignore[override]  # of the robot, not of the class
        """Return the table of verbs: those of virtual work are of robots like enferadi2010's alone."""
        absent = () if virtual_work.applies(self.mechanism) else ("virtual_work_matrices",)
        return {name: verb for name, verb in _OWN_VERBS.items() if name not in absent}

    @cached_property
    def facts(self) -> Facts:
        """Return names and sizes: Euler angles, motors, two bodies per leg and the platform."""
        robot, names = self.mechanism, list(self.mechanism.coordinates)
        n, legs, bodies = len(names), len(robot.legs), len(robot.inertias)
        actuated, endless = [2 * k + joint for k, joint in robot.motors], np.full(n, np.inf)
        motors = [self.model.bodies[k].joint.name for k in actuated]
        return Facts(
            {"q": n, "v": n, "u": len(motors), "d": n, "t": bodies, "p": PER_BODY * bodies, "c": 0, "legs": legs},
            names,
            [1] * n,
            names,
            motors,
            motors,
            actuated,
            [float(x) for inertia in robot.inertias for x in inertia.parameters],
            Limits(-endless, endless, endless, endless),
            {MASS: 1, REACH: legs},
            [
                *(
                    f"  q[{i}], v[{i}] {name}: Euler angle about {axis} [rad], rate [rad/s]"
                    for i, (name, axis) in enumerate(zip(names, robot.sequence, strict=True))
                ),
                *("", "Motors, in the order of tau:"),
                *(f"  {i:<10} {name}" for i, name in enumerate(motors)),
            ],
            curves=curves(robot),
            label=f"{legs} legs",
        )

    # Programs

    def guards(self, key: Key) -> Mapping[str, int]:
        """Return the guards of a program, that of the motors where it gives their torques."""
        outputs = self.verbs[key.verb].outputs
        gives_torques = key.verb in OF_INVERSE or any("tau" in name and "u" in shape for name, shape in outputs)
        return {**self.facts.guards, ACTUATION: int(gives_torques)}

    def fingerprint(self, *, is_parametric: bool) -> Any:
        """Return the mechanism without names."""
        anywhere: Any = {"home": (0.0, 0.0, 0.0), "spread": 0.0, "frames": ()}
        bare = replace(self.mechanism, name="", coordinates=("", "", ""), joints=("", "", ""), **anywhere)
        return _with_inertias(bare, [Inertia() for _ in bare.inertias]) if is_parametric else bare

    def formulations(self, verb: str) -> Mapping[str, Formulation]:
        """Return the closed form where there is one, and the recursions of the tree."""
        others = {} if verb in ("regressor", "base_regressor") else FORMULATIONS.get(verb, {})
        if verb == "coriolis_matrix":  # another C with the same forces, which the cost must not choose
            others = {name: formulation._replace(competes=False) for name, formulation in others.items()}
        plain = verb.removesuffix("_loaded")
        by_virtual_work = _VIRTUAL_WORK.get(plain, {}) if virtual_work.applies(self.mechanism) else {}
        return {**_OWN_PROGRAMS.get(plain, {}), **by_virtual_work, **others}

    def embedding(self, variant: str, pi: Scalars | None = None) -> Embedding:
        """Return the legs and the platform, moved by the Euler angles."""
        if pi is None:
            return SphericalTree(self.mechanism, self.model)
        blocks = [tuple(pi[k : k + PER_BODY]) for k in range(0, len(pi), PER_BODY)]
        other = _with_inertias(self.mechanism, [Inertia.from_parameters(block) for block in blocks])
        return SphericalTree(other, tree(other))

    def checks(self, embedding: Embedding, guards: Sequence[str], q: Scalars) -> dict[str, Sequence[Any]]:
        """Return the legs' discriminants, positive where they reach, and how badly the motors hold the platform."""
        values: dict[str, Sequence[Any]] = {REACH: programs.discriminants(self.mechanism, q) if REACH in guards else ()}
        if ACTUATION in guards:
            values[ACTUATION] = [programs.actuation_growth(programs.posture(self.mechanism, q).motors)]
        return values

    def recovered(self, key: Key, guard: str, call: Failure) -> list[Array]:
        """Raise for samples outside the workspace; warn of singular mass matrices and of motors that hold nothing."""
        if guard == MASS:
            return recovery.recovered(self, key, call)
        if guard == ACTUATION:
            self._warn_of_actuation(call)
            return call.results
        self._check_reach(call.values)
        return call.results

    def _check_reach(self, values: Array) -> None:
        short = values <= 0.0
        if not short.any():
            return
        place = tuple(int(i) for i in np.unravel_index(int(np.argmax(short)), short.shape))
        sample = f" of sample {place[:-1]}" if len(place) > 1 else ""
        where = "outside the workspace" if values[place] < 0.0 else "on the edge of the workspace"
        raise InputError(
            f"q{sample}: {where} of robot '{self.model.name}': leg {place[-1] + 1} cannot reach, its discriminant "
            f"{values[place]:.3g} is not positive; use q with robot.evaluate('discriminants', q) > 0"
        )

    def _warn_of_actuation(self, call: Failure) -> None:
        growth = call.values[..., 0]
        q = np.broadcast_to(np.asarray(call.arguments[0], dtype=float), (*growth.shape, self.facts.sizes["q"]))
        bad = np.flatnonzero(np.isfinite(q).all(axis=-1).reshape(-1) & ~(growth.reshape(-1) <= PIVOT_GROWTH))
        if not len(bad):
            return
        values = self.singularities(q.reshape(-1, q.shape[-1])[bad]).parallel
        worst = int(np.argmin(values))
        if values[worst] > 1.0 / SINGULAR:
            return
        warn(
            f"robot '{self.model.name}': {subject(int(bad[worst]), len(bad), growth.shape)} near an actuation "
            f"singularity, where the motors {listed(self.facts.actuators)} do not constrain the platform (least "
            f"singular value {values[worst]:.1e}); do not use the results near it"
        )

    # Configurations

    def neutral(self) -> Array:
        """Return the robot's home."""
        return np.array(self.mechanism.home)

    def random(self, rng: np.random.Generator, count: int) -> Array:
        """Return random configurations around home, inside the workspace and away from every singularity."""
        return random_postures(self, rng, count)

    def integrate(self, q: Array, dv: Array) -> Array:
        """Return q + dv."""
        return np.add(q, dv)

    def difference(self, q0: Array, q1: Array) -> Array:
        """Return q1 − q0."""
        return np.subtract(q1, q0)

    def assemble(self, guess: Array) -> Array:
        """Return the guess, whose loops are closed by construction; raise if it lies outside the workspace."""
        self._check_reach(self.call("discriminants")(guess))
        return guess

    def condition(self, q: Array) -> Array:
        """Return the inverse of the distance from singularities of the legs and of the Euler angles."""
        measure = self.singularities(q)
        result: Array = 1.0 / np.maximum(np.minimum(measure.serial.min(axis=-1), measure.coordinates), 1e-300)
        return result

    def singularities(self, q: Array) -> Singularity:
        """Return how far q is from singularities of either kind, and from those of the Euler angles."""
        serial, rows, coordinates = self.call("singularity_measures")(q)
        return Singularity(serial, np.linalg.svd(rows, compute_uv=False)[..., -1], np.abs(coordinates))

    def tree_configuration(self, q: Array) -> Array:
        """Return θ and ψ of every leg, and ξ of the first, between −π and π."""
        sine, cosine = self.call("leg_angles")(q)
        angles = np.arctan2(sine, cosine)
        return np.concatenate([angles[..., :2].reshape(*q.shape[:-1], -1), angles[..., 0, 2:]], axis=-1)

    def reduced(self, q: Array, x: Array) -> Array:
        """Return the rates of the Euler angles that velocities of the tree amount to."""
        columns = np.swapaxes(self.call("tree_velocity")(q[..., None, :], np.eye(self.facts.sizes["v"])), -1, -2)
        return np.asarray((np.linalg.pinv(columns) @ x[..., None])[..., 0])

    def from_actuators(self, positions: Array, guess: Array) -> Array:
        """Return the Euler angles whose motor angles are given."""
        return forward_kinematics(self, positions, guess)

    def with_model(self, model: Model) -> Kind:
        """Return the robot with the inertias, the frames and the gravity of another model; its joints have no more."""
        other = _with_inertias(self.mechanism, [body.inertia for body in model.bodies])
        own = {frame.name for frame in tree(replace(other, frames=())).frames}
        frames = tuple((f.name, model.bodies[f.body].name, f.placement) for f in model.frames if f.name not in own)
        return Spherical(replace(other, name=model.name, gravity=model.gravity, frames=frames))

    @property
    def settled(self) -> Model:
        """Raise: no joint of a leg can be taken away or added."""
        raise InputError(
            f"robot '{self.model.name}' is a spherical robot in closed form: its leg joints follow from the "
            "platform's Euler angles, so none can be locked, removed or added; describe it by links, joints and "
            "closures (docs/loops.md) to edit its joints"
        )

    def make(self, model: Model) -> Kind:
        """Return the kind of a robot with other joints or closures."""
        return kind_of(model)

    def as_tree(self) -> Model:
        """Return the tree with hinges between the platform and all legs but the first, closed at home."""
        home = zip(self.model.bodies, self.tree_configuration(self.neutral()), strict=True)
        at = tuple((body.joint.name, (float(x),)) for body, x in home)
        return replace(hinged(self.mechanism, self.model), actuators=tuple(self.facts.actuators), home=at)

    def text(self) -> str:
        """Return the robot as the text of a toml file."""
        return spherical_text(self.mechanism)

    def call(self, verb: str) -> Call:
        """Return the callable of a verb."""
        return once(self, (prepared, verb), partial(prepared, self, Key(verb)))


def _with_inertias(robot: Mechanism, inertias: Sequence[Inertia]) -> Mechanism:
    """Return a mechanism with other inertias: two links per leg, leg by leg, then the platform."""
    legs: list[Leg] = [
        replace(leg, inertias=(inertias[2 * k], inertias[2 * k + 1])) for k, leg in enumerate(robot.legs)
    ]
    return replace(robot, legs=tuple(legs), platform=inertias[-1])


def _form(program: Any, *, competes: bool = True) -> Formulation:
    return Formulation(lambda robot, *arguments: program(robot.robot, *arguments), competes=competes)


def _regressor(robot: Any, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return Y with the motors' torques τ = Y·π."""
    at = robot.at(q)
    columns = zip(*regressor_matrix(robot, q, v, a), strict=True)
    return list(zip(*(at.actuated(column, ()).forces for column in columns), strict=True))


def _forward_derivatives(robot: Any, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    a, inverse_norm = programs.forward_dynamics(robot.robot, q, v, tau)
    return Solved((jacobian(a, q), jacobian(a, v), jacobian(a, tau)), inverse_norm)


_INVERSE, _FORWARD = _form(programs.inverse_dynamics), _form(programs.forward_dynamics)
_FORCES = _form(programs.generalised_forces)
_DIRECT = (
    "generalised_forces",
    "mass_matrix",
    "gravity",
    "bias",
    "discriminants",
    "leg_angles",
    "singularity_measures",
)
_OWN_PROGRAMS: dict[str, dict[str, Formulation]] = {
    **{verb: {CLOSED_FORM: _form(getattr(programs, verb))} for verb in _DIRECT},
    "inverse_dynamics": {CLOSED_FORM: _INVERSE},
    "forward_dynamics": {CLOSED_FORM: _FORWARD},
    "motion": {CLOSED_FORM: Formulation(motion(_FORWARD.program))},
    "coriolis_matrix": {
        CLOSED_FORM: _form(programs.coriolis_matrix),
        "abedloo2014": _form(programs.coriolis_as_printed, competes=False),
    },
    "inverse_dynamics_derivatives": {CLOSED_FORM: Formulation(inverse_dynamics_derivatives(_INVERSE.program))},
    "forward_dynamics_derivatives": {CLOSED_FORM: Formulation(_forward_derivatives)},
    **{verb: {CLOSED_FORM: Formulation(make(_INVERSE.program))} for verb, make in OF_INVERSE.items()},
    "forward_dynamics_vjp": {CLOSED_FORM: Formulation(forward_dynamics_vjp(_FORWARD.program, _FORCES.program))},
    **steps({CLOSED_FORM: _FORWARD}),
    **{
        f"{verb}_derivatives": {
            CLOSED_FORM: Formulation(step_derivatives(verb, _FORWARD.program, _forward_derivatives, _FORCES.program))
        }
        for verb in METHODS
    },
    "regressor": only(_regressor),
    "base_regressor": only(base_regressor(_regressor)),
    "leg_rates": {CLOSED_FORM: _form(programs.leg_joint_rates)},
    "leg_accelerations": {CLOSED_FORM: _form(programs.leg_joint_accelerations)},
    "leg_closure": {CLOSED_FORM: _form(programs.closure)},
}
_VIRTUAL_WORK = {
    "inverse_dynamics": {"virtual-work": _form(virtual_work.inverse_dynamics, competes=False)},
    "virtual_work_matrices": {"virtual-work": _form(virtual_work.matrices)},
}
"""What enferadi2010 defines, on robots of its kind."""

"""Robots with loops, or with wheels that roll: trees whose dependent velocities the closures determine.

The order of pivots is chosen once per robot. Samples of a batch at which a pivot is small would lose precision; they
are recomputed by a program whose pivots suit one of them. If pivots stay small, the equations themselves are nearly
singular, and a warning gives their condition number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError, ModelError, warn
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.loops.assembly import CLOSED, Assembler, check_closures, home, standstill
from appell.loops.derivatives import OF_CLOSED
from appell.loops.rank import choose_dependent
from appell.loops.reduction import Loops, closing_step
from appell.loops.structure import (
    Structure,
    away_from_singular,
    better_conditioned,
    condition,
    decide,
    driving_condition,
    repivoted,
    samples,
    singular_loops,
)
from appell.messages import listed
from appell.model import manifold
from appell.model.model import WORLD, Model
from appell.model.parameters import n_parameters, parameters, velocity_names
from appell.once import once, once_property
from appell.recursion.closure import AXES
from appell.recursion.kinematics import Scalars
from appell.robot.calls import compile
from appell.robot.calls.call import Call, prepared
from appell.robot.kind import FILE, Competitor, Facts, Failure, Key, Kind, Rank
from appell.robot.long.kind import open_kind
from appell.robot.singular import recovery
from appell.robot.verbs import coordinates
from appell.robot.verbs.embedding import Embedding
from appell.robot.verbs.formulations import FORMULATIONS
from appell.robot.verbs.guards import OPEN, PIVOT_GROWTH, SINGULAR, subject
from appell.robot.verbs.programs import Formulation, only
from appell.robot.verbs.table import CLOSED as IS_CLOSED
from appell.robot.verbs.table import MASS, PIVOTS, UNIT, VERBS, Verb
from appell.spatial.scalar import Array

PIECE = 0.1
"""The longest motion of one integration step."""
LONGEST = 100.0
"""The longest supported motion, in a thousand steps."""
NEWTON = 12
"""Newton steps after which a configuration that is still open is not near a closed one."""


def brought_back(step: Callable[..., Any], q: NDArray[Any], size: float) -> tuple[NDArray[Any], float | None]:
    """Return configurations after as many steps as needed, and the largest remaining closure error, None if all close.

    The iteration ends when residuals are at rounding, or small and no longer decreasing.
    """
    last = worst = np.inf
    for _ in range(NEWTON):
        moved, rows = step(q)
        worst = float(np.abs(rows).max(initial=0.0))
        if worst <= 1e-14 * (1.0 + size) or (worst < 1e-11 and worst > 0.25 * last):
            return np.asarray(moved), None
        q, last = moved, worst
    return q, worst


def advanced(
    model: Model,
    tree_velocity: Callable[..., NDArray[Any]],
    project: Callable[..., Any],
    q: NDArray[Any],
    step: NDArray[Any],
) -> NDArray[Any]:
    """Return the closed configurations that independent motions lead to, each motion in short steps."""
    pieces = max(1, int(np.ceil(np.abs(step).max(initial=0.0) / PIECE)))
    step = step / pieces
    for _ in range(pieces):
        # Runge–Kutta mean of four Γ(q)·dv; its remaining error in the dependent coordinates is projected
        mean, at = np.zeros((*q.shape[:-1], model.nv)), q
        for weight, ahead in ((1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)):
            rate = tree_velocity(at, step)
            mean = mean + weight / 6.0 * rate
            at = manifold.integrate(model, q, ahead * rate)
        q = project(manifold.integrate(model, q, mean))
    return q


def random_closed(
    assembler: Assembler, structure: Structure, q: NDArray[Any], rng: np.random.Generator, wanted: int
) -> NDArray[Any]:
    """Return closed configurations about half a radian from q in all free motions, none near a singularity."""
    model, free = assembler.model, list(structure.independent)
    found: list[NDArray[Any]] = []
    for _ in range(50):
        n = max(8, 2 * (wanted - len(found)))
        steps = np.zeros((n, model.nv))
        steps[:, free] = 0.5 * rng.normal(size=(n, len(free)))
        starts = manifold.integrate(model, np.tile(q, (n, 1)), steps * assembler.column_scale)
        fit = assembler.close(starts)
        found += list(fit.q[assembler.is_closed(fit) & (condition(assembler, structure, fit.q) < 1e4)])
        if len(found) >= wanted:
            return np.array(found[:wanted])
    raise ModelError(f"robot '{model.name}': random configurations do not close; use a home farther from singularities")


ALTERNATES = 4
"""The number of other orders of pivots tried on one batch."""


@dataclass(frozen=True, eq=False)
class PivotFallback:
    """The other programs of one verb, made as they are needed."""

    robot: Closed
    key: Key
    is_strict: bool
    """Whether to warn of open loops."""

    def recovered(self, call: Failure) -> list[Array]:
        """Return the results with samples of small pivots recomputed by other pivots."""
        growth, results = call.values[..., 0], call.results
        shape = growth.shape
        given = [np.asarray(x) for x in call.arguments]
        flat = [np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1]) for x in given]
        outputs = [x.reshape(-1, *x.shape[len(shape) :]) for x in results]
        growth = growth.reshape(-1).copy()
        place = [guard.name for guard in compile.program(self.robot, self.key).guards].index(PIVOTS)
        finite = np.all([np.isfinite(x).all(axis=-1) for x in flat], axis=0)
        if self.is_strict:
            finite = finite & ~self._open(flat[0], finite & ~(growth <= PIVOT_GROWTH), shape)
        for k in range(ALTERNATES):
            bad = np.flatnonzero(finite & ~(growth <= PIVOT_GROWTH))
            if not len(bad):
                break
            other = once(self, k, partial(self._alternate, flat[0][bad].astype(float)))
            found = other(*(x[bad] for x in flat))
            again = found[len(outputs) + place]  # results, then the values of all guards
            better = ~(again[:, 0] >= growth[bad])
            for output, value in zip(outputs, found[: len(outputs)], strict=True):
                output[bad[better]] = value[better]
            growth[bad[better]] = again[better, 0]
        left = np.flatnonzero(finite & ~(growth <= PIVOT_GROWTH))
        if len(left):
            self._warn(flat[0][left].astype(float), left, shape)
        return [x.reshape(shape + x.shape[1:]) for x in outputs]

    def _open(self, q: Array, which: Array, shape: tuple[int, ...]) -> Array:
        """Return which of the samples have open loops, and warn of them."""
        at = np.flatnonzero(which)
        errors = self.robot.assembler.error(q[at].astype(float))
        result = np.zeros(len(q), dtype=bool)
        result[at[errors > 0.5 * OPEN]] = True
        if result.any():
            where = subject(at[int(np.argmax(errors))], int(result.sum()), shape)
            warn(
                f"robot '{self.robot.model.name}': {where} not closed: its loops are open by {errors.max():.1e} of the "
                "robot's size, and the results are inaccurate; close q with robot.assemble or robot.project"
            )
        return result

    def _alternate(self, q: Array) -> Kernel:
        """Return the program whose pivots suit the best conditioned of some configurations."""
        robot = self.robot
        at = int(np.argmin(condition(robot.assembler, robot.structure, q)))
        return robot.alternate(self.key, repivoted(robot.structure, robot.assembler, q[at]))

    def _warn(self, q: Array, left: Array, shape: tuple[int, ...]) -> None:
        robot = self.robot
        names = velocity_names(robot.model)
        numbers = condition(robot.assembler, robot.structure, q)
        worst = int(np.argmax(numbers))
        if numbers[worst] >= SINGULAR:
            independent = listed(names[k] for k in robot.structure.independent)
            loops = listed(singular_loops(robot.assembler, robot.structure, q[worst]))
            problem = (
                f"a singularity of the loops {loops}, where the velocities {independent} do not determine the others"
            )
            remedy = "keep away from it, or choose other coordinates with robot.with_independent(near=q)"
        else:
            numbers = driving_condition(robot.assembler, robot.structure, q)
            worst = int(np.argmax(numbers))
            if numbers[worst] < SINGULAR:
                return
            motors = listed(names[k] for k in robot.structure.actuated)
            driven = listed(names[k] for k in robot.structure.driven)
            problem = (
                f"an actuation singularity, where the motors {motors} do not determine the accelerations of {driven}"
            )
            remedy = "keep away from it, or add actuators"
        where = subject(int(left[worst]), len(left), shape)
        warn(
            f"robot '{robot.model.name}': {where} near {problem}: condition number {numbers[worst]:.1e}; do not use "
            f"the results, {remedy}"
        )


FEW = 6
"""Largest number of bodies for which all frames and axes are compared, also with frames fixed to the world."""
MANY = 30
"""Number of bodies beyond which closures are written in lean frames and the axes of one frame, without comparison."""
WELL_CONDITIONED = 20.0
"""Condition number from which other coordinates are preferred."""
SEED = 2014

_OWN_VERBS = {
    **VERBS,
    "closing_step": Verb("closing_step", (("q", "q"),), (("q", ("q",)), ("open", ("r",))), (), is_lean=False),
    "regularity": Verb("regularity", (("q", "q"),), (("det", (1,)),), ()),
}
_OWN_PROGRAMS = {"closing_step": only(closing_step), "regularity": only(lambda robot, q: robot.posture(q).regularity())}


def close(model: Model, *, guess: ArrayLike | None = None, independent: Sequence[str] | None = None) -> Closed:
    """Return the closed robot of a model with closures.

    Parameters
    ----------
    model
        A tree with closures.
    guess
        A configuration of the tree at which closing starts; the model's home by default.
    independent
        The names of the independent velocities; by default the actuators, then passive ones.

    Raises
    ------
    ModelError
        When the loops cannot be closed, or leave no motion; the message names them.

    Examples
    --------
    >>> from appell.read.catalogue import read
    >>> close(read("four-bar")).facts.independent
    ['crank']
    """
    assembler, rng = Assembler(model), np.random.default_rng(SEED)
    start = home(model) if guess is None else np.asarray(guess, dtype=float)
    check_closures(model, start)
    at = assembler.assemble(start, rng)
    configurations = samples(assembler, at, rng)
    if guess is None and (regular := away_from_singular(assembler, configurations, rng)) is not None:
        at, configurations = regular, samples(assembler, regular, rng)
    names = independent or model.independent_velocities or None
    structure, rank = decide(
        assembler, configurations, None if names is None else coordinates.velocity_places(model, names)
    )
    if guess is None:
        at = better_conditioned(assembler, structure, configurations)
    if model.actuators and not structure.n_driven:
        raise ModelError(
            f"robot '{model.name}': its loops {listed(c.name for c in model.closures)} lock every actuator, "
            f"{listed(model.actuators)}; remove the closures that constrain them, or choose other actuators"
        )
    loops, joints = standstill(assembler, configurations, rank)
    if joints:
        warn(
            f"robot '{model.name}': the loops {listed(loops)} lock all of their joints, {listed(joints)}; if these "
            "should move, use closures with fewer rows"
        )
    return Closed(model, at, configurations, structure, rank)


@dataclass(frozen=True, eq=False)
class Closed(Kind):
    """A tree with closures, closed at `home`; the structure of its loops was chosen at `configurations`."""

    model: Model
    home: Array
    configurations: Array
    structure: Structure
    rank: Rank
    verbs = _OWN_VERBS

    def __reduce__(self) -> Any:
        return Closed, (self.model, self.home, self.configurations, self.structure, self.rank)

    @cached_property
    def facts(self) -> Facts:
        """Return names and sizes: the coordinates of the tree, its independent velocities, and its actuators."""
        model, structure = self.model, self.structure
        names, places, every = (
            velocity_names(model),
            coordinates.quaternion_places(model),
            coordinates.joint_limits(model),
        )
        own, count = list(structure.independent), len(model.closures)
        independent, actuators = ([names[k] for k in part] for part in (own, structure.actuated))
        sizes = {"q": model.nq, "t": model.nv, "v": len(own), "u": len(actuators), "p": n_parameters(model), "c": count}
        rolls = len(structure.closing.rows) < self.rank.value  # rows that constrain velocities only
        lines = coordinates.coordinate_lines(model, with_velocities=False)
        lines += [f"  {f'v[{i}]':<10} {name}" for i, name in enumerate(independent)]
        lines += ["", "Actuators, in the order of their torques:"]
        return Facts(
            sizes | {"d": structure.n_driven, "r": len(structure.closing.rows)},
            [body.joint.name for body in model.bodies],
            [body.joint.type.nq for body in model.bodies],
            independent,
            actuators,
            actuators,
            structure.actuated,
            parameters(model),
            coordinates.Limits(every.lower, every.upper, every.velocity[own], every.effort[own]),
            {MASS: 1, UNIT: len(places), PIVOTS: 1},
            [*lines, *(f"  {i:<10} {name}" for i, name in enumerate(actuators))],
            places,
            None if rolls else coordinates.curved_joints(model, own),
            [closure.name for closure in model.closures],
            self.rank,
            "1 closure" if count == 1 else f"{count} closures",
        )

    @once_property
    def assembler(self) -> Assembler:
        """Return the closing of the loops."""
        return Assembler(self.model)

    # Programs

    def fingerprint(self, *, is_parametric: bool) -> Any:
        """Return the model without names, the frames of its closures, and the structure of its loops."""
        ends = [self.model.frame_index[name] for c in self.model.closures for name in (c.first, c.second)]
        return (self.nameless(is_parametric=is_parametric), ends, self.structure)

    def formulations(self, verb: str) -> Mapping[str, Formulation]:
        """Return the algorithms of a verb."""
        own = _OWN_PROGRAMS.get(verb) or FORMULATIONS[verb]
        is_shared = self.structure.is_redundant and self.structure.n_driven < len(self.structure.independent)
        if verb not in OF_CLOSED or (is_shared and verb == "inverse_dynamics_derivatives"):
            return own
        return {**{name: f._replace(competes=False) for name, f in own.items()}, **OF_CLOSED[verb]}

    def variants(self, verb: str) -> Sequence[str]:
        """Return frames and axes in which closures can be written; inverse dynamics selects them for all verbs."""
        if verb != "inverse_dynamics":
            return (compile.choice(self, Key("inverse_dynamics")).variant,)
        # where one path is empty, rows are simplest along the axes of the other's tip
        is_held = all(self.model.frame_index[tie.first].body == WORLD for tie in self.model.closures)
        if len(self.model.bodies) > MANY:
            return ("lean second" if is_held else "lean first",)
        forms = ("lean", FILE, "bundled") if self.lean.deferred else ("lean", FILE)
        if is_held and len(self.model.bodies) > FEW:
            return tuple(f"{form} second" for form in forms)
        return (FILE, *(f"{form} {axes}" for form in forms for axes in AXES if (form, axes) != (FILE, "first")))

    def competitors(self, verb: str) -> Sequence[Competitor]:
        """Return the candidates; for a robot of many bodies the composite-body algorithm without comparison."""
        found = super().competitors(verb)
        if len(self.model.bodies) <= MANY:
            return found
        return [c for c in found if c.formulation == "composite"][:1] or found

    def embedding(self, variant: str, pi: Scalars | None = None) -> Embedding:
        """Return the loops in the frames and axes of a variant."""
        loops = once(self, (Loops, variant), partial(self._loops, variant))
        return loops if pi is None else replace(loops, dynamics=self.tree_in(variant.partition(" ")[0], pi))

    def _loops(self, variant: str) -> Loops:
        form, _, axes = variant.partition(" ")
        frames = self.tree_in(FILE if form == FILE else "lean")
        chosen = self.structure
        structure, _ = decide(self.assembler, self.configurations, None, frames, axes or "first", chosen)
        filed = None if variant == FILE else Loops(self.model, self.model, chosen)
        return Loops(frames, self.tree_in(form), structure, filed=filed)

    def checks(self, embedding: Embedding, guards: Sequence[str], q: Scalars) -> dict[str, Sequence[Any]]:
        """Return the quaternions' lengths, and the pivot growth."""
        assert isinstance(embedding, Loops)  # of this kind
        values: dict[str, Sequence[Any]] = {}
        if UNIT in guards:
            values[UNIT] = coordinates.quaternion_errors(self.facts.quaternions, q)
        if PIVOTS in guards:
            weight = PIVOT_GROWTH / OPEN**2 if IS_CLOSED in guards else 0.0
            values[PIVOTS] = [embedding.posture(q).pivot_growth(self.assembler.size, weight)]
        return values

    def alternate(self, key: Key, other: Structure) -> Kernel:
        """Return the kernel of a verb with other pivots, in the frames of the file."""
        chosen = compile.choice(self, key)
        formulation = compile.formulation_of(self, key.verb, chosen.formulation)

        def embedding(pi: Scalars | None) -> Loops:
            return Loops(self.model, self.tree_in(FILE, pi), other)

        spec = compile.program(self, key).spec
        make = partial(compile.traced, self, key, formulation, embedding)
        return Kernel(ProgramSpec(spec.name, spec.inputs, spec.outputs, f"{spec.fingerprint} {other!r}", make))

    def recovered(self, key: Key, guard: str, call: Failure) -> list[Array]:
        """Return results with other pivots for bad samples; raise for bad quaternions, warn of singular M."""
        if guard == MASS:
            return recovery.recovered(self, key, call)
        if guard == UNIT:
            return self.refuse_quaternions(call)
        is_strict = IS_CLOSED in self.verbs[key.verb].guards
        return once(self, (PivotFallback, key), partial(PivotFallback, self, key, is_strict)).recovered(call)

    # Configurations

    def neutral(self) -> Array:
        """Return the closed configuration that assembling the robot's home leads to."""
        return self.home.copy()

    def random(self, rng: np.random.Generator, count: int) -> Array:
        """Return random closed configurations, about half a radian from neutral in all free motions."""
        return random_closed(self.assembler, self.structure, self.home, rng, count)

    def integrate(self, q: Array, dv: Array) -> Array:
        """Return the closed configuration reached from q by the independent motion dv, of `LONGEST` at most.

        Raises
        ------
        InputError
            When dv is longer or not finite, or leads to where the loops do not close.
        """
        longest = float(np.abs(dv).max(initial=0.0))
        if not longest <= LONGEST:
            raise InputError(
                f"integrate: dv of robot '{self.model.name}' has an entry of {longest:g}; a motion of closed loops is "
                f"followed in short steps, up to {LONGEST:g} rad or m: divide it into several calls, or check its units"
            )
        leading = np.broadcast_shapes(q.shape[:-1], dv.shape[:-1])
        start = np.broadcast_to(q, (*leading, self.model.nq))
        failure = (
            "integrate: the motion dv of robot '{name}' leads to configurations whose loops stay open by {worst:.2g}; "
            "use a "
            "shorter motion, or choose other coordinates with robot.with_independent"
        )
        return advanced(self.model, self._tree_velocity, partial(self._project, failure=failure), start, dv)

    @once_property
    def _tree_velocity(self) -> Call:
        return prepared(self, Key("tree_velocity"))

    @once_property
    def _closing_step(self) -> Call:
        return prepared(self, Key("closing_step"))

    def difference(self, q0: Array, q1: Array) -> Array:
        """Return the independent motion that leads from q0 to q1, without the paths of wheels."""
        return self.reduced(q0, manifold.difference(self.model, q0, q1))

    def assemble(self, guess: Array) -> Array:
        """Return closed configurations near guesses."""
        flat = guess.reshape(-1, self.model.nq)
        fit = self.assembler.close(flat)
        for i in np.flatnonzero(~(fit.error <= CLOSED)):
            fit.q[i] = self.assembler.assemble(flat[i], np.random.default_rng(SEED))
        return fit.q.reshape(guess.shape)

    def project(self, q: Array) -> Array:
        """Return the closed configurations with the same independent coordinates."""
        failure = (
            "project: a configuration of robot '{name}' stays open by {worst:.2g} with its independent coordinates "
            "held; close it with robot.assemble"
        )
        return self._project(q, failure)

    def _project(self, q: Array, failure: str) -> Array:
        """Return the closed configurations with the same independent coordinates, or raise the given error."""
        if not self.structure.closing.rows:
            return q
        closed, worst = brought_back(self._closing_step, q, self.assembler.size)
        if worst is not None:
            raise InputError(failure.format(name=self.model.name, worst=worst))
        return closed

    def closure_error(self, q: Array) -> Array:
        """Return the largest distance [m] or angle [rad] by which loops are open."""
        rows = self.assembler.gap(q)[0] / self.assembler.row_scale
        return np.asarray(np.abs(rows).max(axis=-1, initial=0.0))

    def condition(self, q: Array) -> Array:
        """Return the condition number of the equations for the dependent velocities."""
        return condition(self.assembler, self.structure, q)

    def reduced(self, q: Array, x: Array) -> Array:
        """Return the independent ones of the tree's velocities."""
        return x[..., list(self.structure.independent)]

    def from_actuators(self, positions: Array, guess: Array) -> Array:
        """Return the configurations that a motion of the actuators from the guess leads to, passive velocities zero."""
        if not self.structure.is_plain:
            raise InputError(
                f"from_actuators: the first independent velocities of robot '{self.model.name}' must be those of its "
                f"actuators {listed(self.facts.actuators)}; they are {listed(self.facts.independent)}"
            )
        left = positions - guess[..., coordinates.coordinates_of(self.model, self.structure.actuated, "from_actuators")]
        still = np.zeros((*left.shape[:-1], len(self.structure.passive)))
        try:
            return self.integrate(guess, np.concatenate([left, still], axis=-1))
        except InputError as error:
            raise InputError(
                f"from_actuators: the actuators of robot '{self.model.name}' cannot move from the guess to the given "
                f"positions with closed loops ({error}); use a guess nearer to them, or check their order and signs"
            ) from None

    def with_independent(self, names: Sequence[str] | None, near: Array | None) -> Kind:
        """Return the robot in other independent velocities."""
        at = self.home if near is None else near
        if names is None:
            every = velocity_names(self.model)
            names = [every[k] for k in self._best(at)]
        return close(self.model, guess=at, independent=names)

    def _best(self, q: Array) -> list[int]:
        """Return the best conditioned independent velocities at q."""
        dependent = choose_dependent(self.assembler.gap(q)[1][None], self.rank.value, ())
        return [k for k in range(self.model.nv) if k not in dependent]

    def near(self, q: Array) -> Kind:
        """Return the robot in coordinates that are well conditioned at q; each set of coordinates is made once."""
        if float(self.condition(q)) < WELL_CONDITIONED:
            return self
        best = tuple(self._best(q))
        names = [velocity_names(self.model)[k] for k in best]
        return once(self, ("near", best), lambda: self.with_independent(names, q))

    def with_model(self, model: Model) -> Kind:
        """Return the robot with another model of the same joints and loops."""
        return replace(self, model=model)

    def make(self, model: Model) -> Kind:
        """Return the kind of a robot with other joints or closures."""
        return kind_of(model)

    def as_tree(self) -> Model:
        """Return the model, closed at the robot's home, with its independent velocities."""
        joints = zip(self.facts.joint_names, self.model.q_slices, strict=True)
        at = tuple((name, tuple(map(float, self.home[where]))) for name, where in joints)
        return replace(self.model, home=at, independent_velocities=tuple(self.facts.independent))


def kind_of(model: Model) -> Kind:
    """Return the kind of robot of a model: with closures, or an open tree."""
    return close(model) if model.closures else open_kind(model, kind_of)

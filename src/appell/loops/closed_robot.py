"""A closed robot: the same verbs as an open one, in its independent velocities."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import AppellWarning, InputError, ModelError
from appell.kernels.kernel import Kernel
from appell.kernels.recipe import Recipe, delivered
from appell.loops.assembly import CLOSED, Assembler, home
from appell.loops.closing import advanced, brought_back, scattered
from appell.loops.export import closed_source
from appell.loops.pivots import Smoother
from appell.loops.structure import (
    Rank,
    Structure,
    choose_dependent,
    condition,
    decide,
    idle_actuators,
    samples,
    velocity_names,
    velocity_places,
)
from appell.loops.verbs import OF_THE_TREE, ROUGH, VERBS, Programs
from appell.model import manifold
from appell.model.build import listed
from appell.model.model import Model
from appell.robot.arguments import check_quaternions, explain, has_quaternions
from appell.robot.compile import AnyKernel
from appell.robot.export import Source
from appell.robot.robot import Robot, Wrenches
from appell.trace.count import Count, count
from appell.trace.tape import Tape

Array = NDArray[Any]

CHARTED = 20.0
"""Condition number from which on other coordinates are better ones."""


class ClosedRobot(Robot):
    """A robot with closed loops, or with wheels that roll, and its dynamics without multipliers.

    q is the configuration of the spanning tree; :meth:`assemble` closes the loops. v has an entry per name in
    :attr:`independent`: the actuators first, then the passive modes that the motors leave free. Inverse dynamics takes
    the accelerations of the actuators, lets the passive modes go where no force holds them, and gives one force per
    name in :attr:`actuators`; forward dynamics takes these and gives the accelerations of all independent velocities.
    All other verbs are in the independent velocities. Verbs expect closed configurations, and warn of open ones; where
    a robot moves over a long time, :meth:`project` keeps it closed.

    >>> import appell
    >>> robot = appell.load("five-bar")
    >>> robot
    <ClosedRobot 'five-bar': 4 bodies, 1 closure, nq 4, nv 2>
    >>> robot.inverse_dynamics(robot.neutral(), [0.0, 0.0], [0.0, 0.0]).shape
    (2,)
    """

    def __init__(
        self, model: Model, *, guess: ArrayLike | None = None, independent: Sequence[str] | None = None
    ) -> None:
        if model.is_coupled:
            raise ModelError(f"robot '{model.name}' has loops and joints that follow others; load it with mimic=False")
        super().__init__(model)
        self._assembler = Assembler(model)
        self._charts: dict[tuple[int, ...], ClosedRobot] = {}
        self._smoothers: dict[tuple[str, str | None], Smoother] = {}
        rng = np.random.default_rng(2014)
        start = home(model) if guess is None else self._sized("guess", guess, model.nq)
        check_quaternions(model.name, model, start)
        self._home = self._assembler.assemble(start, rng)
        self._configurations = samples(self._assembler, self._home, rng)
        places = None if independent is None else velocity_places(model, independent)
        self._structure, self._rank = decide(self._assembler, self._configurations, places)
        idle = idle_actuators(model, self._structure)
        if idle:
            warnings.warn(
                f"robot '{model.name}': the actuators {listed(idle)} move only with the others; they are taken to be "
                f"without force, and robot.actuators leaves them out",
                AppellWarning,
                stacklevel=3,
            )
        self._programs = Programs(self._assembler, self._configurations, self._structure)

    def __repr__(self) -> str:
        n = len(self.model.closures)
        loops = "1 closure" if n == 1 else f"{n} closures"
        return f"<ClosedRobot '{self.name}': {len(self.model.bodies)} bodies, {loops}, nq {self.nq}, nv {self.nv}>"

    # What the robot is

    @cached_property
    def nv(self) -> int:
        """Return the mobility: the number of independent velocities v."""
        return len(self._structure.independent)

    @cached_property
    def independent(self) -> list[str]:
        """Return the names of the independent velocities in the order of v: of a joint of several, ``name[k]``."""
        names = velocity_names(self.model)
        return [names[k] for k in self._structure.independent]

    @cached_property
    def actuators(self) -> list[str]:
        """Return the names of the actuated velocities, in the order of actuator forces."""
        names = velocity_names(self.model)
        return [names[k] for k in self._structure.actuated]

    @cached_property
    def closure_names(self) -> list[str]:
        """Return the names of the closures, in the order of :meth:`constraint_forces`."""
        return [c.name for c in self.model.closures]

    @property
    def rank(self) -> Rank:
        """Return how many of the closures' rows count, and the singular values on both sides of the gap.

        >>> import appell
        >>> rank = appell.load("five-bar").rank
        >>> rank.value, rank.kept > 0.1, rank.dropped < 1e-12
        (2, True, True)
        """
        return self._rank

    def with_independent(self, names: Sequence[str] | None = None, *, near: ArrayLike | None = None) -> ClosedRobot:
        """Return the robot with other independent velocities, such as a platform's own.

        Inverse dynamics then takes the accelerations of the first of them, as many as there are actuators. Use it where
        the actuators do not determine the motion, as the warning near such configurations says: with `near`, a closed
        configuration about which the coordinates are to be good, and no names, the best conditioned ones are chosen.
        Velocities go over by ``other.project(q, robot.expand(q, v))``.

        >>> import appell
        >>> robot = appell.load("five-bar").with_independent(["mot1", "free1"])
        >>> robot.independent, robot.actuators
        (['mot1', 'free1'], ['mot1', 'mot2'])
        """
        at = self._home if near is None else self._sized("near", near, self.nq)
        if names is None:
            known = velocity_names(self.model)
            names = [known[k] for k in self._best(at)]
        return ClosedRobot(self.model, guess=at, independent=names)

    def _best(self, q: Array) -> list[int]:
        """Return the independent velocities whose dependent ones are best conditioned at q."""
        dependent = choose_dependent(self._assembler.gap(q)[1][None], self._rank.value, ())
        return [k for k in range(self.model.nv) if k not in dependent]

    def chart(self, q: ArrayLike) -> ClosedRobot:
        """Return the robot in coordinates that are good at q: itself unless it is near a singularity of its own.

        A simulation that asks before every step goes through singularities of the actuators: the same robot moves by
        other coordinates for a while. Each set of coordinates is made once.

        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.chart(robot.neutral()) is robot
        True
        """
        at = self._sized("q", q, self.nq)
        if self.condition(at) < CHARTED:
            return self
        best = tuple(self._best(at))
        if best not in self._charts:
            self._charts[best] = self.with_independent([velocity_names(self.model)[k] for k in best], near=at)
        return self._charts[best]

    # Configurations

    def neutral(self) -> Array:
        """Return the closed configuration that assembling the robot's home leads to."""
        return self._home.copy()

    def assemble(self, guess: ArrayLike | None = None) -> Array:
        """Return closed configurations near guesses (..., nq); :meth:`neutral` without one.

        Raises
        ------
        ModelError
            When the loops cannot be closed; the message names those that stay open.

        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.open_by(robot.assemble(robot.neutral() + 0.1)) < 1e-12
        np.True_
        """
        if guess is None:
            return self.neutral()
        given = self._sized("guess", guess, self.nq)
        check_quaternions(self.name, self.model, given)
        flat = given.reshape(-1, self.nq)
        fit = self._assembler.close(flat)
        for i in np.flatnonzero(~(fit.error <= CLOSED)):
            fit.q[i] = self._assembler.assemble(flat[i], np.random.default_rng(2014))
        return fit.q.reshape(given.shape)

    def open_by(self, q: ArrayLike) -> Array:
        """Return how far the loops of configurations are open: the largest distance [m] or angle [rad]."""
        given = self._sized("q", q, self.nq)
        rows = self._assembler.gap(given)[0] / self._assembler.row_scale
        return np.asarray(np.abs(rows).max(axis=-1, initial=0.0))[()]

    def condition(self, q: ArrayLike) -> Array:
        """Return the condition number of the equations that give the dependent velocities, in pure numbers.

        It is infinite where the independent velocities do not determine the motion: at a singularity of the robot, or
        of the choice of its coordinates (:meth:`with_independent`).
        """
        return condition(self._assembler, self._structure, self._sized("q", q, self.nq))[()]

    def random(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Array:
        """Return random closed configurations: about half a radian from :meth:`neutral` in all free motions."""
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        wanted = int(np.prod(shape, dtype=int))
        found = scattered(self._assembler, self._structure, self._home, rng, wanted)
        return found.reshape(*shape, self.nq)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return the closed configuration reached from q by the independent motion dv (velocity times time)."""
        start, step = self._sized("q", q, self.nq), self._sized("dv", dv, self.nv)
        check_quaternions(self.name, self.model, start)
        leading = np.broadcast_shapes(start.shape[:-1], step.shape[:-1])
        start = np.broadcast_to(start, (*leading, self.nq))
        return advanced(self.model, self.expand, self.project, start, step)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return the independent motion that leads from q0 to q1, wheels' paths aside."""
        ends = self._sized("q0", q0, self.nq), self._sized("q1", q1, self.nq)
        for q in ends:
            check_quaternions(self.name, self.model, q)
        return manifold.difference(self.model, *ends)[..., list(self._structure.independent)]

    def project(self, q: ArrayLike, v: ArrayLike | None = None) -> Any:
        """Return the closed configuration with the same independent coordinates, and velocities if any are given.

        v may have an entry per independent velocity, which are returned as they are: velocities of the tree follow from
        them and cannot drift. Or it has one per velocity of the tree; then those independent velocities are returned
        whose motion is the nearest in kinetic energy.

        Raises
        ------
        InputError
            When q is not near a closed configuration.
        """
        given = self._sized("q", q, self.nq)
        closed = self._closed(given)
        if v is None:
            return closed
        speed = np.asarray(v, dtype=float)
        if speed.shape[-1:] == (self.nv,):
            return closed, speed
        whole = self._sized("v", v, self.model.nv)
        columns = self._columns(closed)
        mass = self._tree.mass_matrix(closed)
        reduced = np.swapaxes(columns, -1, -2) @ mass
        return closed, np.linalg.solve(reduced @ columns, reduced @ whole[..., None])[..., 0]

    def _closed(self, q: Array) -> Array:
        if not self._structure.closing.rows:
            return q
        closed, worst = brought_back(self.kernel("closing_step"), q, self._assembler.size)
        if worst is not None:
            raise InputError(
                f"project: a configuration of robot '{self.name}' stays open by {worst:.2g} with its independent "
                "coordinates held; close it with robot.assemble"
            )
        return closed

    # Dynamics

    def expand(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return the velocities of every joint of the tree, Γ(q)·v, (..., velocities of the tree)."""
        return self._call("expand", (q, v), out)

    def expand_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return the accelerations of every joint of the tree for all independent accelerations a (..., nv)."""
        return self._call("expand_acceleration", (q, v, a), out)

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, wrenches: Wrenches | None = None, out: Any = None
    ) -> Array:
        """Return the actuator forces (..., actuators) for accelerations of the actuators, passive modes left free.

        `wrenches` are as for open robots. Where other independent velocities were chosen, a are the accelerations of
        the first of them.

        >>> import appell
        >>> robot = appell.load("stewart")
        >>> robot.inverse_dynamics(robot.neutral(), [0.0] * 6, [0.0] * 6).round(1)  # six legs share the weight
        array([15.2, 15.1, 15.1, 15.1, 15.1, 15.2])
        """
        if wrenches is None:
            return self._call("inverse_dynamics", (q, v, a), out)
        tau = self._call("inverse_dynamics", (q, v, a), None)
        known = self._columns(self._sized("q", q, self.nq))
        motors = np.swapaxes(known[..., list(self._structure.actuated), :], -1, -2)
        passive = self.mass_matrix(q)[..., len(self.actuators) :]
        # Γ_aᵀ Δτ − M Δa_p = −Γᵀ Jᵀw
        system = np.concatenate([np.broadcast_to(motors, (*passive.shape[:-1], motors.shape[-1])), -passive], axis=-1)
        change = np.linalg.solve(system, -self._wrench_forces(q, wrenches)[..., None])[..., 0]
        return np.asarray(np.add(tau, change[..., : len(self.actuators)], out=out))

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, wrenches: Wrenches | None = None, out: Any = None
    ) -> Array:
        """Return the accelerations of all independent velocities under actuator forces, and wrenches if any."""
        if wrenches is None:
            return self._call("forward_dynamics", (q, v, tau), out)
        a = self._call("forward_dynamics", (q, v, tau), None)
        change = np.linalg.solve(self.mass_matrix(q), self._wrench_forces(q, wrenches)[..., None])[..., 0]
        return np.asarray(np.add(a, change, out=out))

    def constraint_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return what holds the loops closed in the motion of :meth:`inverse_dynamics`, (..., closures, 6).

        Per name in :attr:`closure_names` the force and the moment on the second frame's body, about that frame's origin
        (a wheel's lowest point), along the first frame's axes. Rows that were dropped, because others hold the same,
        carry nothing here; how such rows share a load is not for rigid bodies to say.
        """
        return self._call("constraint_forces", (q, v, a), out)

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]:
        """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a of the actuators; ∂/∂q along the independent motions, v and a held."""
        return super().inverse_dynamics_derivatives(q, v, a)

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> tuple[Array, Array, Array]:
        """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ of the independent velocities; ∂/∂q along the independent motions."""
        return super().forward_dynamics_derivatives(q, v, tau)

    # About the computation

    def operations(self, verb: str, formulation: str | None = None) -> Count:
        """Return how many multiplications, additions and sines and cosines a verb takes per sample."""
        if verb in OF_THE_TREE:
            return super().operations(verb, formulation)
        if verb not in VERBS or formulation is not None:
            raise InputError(
                f"operations: no verb '{verb}' of one formulation for closed robots; known: {listed(VERBS, 40)}"
            )
        return count(self._programs.tape(verb))

    def kernel(self, verb: str, frame: str | None = None) -> AnyKernel:
        """Return the compiled kernel of a verb; after its results come the roughness of the pivots."""
        if verb in OF_THE_TREE:
            return super().kernel(verb, frame)
        key = (verb, frame)
        if key not in self._kernels:
            self._kernels[key] = Kernel(self.recipe(verb, frame))
        return self._kernels[key]

    def recipe(self, verb: str, frame: str | None = None) -> Recipe:
        """Return what determines the kernel of a verb."""
        return super().recipe(verb, frame) if verb in OF_THE_TREE else self._programs.recipe(verb, frame)

    def tape(self, verb: str) -> Tape:
        """Return the verified program of a verb; its last result is the roughness of the pivots, if it solves."""
        return self._programs.tape(verb)

    def _source(self) -> Source:
        return closed_source(self._programs, self.name)

    @cached_property
    def _tree(self) -> Robot:
        """Return the spanning tree as a robot of its own."""
        return Robot(self.model)

    def _columns(self, q: Array) -> Array:
        """Return Γ(q), (..., velocities of the tree, nv)."""
        return np.swapaxes(self.expand(q[..., None, :], np.eye(self.nv)), -1, -2)

    def _smoother(self, verb: str, frame: str | None) -> Smoother:
        if (verb, frame) not in self._smoothers:
            self._smoothers[verb, frame] = Smoother(self._programs, verb, frame)
        return self._smoothers[verb, frame]

    def _callable(self, verb: str, frame: str | None) -> Callable[..., Any]:
        if verb in OF_THE_TREE:
            return super()._callable(verb, frame)
        compiled, inputs = self.kernel(verb, frame), len(VERBS[verb].inputs)

        def general(*arguments: Any) -> Any:
            try:
                return compiled(*arguments)
            except (ValueError, TypeError) as error:
                raise explain(self.name, compiled.recipe, arguments, None, error) from None

        short = compiled.direct(general)

        def call(*arguments: Any) -> Any:
            *results, rough = short(*arguments[:inputs])
            if not (rough.item() if rough.size == 1 else rough.max(initial=0.0)) <= ROUGH:
                results = self._smoother(verb, frame).smoothed(arguments[:inputs], results, rough[..., 0])
            return delivered(results, arguments[inputs] if len(arguments) > inputs else None)

        strict = verb != "motion" and has_quaternions(self.model)
        self._calls[verb, frame] = self._guarded(call) if strict else call
        return self._calls[verb, frame]

    @property
    def structure(self) -> Structure:
        """Return what was decided about rows, coordinates and pivots."""
        return self._structure

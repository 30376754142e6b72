"""The verbs of closed robots: what each takes and gives, its reduction, and how it becomes a tape.

Every tape that solves with the loops has one more output, its roughness: large where a pivot is small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from numpy.typing import NDArray

from appell.errors import ModelError
from appell.kernels.recipe import Recipe
from appell.loops import derivatives, quantities, reduction
from appell.loops.assembly import Assembler
from appell.loops.closing import closing_step
from appell.loops.reduction import Loops, Watch
from appell.loops.structure import Structure, decide
from appell.model.lean import lean
from appell.model.model import Model
from appell.recursion.closure import AXES
from appell.recursion.regressor import n_parameters
from appell.trace.count import count
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

COMPETING = 30
"""Bodies up to which several frames and axes are traced to find the program of fewest operations."""
SINE = 12
"""What a sine or cosine costs beside a multiplication."""

ROUGH = 1e6
"""Roughness beyond which a sample is looked at: the mean square of (usual pivot / pivot), three digits being lost."""
OPEN = 1e-4
"""How far loops are open where that alone makes a sample rough: in lengths of the robot, or radians."""

Size = str | int


@dataclass(frozen=True)
class Verb:
    """One computation of closed robots: its inputs with their sizes, its outputs with their shapes, its program.

    Sizes are numbers or letters: q and t are the tree's coordinates and velocities, v the independent velocities, m the
    actuators, p the parameters, c the closures, r the rows that close positions. `is_lean` says that the lean model
    gives the same, `is_strict` that loops must be closed: an integrator's stages may be open by a little.
    """

    name: str
    inputs: tuple[tuple[str, Size], ...]
    outputs: tuple[tuple[str, tuple[Size, ...]], ...]
    program: Callable[..., Any]
    is_lean: bool = True
    is_rough: bool = True
    is_strict: bool = True

    def ports(self, model: Model, structure: Structure) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Return the input and output ports."""
        sizes = {
            "q": model.nq,
            "t": model.nv,
            "v": len(structure.independent),
            "m": len(structure.actuated),
            "p": n_parameters(model),
            "c": len(model.closures),
            "r": len(structure.closing.rows),
        }

        def size(x: Size) -> int:
            return sizes[x] if isinstance(x, str) else x

        inputs = tuple(Port(name, (size(x),)) for name, x in self.inputs)
        outputs = tuple(Port(name, tuple(size(x) for x in shape)) for name, shape in self.outputs)
        return inputs, (*outputs, Port("roughness", (1,))) if self.is_rough else outputs


_Q, _V = ("q", "q"), ("v", "v")
_STATE = (_Q, _V)
_TAU: tuple[tuple[str, tuple[Size, ...]], ...] = (("tau", ("v",)),)
_MOVING = (*_STATE, ("a", "v"))
VERBS = {
    verb.name: verb
    for verb in (
        Verb("inverse_dynamics", (*_STATE, ("a", "m")), (("tau", ("m",)),), reduction.inverse_dynamics),
        Verb("forward_dynamics", (*_STATE, ("tau", "m")), (("a", ("v",)),), reduction.forward_dynamics),
        Verb("motion", (*_STATE, ("tau", "m")), (("rate", ("q",)), ("a", ("v",))), reduction.motion, is_strict=False),
        Verb("mass_matrix", (_Q,), (("M", ("v", "v")),), reduction.mass_matrix),
        Verb("coriolis_matrix", _STATE, (("C", ("v", "v")),), reduction.coriolis_matrix),
        Verb("gravity", (_Q,), _TAU, reduction.gravity),
        Verb("bias", _STATE, _TAU, reduction.bias),
        Verb("constraint_forces", (*_STATE, ("a", "m")), (("w", ("c", 6)),), reduction.constraint_forces),
        Verb("expand", _STATE, (("v", ("t",)),), reduction.expand, is_strict=False),
        Verb("expand_acceleration", _MOVING, (("a", ("t",)),), reduction.expand_acceleration),
        Verb("regularity", (_Q,), (("det", (1,)),), reduction.regularity, is_rough=False, is_strict=False),
        Verb("closing_step", (_Q,), (("q", ("q",)), ("open", ("r",))), closing_step, False, False),
        Verb(
            "inverse_dynamics_derivatives",
            (*_STATE, ("a", "m")),
            (("dtau_dq", ("m", "v")), ("dtau_dv", ("m", "v")), ("dtau_da", ("m", "m"))),
            derivatives.inverse_dynamics,
        ),
        Verb(
            "forward_dynamics_derivatives",
            (*_STATE, ("tau", "m")),
            (("da_dq", ("v", "v")), ("da_dv", ("v", "v")), ("da_dtau", ("v", "m"))),
            derivatives.forward_dynamics,
        ),
        Verb("regressor", _MOVING, (("Y", ("v", "p")),), quantities.regressor_matrix, is_lean=False),
        Verb("gibbs", _MOVING, (("S", ()),), quantities.gibbs_function, is_lean=False),
        Verb("kinetic_energy", _STATE, (("T", ()),), quantities.kinetic_energy, is_lean=False),
        Verb("momentum", _STATE, (("p", (6,)),), quantities.momentum_of, is_lean=False),
        Verb("momentum_matrix", (_Q,), (("A", (6, "v")),), quantities.momentum_matrix, is_lean=False),
        Verb("jacobian", (_Q,), (("J", (6, "v")),), quantities.jacobian, is_lean=False),
        Verb("velocity", _STATE, (("V", (6,)),), quantities.velocity, is_lean=False),
        Verb("acceleration", _MOVING, (("A", (6,)),), quantities.acceleration, is_lean=False),
        Verb("wrench_forces", (_Q, ("wrench", 6)), _TAU, quantities.wrench_forces, is_lean=False),
    )
}
OF_THE_TREE = ("pose", "potential_energy", "centre_of_mass")
"""Verbs of q alone that loops do not change."""


@dataclass(frozen=True, eq=False)
class Programs:
    """The programs of one closed robot: its loops as decided, and the frames that make them cheapest."""

    assembler: Assembler
    configurations: NDArray[Any]
    structure: Structure

    @property
    def model(self) -> Model:
        """Return the tree with its closures."""
        return self.assembler.model

    def recipe(self, verb: str, frame: str | None, alternate: Structure | None = None) -> Recipe:
        """Return what determines the kernel of a verb; with an alternate structure, of the one for its pivots."""
        what, structure = VERBS[verb], alternate or self.structure
        inputs, outputs = what.ports(self.model, structure)
        model = self.model
        named = [f for c in model.closures for f in (c.first, c.second)] + ([frame] if frame else [])
        frames = [model.frame_index[name] for name in named]
        fingerprint = repr((replace(model, name="", source="", frames=()), frames, structure, alternate is None))
        return Recipe(f"closed_{verb}", inputs, outputs, fingerprint, lambda: self.tape(verb, frame, alternate))

    def tape(self, verb: str, frame: str | None = None, alternate: Structure | None = None) -> Tape:
        """Return the verified tape of a verb."""
        what = VERBS[verb]
        if alternate is not None:
            return self._trace(what, Loops(self.model, self.model, alternate), frame)
        if not what.is_lean:
            return self._trace(what, Loops(self.model, self.model, self.structure), frame)
        return self._trace(what, self.cheapest, frame)

    def _trace(self, what: Verb, loops: Loops, frame: str | None) -> Tape:
        if what.is_strict:
            loops = loops._replace(watch=Watch(self.assembler.size, ROUGH / OPEN**2))
        program = partial(what.program, loops)
        if frame is not None:
            program = partial(_framed, what.program, frame, loops)
        try:
            return verify(trace(what.name, program, *what.ports(self.model, loops.structure)))
        except ZeroDivisionError:
            raise ModelError(
                f"{what.name}: robot '{self.model.name}' has passive modes that move nothing with an inertia; give "
                "their links mass or the joints rotor inertia"
            ) from None

    @cached_property
    def cheapest(self) -> Loops:
        """Return the loops in the frames and axes in which inverse dynamics takes fewest operations."""
        return min(self._variants(), key=self._cost)

    def _variants(self) -> Iterator[Loops]:
        slim = lean(self.model)
        plain = replace(slim, late=frozenset())
        if len(self.model.bodies) > COMPETING:
            yield self._decided(plain, plain, "first")
            return
        best = min((self._decided(plain, plain, axes) for axes in AXES), key=self._cost)
        yield best
        yield self._decided(self.model, self.model, best.structure.axes)
        if slim.late:
            yield best._replace(dynamics=slim)

    def _decided(self, frames: Model, dynamics: Model, axes: str) -> Loops:
        structure, _ = decide(self.assembler, self.configurations, self.structure.independent, frames, axes)
        return Loops(frames, dynamics, replace(structure, actuated=self.structure.actuated))

    def _cost(self, loops: Loops) -> int:
        operations = count(self._trace(VERBS["inverse_dynamics"], loops, None))
        return operations.multiplications + operations.additions + SINE * operations.trigonometric


def _framed(program: Callable[..., Any], frame: str, loops: Loops, *arguments: Any) -> Any:
    return program(loops, *arguments, frame)

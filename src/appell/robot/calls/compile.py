"""From a verb of a robot to a program: the choice of formulation and model variant, traced with its guards.

By default all formulations are compared on all variants, by the cost of :data:`COST` per operation. The cheapest is
stored in the cache with the compiled code, so that the comparison runs once per machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from appell.errors import InputError, ModelError
from appell.kernels.runtime import cache
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.messages import alternatives, listed, shown
from appell.recursion.inertia_matrix import mass_matrix_composite
from appell.recursion.kinematics import Scalars
from appell.robot.kind import FILE, Competitor, Key, Kind, Program
from appell.robot.singular.massless import Massless, massless
from appell.robot.verbs.embedding import Embedding
from appell.robot.verbs.guards import GUARDS, Guard
from appell.robot.verbs.programs import Actuated, Formulation, Solved
from appell.robot.verbs.table import MASS, PIVOTS, Verb
from appell.trace.derive import adjoint, adjoint_ports
from appell.trace.expr import Op
from appell.trace.tape import Count, Port, Tape, count, trace, verify

COST = {Op.ADD: 1, Op.SUB: 1, Op.MUL: 1, Op.DIV: 8, Op.SQRT: 10, Op.SIN: 12, Op.COS: 12, Op.SIGN: 2, Op.SELECT: 2}
"""The cost of operations relative to an addition, in vector code; constants and signs are free."""
OPTIONS = ("formulation", "parameters", "out")
"""The options of every verb."""
PARAMETERS = "parameters"
"""The last input of a parametric program."""


def verb_of(kind: Kind, name: str) -> Verb:
    """Return a row of the table, or raise an error that lists the known names."""
    if not isinstance(name, str) or name not in kind.verbs:
        raise InputError(f"robot '{kind.model.name}' has no verb {shown(name)}; {alternatives(name, kind.verbs, 60)}")
    return kind.verbs[name]


def formulation_of(kind: Kind, verb: str, name: str) -> Formulation:
    """Return a formulation of a verb, or raise an error that lists the known ones."""
    known = kind.formulations(verb)
    if not isinstance(name, str) or name not in known:
        hint = alternatives(name, known)
        raise InputError(f"{verb}: no formulation {shown(name)} for robot '{kind.model.name}'; {hint}")
    return known[name]


def options_of(kind: Kind, verb: str, options: Mapping[str, Any]) -> tuple[str | None, Any, Any]:
    """Return the options `formulation`, `parameters` and `out` of a verb, checked."""
    unknown = sorted(options.keys() - set(OPTIONS))
    if unknown:
        raise InputError(f"{verb}: unknown option {listed(unknown)}; {alternatives(unknown[0], sorted(OPTIONS))}")
    formulation, parameters, out = (options.get(name) for name in OPTIONS)
    if formulation is not None:
        formulation_of(kind, verb, formulation)
    return formulation, parameters, out


def key_of(kind: Kind, key: Key, preferred: str | None) -> Key:
    """Return a key, with the preferred formulation of a robot where it defines the verb and none is given."""
    verb_of(kind, key.verb)
    if key.formulation is not None:
        formulation_of(kind, key.verb, key.formulation)
    elif preferred in kind.formulations(key.verb):
        return key._replace(formulation=preferred)
    return key


def about_of(kind: Kind, verb: str, about: Any, what: str) -> Any:
    """Return the frame or the points that a verb refers to, checked; `what` begins the error message."""
    wanted, frames = verb_of(kind, verb).about, kind.model.frame_index
    if wanted == "frame" and not (isinstance(about, str) and about in frames):
        got = f"has no frame {shown(about)}" if about is not None else f"needs a frame for '{verb}'"
        raise InputError(f"{what}: frame: robot '{kind.model.name}' {got}; {alternatives(about, frames, 40)}")
    if wanted in ("", "columns") and about is not None:
        raise InputError(f"{what}: '{verb}' takes no frame; leave frame out")
    return about


def check_formulation(kind: Kind, formulation: str) -> None:
    """Raise if no verb has a formulation."""
    known = dict.fromkeys(name for verb in kind.verbs for name in kind.formulations(verb))
    if not isinstance(formulation, str) or formulation not in known:
        hint = alternatives(formulation, known)
        raise InputError(f"using: no formulation {shown(formulation)} for robot '{kind.model.name}'; {hint}")


def check_countable(kind: Kind, verb: str) -> None:
    """Raise if the operations of a verb depend on a frame or on points."""
    if verb_of(kind, verb).about in ("frame", "points"):
        counted = [name for name, row in kind.verbs.items() if row.about in ("", "columns")]
        raise InputError(f"operations: '{verb}' needs a frame; verbs that can be counted: {listed(counted, 60)}")


def differentiable(kind: Kind, key: Key) -> Key:
    """Return the key of a derivative, or raise for a robot whose programs are too long."""
    if key.order and kind.is_looped:
        raise too_long(kind, key)
    return key


def too_long(kind: Kind, key: Key) -> InputError:
    """Return the error for a robot whose programs are too long to be written out."""
    return InputError(
        f"{key.verb}: robot '{kind.model.name}' has {len(kind.model.bodies)} bodies, too many for derivatives of this "
        "verb; use inverse_dynamics_vjp or forward_dynamics_vjp"
    )


def ports(kind: Kind, key: Key) -> tuple[tuple[Port, ...], tuple[Port, ...], tuple[Guard, ...]]:
    """Return the inputs and outputs of a program, its guards' among them, and the guards."""
    inputs, outputs, guards = _plain_ports(kind, key)
    results, values = outputs[: len(outputs) - len(guards)], outputs[len(outputs) - len(guards) :]
    for _ in range(key.order):
        inputs, results = adjoint_ports(inputs, results)
    return inputs, (*results, *values), guards


def _plain_ports(kind: Kind, key: Key) -> tuple[tuple[Port, ...], tuple[Port, ...], tuple[Guard, ...]]:
    """Return the same for the program before differentiation; a derivative has only the guard of pivots."""
    verb = verb_of(kind, key.verb)
    sizes = {**kind.facts.sizes, "n": len(key.about)} if isinstance(key.about, tuple) else kind.facts.sizes
    inputs, outputs = verb.ports(sizes, is_parametric=key.is_parametric)
    is_checked = any(port.size for port in outputs)  # without loops there are no constraint forces
    values = kind.guards(key)
    named = [name for name in verb.guards if name == PIVOTS or not key.order]
    guards = tuple(GUARDS[name] for name in named if is_checked and values.get(name))
    if key.is_parametric:
        inputs = (*inputs, Port(PARAMETERS, (kind.facts.sizes["p"],)))
    return inputs, (*outputs, *(Port(g.code.port, (values[g.name],)) for g in guards)), guards


def program(kind: Kind, key: Key) -> Program:
    """Return the program of a verb, straight-line or as loops over bodies."""
    inputs, outputs, guards = ports(kind, key)
    make = (None if key.order else kind.loops(key)) or partial(tape, kind, key)
    return Program(ProgramSpec(key.verb, inputs, outputs, _fingerprint(kind, key), make), guards)


def unguarded(kind: Kind, key: Key) -> ProgramSpec:
    """Return the straight-line program of a verb without guards, for callers that cannot check them."""
    if kind.is_looped:
        raise too_long(kind, key)
    inputs, outputs, guards = ports(kind, key)
    results = outputs[: len(outputs) - len(guards)]
    text = f"{_fingerprint(kind, key)} unguarded"
    return ProgramSpec(key.verb, inputs, results, text, partial(tape, kind, key, is_guarded=False))


def _fingerprint(kind: Kind, key: Key) -> str:
    about = kind.model.frame_index[key.about] if isinstance(key.about, str) else key.about
    guards = [guard.name for guard in ports(kind, key)[2]]
    order = (key.order,) if key.order else ()
    own = kind.fingerprint(is_parametric=key.is_parametric)
    return repr((own, about, key.formulation, key.is_parametric, guards, *order))


def tape(kind: Kind, key: Key, *, is_guarded: bool = True) -> Tape:
    """Return the verified program of a verb."""
    chosen = choice(kind, key)
    formulation, embedding = formulation_of(kind, key.verb, chosen.formulation), partial(kind.embedding, chosen.variant)
    return traced(kind, key, formulation, embedding, is_guarded=is_guarded)


def choice(kind: Kind, key: Key) -> Competitor:
    """Return the formulation and the variant in which a verb is compiled: as requested, or the cheapest."""
    if key.formulation is not None:
        formulation_of(kind, key.verb, key.formulation)
        return Competitor(key.formulation, FILE)
    judged = kind.verbs[key.verb].chosen_as or key.verb
    best = _cheapest(kind, key, judged)
    own = kind.formulations(key.verb)
    return best if best.formulation in own else Competitor(next(iter(own)), best.variant)


def _cheapest(kind: Kind, key: Key, judged: str) -> Competitor:
    competitors = kind.competitors(judged)
    if len(competitors) == 1:
        return competitors[0]
    name = cache.digest("choice", judged, _fingerprint(kind, Key(judged, is_parametric=key.is_parametric)))
    known = (cache.load(name) or b"").decode().split("\n")
    if len(known) == 2 and Competitor(*known) in competitors:
        return Competitor(*known)
    about = key.about if judged == key.verb else None
    best = min(competitors, key=partial(_cost_of, kind, Key(judged, about, None, key.is_parametric)))
    cache.save(name, "\n".join(best).encode())
    return best


def _cost_of(kind: Kind, key: Key, candidate: Competitor) -> int:
    formulation = formulation_of(kind, key.verb, candidate.formulation)
    return cost(traced(kind, key, formulation, partial(kind.embedding, candidate.variant)))


def cost(made: Tape) -> int:
    """Return the cost of a program, in additions."""
    return sum(COST.get(step.op, 0) for step in made.steps)


def operations(kind: Kind, key: Key) -> Count:
    """Return the operation count of a verb without its guards, with formulation and variant."""
    return count(tape(kind, key, is_guarded=False))._replace(**choice(kind, key)._asdict())


def traced(
    kind: Kind,
    key: Key,
    formulation: Formulation,
    embedding: Callable[[Scalars | None], Embedding],
    *,
    is_guarded: bool = True,
) -> Tape:
    """Return the tape of a formulation, the values of its guards first in order and last among the results."""
    inputs, outputs, guards = _plain_ports(kind, key)
    if not is_guarded:
        outputs, guards = outputs[: len(outputs) - len(guards)], ()
    verb, about = kind.verbs[key.verb], () if key.about is None else (key.about,)

    def run(*arguments: Scalars) -> Any:
        own, pi = (arguments[:-1], arguments[-1]) if key.is_parametric else (arguments, None)
        robot = embedding(pi)
        # first, while the inputs are in registers
        values = kind.checks(robot, verb.guards, own[0]) if guards else {}
        results = formulation.program(robot, *own, *about, *((pi,) if pi and verb.by_parameters else ()))
        if isinstance(results, Solved):
            results, inverse_norm = results
            if GUARDS[MASS] in guards:
                values[MASS] = [inverse_norm()]
        elif isinstance(results, Actuated):
            results, growth = results
            if PIVOTS in values:
                values[PIVOTS] = [values[PIVOTS][0] + growth()]
        return results, [values[guard.name] for guard in guards]

    try:
        made, n_results = trace(key.verb, run, inputs, outputs), len(outputs) - len(guards)
        for _ in range(key.order):
            made, n_results = adjoint(made, n_results), len(made.inputs)
        return verify(made)
    except ZeroDivisionError:
        alone, together = _massless(kind)
        raise ModelError(
            f"{key.verb}: singular mass matrix of robot '{kind.model.name}': the joints {listed(alone or together)} "
            f"{'move' if alone else 'can move together without moving'} {'no' if alone else 'any'} inertia; give their "
            "links mass or the joints rotor inertia (armature)"
        ) from None


def _massless(kind: Kind) -> Massless:
    """Return the joints that make M singular, in a random configuration."""
    at = kind.embedding(FILE).at(tuple(map(float, kind.random(np.random.default_rng(0), 1)[0])))
    matrix = at.congruent(mass_matrix_composite(at.model, at.q))
    return massless(kind.facts.independent, np.array(matrix, dtype=float))

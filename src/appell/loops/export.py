"""A closed robot as an exporter sees it: its programs tell by a code where their results are not to be trusted."""

from __future__ import annotations

from appell.kernels.c99 import Guard
from appell.loops.structure import velocity_names
from appell.loops.verbs import OF_THE_TREE, OPEN, ROUGH, VERBS, Programs
from appell.recursion.regressor import n_parameters
from appell.robot.export import Source, coordinates, guarded, open_program
from appell.robot.verbs import FRAMED
from appell.trace.tape import Tape

SMALL = Guard(
    "roughness",
    "{x} <= {0}",
    (ROUGH,),
    "ROUGH",
    f"roughness above {ROUGH:g}: near a singularity, or loops open by {OPEN:g} of the robot's size; do not use the "
    "results",
    is_delivered=True,
)


def closed_source(programs: Programs, name: str) -> Source:
    """Return a closed robot as an exporter sees it."""
    model, structure = programs.model, programs.structure
    names = velocity_names(model)
    order = [f"  {f'v[{i}]':<10} {names[k]}" for i, k in enumerate(structure.independent)]
    motors = [f"  {f'{i}':<10} {names[k]}" for i, k in enumerate(structure.actuated)]
    return Source(
        name,
        (*VERBS, *OF_THE_TREE),
        FRAMED,
        tuple(model.frame_index),
        {
            "NQ": model.nq,
            "NV": len(structure.independent),
            "NU": len(structure.actuated),
            "NT": model.nv,
            "NP": n_parameters(model),
            "NC": len(model.closures),
        },
        (*coordinates(model), *order, "", "Actuators, in the order of their forces:", *motors),
        lambda verb, frame: _program(programs, verb, frame),
    )


def _program(programs: Programs, verb: str, frame: str | None) -> tuple[Tape, tuple[Guard, ...]]:
    if verb in OF_THE_TREE:
        return open_program(programs.model, verb, frame)
    tape, guards = programs.tape(verb, frame), (SMALL,) if VERBS[verb].is_rough else ()
    if verb == "motion":
        return tape, guards
    tape, more = guarded(programs.model, tape)
    return tape, (*guards, *more)

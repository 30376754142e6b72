"""Export of a robot's verbs: as text of other languages, as equations, or as a package."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from appell.arguments import several, truth
from appell.errors import InputError
from appell.messages import listed
from appell.robot.calls.compile import verb_of
from appell.robot.export import equations, ros2, text
from appell.robot.kind import Key

if TYPE_CHECKING:
    from appell.robot.robot import Robot


def export(  # noqa: PLR0913  (those of Robot.export)
    robot: Robot,
    verb: str | Sequence[str],
    *,
    to: str,
    path: str | os.PathLike[str] | None,
    frame: str | None,
    real: str,
    libm: bool,
    prefix: str | None,
    parametric: bool,
    formulation: str | None,
    jobs: Mapping[str, Any],
) -> Any:
    """Write verbs and return the path, or what they are in Python; see :meth:`appell.Robot.export`.

    `jobs` are the options of rollouts and inverse kinematics, which are written alone.
    """
    if isinstance(to, str) and to in text.PACKAGES:
        if verb or frame or prefix or parametric or formulation or real != "double" or libm is not True:
            raise InputError(f"export: '{to}' is a whole package; leave out all but its folder, path=")
        return ros2.export(robot, path)
    if isinstance(verb, str) and verb in text.JOBS:
        options = {**jobs, "frame": frame, "parametric": parametric, "formulation": formulation}
        own = text.job_source(robot, verb, to, options)
        return text.export(own, [Key(verb)], to, path, real=real, libm=libm, prefix=prefix, is_one=True)
    unfit = [name for name, x in jobs.items() if not (x is None or x == ())]
    if unfit:
        raise InputError(f"export: {unfit[0]} belongs to {listed(text.JOBS)}; leave it out for verbs")
    verbs = [verb] if isinstance(verb, str) else several("export: expected a verb, or several", verb)
    if alone := [name for name in verbs if isinstance(name, str) and name in text.JOBS]:
        raise InputError(f"export: '{alone[0]}' is written alone, not in a list")
    truth("export: libm", libm)
    framed = [name for name in verbs if verb_of(robot.kind, name).about == "frame"]
    if frame is not None and verbs and not framed:
        raise InputError(f"export: {listed(verbs)} take no frame; leave frame out")
    abouts = {name: robot._about(name, frame if name in framed else None, "export") for name in verbs}
    has_parameters = truth("export: parametric", parametric)
    keys = [robot._key(name, abouts[name], formulation, has_parameters) for name in verbs]
    is_one = isinstance(verb, str)
    if isinstance(to, str) and to in text.EQUATIONS:
        return equations.export(robot.kind, keys, to, text.checked(to, path, real, libm), is_one)
    own = text.source(robot.kind)
    return text.export(own, keys, to, path, real=real, libm=libm, prefix=prefix, is_one=is_one)

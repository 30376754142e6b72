"""Checks of numbers, shared by the readers of all formats and by models of other packages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from appell.arguments import LARGEST, SKEWED
from appell.errors import ReadError
from appell.messages import alternatives
from appell.model.model import Limits, Model
from appell.model.shapes import shape_faults
from appell.spatial.pose import Pose
from appell.spatial.vector import IDENTITY, matmul, transpose


def unusable(part: Any, path: str = "") -> Iterator[str]:
    """Yield the invalid numbers of a part of a model: NaN, infinity, matrices that are not rotations.

    Limits may be infinite.

    >>> from appell.model.model import Joint
    >>> next(unusable(Joint("hinge", "revolute", damping=math.inf)))
    'damping is inf; expected a finite number below 1e+50 in size'
    """
    if _is_sound(part):
        return
    if isinstance(part, tuple):
        names = getattr(part, "_fields", None)
        for k, entry in enumerate(part):
            yield from unusable(entry, f"{path}[{k}]" if names is None else _joined(path, names[k]))
        if isinstance(part, Pose) and _skew(part) > SKEWED:
            yield f"{_joined(path, 'rotation')} is not a rotation; expected orthogonal rows of unit length"
    elif isinstance(part, Limits):
        named = {field.name: getattr(part, field.name) for field in fields(part)}
        yield from (f"{_joined(path, name)} is NaN; expected a number" for name, x in named.items() if math.isnan(x))
        if part.lower > part.upper:
            yield f"{path}: the lower limit {part.lower:g} is above the upper limit {part.upper:g}; swap them"
    elif is_dataclass(part):
        for field in fields(part):
            yield from unusable(getattr(part, field.name), _joined(path, field.name))
    else:
        yield f"{path} is {part:g}; expected a finite number below {LARGEST:g} in size"


def _is_sound(part: Any) -> bool:
    """Return whether a part is valid: the fast path, without the position of a fault."""
    if isinstance(part, float):
        return -LARGEST <= part <= LARGEST
    if isinstance(part, tuple):
        return all(map(_is_sound, part)) and not (isinstance(part, Pose) and _skew(part) > SKEWED)
    if isinstance(part, Limits):
        return part.lower <= part.upper and part.velocity == part.velocity and part.effort == part.effort
    return not is_dataclass(part) or all(map(_is_sound, vars(part).values()))


def check_numbers(model: Model) -> None:
    """Reject a model with an invalid number.

    Raises
    ------
    ReadError
        When a mass, an inertia, a placement, gravity or another number is infinite or NaN; the message names the body,
        the joint or the frame.
    """
    named: list[tuple[str, Any]] = [
        ("gravity", model.gravity),
        ("base", model.base),
        *((f"body '{body.name}'", body) for body in model.bodies),
        *((f"frame '{frame.name}'", frame.placement) for frame in model.frames),
        *((f"closure '{closure.name}'", closure.radius) for closure in model.closures),
        *((f"home of joint '{name}'", values) for name, values in model.home),
    ]
    for name, part in named:
        for fault in unusable(part):
            raise ReadError(f"{name}: {fault}", model.source)
    for shape in model.shapes:
        if shape.link not in model.frame_index:
            raise ReadError(
                f"a shape of link '{shape.link}'; {alternatives(shape.link, model.frame_index)}", model.source
            )
        for fault in (*unusable(shape.placement, "placement"), *shape_faults(shape)):
            raise ReadError(f"link '{shape.link}': {fault}", model.source)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _skew(pose: Pose) -> float:
    if pose.rotation == IDENTITY:
        return 0.0
    square = matmul(transpose(pose.rotation), pose.rotation)
    return float(max(abs(square[i][j] - IDENTITY[i][j]) for i in range(3) for j in range(3)))

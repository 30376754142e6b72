"""Joints that follow others (mimic joints): checks and coupling.

A follower moves by q = multiplier·q_source + offset. The followers of a file move independently until :func:`coupled`
couples them; then v_tree = G·v with a constant G, and the robot has only the coordinates of its independent joints.
"""

from __future__ import annotations

from dataclasses import replace

from appell.errors import ReadError
from appell.model.closure import coupling
from appell.model.model import Body, Joint, Mimic, Model


def coupled(model: Model) -> Model:
    """Return the model with its followers coupled, each to an independent joint; chains of followers are resolved.

    Raises
    ------
    ReadError
        When a joint follows an unknown or fixed one, when joints follow each other cyclically, or when a follower or
        its source has several coordinates; the message names the file and the line.

    Examples
    --------
    >>> from appell.read import read_urdf
    >>> links = "".join(f'<link name="{name}"/>' for name in "abc")
    >>> model = read_urdf(f'''<robot>{links}
    ... <joint name="left" type="prismatic"><parent link="a"/><child link="b"/></joint>
    ... <joint name="right" type="prismatic"><parent link="a"/><child link="c"/><mimic joint="left"/></joint>
    ... </robot>''')
    >>> model.nv, coupled(model).independent.nv
    (2, 1)
    """
    joints = {body.joint.name: body.joint for body in model.bodies}
    bodies = tuple(_bound(body, joints, model.source) for body in model.bodies)
    return replace(model, bodies=bodies, is_coupled=any(body.joint.mimic for body in bodies))


def with_couplings(model: Model) -> Model:
    """Return a model with loops in which followers are coupled by closures."""
    bound = coupled(model)
    ties = []
    for body in bound.bodies:
        if (mimic := body.joint.mimic) is not None:
            terms = {body.joint.name: 1.0, mimic.joint: -mimic.multiplier}
            ties.append(coupling(f"{body.joint.name} follows", terms, mimic.offset, mimic.line))
    bodies = tuple(replace(body, joint=replace(body.joint, mimic=None)) for body in bound.bodies)
    return replace(model, bodies=bodies, closures=(*model.closures, *ties))


def _bound(body: Body, joints: dict[str, Joint], source: str) -> Body:
    follower = body.joint
    if follower.mimic is None:
        return body
    multiplier, offset, passed, joint = 1.0, 0.0, [follower.name], follower
    while joint.mimic is not None:
        offset += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        joint = _source(joint, joint.mimic, joints, source)
        if joint.name in passed:
            circle = " → ".join(f"'{name}'" for name in [*passed[passed.index(joint.name) :], joint.name])
            raise ReadError(
                f"joints follow each other cyclically ({circle}); remove one mimic", source, follower.mimic.line
            )
        passed.append(joint.name)
    return replace(body, joint=replace(follower, mimic=Mimic(joint.name, multiplier, offset, follower.mimic.line)))


def _source(follower: Joint, mimic: Mimic, joints: dict[str, Joint], source: str) -> Joint:
    problem = mistake(follower, mimic, joints)
    if problem:
        raise ReadError(problem, source, mimic.line)
    return joints[mimic.joint]


def mistake(follower: Joint, mimic: Mimic, joints: dict[str, Joint]) -> str:
    """Return why a follower cannot be coupled; "" if it can."""
    name = mimic.joint
    if name not in joints:
        return (
            f"joint '{follower.name}' follows joint '{name}', which is unknown or does not move; "
            "name a moving joint or remove the mimic"
        )
    for joint in (follower, joints[name]):
        if joint.type.nq > 1:
            return (
                f"joint '{follower.name}' follows joint '{name}', but '{joint.name}' is {joint.kind} and has "
                f"{joint.type.nq} coordinates; only joints with one coordinate can follow or be followed"
            )
    return ""

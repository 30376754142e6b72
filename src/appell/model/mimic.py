"""Joints that follow others: checking what a file says of them, and binding them.

A follower moves by q = multiplier·q_source + offset. A file's followers move by themselves until :func:`coupled` binds
them; then v_tree = G·v with a constant G, and the robot has the coordinates of its independent joints alone.
"""

from __future__ import annotations

from dataclasses import replace

from appell.errors import ReadError
from appell.model.closure import coupling
from appell.model.model import Body, Joint, Mimic, Model


def coupled(model: Model) -> Model:
    """Return the model with its followers bound, each to an independent joint: a chain of followers is resolved.

    Raises
    ------
    ReadError
        When a joint follows one that is not there or does not move, when joints follow each other in a circle, or when
        a follower or its source has several coordinates; the message names the file and the line.

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
    """Return a model with loops whose followers are bound by couplings, closures among the others."""
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
                f"joints follow each other in a circle ({circle}); remove one mimic", source, follower.mimic.line
            )
        passed.append(joint.name)
    return replace(body, joint=replace(follower, mimic=Mimic(joint.name, multiplier, offset, follower.mimic.line)))


def _source(follower: Joint, mimic: Mimic, joints: dict[str, Joint], source: str) -> Joint:
    problem = mistake(follower, mimic, joints)
    if problem:
        raise ReadError(problem, source, mimic.line)
    return joints[mimic.joint]


def mistake(follower: Joint, mimic: Mimic, joints: dict[str, Joint]) -> str:
    """Return why a follower cannot be bound, in words; "" where it can."""
    name = mimic.joint
    if name not in joints:
        return (
            f"joint '{follower.name}' follows joint '{name}', which is not there or does not move; "
            "name a moving joint or remove the mimic"
        )
    for joint in (follower, joints[name]):
        if joint.type.nq > 1:
            return (
                f"joint '{follower.name}' follows joint '{name}', but '{joint.name}' is {joint.kind} and has "
                f"{joint.type.nq} coordinates; only joints of one coordinate follow and are followed"
            )
    return ""

"""Names of the entries of q, v and τ, and whether they are rotations or translations, for any robot."""

from __future__ import annotations

from collections.abc import Sequence

from appell.model.model import Joint
from appell.model.parameters import joint_of_velocity
from appell.robot.robot import Robot

TURNS, SLIDES = "turns", "slides"


def labels(robot: Robot, letter: str) -> list[str]:
    """Return one name per entry of "q", "v", "a" or "tau": the joint's name, or ``name[k]`` where it has several.

    >>> import appell
    >>> labels(appell.load("two-link", floating=True), "q")[-3:]
    ['root[6]', 'joint1', 'joint2']
    >>> labels(appell.load("agile-wrist"), "tau")
    ['theta1', 'theta2', 'theta3']
    """
    if letter == "q":
        joints = robot.places("q").items()
        return [name if len(at) == 1 else f"{name}[{k}]" for name, at in joints for k in range(len(at))]
    return list(robot.kind.facts.forces if letter == "tau" else robot.independent)


def joint_named(robot: Robot, name: str) -> Joint:
    """Return a joint of the spanning tree; any other coordinate, such as an Euler angle, counts as a rotation.

    >>> import appell
    >>> joint_named(appell.load("stewart"), "leg1").kind, joint_named(appell.load("sst"), "phi").kind
    ('prismatic', 'continuous')
    """
    found = (body.joint for body in robot.model.bodies if body.joint.name == name)
    return next(found, Joint(name, "continuous"))


def measures(robot: Robot, names: Sequence[str]) -> list[str]:
    """Return for each velocity or force whether it is a rotation or a translation; rotations have an angular part.

    >>> import appell
    >>> measures(appell.load("mobile-arm"), ["left", "shoulder"])
    ['turns', 'turns']
    """
    found, joints = [], {body.joint.name for body in robot.model.bodies}
    for name in names:
        joint, place = joint_of_velocity(name, joints)
        found.append(TURNS if any(joint_named(robot, joint).columns[place].angular) else SLIDES)
    return found

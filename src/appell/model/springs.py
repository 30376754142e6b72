"""Springs and dampers between joints: checks, and elastic transmissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from appell.errors import ModelError
from appell.messages import alternatives
from appell.model.check import unusable
from appell.model.model import Body, Frame, Joint, Limits, Model, Spring
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose


def with_springs(model: Model, springs: Sequence[Spring]) -> Model:
    """Return the model with more springs between its joints.

    Raises
    ------
    ModelError
        When a name is taken, when a joint is unknown or has several coordinates, or when stiffness or damping is
        negative; the message names the spring.

    Examples
    --------
    >>> from appell.read import from_dh
    >>> arm = from_dh([{"mass": 1.0}, {"a": 0.5, "mass": 1.0}])
    >>> with_springs(arm, [Spring("belt", (("joint1", 1.0), ("joint2", -1.0)), 50.0)]).springs[0].stiffness
    50.0
    """
    joints = {body.joint.name: body.joint for body in model.bodies}
    taken = {*joints, *(spring.name for spring in model.springs)}
    for spring in springs:
        subject = f"spring '{spring.name}'"
        if spring.name in taken:
            raise ModelError(f"{subject}: a joint or another spring has this name; names must be unique")
        taken.add(spring.name)
        if not spring.terms:
            raise ModelError(f"{subject} has no joint; add one or more, each with its coefficient")
        for name, _ in spring.terms:
            if name not in joints:
                raise ModelError(f"{subject}: no moving joint '{name}'; {alternatives(name, joints)}")
            if joints[name].type.nq > 1:
                raise ModelError(
                    f"{subject}: joint '{name}' is {joints[name].kind}; only joints with one coordinate may have "
                    "springs"
                )
        for fault in unusable(spring):
            raise ModelError(f"{subject}: {fault}")
        for what in ("stiffness", "damping"):
            if getattr(spring, what) < 0:
                raise ModelError(f"{subject} has a negative {what}; it must be zero or more")
    return replace(model, springs=(*model.springs, *springs))


# Elastic transmissions


@dataclass(frozen=True)
class Elasticity:
    """An elastic transmission between a motor and its joint, after Spong (1987).

    The motor has a coordinate θ of its own, the angle of its shaft, and the transmission is a spring and a damper of
    the stretch q − θ/ratio. The rotor's kinetic energy is that of its own spin, ½·rotor_inertia·θ̇²; its mass is part
    of the link that carries the motor.

    Parameters
    ----------
    stiffness
        Of the transmission, at the joint [N·m/rad, or N/m where the joint slides].
    damping
        Of the transmission, at the joint [N·m·s/rad, or N·s/m].
    rotor_inertia
        About the motor's axis, seen at θ [kg·m², or kg where the joint slides]. None takes the joint's armature, which
        is that of the rotor seen at the joint, divided by ratio².
    ratio
        Turns of the motor per turn of the joint. With 1, θ and the rotor inertia are those reflected to the joint.

    >>> import appell
    >>> robot = appell.load("puma560").with_elastic_joints({"joint1": appell.Elasticity(2.0e4, ratio=62.6)})
    >>> robot.nv, robot.joint_names[-1]
    (7, 'joint1/motor')
    """

    stiffness: float
    damping: float = 0.0
    rotor_inertia: float | None = None
    ratio: float = 1.0


def with_elastic_joints(model: Model, elasticities: Mapping[str, Elasticity]) -> Model:
    """Return the model with elastic joints: each gets a motor coordinate and a spring between motor and joint.

    The motor of joint x is the joint "x/motor", after all others, in the order given; it carries a massless link
    "x/rotor", and its armature is the rotor inertia. The spring is named "x/spring". The joint's own armature is
    removed, its damping and Coulomb friction stay at the joint. Among named actuators the motor replaces its joint.

    Raises
    ------
    ModelError
        When a joint is unknown, follows another, has several coordinates or is elastic already, when a number is
        invalid for a transmission, or when the rotor inertia is missing.
    """
    joints = {body.joint.name: body for body in model.bodies}
    motors: list[Body] = []
    springs: list[Spring] = []
    for name, own in elasticities.items():
        if name not in joints:
            raise ModelError(f"with_elastic_joints: no moving joint '{name}'; {alternatives(name, joints)}")
        motors.append(_motor(joints[name], own, taken=joints))
        terms = ((name, 1.0), (motors[-1].joint.name, -1.0 / own.ratio))
        springs.append(Spring(f"{name}/spring", terms, own.stiffness, own.damping))
    n = len(model.bodies)
    frames = [(label, n + k) for k, body in enumerate(motors) for label in (body.joint.name, body.name)]
    bodies = (
        replace(body, joint=replace(body.joint, armature=0.0)) if body.joint.name in elasticities else body
        for body in model.bodies
    )
    of_motor = {name: f"{name}/motor" for name in elasticities}
    home = [(of_motor[x], (elasticities[x].ratio * at[0],)) for x, at in model.home if x in of_motor]
    elastic = replace(
        model,
        bodies=(*bodies, *motors),
        frames=(*model.frames, *(Frame(label, i, Pose()) for label, i in frames)),
        actuators=tuple(of_motor.get(x, x) for x in model.actuators),
        independent_velocities=(),  # there are more of them now
        home=(*model.home, *home),
    )
    return with_springs(elastic, springs)


def _motor(body: Body, own: Elasticity, taken: Mapping[str, object]) -> Body:
    """Return the rotor of a joint, on the link that carries the joint."""
    joint, subject = body.joint, f"joint '{body.joint.name}'"
    name = f"{joint.name}/motor"
    if joint.type.nq > 1 or joint.mimic is not None:
        what = f"is {joint.kind}" if joint.type.nq > 1 else f"follows joint '{joint.mimic.joint}'"  # type: ignore[union-attr]  # not None here
        raise ModelError(f"{subject} {what}; only independent joints with one coordinate can be elastic")
    if name in taken:
        raise ModelError(f"{subject} is elastic already; change the stiffness of its spring '{joint.name}/spring'")
    if not own.stiffness > 0.0 or not own.damping >= 0.0 or not own.ratio:
        raise ModelError(
            f"{subject}: expected an elasticity with stiffness above zero, damping of zero or more and a ratio other "
            f"than zero, got {own.stiffness:g}, {own.damping:g} and {own.ratio:g}"
        )
    inertia = joint.armature / own.ratio**2 if own.rotor_inertia is None else own.rotor_inertia
    if not inertia > 0.0:
        raise ModelError(f"{subject}: an elastic joint needs a rotor_inertia above zero, got {inertia:g}")
    limits = Limits(velocity=joint.limits.velocity * abs(own.ratio), effort=joint.limits.effort / abs(own.ratio))
    kind = "continuous" if joint.kind == "revolute" else joint.kind
    motor = Joint(name, kind, joint.axis, joint.placement, limits=limits, armature=inertia, pitch=joint.pitch)
    return Body(f"{joint.name}/rotor", body.parent, motor, Inertia())

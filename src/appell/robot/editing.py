"""Edits of a robot, each of which returns another one: frames, payloads, inertias, joints, robots put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.model import edit, merge
from appell.model.model import Model, Spring
from appell.model.springs import Elasticity, with_elastic_joints, with_springs
from appell.read.values import bound, gravity_vector, number, shown, symmetric, text, vector
from appell.robot.arguments import coordinates, finite_array, joint_list, pose_of, read_as
from appell.robot.configurations import Configurations
from appell.robot.kind import Kind
from appell.robot.long.kind import open_kind
from appell.robot.records import joint_records
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.vector import ZERO


class Editing(Configurations):
    """What makes another robot of one. Robots do not change: each method returns a new one."""

    def with_frame(self, name: str, parent: str, pose: ArrayLike) -> Self:
        """Return the robot with another frame, such as a tool's centre point.

        Parameters
        ----------
        name
            The name of the frame, unlike those that the robot has.
        parent
            The frame that it is fixed to: a link, a joint or any other of :attr:`frame_names`.
        pose
            Its pose in that frame, (4, 4), or its position alone, (3,) [m].

        Raises
        ------
        InputError
            When there is no such parent, the name is taken, or the pose is none.

        >>> import appell
        >>> robot = appell.load("two-link").with_frame("tip", "link2", [0.3, 0.0, 0.0])
        >>> robot.pose([0.0, 0.0], "tip")[:3, 3] - robot.pose([0.0, 0.0], "link2")[:3, 3]
        array([0.3, 0. , 0. ])
        """
        own = read_as("with_frame: name", name, text)
        return self.with_model(edit.with_frame(self.model, own, parent, pose_of("with_frame: pose", pose)))

    def with_payload(self, frame: str, mass: float, centre: ArrayLike = ZERO, inertia: ArrayLike | None = None) -> Self:
        """Return the robot with a body fixed to a frame: a tool, a gripper, what it carries.

        Parameters
        ----------
        frame
            The frame that the payload is fixed to and described in.
        mass
            Its mass [kg].
        centre
            Its mass centre in the frame, (3,) [m].
        inertia
            Its inertia tensor about the mass centre [kg·m²], along the frame's axes: the diagonal (3,), xx xy yy xz yz
            zz (6,), or (3, 3). None for a point mass.

        Raises
        ------
        InputError
            When there is no such frame, or a number is none.
        ModelError
            When the mass is negative.

        Warns
        -----
        AppellWarning
            When no rigid body has that inertia.

        >>> import appell
        >>> robot = appell.load("puma560")
        >>> heavier = robot.with_payload("link6", 2.0, (0.0, 0.0, 0.1))
        >>> round(float(heavier.total_mass - robot.total_mass), 6)
        2.0
        """
        payload = Inertia.from_centre(
            read_as("with_payload: mass", mass, number),
            read_as("with_payload: centre", centre, vector),
            read_as("with_payload: inertia", ZERO if inertia is None else inertia, symmetric),
        )
        return self.with_model(edit.with_payload(self.model, frame, payload))

    def with_link(
        self,
        name: str,
        *,
        mass: float | None = None,
        centre: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
    ) -> Self:
        """Return the robot with another mass, mass centre or inertia of a link; what is not given stays.

        As if it were changed in the file: links that are fixed to this one keep their inertia, and a fixed link may be
        named too. :attr:`links` has the values.

        Parameters
        ----------
        name
            The link.
        mass
            Its mass [kg].
        centre
            Its mass centre in the link's frame, (3,) [m].
        inertia
            Its inertia tensor about the mass centre [kg·m²], along the link frame's axes: the diagonal (3,), xx xy yy
            xz yz zz (6,), or (3, 3).

        Raises
        ------
        InputError
            When there is no such link, or a number is none.
        ModelError
            When the mass is negative.

        >>> import appell
        >>> robot = appell.load("two-link").with_link("link2", mass=3.0)
        >>> robot.links["link2"].mass
        3.0
        """
        changed = edit.with_link(
            self.model,
            name,
            None if mass is None else read_as("with_link: mass", mass, number),
            None if centre is None else read_as("with_link: centre", centre, vector),
            None if inertia is None else read_as("with_link: inertia", inertia, symmetric),
        )
        return self.with_model(changed)

    def with_joint(  # noqa: PLR0913  # one keyword per attribute of a joint
        self,
        name: str,
        *,
        lower: float | None = None,
        upper: float | None = None,
        velocity: float | None = None,
        effort: float | None = None,
        damping: float | None = None,
        friction: float | None = None,
        armature: float | None = None,
        stiffness: float | None = None,
        spring_reference: float | None = None,
    ) -> Self:
        """Return the robot with other limits, friction, rotor inertia or spring of a joint; what is not given stays.

        Parameters
        ----------
        name
            The joint.
        lower, upper
            Its limits [rad, or m]; infinite for none.
        velocity, effort
            The largest speed [rad/s, or m/s] and the largest torque or force [N·m, or N]; infinite for none.
        damping, friction
            Viscous damping [N·m·s/rad, or N·s/m] and Coulomb friction [N·m, or N].
        armature
            Rotor inertia seen at the joint [kg·m², or kg].
        stiffness, spring_reference
            Stiffness of a spring at the joint [N·m/rad, or N/m], and the coordinate at which it is relaxed [rad, or
            m]; joints of one coordinate have springs.

        Raises
        ------
        InputError
            When there is no such joint, a number is none, the limits hold no number, a joint of several coordinates is
            to have a spring, or a spherical robot in closed form is to have what its joints do not.

        >>> import appell
        >>> robot = appell.load("two-link").with_joint("joint2", upper=1.5, damping=0.1)
        >>> robot.joints["joint2"].damping, float(robot.limits.upper[1])
        (0.1, 1.5)
        """
        limits = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        own = {"damping": damping, "friction": friction, "armature": armature}
        own |= {"stiffness": stiffness, "spring_reference": spring_reference}
        changes = {key: read_as(f"with_joint: {key}", x, bound) for key, x in limits.items() if x is not None}
        changes |= {key: read_as(f"with_joint: {key}", x, number) for key, x in own.items() if x is not None}
        changed = edit.with_joint(self.model, name, changes)
        made = self.with_model(changed)
        if made.joints != joint_records(changed):
            raise InputError(
                f"with_joint: the joints of robot '{self.name}' follow in closed form and have no limits, friction, "
                "rotors or springs; describe it by links, joints and closures (docs/loops.md), where they have"
            )
        return made

    def with_springs(self, *springs: Spring) -> Self:
        """Return the robot with springs and dampers between joints of one coordinate.

        Parameters
        ----------
        springs
            Each a name, the joints with their coefficients c, stiffness k and damping d, and a reference s₀: it has the
            potential ½k s² and takes the power d ṡ², with s = Σ c·q − s₀.

        Raises
        ------
        ModelError
            When a name is taken, a joint is not there or has several coordinates, or a number is negative.

        >>> import appell
        >>> belt = appell.Spring("belt", (("joint1", 1.0), ("joint2", -1.0)), stiffness=50.0)
        >>> appell.load("two-link").with_springs(belt).parameter_names[-2:]
        ('k_belt', 'd_belt')
        """
        return self._rebuilt(with_springs(self.kind.settled, springs))

    def with_elastic_joints(self, elasticities: Mapping[str, Elasticity]) -> Self:
        """Return the robot with elastic transmissions between motors and joints.

        Each joint keeps its coordinate, on the link's side; its motor has one of its own, behind all others, called
        "joint/motor". Torques act on every velocity: those of the motors drive the robot, those on the link's side are
        from outside, and zero of a robot that only its motors drive.

        Parameters
        ----------
        elasticities
            By name of the joint: stiffness and damping of the transmission, rotor inertia and gear ratio.

        Raises
        ------
        ModelError
            When a joint is not there, follows another, has several coordinates or is elastic already, or when a number
            cannot be one of a transmission.

        >>> import appell
        >>> soft = appell.Elasticity(stiffness=100.0, rotor_inertia=0.1)
        >>> robot = appell.load("two-link").with_elastic_joints({"joint2": soft})
        >>> robot.joint_names, robot.inverse_dynamics([0.0, 0.0, 0.0], [0.0] * 3, [0.0, 0.0, 2.0])[2:]
        (['joint1', 'joint2', 'joint2/motor'], array([0.2]))
        """
        return self._rebuilt(with_elastic_joints(self.kind.settled, elasticities))

    def with_parameters(self, parameters: ArrayLike) -> Self:
        """Return the robot with other parameters π (n,), in the layout of :attr:`parameters`.

        To evaluate many of them, pass ``parameters=`` to a verb instead: that compiles once.

        Raises
        ------
        InputError
            When their number is another, one is not finite, or a joint of several velocities gets different friction
            in them.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> heavier = robot.with_parameters(2.0 * robot.parameters)
        >>> float(heavier.total_mass / robot.total_mass)
        2.0
        """
        pi = finite_array("with_parameters: parameters", parameters, f" for robot '{self.name}'")
        if pi.shape != self.parameters.shape:
            raise InputError(
                f"with_parameters: expected {self.parameters.shape}, got {pi.shape} for robot '{self.name}'"
            )
        return self.with_model(edit.with_parameters(self.model, pi.tolist()))

    def with_joint_columns(self) -> Self:
        """Return the robot whose π has rotor inertia, damping, friction and stiffness of every velocity.

        The regressor then has their columns, and ``parameters=`` may give joints what the file does not: those are zero
        in :attr:`parameters`. A spherical robot in closed form, whose joints have no such parameters, is refused.

        >>> import appell
        >>> robot = appell.load("two-link").with_joint_columns()
        >>> robot.parameter_names[-4:], robot.parameters[-4:]
        (('Ia_joint2', 'd_joint2', 'f_joint2', 'k_joint2'), array([0., 0., 0., 0.]))
        """
        made = self.with_model(replace(self.model, has_joint_columns=True))
        if not made.model.has_joint_columns:
            raise InputError(
                f"with_joint_columns: the joints of robot '{self.name}' follow in closed form and have no friction, "
                "rotors or springs; describe it by links, joints and closures (docs/loops.md), where they have"
            )
        return made

    def with_gravity(self, gravity: Sequence[float]) -> Self:
        """Return the robot under another acceleration of gravity, (3,) in world axes [m/s²].

        >>> import appell
        >>> float(abs(appell.load("puma560").with_gravity((0.0, 0.0, 0.0)).gravity([0.1] * 6)).max())
        0.0
        """
        if gravity is None:
            raise InputError("with_gravity: expected three finite numbers in m/s², such as (0, 0, -9.81); got None")
        return self.with_model(replace(self.model, gravity=gravity_vector(gravity)))

    def locked(self, joints: Mapping[str, ArrayLike] | Sequence[str]) -> Self:
        """Return the robot with some joints held still: they leave q and v, their links merge, all frames stay.

        Joints that follow a locked one are locked with it. A robot with loops closes them near :meth:`neutral`, and
        chooses its independent velocities anew.

        Parameters
        ----------
        joints
            The coordinates of the joints to lock, by name [rad, or m]; of a joint of several coordinates, all of them.
            Or a list of names, locked where they are in :meth:`neutral`.

        Raises
        ------
        InputError
            When there is no such joint, or its coordinates are none; of a spherical robot in closed form, always.
        ModelError
            When its loops cannot be closed with those joints locked, or nothing moves.

        >>> import appell
        >>> appell.load("puma560").locked({"joint4": 0.3, "joint6": 0.0}).joint_names
        ['joint1', 'joint2', 'joint3', 'joint5']
        """
        own = self.kind.settled
        q, at = self.neutral(), self.places("q")
        given = dict.fromkeys(joint_list("locked", joints)) if not isinstance(joints, Mapping) else joints
        chosen: dict[int, Any] = {}
        for name, value in given.items():
            i = edit.joint_of(own, name, "locked")
            mimic = own.bodies[i].joint.mimic
            if own.is_coupled and mimic is not None:
                raise InputError(f"locked: joint '{name}' follows joint '{mimic.joint}'; lock that one")
            chosen[i] = at[name]
            if value is not None:
                q[chosen[i]] = coordinates(f"locked: joint '{name}'", value, len(chosen[i]))
        q = self.configuration("locked", q)
        model = merge.locked(own, {i: tuple(q[places].tolist()) for i, places in chosen.items()})
        return self._rebuilt(model)

    def attached(self, other: Self, frame: str, pose: ArrayLike | None = None, *, prefix: str = "") -> Self:
        """Return this robot and another as one, the base of the other fixed to a frame of this one.

        An arm and its gripper, or two arms on a torso. The joints of the other come behind all that the link of the
        frame carries; gravity is this robot's.

        Parameters
        ----------
        other
            The robot to attach.
        frame
            The frame of this robot that carries it.
        pose
            The pose of its base in that frame, (4, 4), or its position alone, (3,) [m]; there where none is given.
        prefix
            What all names of the other begin with, such as "left_".

        Raises
        ------
        InputError
            When a name is in both robots, and the message lists them; when there is no such frame; or when one of them
            is a spherical robot in closed form.

        >>> import appell
        >>> arm = appell.load("two-link")
        >>> both = arm.attached(arm, "link2", [0.5, 0.0, 0.0], prefix="second_")
        >>> both.joint_names
        ['joint1', 'joint2', 'second_joint1', 'second_joint2']
        """
        if not isinstance(other, type(self)):
            raise InputError(f"attached: expected a robot, got {type(other).__name__}; load one with appell.load")
        if not isinstance(prefix, str):
            raise InputError(f"attached: prefix: expected text such as 'left_', got {shown(prefix)}")
        place = Pose() if pose is None else pose_of("attached: pose", pose)
        model = merge.attached(self.kind.settled, other.kind.settled, frame, place, prefix)
        return self._rebuilt(model, other.kind)

    def subtree(self, link: str) -> Self:
        """Return a part of the robot: what a link carries, with the link as a base at the origin of the world.

        By the name of a joint, the joint and what it carries, on the frame of the link that carries the joint.

        Raises
        ------
        InputError
            When there is no such link or joint, or when a loop, a spring, or a joint that follows another leads out
            of it.

        >>> import appell
        >>> wrist = appell.load("puma560").subtree("link3")
        >>> wrist.joint_names
        ['joint4', 'joint5', 'joint6']
        """
        return self._rebuilt(merge.subtree(self.kind.settled, link))

    def _rebuilt(self, model: Model, *others: Kind) -> Self:
        """Return the robot of a model with other joints; its loops are closed by a kind that has loops."""
        kind = max((self.kind, *others), key=lambda one: len(one.model.closures))
        made = kind.closed(model) if model.closures else open_kind(model)
        return type(self)(made, self._formulation)

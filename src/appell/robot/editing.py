"""Edits of a robot: frames, payloads, inertias, joints, springs, gravity. Each returns another robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import finite_array, pose_of
from appell.errors import InputError, ReadError
from appell.model import edit
from appell.model.model import Model, Spring
from appell.model.springs import Elasticity, with_elastic_joints, with_springs
from appell.read.place import Place
from appell.read.values import bound, gravity_vector, number, symmetric, text, vector
from appell.robot.loop_configurations import LoopConfigurations
from appell.robot.records import joint_records
from appell.spatial.inertia import Inertia
from appell.spatial.vector import ZERO


class Editing(LoopConfigurations):
    """Edits of frames, inertias, joints and parameters. Robots are immutable: each method returns another robot."""

    def with_frame(self, name: str, parent: str, pose: ArrayLike) -> Self:
        """Return the robot with another frame, such as a tool's centre point.

        Parameters
        ----------
        name
            The name of the new frame, different from all names of :attr:`frame_names`.
        parent
            The frame that it is fixed to: a link, a joint or any other of :attr:`frame_names`.
        pose
            Its pose in that frame, (4, 4), or its position alone, (3,) [m].

        Returns
        -------
        Robot
            A robot with that frame.

        Raises
        ------
        InputError
            When the parent is unknown, the name is taken, or the pose is invalid.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link").with_frame("tip", "link2", [0.3, 0.0, 0.0])
        >>> robot.pose([0.0, 0.0], "tip")[:3, 3] - robot.pose([0.0, 0.0], "link2")[:3, 3]
        array([0.3, 0. , 0. ])
        """
        own = read_as("with_frame: name", name, text)
        return self.with_model(edit.with_frame(self.model, own, parent, pose_of("with_frame: pose", pose)))

    def with_payload(self, frame: str, mass: float, centre: ArrayLike = ZERO, inertia: ArrayLike | None = None) -> Self:
        """Return the robot with a payload fixed to a frame: a tool, a gripper, a load.

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

        Returns
        -------
        Robot
            A robot that carries the payload.

        Raises
        ------
        InputError
            When the frame is unknown, or a number is invalid.
        ModelError
            When the mass is negative.

        Warns
        -----
        AppellWarning
            When no rigid body can have that inertia.

        Examples
        --------
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
        """Return the robot with another mass, mass centre or inertia of a link; values not given are kept.

        The effect is that of a change in the file: links that are fixed to this one keep their inertia, and a fixed
        link may be named too. :attr:`links` contains the current values.

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

        Returns
        -------
        Robot
            A robot with the changed link.

        Raises
        ------
        InputError
            When the link is unknown, or a number is invalid.
        ModelError
            When the mass is negative.

        Examples
        --------
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
        """Return the robot with other limits, friction, rotor inertia or spring of a joint; values not given are kept.

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

        Returns
        -------
        Robot
            A robot with the changed joint.

        Raises
        ------
        InputError
            When the joint is unknown, a number is invalid, the lower limit exceeds the upper one, the spring belongs to
            a joint of several coordinates, or the robot is a spherical robot in closed form, whose joints have none of
            these attributes.

        Examples
        --------
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
                f"with_joint: robot '{self.name}' is a closed-form model whose joints have no limits, friction, rotor "
                "inertia or springs; describe it by links, joints and closures (docs/loops.md) to set them"
            )
        return made

    def with_springs(self, *springs: Spring) -> Self:
        """Return the robot with springs and dampers between joints of one coordinate.

        Parameters
        ----------
        *springs
            Springs: name, joints with their coefficients c, stiffness k, damping d and reference s₀. A spring has the
            potential energy ½k s² and dissipates the power d ṡ², with s = Σ c·q − s₀.

        Returns
        -------
        Robot
            A robot with those springs.

        Raises
        ------
        ModelError
            When a name is taken, a joint is unknown or has several coordinates, or a number is negative.

        Examples
        --------
        >>> import appell
        >>> belt = appell.Spring("belt", (("joint1", 1.0), ("joint2", -1.0)), stiffness=50.0)
        >>> appell.load("two-link").with_springs(belt).parameter_names[-2:]
        ('k_belt', 'd_belt')
        """
        return self._rebuilt(with_springs(self.kind.settled, springs))

    def with_elastic_joints(self, elasticities: Mapping[str, Elasticity]) -> Self:
        """Return the robot with elastic transmissions between motors and joints.

        Each joint keeps its coordinate, on the link side; its motor gets a coordinate of its own, named "joint/motor",
        after all others. Torques act on every velocity: the motor torques drive the robot, the torques on the link side
        are external and zero for a robot that only its motors drive.

        Parameters
        ----------
        elasticities
            Stiffness and damping of the transmission, rotor inertia and gear ratio, by name of the joint.

        Returns
        -------
        Robot
            A robot with one more coordinate per elastic joint.

        Raises
        ------
        ModelError
            When a joint is unknown, follows another, has several coordinates or is elastic already, or when a number is
            invalid for a transmission.

        References
        ----------
        M.W. Spong, Modeling and control of elastic joint robots, Journal of Dynamic Systems, Measurement, and Control
        109 (1987) 310–319.

        Examples
        --------
        >>> import appell
        >>> soft = appell.Elasticity(stiffness=100.0, rotor_inertia=0.1)
        >>> robot = appell.load("two-link").with_elastic_joints({"joint2": soft})
        >>> robot.joint_names, robot.inverse_dynamics([0.0, 0.0, 0.0], [0.0] * 3, [0.0, 0.0, 2.0])[2:]
        (['joint1', 'joint2', 'joint2/motor'], array([0.2]))
        """
        return self._rebuilt(with_elastic_joints(self.kind.settled, elasticities))

    def with_parameters(self, parameters: ArrayLike) -> Self:
        """Return the robot with other parameters π.

        To evaluate many parameter vectors, pass ``parameters=`` to a verb instead, which compiles once.

        Parameters
        ----------
        parameters
            π (n,), in the layout and units of :attr:`parameters`.

        Returns
        -------
        Robot
            A robot with those parameters.

        Raises
        ------
        InputError
            When the length is wrong, a number is not finite, or a joint of several velocities is given different
            friction for them.

        Examples
        --------
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
        """Return the robot whose π contains rotor inertia, damping, friction and stiffness of every velocity.

        The regressor then has their columns, and ``parameters=`` may set values that the file does not define, which
        are zero in :attr:`parameters`.

        Returns
        -------
        Robot
            A robot with four more parameters per velocity.

        Raises
        ------
        InputError
            For a spherical robot in closed form, whose joints have no such parameters.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link").with_joint_columns()
        >>> robot.parameter_names[-4:], robot.parameters[-4:]
        (('Ia_joint2', 'd_joint2', 'f_joint2', 'k_joint2'), array([0., 0., 0., 0.]))
        """
        made = self.with_model(replace(self.model, has_joint_columns=True))
        if not made.model.has_joint_columns:
            raise InputError(
                f"with_joint_columns: robot '{self.name}' is a closed-form model whose joints have no friction, rotor "
                "inertia or springs; describe it by links, joints and closures (docs/loops.md) to set them"
            )
        return made

    def with_gravity(self, gravity: Sequence[float]) -> Self:
        """Return the robot under another gravity.

        Parameters
        ----------
        gravity
            Acceleration of gravity (3,) in world axes [m/s²], such as (0, 0, −9.81).

        Returns
        -------
        Robot
            A robot under that gravity.

        Raises
        ------
        InputError
            When it is not three finite numbers.

        Examples
        --------
        >>> import appell
        >>> float(abs(appell.load("puma560").with_gravity((0.0, 0.0, 0.0)).gravity([0.1] * 6)).max())
        0.0
        """
        if gravity is None:
            raise InputError("with_gravity: expected three finite numbers in m/s², such as (0, 0, -9.81); got None")
        return self.with_model(replace(self.model, gravity=gravity_vector(gravity)))

    def _rebuilt(self, model: Model) -> Self:
        """Return the robot of a model with other joints or closures."""
        return type(self)(self.kind.make(model), self._formulation)


def read_as(what: str, value: Any, reader: Callable[[Any, Place], Any]) -> Any:
    """Return an argument converted by a function of the file readers, with errors for arguments."""
    try:
        return reader(value.item() if isinstance(value, np.ndarray) and not value.ndim else value, Place(path=what))
    except ReadError as error:
        raise InputError(str(error)) from None

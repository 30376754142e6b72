"""The description of a robot: names, sizes, limits, records of joints and links, parameters, and its file."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

import numpy as np

from appell.errors import InputError
from appell.messages import shown
from appell.model.parameters import joint_of_velocity, parameter_names
from appell.read.save import save
from appell.recursion.momentum import total_mass
from appell.robot.coordinates import Limits
from appell.robot.evaluation import Evaluation
from appell.robot.kind import Rank
from appell.robot.records import JointRecord, LinkRecord, Named, joint_records, link_records
from appell.robot.summary import summary
from appell.spatial.scalar import Array


class Description(Evaluation):
    """A robot's names, sizes, limits and parameters."""

    def _repr_html_(self) -> str:
        return summary(self)

    @cached_property
    def nq(self) -> int:
        """Return the number of coordinates q.

        Examples
        --------
        >>> import appell
        >>> appell.load("five-bar").nq
        4
        """
        return self.facts.sizes["q"]

    @cached_property
    def nv(self) -> int:
        """Return the number of velocities v: the degrees of freedom, the mobility of a robot with loops.

        Examples
        --------
        >>> import appell
        >>> appell.load("five-bar").nv
        2
        """
        return self.facts.sizes["v"]

    @cached_property
    def nu(self) -> int:
        """Return the number of joint torques τ: one per velocity of an open robot, one per actuator of a closed one.

        Examples
        --------
        >>> import appell
        >>> appell.load("five-bar").nu
        2
        """
        return self.facts.sizes["u"]

    @cached_property
    def joint_names(self) -> list[str]:
        """Return the names of the moving joints in the order of q, without followers (``mimic=True``).

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").joint_names
        ['joint1', 'joint2']
        """
        return list(self.facts.joint_names)

    @cached_property
    def independent(self) -> list[str]:
        """Return the names of the velocities in the order of v; ``name[k]`` for a joint with several.

        Examples
        --------
        >>> import appell
        >>> appell.load("five-bar").independent
        ['mot1', 'mot2']
        """
        return list(self.facts.independent)

    @cached_property
    def driven(self) -> list[str]:
        """Return the velocities whose accelerations :meth:`inverse_dynamics` takes: the first of :attr:`independent`.

        They are as many as the actuators, fewer where actuators are redundant; the others are passive.

        Examples
        --------
        >>> import appell
        >>> appell.load("five-bar").driven
        ['mot1', 'mot2']
        """
        return self.independent[: self.facts.sizes["d"]]

    def places(self, letter: str) -> dict[str, list[int]]:
        """Return the indices of each joint's entries in q, v or τ, by name of the joint.

        Parameters
        ----------
        letter
            "q", "v" or "tau".

        Returns
        -------
        dict
            A list of indices for each joint.

        Raises
        ------
        InputError
            For another letter.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").places("v")
        {'joint1': [0], 'joint2': [1]}
        """
        if not isinstance(letter, str) or letter not in ("q", "v", "tau"):
            raise InputError(f"places: expected 'q', 'v' or 'tau', got {shown(letter)}")
        found: dict[str, list[int]] = {}
        if letter == "q":
            names = [name for name, n in zip(self.joint_names, self.facts.joint_sizes, strict=True) for _ in range(n)]
        else:
            joints = {body.joint.name for body in self.model.bodies}
            labels = self.independent if letter == "v" else self.facts.forces
            names = [joint_of_velocity(name, joints)[0] for name in labels]
        for k, name in enumerate(names):
            found.setdefault(name, []).append(k)
        return found

    @cached_property
    def actuators(self) -> list[str]:
        """Return the names of the actuated joints in the order of τ: every joint of an open robot.

        Examples
        --------
        >>> import appell
        >>> appell.load("five-bar").actuators
        ['mot1', 'mot2']
        """
        return list(self.facts.actuators)

    @cached_property
    def link_names(self) -> list[str]:
        """Return the names of the moving bodies, each with ten inertial parameters.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").link_names
        ['link1', 'link2']
        """
        return [body.name for body in self.model.bodies]

    @cached_property
    def frame_names(self) -> list[str]:
        """Return the names of all frames: the links and joints of the file, and frames added to it.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").frame_names
        ['base', 'joint1', 'link1', 'joint2', 'link2']
        """
        return list(self.model.frame_index)

    @cached_property
    def joints(self) -> Named[JointRecord]:
        """Return one record per joint, by name: kind, parent and child link, axis, limits, friction, rotor inertia.

        An unknown name raises an InputError that lists the known ones.

        Examples
        --------
        >>> import appell
        >>> joint = appell.load("puma560").joints["joint2"]
        >>> joint.kind, joint.parent, joint.armature
        ('revolute', 'link1', 2.324814845)
        """
        return joint_records(self.model)

    @cached_property
    def links(self) -> Named[LinkRecord]:
        """Return one record per link, the base first, by name: joint, mass, mass centre, inertia about the centre.

        Fixed links of the file are included; toml and URDF files of :meth:`save` contain none.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").links["link2"].parent
        'link1'
        """
        return link_records(self.model)

    @cached_property
    def closure_names(self) -> list[str]:
        """Return the names of the closures in the order of :meth:`constraint_forces`; empty without loops.

        Examples
        --------
        >>> import appell
        >>> appell.load("five-bar").closure_names
        ['tips']
        """
        return list(self.facts.closure_names)

    @property
    def rank(self) -> Rank:
        """Return the rank of the closures' Jacobian, and the singular values on both sides of the gap.

        Examples
        --------
        >>> import appell
        >>> rank = appell.load("five-bar").rank
        >>> rank.value, rank.kept > 0.1, rank.dropped < 1e-12
        (2, True, True)
        """
        return self.facts.rank

    @cached_property
    def limits(self) -> Limits:
        """Return the limits: lower and upper (nq), velocity and effort (nv); infinite where the file has none.

        Units are rad or m, rad/s or m/s, N·m or N.

        Examples
        --------
        >>> import appell
        >>> appell.load("puma560").limits.effort.shape
        (6,)
        """
        return self.facts.limits

    @cached_property
    def parameters(self) -> Array:
        """Return the dynamic parameters π (n,) with τ = Y·π, read-only.

        For each body m [kg], m·c (3) [kg·m] and Ixx Ixy Iyy Ixz Iyz Izz about the joint frame's origin [kg·m²]. Where
        any joint has them, or after :meth:`with_joint_columns`, four more for each velocity: rotor inertia, damping,
        Coulomb friction, stiffness. Then stiffness and damping of every spring between joints. :attr:`parameter_names`
        labels all.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.parameters.shape, bool(robot.parameters[0] == robot.links["link1"].mass)
        ((20,), True)
        """
        values = np.array(self.facts.parameters, dtype=float)
        values.flags.writeable = False
        return values

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Return the name of every entry of :attr:`parameters`: a symbol with the name of a link, velocity or spring.

        Symbols are m, mx, my, mz, Ixx … Izz of bodies; rotor inertia Ia, damping d, Coulomb friction f and stiffness k.

        Examples
        --------
        >>> import appell
        >>> names = appell.load("puma560").parameter_names
        >>> names[0], names[-4:]
        ('m_link1', ('Ia_joint6', 'd_joint6', 'f_joint6', 'k_joint6'))
        """
        return parameter_names(self.model)[: len(self.facts.parameters)]

    @property
    def base_columns(self) -> list[int]:
        """Return the indices of the regressor columns that the base parameters keep.

        Examples
        --------
        >>> import appell
        >>> len(appell.load("two-link").base_columns)
        6
        """
        return list(self._base.kept)

    @cached_property
    def base_matrix(self) -> Array:
        """Return the matrix B (base, n) of the base parameters, π_b = B·π for any parameters π.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.base_matrix.shape
        (6, 20)
        """
        return self._base.matrix

    @cached_property
    def base_parameters(self) -> Array:
        """Return the base parameters π_b, τ = Y_b·π_b with the regressor Y_b of ``base=True``.

        They are the linear combinations of π that the joint torques depend on, joint parameters included.
        :func:`appell.identification.base_parameters` gives the combinations by name.

        Examples
        --------
        >>> import appell
        >>> print(*appell.load("two-link").base_parameters.round(3).tolist())
        0.201 0.0 0.004 10.0 0.0 13.334
        """
        values: Array = self.base_matrix @ self.parameters
        values.flags.writeable = False
        return values

    @cached_property
    def total_mass(self) -> float:
        """Return the mass of all moving bodies [kg].

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").total_mass
        10.1
        """
        return float(total_mass(self.model))

    def save(self, path: str | os.PathLike[str], template: str | os.PathLike[str] | None = None) -> Path:
        """Write the robot to a file: ``.toml``, ``.urdf``, MJCF (``.xml``, ``.mjcf``) or ``.sdf``.

        Numbers are written with all digits. toml represents every robot completely. In the other formats fixed links
        become frames, and their mass is part of the body that carries them; unsupported features raise an error or are
        named in a warning.

        Parameters
        ----------
        path
            The file; its extension names the format.
        template
            A URDF file of the same links and joints, usually the one from which the robot was loaded. The new file is a
            copy of its text in which only those inertias, damping, friction, rotor inertia and limits change that
            differ. The change of a body's inertia is written to its own link, not to links fixed to that one.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            When the extension is unknown, or the file cannot be written.
        ModelError
            When the format cannot represent the robot, or the template has other links and joints.

        Warns
        -----
        AppellWarning
            When the file omits something, such as the gravity of a URDF.

        Examples
        --------
        >>> import appell, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     appell.load(appell.load("puma600").save(folder + "/copy.toml"))
        <Robot 'puma600': 6 bodies, nq 6, nv 6>
        """
        return save(self.kind.as_tree(), path, self.kind.text, template)

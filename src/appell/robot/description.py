"""What a robot is: its names, sizes, limits and parameters; and the call of a verb, through which all results come.

:class:`Description` is the first part of :class:`appell.Robot`; configurations, dynamics and the robot itself follow.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.model.build import alternatives, listed
from appell.model.model import Model
from appell.model.parameters import parameter_names
from appell.read.save import save
from appell.read.values import shown
from appell.recursion.momentum import total_mass
from appell.robot.arguments import numbers
from appell.robot.base import BaseColumns, robot_columns
from appell.robot.calls import prepared
from appell.robot.compile import formulation_of, verb_of
from appell.robot.composed import composed
from appell.robot.coordinates import Limits, check_quaternions, quaternion_joints
from appell.robot.kind import Facts, Key, Kind, Rank
from appell.robot.records import JointRecord, LinkRecord, Named, joint_records, link_records
from appell.robot.summary import summary
from appell.spatial.scalar import Array


class Options(TypedDict, total=False):
    """The options of every verb."""

    out: Any
    parameters: ArrayLike | None
    formulation: str | None


class Description:
    """A robot's names, sizes, limits and parameters."""

    def __init__(self, kind: Kind, formulation: str | None = None) -> None:
        self.kind = kind
        self._formulation = formulation
        self._calls: dict[Any, Callable[..., Array]] = {}

    def __repr__(self) -> str:
        label = f", {self.facts.label}" if self.facts.label else ""
        return f"<Robot '{self.name}': {len(self.model.bodies)} bodies{label}, nq {self.nq}, nv {self.nv}>"

    def _repr_html_(self) -> str:
        return summary(self)

    def __reduce__(self) -> Any:
        return type(self), (self.kind, self._formulation)

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # it does not change

    # What the robot is

    @property
    def name(self) -> str:
        """Return the robot's name."""
        return self.kind.model.name

    @property
    def facts(self) -> Facts:
        """Return all names and sizes in one record."""
        return self.kind.facts

    @property
    def model(self) -> Model:
        """Return the bodies, joints and frames of the spanning tree, and what closes its loops."""
        return self.kind.model

    @cached_property
    def nq(self) -> int:
        """Return the number of coordinates q."""
        return self.facts.sizes["q"]

    @cached_property
    def nv(self) -> int:
        """Return the number of velocities v: the mobility."""
        return self.facts.sizes["v"]

    @cached_property
    def nu(self) -> int:
        """Return the number of actuator forces τ: one per velocity of an open robot, one per motor of a closed one."""
        return self.facts.sizes["u"]

    @cached_property
    def joint_names(self) -> list[str]:
        """Return the moving joints in the order of q, without those that follow another (``mimic=True``)."""
        return list(self.facts.joint_names)

    @cached_property
    def independent(self) -> list[str]:
        """Return the names of the velocities in the order of v: of a joint of several, ``name[k]``."""
        return list(self.facts.independent)

    @cached_property
    def driven(self) -> list[str]:
        """Return the velocities whose accelerations :meth:`inverse_dynamics` takes: the first of :attr:`independent`.

        There are as many as actuators, fewer where actuators are redundant; the others are passive modes.

        >>> import appell
        >>> appell.load("five-bar").driven
        ['mot1', 'mot2']
        """
        return self.independent[: self.facts.sizes["d"]]

    def places(self, letter: str) -> dict[str, list[int]]:
        """Return where each joint's numbers stand, by its name: in "q", in "v", or in "tau".

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
            names = [name.partition("[")[0] for name in (self.independent if letter == "v" else self.facts.forces)]
        for k, name in enumerate(names):
            found.setdefault(name, []).append(k)
        return found

    @cached_property
    def actuators(self) -> list[str]:
        """Return the names of the actuated joints, in the order of τ: every joint of an open robot."""
        return list(self.facts.actuators)

    @cached_property
    def link_names(self) -> list[str]:
        """Return the moving bodies, one per ten inertial parameters."""
        return [body.name for body in self.model.bodies]

    @cached_property
    def frame_names(self) -> list[str]:
        """Return every name that :meth:`pose` and :meth:`jacobian` know: all links and joints of the file."""
        return list(self.model.frame_index)

    @cached_property
    def joints(self) -> Named[JointRecord]:
        """Return a record per joint, by name: kind, parent and child link, axis, limits, friction, rotor inertia.

        A name that is not there raises an InputError, which lists those that are.

        >>> import appell
        >>> joint = appell.load("puma560").joints["joint2"]
        >>> joint.kind, joint.parent, joint.armature
        ('revolute', 'link1', 2.324814845)
        """
        return joint_records(self.model)

    @cached_property
    def links(self) -> Named[LinkRecord]:
        """Return a record per link, the base first, by name: its joint, mass, mass centre, inertia about the centre.

        Fixed links are there too, where the file has them; toml and URDF files of :meth:`save` do not.

        >>> import appell
        >>> appell.load("two-link").links["link2"].parent
        'link1'
        """
        return link_records(self.model)

    @cached_property
    def closure_names(self) -> list[str]:
        """Return the names of the closures, in the order of :meth:`constraint_forces`; none without loops."""
        return list(self.facts.closure_names)

    @property
    def rank(self) -> Rank:
        """Return how many of the closures' rows count, and the singular values on both sides of the gap.

        >>> import appell
        >>> rank = appell.load("five-bar").rank
        >>> rank.value, rank.kept > 0.1, rank.dropped < 1e-12
        (2, True, True)
        """
        return self.facts.rank

    @cached_property
    def limits(self) -> Limits:
        """Return lower and upper limits (nq), and those of velocities and efforts (nv); infinite where there is none.

        >>> import appell
        >>> appell.load("puma560").limits.effort.shape
        (6,)
        """
        return self.facts.limits

    @cached_property
    def parameters(self) -> Array:
        """Return π with τ = Y·π: per body m, m·c (3), Ixx Ixy Iyy Ixz Iyz Izz about the joint frame's origin.

        Where any joint has them, or after :meth:`with_joint_columns`, four more per velocity: rotor inertia, damping,
        Coulomb friction, stiffness; then stiffness and damping of every spring between joints. :attr:`parameter_names`
        labels all.
        """
        values = np.array(self.facts.parameters, dtype=float)
        values.flags.writeable = False
        return values

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Return the name of every entry of :attr:`parameters`: a symbol with the name of a link, velocity or spring.

        Symbols are m, mx, my, mz, Ixx … Izz of bodies; rotor inertia Ia, damping d, Coulomb friction f and stiffness k.

        >>> import appell
        >>> names = appell.load("puma560").parameter_names
        >>> names[0], names[-4:]
        ('m_link1', ('Ia_joint6', 'd_joint6', 'f_joint6', 'k_joint6'))
        """
        return parameter_names(self.model)[: len(self.facts.parameters)]

    @cached_property
    def _base(self) -> BaseColumns:
        return robot_columns(self.kind, lambda *states: self._call("regressor", states, {}))

    @property
    def base_columns(self) -> list[int]:
        """Return which columns of the regressor those of the base parameters are.

        >>> import appell
        >>> len(appell.load("two-link").base_columns)
        6
        """
        return list(self._base.kept)

    @cached_property
    def base_matrix(self) -> Array:
        """Return B (n, p) with the base parameters π_b = B·π of :attr:`parameters` π, or of any others.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.base_matrix.shape
        (6, 20)
        """
        return self._base.matrix

    @cached_property
    def base_parameters(self) -> Array:
        """Return π_b with τ = Y_b·π_b for the regressor Y_b of ``base=True``: the sums of π that torques depend on.

        They include the parameters of the joints, where the robot has them.
        :func:`appell.identification.base_parameters` names the sums.

        >>> import appell
        >>> print(*appell.load("two-link").base_parameters.round(3).tolist())
        0.201 0.0 0.004 10.0 0.0 13.334
        """
        values: Array = self.base_matrix @ self.parameters
        values.flags.writeable = False
        return values

    @cached_property
    def total_mass(self) -> float:
        """Return the mass of all moving bodies [kg]."""
        return float(total_mass(self.model))

    def save(self, path: str | os.PathLike[str], template: str | os.PathLike[str] | None = None) -> Path:
        """Write the robot to a file: ``.toml``, ``.urdf``, MJCF (``.xml``, ``.mjcf``) or ``.sdf``.

        Numbers load back to their last digits. toml holds every robot whole. In the other formats fixed links are
        frames, their mass in the body that carries them; what a format cannot hold is refused or named in a warning.

        Parameters
        ----------
        path
            The file; its extension names the format.
        template
            A URDF file of the same links and joints, as a rule that from which the robot was loaded. The new file is a
            copy of its text in which only inertias, damping, friction, rotor inertia and limits change, and these
            where they differ. What has changed of a body goes to the link that its joint carries, not to links fixed
            to that one.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            When the extension is unknown, or the file cannot be written.
        ModelError
            When the format cannot hold the robot, or the template has other links and joints.

        Warns
        -----
        AppellWarning
            When the file leaves something out, such as the gravity of a URDF.

        Examples
        --------
        >>> import appell, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     appell.load(appell.load("puma600").save(folder + "/copy.toml"))
        <Robot 'puma600': 6 bodies, nq 6, nv 6>
        """
        return save(self.kind.as_tree(), path, self.kind.text, template)

    # The call of a verb

    def evaluate(self, verb: str, *arguments: Any, about: Any = None, **options: Unpack[Options]) -> Any:
        """Return what any verb of the table gives (``robot.verbs``); `about` is the frame, or the points, it is about.

        >>> import appell
        >>> appell.load("two-link").evaluate("gravity", [0.0, 0.0]).shape
        (2,)
        """
        named = self._about(verb, about, verb)
        wanted = [name for name, _ in self.kind.verbs[verb].inputs]
        if len(arguments) != len(wanted):
            raise InputError(f"{verb}: expected {listed(wanted)}, got {len(arguments)} arguments")
        return self._call(verb, arguments, options, named)

    def _call(self, verb: str, arguments: tuple[Any, ...], options: Options, about: Any = None) -> Array:
        if not options:
            name: Any = verb if about is None else (verb, about)
            call = self._calls.get(name) or self._prepared(name, verb, about, None, False)
            return call(*arguments)
        unknown = options.keys() - Options.__optional_keys__
        if unknown:
            known = sorted(Options.__optional_keys__)
            raise InputError(f"{verb}: unknown option {listed(sorted(unknown))}; {alternatives(min(unknown), known)}")
        parameters, out, formulation = options.get("parameters"), options.get("out"), options.get("formulation")
        if formulation is not None:
            formulation_of(self.kind, verb, formulation)
        name = (verb, about, formulation, parameters is not None)
        call = self._calls.get(name) or self._prepared(name, *name)
        given = arguments if parameters is None else (*arguments, parameters)
        return call(*given) if out is None else call(*given, out)

    def _prepared(
        self, name: Any, verb: str, about: Any, formulation: str | None, is_parametric: bool
    ) -> Callable[..., Array]:
        key = self._key(verb, about, formulation, is_parametric)
        call = self._calls[name] = (composed if self.kind.is_composed(key) else prepared)(self.kind, key)
        return call

    def _key(self, verb: str, about: Any, formulation: str | None, is_parametric: bool) -> Key:
        """Return which program a call asks for; a robot's own formulation is used wherever it defines the verb."""
        verb_of(self.kind, verb)
        if formulation is not None:
            formulation_of(self.kind, verb, formulation)
        elif self._formulation in self.kind.formulations(verb):
            formulation = self._formulation
        return Key(verb, about, formulation, is_parametric)

    def _about(self, verb: str, about: Any, what: str) -> Any:
        """Return what a verb is about, after a look whether it may be."""
        wanted = verb_of(self.kind, verb).about
        if wanted == "frame" and not (isinstance(about, str) and about in self.model.frame_index):
            got = f"has no frame {shown(about)}" if about is not None else f"needs a frame for '{verb}'"
            raise InputError(f"{what}: frame: robot '{self.name}' {got}; {alternatives(about, self.frame_names, 40)}")
        if wanted == "columns" and about is None:
            return self._base.kept
        if wanted in ("", "columns") and about is not None:
            raise InputError(f"{what}: '{verb}' is about the whole robot; leave frame out")
        return about

    def _sized(self, name: str, x: ArrayLike, size: int) -> Array:
        return numbers(self.name, name, (size,), x).astype(float, copy=False)

    def configuration(self, name: str, q: ArrayLike) -> Array:
        """Return an argument as configurations (..., nq) whose quaternions have unit length; `name` is for errors."""
        array = self._sized(name, q, self.nq)
        if self.facts.quaternions:
            check_quaternions(self.name, self.facts.quaternions, quaternion_joints(self.model.independent), array)
        return array

"""The class Robot, one for every kind of robot."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypedDict, Unpack, final

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers, truth, words
from appell.errors import InputError
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.messages import listed
from appell.model import merge
from appell.model.model import Model, Spring
from appell.model.parameters import parameter_names
from appell.model.springs import Elasticity, with_elastic_joints, with_springs
from appell.once import Memo, once, once_property
from appell.read.save import save
from appell.recursion.momentum import total_mass
from appell.robot import edits, stance
from appell.robot.calls import compile, loads
from appell.robot.calls.call import AnyKernel, Call, kernel, prepared
from appell.robot.calls.compile import verb_of
from appell.robot.calls.composed import composed
from appell.robot.calls.loads import Wrenches
from appell.robot.export import equations
from appell.robot.export.equations import Equations
from appell.robot.export.export import export
from appell.robot.kind import Facts, Key, Kind, Program, Rank
from appell.robot.properties import configurations
from appell.robot.properties.base_columns import BaseColumns, robot_columns
from appell.robot.properties.records import JointRecord, LinkRecord, Named, joint_records, link_records
from appell.robot.properties.summary import summary
from appell.robot.stance import StanceTorques
from appell.robot.verbs.coordinates import Limits, coordinates_of
from appell.robot.verbs.steps import step_verb, timed
from appell.robot.verbs.table import Verb
from appell.spatial.scalar import Array, frozen
from appell.spatial.vector import ZERO
from appell.trace.tape import Count, Port, Tape

__all__ = ["Options", "Robot", "Wrenches"]


class Options(TypedDict, total=False):
    """The options of every verb, see :class:`appell.Robot`."""

    out: Any
    parameters: ArrayLike | None
    formulation: str | None


@final
class Robot:
    """A robot with its dynamics: an arm, a tree, a robot with loops or wheels, a spherical robot in closed form.

    Robots are made by :func:`appell.load`, :func:`appell.from_dh` and similar functions, and are immutable; threads may
    share them. Every verb takes arrays with any leading axes, which broadcast as in NumPy: ``(..., nq)`` in,
    ``(..., nv)`` out. Lists work; float32 inputs give float32 results. All verbs take the same options:

    ``out=``
        An array that receives the result, or a tuple of arrays for several results.
    ``parameters=``
        π (..., n) in the layout of :attr:`parameters`, in place of the robot's own; its leading axes broadcast too.
    ``formulation=``
        The algorithm, such as "gibbs", "vector" or "newton-euler", on the frames of the robot's file; see
        :meth:`formulations`. By default the one with the fewest operations for this robot.

    v has one entry per name in :attr:`independent`. For a robot with loops q is the configuration of the spanning tree,
    closed by :meth:`assemble`; v are the velocities of the actuators, then the passive ones that the actuators leave
    free. For a spherical robot in closed form q are the platform's Euler angles.

    Parameters
    ----------
    kind
        The kind of robot, an object of the protocol :class:`appell.robot.kind.Kind`.
    formulation
        The formulation of :meth:`using`, if any.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("two-link")
    >>> robot.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).shape
    (2,)
    """

    def __init__(self, kind: Kind, formulation: str | None = None) -> None:
        self.kind = kind
        self._formulation = formulation
        self._calls: dict[Any, Callable[..., Array]] = {}
        self._memo = Memo()  # of `once`: asking for __dict__ would make every later call slower

    def __repr__(self) -> str:
        label, sizes = f", {self.facts.label}" if self.facts.label else "", self.facts.sizes
        return f"<Robot '{self.name}': {len(self.model.bodies)} bodies{label}, nq {sizes['q']}, nv {sizes['v']}>"

    def __reduce__(self) -> Any:
        return Robot, (self.kind, self._formulation)

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # immutable

    @property
    def name(self) -> str:
        """Return the robot's name.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").name
        'two-link'
        """
        return self.kind.model.name

    @property
    def facts(self) -> Facts:
        """Return all names and sizes in one record.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").facts.sizes["v"]
        2
        """
        return self.kind.facts

    @property
    def model(self) -> Model:
        """Return the model: bodies, joints and frames of the spanning tree, and the closures of its loops.

        Examples
        --------
        >>> import appell
        >>> [body.name for body in appell.load("two-link").model.bodies]
        ['link1', 'link2']
        """
        return self.kind.model

    @once_property
    def _base(self) -> BaseColumns:
        return robot_columns(self.kind, lambda *states: self._call("regressor", states, {}))

    def evaluate(self, verb: str, *arguments: Any, about: Any = None, **options: Unpack[Options]) -> Any:
        """Return the result of any verb of the table :attr:`verbs`, by its name.

        Parameters
        ----------
        verb
            A name in :attr:`verbs`.
        *arguments
            The arrays that the verb takes, in the order of its row.
        about
            The frame, the points or the columns that verbs such as "pose" or "point_positions" refer to.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            The result; several results as a list.

        Raises
        ------
        InputError
            When the verb is unknown, or the number of arguments is wrong.

        Examples
        --------
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
        if options and (len(options) > 1 or options.get("out") is None):
            return self._call_with(verb, arguments, options, about)
        name = verb if about is None else (verb, about)
        call = self._calls.get(name) or self._prepared(name, self._key(verb, about))
        return call(*arguments, options["out"]) if options else call(*arguments)

    def _call_with(self, verb: str, arguments: tuple[Any, ...], options: Options, about: Any) -> Array:
        formulation, parameters, out = compile.options_of(self.kind, verb, options)
        is_parametric = parameters is not None
        name = (verb, about, formulation, is_parametric) if formulation or is_parametric or about else verb
        call = self._calls.get(name) or self._prepared(name, self._key(verb, about, formulation, is_parametric))
        given = (*arguments, parameters) if is_parametric else arguments
        return call(*given) if out is None else call(*given, out)

    def _framed(self, verb: str, frame: str, arguments: tuple[Any, ...], options: Options) -> Array:
        return self._call(verb, arguments, options, self._about(verb, frame, verb))

    def _prepared(self, name: Any, key: Key) -> Callable[..., Array]:
        call = self._calls[name] = self._callable(key)
        return call

    def _callable(self, key: Key) -> Callable[..., Array]:
        """Return the callable of a program, which is compiled once per robot."""
        make = composed if not key.order and self.kind.is_composed(key) else prepared
        return once(self, key, partial(make, self.kind, key))

    def _key(self, verb: str, about: Any = None, formulation: str | None = None, is_parametric: bool = False) -> Key:
        """Return the key of the program of a call; a robot's own formulation is used wherever it defines the verb."""
        return compile.key_of(self.kind, Key(verb, about, formulation, is_parametric), self._formulation)

    def _about(self, verb: str, about: Any, what: str) -> Any:
        """Return the frame, points or columns that a verb refers to, checked."""
        if about is None and verb_of(self.kind, verb).about == "columns":
            return self._base.kept
        return compile.about_of(self.kind, verb, about, what)

    def _sized(self, name: str, x: ArrayLike, size: int) -> Array:
        return numbers(self.name, name, (size,), x).astype(float, copy=False)

    def configuration(self, name: str, q: ArrayLike) -> Array:
        """Return an argument as an array of configurations, checked.

        Parameters
        ----------
        name
            The name of the argument, for error messages.
        q
            Configurations (..., nq) [rad, m].

        Returns
        -------
        Array
            (..., nq), float64.

        Raises
        ------
        InputError
            When the shape is wrong, or a quaternion is not of unit length.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").configuration("q", [0, 1])
        array([0., 1.])
        """
        return configurations.checked(self.kind, self._sized(name, q, self.nq))

    # Names, sizes, limits, parameters, file

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
        return configurations.places(self.kind, letter)

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
        """Return one record per link, the base first, by name: joint, mass, mass centre, inertia about it, shapes.

        `visuals` and `collisions` are the link's shapes, each with `kind`, `sizes`, `placement` in the link's frame,
        `file` of a mesh and `colour`. Fixed links of the file are included; in toml and URDF files of :meth:`save` they
        are without mass.

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
        return frozen(self.facts.parameters)

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
        return frozen(self.base_matrix @ self.parameters)

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
        named in a warning. Visual and collision shapes are written, meshes by the names of their files: names with
        ``package://`` as they are, others relative to the new file's folder if inside, else absolute. MJCF and SDF have
        the shapes of fixed links on the body that carries them.

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

    # Configurations

    def neutral(self) -> Array:
        """Return the neutral configuration: every joint at zero, identity quaternions, loops closed.

        Returns
        -------
        Array
            (nq,) [rad, m].

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").neutral()
        array([0., 0.])
        """
        return self.kind.neutral()

    @cached_property
    def configurations(self) -> Named[Array]:
        """Return the named configurations (nq,) of the robot's file: MJCF keyframes, SRDF group states, those of toml.

        Joints that a configuration does not name are as in :meth:`neutral`; loops are closed near it. An unknown name
        raises an InputError that lists the known ones.

        Examples
        --------
        >>> import appell
        >>> text = '<robot><group_state name="up" group="arm"><joint name="joint1" value="1.5"/></group_state></robot>'
        >>> appell.load("two-link", srdf=text).configurations["up"]
        array([1.5, 0. ])
        """
        return configurations.named(self.kind)

    def random(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Array:
        """Return random configurations within the joint limits, or within ±π rad or ±1 m where a joint has none.

        Configurations of a robot with loops are closed, and within about 0.5 rad of :meth:`neutral`.

        Parameters
        ----------
        rng
            The generator of random numbers.
        size
            The leading axes: an integer, a tuple, or None for one configuration.

        Returns
        -------
        Array
            (..., nq) [rad, m], with the leading axes of `size`.

        Raises
        ------
        InputError
            When `rng` is not a generator, or `size` is negative.

        Examples
        --------
        >>> import appell, numpy as np
        >>> appell.load("two-link").random(np.random.default_rng(0), 3).shape
        (3, 2)
        """
        return configurations.random(self.kind, rng, size)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return the configuration reached from q by the motion dv, a velocity times a time step.

        Quaternions are normalised. A robot with loops follows dv in steps of 0.1 and closes its loops after each step.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        dv
            Motion (..., nv) [rad, m] in the tangent space; entries of at most 100 for a robot with loops.

        Returns
        -------
        Array
            (..., nq), the configuration q ⊕ dv.

        Raises
        ------
        InputError
            When a robot with loops cannot follow dv: it is too long, not finite, or leads to open loops.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").integrate([0.1, 0.2], [1.0, 2.0])
        array([1.1, 2.2])
        """
        return self.kind.integrate(self.configuration("q", q), self._sized("dv", dv, self.nv))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return the motion that leads from q0 to q1: ``integrate(q0, difference(q0, q1)) = q1``.

        Parameters
        ----------
        q0, q1
            Configurations (..., nq) [rad, m].

        Returns
        -------
        Array
            (..., nv) [rad, m] in the tangent space at q0, q1 ⊖ q0.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").difference([0.1, 0.2], [1.0, 2.0])
        array([0.9, 1.8])
        """
        return self.kind.difference(self.configuration("q0", q0), self.configuration("q1", q1))

    def reorder(self, names: Sequence[str]) -> Array:
        """Return the indices that bring an array in the order of `names` into this robot's order.

        Use them on the last axis: ``x[..., robot.reorder(names)]``.

        Parameters
        ----------
        names
            The names of all joints, in the order of the array.

        Returns
        -------
        Array
            Indices (joints,).

        Raises
        ------
        InputError
            When a joint is missing or named twice.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.reorder(robot.joint_names[::-1])
        array([1, 0])
        """
        return configurations.reorder(self.kind, names)

    def with_model(self, model: Model) -> Robot:
        """Return the robot with another model of the same joints and loops: other inertias, friction or gravity.

        Parameters
        ----------
        model
            The model; its joints, frames and closures are those of this robot.

        Returns
        -------
        Robot
            A robot of that model.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560")
        >>> robot.with_model(robot.model.without_friction())
        <Robot 'puma560': 6 bodies, nq 6, nv 6>
        """
        return Robot(self.kind.with_model(model), self._formulation)

    # Loops, independent velocities, actuators

    def assemble(self, guess: ArrayLike | None = None) -> Array:
        """Return closed configurations near guesses.

        Parameters
        ----------
        guess
            Configurations (..., nq) [rad, m]; :meth:`neutral` if None.

        Returns
        -------
        Array
            (..., nq), with all loops closed; the guess itself for a robot without loops.

        Raises
        ------
        ModelError
            When the loops cannot be closed; the message names the open ones.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> bool(robot.closure_error(robot.assemble(robot.neutral() + 0.1)) < 1e-12)
        True
        """
        return self.neutral() if guess is None else self.kind.assemble(self.configuration("guess", guess))

    def project(self, q: ArrayLike, v: ArrayLike | None = None) -> Any:
        """Return the closed configuration with the same independent coordinates, and matching velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m], near a closed one.
        v
            Velocities. Independent ones (..., nv) are returned unchanged: velocities of the tree follow from them and
            cannot drift. Of velocities of the whole tree (..., nt), the nearest motion in kinetic energy is returned.

        Returns
        -------
        Array or tuple
            q (..., nq); with `v`, q and the independent velocities (..., nv).

        Raises
        ------
        InputError
            When q is not near a closed configuration.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> q = robot.project(robot.neutral() + [0.0, 0.0, 1e-4, 0.0])
        >>> bool(robot.closure_error(q) < 1e-12)
        True
        """
        closed = self.kind.project(self._sized("q", q, self.nq))
        return closed if v is None else (closed, configurations.matching(self, closed, v))

    def closure_error(self, q: ArrayLike) -> Array:
        """Return how far the loops of configurations are open.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            (...): the largest distance [m] or angle [rad] of all closures; 0 without loops.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> bool(robot.closure_error(robot.neutral()) < 1e-12)
        True
        """
        return self.kind.closure_error(self._sized("q", q, self.nq))[()]

    def condition(self, q: ArrayLike) -> Array:
        """Return the condition number of the equations for the dependent velocities, made dimensionless.

        It is infinite where the independent velocities do not determine the motion: at a singularity of the robot, or
        of the chosen coordinates (:meth:`with_independent`).

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            (...); 1 without loops.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> bool(robot.condition(robot.neutral()) < 100.0)
        True
        """
        return self.kind.condition(self._sized("q", q, self.nq))[()]

    def with_independent(self, names: Sequence[str] | None = None, *, near: ArrayLike | None = None) -> Robot:
        """Return the robot with other independent velocities, such as those of a platform.

        Inverse dynamics then takes the accelerations of the first of them, as many as there are actuators. Use it near
        configurations where the actuators do not determine the motion. Velocities are converted by
        ``other.project(q, robot.tree_velocity(q, v))``.

        Parameters
        ----------
        names
            Names of velocities of the tree; the best conditioned ones at `near` if None.
        near
            A closed configuration (nq,) [rad, m] at which the choice is well conditioned; :meth:`neutral` if None.

        Returns
        -------
        Robot
            The robot in those coordinates.

        Raises
        ------
        InputError
            When a name is unknown, the number of names is wrong, or they do not determine the motion.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar").with_independent(["mot1", "free1"])
        >>> robot.independent, robot.actuators
        (['mot1', 'free1'], ['mot1', 'mot2'])
        """
        at = None if near is None else self._sized("near", near, self.nq)
        wanted = None if names is None else words("with_independent", names)
        return self._with(self.kind.with_independent(wanted, at))

    def coordinates_near(self, q: ArrayLike) -> Robot:
        """Return the robot in coordinates that are well conditioned at q: itself, unless its own are singular near q.

        A simulation that calls it before every step passes through actuator singularities: the same robot moves in
        other coordinates for a while.

        Parameters
        ----------
        q
            Configuration (nq,) [rad, m].

        Returns
        -------
        Robot
            This robot, or the same robot with other independent velocities.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.coordinates_near(robot.neutral()) is robot
        True
        """
        return self._with(self.kind.near(self._sized("q", q, self.nq)))

    def _with(self, kind: Kind) -> Robot:
        return self if kind is self.kind else once(self, kind, partial(Robot, kind, self._formulation))

    def reduced(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the independent velocities of velocities of the tree; likewise of accelerations.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities of the tree (..., nt) [rad/s, m/s] that the loops allow.

        Returns
        -------
        Array
            (..., nv), the inverse of :meth:`tree_velocity`.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.reduced(robot.neutral(), robot.tree_velocity(robot.neutral(), [1.0, 2.0]))
        array([1., 2.])
        """
        return self.kind.reduced(self._sized("q", q, self.nq), self._sized("v", v, self.facts.sizes["t"]))

    def tree_configuration(self, q: ArrayLike) -> Array:
        """Return the coordinates of every joint of the spanning tree, followers and legs included.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            Coordinates of the tree (..., n) [rad, m]; q itself for a robot without followers.

        Examples
        --------
        >>> import appell
        >>> appell.load("agile-wrist").tree_configuration([0.0, 0.0, 0.0]).shape
        (7,)
        """
        return self.kind.tree_configuration(self._sized("q", q, self.nq))

    def actuator_positions(self, q: ArrayLike) -> Array:
        """Return the positions of the actuators: the inverse kinematics of a parallel robot.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            (..., nu) [rad, m], in the order of :attr:`actuators`.

        Examples
        --------
        >>> import appell
        >>> appell.load("agile-wrist").actuator_positions([0.0, 0.0, 0.0]).round(4)
        array([1.2161, 1.2161, 1.2161])
        """
        places = coordinates_of(self.model, self.facts.actuated, "actuator_positions")
        return self.tree_configuration(q)[..., places]

    def from_actuators(self, positions: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """Return the configuration with given actuator positions: the forward kinematics of a parallel robot.

        Several configurations may have the same actuator positions; the search starts at the guess.

        Parameters
        ----------
        positions
            Positions of the actuators (..., nu) [rad, m].
        guess
            Configuration (..., nq) at which the search starts; :meth:`neutral` if None.

        Returns
        -------
        Array
            (..., nq) [rad, m].

        Raises
        ------
        InputError
            When no such configuration is found; the message names the sample.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("agile-wrist")
        >>> robot.from_actuators(robot.actuator_positions([0.1, -0.2, 0.3])).round(6)
        array([ 0.1, -0.2,  0.3])
        """
        start = self.neutral() if guess is None else self.configuration("guess", guess)
        return self.kind.from_actuators(self._sized("positions", positions, self.nu), start)

    # Edits: each method returns another robot

    def with_frame(self, name: str, parent: str, pose: ArrayLike) -> Robot:
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
        return self.with_model(edits.with_frame(self.model, name, parent, pose))

    def with_payload(
        self, frame: str, mass: float, centre: ArrayLike = ZERO, inertia: ArrayLike | None = None
    ) -> Robot:
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
        return self.with_model(edits.with_payload(self.model, frame, mass, centre, inertia))

    def with_link(
        self, name: str, *, mass: float | None = None, centre: ArrayLike | None = None, inertia: ArrayLike | None = None
    ) -> Robot:
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
        return self.with_model(edits.with_link(self.model, name, mass, centre, inertia))

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
        static_friction: float | None = None,
        stribeck_velocity: float | None = None,
        armature: float | None = None,
        stiffness: float | None = None,
        spring_reference: float | None = None,
    ) -> Robot:
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
        static_friction, stribeck_velocity
            The largest friction at rest [N·m, or N], if more than `friction`, and the speed over which it falls to
            `friction` [rad/s, or m/s]; for simulations.
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
        values = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        values |= {"damping": damping, "friction": friction, "armature": armature}
        values |= {"static_friction": static_friction, "stribeck_velocity": stribeck_velocity}
        values |= {"stiffness": stiffness, "spring_reference": spring_reference}
        return edits.with_joint(self, name, values)

    def with_springs(self, *springs: Spring) -> Robot:
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

    def with_elastic_joints(self, elasticities: Mapping[str, Elasticity]) -> Robot:
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

    def with_parameters(self, parameters: ArrayLike) -> Robot:
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
        return self.with_model(edits.with_parameters(self.model, self.parameters, parameters))

    def with_joint_columns(self) -> Robot:
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
        return edits.with_joint_columns(self)

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
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
        return self.with_model(edits.with_gravity(self.model, gravity))

    def _rebuilt(self, model: Model) -> Robot:
        """Return the robot of a model with other joints or closures."""
        return Robot(self.kind.make(model), self._formulation)

    def locked(self, joints: Mapping[str, ArrayLike] | Sequence[str]) -> Robot:
        """Return the robot with some joints locked: they are removed from q and v, their links merge, all frames stay.

        Joints that follow a locked one are locked with it. For a robot with loops, these are closed near
        :meth:`neutral`, and independent velocities are chosen again.

        Parameters
        ----------
        joints
            The coordinates of the joints to lock, by name [rad, m], all of them for a joint of several coordinates. Or
            a list of names, locked at :meth:`neutral`.

        Returns
        -------
        Robot
            A robot without those joints.

        Raises
        ------
        InputError
            When a joint is unknown or its coordinates are invalid, and for every spherical robot in closed form.
        ModelError
            When the loops cannot be closed with those joints locked, or no joint is left.

        Examples
        --------
        >>> import appell
        >>> appell.load("puma560").locked({"joint4": 0.3, "joint6": 0.0}).joint_names
        ['joint1', 'joint2', 'joint3', 'joint5']
        """
        return self._rebuilt(edits.locked(self.kind, joints))

    def attached(self, other: Robot, frame: str, pose: ArrayLike | None = None, *, prefix: str = "") -> Robot:
        """Return this robot and another as one, the base of the other fixed to a frame of this one.

        Examples are an arm with its gripper, or two arms on a torso. The joints of the other robot come after those of
        the subtree that carries the frame; gravity is this robot's.

        Parameters
        ----------
        other
            The robot to attach.
        frame
            The frame of this robot that carries the other.
        pose
            The pose of its base in that frame, (4, 4), or its position alone, (3,) [m]; the identity by default.
        prefix
            Text that is put before all names of the other robot, such as "left_".

        Returns
        -------
        Robot
            Both robots as one.

        Raises
        ------
        InputError
            When both robots have a name in common (the message lists them), the frame is unknown, or one of the robots
            is a spherical robot in closed form.

        Examples
        --------
        >>> import appell
        >>> arm = appell.load("two-link")
        >>> both = arm.attached(arm, "link2", [0.5, 0.0, 0.0], prefix="second_")
        >>> both.joint_names
        ['joint1', 'joint2', 'second_joint1', 'second_joint2']
        """
        return self._rebuilt(edits.attached(self, other, frame, pose, prefix))

    def subtree(self, link: str) -> Robot:
        """Return the subtree that a link carries, with the link as a fixed base at the origin of the world.

        Parameters
        ----------
        link
            The link; or a joint, whose subtree includes the joint itself, on the frame of its parent link.

        Returns
        -------
        Robot
            The part of the robot as a robot of its own.

        Raises
        ------
        InputError
            When the link or joint is unknown, or when a loop, a spring or a following joint connects the subtree to the
            rest of the robot.

        Examples
        --------
        >>> import appell
        >>> wrist = appell.load("puma560").subtree("link3")
        >>> wrist.joint_names
        ['joint4', 'joint5', 'joint6']
        """
        return self._rebuilt(merge.subtree(self.kind.settled, link))

    # Kinematics

    def pose(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the pose of a frame in the world, a homogeneous matrix.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 4, 4): the rotation from the frame's axes to world axes, and the position of its origin [m].

        Raises
        ------
        InputError
            When the frame is unknown; the message lists those of the robot.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").pose([0.0, 0.0], "link2")[:3, 3]
        array([0.02, 0.  , 0.  ])
        """
        return self._framed("pose", frame, (q,), options)

    def jacobian(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the geometric Jacobian J(q) of a frame: velocity of the frame = J·v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6, nv): rows 0–2 linear (velocity of the frame's origin), rows 3–5 angular, in world axes; Pinocchio's
            LOCAL_WORLD_ALIGNED.

        Raises
        ------
        InputError
            When the frame is unknown.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> bool(abs(robot.jacobian([0.1, 0.2], "link2") @ [1.0, 2.0] - robot.velocity([0.1, 0.2], [1.0, 2.0], "link2"))
        ...      .max() < 1e-12)
        True
        """
        return self._framed("jacobian", frame, (q,), options)

    def velocity(self, q: ArrayLike, v: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the velocity of a frame in world axes.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6): linear velocity of the frame's origin [m/s], then angular velocity [rad/s].

        Raises
        ------
        InputError
            When the frame is unknown.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").velocity([0.0, 0.0], [1.0, 2.0], "link2")[3:]
        array([0., 0., 3.])
        """
        return self._framed("velocity", frame, (q, v), options)

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the classical acceleration of a frame in world axes, without gravity.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations (..., nv) [rad/s², m/s²].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6): linear acceleration of the frame's origin [m/s²], then angular acceleration [rad/s²]; the linear
            part is the classical one, J·a + J̇·v, not the spatial one.

        Raises
        ------
        InputError
            When the frame is unknown.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "link2")[:3]  # centripetal
        array([-0.02,  0.  ,  0.  ])
        """
        return self._framed("acceleration", frame, (q, v, a), options)

    def centre_of_mass(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the mass centre of all moving bodies in the world.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 3) [m].

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").centre_of_mass([0.0, 0.0]).shape
        (3,)
        """
        return self._call("centre_of_mass", (q,), options)

    def momentum(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the centroidal momentum of all moving bodies, in world axes.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6): linear momentum [N·s], then angular momentum about the mass centre [N·m·s]. Rotor inertias are
            not included.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> bool(abs(robot.momentum(q, v) - robot.momentum_matrix(q) @ v).max() < 1e-12)
        True
        """
        return self._call("momentum", (q, v), options)

    def momentum_matrix(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the centroidal momentum matrix A(q): :meth:`momentum` = A·v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6, nv), linear rows first.

        References
        ----------
        D.E. Orin, A. Goswami, S.-H. Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 35 (2013).

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").momentum_matrix([0.0, 0.0]).shape
        (6, 2)
        """
        return self._call("momentum_matrix", (q,), options)

    def actuator_jacobian(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the matrix J(q) from v to the velocities of the actuators; generalised forces are Jᵀτ.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nu, nv); the identity for an open robot.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.actuator_jacobian(robot.neutral())
        array([[1., 0.],
               [0., 1.]])
        """
        return self._call("actuator_jacobian", (q,), options)

    def tree_velocity(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the velocities of every joint of the spanning tree, v_tree = Γ(q)·v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Independent velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nt), with one entry per velocity of the tree's joints; v itself for a robot without loops, followers
            and wheels.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.tree_velocity(robot.neutral(), [1.0, 0.0]).shape
        (4,)
        """
        return self._call("tree_velocity", (q, v), options)

    def tree_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the accelerations of every joint of the spanning tree, a_tree = Γ(q)·a + Γ̇·v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Independent velocities (..., nv) [rad/s, m/s].
        a
            Independent accelerations (..., nv) [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nt), in the order of :meth:`tree_velocity`.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.tree_acceleration(robot.neutral(), [1.0, 0.0], [0.0, 0.0]).shape
        (4,)
        """
        return self._call("tree_acceleration", (q, v, a), options)

    # Energies and regressors

    def gibbs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the Gibbs function (acceleration energy) S = ½ ∫ r̈·r̈ dm, whose gradient ∂S/∂a are the joint torques.

        Gravity enters as an acceleration −g of the base. The terms of springs, damping, friction and rotor inertia are
        included, so that ∂S/∂a is :meth:`generalised_forces`.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations (..., nv) [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (...) [kg·m²/s⁴].

        References
        ----------
        V. Mata et al., Serial-robot dynamics algorithms for moderately large numbers of joints, Mechanism and Machine
        Theory 37 (2002) 739–755.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v, a, step = [0.1, 0.2], [1.0, 2.0], [3.0, 4.0], 1e-3
        >>> slope = (robot.gibbs(q, v, [3.0 + step, 4.0]) - robot.gibbs(q, v, [3.0 - step, 4.0])) / (2 * step)
        >>> bool(abs(slope - robot.inverse_dynamics(q, v, a)[0]) < 1e-6)
        True
        """
        return self._call("gibbs", (q, v, a), options)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the kinetic energy T = ½ vᵀM(q)v, rotor inertias included.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (...) [J].

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> bool(abs(robot.kinetic_energy(q, v) - 0.5 * (robot.mass_matrix(q) @ v @ v)) < 1e-12)
        True
        """
        return self._call("kinetic_energy", (q, v), options)

    def potential_energy(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the potential energy V of gravity and springs; that of gravity is zero at the world's origin.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (...) [J].

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560")
        >>> height = robot.centre_of_mass([0.1] * 6)[2]
        >>> bool(abs(robot.potential_energy([0.1] * 6) - 9.81 * robot.total_mass * height) < 1e-9)
        True
        """
        return self._call("potential_energy", (q,), options)

    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, base: bool = False, **options: Unpack[Options]
    ) -> Array:
        """Return the regressor Y of the dynamics, τ = Y(q, v, a)·π for :attr:`parameters` π.

        The rows are generalised forces on the independent velocities; for a spherical robot in closed form they are
        the motor torques. With ``base=True`` the columns are those of :attr:`base_parameters`, which are linearly
        independent, computed by a kernel of their own.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations (..., nv) [rad/s², m/s²].
        base
            Whether to return only the linearly independent columns.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv, n), with one column per entry of :attr:`parameters` or of :attr:`base_parameters`.

        Raises
        ------
        ModelError
            With ``base=True``, when the rank of the regressor is numerically ambiguous.

        References
        ----------
        M. Gautier, Numerical calculation of the base inertial parameters of robots, Journal of Robotic Systems 8
        (1991) 485–506.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v, a = [0.1, 0.2], [1.0, 2.0], [3.0, 4.0]
        >>> robot.regressor(q, v, a).shape, robot.regressor(q, v, a, base=True).shape
        ((2, 20), (2, 6))
        >>> tau = robot.regressor(q, v, a, base=True) @ robot.base_parameters
        >>> bool(abs(tau - robot.inverse_dynamics(q, v, a)).max() < 1e-12)
        True
        """
        if truth("regressor: base", base):
            return self._call("base_regressor", (q, v, a), options, self._base.kept)
        return self._call("regressor", (q, v, a), options)

    def momentum_regressor(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the regressor Y of the momentum: :meth:`momentum` = Y(q, v)·π for :attr:`parameters` π.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`. The angular rows are about the mass centre
            that the parameters, or those of ``parameters=``, have.

        Returns
        -------
        Array
            (..., 6, n), linear rows first.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> product = robot.momentum_regressor([0.1, 0.2], [1.0, 2.0]) @ robot.parameters
        >>> bool(abs(product - robot.momentum([0.1, 0.2], [1.0, 2.0])).max() < 1e-12)
        True
        """
        return self._call("momentum_regressor", (q, v), options)

    def energy_regressor(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the regressor Y of the energies: (T, V) = Y(q, v)·π for :attr:`parameters` π.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 2, n): row 0 gives :meth:`kinetic_energy`, row 1 :meth:`potential_energy` [J].

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> kinetic, potential = robot.energy_regressor([0.1, 0.2], [1.0, 2.0]) @ robot.parameters
        >>> bool(abs(kinetic - robot.kinetic_energy([0.1, 0.2], [1.0, 2.0])) < 1e-12)
        True
        """
        return self._call("energy_regressor", (q, v), options)

    # Dynamics

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        weights: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Return the joint torques τ = M(q)·a + C(q, v)·v + G(q) + friction, the gradient ∂S/∂a of the Gibbs function.

        For a robot with loops τ are the actuator torques, and the passive velocities move freely.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations [rad/s², m/s²], (..., nv) for an open robot. For a robot with loops those of :attr:`driven`:
            the actuators, unless other independent velocities were chosen or actuators are redundant.
        wrenches
            External wrenches by name of the frame, each (..., 6): force [N], then moment [N·m] about the frame's
            origin, in world axes. They enter as −Σ Jᵀw.
        weights
            Positive weights (..., nu) of redundant actuators (a robot on several feet): τ minimises Σ weight·τ². 1 by
            default.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Joint torques and forces (..., nu) [N·m, N], in the order of :attr:`actuators`.

        Raises
        ------
        InputError
            When an argument has a wrong shape, a frame of `wrenches` is unknown, a weight is not positive, or q is not
            a configuration of the robot (quaternions, loops).

        References
        ----------
        V. Mata et al., Serial-robot dynamics algorithms for moderately large numbers of joints, Mechanism and Machine
        Theory 37 (2002) 739–755.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560")
        >>> robot.inverse_dynamics([0.0] * 6, [0.0] * 6, [0.0] * 6).round(2)[1:3]
        array([37.48,  0.25])
        >>> robot = appell.load("stewart")
        >>> robot.inverse_dynamics(robot.neutral(), [0.0] * 6, [0.0] * 6).round(1)  # six legs share the weight
        array([15.2, 15.1, 15.1, 15.1, 15.1, 15.2])
        """
        if weights is not None:
            return loads.weighted(self, (q, v, a), wrenches, weights, options)
        if wrenches is not None:
            return loads.loaded(self, "inverse_dynamics", (q, v, a), wrenches, options)
        return self._call("inverse_dynamics", (q, v, a), options)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Return the accelerations a that joint torques τ cause: the solution of M(q)·a + C·v + G + friction = τ.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        tau
            Joint torques and forces (..., nu) [N·m, N], in the order of :attr:`actuators`.
        wrenches
            External wrenches on frames, as in :meth:`inverse_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Accelerations (..., nv) [rad/s², m/s²] of all independent velocities.

        Raises
        ------
        InputError
            When an argument has a wrong shape, a frame of `wrenches` is unknown, or q is not a configuration of the
            robot.

        Warns
        -----
        AppellWarning
            When the mass matrix is singular or nearly so; the warning names the joints.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> tau = robot.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])
        >>> robot.forward_dynamics([0.1, 0.2], [1.0, 2.0], tau).round(9)
        array([3., 4.])
        """
        if wrenches is not None:
            return loads.loaded(self, "forward_dynamics", (q, v, tau), wrenches, options)
        return self._call("forward_dynamics", (q, v, tau), options)

    def generalised_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return M a + C v + G + friction on all independent velocities, passive ones included.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations (..., nv) [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Generalised forces (..., nv) [N·m, N]; the joint torques of :meth:`inverse_dynamics` for an open robot.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.generalised_forces(robot.neutral(), [0.0, 0.0], [0.0, 0.0]).shape
        (2,)
        """
        return self._call("generalised_forces", (q, v, a), options)

    def mass_matrix(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the mass matrix (joint-space inertia matrix) M(q) = ∂²S/∂a², rotor inertias included.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv, nv), symmetric and positive definite [kg·m², kg·m, kg].

        References
        ----------
        R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008, section 6.2 (formulation "composite").

        Examples
        --------
        >>> import appell
        >>> M = appell.load("two-link").mass_matrix([0.0, 0.5])
        >>> M.shape, bool(abs(M - M.T).max() < 1e-15)
        ((2, 2), True)
        """
        return self._call("mass_matrix", (q,), options)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return a Coriolis matrix C(q, v): C·v are the Coriolis and centrifugal forces, and Ṁ − 2C is skew-symmetric.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv, nv); damping and friction are not included.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> forces = robot.bias(q, v) - robot.gravity(q)  # without friction in this robot
        >>> bool(abs(robot.coriolis_matrix(q, v) @ v - forces).max() < 1e-12)
        True
        """
        return self._call("coriolis_matrix", (q, v), options)

    def passive_inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """Return M(q)·a_r + C(q, v)·v_r + G(q), the feedforward of passivity-based control, by one recursion.

        C is a matrix for which Ṁ − 2C is skew-symmetric. Rotor inertia is included, damping and friction are not.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        v_r
            Reference velocities (..., nv) [rad/s, m/s].
        a_r
            Reference accelerations (..., nv) [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Generalised forces (..., nv) on the independent velocities [N·m, N].

        References
        ----------
        J.-J.E. Slotine, W. Li, On the adaptive control of robot manipulators, International Journal of Robotics
        Research 6 (1987) 49–59.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v, v_r, a_r = [0.1, 0.2], [1.0, 2.0], [0.5, 0.0], [0.0, 1.0]
        >>> tau = robot.mass_matrix(q) @ a_r + robot.coriolis_matrix(q, v) @ v_r + robot.gravity(q)
        >>> bool(abs(robot.passive_inverse_dynamics(q, v, v_r, a_r) - tau).max() < 1e-12)
        True
        """
        return self._call("passive_inverse_dynamics", (q, v, v_r, a_r), options)

    def gravity(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the gravity torques G(q) = ∂V/∂q, which hold the robot at rest against gravity and springs.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv) [N·m, N], on the independent velocities.

        Examples
        --------
        >>> import appell
        >>> appell.load("puma560").gravity([0.0] * 6).round(2)[1:3]
        array([37.48,  0.25])
        """
        return self._call("gravity", (q,), options)

    def bias(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the bias forces C(q, v)·v + G(q) + friction: the joint torques at zero acceleration.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv) [N·m, N], on the independent velocities; Pinocchio's nle, MuJoCo's qfrc_bias.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> bool(abs(robot.bias(q, v) - robot.inverse_dynamics(q, v, [0.0, 0.0])).max() < 1e-12)
        True
        """
        return self._call("bias", (q, v), options)

    def constraint_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the constraint forces that keep the loops closed in the motion of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m], with closed loops.
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations of :attr:`driven` [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., closures, 6): for each name in :attr:`closure_names` the force [N] and the moment [N·m] on the second
            frame's body, about that frame's origin (the contact point of a wheel), in the axes of the first frame.
            Redundant rows, which were dropped, are zero: rigid bodies do not determine how such rows share a load.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.constraint_forces(robot.neutral(), [0.0, 0.0], [0.0, 0.0]).shape
        (1, 6)
        """
        return self._call("constraint_forces", (q, v, a), options)

    # Frames fixed to the world, contact forces

    def held(self, frames: Mapping[str, int], *, at: ArrayLike | None = None) -> Robot:
        """Return the robot with frames fixed to the world at their poses in one configuration: a closed robot.

        Parameters
        ----------
        frames
            The number of constrained directions by name of the frame: 3 for its origin (a point foot, free to rotate),
            6 for the frame (a flat foot).
        at
            The configuration (nq,) that defines the poses of the fixed frames; :meth:`neutral` if None.

        Returns
        -------
        Robot
            A robot with the same coordinates q and fewer velocities, by the rank of the constraints. Its actuators are
            those of this robot, by default all joints except a floating base. If they are redundant,
            :attr:`independent` has the velocities of the base instead of those of the supporting legs, and
            :meth:`inverse_dynamics` returns the least-squares torques.

        Raises
        ------
        InputError
            When a frame is unknown or fixed to the world already, or `at` is not a configuration.
        ModelError
            When the constraints leave no motion.

        Examples
        --------
        >>> import appell
        >>> arm = appell.load("puma560")
        >>> pivoted = arm.held({"link6": 3}, at=[0.1, 0.5, -0.5, 0.2, 0.3, 0.1])
        >>> pivoted.nv, pivoted.nu, pivoted.closure_names
        (3, 6, ['link6'])
        """
        return self._rebuilt(stance.checked(self, frames, at))

    def contact_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Return the contact forces and moments of the world on held frames in :meth:`forward_dynamics`.

        Parameters
        ----------
        q, v, tau, wrenches
            Those of :meth:`forward_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        array
            (..., closures, 6): per name in :attr:`closure_names` the force [N], then the moment [N·m] about the held
            frame's origin, in world axes; the moment of a frame held by 3 rows is zero. Of a loop, the same as in
            :meth:`constraint_forces`: on its second frame, along the axes of the first.

        Raises
        ------
        InputError
            When an argument has another size, or a frame of `wrenches` is unknown.

        Examples
        --------
        >>> import appell
        >>> q = [0.1, 0.5, -0.5, 0.2, 0.3, 0.1]
        >>> robot = appell.load("puma560").held({"link6": 3}, at=q)
        >>> tau = robot.inverse_dynamics(q, [0.0] * 3, [0.0] * 3)
        >>> robot.contact_forces(q, [0.0] * 3, tau).shape
        (1, 6)
        """
        return loads.loaded(self, "contact_forces", (q, v, tau), wrenches, options, "tree_wrench_forces")

    def friction_margin(self, forces: ArrayLike, mu: ArrayLike, normals: ArrayLike = (0.0, 0.0, 1.0)) -> Array:
        """Return the margins of contact forces within their friction cones, μ n·f − |f − (n·f)n| [N].

        Parameters
        ----------
        forces
            Those of :meth:`contact_forces`, (..., closures, 6); their moments do not count.
        mu
            Coefficients of friction, one number or (..., closures).
        normals
            Normals of the ground in world axes, towards the robot: (3,) or (..., closures, 3), of any length above 0.

        Returns
        -------
        array
            (..., closures): negative where a foot would slip or lift off; infinite for loops, which hold both ways.

        Raises
        ------
        InputError
            When a size does not fit, a coefficient is negative or a normal is zero.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560").held({"link6": 3}, at=[0.1, 0.5, -0.5, 0.2, 0.3, 0.1])
        >>> robot.friction_margin([[3.0, 0.0, 10.0, 0.0, 0.0, 0.0]], mu=0.5)
        array([2.])
        """
        return stance.friction_margin(self, forces, mu, normals)

    def stance_torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        mu: ArrayLike,
        normals: ArrayLike = (0.0, 0.0, 1.0),
        *,
        weights: ArrayLike | None = None,
    ) -> StanceTorques:
        """Return the least-squares joint torques whose contact forces are within their friction cones.

        Parameters
        ----------
        q, v, a, weights
            Those of :meth:`inverse_dynamics`.
        mu, normals
            Those of :meth:`friction_margin`.

        Returns
        -------
        StanceTorques
            ``tau`` (..., nu), their contact ``forces`` (..., closures, 6), and whether ``is_feasible`` (...). Where no
            torques keep the contact forces within their cones, tau are those of :meth:`inverse_dynamics`.

        Raises
        ------
        InputError
            When clarabel is not installed, or an argument does not fit.

        Examples
        --------
        >>> import appell
        >>> q = [0.1, 0.5, -0.5, 0.2, 0.3, 0.1]
        >>> robot = appell.load("puma560").held({"link6": 3}, at=q)
        >>> found = robot.stance_torques(q, [0.0] * 3, [0.0] * 3, mu=0.5)
        >>> bool(found.is_feasible), bool(robot.friction_margin(found.forces, 0.5).min() > -1e-6)
        (True, True)
        """
        return stance.stance_torques(self, (q, v, a), mu, normals, weights)

    # Derivatives

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the derivatives ∂τ/∂q, ∂τ/∂v and ∂τ/∂a of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, v, a
            Configuration, velocities and accelerations, as in :meth:`inverse_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            ∂τ/∂q (..., nu, nv) along the independent velocities with v and a fixed, ∂τ/∂v (..., nu, nv), and ∂τ/∂a
            (..., nu, nu): the mass matrix of an open robot.

        References
        ----------
        J. Carpentier, N. Mansard, Analytical derivatives of rigid body dynamics algorithms, Robotics: Science and
        Systems 2018.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v, by_a = robot.inverse_dynamics_derivatives([0.1, 0.2], [1.0, 0.0], [0.0, 0.0])
        >>> bool(abs(by_a - robot.mass_matrix([0.1, 0.2])).max() < 1e-12)
        True
        """
        return tuple(self._call("inverse_dynamics_derivatives", (q, v, a), options))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the derivatives ∂a/∂q, ∂a/∂v and ∂a/∂τ of :meth:`forward_dynamics`.

        Parameters
        ----------
        q, v, tau
            Configuration, velocities and joint torques, as in :meth:`forward_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            ∂a/∂q (..., nv, nv) along the independent velocities with v and τ fixed, ∂a/∂v (..., nv, nv), and ∂a/∂τ
            (..., nv, nu): the inverse mass matrix of an open robot.

        Examples
        --------
        >>> import appell, numpy as np
        >>> robot = appell.load("two-link")
        >>> by_q, by_v, by_tau = robot.forward_dynamics_derivatives([0.1, 0.2], [1.0, 0.0], [0.0, 0.0])
        >>> bool(abs(by_tau @ robot.mass_matrix([0.1, 0.2]) - np.eye(2)).max() < 1e-9)
        True
        """
        return tuple(self._call("forward_dynamics_derivatives", (q, v, tau), options))

    def inverse_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the vector–Jacobian products wᵀ∂τ/∂q, wᵀ∂τ/∂v and wᵀ∂τ/∂a of :meth:`inverse_dynamics`.

        The cost is a few times that of τ, independent of the number of joints.

        Parameters
        ----------
        q, v, a
            Configuration, velocities and accelerations, as in :meth:`inverse_dynamics`.
        w
            Weights of τ (..., nu).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            (..., nv), (..., nv) and (..., nu); ∂/∂q along the independent velocities with v and a fixed. A fourth,
            wᵀ∂τ/∂π (..., n), if ``parameters=`` is given.

        Raises
        ------
        InputError
            When an argument has a wrong shape, or q is not a configuration of the robot.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v, by_a = robot.inverse_dynamics_vjp([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0])
        >>> bool(abs(by_a - robot.mass_matrix([0.1, 0.2])[0]).max() < 1e-12)
        True
        """
        return tuple(self._call("inverse_dynamics_vjp", (q, v, a, w), options))

    def forward_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the vector–Jacobian products wᵀ∂a/∂q, wᵀ∂a/∂v and wᵀ∂a/∂τ of :meth:`forward_dynamics`.

        Parameters
        ----------
        q, v, tau
            Configuration, velocities and joint torques, as in :meth:`forward_dynamics`.
        w
            Weights of a (..., nv).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            (..., nv), (..., nv) and (..., nu); ∂/∂q along the independent velocities with v and τ fixed. A fourth,
            wᵀ∂a/∂π (..., n), if ``parameters=`` is given.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> pi = robot.parameters
        >>> [x.shape for x in robot.forward_dynamics_vjp([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0], parameters=pi)]
        [(2,), (2,), (2,), (20,)]
        """
        return tuple(self._call("forward_dynamics_vjp", (q, v, tau, w), options))

    def inverse_dynamics_hessian(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """Return the Hessian of wᵀτ with respect to (q, v, a).

        Column k is the derivative of :meth:`inverse_dynamics_vjp`, its three results concatenated, along unit velocity
        k of q, v or a. The block of q is not symmetric where motions do not commute: rotations of free and ball joints.

        Parameters
        ----------
        q, v, a
            Configuration, velocities and accelerations, as in :meth:`inverse_dynamics`.
        w
            Weights of τ (..., nu).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 2nv + nu, 2nv + nu).

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.inverse_dynamics_hessian([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
        (6, 6)
        """
        return self._call("inverse_dynamics_hessian", (q, v, a, w), options)

    def inverse_dynamics_hvp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        w: ArrayLike,
        dq: ArrayLike,
        dv: ArrayLike,
        da: ArrayLike,
        **options: Unpack[Options],
    ) -> Array:
        """Return the product of :meth:`inverse_dynamics_hessian` and (dq, dv, da), without forming the matrix.

        Parameters
        ----------
        q, v, a, w
            Those of :meth:`inverse_dynamics_hessian`.
        dq, dv
            Directions of q and v (..., nv).
        da
            Direction of a (..., nu).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 2nv + nu).

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> state, x = ([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]), ([1.0, 0.0], [0.0, 2.0], [0.0, 0.0])
        >>> product = robot.inverse_dynamics_hessian(*state) @ [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]
        >>> bool(abs(robot.inverse_dynamics_hvp(*state, *x) - product).max() < 1e-12)
        True
        """
        return self._call("inverse_dynamics_hvp", (q, v, a, w, dq, dv, da), options)

    def pose_derivatives(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the derivatives of :meth:`pose` with respect to q, along the independent velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 4, 4, nv).

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").pose_derivatives([0.0, 0.0], "link2").shape
        (4, 4, 2)
        """
        return self._framed("pose_derivatives", frame, (q,), options)

    def jacobian_derivatives(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the derivatives of :meth:`jacobian` with respect to q, along the independent velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6, nv, nv); the last axis is the direction of q.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").jacobian_derivatives([0.0, 0.0], "link2").shape
        (6, 2, 2)
        """
        return self._framed("jacobian_derivatives", frame, (q,), options)

    def momentum_derivatives(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> tuple[Array, ...]:
        """Return the derivatives of :meth:`momentum` with respect to q and v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            By q (..., 6, nv), along the independent velocities; by v (..., 6, nv), which is :meth:`momentum_matrix`.

        Examples
        --------
        >>> import appell
        >>> [x.shape for x in appell.load("two-link").momentum_derivatives([0.0, 0.0], [1.0, 0.0])]
        [(6, 2), (6, 2)]
        """
        return tuple(self._call("momentum_derivatives", (q, v), options))

    def kinetic_energy_derivatives(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> tuple[Array, ...]:
        """Return the derivatives of :meth:`kinetic_energy` with respect to q and v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            ∂T/∂q (..., nv), along the independent velocities, and ∂T/∂v = M(q)·v (..., nv).

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v = robot.kinetic_energy_derivatives([0.1, 0.2], [1.0, 2.0])
        >>> bool(abs(by_v - robot.mass_matrix([0.1, 0.2]) @ [1.0, 2.0]).max() < 1e-12)
        True
        """
        return tuple(self._call("kinetic_energy_derivatives", (q, v), options))

    def potential_energy_derivatives(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the derivative ∂V/∂q of :meth:`potential_energy`, along the independent velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv) [N·m, N]: the gravity torques of :meth:`gravity`.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> bool(abs(robot.potential_energy_derivatives([0.1, 0.2]) - robot.gravity([0.1, 0.2])).max() < 1e-12)
        True
        """
        return self._call("potential_energy_derivatives", (q,), options)

    # Time steps

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        *,
        method: str = "euler",
        **options: Unpack[Options],
    ) -> tuple[Array, ...]:
        """Return q and v after one time step of an integrator, that of :func:`appell.rollout`.

        Parameters
        ----------
        q, v, tau
            Configuration, velocities and joint torques, as in :meth:`forward_dynamics`.
        dt
            The time step [s], a number or (...), one per sample.
        method
            "euler", semi-implicit of first order (v is updated first, then q with the new v), or "rk4", of fourth
            order.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            The next q (..., nq), with unit quaternions and closed loops, and v (..., nv).

        Raises
        ------
        InputError
            When the method is unknown, or an argument has a wrong shape.

        Examples
        --------
        >>> import appell
        >>> q, v = appell.load("two-link").step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        >>> bool((q == 1e-3 * v).all())
        True
        """
        return tuple(self._call(step_verb(method), (q, v, tau, timed(dt)), options))

    def step_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dt: ArrayLike,
        *,
        method: str = "euler",
        **options: Unpack[Options],
    ) -> tuple[Array, ...]:
        """Return the derivatives A and B of :meth:`step` in tangent coordinates: (δq', δv') = A·(δq, δv) + B·δτ.

        δq is in the tangent space at q and δq' in that at the next q, as in :meth:`integrate` and :meth:`difference`.

        Parameters
        ----------
        q, v, tau, dt, method
            Those of :meth:`step`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            A (..., 2nv, 2nv) and B (..., 2nv, nu).

        Examples
        --------
        >>> import appell
        >>> A, B = appell.load("two-link").step_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        >>> A.shape, B.shape
        ((4, 4), (4, 2))
        """
        return tuple(self._call(f"{step_verb(method)}_derivatives", (q, v, tau, timed(dt)), options))

    # Algorithms, programs and their costs

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Return the table of verbs: the arguments, results and checks of each.

        Examples
        --------
        >>> import appell
        >>> [name for name, size in appell.load("two-link").verbs["inverse_dynamics"].inputs]
        ['q', 'v', 'a']
        """
        return self.kind.verbs

    def formulations(self, verb: str) -> list[str]:
        """Return the algorithms that define a verb for this robot, for ``formulation=`` and :meth:`using`.

        Parameters
        ----------
        verb
            A name in :attr:`verbs`.

        Returns
        -------
        list
            Names of formulations, the default ones first.

        Raises
        ------
        InputError
            When the verb is unknown.

        Examples
        --------
        >>> import appell
        >>> appell.load("puma560").formulations("mass_matrix")
        ['gibbs', 'composite', 'mixed', 'mata2002', 'lagrange']
        """
        verb_of(self.kind, verb)
        return list(self.kind.formulations(verb))

    def operations(self, verb: str, formulation: str | None = None) -> Count:
        """Return how many multiplications, additions, sines and cosines a verb takes per sample.

        Parameters
        ----------
        verb
            A name in :attr:`verbs`, of a verb without a frame.
        formulation
            An algorithm, such as "gibbs", "vector" or "newton-euler": its count on the frames of the robot's file, as
            papers count it. By default the program that is compiled for this robot.

        Returns
        -------
        Count
            The operations, and the formulation and model variant that were counted.

        Raises
        ------
        InputError
            When the verb or formulation is unknown, or the verb needs a frame.

        Examples
        --------
        >>> import appell
        >>> print(appell.load("puma560", friction=False, armature=False).operations("inverse_dynamics"))
        189 M, 148 A
        """
        compile.check_countable(self.kind, verb)
        return compile.operations(self.kind, self._key(verb, self._about(verb, None, verb), formulation))

    def program(
        self, verb: str, frame: str | None = None, *, parametric: bool = False, formulation: str | None = None
    ) -> Program:
        """Return the specification of the kernel of a verb, and its guards.

        Parameters
        ----------
        verb
            A name in :attr:`verbs`.
        frame
            The frame of verbs such as "pose".
        parametric
            Whether the parameters π are an input.
        formulation
            The algorithm; by default the one with the fewest operations.

        Returns
        -------
        Program
            The program specification and the guards.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> [guard.name for guard in robot.program("inverse_dynamics").guards]
        ['pivots']
        """
        return compile.program(self.kind, self._key(verb, self._about(verb, frame, verb), formulation, parametric))

    def kernel(
        self, verb: str, frame: str | None = None, *, parametric: bool = False, formulation: str | None = None
    ) -> AnyKernel:
        """Return the compiled kernel of a verb, a NumPy ufunc; after its results come the values of its guards.

        Parameters
        ----------
        verb, frame, parametric, formulation
            Those of :meth:`program`.

        Returns
        -------
        Kernel
            The kernel, without checks of its arguments.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").kernel("gravity")([0.0, 0.0]).shape
        (2,)
        """
        return kernel(self.program(verb, frame, parametric=parametric, formulation=formulation).spec)

    def adjoint(
        self, verb: str, about: Any = None, *, order: int = 1, parametric: bool = False, formulation: str | None = None
    ) -> tuple[Call, tuple[Port, ...], tuple[Port, ...]]:
        """Return the vector–Jacobian product of any verb as a callable, with its inputs and outputs.

        Parameters
        ----------
        verb
            A name in :attr:`verbs`.
        about
            The frame of verbs such as "pose".
        order
            How often the verb is differentiated in reverse mode; 0 is the verb itself.
        parametric
            Whether the parameters π are an argument, the last one.
        formulation
            The algorithm that is differentiated.

        Returns
        -------
        tuple
            The callable and the ports of its inputs and outputs. It takes the arguments of the previous order, then
            weights w for each of its results, and returns Σ wᵀ∂/∂x for each argument x; for q with respect to the nq
            stored coordinates. In directions that are no motions of the robot, such as along a quaternion, these are
            the derivatives of the formulas as they are evaluated.

        Raises
        ------
        InputError
            When the verb is unknown, or the robot has too many bodies for derivatives of any verb.

        Examples
        --------
        >>> import appell
        >>> product, _, outputs = appell.load("two-link").adjoint("mass_matrix")
        >>> [port.name for port in outputs], product([0.1, 0.2], [1.0, 0.0, 0.0, 0.0]).round(4)
        (['by_q'], array([ 0.    , -0.0795]))
        """
        key = self._key(verb, self._about(verb, about, verb), formulation, parametric)._replace(order=order)
        inputs, outputs, guards = compile.ports(self.kind, compile.differentiable(self.kind, key))
        return self._callable(key), inputs, outputs[: len(outputs) - len(guards)]

    def unguarded(
        self, verb: str, about: Any = None, *, order: int = 0, parametric: bool = False, formulation: str | None = None
    ) -> ProgramSpec:
        """Return the program of :meth:`adjoint` without guards.

        Parameters
        ----------
        verb, about, order, parametric, formulation
            Those of :meth:`adjoint`.

        Returns
        -------
        ProgramSpec
            The program specification.

        Raises
        ------
        InputError
            When the verb is unknown, or the robot's programs are loops over its bodies.

        Examples
        --------
        >>> import appell
        >>> [port.name for port in appell.load("two-link").unguarded("gravity").make().outputs]
        ['tau']
        """
        key = self._key(verb, self._about(verb, about, verb), formulation, parametric)
        return compile.unguarded(self.kind, key._replace(order=order))

    def tape(
        self, verb: str, frame: str | None = None, *, parametric: bool = False, formulation: str | None = None
    ) -> Tape:
        """Return the verified straight-line program of a verb; after its results come the values of its guards.

        Parameters
        ----------
        verb, frame, parametric, formulation
            Those of :meth:`program`.

        Returns
        -------
        Tape
            The operations, inputs and outputs.

        Examples
        --------
        >>> import appell
        >>> [port.name for port in appell.load("two-link").tape("gravity").outputs]
        ['tau']
        """
        return compile.tape(self.kind, self._key(verb, self._about(verb, frame, verb), formulation, parametric))

    # Export

    def export(  # noqa: PLR0913  (optional arguments are given by name)
        self,
        verb: str | Sequence[str] = (),
        *,
        to: str = "c",
        path: str | os.PathLike[str] | None = None,
        frame: str | None = None,
        real: str = "double",
        libm: bool = True,
        prefix: str | None = None,
        parametric: bool = False,
        formulation: str | None = None,
        control: Any = None,
        method: str | None = None,
        walls: Any = None,
        points: Any = None,
        limits: bool | float = False,
        tasks: Any = (),
        steps: int | None = None,
    ) -> Any:
        """Write one or several verbs as C99, CasADi, JAX, SymPy, LaTeX or a ROS 2 package.

        "rollout" and "inverse_kinematics" are written alone, to C99 or JAX: many steps from state to state, and one
        descent from a guess.

        Parameters
        ----------
        verb
            A name in :attr:`verbs`, or several; "rollout" or "inverse_kinematics".
        to
            "c": C99 without allocation, with a header beside it; where Python would raise, C returns a code. "casadi"
            or "jax": a Python module that needs only that package. "sympy" or "latex": the simplified equations of a
            small open robot. "ros2": a folder with a plugin package of ``inverse_dynamics_solver`` for ros2_control,
            without a verb.
        path
            The file to write. C99 needs one; the others return their result if None.
        frame
            The frame of verbs such as "pose".
        real
            The C type, "double" or "float".
        libm
            Whether C code may use math.h.
        prefix
            Text before every function name; in C the robot's name by default.
        parametric
            Whether the parameters π are the last argument, in the layout of :attr:`parameters`.
        formulation
            The algorithm; by default the one with the fewest operations.
        control, method
            Of a rollout: a joint control law, whose gains become constants, and the method, "rk4" by default.
        walls, points, limits
            Of a rollout, as in :func:`appell.rollout`: friction, restitution and impulses are then arguments.
        tasks, steps
            Of inverse kinematics: tasks of :mod:`appell.tasks`, whose targets are arguments, instead of or beside the
            pose of `frame`; and the number of steps, 100 by default.

        Returns
        -------
        Path or object
            The file. Without a path a ``casadi.Function``, a JAX function, a SymPy expression or LaTeX text; a tuple of
            them for several verbs.

        Raises
        ------
        InputError
            When a verb, target or option is unknown, the file cannot be written, or the equations are too large.

        Examples
        --------
        >>> import appell, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = appell.load("two-link").export("gravity", path=folder + "/arm.c")
        ...     print(file.with_suffix(".h").read_text().splitlines()[-7])
        void two_link_gravity(const double q[TWO_LINK_NQ], double tau[TWO_LINK_NV]);
        """
        return export(
            self,
            verb,
            to=to,
            path=path,
            frame=frame,
            real=real,
            libm=libm,
            prefix=prefix,
            parametric=parametric,
            formulation=formulation,
            jobs={
                "control": control,
                "method": method,
                "walls": walls,
                "points": points,
                "limits": None if limits is False else limits,
                "tasks": tasks,
                "steps": steps,
            },
        )

    def equations(self) -> Equations:
        """Return M, C, G, τ and the Gibbs function of a small open robot as simplified SymPy expressions.

        Returns
        -------
        Equations
            The expressions as attributes ``M``, ``C``, ``G``, ``tau`` and ``S``, each computed when it is first read.

        Raises
        ------
        InputError
            When SymPy is not installed; when an expression is read, if the robot is too large or has loops.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").equations().M[1, 0]
        Izz_link2 + 0.02*mx_link2*cos(q_joint2)
        """
        return equations.equations(self.kind)

    def using(self, formulation: str) -> Robot:
        """Return the robot with a fixed formulation, which its verbs use wherever it defines them.

        Simulations, rollouts, controllers and exports of that robot use it too.

        Parameters
        ----------
        formulation
            The formulation of any verb, see :meth:`formulations`.

        Returns
        -------
        Robot
            The robot with that formulation.

        Raises
        ------
        InputError
            When the formulation is unknown; the message lists the known ones.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560").using("newton-euler")
        >>> robot.operations("inverse_dynamics").formulation
        'newton-euler'
        """
        compile.check_formulation(self.kind, formulation)
        return Robot(self.kind, formulation)


def checked_robot(what: str, robot: Any) -> Robot:
    """Return an argument that should be a robot; `what` begins the error message."""
    if not isinstance(robot, Robot):
        raise InputError(f"{what}: expected a robot, got {type(robot).__name__}; load one with appell.load")
    return robot

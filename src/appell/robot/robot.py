"""A robot: the verbs a user calls. Each checks its arguments once and then runs native code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.kernels.recipe import Recipe
from appell.model import manifold
from appell.model.build import listed
from appell.model.model import Model
from appell.read.save import save
from appell.recursion import momentum as _momentum
from appell.recursion import regressor as _regressor
from appell.robot.arguments import UNIT, check_quaternions, explain, has_quaternions, numbers
from appell.robot.compile import AnyKernel, kernel, recipe
from appell.robot.export import Source, export, open_source
from appell.robot.strain import strained_kernel
from appell.robot.verbs import VERBS, operations
from appell.trace.count import Count

Array = NDArray[Any]
Wrenches = Mapping[str, ArrayLike]


class Robot:
    """A robot with its dynamics.

    Every verb takes arrays with any leading axes, which broadcast as in NumPy: ``(..., nq)`` in, ``(..., nv)`` out.
    Lists work; float32 in gives float32 out; ``out=`` receives the result. Robots are made by :func:`appell.load`,
    :func:`appell.from_dh` and :func:`appell.chain`, and do not change.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> robot.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).shape
    (2,)
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._kernels: dict[tuple[str, str | None], AnyKernel] = {}
        self._calls: dict[tuple[str, str | None], Callable[..., Any]] = {}

    def __repr__(self) -> str:
        return f"<Robot '{self.name}': {len(self.model.bodies)} bodies, nq {self.nq}, nv {self.nv}>"

    # What the robot is

    @property
    def name(self) -> str:
        """Return the robot's name."""
        return self.model.name

    @cached_property
    def nq(self) -> int:
        """Return the number of coordinates q."""
        return self.model.independent.nq

    @cached_property
    def nv(self) -> int:
        """Return the number of velocities v."""
        return self.model.independent.nv

    @cached_property
    def joint_names(self) -> list[str]:
        """Return the moving joints in the order of q and v, without those that follow another (``mimic=True``)."""
        return [body.joint.name for body in self.model.independent.bodies]

    @cached_property
    def link_names(self) -> list[str]:
        """Return the moving bodies, one per joint and per ten inertial parameters."""
        return [body.name for body in self.model.bodies]

    @cached_property
    def frame_names(self) -> list[str]:
        """Return every name that :meth:`pose` and :meth:`jacobian` know: all links and joints of the file."""
        return list(self.model.frame_index)

    @cached_property
    def actuators(self) -> list[str]:
        """Return the names of the actuated joints: every joint of an open robot."""
        return list(self.joint_names)

    @cached_property
    def parameters(self) -> Array:
        """Return π with τ = Y·π: per body m, m·c (3), Ixx Ixy Iyy Ixz Iyz Izz about the joint frame's origin.

        A robot with joint friction has three more per velocity: rotor inertia, damping, Coulomb friction.
        """
        values = np.array(_regressor.parameters(self.model))
        values.flags.writeable = False
        return values

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the robot to a ``.urdf`` or ``.toml`` file, whose numbers load back to their last digits.

        What the robot is, is saved: a free base as a joint "root", followers with their ``mimic`` (load them with
        ``mimic=True`` to bind them again), fixed links as frames, their mass in the body that carries them. URDF has
        no gravity, and no ball, helical or cylindrical joints; toml has all.

        >>> import appell, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     appell.load(appell.load("puma600").save(folder + "/copy.toml"))
        <Robot 'puma600': 6 bodies, nq 6, nv 6>
        """
        return save(self.model, path)

    def export(
        self,
        verb: str | Sequence[str],
        *,
        to: str = "c",
        path: str | os.PathLike[str] | None = None,
        frame: str | None = None,
        real: str = "double",
        libm: bool = True,
        prefix: str | None = None,
    ) -> Any:
        """Write a verb, or several, for a controller or an optimiser: C99, CasADi or JAX; return the path.

        ``to="c"`` writes C99 that needs no allocation, and a header beside it; `real` is "double" or "float",
        ``libm=False`` does without math.h. Where Python would raise, C returns a code. ``to="casadi"`` and ``"jax"``
        write a module that needs that package alone; without a `path` they return what it defines, a
        ``casadi.Function`` or a pure function, or a tuple of them for a list of verbs.

        `frame` names the frame of verbs such as "pose"; `prefix` begins every name, the robot's own in C if not given.

        >>> import appell, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = appell.load("two-link").export("gravity", path=folder + "/arm.c")
        ...     print(file.with_suffix(".h").read_text().splitlines()[-7])
        void two_link_gravity(const double q[TWO_LINK_NQ], double tau[TWO_LINK_NV]);
        """
        return export(self._source(), verb, to, path, frame=frame, real=real, libm=libm, prefix=prefix)

    def _source(self) -> Source:
        return open_source(self.model)

    # Configurations

    def neutral(self) -> Array:
        """Return the configuration with every joint at zero and every quaternion at rest.

        >>> import appell
        >>> appell.load("two-link").neutral()
        array([0., 0.])
        """
        return manifold.neutral(self.model.independent)

    def random(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Array:
        """Return random configurations within the joints' limits; ±π, or ±1 m, where a joint has none.

        >>> import appell, numpy as np
        >>> appell.load("two-link").random(np.random.default_rng(0), 3).shape
        (3, 2)
        """
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        return manifold.random(self.model.independent, rng, shape)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return the configuration reached from q by the motion dv (velocity times time), quaternions normalised."""
        start = self._sized("q", q, self.nq)
        check_quaternions(self.name, self.model.independent, start)
        return manifold.integrate(self.model.independent, start, self._sized("dv", dv, self.nv))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return the motion that leads from q0 to q1: ``integrate(q0, difference(q0, q1)) = q1``."""
        ends = self._sized("q0", q0, self.nq), self._sized("q1", q1, self.nq)
        for q in ends:
            check_quaternions(self.name, self.model.independent, q)
        return manifold.difference(self.model.independent, *ends)

    def reorder(self, names: Sequence[str]) -> Array:
        """Return the indices that bring an array in the order of `names` into this robot's order.

        Use them on the last axis: ``x[..., robot.reorder(names)]``.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.reorder(robot.joint_names[::-1])
        array([1, 0])
        """
        given = list(names)
        missing = [name for name in self.joint_names if name not in given]
        if missing or len(set(given)) != len(given):
            problem = f"misses {listed(missing)}" if missing else "names a joint twice"
            raise InputError(f"reorder: the list {problem}; robot '{self.name}' has joints {listed(self.joint_names)}")
        return np.array([given.index(name) for name in self.joint_names], dtype=int)

    # Dynamics

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, wrenches: Wrenches | None = None, out: Any = None
    ) -> Array:
        """Return the joint forces τ = M(q)·a + C(q, v)·v + G(q) + friction, the gradient ∂S/∂a of the Gibbs function.

        `wrenches` are forces and moments on frames, by name, each (..., 6) with the force first, in world axes and
        about the frame's origin: what they do, the joints need not, τ = … − Σ Jᵀw.

        >>> import appell
        >>> robot = appell.load("puma560")
        >>> robot.inverse_dynamics([0.0] * 6, [0.0] * 6, [0.0] * 6).round(2)[1:3]
        array([37.48,  0.25])
        """
        if wrenches is None:
            return self._call("inverse_dynamics", (q, v, a), out)
        tau = self._call("inverse_dynamics", (q, v, a), None)
        result: Array = np.subtract(tau, self._wrench_forces(q, wrenches), out=out)
        return result

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, wrenches: Wrenches | None = None, out: Any = None
    ) -> Array:
        """Return the accelerations a under joint forces τ, and `wrenches` as :meth:`inverse_dynamics` takes them."""
        if wrenches is not None:
            tau = self._sized("tau", tau, self.nv) + self._wrench_forces(q, wrenches)
        return self._call("forward_dynamics", (q, v, tau), out)

    def _wrench_forces(self, q: ArrayLike, wrenches: Wrenches) -> Array:
        total: Array = np.zeros(self.nv)
        for frame, wrench in wrenches.items():
            total = total + self._call("wrench_forces", (q, wrench), None, self._frame(frame))
        return total

    def mass_matrix(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the inertia matrix M(q) = ∂²S/∂a², rotor inertias included."""
        return self._call("mass_matrix", (q,), out)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return a matrix C(q, v) with C·v the Coriolis and centrifugal forces and Ṁ − 2C skew."""
        return self._call("coriolis_matrix", (q, v), out)

    def gravity(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the forces G(q) that hold the robot still."""
        return self._call("gravity", (q,), out)

    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return C(q, v)·v + G(q) + friction: the joint forces at zero acceleration."""
        return self._call("bias", (q, v), out)

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return Y with τ = Y·π for :attr:`parameters` π, (..., nv, 10·nb) for a robot without joint friction."""
        return self._call("regressor", (q, v, a), out)

    def gibbs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return the Gibbs function S, the energy of accelerations [kg·m²/s⁴]; ∂S/∂a is the inverse dynamics."""
        return self._call("gibbs", (q, v, a), out)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return ½ vᵀM(q)v [J]."""
        return self._call("kinetic_energy", (q, v), out)

    def potential_energy(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the potential energy of gravity [J], zero with all mass at the world's origin."""
        return self._call("potential_energy", (q,), out)

    def pose(self, q: ArrayLike, frame: str, *, out: Any = None) -> Array:
        """Return the 4×4 pose of a link's or joint's frame in the world."""
        return self._call("pose", (q,), out, self._frame(frame))

    def jacobian(self, q: ArrayLike, frame: str, *, out: Any = None) -> Array:
        """Return the 6×nv matrix from v to a frame's velocity, linear part first, in world axes."""
        return self._call("jacobian", (q,), out, self._frame(frame))

    def velocity(self, q: ArrayLike, v: ArrayLike, frame: str, *, out: Any = None) -> Array:
        """Return a frame's velocity (..., 6), linear part first, in world axes."""
        return self._call("velocity", (q, v), out, self._frame(frame))

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, *, out: Any = None) -> Array:
        """Return a frame's classical acceleration (..., 6), linear part first, in world axes, gravity left out."""
        return self._call("acceleration", (q, v, a), out, self._frame(frame))

    @cached_property
    def total_mass(self) -> float:
        """Return the mass of all moving bodies [kg]."""
        return _momentum.total_mass(self.model)

    def centre_of_mass(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the mass centre of all moving bodies in the world [m]."""
        return self._call("centre_of_mass", (q,), out)

    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return the linear momentum, then the angular momentum about the mass centre, in world axes."""
        return self._call("momentum", (q, v), out)

    def momentum_matrix(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the 6×nv matrix from v to :meth:`momentum`."""
        return self._call("momentum_matrix", (q,), out)

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]:
        """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a."""
        by_q, by_v, by_a = self._call("inverse_dynamics_derivatives", (q, v, a), None)
        return by_q, by_v, by_a

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> tuple[Array, Array, Array]:
        """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ."""
        by_q, by_v, by_tau = self._call("forward_dynamics_derivatives", (q, v, tau), None)
        return by_q, by_v, by_tau

    # About the computation

    def operations(self, verb: str, formulation: str | None = None) -> Count:
        """Return how many multiplications, additions and sines and cosines a verb takes per sample.

        Without a formulation: the program that is compiled for this robot. With one, such as "gibbs", "vector" or
        "newton-euler": that algorithm on the frames of the robot's file, as papers count it.

        >>> import appell
        >>> print(appell.load("puma560", friction=False).operations("inverse_dynamics"))
        189 M, 148 A
        """
        return operations(self.model, verb, formulation)

    def kernel(self, verb: str, frame: str | None = None) -> AnyKernel:
        """Return the compiled kernel of a verb, compiling it now if need be."""
        key = (verb, frame)
        if key not in self._kernels:
            self._kernels[key] = kernel(self.model, verb, frame)
        return self._kernels[key]

    def recipe(self, verb: str, frame: str | None = None) -> Recipe:
        """Return what determines the kernel of a verb."""
        return recipe(self.model, verb, frame)

    def _call(self, verb: str, arguments: tuple[Any, ...], out: Any, frame: str | None = None) -> Array:
        call = self._calls.get((verb, frame)) or self._callable(verb, frame)
        result: Array = call(*arguments) if out is None else call(*arguments, out)
        return result

    def _callable(self, verb: str, frame: str | None) -> Callable[..., Any]:
        """Return the callable of a verb: its kernel with errors in words, the short way for one sample before it."""
        strict = VERBS[verb].is_strict and has_quaternions(self.model.independent)
        strained = strained_kernel(self.model, verb, frame) if strict else None
        compiled, count = strained or self.kernel(verb, frame), len(VERBS[verb].inputs)

        def general(*arguments: Any) -> Any:
            out = arguments[count] if len(arguments) > count else None
            places = out if out is None or strained is None else (*(out if isinstance(out, tuple) else (out,)), None)
            try:
                return compiled(*arguments[:count], out=places)
            except (ValueError, TypeError) as error:
                raise explain(self.name, compiled.recipe, arguments[:count], out, error) from None

        call: Callable[..., Any] = compiled.direct(general)
        if strained is not None:
            call = self._checking(call)
        elif strict:
            call = self._guarded(call)
        self._calls[verb, frame] = call
        return call

    def _checking(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a callable that looks at the kernel's last result: how far quaternions are from unit length."""

        def checked(*arguments: Any) -> Any:
            *results, strain = call(*arguments)
            if abs(strain.item()) > 2.0 * UNIT if strain.size == 1 else (np.abs(strain) > 2.0 * UNIT).any():
                check_quaternions(self.name, self.model.independent, arguments[0])
            return results[0] if len(results) == 1 else tuple(results)

        return checked

    def _guarded(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a callable that looks at q first, for robots whose programs are too long to look on the way."""

        def guarded(q: Any, *others: Any) -> Any:
            check_quaternions(self.name, self.model.independent, q)
            return call(q, *others)

        return guarded

    def _frame(self, frame: str) -> str:
        if frame not in self.model.frame_index:
            raise InputError(
                f"frame: robot '{self.name}' has no frame '{frame}'; it has {listed(self.frame_names, 40)}"
            )
        return frame

    def _sized(self, name: str, x: ArrayLike, size: int) -> Array:
        return numbers(self.name, name, (size,), x).astype(float, copy=False)

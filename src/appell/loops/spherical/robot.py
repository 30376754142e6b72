"""A spherical parallel robot: the verbs a user calls. Each checks its arguments once and then runs native code."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.kernels.kernel import Kernel
from appell.kernels.recipe import Recipe
from appell.loops.spherical import search, verbs
from appell.loops.spherical.export import spherical_source
from appell.loops.spherical.mechanism import Mechanism
from appell.loops.spherical.verbs import VERBS
from appell.model.build import listed
from appell.robot.arguments import explain, numbers
from appell.robot.export import export
from appell.trace.count import Count

Array = NDArray[Any]


class Singularity(NamedTuple):
    """How far a posture is from each kind of singularity: 1 at best, 0 at the singularity.

    `serial` (..., 3), a leg each: |sin ψ|, zero where a leg is stretched or folded and its motor no longer moves the
    platform. `parallel` (...): the least singular value of the unit vectors along which the motors act, zero where the
    platform moves though all motors are locked. `coordinates` (...): |det E|, zero where the Euler angles fail, though
    the robot does not.
    """

    serial: Array
    parallel: Array
    coordinates: Array


class SphericalRobot:
    """A platform on three legs that turns about one point, with its dynamics in closed form.

    q are the platform's Euler angles, in the sequence of the robot's paper; v and a their rates and accelerations.
    Torques are the motors', one per name in :attr:`actuators`; forces by the angles themselves are
    :meth:`generalised_forces`. Arrays of any leading axes broadcast as they do for :class:`appell.Robot`. Outside the
    workspace a verb raises an :class:`appell.InputError` that names the leg.

    >>> import appell
    >>> robot = appell.load("agile-wrist")
    >>> robot.inverse_dynamics([0.1, 0.2, 0.3], [0.0] * 3, [0.0] * 3).round(3)
    array([-0.182, -0.056, -0.207])
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self._calls: dict[tuple[str, int | None], Callable[..., Any]] = {}
        self._kernels: dict[tuple[str, int | None], Kernel] = {}

    def __repr__(self) -> str:
        return f"<SphericalRobot '{self.name}': {len(self.link_names)} bodies, nq {self.nq}, nv {self.nv}>"

    # What the robot is

    @property
    def name(self) -> str:
        """Return the robot's name."""
        return self.mechanism.name

    @property
    def nq(self) -> int:
        """Return the number of coordinates q: three Euler angles."""
        return verbs.N

    @property
    def nv(self) -> int:
        """Return the number of velocities v, which is the mobility."""
        return verbs.N

    @cached_property
    def joint_names(self) -> list[str]:
        """Return the names of the Euler angles, in the order of q and v."""
        return list(self.mechanism.coordinates)

    @cached_property
    def independent(self) -> list[str]:
        """Return the names of the independent velocities: here the Euler angles' own."""
        return list(self.mechanism.coordinates)

    @cached_property
    def actuators(self) -> list[str]:
        """Return the names of the motors, one a leg, in the order of τ."""
        return [f"{self.mechanism.joints[0]}{i}" for i in (1, 2, 3)]

    @cached_property
    def leg_joint_names(self) -> list[list[str]]:
        """Return the names of every leg's three joints, as :meth:`joint_angles` orders them."""
        return [[f"{joint}{i}" for joint in self.mechanism.joints] for i in (1, 2, 3)]

    @cached_property
    def link_names(self) -> list[str]:
        """Return the moving bodies: two links a leg, then the platform; ten parameters each."""
        return [*(f"leg{i}_link{j}" for i in (1, 2, 3) for j in (1, 2)), "platform"]

    @cached_property
    def parameters(self) -> Array:
        """Return π with τ = Y·π: per body m, m·c (3), Ixx Ixy Iyy Ixz Iyz Izz about the common centre."""
        values = np.array([x for inertia in self.mechanism.inertias for x in inertia.parameters], dtype=float)
        values.flags.writeable = False
        return values

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
        """Write a verb, or several, as :meth:`appell.Robot.export` does; codes of C tell of legs out of reach."""
        source = spherical_source(self.mechanism, self.link_names)
        return export(source, verb, to, path, frame=frame, real=real, libm=libm, prefix=prefix)

    # Configurations

    def neutral(self) -> Array:
        """Return the robot's home.

        >>> import appell
        >>> appell.load("agile-wrist").neutral()
        array([0., 0., 0.])
        """
        return np.array(self.mechanism.home)

    def random(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Array:
        """Return random configurations around home, inside the workspace and away from every singularity.

        >>> import appell, numpy as np
        >>> appell.load("sst").random(np.random.default_rng(0), 5).shape
        (5, 3)
        """
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        return search.random(self, rng, shape)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return q + dv: the angles are coordinates of a plain kind."""
        return np.add(self._sized("q", q), self._sized("dv", dv))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return q1 − q0."""
        return np.subtract(self._sized("q1", q1), self._sized("q0", q0))

    def assemble(self, guess: ArrayLike) -> Array:
        """Return the guess, whose loops are closed by construction; raise if it lies outside the workspace."""
        q = self._sized("q", guess)
        self._check_reach(q)
        return q

    # Dynamics

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, moment: ArrayLike | None = None, out: Any = None
    ) -> Array:
        """Return the motors' torques of a motion.

        `moment` (..., 3) is an external one on the platform, in base axes: what it does, the motors need not.
        """
        if moment is None:
            return self._call("inverse_dynamics", (q, v, a), out)
        return self._call("inverse_dynamics_loaded", (q, v, a, moment), out)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, moment: ArrayLike | None = None, out: Any = None
    ) -> Array:
        """Return the angles' accelerations under the motors' torques, and a `moment` on the platform if given."""
        if moment is None:
            return self._call("forward_dynamics", (q, v, tau), out)
        return self._call("forward_dynamics_loaded", (q, v, tau, moment), out)

    def generalised_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return Q = M a + C v + G by the Euler angles (abedloo2014 (19)); Q = Jᵀτ with :meth:`actuator_jacobian`."""
        return self._call("generalised_forces", (q, v, a), out)

    def mass_matrix(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the inertia matrix M(q) by the Euler angles."""
        return self._call("mass_matrix", (q,), out)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, formulation: str | None = None, out: Any = None) -> Array:
        """Return C(q, v) with C·v the Coriolis and centrifugal forces by the Euler angles.

        Ṁ − 2C is skew; that of the paper, ``formulation="abedloo2014"``, has the same C·v and no such property.
        """
        if formulation not in (None, "abedloo2014"):
            raise InputError(f"coriolis_matrix: no formulation '{formulation}'; known: 'abedloo2014'")
        return self._call("coriolis_as_printed" if formulation else "coriolis_matrix", (q, v), out)

    def gravity(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the forces G(q) by the Euler angles that hold the robot still."""
        return self._call("gravity", (q,), out)

    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return C(q, v)·v + G(q) by the Euler angles."""
        return self._call("bias", (q, v), out)

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return Y (..., 3, 70) with the motors' torques τ = Y·π for :attr:`parameters` π."""
        return self._call("regressor", (q, v, a), out)

    def gibbs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return the Gibbs function but for what no acceleration changes; ∂S/∂a is :meth:`generalised_forces`."""
        return self._call("gibbs", (q, v, a), out)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return ½ vᵀM(q)v [J]."""
        return self._call("kinetic_energy", (q, v), out)

    def potential_energy(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return the potential energy of gravity [J], zero with all mass at the common centre."""
        return self._call("potential_energy", (q,), out)

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]:
        """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a of the motors' torques."""
        by_q, by_v, by_a = self._call("inverse_dynamics_derivatives", (q, v, a), None)
        return by_q, by_v, by_a

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> tuple[Array, Array, Array]:
        """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ."""
        by_q, by_v, by_tau = self._call("forward_dynamics_derivatives", (q, v, tau), None)
        return by_q, by_v, by_tau

    # Kinematics

    def inverse_kinematics(self, q: ArrayLike) -> Array:
        """Return the motors' angles (..., 3) [rad], between −π and π.

        >>> import appell
        >>> appell.load("agile-wrist").inverse_kinematics([0.0, 0.0, 0.0]).round(4)
        array([1.2161, 1.2161, 1.2161])
        """
        angles: Array = self.joint_angles(q)[..., 0]
        return angles

    def forward_kinematics(self, theta: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """Return the platform's angles q (..., 3) whose motor angles are `theta`, found from a guess, home if none.

        Up to eight postures may share the motor angles; the one near the guess is sought first, then others at random.

        Raises
        ------
        InputError
            When no posture is found; the message names the sample.

        >>> import appell
        >>> robot = appell.load("agile-wrist")
        >>> robot.forward_kinematics(robot.inverse_kinematics([0.1, -0.2, 0.3])).round(6)
        array([ 0.1, -0.2,  0.3])
        """
        start = self.neutral() if guess is None else self._sized("guess", guess)
        return search.forward_kinematics(self, self._sized("theta", theta), start)

    def joint_angles(self, q: ArrayLike) -> Array:
        """Return the angles (..., 3, 3) of every leg's joints, leg by leg, named in :attr:`leg_joint_names`."""
        sine, cosine = self._call("joint_angles", (q,), None)
        angles: Array = np.arctan2(sine, cosine)
        return angles

    def joint_rates(self, q: ArrayLike, v: ArrayLike, *, out: Any = None) -> Array:
        """Return the rates (..., 3, 3) of every leg's joints."""
        return self._call("joint_rates", (q, v), out)

    def joint_accelerations(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None) -> Array:
        """Return the accelerations (..., 3, 3) of every leg's joints."""
        return self._call("joint_accelerations", (q, v, a), out)

    def actuator_jacobian(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return J (..., 3, 3) with the motors' rates = J·v (abedloo2014 (50))."""
        return self._call("actuator_jacobian", (q,), out)

    def discriminants(self, q: ArrayLike, *, out: Any = None) -> Array:
        """Return per leg what is positive inside the workspace: a² + b² − c² of abedloo2014 (34)."""
        return self._call("discriminants", (q,), out)

    def singularities(self, q: ArrayLike) -> Singularity:
        """Return how far q is from singularities of either kind, and from those of the Euler angles.

        >>> import appell
        >>> float(appell.load("sst").singularities(appell.load("sst").neutral()).parallel.round(6))
        1.0
        """
        serial, rows, coordinates = self._call("singularity_measures", (q,), None)
        return Singularity(serial, np.linalg.svd(rows, compute_uv=False)[..., -1], np.abs(coordinates))

    def pose(self, q: ArrayLike, frame: str, *, out: Any = None) -> Array:
        """Return the 4×4 pose of a body's frame, whose origin is the common centre."""
        return self._call("pose", (q,), out, self._body(frame))

    def jacobian(self, q: ArrayLike, frame: str, *, out: Any = None) -> Array:
        """Return the 6×3 matrix from v to a body's velocity at the centre, linear part (zero) first, in base axes."""
        return self._call("jacobian", (q,), out, self._body(frame))

    # About the computation

    def operations(self, verb: str) -> Count:
        """Return how many multiplications, additions and sines and cosines a verb takes per sample.

        >>> import appell
        >>> print(appell.load("sst").operations("inverse_dynamics"))
        246 M, 123 A
        """
        return verbs.operations(self.mechanism, verb)

    def kernel(self, verb: str, frame: str | None = None) -> Kernel:
        """Return the compiled kernel of a verb, compiling it now if need be."""
        return self._kernel(verb, None if frame is None else self._body(frame))

    def recipe(self, verb: str, frame: str | None = None) -> Recipe:
        """Return what determines the kernel of a verb."""
        return VERBS[verb].recipe(self.mechanism, None if frame is None else self._body(frame))

    def _kernel(self, verb: str, body: int | None) -> Kernel:
        key = (verb, body)
        if key not in self._kernels:
            self._kernels[key] = Kernel(VERBS[verb].recipe(self.mechanism, body))
        return self._kernels[key]

    def _call(self, verb: str, arguments: tuple[Any, ...], out: Any, body: int | None = None) -> Array:
        call = self._calls.get((verb, body)) or self._callable(verb, body)
        known = VERBS[verb]
        if not known.is_driven and verb != "discriminants":
            self._check_reach(arguments[0])
        result: Array = call(*arguments) if out is None else call(*arguments, out)
        if known.is_driven and not _is_well(result, known.single):
            self._check_reach(arguments[0])
        return result

    def _callable(self, verb: str, body: int | None) -> Callable[..., Any]:
        """Return the callable of a verb; a single sample goes the short way and is looked at afterwards.

        A leg out of reach would make every result of a driven verb not a number. Batches are looked at before, so that
        neither NumPy warns nor `out` is spoiled.
        """
        compiled, count = self._kernel(verb, body), len(VERBS[verb].inputs)

        def general(*arguments: Any) -> Any:
            out = arguments[count] if len(arguments) > count else None
            if VERBS[verb].is_driven:
                self._check_reach(arguments[0])
            try:
                return compiled(*arguments[:count], out=out)
            except (ValueError, TypeError) as error:
                raise explain(self.name, compiled.recipe, arguments[:count], out, error) from None

        self._calls[verb, body] = compiled.direct(general)
        return self._calls[verb, body]

    def _check_reach(self, q: Any) -> None:
        """Raise if any leg of any sample does not reach: its discriminant is zero or negative."""
        values = self._call("discriminants", (q,), None)
        short = values <= 0.0
        if not short.any():
            return
        place = tuple(int(i) for i in np.unravel_index(int(np.argmax(short)), short.shape))
        sample = f" of sample {place[:-1]}" if len(place) > 1 else ""
        where = "outside the workspace" if values[place] < 0.0 else "on the edge of the workspace"
        raise InputError(
            f"q{sample}: {where} of robot '{self.name}': leg {place[-1] + 1} does not reach, its discriminant "
            f"{values[place]:.3g} must be positive; stay inside, where robot.discriminants(q) is"
        )

    def _body(self, frame: str) -> int:
        if frame not in self.link_names:
            raise InputError(f"frame: robot '{self.name}' has no frame '{frame}'; it has {listed(self.link_names, 40)}")
        return self.link_names.index(frame)

    def _sized(self, name: str, x: ArrayLike) -> Array:
        return numbers(self.name, name, (verbs.N,), x).astype(float, copy=False)


def _is_well(result: Any, single: int) -> bool:
    """Return whether a result needs no second look: a batch, looked at before, or one sample of finite numbers.

    Then the sum of their squares is finite too. On a whole batch that sum would be BLAS's, on threads of its own.
    """
    parts = result if isinstance(result, tuple) else (result,)
    return parts[0].ndim > single or all(float(np.vdot(part, part)) < math.inf for part in parts)

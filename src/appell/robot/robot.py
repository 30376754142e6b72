"""A robot: the one class behind which every kind of robot stands."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, final

from appell.errors import InputError
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.model.build import alternatives, listed
from appell.read.values import shown
from appell.robot import compile, equations, export, ros2
from appell.robot.arguments import several, truth
from appell.robot.calls import AnyKernel, Call, kernel, prepared
from appell.robot.compile import verb_of
from appell.robot.composed import composed
from appell.robot.dynamics import Wrenches
from appell.robot.equations import Equations
from appell.robot.kind import Key, Program
from appell.robot.stance import Stance
from appell.robot.verbs import Verb
from appell.trace.count import Count
from appell.trace.tape import Port, Tape

__all__ = ["Robot", "Wrenches"]


@final
class Robot(Stance):
    """A robot with its dynamics: an arm, a tree, a robot with loops or wheels, a spherical robot in closed form.

    Every verb takes arrays with any leading axes, which broadcast as in NumPy: ``(..., nq)`` in, ``(..., nv)`` out.
    Lists work; float32 in gives float32 out. All verbs take the same options:

    ``out=``
        An array that receives the result, or a tuple of them for several results.
    ``parameters=``
        π (..., n) in the layout of :attr:`parameters`, in place of the robot's own; its leading axes broadcast too.
    ``formulation=``
        The algorithm, such as "gibbs", "vector" or "newton-euler", on the frames of the robot's file; see
        :meth:`formulations`. Without it the one of least cost on this robot.

    v has an entry per name in :attr:`independent`. Of a robot with loops q is the configuration of the spanning tree,
    closed by :meth:`assemble`; its velocities are those of the actuators and, after them, of the passive modes that the
    motors leave free. Of a spherical robot in closed form q are the platform's Euler angles. Robots are made by
    :func:`appell.load` and its like, and do not change.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> robot.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).shape
    (2,)
    """

    def export(  # noqa: PLR0913  (what is optional is named in the call)
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
    ) -> Any:
        """Write a verb, or several, for a controller, an optimiser or a page: C99, ROS 2, CasADi, JAX, SymPy or LaTeX.

        ``to="c"`` writes C99 that needs no allocation, and a header beside it; `real` is "double" or "float",
        ``libm=False`` does without math.h. Where Python would raise, C returns a code. ``to="casadi"`` and ``"jax"``
        write a module that needs that package alone; without a `path` they return what it defines, a
        ``casadi.Function`` or a pure function, or a tuple of them for a list of verbs. ``to="sympy"`` and ``"latex"``
        write the equations of a small open robot, simplified, as a module or a part of a document; without a `path`
        they return the expressions, or the text. ``to="ros2"`` writes a folder, without a verb: the package of a plugin
        of ``inverse_dynamics_solver`` for controllers of ros2_control.

        `frame` names the frame of verbs such as "pose"; `prefix` begins every name, the robot's own in C if not given.
        With ``parametric=True`` the parameters π are the last argument, in the layout of :attr:`parameters`.

        >>> import appell, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = appell.load("two-link").export("gravity", path=folder + "/arm.c")
        ...     print(file.with_suffix(".h").read_text().splitlines()[-7])
        void two_link_gravity(const double q[TWO_LINK_NQ], double tau[TWO_LINK_NV]);
        """
        if isinstance(to, str) and to in export.PACKAGES:
            if verb or frame or prefix or parametric or formulation or real != "double" or libm is not True:
                raise InputError(f"export: '{to}' is a whole package; leave out all but its folder, path=")
            return ros2.export(self, path)
        verbs = [verb] if isinstance(verb, str) else several("export: expected a verb, or several", verb)
        truth("export: libm", libm)
        framed = [name for name in verbs if verb_of(self.kind, name).about == "frame"]
        if frame is not None and verbs and not framed:
            raise InputError(f"export: {listed(verbs)} are about the whole robot; leave frame out")
        abouts = {name: self._about(name, frame if name in framed else None, "export") for name in verbs}
        has_parameters = truth("export: parametric", parametric)
        keys = [self._key(name, abouts[name], formulation, has_parameters) for name in verbs]
        if isinstance(to, str) and to in export.EQUATIONS:
            return equations.export(self.kind, keys, to, export.checked(to, path, real, libm), isinstance(verb, str))
        return export.export(
            export.source(self.kind), keys, to, path, real=real, libm=libm, prefix=prefix, is_one=isinstance(verb, str)
        )

    def equations(self) -> Equations:
        """Return M, C, G, τ and the Gibbs function of a small open robot as SymPy expressions, simplified.

        Raises
        ------
        InputError
            When SymPy is not installed, or, as an expression is made, when the robot is too large or has loops.

        >>> import appell
        >>> appell.load("two-link").equations().M[1, 0]
        Izz_link2 + 0.02*mx_link2*cos(q_joint2)
        """
        return equations.equations(self.kind)

    # About the computation

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """Return the table of verbs: what each takes and gives."""
        return self.kind.verbs

    def formulations(self, verb: str) -> list[str]:
        """Return the algorithms that define a verb on this robot, for ``formulation=`` and :meth:`using`.

        >>> import appell
        >>> appell.load("puma560").formulations("mass_matrix")
        ['gibbs', 'composite', 'mixed', 'mata2002', 'lagrange']
        """
        verb_of(self.kind, verb)
        return list(self.kind.formulations(verb))

    def using(self, formulation: str) -> Robot:
        """Return the robot with a formulation of its own, which its verbs use wherever it defines them.

        Simulations, rollouts, controllers and exports of that robot use it too.

        >>> import appell
        >>> robot = appell.load("puma560").using("newton-euler")
        >>> robot.operations("inverse_dynamics").formulation
        'newton-euler'
        """
        known = dict.fromkeys(name for verb in self.verbs for name in self.kind.formulations(verb))
        if not isinstance(formulation, str) or formulation not in known:
            hint = alternatives(formulation, known)
            raise InputError(f"using: no formulation {shown(formulation)} for robot '{self.name}'; {hint}")
        return Robot(self.kind, formulation)

    def operations(self, verb: str, formulation: str | None = None) -> Count:
        """Return how many multiplications, additions and sines and cosines a verb takes per sample.

        Without a formulation: the program that is compiled for this robot; the count names the formulation and the
        variant of the model that won. With one, such as "gibbs", "vector" or "newton-euler": that algorithm on the
        frames of the robot's file, as papers count it.

        >>> import appell
        >>> print(appell.load("puma560", friction=False, armature=False).operations("inverse_dynamics"))
        189 M, 148 A
        """
        if verb_of(self.kind, verb).about in ("frame", "points"):
            counted = [name for name, row in self.verbs.items() if row.about in ("", "columns")]
            raise InputError(f"operations: '{verb}' is about one frame; known: {listed(counted, 60)}")
        return compile.operations(self.kind, self._key(verb, self._about(verb, None, verb), formulation, False))

    def program(
        self, verb: str, frame: str | None = None, *, parametric: bool = False, formulation: str | None = None
    ) -> Program:
        """Return what determines the kernel of a verb, and its guards."""
        return compile.program(self.kind, self._key(verb, self._about(verb, frame, verb), formulation, parametric))

    def kernel(
        self, verb: str, frame: str | None = None, *, parametric: bool = False, formulation: str | None = None
    ) -> AnyKernel:
        """Return the compiled kernel of a verb; after its results come the values of its guards."""
        return kernel(self.program(verb, frame, parametric=parametric, formulation=formulation).spec)

    def adjoint(
        self,
        verb: str,
        about: Any = None,
        *,
        order: int = 1,
        parametric: bool = False,
        formulation: str | None = None,
    ) -> tuple[Call, tuple[Port, ...], tuple[Port, ...]]:
        """Return the vector–Jacobian product of any verb as a callable, with its inputs and outputs.

        Parameters
        ----------
        verb
            A row of the table, :attr:`verbs`.
        about
            The frame of verbs such as "pose".
        order
            How often the verb is differentiated in reverse; 0 is the verb itself.
        parametric
            Whether π are an argument, the verb's last.
        formulation
            The algorithm that is differentiated.

        Returns
        -------
        tuple
            The callable and the ports of its inputs and outputs. It takes the arguments of the order before, then one
            row of weights w for each of its results, and gives Σ wᵀ∂/∂x for each argument x: for q by the nq
            coordinates as they are stored. Across the motions of the robot, such as along a quaternion, these are the
            derivatives of the formulas as they are evaluated.

        Raises
        ------
        InputError
            For an unknown verb, and for a derivative of a robot whose programs are loops over its bodies.

        >>> import appell
        >>> product, _, outputs = appell.load("two-link").adjoint("mass_matrix")
        >>> [port.name for port in outputs], product([0.1, 0.2], [1.0, 0.0, 0.0, 0.0]).round(4)
        (['by_q'], array([ 0.    , -0.0795]))
        """
        key = self._reverse_key(verb, about, order, parametric, formulation)
        name = (verb, about, formulation, parametric, order)
        if name not in self._calls:
            made = composed if not order and self.kind.is_composed(key) else prepared
            self._calls[name] = made(self.kind, key)
        inputs, outputs, guards = compile.ports(self.kind, key)
        return self._calls[name], inputs, outputs[: len(outputs) - len(guards)]

    def unguarded(
        self, verb: str, about: Any = None, *, order: int = 0, parametric: bool = False, formulation: str | None = None
    ) -> ProgramSpec:
        """Return the program of :meth:`adjoint` without guards; none of a robot whose programs are loops."""
        key = self._reverse_key(verb, about, order, parametric, formulation)
        if self.kind.is_looped:
            raise self._too_long(verb)
        return compile.unguarded(self.kind, key)

    def _reverse_key(self, verb: str, about: Any, order: int, parametric: bool, formulation: str | None) -> Key:
        key = self._key(verb, self._about(verb, about, verb), formulation, parametric)
        if order and self.kind.is_looped:
            raise self._too_long(verb)
        return key._replace(order=order)

    def _too_long(self, verb: str) -> InputError:
        return InputError(
            f"{verb}: robot '{self.name}' has {len(self.model.bodies)} bodies, too many for the derivative of any "
            "verb; use inverse_dynamics_vjp or forward_dynamics_vjp"
        )

    def tape(
        self, verb: str, frame: str | None = None, *, parametric: bool = False, formulation: str | None = None
    ) -> Tape:
        """Return the verified program of a verb; after its results come the values of its guards."""
        return compile.tape(self.kind, self._key(verb, self._about(verb, frame, verb), formulation, parametric))

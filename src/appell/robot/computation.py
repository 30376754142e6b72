"""The computation behind the verbs: formulations, operation counts, programs, kernels, tapes and adjoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appell.errors import InputError
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.messages import listed
from appell.robot import compile
from appell.robot.calls import AnyKernel, Call, kernel
from appell.robot.compile import verb_of
from appell.robot.kind import Key, Program
from appell.robot.stance import Stance
from appell.robot.verbs import Verb
from appell.trace.count import Count
from appell.trace.tape import Port, Tape


class Computation(Stance):
    """Programs of verbs and their costs."""

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
        if verb_of(self.kind, verb).about in ("frame", "points"):
            counted = [name for name, row in self.verbs.items() if row.about in ("", "columns")]
            raise InputError(f"operations: '{verb}' needs a frame; verbs that can be counted: {listed(counted, 60)}")
        return compile.operations(self.kind, self._key(verb, self._about(verb, None, verb), formulation, False))

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
        key = self._reverse_key(verb, about, order, parametric, formulation)
        inputs, outputs, guards = compile.ports(self.kind, key)
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
            f"{verb}: robot '{self.name}' has {len(self.model.bodies)} bodies, too many for derivatives of this "
            "verb; use inverse_dynamics_vjp or forward_dynamics_vjp"
        )

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

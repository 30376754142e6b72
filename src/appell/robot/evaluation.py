"""The evaluation of verbs: the one path from arguments to results, and the identity of a robot.

:class:`Evaluation` is the first base of :class:`appell.Robot`; description, configurations, edits and verbs follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike

from appell.arguments import numbers
from appell.errors import InputError
from appell.messages import alternatives, listed, shown
from appell.model.model import Model
from appell.once import Memo, once, once_property
from appell.robot.base import BaseColumns, robot_columns
from appell.robot.calls import prepared
from appell.robot.compile import formulation_of, verb_of
from appell.robot.composed import composed
from appell.robot.coordinates import check_quaternions, quaternion_joints
from appell.robot.kind import Facts, Key, Kind
from appell.spatial.scalar import Array


class Options(TypedDict, total=False):
    """The options of every verb, see :class:`appell.Robot`."""

    out: Any
    parameters: ArrayLike | None
    formulation: str | None


class Evaluation:
    """A robot's kind, its compiled calls, and the evaluation of any verb."""

    def __init__(self, kind: Kind, formulation: str | None = None) -> None:
        self.kind = kind
        self._formulation = formulation
        self._calls: dict[Any, Callable[..., Array]] = {}
        self._memo = Memo()  # of `once`: asking for __dict__ would make every later call slower

    def __repr__(self) -> str:
        label, sizes = f", {self.facts.label}" if self.facts.label else "", self.facts.sizes
        return f"<Robot '{self.name}': {len(self.model.bodies)} bodies{label}, nq {sizes['q']}, nv {sizes['v']}>"

    def __reduce__(self) -> Any:
        return type(self), (self.kind, self._formulation)

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
        name = verb if about is None else (verb, about)
        if formulation is not None or parameters is not None:
            name = (verb, about, formulation, parameters is not None)
        call = self._calls.get(name) or self._prepared(name, verb, about, formulation, parameters is not None)
        given = arguments if parameters is None else (*arguments, parameters)
        return call(*given) if out is None else call(*given, out)

    def _prepared(
        self, name: Any, verb: str, about: Any, formulation: str | None, is_parametric: bool
    ) -> Callable[..., Array]:
        call = self._calls[name] = self._callable(self._key(verb, about, formulation, is_parametric))
        return call

    def _callable(self, key: Key) -> Callable[..., Array]:
        """Return the callable of a program, which is compiled once per robot."""
        make = composed if not key.order and self.kind.is_composed(key) else prepared
        return once(self, key, partial(make, self.kind, key))

    def _key(self, verb: str, about: Any, formulation: str | None, is_parametric: bool) -> Key:
        """Return the key of the program of a call; a robot's own formulation is used wherever it defines the verb."""
        verb_of(self.kind, verb)
        if formulation is not None:
            formulation_of(self.kind, verb, formulation)
        elif self._formulation in self.kind.formulations(verb):
            formulation = self._formulation
        return Key(verb, about, formulation, is_parametric)

    def _about(self, verb: str, about: Any, what: str) -> Any:
        """Return the frame, points or columns that a verb refers to, checked."""
        wanted = verb_of(self.kind, verb).about
        if wanted == "frame" and not (isinstance(about, str) and about in self.model.frame_index):
            got = f"has no frame {shown(about)}" if about is not None else f"needs a frame for '{verb}'"
            raise InputError(
                f"{what}: frame: robot '{self.name}' {got}; {alternatives(about, self.model.frame_index, 40)}"
            )
        if wanted == "columns" and about is None:
            return self._base.kept
        if wanted in ("", "columns") and about is not None:
            raise InputError(f"{what}: '{verb}' takes no frame; leave frame out")
        return about

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
        array = self._sized(name, q, self.facts.sizes["q"])
        if self.facts.quaternions:
            check_quaternions(self.name, self.facts.quaternions, quaternion_joints(self.model.independent), array)
        return array

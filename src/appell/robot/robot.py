"""The class Robot, one for every kind of robot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, final

from appell.arguments import several, truth
from appell.errors import InputError
from appell.messages import alternatives, listed, shown
from appell.robot import equations, export, ros2
from appell.robot.compile import verb_of
from appell.robot.computation import Computation
from appell.robot.dynamics import Wrenches
from appell.robot.equations import Equations
from appell.robot.kind import Key

__all__ = ["Robot", "Wrenches"]


@final
class Robot(Computation):
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
        if isinstance(to, str) and to in export.PACKAGES:
            if verb or frame or prefix or parametric or formulation or real != "double" or libm is not True:
                raise InputError(f"export: '{to}' is a whole package; leave out all but its folder, path=")
            return ros2.export(self, path)
        own = {"control": control, "method": method, "tasks": tasks, "steps": steps}
        if isinstance(verb, str) and verb in export.JOBS:
            options = own | {"frame": frame, "parametric": parametric, "formulation": formulation}
            found = export.job_source(self, verb, to, options)
            return export.export(found, [Key(verb)], to, path, real=real, libm=libm, prefix=prefix, is_one=True)
        unfit = [name for name, x in own.items() if not (x is None or x == ())]
        if unfit:
            raise InputError(f"export: {unfit[0]} belongs to {listed(export.JOBS)}; leave it out for verbs")
        verbs = [verb] if isinstance(verb, str) else several("export: expected a verb, or several", verb)
        if alone := [name for name in verbs if name in export.JOBS]:
            raise InputError(f"export: '{alone[0]}' is written alone, not in a list")
        truth("export: libm", libm)
        framed = [name for name in verbs if verb_of(self.kind, name).about == "frame"]
        if frame is not None and verbs and not framed:
            raise InputError(f"export: {listed(verbs)} take no frame; leave frame out")
        abouts = {name: self._about(name, frame if name in framed else None, "export") for name in verbs}
        has_parameters = truth("export: parametric", parametric)
        keys = [self._key(name, abouts[name], formulation, has_parameters) for name in verbs]
        if isinstance(to, str) and to in export.EQUATIONS:
            return equations.export(self.kind, keys, to, export.checked(to, path, real, libm), isinstance(verb, str))
        return export.export(
            export.source(self.kind), keys, to, path, real=real, libm=libm, prefix=prefix, is_one=isinstance(verb, str)
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
        known = dict.fromkeys(name for verb in self.verbs for name in self.kind.formulations(verb))
        if not isinstance(formulation, str) or formulation not in known:
            hint = alternatives(formulation, known)
            raise InputError(f"using: no formulation {shown(formulation)} for robot '{self.name}'; {hint}")
        return Robot(self.kind, formulation)


def checked_robot(what: str, robot: Any) -> Robot:
    """Return an argument that should be a robot; `what` begins the error message."""
    if not isinstance(robot, Robot):
        raise InputError(f"{what}: expected a robot, got {type(robot).__name__}; load one with appell.load")
    return robot

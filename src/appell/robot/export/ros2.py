"""A ROS 2 package: the dynamics of a robot as a plugin of ``inverse_dynamics_solver``, for controllers of ros2_control.

The interface is ``inverse_dynamics_solver::InverseDynamicsSolver`` (github.com/unisa-acg/inverse-dynamics-solver,
released for Humble, Jazzy and Rolling), which model-based controllers load by name through pluginlib.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.errors import InputError, visible
from appell.files import write_together
from appell.spatial.scalar import Array
from appell.syntax import c_comment, c_string, identifier, markdown_code, quoted, xml_text

if TYPE_CHECKING:
    from appell.robot.robot import Robot

VERBS = ("inverse_dynamics", "mass_matrix", "gravity", "bias")
"""What the plugin calls; friction is left out of them and has a vector of its own."""
NAME = re.compile(r"[a-z](_?[a-z0-9])+")
"""Names of packages: REP 144."""
FILES: dict[str, Callable[[str], str]] = {
    "package.xml": xml_text,
    "CMakeLists.txt": visible,
    "plugin.xml": xml_text,
    "README.md": markdown_code,
    "src/solver.cpp": c_comment,
    "config/solver.yaml": visible,
}
"""The files of the package, and the syntax of the robot's name in each.

Their texts are in the folder ros2_package, with ``$name`` where the robot's own values go.
"""


def export(robot: Robot, folder: str | os.PathLike[str] | None) -> Path:
    """Write the package and return its folder, whose name is the package's.

    Parameters
    ----------
    robot
        An open robot on a fixed base, each of its joints with one coordinate.
    folder
        The folder to write. Its name is the name of the package: lower-case letters, digits and underscores.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    InputError
        When the robot has quaternions, loops or a floating base, or when no package can have the name.

    Examples
    --------
    >>> import appell, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = export(appell.load("puma560"), place + "/puma560_dynamics")
    ...     print(*sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()))
    CMakeLists.txt README.md config/solver.yaml package.xml plugin.xml src/dynamics.c src/dynamics.h src/solver.cpp
    """
    if folder is None or not isinstance(folder, str | os.PathLike):
        raise InputError("export: 'ros2' is a folder; name it with path=, such as 'arm_dynamics'")
    place = Path(folder)
    package = place.resolve().name
    if not NAME.fullmatch(package):
        raise InputError(
            f"export: '{package}' cannot be the name of a ROS 2 package; use lower-case letters, digits and single "
            "underscores, beginning with a letter"
        )
    _check(robot)
    damping, coulomb = _friction(robot)
    prefix = identifier(robot.name).lower()
    values = {
        "package": package,
        "n": robot.nv,
        "prefix": prefix,
        "names": ", ".join(map(c_string, robot.joint_names)),
        "joints": ", ".join(map(quoted, robot.joint_names)),
        "joint_list": "\n".join(f"{k}. {markdown_code(name)}" for k, name in enumerate(robot.joint_names)),
        "damping": _numbers(damping),
        "friction": _numbers(coulomb),
    }
    place.mkdir(parents=True, exist_ok=True)
    (place / "src").mkdir(exist_ok=True)
    _frictionless(robot).export(VERBS, path=place / "src" / "dynamics.c", prefix=prefix)
    (place / "config").mkdir(exist_ok=True)
    texts = files("appell.robot.export") / "ros2_package"
    made: dict[Path, str | bytes] = {}
    for name, syntax in FILES.items():
        template = Template(texts.joinpath(name).read_text(encoding="utf-8"))
        made[place / name] = template.substitute(values, robot=syntax(robot.name))
    write_together(made)
    return place


def _check(robot: Robot) -> None:
    """Refuse a robot that the interface, one number per joint, cannot describe."""
    facts = robot.kind.facts
    is_plain = robot.nq == robot.nv == robot.nu == len(robot.joint_names) and robot.nv > 0
    if not is_plain or any(robot.program(verb).guards for verb in VERBS):
        lack = "joints of several coordinates, closed loops or none that moves"
        raise InputError(
            f"export: robot '{robot.name}' ({robot.nq} coordinates, {robot.nv} velocities, {robot.nu} actuators"
            f"{', ' + facts.label if facts.label else ''}) has {lack}; 'ros2' is for open robots on a fixed base"
        )


def _frictionless(robot: Robot) -> Robot:
    return robot._rebuilt(robot.kind.settled.without_friction())


def _friction(robot: Robot) -> tuple[Array, Array]:
    """Return viscous and Coulomb coefficients per velocity, followers of a joint included."""
    still, without = robot.neutral(), _frictionless(robot)

    def torque(v: Any) -> Array:
        return robot.bias(still, v) - without.bias(still, v)

    one, two = (np.diagonal(torque(speed * np.eye(robot.nv))) for speed in (1.0, 2.0))
    damping = two - one
    coulomb = one - damping
    mixed = np.random.default_rng(0).normal(size=robot.nv)
    expected = damping * mixed + coulomb * np.sign(mixed)
    if not np.allclose(torque(mixed), expected, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(expected).max())):
        raise InputError(
            f"export: robot '{robot.name}' has dampers between joints, which the interface's friction vector cannot "
            "hold; leave them out"
        )
    return np.round(damping, 15), np.round(coulomb, 15)


def _numbers(values: Array) -> str:
    return ", ".join(repr(float(x) + 0.0) for x in values)

"""Optional packages: imported only here, when they are needed."""

from __future__ import annotations

import importlib
import importlib.util
import shlex
from typing import Any

from appell.errors import InputError

PACKAGES = {
    "PIL": "appell[plot]",
    "casadi": "casadi",
    "clarabel": "appell[fit]",
    "cloudpickle": "appell[cluster]",
    "collada": "pycollada",
    "contourpy": "appell[plot]",
    "distributed": "appell[cluster]",
    "gymnasium": "appell[gym]",
    "jax": "appell[jax]",
    "lz4": "appell[logs]",
    "matplotlib": "appell[plot]",
    "mcap": "appell[logs]",
    "mujoco": "appell[mjcf]",
    "pinocchio": "pin",
    "pyarrow": "appell[logs]",
    "robot_descriptions": "robot_descriptions",
    "ruckig": "appell[online]",
    "sympy": "appell[symbolic]",
    "torch": "appell[torch]",
    "trimesh": "appell[view]",
    "viser": "appell[view]",
    "websockets": "appell[view]",
    "xacro": "appell[xacro]",
    "yaml": "pyyaml",
    "zstandard": "appell[logs]",
}
"""The pip requirement of each imported package."""


def extra(package: str, what: str, otherwise: str = "") -> Any:
    """Return an optional package, or a module of it, that `what` needs; `otherwise` is an alternative to installing it.

    Raises
    ------
    InputError
        When it is not installed, or is broken.

    >>> extra("matplotlib.no_such_part", "pictures need")
    Traceback (most recent call last):
    ...
    appell.errors.InputError: pictures need matplotlib, which cannot be imported (No module named
    'matplotlib.no_such_part'); pip install 'appell[plot]'
    """
    name = package.partition(".")[0]
    try:
        importlib.import_module(name)
        return importlib.import_module(package)
    except ImportError as error:
        reason = "is not installed" if error.name == name else f"cannot be imported ({' '.join(str(error).split())})"
        remedy = f"pip install {shlex.quote(PACKAGES[name])}" + (f", or {otherwise}" if otherwise else "")
        raise InputError(f"{what} {name}, which {reason}; {remedy}") from None


def is_installed(package: str) -> bool:
    """Return whether a package can be imported, without importing it.

    >>> is_installed("no_such_package")
    False
    """
    return importlib.util.find_spec(package) is not None

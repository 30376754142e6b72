"""Models and states of Pinocchio, MuJoCo and Drake; verbs inside PyTorch and JAX; environments of Gymnasium.

:func:`from_pinocchio` and :func:`from_mujoco` convert models in memory to robots. :func:`pinocchio`,
:func:`mujoco` and :func:`drake` convert configurations, velocities, accelerations and torques of a robot to the
conventions of those libraries and back. :mod:`appell.interop.torch` and :mod:`appell.interop.jax` have every verb as a
differentiable operation. :mod:`appell.interop.gymnasium` has environments for learning; it is imported when first used.
"""

from typing import Any

from appell.interop import jax, torch
from appell.interop.convention import Convention, drake
from appell.interop.from_mujoco import from_mujoco, mujoco
from appell.interop.from_pinocchio import from_pinocchio, pinocchio

__all__ = ["Convention", "drake", "from_mujoco", "from_pinocchio", "gymnasium", "jax", "mujoco", "pinocchio", "torch"]


def __getattr__(name: str) -> Any:
    """Import a module that requires an optional package."""
    if name == "gymnasium":
        import appell.interop.gymnasium as module  # noqa: PLC0415  (optional package)

        return module
    raise AttributeError(f"module 'appell.interop' has no attribute '{name}'")

"""Robots and states of other libraries: Pinocchio, MuJoCo, Drake; verbs of a robot inside PyTorch and JAX.

:func:`from_pinocchio` and :func:`from_mujoco` make robots of models that are in memory already. :func:`pinocchio`,
:func:`mujoco` and :func:`drake` convert configurations, velocities, accelerations and forces of a robot to the
conventions of those libraries and back. :mod:`appell.interop.torch` and
:mod:`appell.interop.jax` have every verb as a differentiable operation.
"""

from appell.interop import jax, torch
from appell.interop.convention import Convention, drake
from appell.interop.from_mujoco import from_mujoco, mujoco
from appell.interop.from_pinocchio import from_pinocchio, pinocchio

__all__ = ["Convention", "drake", "from_mujoco", "from_pinocchio", "jax", "mujoco", "pinocchio", "torch"]

"""appell: robot dynamics from the Gibbs–Appell equations, traced and compiled per robot.

>>> import appell
>>> robot = appell.load("puma560")
>>> tau = robot.inverse_dynamics(q=[0.1] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

from appell.errors import AppellError, AppellWarning, CompileError, InputError, ModelError, ReadError, TraceError
from appell.kernels.threads import threads
from appell.papers import reproduce
from appell.robot.load import catalogue, chain, from_dh, load
from appell.robot.robot import Robot

__all__ = [
    "AppellError",
    "AppellWarning",
    "CompileError",
    "InputError",
    "ModelError",
    "ReadError",
    "Robot",
    "TraceError",
    "catalogue",
    "chain",
    "from_dh",
    "load",
    "reproduce",
    "threads",
]

__version__ = "0.1.0"

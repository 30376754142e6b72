"""appell: robot dynamics from the Gibbs–Appell equations, traced and compiled per robot.

>>> import appell
>>> robot = appell.load("puma560")
>>> tau = robot.inverse_dynamics(q=[0.1] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

from appell import control, identification, interop, planning, simulation
from appell.errors import AppellError, AppellWarning, InputError, ModelError, ReadError
from appell.excitation.excite import excite
from appell.identification.identify import identify
from appell.kernels.runtime.threads import threads
from appell.loading import catalogue, from_dh, load, random_chain
from appell.logs.read_log import read_log
from appell.model.model import Spring
from appell.model.springs import Elasticity
from appell.papers import reproduce
from appell.planning import tasks, trajectory
from appell.planning.inverse_kinematics import inverse_kinematics
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.simulation import walls
from appell.simulation.contact.points import contact_points
from appell.simulation.rollout.rollout import Rollout, rollout
from appell.simulation.simulate import simulate
from appell.studies import space
from appell.studies.stream import stream
from appell.studies.sweep import Study, sweep
from appell.viewer.view import view

__all__ = [
    "AppellError",
    "AppellWarning",
    "Elasticity",
    "InputError",
    "ModelError",
    "ReadError",
    "Robot",
    "Rollout",
    "Run",
    "Spring",
    "Study",
    "catalogue",
    "contact_points",
    "control",
    "excite",
    "from_dh",
    "identification",
    "identify",
    "interop",
    "inverse_kinematics",
    "load",
    "planning",
    "random_chain",
    "read_log",
    "reproduce",
    "rollout",
    "simulate",
    "simulation",
    "space",
    "stream",
    "sweep",
    "tasks",
    "threads",
    "trajectory",
    "view",
    "walls",
]

__version__ = "0.1.0"

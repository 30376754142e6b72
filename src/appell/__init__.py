"""appell: robot dynamics from the Gibbs–Appell equations, traced and compiled per robot.

>>> import appell
>>> robot = appell.load("puma560")
>>> tau = robot.inverse_dynamics(q=[0.1] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

from appell import control
from appell.errors import AppellError, AppellWarning, CompileError, InputError, ModelError, ReadError, TraceError
from appell.kernels.threads import threads
from appell.loops.closed_robot import ClosedRobot
from appell.loops.load import catalogue, load
from appell.loops.spherical.robot import SphericalRobot
from appell.papers import reproduce
from appell.results.run import Run
from appell.robot.load import chain, from_dh
from appell.robot.robot import Robot
from appell.simulate.law import PD, ComputedTorque
from appell.simulate.points import Point
from appell.simulate.record import Event
from appell.simulate.rollout import Rollout, rollout
from appell.simulate.round import Arc, Circle, Ellipse, Sphere
from appell.simulate.simulate import simulate
from appell.simulate.walls import Distance, Line, Plane, Polyline, Segment, Wall

__all__ = [
    "PD",
    "AppellError",
    "AppellWarning",
    "Arc",
    "Circle",
    "ClosedRobot",
    "CompileError",
    "ComputedTorque",
    "Distance",
    "Ellipse",
    "Event",
    "InputError",
    "Line",
    "ModelError",
    "Plane",
    "Point",
    "Polyline",
    "ReadError",
    "Robot",
    "Rollout",
    "Run",
    "Segment",
    "Sphere",
    "SphericalRobot",
    "TraceError",
    "Wall",
    "catalogue",
    "chain",
    "control",
    "from_dh",
    "load",
    "reproduce",
    "rollout",
    "simulate",
    "threads",
]

__version__ = "0.1.0"

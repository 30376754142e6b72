"""appell: robot dynamics from the Gibbs–Appell equations, traced and compiled per robot.

>>> import appell
>>> robot = appell.load("puma560")
>>> tau = robot.inverse_dynamics(q=[0.1] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

from appell import control, interop
from appell.errors import AppellError, AppellWarning, CompileError, InputError, ModelError, ReadError, TraceError
from appell.identify.base import Base, base_parameters
from appell.identify.excite import Excitation, excite
from appell.identify.fit import Fit
from appell.identify.identify import identify
from appell.identify.log import Log
from appell.identify.prepare import prepare
from appell.identify.read_log import read_log
from appell.kernels.threads import threads
from appell.loops.closed_robot import ClosedRobot
from appell.loops.load import catalogue, load
from appell.loops.spherical.robot import SphericalRobot
from appell.papers import reproduce
from appell.plan.branches import Branches, branches
from appell.plan.cartesian import CartesianLine
from appell.plan.curves import Fourier, JointLine, Ramp, Spline, sinusoid
from appell.plan.inverse import Solution, inverse_kinematics
from appell.plan.scaling import Fastest, Scaled, fastest
from appell.plan.timing import Quintic, Trapezoid, Uniform
from appell.plan.trajectory import Motion, Trajectory
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
from appell.view.view import view

__all__ = [
    "PD",
    "AppellError",
    "AppellWarning",
    "Arc",
    "Base",
    "Branches",
    "CartesianLine",
    "Circle",
    "ClosedRobot",
    "CompileError",
    "ComputedTorque",
    "Distance",
    "Ellipse",
    "Event",
    "Excitation",
    "Fastest",
    "Fit",
    "Fourier",
    "InputError",
    "JointLine",
    "Line",
    "Log",
    "ModelError",
    "Motion",
    "Plane",
    "Point",
    "Polyline",
    "Quintic",
    "Ramp",
    "ReadError",
    "Robot",
    "Rollout",
    "Run",
    "Scaled",
    "Segment",
    "Solution",
    "Sphere",
    "SphericalRobot",
    "Spline",
    "TraceError",
    "Trajectory",
    "Trapezoid",
    "Uniform",
    "Wall",
    "base_parameters",
    "branches",
    "catalogue",
    "chain",
    "control",
    "excite",
    "fastest",
    "from_dh",
    "identify",
    "interop",
    "inverse_kinematics",
    "load",
    "prepare",
    "read_log",
    "reproduce",
    "rollout",
    "simulate",
    "sinusoid",
    "threads",
    "view",
]

__version__ = "0.1.0"

"""Trajectories: q, v and a at any time.

Read trajectory.py, timing.py and curves.py, then cartesian.py and time_scaling.py.
"""

from appell.planning.trajectory.cartesian import CartesianLine
from appell.planning.trajectory.curves import Fourier, JointLine, Ramp, Spline, sinusoid
from appell.planning.trajectory.time_scaling import ScaledTrajectory, TimeScaling, time_scaling
from appell.planning.trajectory.timing import ConstantSpeed, Quintic, Trapezoid
from appell.planning.trajectory.trajectory import Trajectory, TrajectoryState

__all__ = [
    "CartesianLine",
    "ConstantSpeed",
    "Fourier",
    "JointLine",
    "Quintic",
    "Ramp",
    "ScaledTrajectory",
    "Spline",
    "TimeScaling",
    "Trajectory",
    "TrajectoryState",
    "Trapezoid",
    "sinusoid",
    "time_scaling",
]

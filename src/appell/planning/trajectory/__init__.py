"""Trajectories: q, v and a at any time.

Read trajectory.py and curves.py, then cartesian.py and time_scaling.py. jerk_limited.py is ruckig's.
"""

from appell.planning.trajectory.curves import CartesianLine, Fourier, JointLine, Ramp, Spline, sinusoid
from appell.planning.trajectory.jerk_limited import JerkLimited, OnlineTrajectory
from appell.planning.trajectory.time_scaling import ScaledTrajectory, TimedPath, TimeScaling, time_scaling
from appell.planning.trajectory.trajectory import ConstantSpeed, Quintic, Trajectory, TrajectoryState, Trapezoid

__all__ = [
    "CartesianLine",
    "ConstantSpeed",
    "Fourier",
    "JerkLimited",
    "JointLine",
    "OnlineTrajectory",
    "Quintic",
    "Ramp",
    "ScaledTrajectory",
    "Spline",
    "TimeScaling",
    "TimedPath",
    "Trajectory",
    "TrajectoryState",
    "Trapezoid",
    "sinusoid",
    "time_scaling",
]

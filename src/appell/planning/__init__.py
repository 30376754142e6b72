"""Trajectories and inverse kinematics.

Read ``trajectory/``, then tasks.py, descent.py and inverse_kinematics.py (numeric), then analytic_ik.py (closed form).
goal.py checks arguments.
"""

from appell.planning.analytic_ik import IKBranches, analytic_ik
from appell.planning.inverse_kinematics import IKSolution

__all__ = ["IKBranches", "IKSolution", "analytic_ik"]

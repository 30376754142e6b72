"""Trajectories and inverse kinematics.

Read ``trajectory/``, then tasks.py, residuals.py, descent.py and inverse_kinematics.py (numeric), then subproblems.py,
wrist.py and analytic_ik.py (closed form). goal.py and checks.py validate arguments.
"""

from appell.planning.analytic_ik import IKBranches, analytic_ik
from appell.planning.ik_solution import IKSolution

__all__ = ["IKBranches", "IKSolution", "analytic_ik"]

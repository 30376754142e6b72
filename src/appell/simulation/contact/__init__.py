"""Contact between points of a robot and walls.

Read points.py and gaps.py (kinematics), contact_solver.py (complementarity with friction), impact.py,
contact_interval.py.
"""

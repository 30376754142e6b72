"""Exciting trajectories for identification.

Read excite.py, then bounds.py (limits), information.py (the objective) and search.py (the series and the optimiser).
"""

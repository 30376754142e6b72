"""Exciting trajectories for identification.

Read excite.py, then series.py (the parametrisation), bounds.py (limits), information.py (the objective), search.py (the
optimiser) and plot.py.
"""

"""Results of simulations: runs, their files, plots and films.

Read path.py and run.py, then style.py, plots.py and motions.py, then animation.py and films.py.
"""

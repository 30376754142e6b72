"""Results of simulations: runs, their files, plots, animations, and pages that play them.

Read path.py, records.py and run.py, then style.py, plots.py and motions.py, then animation.py and films.py, then
player/.
"""

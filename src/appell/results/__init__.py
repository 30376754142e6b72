"""Results of simulations: runs, their files, plots, animations, and pages that play them.

Read path.py and run.py, then style.py and plots.py, then animation.py, then player/.
"""

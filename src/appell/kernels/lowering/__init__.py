"""What the back ends share: what a tape's values are for, the order of statements, numbers of sines.

Read analysis.py, sines.py and staged.py.
"""

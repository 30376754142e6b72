"""What the back ends share: which steps need no value of their own, the order of statements, numbers of sines.

Read fusion.py, order.py, inputs.py and sines.py.
"""

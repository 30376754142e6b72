"""Robots of many bodies: programs of loops over the bodies, whose steps are traced once per class of body.

Read kind.py, then programs.py, which runs the program of a verb, recorder.py, the executor that records its steps
(:mod:`appell.recursion.sweep`), body.py, the constants of a body, and layout.py, which makes a program of what is
recorded (:mod:`appell.program.nodes`); gradients.py differentiates such programs.
"""

"""Robots of many bodies: programs of loops over the bodies, whose steps are traced once per class of body.

Read kind.py, then plan.py, the description of a verb, dynamics.py and kinematics.py with the verbs, body.py, and
assembly.py, which makes a program (:mod:`appell.program.nodes`) from it; gradients.py differentiates such programs.
"""

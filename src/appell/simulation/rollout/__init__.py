"""Rollouts: fixed-step simulation of many robots in one native call.

Read rollout.py and scheme.py (integration methods and control laws); adjoint.py has gradients.
"""

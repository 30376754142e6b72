"""Rollouts: fixed steps of many robots at once.

Read rollout.py, scheme.py (integration methods) and law.py (control laws); closed_rollout.py is for closed robots,
stepwise.py for robots too long to compile.
"""

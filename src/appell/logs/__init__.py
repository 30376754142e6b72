"""Logs of robots: reading, checking and preparing them.

Read log.py and read_log.py, which uses table.py, text.py, joint_states.py (file formats), columns.py and
consistency.py; then prepare.py, which uses gaps.py, outliers.py, velocity.py and filters.py.
"""

"""Logs of robots: reading, checking and preparing them.

Read log.py and read_log.py, which uses table.py, joint_states.py (file formats) and columns.py; then prepare.py.
"""

"""Trajectories that give q, v and a at any time, time scaling to limits, and inverse kinematics."""

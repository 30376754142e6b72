"""Simulation in time: integration, located events, walls, impacts, resting contact, rollouts.

Read simulate.py, engine.py and integrators.py, then ``walls/``, ``contact/`` and ``events/``; ``rollout/`` is separate:
fixed steps of many robots in native code. scenario.py reads a simulation from a TOML file.
"""

from appell.simulation.contact.points import Point
from appell.simulation.record import Event

__all__ = ["Event", "Point"]

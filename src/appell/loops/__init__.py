"""Closed chains: reduction of any loops to independent velocities, and spherical robots in closed form."""

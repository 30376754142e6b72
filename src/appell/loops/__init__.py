"""Closed chains: any loops by reduction to independent velocities, and two spherical robots in closed form."""

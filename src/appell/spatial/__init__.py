"""Rotations, poses, cross products and inertia, generic in the scalar type."""

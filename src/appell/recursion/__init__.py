"""The physics, generic in the scalar: one file an algorithm, each on one screen; sweep.py owns the tree loops."""

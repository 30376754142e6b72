"""The physics, generic in the scalar type: one algorithm per file; sweep.py contains the only loops over the tree."""

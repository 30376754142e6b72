"""Source code of a program in other languages.

Read c99_values.py, c99.py and c99_math.py, then python_text.py, which casadi.py and jax.py configure.
"""

"""Compiling and calling a program.

Read program_spec.py, kernel.py, native.py and callables.py, then cache.py, memory.py (of large results), threads.py,
and stepping.py (programs of many steps).
"""

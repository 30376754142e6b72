"""Compiling and calling a program.

Read program_spec.py, kernel.py, native.py and gufunc.py, then cache.py, memory.py (of large results), threads.py
and fast_call.py (few samples), stepping.py (programs of many steps), and the kernels without native code: constant.py.
"""

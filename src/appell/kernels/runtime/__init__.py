"""Compiling and calling a program.

Read program_spec.py, kernel.py, native.py and gufunc.py, then cache.py, threads.py and fast_call.py (single samples),
rollout_kernel.py, and the kernels without native code: constant.py.
"""

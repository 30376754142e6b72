"""LLVM text of a program.

Read llvm_writer.py and target.py, then emit.py (tapes), nodes_ir.py (programs), vector_loop.py and ufunc_loop.py (the
loops around them), line.py, registers.py, schedule.py, x86.py and scheduled.py (programs with long blocks),
fast_call.py, module.py.
"""

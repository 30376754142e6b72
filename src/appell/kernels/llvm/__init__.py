"""LLVM text of a program.

Read llvm_writer.py and target.py, then emit.py (short tapes), vector_loop.py and ufunc_loop.py (the loops around them),
line.py, registers.py, schedule.py, x86.py and scheduled.py (long tapes), nodes_ir.py (loops), rollout_ir.py,
fast_call.py, module.py.
"""

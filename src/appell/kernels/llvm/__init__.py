"""LLVM text of a tape.

Read llvm_writer.py and target.py, then emit.py (short tapes), vector_loop.py and ufunc_loop.py (the loops around them),
line.py, registers.py, schedule.py, x86.py and scheduled.py (long tapes), rolled.py (loops over links), rollout_ir.py
(loops over time), module.py.
"""

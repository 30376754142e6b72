"""LLVM text of a program.

Read llvm_writer.py and target.py, then emit.py (tapes), nodes_ir.py (programs), schedule.py, x86.py, ir_part.py,
rows.py and scheduled.py (programs with long blocks), entries.py (the functions by which code is entered).
"""

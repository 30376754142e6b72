"""The one form of everything that runs natively, independent of robotics and of processors.

Read nodes.py, the form; run.py is its reference, a Python interpreter; verify.py checks a program before it is counted,
compiled or exported; count.py counts its operations, and adjoint.py and tangent.py differentiate it.
"""

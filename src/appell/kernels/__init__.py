"""Compiled programs: from :mod:`appell.program` to code that runs on batches of samples.

Read ``lowering/`` (what all back ends share) first, then ``llvm/`` (LLVM text), ``runtime/`` (compiling, caching,
calling) and ``text/`` (C99, CasADi and JAX source).
"""

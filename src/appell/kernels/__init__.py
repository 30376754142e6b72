"""Compiled programs: from a tape to code that runs on batches of samples.

Read ``llvm/`` (a tape as LLVM text) first, then ``runtime/`` (compiling, caching, calling), then ``text/`` (C99,
CasADi and JAX source).
"""

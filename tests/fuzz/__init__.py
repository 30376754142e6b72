"""Fuzzing: hostile inputs for everything that reads a file, takes an array or takes a command line.

A target (:mod:`tests.fuzz.targets`) is a way to make an input and a function that reads it. An input is accepted,
refused by an AppellError, or a failure: any other exception, a property that does not hold, a hang, memory without
bounds, a file left behind. ``make test`` tries a few inputs per target and every earlier finding (``seeds/``); ``make
fuzz`` tries many.
"""

"""Kernels of small programs, without a robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from appell.kernels.llvm.target import Target
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.trace.tape import Port, Tape, trace


def build(program: Callable[..., Any], inputs: dict[str, tuple[int, ...]], outputs: dict[str, tuple[int, ...]]) -> Tape:
    """Return the tape of a program of named arrays."""
    return trace("program", program, *(tuple(Port(*port) for port in ports.items()) for ports in (inputs, outputs)))


@pytest.fixture(scope="session")
def compiled() -> Callable[..., Kernel]:
    """Return a function of a program and the shapes of its inputs and outputs that compiles it, for a target."""

    def compile_program(
        program: Callable[..., Any],
        inputs: dict[str, tuple[int, ...]],
        outputs: dict[str, tuple[int, ...]],
        target: Target | None = None,
    ) -> Kernel:
        tape = build(program, inputs, outputs)
        return Kernel(ProgramSpec(tape.name, tape.inputs, tape.outputs, tape.digest, lambda: tape), target)

    return compile_program

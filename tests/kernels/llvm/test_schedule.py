"""Long tapes: the plan of registers is sound, and planned code is the tape."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appell.kernels.llvm import schedule, scheduled
from appell.kernels.llvm.entries import modules
from appell.kernels.llvm.llvm_writer import DOUBLE
from appell.kernels.llvm.schedule import CHOICES, CodePart, MemorySlot, Schedule, StoredSlots
from appell.kernels.llvm.scheduled import LONG
from appell.kernels.llvm.target import Target, host
from appell.kernels.lowering.analysis import poisoned
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.program.nodes import straight
from appell.spatial.scalar import cos, select, sign, sin, sqrt
from appell.trace.expr import Op
from appell.trace.tape import Port, Step, Tape, trace

SIZE = 24


@pytest.fixture(scope="module")
def tape() -> Tape:
    """A program of some thousand steps: angles turned by one another, mixed across all inputs, one input unread."""

    def program(q, v):
        carried = list(v)
        for k in range(SIZE * 9):
            c, s = cos(q[k % (SIZE - 1)] + 0.1 * (k % 5)), sin(q[k % (SIZE - 1)] + 0.1 * (k % 5))
            a, b, d = k % SIZE, (k * 7 + 1) % SIZE, (k * 5 + 3) % SIZE
            carried[a] = c * carried[a] - s * carried[b] + 0.3 * carried[d] / (2.0 + c * s)
            carried[b] = -(s * carried[a]) + 0.2 * c * carried[b] + 0.01 * k
        return (carried,)

    made = trace("long", program, (Port("q", (SIZE,)), Port("v", (SIZE,))), (Port("x", (SIZE,)),))
    assert len(made.steps) > LONG
    return made


@pytest.fixture(scope="module")
def signed() -> Tape:
    """A program with every operation, and minus signs wherever one can be."""

    def program(q, v):
        carried = list(v)
        for k in range(SIZE * 12):
            a, b, d = k % SIZE, (k * 7 + 1) % SIZE, (k * 5 + 3) % SIZE
            x, y, z = carried[a], carried[b], carried[d]
            carried[a] = select(-x, -y, sqrt(1.0 + z * z)) - x * 0.5 - (-y) * (-0.25)
            carried[b] = -(x * y) / (3.0 + x * x + y * y) - z * 0.25 + sign(-q[a]) * 0.1 - sin(-0.3 * x)
            carried[d] = -(-z - x) * 0.3 - (y * (-z)) * 0.01 + cos(q[b] + q[d] - 1.5)
        return (carried, [-x for x in carried[:3]])

    made = trace("signed", program, (Port("q", (SIZE,)), Port("v", (SIZE,))), (Port("x", (SIZE,)), Port("y", (3,))))
    assert len(made.steps) > LONG
    assert {Op.NEG, Op.SELECT, Op.SIGN, Op.SQRT, Op.DIV} < {step.op for step in made.steps}
    return made


def kernel_of(tape: Tape, target: Target | None = None, about: str = "") -> Kernel:
    return Kernel(ProgramSpec(tape.name, tape.inputs, tape.outputs, f"{tape.digest} {about}", lambda: tape), target)


def expected_of(tape: Tape, *arrays: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return np.array([np.broadcast_to(x, len(arrays[0])) for x in tape.run(*(list(x.T) for x in arrays))]).T


def run(made: Schedule, tape: Tape, values: list[float]) -> tuple[list[float], int]:
    """Carry out a schedule on numbers; return the results and how many registers that took."""
    shared = dict(enumerate(values)) | made.fixed
    results, used, starts = [math.nan] * len(tape.results), set[int](), [0]
    for port in tape.outputs:
        starts.append(starts[-1] + port.size)
    for segment in made.segments:
        if isinstance(segment, StoredSlots):
            for k, slot in enumerate(segment.slots, start=starts[segment.port] + segment.start):
                results[k] = shared[slot]
            continue
        held: dict[int, float] = {}
        memories = {"shared": shared, "own": dict[int, float](), "constant": dict(enumerate(made.constants))}
        for code, (first, *others) in segment.code:
            read = [memories[x.memory][x.slot] if isinstance(x, MemorySlot) else held.get(x, math.nan) for x in others]
            assert sum(isinstance(x, MemorySlot) for x in (first, *others)) <= 1
            if isinstance(first, MemorySlot):
                memories[first.memory][first.slot] = read[0]
                continue
            used.add(first)
            held[first] = carried_out(code, held.get(first, math.nan), read)
    return results, len(used)


def bits(x: float) -> int:
    """Return the bits of a number."""
    return int(np.float64(x).view(np.int64))


MEANING: dict[str, Callable[..., float]] = {
    "load": lambda x: x,
    "copy": lambda x: x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "sqrt": math.sqrt,
    "sign": lambda x, *_: math.copysign(1.0, x) if x else x,
    "select": lambda x, y, z, _: y if x > 0.0 else z,
    "pick": lambda x, y, z, _: z if bits(x) & 1 else y,
    "flip": lambda x, y, _: -x if bits(y) & 2 else x,
    "next": lambda x, y: float(np.int64(bits(x) + bits(y)).view(np.float64)),
}
"""What instructions write, but for those of x·y ± c."""


def carried_out(code: str, written: float, read: list[float]) -> float:
    """Return what an instruction writes over a number."""
    if code in MEANING:
        return MEANING[code](*read[code in CHOICES :])
    a, b = read
    x, y, c = {"231": (a, b, written), "213": (a, written, b), "132": (written, b, a)}[code[-3:]]
    return (-x * y if code.startswith("fn") else x * y) + (c if code[-6:-3] == "add" else -c)


@pytest.mark.parametrize("registers", [8, 16, 32])
@pytest.mark.parametrize("program", ["tape", "signed"])
def test_a_schedule_carried_out_is_the_tape(request, rng, monkeypatch, program: str, registers: int) -> None:
    monkeypatch.setattr(schedule, "LONGEST", 400)
    made = request.getfixturevalue(program)
    values = list(rng.normal(size=2 * SIZE))
    found, used = run(schedule.schedule(made, DOUBLE, registers), made, values)
    np.testing.assert_allclose(found, made.run(values[:SIZE], values[SIZE:]), rtol=1e-11, atol=1e-12)
    assert used <= registers


def test_results_that_are_too_many_to_be_kept_are_stored_in_pieces(tape, rng, monkeypatch) -> None:
    steps = [i for i, step in enumerate(tape.steps, start=tape.n_inputs) if step.op is not Op.CONST]
    many = replace(tape, outputs=(Port("x", (len(steps),)),), results=tuple(steps))
    whole = schedule.schedule(many, DOUBLE, 16)
    monkeypatch.setattr(schedule, "MOST_KEPT", 100)
    monkeypatch.setattr(schedule, "PIECE", 128)
    pieces = schedule.schedule(many, DOUBLE, 16)
    assert sum(isinstance(x, StoredSlots) for x in pieces.segments) == -(-len(steps) // 128)
    assert pieces.shared < whole.shared
    q, v = rng.normal(size=(2, 11, SIZE))
    np.testing.assert_allclose(kernel_of(many, about="pieces")(q, v), expected_of(many, q, v), rtol=1e-11, atol=1e-11)


def test_a_long_tape_is_planned_in_several_parts(tape: Tape, monkeypatch) -> None:
    monkeypatch.setattr(schedule, "LONGEST", 400)
    assert sum(isinstance(x, CodePart) for x in schedule.schedule(tape, DOUBLE, 16).segments) > 1


def narrower() -> list[Target]:
    """This machine, and it with shorter vectors as far as it has them: 256 bits, and LLVM's own instructions."""
    on = host().features.split(",")
    shorter = [
        Target(host().cpu, ",".join(f"-{x[1:]}" if x[1:].startswith(off) else x for x in on))
        for off in (("avx512", "evex512"), ("avx512", "evex512", "avx2"))
    ]
    return [host(), *(x for x in shorter if x.has_fma)] if host().has_fma else []


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("target", narrower(), ids=lambda target: f"{target.bits} bits")
@pytest.mark.parametrize("program", ["tape", "signed"])
def test_planned_code_is_the_tape_on_every_width(request, rng, program, target, kind) -> None:
    made = request.getfixturevalue(program)
    q, v = rng.normal(size=(2, 37, SIZE)).astype(kind)
    found = kernel_of(made, target)(q, v)
    near = 1e-11 if kind is np.float64 else 2e-3
    expected = expected_of(made, q.astype(float), v.astype(float))
    found = np.concatenate(found if isinstance(found, tuple) else (found,), axis=1)
    np.testing.assert_allclose(found, expected, rtol=near, atol=near)


@pytest.mark.parametrize("target", narrower(), ids=lambda target: f"{target.bits} bits")
def test_choices_are_those_of_numbers_at_zero_and_beyond(target: Target) -> None:
    def program(x, y):
        more = [sign(x[0]), select(x[0], y[0], y[1]), y[0]]
        for k in range(LONG):
            more[2] = more[2] * y[1] + 0.001 * k
        return (more,)

    made = trace("choices", program, (Port("x", (1,)), Port("y", (2,))), (Port("z", (3,)),))
    x = np.array([0.0, -0.0, 2.0, -3.0, np.inf, -np.inf, np.nan, 1e-320, -1e-320])[:, None]
    found = kernel_of(made, target)(x, np.array([7.0, 0.5]))
    np.testing.assert_array_equal(found[:, 0], [0.0, -0.0, 1.0, -1.0, 1.0, -1.0, np.nan, 1.0, -1.0])
    np.testing.assert_array_equal(np.signbit(found[:2, 0]), [False, True])
    np.testing.assert_array_equal(found[:, 1], [0.5, 0.5, 7.0, 0.5, 7.0, 0.5, 0.5, 7.0, 0.5])


@pytest.mark.parametrize("samples", [1, 7, 8, 9, 30])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_large_results_of_planned_code_are_the_tapes(tape: Tape, rng: np.random.Generator, samples: int, kind) -> None:
    # an output whose last vector is not full, with constants, inputs and repeated values; a small one; one of pairs
    results = (*tape.results * 9, *range(tape.n_inputs), *(tape.results[0],) * 3)
    large, zero = len(results) + 1, tape.n_inputs + len(tape.steps)
    outputs = (Port("large", (large,)), Port("one", (1,)), Port("some", (11,)))
    wide = replace(
        tape,
        outputs=outputs,
        steps=(*tape.steps, Step(Op.CONST, (), 0.5)),
        results=(*results, zero, zero, *tape.results[:10], zero),
    )
    q, v = rng.normal(size=(2, samples, SIZE)).astype(kind)
    expected = expected_of(wide, q.astype(float), v.astype(float))
    near = 1e-11 if kind is np.float64 else 2e-3
    for found, start, port in zip(kernel_of(wide)(q, v), (0, large, large + 1), outputs, strict=True):
        np.testing.assert_allclose(found, expected[:, start : start + port.size], rtol=near, atol=near)


def test_programs_of_many_outputs_are_the_tape(tape, rng) -> None:
    some = 16  # a size whose lines are prefetched, for more ports than there are registers for their addresses
    outputs = tuple(Port(f"x{k}", (some,)) for k in range(9))
    many = replace(tape, outputs=outputs, results=tuple(tape.results[k % SIZE] for k in range(9 * some)))
    q, v = rng.normal(size=(2, 20, SIZE))
    found = np.concatenate(kernel_of(many)(q, v), axis=1)
    np.testing.assert_allclose(found, expected_of(many, q, v), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("cpu", [host().cpu, "znver3"])
@pytest.mark.parametrize("bypass", [1, 1 << 40])
@pytest.mark.parametrize("start", [0, 3, 8])
def test_rows_are_written_whole_and_nowhere_else(tape, rng, monkeypatch, bypass, start, cpu) -> None:
    monkeypatch.setattr(scheduled, "BYPASS", bypass)
    zero = tape.n_inputs + len(tape.steps)
    results = (*tape.results * 9, *[zero] * 100, *tape.results[:5], *[zero] * 30)  # rows of three pieces
    wide = replace(
        tape, outputs=(Port("x", (len(results),)),), steps=(*tape.steps, Step(Op.CONST, (), 0.0)), results=results
    )
    for target in (x for x in narrower()[:2] if cpu == host().cpu or x.bits > 128):
        kernel = kernel_of(wide, replace(target, cpu=cpu), str(bypass))
        q, v = rng.normal(size=(2, 21, SIZE))
        expected = expected_of(wide, q, v)
        memory = np.full(start + expected.size + 11, np.nan)  # starts anywhere in a cache line
        place = memory[start : start + expected.size].reshape(expected.shape)
        kernel(q, v, out=place)
        np.testing.assert_allclose(place, expected, rtol=1e-11, atol=1e-11)
        assert np.isnan(memory[:start]).all()
        assert np.isnan(memory[start + expected.size :]).all()


@pytest.mark.parametrize("samples", [1, 3, 4, 33, 70])
def test_planned_code_is_the_tape(tape: Tape, rng: np.random.Generator, samples: int) -> None:
    q, v = rng.normal(size=(2, samples, SIZE))
    np.testing.assert_allclose(kernel_of(tape)(q, v), expected_of(tape, q, v), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("together", [1, 2])
def test_parts_in_modules_of_their_own_are_the_tape(tape, rng, monkeypatch, together: int) -> None:
    monkeypatch.setattr(scheduled, "TOGETHER", together)
    monkeypatch.setattr(schedule, "LONGEST", 400)
    assert len(list(modules(straight(tape), DOUBLE, host()))) > 2
    q, v = rng.normal(size=(2, 33, SIZE))
    for _ in range(2):  # compiled, then from the cache
        found = kernel_of(tape, about=str(together))(q, v)
        np.testing.assert_allclose(found, expected_of(tape, q, v), rtol=1e-11, atol=1e-12)


def test_planned_code_reduces_angles_beyond_the_fast_range(tape: Tape, rng: np.random.Generator) -> None:
    kernel = kernel_of(tape)
    q, v = rng.normal(size=(2, 70, SIZE))
    far = q.copy()
    far[40, 3] += 2.0 * np.pi * 2**20
    near = kernel(q, v)
    np.testing.assert_allclose(kernel(far, v), near, rtol=1e-7, atol=1e-7)
    others = np.arange(70) != 40
    np.testing.assert_array_equal(kernel(far, v)[others], near[others])
    narrow = kernel(far.astype(np.float32), v.astype(np.float32))
    np.testing.assert_allclose(narrow[others], near[others], rtol=2e-3, atol=2e-3)
    assert np.isfinite(narrow).all()


def test_planned_code_passes_on_not_a_number_of_an_input_that_no_step_reads(
    tape: Tape, rng: np.random.Generator
) -> None:
    q, v = rng.normal(size=(2, 5, SIZE))
    q[2, SIZE - 1] = np.nan
    assert np.isnan(kernel_of(tape)(q, v)).all(axis=1).tolist() == [False, False, True, False, False]


def test_not_a_number_of_an_unread_input_reaches_many_results_through_inputs_and_sines(tape, rng) -> None:
    made = [i for i, step in enumerate(tape.steps, start=tape.n_inputs) if step.op is not Op.CONST]
    many = replace(tape, outputs=(Port("x", (len(made),)),), results=tuple(made))
    added = poisoned(many)
    assert len(added.steps) - len(many.steps) < len(made)
    kernel = kernel_of(many)
    q, v = rng.normal(size=(2, 5, SIZE))
    np.testing.assert_allclose(kernel(q, v), expected_of(many, q, v), rtol=1e-11, atol=1e-11)
    q[2, SIZE - 1] = np.nan
    found = np.isnan(kernel(q, v))
    assert found[2].all()
    assert not found[[0, 1, 3, 4]].any()

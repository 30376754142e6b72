"""The arithmetic of a part as instructions of LLVM, for processors without a spelling of their own."""

from __future__ import annotations

from appell.kernels.llvm import emit
from appell.kernels.llvm.llvm_writer import Writer
from appell.kernels.llvm.schedule import CHOICES, Machine, MemorySlot, Operand

SPAN = 480
"""Instructions between branches that are never taken; LLVM's time grows with the square of it."""
PLAIN = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
ORDER = {"231": (1, 2, 0), "213": (1, 0, 2), "132": (0, 2, 1)}
"""Which operands of a fused instruction are the factors and the summand."""


def write(w: Writer, code: tuple[Machine, ...]) -> None:
    """Append the instructions of a part.

    Memories have two names each, one to store to and one to load from: LLVM would trace a load back to the store that
    it follows, keep the value in a register instead, and be where it began.
    """
    held: dict[int, str] = {}

    def value(operand: Operand) -> str:
        if not isinstance(operand, MemorySlot):
            return held[operand]
        return w.emit(f"load {w.vector}, ptr {_address(w, operand, 'back_')}, align {w.lanes * w.real.size}")

    for count, (kind, (first, *others)) in enumerate(code, start=1):
        if kind in CHOICES:
            del others[0]  # the register to write over
        if isinstance(first, MemorySlot):
            place = _address(w, first, "")
            w.do(f"store {w.vector} {value(others[0])}, ptr {place}, align {w.lanes * w.real.size}")
        elif kind in ("load", "copy"):
            held[first] = value(others[0])
        elif kind in PLAIN:
            held[first] = w.emit(f"{PLAIN[kind]} {w.vector} {value(others[0])}, {value(others[1])}")
        elif kind == "sqrt":
            held[first] = w.emit(f"call {w.vector} @llvm.sqrt({w.vector} {value(others[0])})")
        elif kind == "sign":
            held[first] = emit.sign(w, value(others[0]))
        elif kind == "select":
            held[first] = emit.select(w, *map(value, others[:3]))
        elif kind in ("pick", "flip", "next"):
            held[first] = _turned(w, kind, [value(x) for x in others])
        else:
            held[first] = _fused(w, kind, [value(x) for x in (first, *others)])
        if count % SPAN == 0:
            w.do(f"%never{count} = icmp eq ptr %k, null")
            w.do(f"br i1 %never{count}, label %end, label %go{count}, !prof !0", f"go{count}:")


def _turned(w: Writer, kind: str, values: list[str]) -> str:
    """Append what depends on the quadrant of an angle, in the lowest bits of a number."""
    bits, width = w.integers, 8 * w.real.size

    def whole(n: int) -> str:
        return f"splat ({w.real.integer} {n})"

    def raw(x: str) -> str:
        return w.emit(f"bitcast {w.vector} {x} to {bits}")

    if kind == "next":
        return w.emit(f"bitcast {bits} {w.emit(f'add {bits} {raw(values[0])}, {whole(1)}')} to {w.vector}")
    if kind == "pick":
        odd = w.emit(f"shl {bits} {raw(values[0])}, {whole(width - 1)}")
        is_odd = w.emit(f"icmp slt {bits} {odd}, zeroinitializer")
        return w.emit(f"select <{w.lanes} x i1> {is_odd}, {w.vector} {values[2]}, {w.vector} {values[1]}")
    moved = w.emit(f"shl {bits} {raw(values[1])}, {whole(width - 2)}")
    sign = w.emit(f"and {bits} {moved}, {whole(-(2 ** (width - 1)))}")
    return w.emit(f"bitcast {bits} {w.emit(f'xor {bits} {raw(values[0])}, {sign}')} to {w.vector}")


def _fused(w: Writer, kind: str, values: list[str]) -> str:
    """Append ±x·y ± c."""
    name, form = kind[:-3], kind[-3:]
    x, y, c = (values[k] for k in ORDER[form])
    product = w.emit(f"fmul contract {w.vector} {x}, {y}")
    if name == "fnmadd":
        return w.emit(f"fsub contract {w.vector} {c}, {product}")
    if name == "fnmsub":
        product = w.emit(f"fneg {w.vector} {product}")
    return w.emit(f"{'fadd' if name == 'fmadd' else 'fsub'} contract {w.vector} {product}, {c}")


def _address(w: Writer, place: MemorySlot, prefix: str) -> str:
    memory = "k" if place.memory == "constant" else prefix + place.memory
    return w.emit(f"getelementptr inbounds i8, ptr %{memory}, i64 {place.slot * w.lanes * w.real.size}")

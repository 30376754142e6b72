"""Native code of a stretch of the tape that repeats (repeats.py): a loop over its iterations, for one vector of samples.

The values of an iteration lie in the memory that parts share, anywhere in it; a table has their places. What all
iterations read is at a fixed place.
"""

from __future__ import annotations

from appell.kernels.llvm import emit
from appell.kernels.llvm.fusion import is_constant
from appell.kernels.llvm.llvm_writer import Writer, literal
from appell.kernels.llvm.repeats import Repeat, without_sign
from appell.trace.tape import Tape


def repeated(w: Writer, tape: Tape, loop: Repeat, slots: dict[int, int], index: int) -> str:
    """Append the loop, which starts in the block `body`; return the tables that it needs.

    `slots` are the places of values in the memory at %shared, which loads know as %shared_back.
    """
    size, count, n_reads = w.lanes * w.real.size, len(loop.steps), len(loop.reads[0])
    columns = n_reads + len(loop.results)
    w.do("br label %again", "again:", "%t = phi i64 [ 0, %body ], [ %t_next, %again ]")
    w.do(f"%places = getelementptr [{columns} x i32], ptr @places{index}, i64 %t")
    w.do(f"%signs = getelementptr [{columns} x {w.real.name}], ptr @signs{index}, i64 %t")

    def place(memory: str, k: int) -> str:
        offset = w.emit(f"load i32, ptr {w.emit(f'getelementptr i32, ptr %places, i64 {k}')}, !invariant.load !1")
        return w.emit(f"getelementptr i8, ptr {memory}, i64 {w.emit(f'zext i32 {offset} to i64')}")

    def signed(value: str, k: int) -> str:
        """Return a value with the sign that column k of the table has in this iteration."""
        signs = {signs[k] for signs in loop.signs}
        if len(signs) == 1:
            return w.emit(f"fneg {w.vector} {value}") if signs.pop() else value
        at = w.emit(f"getelementptr {w.real.name}, ptr %signs, i64 {k}")
        sign = w.emit(f"load {w.real.name}, ptr {at}, !invariant.load !1")
        first = w.emit(f"insertelement {w.vector} poison, {w.real.name} {sign}, i32 0")
        return w.emit(f"fmul {w.vector} {value}, {w.shuffle(first, 'poison', w.lanes, [0] * w.lanes)}")

    loads = (w.emit(f"load {w.vector}, ptr {place('%shared_back', k)}, align {size}") for k in range(n_reads))
    own = [signed(value, k) for k, value in enumerate(loads)]
    values: dict[int, str] = {}

    def argument(i: int, k: int, position: int) -> str:
        j, is_opposite = without_sign(tape, position)
        if (i, k) in loop.own:
            value = own[loop.own[i, k]]
        elif is_constant(tape, j):
            value = w.constant(tape.steps[j - tape.n_inputs].value)
        else:
            if j not in values:
                at = w.emit(f"getelementptr inbounds i8, ptr %shared_back, i64 {slots[j] * size}")
                values[j] = w.emit(f"load {w.vector}, ptr {at}, align {size}, !invariant.load !1")
            value = values[j]
        return w.emit(f"fneg {w.vector} {value}") if is_opposite else value

    results = {at: k for k, at in enumerate(loop.results, start=n_reads)}
    for at, i in enumerate(loop.steps[0]):
        step = tape.steps[i - tape.n_inputs]
        values[i] = emit.operation(w, tape, step, [argument(i, k, j) for k, j in enumerate(step.args)])
        if at in results:
            w.do(f"store {w.vector} {signed(values[i], results[at])}, ptr {place('%shared', results[at])}, align {size}")
    w.do("%t_next = add i64 %t, 1", f"%t_more = icmp ult i64 %t_next, {count}")
    w.do("br i1 %t_more, label %again, label %ran", "ran:")
    places = [
        [slots[x] * size for x in (*reads, *made)] for reads, made in zip(loop.reads, loop.made, strict=True)
    ]
    factors = [[literal(-1.0 if x else 1.0, w.real) for x in row] for row in loop.signs]
    return _table(f"places{index}", places, "i32") + _table(f"signs{index}", factors, w.real.name)


def _table(name: str, rows: list[list[object]], kind: str) -> str:
    columns = len(rows[0])
    text = ", ".join(f"[{columns} x {kind}] [{', '.join(f'{kind} {x}' for x in row)}]" for row in rows)
    return f"@{name} = internal constant [{len(rows)} x [{columns} x {kind}]] [{text}]\n"

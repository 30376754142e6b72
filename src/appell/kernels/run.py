"""The frame of `@rows`: a function that runs some code on one vector of rows after the other.

Lane j reads row min(j, rows − 1), so fewer samples than lanes need no other code, and the last vector of a long run
starts early enough to end on the last row.
"""

from __future__ import annotations

from appell.kernels.writer import Writer


def open_run(w: Writer, ports: int) -> dict[int, list[str]]:
    """Append the head of the loop; return, per port, the addresses of each lane's row. Code of one vector follows."""
    for k in range(ports):
        for lane in range(w.lanes):
            w.do(f"%p{k}_lane{lane} = mul i64 %p{k}_step, %row{lane}")
    w.do("br label %body")
    w.do("body:")
    w.do("%i = phi i64 [ 0, %entry ], [ %next, %done ]")
    w.do(f"%start0 = mul i64 %i, {w.lanes}")
    w.do("%start = call i64 @llvm.umin.i64(i64 %start0, i64 %last)")
    places: dict[int, list[str]] = {}
    for k in range(ports):
        w.do(f"%p{k}_at = mul i64 %start, %p{k}_step")
        w.do(f"%p{k}_base = getelementptr i8, ptr %p{k}, i64 %p{k}_at")
        for lane in range(w.lanes):
            w.do(f"%p{k}_row{lane} = getelementptr i8, ptr %p{k}_base, i64 %p{k}_lane{lane}")
        places[k] = [f"%p{k}_row{lane}" for lane in range(w.lanes)]
    return places


def close_run(w: Writer, ports: int, *, last: tuple[str, ...] = ()) -> str:
    """Append the end of the loop and `last` before the return; return the text of the function and its table."""
    w.do("br label %done")
    w.do("done:")
    w.do("%next = add i64 %i, 1")
    w.do("%more = icmp ult i64 %next, %count")
    w.do("br i1 %more, label %body, label %end")
    w.do("end:")
    for line in last:
        w.do(line)
    w.do("ret void")
    rows = ", ".join(f"ptr noalias %p{k}, i64 %p{k}_step" for k in range(ports))
    lanes = ", ".join(f"i64 %row{lane}" for lane in range(w.lanes))
    arguments = f"{rows}, {lanes}, i64 %last, i64 %count, ptr noalias %k"
    head = f"define internal void @rows({arguments}) noinline {{\nentry:\n"
    return head + "\n".join(w.lines) + "\n}\n\ndeclare i64 @llvm.umin.i64(i64, i64)\n" + w.table()

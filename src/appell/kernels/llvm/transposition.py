"""Transposition: from one vector per number, with a sample in each lane, to one vector per sample, and back."""

from __future__ import annotations

from appell.kernels.llvm.llvm_writer import Writer


def address(w: Writer, row: str, k: int) -> str:
    """Append the address of the k-th number of a row."""
    return w.emit(f"getelementptr inbounds i8, ptr {row}, i64 {k * w.real.size}") if k else row


def transposed(w: Writer, vectors: list[str]) -> list[str]:
    """Append shuffles that turn as many vectors as there are lanes into one vector per lane.

    First within chunks of 128 bits, whose numbers are interleaved from one chunk of each of two vectors; then chunk by
    chunk, the even and the odd ones of two vectors: each shuffle is one instruction on AVX and AVX-512.
    """
    if len(set(vectors)) == 1 and vectors[0].startswith("splat"):
        return vectors
    chunk = 16 // w.real.size
    groups = [within_chunks(w, vectors[k : k + chunk], chunk) for k in range(0, w.lanes, chunk)]
    columns = [_by_chunks(w, [group[c] for group in groups], chunk) for c in range(chunk)]
    return [columns[lane % chunk][lane // chunk] for lane in range(w.lanes)]


def transposed_from(w: Writer, places: list[str], align: int = 0) -> list[str]:
    """Append loads of as many vectors as there are lanes, and shuffles into one vector per lane.

    Loads of halves, joined in pairs, are the first of the steps of :func:`transposed` by chunks: an insertion from
    memory does not take the one port that shuffles do. The places are multiples of `align` bytes, by default of those
    that are loaded.
    """
    chunk, half = 16 // w.real.size, w.lanes // 2
    if half < chunk:
        size = align or w.lanes * w.real.size
        return transposed(w, [w.emit(f"load {w.vector}, ptr {place}, align {size}") for place in places])
    result = []
    for low in (0, half):
        halves = [_half(w, place, low, align or half * w.real.size) for place in places]
        columns: list[list[str]] = [[] for _ in range(chunk)]
        for k in range(0, w.lanes, 2 * chunk):
            pairs = zip(halves[k : k + chunk], halves[k + chunk : k + 2 * chunk], strict=True)
            joined = [w.shuffle(a, b, half, list(range(w.lanes))) for a, b in pairs]
            for column, vector in zip(columns, within_chunks(w, joined, chunk), strict=True):
                column.append(vector)
        turned = [_by_chunks(w, column, chunk) for column in columns]
        result += [turned[lane % chunk][lane // chunk] for lane in range(half)]
    return result


def _half(w: Writer, place: str, low: int, align: int) -> str:
    kind = f"<{w.lanes // 2} x {w.real.name}>"
    return w.emit(f"load {kind}, ptr {address(w, place, low)}, align {align}")


def within_chunks(w: Writer, vectors: list[str], chunk: int) -> list[str]:
    """Return vectors each of whose chunks has one number of every given vector, in their order."""
    if len(vectors) == 1:
        return vectors
    first, second = within_chunks(w, vectors[0::2], chunk), within_chunks(w, vectors[1::2], chunk)
    result = []
    for a, b in zip(first, second, strict=True):
        for low in range(0, chunk, chunk // 2):
            places = (at + low + j for at in range(0, w.lanes, chunk) for j in range(chunk // 2))
            result.append(w.shuffle(a, b, w.lanes, [x for i in places for x in (i, w.lanes + i)]))
    return result


def _by_chunks(w: Writer, vectors: list[str], chunk: int) -> list[str]:
    """Return, per place of a chunk, the vector of the chunks that all given vectors have there."""
    if len(vectors) == 1:
        return vectors
    even, odd = list[str](), list[str]()
    for a, b in zip(vectors[0::2], vectors[1::2], strict=True):
        for result, start in ((even, 0), (odd, chunk)):
            picks = [at + j for at in range(start, 2 * w.lanes, 2 * chunk) for j in range(chunk)]
            result.append(w.shuffle(a, b, w.lanes, picks))
    sides = _by_chunks(w, even, chunk), _by_chunks(w, odd, chunk)
    return [vector for pair in zip(*sides, strict=True) for vector in pair]

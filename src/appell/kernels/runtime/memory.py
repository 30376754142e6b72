"""Memory of large results, used again once nobody can see it.

The system hands out memory page by page, each cleared at its first use; for a large result this takes several times as
long as computing it. A large result therefore lies on a block that is kept when the result is gone. Its owner is a
:class:`_Loan`, the base of the array: views, memoryviews, DLPack capsules and pointers of ctypes hold the array, the
array holds the loan, and the loan gives the block back when the last of them is gone, as NumPy would free it.

``APPELL_MEMORY`` bounds the blocks that are kept, in MiB; 0 keeps none. The default is an eighth of the machine's
memory, at most 1 GiB. The block that was used least recently is freed first.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import InputError
from appell.kernels.llvm.entries import LARGE  # the allocator of the C library keeps smaller results itself

_LINE = 64
"""Bytes of a cache line, to which blocks are aligned."""
_MOST = 64
"""Blocks that are kept."""
_DEFAULT = 1 << 30

Block = tuple[int, int, NDArray[np.uint8]]
"""Its size in bytes, the address of its first line, and the array that owns it."""


def _limit() -> int:
    text = os.environ.get("APPELL_MEMORY", "")
    if not text:
        try:
            return min(_DEFAULT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8)
        except (AttributeError, ValueError, OSError):  # unknown on this system
            return _DEFAULT
    if not text.isdigit():
        raise InputError(f"APPELL_MEMORY is '{text}'; expected an integer number of MiB, 0 to keep no memory")
    return int(text) << 20


class _Store:
    """The blocks that are kept, those used last at the end.

    A loan may end anywhere, in a garbage collection inside these methods too. The lock is therefore never waited for:
    without it a method allocates, or frees, as if nothing were kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        self._blocks: list[Block] = []
        self._lock = threading.Lock()

    def taken(self, size: int) -> Block:
        """Return a block of at least a size, a kept one if it is not much larger."""
        if self._lock.acquire(blocking=False):
            try:
                for k in range(len(self._blocks) - 1, -1, -1):
                    if size <= self._blocks[k][0] <= size + size // 4:
                        block = self._blocks.pop(k)
                        self.size -= block[0]
                        return block
            finally:
                self._lock.release()
        memory = np.empty(size + _LINE, np.uint8)
        address = memory.ctypes.data
        return size, address + -address % _LINE, memory

    def give(self, block: Block) -> None:
        """Keep a block, and free others for it."""
        if block[0] > self.limit or not self._lock.acquire(blocking=False):
            return
        freed = []  # after the lock is released
        try:
            self._blocks.append(block)
            self.size += block[0]
            while self.size > self.limit or len(self._blocks) > _MOST:
                freed.append(self._blocks.pop(0))
                self.size -= freed[-1][0]
        finally:
            self._lock.release()


class _Loan:
    """A block as the base of one array."""

    __slots__ = ("__array_interface__", "_block", "_store")

    def __init__(self, store: _Store, block: Block, shape: tuple[int, ...], kind: Any) -> None:
        self._store, self._block = store, block
        self.__array_interface__ = {"data": (block[1], False), "shape": shape, "typestr": kind.str, "version": 3}

    def __del__(self) -> None:
        self._store.give(self._block)


store = _Store(_limit())


def _after_fork() -> None:
    """Replace the store in a forked child: a thread that the child does not have may hold its lock."""
    global store  # noqa: PLW0603  # one store per process
    store = _Store(store.limit)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def empty(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Return an array of any content, as ``np.empty`` does; a large one on a block."""
    dtype = np.dtype(kind)
    size = dtype.itemsize * math.prod(shape)
    if not LARGE <= size <= store.limit:
        return np.empty(shape, dtype)
    return np.asarray(_Loan(store, store.taken(size), shape, dtype))


def apart(arrays: Iterable[Any], places: Iterable[Any]) -> bool:
    """Return whether no array can share memory with a place; what is no array does not."""
    owned = [(y, _owner(y)) for y in places]
    for x in arrays:
        owner = _owner(x)
        for y, other in owned:
            if (owner is None or other is None or owner is other) and np.may_share_memory(x, y):
                return False
    return True


def _owner(x: Any) -> Any:
    """Return the object that alone owns the memory of an array, or None where that is not known."""
    if not isinstance(x, np.ndarray):
        return object()
    base: Any = x.base
    if base is None:
        return x if x.flags.owndata else None
    if type(base) is np.ndarray and not base.flags.owndata:
        base = base.base
    is_owner = base.flags.owndata if isinstance(base, np.ndarray) else isinstance(base, _Loan)
    return base if is_owner else None

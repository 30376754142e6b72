"""Tensors of PyTorch as arrays, and arguments as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.extras import extra


def torch_package() -> Any:
    """Return PyTorch; raise if it is not installed."""
    return extra("torch", "appell.interop.torch needs")


def typed(names: list[str], given: tuple[Any, ...]) -> list[Any]:
    """Return arguments as CPU tensors of one floating-point type: float32 if all floating-point tensors are."""
    torch = torch_package()
    tensors = [x if isinstance(x, torch.Tensor) else _from(name, x) for name, x in zip(names, given, strict=True)]
    for name, x in zip(names, tensors, strict=True):
        if x.device.type not in ("cpu", "meta"):
            raise InputError(f"{name}: expected a tensor on the CPU, got one on {x.device}; move it with .cpu()")
        if x.is_complex():
            raise InputError(f"{name}: expected real numbers, got {x.dtype}")
    kinds = {x.dtype for x, y in zip(tensors, given, strict=True) if x is y and x.is_floating_point()}
    kind = torch.float32 if kinds == {torch.float32} else torch.float64
    return [x.to(kind) for x in tensors]


def _from(name: str, x: Any) -> Any:
    try:
        array = np.asarray(x, dtype=float)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"{name}: expected a tensor or an array of numbers, got {type(x).__name__} ({error})"
        ) from None
    return torch_package().from_numpy(array if array.flags.writeable else array.copy())


def as_tensor(x: Any) -> Any:
    """Return a tensor of any argument."""
    torch = torch_package()
    return x if isinstance(x, torch.Tensor) else _from("dt", x)


def arrays_of(tensors: list[Any]) -> list[Any]:
    """Return tensors as NumPy arrays that share their memory."""
    return [x.detach().resolve_neg().numpy() for x in tensors]


def batched(tensors: Sequence[Any], axes: Sequence[int | None], size: int) -> list[Any]:
    """Return tensors with the axis of a vmap first."""
    pairs = zip(tensors, axes, strict=True)
    return [x.expand(size, *x.shape) if at is None else x.movedim(at, 0) for x, at in pairs]

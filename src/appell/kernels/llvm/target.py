"""What machine the native code is for: its name, its vectors, and LLVM's view of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from appell.errors import CompileError


@dataclass(frozen=True)
class Target:
    """A processor as LLVM names it.

    `features` is LLVM's comma-separated list; an empty list means what every processor of that name has. The width of
    vectors follows from it: 512 bits with AVX-512, 256 with AVX, else 128.
    """

    cpu: str
    features: str = ""

    @functools.cached_property
    def bits(self) -> int:
        """Return the width of the widest vectors to use."""
        on = {name[1:] for name in self.features.split(",") if name.startswith("+")}
        return 512 if "avx512f" in on else 256 if "avx2" in on else 128

    @property
    def registers(self) -> int:
        """Return how many vectors the processor holds."""
        return 32 if self.bits == 512 or "+neon" in self.features.split(",") else 16  # bits

    @property
    def has_fma(self) -> bool:
        """Return whether a product and a sum are one instruction with one rounding."""
        return "+fma" in self.features.split(",") or "+neon" in self.features.split(",")

    @property
    def is_amd(self) -> bool:
        """Return whether the processor is one of AMD's."""
        return self.cpu.startswith(("znver", "bdver", "btver"))

    @property
    def long_function(self) -> str:
        """Return the attribute for a function of thousands of steps: no scheduling after register allocation.

        LLVM runs that pass for AMD's models; its time grows with the square of the length, and long tapes run no
        faster for it.
        """
        return ' "tune-cpu"="skylake"' if "+avx2" in self.features else ""

    def lanes(self, bytes_per_scalar: int) -> int:
        """Return how many samples one vector holds; every kernel works on that many at once."""
        return self.bits // (8 * bytes_per_scalar)

    def machine(self) -> Any:
        """Return LLVM's code generator for this target."""
        _initialise()
        try:
            target = llvm.Target.from_default_triple()
            return target.create_target_machine(
                cpu=self.cpu, features=self.features, opt=2, reloc="default", codemodel="jitdefault"
            )
        except RuntimeError as error:
            raise CompileError(f"LLVM has no target '{self.cpu}' with features '{self.features}': {error}") from error


@functools.cache
def host() -> Target:
    """Return the machine that runs this process."""
    _initialise()
    features = llvm.get_host_cpu_features()
    return Target(
        llvm.get_host_cpu_name(), ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items()))
    )


@functools.cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()

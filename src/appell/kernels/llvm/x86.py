"""The arithmetic of a part as x86 instructions, which LLVM assembles as they are."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence

from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.llvm.schedule import CHOICES, Machine, MemorySlot, Operand
from appell.kernels.llvm.target import Target

BASES = {"shared": "%rdi", "own": "%rsi", "constant": "%rdx"}
"""The registers that hold the addresses of the memories."""
OUTPUTS = ("%rcx", "%r8", "%r9", "%r10", "%r11")
"""The registers that hold the addresses of outputs."""
FREE = ("%rax", "%rbx", "%r12", "%r13", "%r14", "%r15")
"""Further registers, for addresses inside memories."""
NEAR = 128
"""Vectors or constants on either side of an address that an instruction on 512 bits names with one byte."""
GREATER, DIFFERENT = 30, 12
"""Predicates of comparisons that are quiet on not-a-number, which does not fulfil them."""
SIGNED = 0x6C
"""The bits of b ^ (a & c), by those of a, b and c."""


def suits(target: Target) -> bool:
    """Return whether a target has the instructions: fused ones, and vectors of 256 or 512 bits."""
    return target.has_fma and target.bits > 128


class X86:
    """Spells instructions for vectors of some lanes."""

    def __init__(self, real: Real, target: Target) -> None:
        self.lanes = target.lanes(real.size)
        self.size, self.is_wide = self.lanes * real.size, target.bits == 512
        self._count = target.registers
        self._type, self._scalar = ("pd", "sd") if real.size == 8 else ("ps", "ss")
        self._integer, self._bits = "q" if real.size == 8 else "d", 8 * real.size
        self._name = "%zmm" if self.is_wide else "%ymm"
        self._step = real.size if self.is_wide else self.size
        self._mnemonics = dict.fromkeys(("load", "store", "copy"), f"vmova{self._type}")
        self._mnemonics["next"] = f"vpadd{self._integer}"
        self._spelled = functools.cache(self._operand)
        self._windows: dict[tuple[str, int], str] = {}

    def call(self, code: tuple[Machine, ...], lines: Sequence[tuple[int, int]] = ()) -> str:
        """Return the LLVM instruction that carries out some instructions on the memories at three addresses.

        Between them, lines are prefetched: those some bytes from the address of one of the outputs.
        """
        outputs = sorted({port for port, _ in lines})
        opened = self._open_windows(code, [*FREE, *(x for k, x in enumerate(OUTPUTS) if k not in outputs)])
        spelled = [line for machine in code for line in self._lines(machine)]
        length = len(spelled)
        for k, (port, at) in reversed([*enumerate(lines)]):
            spelled.insert(k * length // len(lines), f"prefetcht1 {at}({OUTPUTS[port]})")
        text = "\\0A".join([*opened, *spelled])
        clobbered = [f"~{{xmm{k}}}" for k in range(self._count)] + ["~{k1}"] * self.is_wide
        clobbered += ["~{memory}", "~{dirflag}", "~{fpsr}", "~{flags}"]
        clobbered += [f"~{{{name[1:]}}}" for name in self._windows.values()]
        taken = ",".join([f"{{{name[1:]}}}" for name in (*BASES.values(), *(OUTPUTS[k] for k in outputs))] + clobbered)
        given = ", ".join(["ptr %shared, ptr %own, ptr %k", *(f"ptr %to{k}" for k in outputs)])
        return f'call void asm sideeffect "{text}", "{taken}"({given})'

    def _open_windows(self, code: tuple[Machine, ...], registers: list[str]) -> list[str]:
        """Return the instructions that put addresses inside memories into registers, for shorter instructions.

        Long programs take as long as it takes to fetch them. An instruction on 512 bits has one byte for the distance
        from an address if that is at most :data:`NEAR` numbers, and four bytes otherwise.
        """
        if not self.is_wide:
            return []
        places = (x for _, operands in code for x in operands if isinstance(x, MemorySlot) and x.slot >= NEAR)
        counts = Counter((x.memory, (x.slot + NEAR) // (2 * NEAR)) for x in places)
        chosen = [window for window, count in counts.most_common(len(registers)) if count > 1]
        self._windows = dict(zip(chosen, registers, strict=False))
        return [
            f"leaq {2 * NEAR * index * self._step_of(memory)}({BASES[memory]}), {register}"
            for (memory, index), register in self._windows.items()
        ]

    def _lines(self, machine: Machine) -> Sequence[str]:
        code, operands = machine
        names = [self._spelled(x) for x in operands]
        if code == "flip":
            return [*self._flip(names[0], *names[2:])]
        if code in CHOICES:
            return [*self._choice(code, *names)]
        source = operands[-1]
        if code == "load" and isinstance(source, MemorySlot) and source.memory == "constant" and self.is_wide:
            return (f"vbroadcast{self._scalar} {self._address(source)}, {names[0]}",)
        names.reverse()
        return (f"{self._mnemonics.get(code) or f'v{code}{self._type}'} {', '.join(names)}",)

    def _choice(self, code: str, to: str, spare: str, *given: str) -> Iterator[str]:
        """Yield a choice: by a mask register, or by a mask in the spare register."""
        kind = self._type
        mask = "%k1" if self.is_wide else spare
        if code == "sign":  # of numbers other than zero, 1 with their sign
            x, minus_zero, one, zero = given
            yield f"{self._bitwise('and')} {minus_zero}, {x}, {to}"
            yield f"{self._bitwise('or')} {one}, {to}, {to}"
            yield f"vcmp{kind} $${DIFFERENT}, {zero}, {x}, {mask}"
            chosen, other = to, x
        elif code == "select":
            x, chosen, other, zero = given
            yield f"vcmp{kind} $${GREATER}, {zero}, {x}, {mask}"
        else:  # the second of two where an integer is odd
            x, other, chosen, one = given
            yield (
                f"vptestm{self._integer} {one}, {x}, {mask}"
                if self.is_wide
                else f"vpsll{self._integer} $${self._bits - 1}, {x}, {mask}"
            )
        if self.is_wide:
            yield f"vblendm{kind} {chosen}, {other}, {to} {{%k1}}"
        else:
            yield f"vblendv{kind} {mask}, {chosen}, {other}, {to}"

    def _flip(self, to: str, x: str, quadrant: str, minus_zero: str) -> Iterator[str]:
        """Yield a change of sign by the second lowest bit of an integer."""
        yield f"vpsll{self._integer} $${self._bits - 2}, {quadrant}, {to}"
        if self.is_wide:
            yield f"vpternlog{self._integer} $${SIGNED}, {minus_zero}, {x}, {to}"
        else:
            yield f"vand{self._type} {minus_zero}, {to}, {to}"
            yield f"vxor{self._type} {x}, {to}, {to}"

    def _bitwise(self, operation: str) -> str:
        return f"vp{operation}q" if self.is_wide else f"v{operation}{self._type}"

    def _operand(self, operand: Operand) -> str:
        if not isinstance(operand, MemorySlot):
            return f"{self._name}{operand}"
        spread = f"{{1to{self.lanes}}}" if operand.memory == "constant" and self.is_wide else ""
        return self._address(operand) + spread

    def _address(self, place: MemorySlot) -> str:
        step, index = self._step_of(place.memory), (place.slot + NEAR) // (2 * NEAR)
        register = self._windows.get((place.memory, index))
        if register is None:
            return f"{place.slot * step}({BASES[place.memory]})"
        return f"{(place.slot - 2 * NEAR * index) * step}({register})"

    def _step_of(self, memory: str) -> int:
        return self._step if memory == "constant" else self.size

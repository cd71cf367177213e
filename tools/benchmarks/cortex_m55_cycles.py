"""Cycles of a Cortex-M55, estimated from an emulator's executed instructions.

The model. The core executes 64 bits of a vector instruction in a cycle (dual-beat Helium), so one
of 128 bits takes two; it has a unit each for loads and stores, for multiplication and for the rest,
and begins a vector instruction while another unit works on the second half of the one before.
Therefore:

    vector instruction                      1 before one of another unit, else 2
    gather, scatter                         one for each lane
    scalar instruction, VPST                1
    load or store of several registers      one for two registers, as memory is 64 bits wide
    division                                8
    branch that is taken, call, return      2
    LE, LETP                                0, as the branch is known, and the loop's ends overlap; DLS, WLS 1

Waits for results and for memory are not modelled: the sum is the least time that the instructions
can take. That favours no library's kernels as long as results are not used at once; use ratios of
it, not times. The rules are from Arm's public descriptions of the core and of Helium; the
optimisation guide was not available.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Unit = Literal["load", "multiply", "other", "scalar"]

_LINE = re.compile(r"^ *([0-9a-f]+):\t(\S+)(?:\t([^@<;\n]*))?", re.MULTILINE)
_MULTIPLICATIONS = re.compile(r"v(q?r?d?mul|q?r?d?mla|q?r?d?mls|mull|fma|fms|rml|ml[as])")
_MEMORY = re.compile(r"v(ld|st)")
_BRANCHES = re.compile(r"b|b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al|hs|lo)|bl|bx|blx|cbn?z|tb[bh]|w?lstp|wls")
_LANES = {"8": 16, "16": 8, "32": 4, "64": 2}
_DIVISION_CYCLES = 8
_NOWHERE = -1


@dataclass(frozen=True)
class Instruction:
    """An instruction of a program.

    Attributes:
        unit: Unit that executes it.
        cycles: Cycles, unless it branches, and with one of another unit behind it.
        next: Address behind it.
        branches: It may branch.
        loops: It is LE or LETP.
    """

    unit: Unit
    cycles: int
    next: int
    branches: bool = False
    loops: bool = False


@dataclass(frozen=True)
class Cost:
    """The cost of a run of instructions."""

    instructions: int
    cycles: int


def disassembled(elf: Path) -> dict[int, Instruction]:
    """Return the instructions of a program by address."""
    command = ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", "-m", "armv8.1-m.main", str(elf)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = _LINE.findall(text)
    addresses = [int(address, 16) for address, _, _ in found]
    following = [*addresses[1:], 0]
    return {
        address: _instruction(mnemonic, operands.strip(), after)
        for address, after, (_, mnemonic, operands) in zip(addresses, following, found, strict=True)
    }


def _instruction(mnemonic: str, operands: str, after: int) -> Instruction:
    name, _, width = mnemonic.partition(".")
    if not name.startswith("v") or not re.search(r"\bq\d", operands):
        branches = _BRANCHES.fullmatch(name) is not None or "pc" in operands
        return Instruction("scalar", _scalar_cycles(name, operands), after, branches, name in ("le", "letp"))
    if _MEMORY.match(name):
        gathers = re.search(r"\[[^\]]*\bq\d", operands) is not None
        return Instruction("load", _LANES[re.sub(r"\D", "", width)] if gathers else 1, after)
    return Instruction("multiply" if _MULTIPLICATIONS.match(name) else "other", 1, after)


def _scalar_cycles(name: str, operands: str) -> int:
    if name in ("le", "letp"):
        return 0
    if name.startswith(("udiv", "sdiv", "vdiv", "vsqrt")):
        return _DIVISION_CYCLES
    if name.startswith(("ldm", "stm", "push", "pop", "vpush", "vpop", "vldm", "vstm")):
        return max(1, (_registers(operands) + 1) // 2)
    return 1


def _registers(operands: str) -> int:
    """Return the number of registers of a list in braces; d registers count twice."""
    listed = re.search(r"{(.*)}", operands)
    count = 0
    for part in listed[1].split(",") if listed else ():
        first, _, last = part.strip().partition("-")
        numbers = [int(digits) for digits in re.findall(r"\d+", f"{first} {last}")]
        many = numbers[1] - numbers[0] + 1 if len(numbers) > 1 else 1
        count += many * (2 if first.startswith("d") else 1)
    return count


def cost(executed: Iterable[int], program: Mapping[int, Instruction], counted: Container[int]) -> Cost:
    """Return the cost of executed instructions.

    Args:
        executed: Addresses in the order of execution.
        program: Instructions by address.
        counted: Addresses of the measured code.
    """
    pairs: Counter[tuple[int, int]] = Counter()
    loops = {address for address, instruction in program.items() if instruction.loops}
    before, instructions = _NOWHERE, 0
    for address in executed:
        if address in loops:
            instructions += address in counted
        else:
            pairs[before, address] += 1
            before = address
    cycles = 0
    for (first, second), times in pairs.items():
        if first in counted:
            instructions += times
            cycles += times * _cycles(program[first], second, program.get(second))
    return Cost(instructions, cycles)


def _cycles(instruction: Instruction, following: int, after: Instruction | None) -> int:
    if instruction.unit == "scalar":
        return 2 if instruction.branches and following != instruction.next else instruction.cycles
    overlaps = after is not None and after.unit not in ("scalar", instruction.unit)
    return instruction.cycles if overlaps else max(2, instruction.cycles)

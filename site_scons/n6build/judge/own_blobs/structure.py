"""Checks of the form of blobs, independent of their results.

Every instruction must be one that n6build's compiler writes, for registers and bits that exist, and
each epoch must leave the units as it found them. The model of the NPU does not check this: it
accepts any bit in a register.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from n6build.base.errors import N6Error
from n6build.compile.neural_art.blocks import Block
from n6build.compile.neural_art.program import INTERVAL
from n6build.describe.hardware.npu import Npu
from n6build.describe.hardware.soc import field_bits
from n6build.judge.npu.blobs import blob_of_words
from n6build.judge.npu.disassemble import Instruction, Label, Poll, Write, WriteSeries, instructions
from n6build.judge.npu.names import Names, names_of

_WORD = 0xFFFF_FFFF
_HEADER_WORDS = 2
_TABLE = "COEFF"


def require_structure(blocks: Sequence[Block], npu: Npu) -> None:
    """Check the form of blobs.

    Raises:
        N6Error: N6-NPU-015 for the first instruction that n6build's compiler does not write;
            N6-NPU-002, N6-NPU-003.
    """
    names = names_of(npu)
    for block in blocks:
        blob = blob_of_words(block.words, block.blob.name)
        behind = block.words[_HEADER_WORDS + len(blob.words) :]
        if any(behind):
            raise _wrong(block, len(block.words) - 1, "words behind the end are not 0")
        wanted = block.blob.first
        for instruction in instructions(blob):
            if isinstance(instruction, Label):
                if instruction.number != wanted:
                    raise _wrong(block, instruction.at, f"epoch {instruction.number} follows epoch {wanted - 1}")
                wanted += 1
            for what in _objections(instruction, names):
                raise _wrong(block, instruction.at, what)
        if wanted != block.blob.last + 1:
            raise _wrong(block, 0, f"ends behind epoch {wanted - 1}, not {block.blob.last}")


def _objections(instruction: Instruction, names: Names) -> Iterator[str]:
    match instruction:
        case Poll():
            if (instruction.interval, instruction.value, instruction.low) != (INTERVAL, 0, instruction.high):
                yield "a poll waits for something else than one bit to become 0"
            yield from _unknown(names, instruction.unit, instruction.offset, 1 << instruction.low)
        case Write():
            whole = (instruction.low, instruction.high) == (0, 31) and not instruction.immediate
            one_bit = instruction.immediate and instruction.low == instruction.high and instruction.value in (0, 1)
            if not (whole or one_bit):
                yield "a write is neither of a whole register nor of one bit"
            if one_bit and names.register_name(instruction.unit, instruction.offset) == "CLKCTRL.BGATES":
                return
            yield from _unknown(names, instruction.unit, instruction.offset, instruction.value << instruction.low)
        case WriteSeries(unit=unit, offset=offset, step=step, values=values):
            for place, value in enumerate(values):
                yield from _unknown(names, unit, offset + place * step, value)


def _unknown(names: Names, unit: int, offset: int, value: int) -> Iterator[str]:
    """Yield a message for a register that does not exist, or for bits that it lacks."""
    found = names.register(unit, offset)
    if found is None:
        yield f"{names.register_name(unit, offset)} is not a register of the chip's description"
        return
    if found.name.startswith(_TABLE):
        return
    mask = 0
    for bits in found.register.fields.values():
        mask |= field_bits(bits)[1]
    if more := value & ~mask & _WORD:
        yield f"{names.register_name(unit, offset)} gets bits 0x{more:08X}, which it does not have"


def _wrong(block: Block, at: int, what: str) -> N6Error:
    hint = "compile the network again: the blob is damaged or its compiler is faulty; nothing was programmed"
    return N6Error("N6-NPU-015", what, where=f"{block.blob.name}, word {at + _HEADER_WORDS}", hint=hint)

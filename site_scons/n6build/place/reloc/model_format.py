"""The file of a relocatable model, reloc API 8.0, as ST's public loader reads it.

The format (ll_aton_reloc_network.h) consists of words of 32 bits, little endian. The ELF is linked
at fake addresses: bits 31..28 name the segment, bits 27..0 are the offset in it. All modules take
their knowledge of the format from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from n6build.compile.ll_aton import Version
from n6build.describe.hardware.cpu import CORTEX_M55
from n6build.describe.relocatable_file import NBIN

WORD = 4
MAGIC = int.from_bytes(NBIN, "little")
API = (8, 0)
# This alignment holds for the read-only part, the data image, the table of relocations and a pool in the weights' file.
ALIGNMENT = 8
# The linker aligns the read-only part to this, so that the data behind it keeps an alignment up to this in copy mode.
READ_ONLY_ALIGNMENT = 64
OFFSET_MASK = 0x0FFF_FFFF
# Cached pools are behind an XSPI (the loader requires params and external RAM to be above).
EXTERNAL_MEMORY = 0x6000_0000
MAX_POOLS = 9


class Segment(IntEnum):
    """The segment of a link address, in its bits 31..28."""

    NULL = 0x0
    FLASH = 0x2
    RAM = 0x4
    PARAM_0 = 0x8
    PARAM_1 = 0x9

    @property
    def origin(self) -> int:
        """Link address of the segment's first byte."""
        return self << 28


# Words 0 to 12 of the header, in their order. `params_offset` is a plain offset, 0 if the weights are a separate file.
HEADER_FIELDS = (
    "magic",
    "flags",
    "data_start",
    "data_end",
    "data_image",
    "bss_start",
    "bss_end",
    "got_start",
    "got_end",
    "rel_start",
    "rel_end",
    "pools",
    "params_offset",
)
FIXED_HEADER_BYTES = WORD * len(HEADER_FIELDS)
REL_START_WORD = HEADER_FIELDS.index("rel_start")
REL_END_WORD = HEADER_FIELDS.index("rel_end")
PARAMS_OFFSET_WORD = HEADER_FIELDS.index("params_offset")

ENTRIES = (
    "ec_network_init",
    "ec_inference_init",
    "input_setter",
    "input_getter",
    "output_setter",
    "output_getter",
    "epoch_items",
    "output_buffers_info",
    "input_buffers_info",
    "internal_buffers_info",
)
# These entry points exist from ll_aton 1.1.3 on.
ENCRYPTION_ENTRIES = ("weight_encryption_info", "blob_encryption_info")

CONTEXT_FIELDS = (
    "state",
    "file",
    "ram",
    "rom",
    "callbacks",
    "name",
    "activation_bytes",
    "params_bytes",
    "external_ram_bytes",
    "version_text",
    "version",
    "version_dev",
    "params_file_bytes",
    "params_file_crc32",
    "instance",
    "interface",
)
# From ll_aton 1.1.1 on: sizeof(LL_Buffer_InfoTypeDef) | sizeof(epoch block item) << 8, in front of `instance`.
STRUCT_SIZES_FIELD = "struct_sizes"
STRUCT_SIZES = {True: 0x3038, False: 0x1438}  # by whether the epoch table has debug fields


@dataclass(frozen=True)
class Abi:
    """One of the four ABIs, all of which have the number 8.0.

    Attributes:
        core: release of ST Edge AI Core.
    """

    letter: str
    core: str
    entries: tuple[str, ...]
    context_fields: tuple[str, ...]

    @property
    def header_bytes(self) -> int:
        """Bytes of the fixed words, the entry points and the context's address."""
        return FIXED_HEADER_BYTES + WORD * (len(self.entries) + 1)

    @property
    def context_word(self) -> int:
        """Index in the header of the word with the link address of the context."""
        return len(HEADER_FIELDS) + len(self.entries)

    @property
    def context_bytes(self) -> int:
        """Bytes of the context, one word for each field."""
        return WORD * len(self.context_fields)


def _context(*, has_struct_sizes: bool) -> tuple[str, ...]:
    at = CONTEXT_FIELDS.index("instance")
    return (*CONTEXT_FIELDS[:at], STRUCT_SIZES_FIELD, *CONTEXT_FIELDS[at:]) if has_struct_sizes else CONTEXT_FIELDS


ABI_A = Abi("A", "2.1", ENTRIES, _context(has_struct_sizes=False))
ABI_B = Abi("B", "2.2", ENTRIES, _context(has_struct_sizes=True))
ABI_C = Abi("C", "3.0", (*ENTRIES, *ENCRYPTION_ENTRIES), ABI_B.context_fields)
ABI_D = Abi("D", "4.0", ABI_C.entries, ABI_B.context_fields)
# The last number of 1.1.3 distinguishes C from D, and the loader ignores it.
_FIRST_D = (1, 1, 3, 262)


def abi_of(version: Version) -> Abi:
    """Return the ABI of a model that was compiled with this ll_aton.

    Versions older than any relocatable model count as the first.
    """
    if version >= _FIRST_D:
        return ABI_D
    if version[:3] >= (1, 1, 3):
        return ABI_C
    return ABI_B if version[:3] >= (1, 1, 1) else ABI_A


def version_words(version: Version) -> tuple[int, int]:
    """Return (major, minor and micro as the context holds them, the dev number)."""
    major, minor, micro, dev = version
    return major << 24 | minor << 16 | micro << 8, dev


def version_of(word: int, dev: int) -> Version:
    """Return the version of the words that `version_words` makes."""
    return word >> 24, word >> 16 & 0xFF, word >> 8 & 0xFF, dev


class Flags(NamedTuple):
    """Word 1 of the header.

    Attributes:
        toolchain: 8 GCC, 9 LLVM, 10 ST's clang.
        fp_abi: 0 soft, 1 softfp, 2 hard.
        cpu: CPUID part number.
    """

    api: tuple[int, int]
    asynchronous: bool
    debug_info: bool
    secure: bool
    toolchain: int
    fp_abi: int
    fpu: bool
    cpu: int

    @classmethod
    def of(cls, word: int) -> Flags:
        """Return the flags of word 1 of the header."""
        return cls(
            api=(word >> 28, word >> 24 & 0xF),
            asynchronous=bool(word >> 22 & 1),
            debug_info=bool(word >> 21 & 1),
            secure=bool(word >> 20 & 1),
            toolchain=word >> 16 & 0xF,
            fp_abi=word >> 13 & 0x3,
            fpu=bool(word >> 12 & 1),
            cpu=word & 0xFFF,
        )

    @property
    def word(self) -> int:
        """The flags as word 1 of the header."""
        bits = self.asynchronous << 22 | self.debug_info << 21 | self.secure << 20 | self.fpu << 12
        return self.api[0] << 28 | self.api[1] << 24 | bits | self.toolchain << 16 | self.fp_abi << 13 | self.cpu

    @property
    def text(self) -> str:
        """The flags as text: CPU, float ABI, tool-chain, security state, mode."""
        cpu = "Cortex-M55" if self.cpu == CORTEX_M55.part else f"CPU 0x{self.cpu:03X}"
        fpu = {0: "soft", 1: "softfp", 2: "hard"}.get(self.fp_abi, "?") if self.fpu else "no FPU"
        chain = {8: "GCC", 9: "LLVM", 10: "ST clang"}.get(self.toolchain, f"tool-chain {self.toolchain}")
        parts = [cpu, f"float {fpu}" if self.fpu else fpu, chain, "secure" if self.secure else "non-secure"]
        parts += ["asynchronous" if self.asynchronous else "polling"]
        return ", ".join([*parts, "debug fields"] if self.debug_info else parts)


class PoolType(IntEnum):
    """The loader's action for a pool.

    RELOC finds a place for its segment, COPY copies its content to its address, RESET clears it.
    """

    RELOC = 1
    COPY = 2
    RESET = 3


class PoolContent(IntEnum):
    """The content of a pool: weights, activations, or both."""

    PARAM = 1
    ACTIV = 2
    MIXED = 3


READ, WRITE, CACHED = 1, 2, 4


@dataclass(frozen=True)
class PoolDescriptor:
    """A memory pool of a model.

    Attributes:
        id: of a RELOC pool, 0 for the weights, 1 for the external RAM.
        foff: offset in the weights' file, in bytes.
        destination: address of a pool that is not relative.
        size: bytes that are used, from the pool's base.
    """

    name: str
    type: PoolType
    content: PoolContent
    attributes: int
    id: int
    foff: int
    destination: int
    size: int

    @property
    def flags(self) -> int:
        """The word in the file: type, content, attributes and id, highest byte first."""
        return self.type << 24 | self.content << 16 | self.attributes << 8 | self.id

    @property
    def flags_text(self) -> str:
        """The flags as ST's tools write them: RELOC.PARAM.0.RCACHED, RESET.ACTIV.WRITE."""
        attribute = "WRITE" if self.attributes & WRITE else "READ"
        if self.attributes & CACHED:
            attribute = f"{attribute[0]}CACHED"
        number = [str(self.id)] if self.type is PoolType.RELOC else []
        return ".".join([self.type.name, self.content.name, *number, attribute])


def up(value: int, alignment: int = ALIGNMENT) -> int:
    """Return `value` rounded up to a multiple of `alignment`, both in bytes."""
    return -(-value // alignment) * alignment


def segment(address: int) -> int:
    """Return bits 31..28 of a link address."""
    return address >> 28


def offset(address: int) -> int:
    """Return bits 27..0 of a link address, in bytes."""
    return address & OFFSET_MASK

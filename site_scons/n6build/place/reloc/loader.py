"""The loader of a firmware, ST's ll_aton_reloc_install(), step by step on bytes.

Order, results and refusals are those of the public sources, compared with the loaders themselves
(tests/reloc/test_real_loaders.py). None of the loaders checks the range of the places that it
rebases: it installs a model with a place outside its own memory, and overwrites other memory. ABI
differences: the oldest loader compares no struct sizes, refuses a model of the other security
state, and takes every place in the table of relocations for RAM.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Literal

from n6build.compile.ll_aton import Version
from n6build.describe.hardware.cpu import CORTEX_M55
from n6build.place.reloc.model_format import (
    API,
    CACHED,
    EXTERNAL_MEMORY,
    MAGIC,
    STRUCT_SIZES,
    STRUCT_SIZES_FIELD,
    WORD,
    WRITE,
    PoolContent,
    PoolDescriptor,
    PoolType,
    Segment,
    abi_of,
    offset,
    segment,
    up,
    version_words,
)
from n6build.place.reloc.reader import RelocFile

Mode = Literal["xip", "copy"]
_MOST_RAM = 16 << 20
INVALID, MEMORY, PARAM_ADDRESS, PARAM_DESCRIPTOR = -1, -2, -7, -8


@dataclass(frozen=True)
class Firmware:
    """A firmware that installs a model: its runtime, and how the runtime was compiled."""

    version: Version
    secure: bool = True
    debug_info: bool = True
    asynchronous: bool = True
    cpu: int = CORTEX_M55.part
    fpu_on: bool = True


@dataclass(frozen=True)
class Placement:
    """Addresses, and sizes in bytes, that an application gives a loader.

    Attributes:
        params: address of weights in a separate file, otherwise 0.
    """

    file: int
    exec_ram: int
    exec_ram_bytes: int
    ext_ram: int = 0
    ext_ram_bytes: int = 0
    params: int = 0
    mode: Mode = "copy"
    clear: bool = False


@dataclass(frozen=True)
class Refusal(Exception):
    """The refusal of a model by a loader.

    Attributes:
        code: return value of the loader.
        why: the reason.
    """

    code: int
    why: str

    def __str__(self) -> str:
        return f"{self.why} (the loader returns {self.code})"


@dataclass(frozen=True)
class PoolWrite:
    """A write of the loader to memory: a copy of weights, or zeros.

    Attributes:
        bytes: number of bytes that are written.
        offset_in_params: offset of the copied bytes in the weights; None for zeros.
    """

    address: int
    bytes: int
    offset_in_params: int | None


@dataclass(frozen=True)
class Installed:
    """An installed model.

    Attributes:
        rom: address at which the code runs.
        ram: address of the data.
        ram_image: RAM after the installation.
        pool_writes: writes to memory pools, in order, before that.
        bases: addresses of the segments.
        strays: places of the table of relocations outside the model's RAM; the loader returns 0 if
            the word there is 0, or has the form of a link address, which it replaces.
    """

    rom: int
    ram: int
    ram_image: bytes
    pool_writes: tuple[PoolWrite, ...]
    bases: dict[Segment, int]
    warnings: tuple[str, ...] = field(default=())
    strays: tuple[int, ...] = field(default=())

    def word(self, link_address: int) -> int:
        """Return the word of RAM at a link address."""
        (word,) = struct.unpack_from("<I", self.ram_image, offset(link_address))
        return int(word)


def install(model: RelocFile, firmware: Firmware, placement: Placement) -> Installed:
    """Return the memory that the loader leaves; raise Refusal if it refuses the model."""
    warnings = _check_compatible(model, firmware, placement)
    _check_memory(model, placement)
    bases, writes = _place_pools(model, placement)
    copies = placement.mode == "copy"
    rom = placement.exec_ram if copies else placement.file
    ram = placement.exec_ram + model.read_only_bytes if copies else placement.exec_ram
    if copies and model.read_only_bytes % 8:
        # From ABI B on the copy ends there, and the data behind it is then misaligned.
        warnings.append(f"the read-only part has {model.read_only_bytes} bytes, not a multiple of 8")
    bases |= {Segment.FLASH: rom, Segment.RAM: ram}
    # The executable RAM holds data and bss, in copy mode behind the code.
    memory = bytearray(model.data[0 if copies else model.read_only_bytes : model.read_only_bytes + model.image_bytes])
    memory += bytes(offset(model.header["bss_end"]) - model.image_bytes)
    data = model.read_only_bytes if copies else 0
    for address in model.got:
        _rebase(memory, data + offset(address), bases, f"GOT word 0x{address:08X}")
    strays = []
    for address in model.relocations:
        what = f"relocation of 0x{address:08X}"
        in_code = segment(address) == Segment.FLASH and abi_of(firmware.version).letter != "A"
        if in_code and not copies:
            raise Refusal(INVALID, f"{what} in code, which only models of clang have")
        # The loader takes any other segment for RAM.
        if not _rebase(memory, offset(address) + (0 if in_code else data), bases, what):
            strays.append(address)
    return Installed(rom, ram, bytes(memory[data:]), tuple(writes), bases, tuple(warnings), tuple(strays))


def _check_compatible(model: RelocFile, firmware: Firmware, placement: Placement) -> list[str]:
    warnings = []
    flags, own, abi = model.flags, firmware, abi_of(firmware.version)
    if model.header["magic"] != MAGIC or placement.file % WORD:
        raise Refusal(INVALID, "no model at an address that is a multiple of 4")
    # The loader refuses only if both numbers differ, and accepts any difference in one of them.
    if flags.api[0] != API[0] and flags.api[1] != API[1]:
        raise Refusal(INVALID, f"reloc API {flags.api[0]}.{flags.api[1]} instead of {API[0]}.{API[1]}")
    if flags.cpu != own.cpu:
        raise Refusal(INVALID, f"compiled for CPU 0x{flags.cpu:03X}, but this is 0x{own.cpu:03X}")
    if flags.fpu and not own.fpu_on:
        raise Refusal(INVALID, "the FPU is off")
    if flags.secure and not own.secure:
        raise Refusal(INVALID, "a secure model in a non-secure firmware")
    if own.secure and not flags.secure:
        if abi.letter == "A":
            raise Refusal(INVALID, "a non-secure model in a secure firmware")
        warnings.append("a non-secure model in a secure firmware")
    if flags.debug_info != own.debug_info:
        raise Refusal(INVALID, "model and firmware differ in the debug fields of the epoch table (LL_ATON_EB_DBG_INFO)")
    if flags.asynchronous != own.asynchronous:
        raise Refusal(INVALID, "model and firmware differ in polling and waiting for events (LL_ATON_RT_MODE)")
    if model.context["version"] >> 8 != version_words(own.version)[0] >> 8:
        raise Refusal(INVALID, f"ll_aton {_text(model.version)}, but the firmware has {_text(own.version)}")
    if abi.letter != "A" and model.context[STRUCT_SIZES_FIELD] != STRUCT_SIZES[own.debug_info]:
        sizes = model.context[STRUCT_SIZES_FIELD]
        raise Refusal(INVALID, f"struct sizes 0x{sizes:04X}, but the firmware has 0x{STRUCT_SIZES[own.debug_info]:04X}")
    return warnings


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}.{version[2]}-{version[3]}"


def _check_memory(model: RelocFile, placement: Placement) -> None:
    needed = model.copy_bytes if placement.mode == "copy" else model.xip_bytes
    if model.xip_bytes > _MOST_RAM:
        raise Refusal(MEMORY, f"{model.xip_bytes} bytes of data, more than any STM32N6 has")
    if placement.exec_ram == 0 or placement.exec_ram_bytes < needed:
        raise Refusal(
            MEMORY, f"{needed} bytes of executable RAM are needed, but {placement.exec_ram_bytes} are available"
        )
    if placement.ext_ram % WORD:
        raise Refusal(PARAM_ADDRESS, f"external RAM at 0x{placement.ext_ram:08X}")
    if placement.exec_ram % WORD:
        raise Refusal(MEMORY, f"executable RAM at 0x{placement.exec_ram:08X}")


def _place_pools(model: RelocFile, placement: Placement) -> tuple[dict[Segment, int], list[PoolWrite]]:
    params = placement.params or (placement.file + model.params_offset if model.params_offset else 0)
    if not params:
        raise Refusal(PARAM_ADDRESS, "the model file has no weights, and no address for them was passed")
    if params % WORD:
        raise Refusal(PARAM_ADDRESS, f"weights at 0x{params:08X}, not a multiple of 4")
    # The segments have these addresses whether the model has pools there or not.
    bases: dict[Segment, int] = {Segment.PARAM_0: params, Segment.PARAM_1: placement.ext_ram}
    writes: list[PoolWrite] = []
    for pool in model.pools:
        length = up(pool.size)
        if pool.type is PoolType.RELOC:
            _place_segment(pool, placement, params, bases, writes)
        elif pool.type is PoolType.COPY:
            writes.append(PoolWrite(pool.destination, length, pool.foff))
        elif placement.clear:
            writes.append(PoolWrite(pool.destination, length, None))
    return bases, writes


def _place_segment(
    pool: PoolDescriptor, placement: Placement, params: int, bases: dict[Segment, int], writes: list[PoolWrite]
) -> None:
    is_cached = bool(pool.attributes & CACHED)
    if pool.id == 0:
        if is_cached and params <= EXTERNAL_MEMORY:
            raise Refusal(PARAM_ADDRESS, f"weights at 0x{params:08X}, which is not external memory")
        if pool.content is PoolContent.MIXED or pool.attributes & WRITE:
            raise Refusal(PARAM_DESCRIPTOR, f"pool {pool.name} is writable, but is placed with the weights")
        if pool.content is PoolContent.PARAM:
            bases[Segment.PARAM_0] = params + pool.foff
        return
    if pool.id != 1:
        raise Refusal(PARAM_DESCRIPTOR, f"pool {pool.name} has the segment {pool.id}")
    if is_cached and placement.ext_ram <= EXTERNAL_MEMORY:
        raise Refusal(PARAM_ADDRESS, f"external RAM at 0x{placement.ext_ram:08X}, which is not external memory")
    if placement.ext_ram == 0 or placement.ext_ram_bytes < up(pool.size):
        raise Refusal(
            PARAM_ADDRESS, f"{pool.size} bytes of external RAM are needed, but {placement.ext_ram_bytes} are available"
        )
    if pool.content is PoolContent.MIXED:
        writes.append(PoolWrite(placement.ext_ram, up(pool.size), pool.foff))
    elif pool.content is PoolContent.ACTIV and placement.clear:
        writes.append(PoolWrite(placement.ext_ram, up(pool.size), None))


def _rebase(memory: bytearray, at: int, bases: dict[Segment, int], what: str) -> bool:
    """Rebase a word, and return whether it is inside the memory.

    Args:
        at: offset in bytes, of any alignment.
    """
    if at + WORD > len(memory):
        return False
    (word,) = struct.unpack_from("<I", memory, at)
    if word == 0:
        return True
    if segment(word) not in bases:
        raise Refusal(INVALID, f"{what} is 0x{word:08X}, which is in no segment")
    struct.pack_into("<I", memory, at, (bases[Segment(segment(word))] + offset(word)) & 0xFFFF_FFFF)
    return True

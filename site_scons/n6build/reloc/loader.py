"""The loader of a firmware, step by step, on bytes: what ST's ll_aton_reloc_install() does, and where it refuses.

Order and results are those of the public sources. ABI differences: the oldest loader compares no struct sizes, refuses a
model of the other security state, and takes every place in the table of relocations for RAM.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Literal

from n6build.hardware.cpu import CORTEX_M55
from n6build.network.ll_aton import Version
from n6build.reloc.layout import (
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
from n6build.reloc.reader import RelocFile

Mode = Literal["xip", "copy"]
_MOST_RAM = 16 << 20
INVALID, MEMORY, PARAM_ADDRESS, PARAM_DESCRIPTOR = -1, -2, -7, -8


@dataclass(frozen=True)
class Firmware:
    """The firmware that installs a model: its runtime, and how that was compiled."""

    version: Version
    secure: bool = True
    debug_info: bool = True
    asynchronous: bool = True
    cpu: int = CORTEX_M55.part
    fpu_on: bool = True


@dataclass(frozen=True)
class Placement:
    """Addresses and sizes in bytes that an application gives a loader. params: of weights in a separate file, otherwise 0."""

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
    """code: what the loader returns. why: what it objects to."""

    code: int
    why: str

    def __str__(self) -> str:
        return f"{self.why} (the loader returns {self.code})"


@dataclass(frozen=True)
class PoolWrite:
    """What the loader does with memory at an address: copies `bytes` from the weights, or clears them where the offset is
    None."""

    address: int
    bytes: int
    offset_in_params: int | None


@dataclass(frozen=True)
class Installed:
    """rom, ram: where code and data run. ram_image: RAM afterwards. pool_writes: before that, in order. bases: of the
    segments."""

    rom: int
    ram: int
    ram_image: bytes
    pool_writes: tuple[PoolWrite, ...]
    bases: dict[Segment, int]
    warnings: tuple[str, ...] = field(default=())

    def word(self, link_address: int) -> int:
        """The word of RAM at a link address."""
        (word,) = struct.unpack_from("<I", self.ram_image, offset(link_address))
        return int(word)


def install(model: RelocFile, firmware: Firmware, placement: Placement) -> Installed:
    """What the loader leaves in memory. Raises Refusal where it does not accept the model."""
    warnings = _check_compatible(model, firmware, placement)
    _check_memory(model, placement)
    bases, writes = _place_pools(model, placement)
    copies = placement.mode == "copy"
    rom = placement.exec_ram if copies else placement.file
    ram = placement.exec_ram + model.read_only_bytes if copies else placement.exec_ram
    if copies and model.read_only_bytes % 8:
        # From B on the copy ends there, and what follows it is then misaligned.
        warnings.append(f"the read-only part has {model.read_only_bytes} bytes, not a multiple of 8")
    bases |= {Segment.FLASH: rom, Segment.RAM: ram}
    image = bytearray(model.data[model.read_only_bytes : model.read_only_bytes + model.image_bytes])
    if model.xip_bytes > _MOST_RAM:
        raise Refusal(INVALID, f"{model.xip_bytes} bytes of data, more than any STM32N6 has")
    image += bytes(offset(model.header["bss_end"]) - model.image_bytes)
    for address in model.got:
        _rebase(image, offset(address), bases, f"GOT word 0x{address:08X}")
    is_oldest = abi_of(firmware.version).letter == "A"
    for address in model.relocations:
        if segment(address) == Segment.FLASH and not is_oldest:
            raise Refusal(INVALID, f"relocation of 0x{address:08X} in code, which is for models of clang")
        if not is_oldest and segment(address) != Segment.RAM:
            raise Refusal(INVALID, f"relocation of 0x{address:08X}, which is in no segment that is written")
        _rebase(image, offset(address), bases, f"relocation of 0x{address:08X}")
    return Installed(rom, ram, bytes(image), tuple(writes), bases, tuple(warnings))


def _check_compatible(model: RelocFile, firmware: Firmware, placement: Placement) -> list[str]:
    warnings = []
    flags, own, abi = model.flags, firmware, abi_of(firmware.version)
    if model.header["magic"] != MAGIC or placement.file % WORD:
        raise Refusal(INVALID, "no model at an address that is a multiple of 4")
    # Only where both differ; what differs in one of them is accepted, whatever it is.
    if flags.api[0] != API[0] and flags.api[1] != API[1]:
        raise Refusal(INVALID, f"reloc API {flags.api[0]}.{flags.api[1]}, {API[0]}.{API[1]} is expected")
    if flags.cpu != own.cpu:
        raise Refusal(INVALID, f"compiled for CPU 0x{flags.cpu:03X}, this is 0x{own.cpu:03X}")
    if flags.fpu and not own.fpu_on:
        raise Refusal(INVALID, "the FPU is off")
    if flags.secure and not own.secure:
        raise Refusal(INVALID, "a secure model in a non-secure firmware")
    if own.secure and not flags.secure:
        if abi.letter == "A":
            raise Refusal(INVALID, "a non-secure model in a secure firmware")
        warnings.append("a non-secure model in a secure firmware")
    if flags.debug_info != own.debug_info:
        raise Refusal(INVALID, "debug fields in the epoch table of one side only (LL_ATON_EB_DBG_INFO)")
    if flags.asynchronous != own.asynchronous:
        raise Refusal(INVALID, "one side polls, the other waits for events (LL_ATON_RT_MODE)")
    if model.context["version"] >> 8 != version_words(own.version)[0] >> 8:
        raise Refusal(INVALID, f"ll_aton {_text(model.version)}, the firmware has {_text(own.version)}")
    if abi.letter != "A" and model.context[STRUCT_SIZES_FIELD] != STRUCT_SIZES[own.debug_info]:
        sizes = model.context[STRUCT_SIZES_FIELD]
        raise Refusal(INVALID, f"struct sizes 0x{sizes:04X}, the firmware has 0x{STRUCT_SIZES[own.debug_info]:04X}")
    return warnings


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}.{version[2]}-{version[3]}"


def _check_memory(model: RelocFile, placement: Placement) -> None:
    needed = model.copy_bytes if placement.mode == "copy" else model.xip_bytes
    if placement.exec_ram == 0 or placement.exec_ram_bytes < needed or placement.exec_ram % WORD:
        raise Refusal(MEMORY, f"{needed} bytes of executable RAM are needed, {placement.exec_ram_bytes} are available")
    if placement.ext_ram % WORD:
        raise Refusal(PARAM_ADDRESS, f"external RAM at 0x{placement.ext_ram:08X}")


def _place_pools(model: RelocFile, placement: Placement) -> tuple[dict[Segment, int], list[PoolWrite]]:
    params = placement.params or (placement.file + model.params_offset if model.params_offset else 0)
    if not params:
        raise Refusal(PARAM_ADDRESS, "the model has no weights in its file, and no address for them was given")
    if params % WORD:
        raise Refusal(PARAM_ADDRESS, f"weights at 0x{params:08X}, not a multiple of 4")
    bases: dict[Segment, int] = {Segment.PARAM_0: 0, Segment.PARAM_1: 0}
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
        bases[Segment.PARAM_0] = params + pool.foff
        return
    if pool.id != 1:
        raise Refusal(PARAM_DESCRIPTOR, f"pool {pool.name} has the segment {pool.id}")
    if is_cached and placement.ext_ram <= EXTERNAL_MEMORY:
        raise Refusal(PARAM_ADDRESS, f"external RAM at 0x{placement.ext_ram:08X}, which is not external memory")
    if placement.ext_ram == 0 or placement.ext_ram_bytes < pool.size:
        raise Refusal(
            PARAM_ADDRESS, f"{pool.size} bytes of external RAM are needed, {placement.ext_ram_bytes} are available"
        )
    bases[Segment.PARAM_1] = placement.ext_ram
    if pool.content is PoolContent.MIXED:
        writes.append(PoolWrite(placement.ext_ram, up(pool.size), pool.foff))
    elif placement.clear:
        writes.append(PoolWrite(placement.ext_ram, up(pool.size), None))


def _rebase(image: bytearray, at: int, bases: dict[Segment, int], what: str) -> None:
    if at % WORD or at + WORD > len(image):
        raise Refusal(INVALID, f"{what} is outside its data")
    (word,) = struct.unpack_from("<I", image, at)
    if word == 0:
        return
    if segment(word) not in bases:
        raise Refusal(INVALID, f"{what} is 0x{word:08X}, which is in no segment")
    struct.pack_into("<I", image, at, (bases[Segment(segment(word))] + offset(word)) & 0xFFFF_FFFF)

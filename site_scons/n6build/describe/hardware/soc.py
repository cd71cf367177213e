"""A chip as boards/soc/<name>.yaml describes it.
All sizes are bytes; addresses are of the secure alias."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.yaml_schema import Address, Document, Identifier, Name, Range, Size, read_merged_document
from n6build.describe.formats.boot_header import HEADER_BYTES
from n6build.describe.hardware.cpu import CpuName
from n6build.describe.hardware.fuse import RomFuses
from n6build.describe.hardware.npu import Npu

Level = Literal["LOW", "MID", "HIGH"]

SYSTEM_EXCEPTIONS = 16
# Bytes from a register with `set_clear` to its set and clear aliases.
SET_ALIAS, CLEAR_ALIAS = 0x800, 0x1000


@dataclass(frozen=True)
class BankPower:
    """The power control of a memory bank. rcc_field: the bank's bit in RCC MEMENR.
    ramcfg: the RAMCFG instance whose SRAMSD bit shuts the bank down."""

    rcc_field: Identifier
    ramcfg: Identifier


@dataclass(frozen=True)
class MemoryClock:
    """The clock control of a memory. field: the memory's bit in RCC MEMENR.
    on_after_reset: whether the bit is set after reset. ramcfg: the RAMCFG instance that can shut the memory down, or empty."""

    field: Identifier
    on_after_reset: bool = False
    ramcfg: Identifier = ""


@dataclass(frozen=True)
class Memory:
    """A memory of the chip. base: address of the first byte. size: bytes.
    power: power control of a memory that is off after reset and that networks use. clock: clock control of another memory that
    can be switched off. A memory without both is always on. cached: whether the CPU's caches are in front of it. risaf: the
    instance of RISAF that filters accesses to it, or empty. erased_by_reset: whether a system reset erases its content."""

    base: Address
    size: Size
    power: BankPower | None = None
    clock: MemoryClock | None = None
    cached: bool = True
    risaf: Identifier = ""
    erased_by_reset: bool = False

    @property
    def end(self) -> int:
        """The first address behind the memory."""
        return self.base + self.size


@dataclass(frozen=True)
class Cache:
    """A cache of the CPU. size: bytes. ways: ways of each set."""

    size: Size
    ways: Annotated[int, Range(1, 16)]


@dataclass(frozen=True)
class Caches:
    """The first-level caches of the CPU."""

    instruction: Cache
    data: Cache


@dataclass(frozen=True)
class Boot:
    """The boot ROM's rules for an FSBL. header_address: address of the loaded image.
    payload_offset: offset of the program's first byte, its vector table, in the image. max_image: bytes, header included.
    slot_offsets: offsets in the NOR at which the boot ROM looks for an image. clocks_left_on: fields by register of RCC. stack:
    end of the boot ROM's stack. context: address of what it tells the FSBL. revision_address: address of the silicon's revision,
    in the boot ROM. development_loop: address of the loop in which it waits for a probe."""

    header_address: Address
    payload_offset: Size
    max_image: Size
    slot_offsets: tuple[Address, ...]
    clocks_left_on: dict[Identifier, tuple[Identifier, ...]]
    stack: Address
    context: Address
    revision_address: Address
    development_loop: Address


@dataclass(frozen=True)
class Relocatable:
    """Relocatable models. executable_ram: bytes of the Appli for their code and data."""

    executable_ram: Size


@dataclass(frozen=True)
class LoadAndRun:
    """The FSBL's rules for an Appli. load_address: address of the loaded image.
    payload_offset: as in `Boot`. max_bytes: bytes of the image and of the program's other data."""

    load_address: Address
    payload_offset: Size
    max_bytes: Size


@dataclass(frozen=True)
class ClockGate:
    """The bit of an RCC enable register that a block of registers needs.
    field: empty if it is the block's name and EN. register: empty if it is the one that has this field."""

    register: Identifier = ""
    field: Identifier = ""


@dataclass(frozen=True)
class Register:
    """A register. offset: offset from the base of its block.
    set_clear: whether it has a set and a clear alias. reset: value after reset. fields: a bit, or [lowest, highest], by
    name."""

    offset: Address
    set_clear: bool = False
    reset: int = 0
    fields: dict[Identifier, int | tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Peripheral:
    """A block of registers. registers: registers by name. size: bytes of an instance.
    instances: addresses by name, of a peripheral that exists several times. base: address, None for a peripheral with
    `instances`. clock: None if the clock is always on. rif: the field of RIFSC SECCFGR that makes it secure, if that has
    another name."""

    registers: dict[Identifier, Register] = field(default_factory=dict)
    base: Address | None = None
    instances: dict[Identifier, Address] = field(default_factory=dict)
    size: Size = 0x400
    clock: ClockGate | None = None
    rif: Identifier = ""


@dataclass(frozen=True)
class PllLimits:
    """Limits of a PLL in Hz, lowest and highest. reference_hz: input behind DIVM.
    vco_hz: the oscillator of the PLL. lock_us: microseconds until it locks."""

    reference_hz: tuple[int, ...]
    vco_hz: tuple[int, ...]
    lock_us: int


@dataclass(frozen=True)
class Pll:
    """A PLL. divm, divn, post: its output is oscillator / divm * divn / post."""

    divm: Annotated[int, Range(1, 63)]
    divn: Annotated[int, Range(10, 2500)]
    post: Annotated[int, Range(1, 7)] = 1


@dataclass(frozen=True)
class Divider:
    """One of IC1, IC2, IC6, IC11. pll: PLL whose output it divides. by: divisor."""

    pll: Identifier
    by: Annotated[int, Range(1, 256)]


@dataclass(frozen=True)
class ClockProfile:
    """Settings of the clocks. overdrive: whether they need a raised core supply.
    plls: PLLs by name. dividers: empty if CPU and buses stay on the oscillator. ahb_divider: divider of the buses' clock."""

    plls: dict[Identifier, Pll] = field(default_factory=dict)
    dividers: dict[Identifier, Divider] = field(default_factory=dict)
    ahb_divider: Annotated[int, Range(1, 8)] = 1
    overdrive: bool = False


@dataclass(frozen=True)
class Clock:
    """The clocks of a profile, in Hz. hclk_hz: clock of the AHB.
    xspi_source_hz: input of XSPI2's divider: PLL1 if it runs, else HCLK."""

    name: str
    profile: ClockProfile
    cpu_hz: int
    npu_hz: int
    hclk_hz: int
    xspi_source_hz: int


@dataclass(frozen=True)
class PoolFigures:
    """Figures of a memory pool for ST's compiler. fname: name in weights files.
    throughput, latency: level of the memory. byte_width: width of the bus in bytes. freq_ratio: NPU clock / memory clock.
    read_power, write_power: mW."""

    fname: Name
    throughput: Level
    latency: Level
    byte_width: int
    freq_ratio: float
    read_power: float
    write_power: float


@dataclass(frozen=True)
class InternalPool(PoolFigures):
    """A memory pool that is a whole memory of the chip. memory: name of the memory."""

    memory: Identifier


@dataclass(frozen=True)
class Profile:
    """A choice of memory pools. activations: names of pools in order of preference.
    weights: the pool that holds the initializers."""

    activations: tuple[Identifier, ...]
    weights: Identifier


@dataclass(frozen=True)
class Soc:
    """A chip. name: name of the chip and of its file. cpu: the CPU that n6build knows.
    boot: how the boot ROM starts an FSBL. load_and_run: how the FSBL starts an Appli. relocatable: RAM for installed models.
    security_counter: word of BSEC whose number of set bits is the lowest accepted security counter.
    revoked_keys: word whose bits revoke the keys with their numbers. encryption_key: first word of the key of encrypted images.
    rom_fuses: which FSBLs the boot ROM starts.
    bitwise_fuses: first words whose bits are programmed one by one; the others take one programming.
    npu: units and registers of the NPU. device_id, revision_id: of DBGMCU_IDCODE.
    interrupt_count: external interrupts. cache_line: bytes. bus_masters: numbers without the CPU. hsi_hz, hse_hz, msi_hz,
    lsi_hz: frequency of the oscillator. pin_speeds_hz: highest clock of a pin by OSPEEDR. slow_pads_hz: highest XSPI clock with
    pads without the high-speed fuse. interrupts, dma_requests: numbers by name."""

    name: Name
    cpu: CpuName
    device_id: int
    revision_id: int
    interrupt_count: int
    memories: dict[Identifier, Memory]
    boot: Boot
    load_and_run: LoadAndRun
    relocatable: Relocatable
    security_counter: Annotated[int, Range(0, 383)]
    revoked_keys: Annotated[int, Range(0, 383)]
    encryption_key: Annotated[int, Range(0, 376)]
    rom_fuses: RomFuses
    bitwise_fuses: Annotated[int, Range(0, 384)]
    cache_line: int
    caches: Caches
    bus_masters: dict[Identifier, int]
    interrupts: dict[Identifier, int]
    dma_requests: dict[Identifier, int]
    peripherals: dict[Identifier, Peripheral]
    npu: Npu
    hsi_hz: int
    hse_hz: int
    msi_hz: int
    lsi_hz: int
    pll_limits: PllLimits
    pin_speeds_hz: tuple[int, ...]
    slow_pads_hz: int
    clock_profiles: dict[Name, ClockProfile]
    pools: dict[Identifier, InternalPool]
    profiles: dict[Name, Profile]

    def has_fast_pads(self, supply: str, fuses: Mapping[int, int]) -> bool:
        """Return whether a fuse lets pads run at high speed with 1.8 V.

        Args:
            supply: supply of the pads: VDDIO2 or VDDIO3.
            fuses: words of BSEC by their numbers; missing words are 0."""
        fuse = self.peripherals["BSEC"].registers["FVR124"]
        low, _ = field_bits(fuse.fields[f"HSLV_{supply}"])
        return bool(fuses.get(_PADS_WORD, 0) >> low & 1)

    def clock(self, name: str) -> Clock:
        """Return the clocks of a profile. Raises KeyError if `clock_profiles` lacks it."""
        profile = self.clock_profiles[name]
        plls = {name: self.hsi_hz // pll.divm * pll.divn // pll.post for name, pll in profile.plls.items()}
        hz = {name: plls[divider.pll] // divider.by for name, divider in profile.dividers.items()}
        buses = hz.get("IC2", self.hsi_hz)
        hclk = buses // profile.ahb_divider
        return Clock(name, profile, hz.get("IC1", self.hsi_hz), hz.get("IC6", buses), hclk, plls.get("PLL1", hclk))

    @property
    def vector_alignment(self) -> int:
        """Bytes: the size of the vector table, rounded up to a power of two.
        See VTOR in the Armv8-M manual."""
        vectors = 4 * (SYSTEM_EXCEPTIONS + self.interrupt_count)
        return 1 << (vectors - 1).bit_length()


def field_bits(bits: int | tuple[int, ...]) -> tuple[int, int]:
    """Return (lowest bit, mask) of a field. bits: a bit, or [lowest, highest]."""
    low, high = (bits, bits) if isinstance(bits, int) else (bits[0], bits[-1])
    return low, ((1 << (high - low + 1)) - 1) << low


# FVR124 is the shadow of this word of BSEC.
_PADS_WORD = 124


@dataclass(frozen=True)
class SocDescription:
    """A chip. files: files that describe it, its own first, then included ones."""

    soc: Soc
    files: tuple[Path, ...]


def load_soc(path: Path, *, shown_as: str | None = None) -> Soc:
    """Read a chip. Arguments and errors are those of `read_soc`."""
    return read_soc(path, shown_as=shown_as).soc


def read_soc(path: Path, *, shown_as: str | None = None) -> SocDescription:
    """Read and check a chip, with the files that describe it.

    Args:
        path: boards/soc/<name>.yaml.
        shown_as: name of the file in messages.

    Raises:
        N6Error: N6-SOC-001 to N6-SOC-007, N6-YAML-00x."""
    document = read_merged_document(path, shown_as=shown_as)
    soc = document.load(Soc)
    if soc.name != path.stem:
        what = f"the name of the chip is '{soc.name}', but its file is '{path.stem}'"
        raise N6Error("N6-SOC-006", what, where=document.where("name"), hint="use the same name for both")
    _check(soc, document)
    return SocDescription(soc, document.files)


def _check(soc: Soc, document: Document) -> None:
    spans = sorted((memory.base, memory.end, name) for name, memory in soc.memories.items())
    for (_, end, name), (start, _, other) in itertools.pairwise(spans):
        if end > start:
            what = f"memory {other} begins {end - start} bytes before the end of {name}"
            raise N6Error("N6-SOC-001", what, where=document.where("memories", other))
    enable_bits = soc.peripherals["RCC"].registers["MEMENR"].fields
    for name, memory in soc.memories.items():
        if memory.power and memory.power.rcc_field not in enable_bits:
            what = f"RCC MEMENR has no field '{memory.power.rcc_field}'"
            raise N6Error("N6-SOC-002", what, where=document.where("memories", name, "power"))
    _check_payload(soc, document, "boot", soc.boot.header_address, soc.boot.payload_offset)
    _check_payload(soc, document, "load_and_run", soc.load_and_run.load_address, soc.load_and_run.payload_offset)
    for name, profile in soc.clock_profiles.items():
        _check_clock(name, profile, document)
    for name, pool in soc.pools.items():
        if pool.memory not in soc.memories:
            hint = did_you_mean(pool.memory, soc.memories)
            raise N6Error(
                "N6-SOC-004", f"no memory '{pool.memory}'", where=document.where("pools", name, "memory"), hint=hint
            )
    for name, peripheral in soc.peripherals.items():
        if (peripheral.base is None) == (not peripheral.instances):
            what = f"{name} needs either 'base' or 'instances'"
            raise N6Error("N6-SOC-003", what, where=document.where("peripherals", name))


def _check_payload(soc: Soc, document: Document, key: str, image: int, offset: int) -> None:
    """Check that a program can begin at this offset in its image (N6-SOC-007)."""
    where = document.where(key, "payload_offset")
    if offset < HEADER_BYTES:
        raise N6Error("N6-SOC-007", f"0x{offset:X} is inside the boot header of 0x{HEADER_BYTES:X} bytes", where=where)
    if (image + offset) % soc.vector_alignment:
        what = f"puts the vector table at 0x{image + offset:08X}, which is not aligned to {soc.vector_alignment} bytes"
        raise N6Error("N6-SOC-007", what, where=where)


# The system clock switches to IC2, IC6 and IC11 at once, and IC1 feeds the CPU.
_DIVIDERS = {"IC1", "IC2", "IC6", "IC11"}


def _check_clock(name: str, profile: ClockProfile, document: Document) -> None:
    where = document.where("clock_profiles", name)
    if profile.dividers and set(profile.dividers) != _DIVIDERS:
        raise N6Error(
            "N6-SOC-005", f"a profile needs all of {', '.join(sorted(_DIVIDERS))}, or none of them", where=where
        )
    for divider in profile.dividers.values():
        if divider.pll not in profile.plls:
            hint = did_you_mean(divider.pll, profile.plls)
            raise N6Error("N6-SOC-005", f"no '{divider.pll}' in this profile", where=where, hint=hint)

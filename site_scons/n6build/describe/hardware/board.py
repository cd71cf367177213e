"""A board as board.yaml describes it. All sizes are bytes, all clocks Hz."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.span import Span
from n6build.base.yaml_schema import Address, Identifier, Name, PlainFile, Range, Since, Size, Title
from n6build.describe.hardware.fuse import Fuse
from n6build.describe.hardware.i2c import BusAddress, I2cDevice, I2cPart
from n6build.describe.hardware.nor import Mode, NorCommands
from n6build.describe.hardware.pins import PortPins, RecoveryPin, SelectPins
from n6build.describe.hardware.psram import PsramCommands
from n6build.describe.hardware.soc import Clock, ClockProfile, PoolFigures, Profile, Soc
from n6build.describe.hardware.vision import Camera, Display

Alias = Literal["secure", "non-secure"]
Severity = Literal["warning", "error"]

# Folders of the build folder that belong to no board, and a suffix of folders that belong to one.
RESERVED = ("flash", "field", "matrix", "virtual_board")
FIELD = "-field"

# The limit of pads at 1.8 V with their high-speed fuse blown (external memory chapter of the reference manual).
_XSPI_LIMIT_HZ = 200_000_000
# This supply feeds the pads of XSPI2 on all boards.
NOR_SUPPLY = "VDDIO3"


@dataclass(frozen=True)
class Console:
    """USART1 as the console of the board.
    tx: pin that sends, such as PE5. rx: pin that receives. alternate: alternate function of both pins.
    baud: bits per second."""

    tx: Identifier
    rx: Identifier
    alternate: Annotated[int, Range(0, 15)]
    baud: Annotated[int, Range(1200, 4_000_000)]


@dataclass(frozen=True)
class Nor:
    """The serial NOR at XSPI2.

    Attributes:
        part: name of the part.
        base: address of its memory-mapped window.
        size: bytes of the part.
        jedec_id: three bytes, manufacturer first.
        sector: bytes that one erase covers.
        commands: name of the file in boards/nor that describes the part's family.
        mode: lines and edges of reads; `opi-dtr` is eight lines at both edges of the clock, `spi`
            one line.
        max_clock_hz: highest clock that part and board allow; while the VDDIO3 fuse for high speed
            is not blown, the limit is the chip's `slow_pads_hz` if that is less.
        pins: pins of XSPI2."""

    part: Title
    base: Address
    size: Size
    jedec_id: Annotated[int, Range(0, 0xFFFFFF)]
    sector: Size
    commands: Annotated[Name, Since("0.5.0", "commands: macronix-octal (a file in boards/nor/)")]
    mode: Mode
    max_clock_hz: Annotated[int, Range(1_000_000, _XSPI_LIMIT_HZ)]
    pins: SelectPins


@dataclass(frozen=True)
class Slot:
    """A range of the NOR. address: start in the memory-mapped window.
    size: bytes, all of which the image may use."""

    address: Address
    size: Size

    @property
    def end(self) -> int:
        """The first address behind the slot."""
        return self.address + self.size


@dataclass(frozen=True)
class Slots:
    """The four slots that every board has.
    fsbl: the first program, which the boot ROM starts. appli: the program with the networks.
    vectors: inputs and expected outputs for runs. weights: weights of networks, or relocatable
    models."""

    fsbl: Slot
    appli: Slot
    vectors: Slot
    weights: Slot

    def items(self) -> list[tuple[str, Slot]]:
        """Return (name, slot) pairs in the order of the fields."""
        return [("fsbl", self.fsbl), ("appli", self.appli), ("vectors", self.vectors), ("weights", self.weights)]


@dataclass(frozen=True)
class Trial:
    """Trials of new images, with `trial=on`.
    journal: two sectors of the NOR, in which the firmware records the trials. starts: starts of a
    new image, at most, until it is confirmed. watchdog_ms: milliseconds in which the image has to
    make each step. appli: a second slot of the Appli, as large as the first; None if the Appli is
    not on trial."""

    journal: Slot
    starts: Annotated[int, Range(1, 100)]
    watchdog_ms: Annotated[int, Range(1, 131_000)]
    appli: Slot | None = None

    def items(self) -> list[tuple[str, Slot]]:
        """Return (name, slot) of the ranges that the firmware reserves with `trial=on`."""
        return [("journal", self.journal), *([("second appli", self.appli)] if self.appli else [])]


@dataclass(frozen=True)
class Region:
    """A part of the external RAM. size: bytes.
    limit: bytes that the region must not exceed, even if there is room for more; None for no limit."""

    size: Size
    limit: Size | None = None


@dataclass(frozen=True)
class Psram:
    """The PSRAM at XSPI1 that the firmware maps.

    part: name of the part. commands: name of the file in boards/psram that describes its family.
    max_clock_hz: highest clock, as that of the NOR, with the fuse of `supply`. supply: supply of
    the pads of both ports, at 1.8 V. control: clock, strobes and chip select. data: sixteen lines."""

    part: Title
    commands: Name
    max_clock_hz: Annotated[int, Range(1_000_000, _XSPI_LIMIT_HZ)]
    supply: Literal["VDDIO2", "VDDIO3"]
    control: SelectPins
    data: PortPins


@dataclass(frozen=True)
class ExternalRam:
    """PSRAM in a memory-mapped window. memory: name of the window.
    size: bytes of the part. regions: regions by name, consecutive from the start of the PSRAM.
    psram: the part; None if only a program not built by n6build can map it."""

    memory: Identifier
    size: Size
    regions: dict[Identifier, Region]
    psram: Psram | None = None


@dataclass(frozen=True)
class ExternalPool(PoolFigures):
    """A memory pool in a flash slot or in a region of the external RAM.
    slot: slot of the NOR; a pool in it is read-only. region: region of the external RAM. size:
    bytes; all of the slot or region by default."""

    slot: Literal["weights"] | None = None
    region: Identifier | None = None
    size: Size | None = None


@dataclass(frozen=True)
class FileHeap:
    """RAM inside the chip that other firmware for this board reads small files into.
    memory: name of the memory. size: bytes."""

    memory: Identifier
    size: Size


@dataclass(frozen=True)
class ProgrammerHints:
    """Facts about the board for programmers and their users.
    external_loader: file name of ST's external loader for this NOR. pyocd_target: pyOCD's name of
    the chip. flash_boot, dev_boot: positions of the boot selectors for running and programming."""

    external_loader: PlainFile
    pyocd_target: Name
    flash_boot: Title
    dev_boot: Title


@dataclass(frozen=True)
class BoardFile:
    """The contents of board.yaml: the fields of `Board`, with names of other files.

    Attributes:
        name: name of the board and of its folder.
        title: name as the maker prints it.
        soc: chip of the board, a file in boards/soc.
        max_speed: the fastest clock profile that every board of this kind supports.
        clock_profile: profile with which the FSBL starts, for a board that is to start slower than
            `max_speed`.
        console: USART1, as the board has it.
        nor: the serial NOR at XSPI2.
        slots: ranges of the NOR; they begin on sectors, and the FSBL's at the start of the NOR.
        programmer: facts for programmers and their users.
        pools: memory pools outside the chip, by name.
        aliases: other names for `board=`.
        external_ram: PSRAM, divided into regions from its start.
        pool_sizes: bytes of pools that this board makes smaller than their memory; 0 for a pool
            that is not used.
        smps_overdrive: pin that raises the core supply, such as PB12.
        alias: alias of the chip's memories in which the pools are.
        fuses: words of BSEC as the board leaves the factory.
        i2c: devices that the virtual board has on its buses.
        unmodelled_registers: severity of accesses to registers that the virtual board only stores.
        trial: trials of new images; None if the board has no room for them.
        recovery: pin that asks for recovery over the console; None for none.
        file_heap: RAM into which a firmware such as OpenMV's reads files that fit; None if unknown.
        camera: connector of a camera module; None if the board has none.
        display: panel; None if the board has none."""

    name: Name
    title: Title
    soc: Name
    max_speed: Annotated[Name, Since("0.4.0", "max_speed: nominal (a profile that every board of this kind supports)")]
    console: Console
    nor: Nor
    slots: Slots
    programmer: ProgrammerHints
    pools: dict[Identifier, ExternalPool]
    clock_profile: Name | None = None
    aliases: tuple[Name, ...] = ()
    external_ram: ExternalRam | None = None
    pool_sizes: dict[Identifier, Size] = field(default_factory=dict)
    smps_overdrive: Identifier | None = None
    alias: Alias = "secure"
    fuses: tuple[Fuse, ...] = ()
    i2c: tuple[I2cDevice, ...] = ()
    unmodelled_registers: Severity = "warning"
    trial: Trial | None = None
    recovery: RecoveryPin | None = None
    file_heap: FileHeap | None = None
    camera: Camera | None = None
    display: Display | None = None


# The clock profile with CPU and buses as after a reset; it exists for every chip that includes stm32n6.yaml.
RESET_CLOCK = "hsi"


@dataclass(frozen=True)
class OnBus:
    """A part on an I2C bus. bus: bus, such as I2C2. address: address of 7 bits."""

    bus: str
    address: BusAddress
    part: I2cPart


@dataclass(frozen=True)
class Board:
    """A board with the chip and the parts that `BoardFile` names.
    files: files that describe the board, board.yaml first. soc_files: files that describe the chip,
    its own first."""

    name: str
    title: str
    aliases: tuple[str, ...]
    soc: Soc
    clock: Clock
    max_speed: Clock
    smps_overdrive: str | None
    console: Console
    nor: Nor
    nor_commands: NorCommands
    slots: Slots
    programmer: ProgrammerHints
    pools: dict[str, ExternalPool]
    external_ram: ExternalRam | None
    psram_commands: PsramCommands | None
    pool_sizes: dict[str, int]
    alias: Alias
    fuses: tuple[Fuse, ...]
    i2c: tuple[OnBus, ...]
    unmodelled_registers: Severity
    trial: Trial | None
    recovery: RecoveryPin | None
    file_heap: FileHeap | None
    camera: Camera | None
    display: Display | None
    files: tuple[Path, ...]
    soc_files: tuple[Path, ...]

    def has_fast_pads(self, supply: str) -> bool:
        """Return whether the factory blows the high-speed fuse of this supply's pads."""
        return self.soc.has_fast_pads(supply, {fuse.word: fuse.value for fuse in self.fuses})

    def xspi_divider(self, *, fast_pads: bool) -> int:
        """Return the divider of XSPI2's clock source that keeps the NOR within its limit.

        The limit is lower for reads on one line, and for pads whose fuse for high speed is not blown."""
        limit = self.nor.max_clock_hz if fast_pads else min(self.nor.max_clock_hz, self.soc.slow_pads_hz)
        if self.nor.mode == "spi":
            limit = min(limit, self.nor_commands.read_max_hz)
        return -(-self.clock.xspi_source_hz // limit)

    @property
    def fsbl_copies(self) -> tuple[int, ...]:
        """Addresses at which the boot ROM looks for an FSBL if the first one is not valid."""
        return tuple(self.nor.base + offset for offset in self.soc.boot.slot_offsets[1:])

    @property
    def nor_clock_hz(self) -> int:
        """Clock of the NOR in Hz, with the fuses as they leave the factory."""
        return self.clock.xspi_source_hz // self.xspi_divider(fast_pads=self.has_fast_pads(NOR_SUPPLY))

    @property
    def psram(self) -> Psram | None:
        """The external RAM that the firmware maps."""
        return self.external_ram.psram if self.external_ram else None

    @property
    def file_heap_span(self) -> Span | None:
        """The RAM inside the chip that a firmware of this board reads files into."""
        heap = self.file_heap
        return Span(self.soc.memories[heap.memory].base, heap.size) if heap else None

    def psram_divider(self, psram: Psram, *, fast_pads: bool) -> int:
        """Return the divider of HCLK, XSPI1's source, with the PSRAM within its limit."""
        limit = psram.max_clock_hz if fast_pads else min(psram.max_clock_hz, self.soc.slow_pads_hz)
        return -(-self.clock.hclk_hz // limit)

    @property
    def psram_clock_hz(self) -> int:
        """Clock of the PSRAM in Hz with the factory's fuses; 0 without PSRAM."""
        if self.psram is None:
            return 0
        return self.clock.hclk_hz // self.psram_divider(self.psram, fast_pads=self.has_fast_pads(self.psram.supply))

    def at_clock(self, name: str) -> Clock:
        """Return a clock profile of the chip.

        Raises:
            N6Error: N6-BOARD-003 if there is no such profile, or if the board cannot raise its
                supply for it."""
        if name not in self.soc.clock_profiles:
            hint = did_you_mean(name, self.soc.clock_profiles)
            raise N6Error("N6-BOARD-003", f"'clock={name}': {self.soc.name} has no such clock profile", hint=hint)
        if not self.can_run(self.soc.clock_profiles[name]):
            what = f"it needs a raised core supply, but {self.title} has no pin for it"
            able = [each for each, profile in self.soc.clock_profiles.items() if self.can_run(profile)]
            raise N6Error("N6-BOARD-003", f"'clock={name}': {what}", hint=f"choose one of: {', '.join(able)}")
        return self.soc.clock(name)

    def can_run(self, profile: ClockProfile) -> bool:
        """Return whether the supply of this board suffices for a clock profile."""
        return self.smps_overdrive is not None or not profile.overdrive

    def profile(self, name: str) -> Profile:
        """Return a memory profile of the chip.

        Raises:
            N6Error: N6-BOARD-009 if the chip has no such profile; N6-BOARD-010 if this board lacks
                one of its memories."""
        where = f"boards/{self.name}/board.yaml"
        if name not in self.soc.profiles:
            hint = did_you_mean(name, self.profiles())
            raise N6Error("N6-BOARD-009", f"{self.title} has no profile '{name}'", where=where, hint=hint)
        profile = self.soc.profiles[name]
        if lacking := self._lacking(profile):
            what = f"profile '{name}' needs {', '.join(lacking)}, but {self.title} has no such memory"
            raise N6Error("N6-BOARD-010", what, where=where, hint=f"choose one of: {', '.join(self.profiles())}")
        return profile

    def profiles(self) -> list[str]:
        """Return the names of the profiles whose memories this board has."""
        return [name for name, profile in self.soc.profiles.items() if not self._lacking(profile)]

    def _lacking(self, profile: Profile) -> list[str]:
        known = {*self.soc.pools, *self.pools}
        return [name for name in dict.fromkeys((*profile.activations, profile.weights)) if name not in known]

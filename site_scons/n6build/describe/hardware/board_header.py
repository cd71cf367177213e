"""n6_board.h and the headers that it includes: one board's constants for C.

The constants are clocks, console, NOR, PSRAM and flash slots. Each has its own header, so that a
new baud rate recompiles only the code that uses the console.
"""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.same_fields import with_fields_of
from n6build.describe.hardware.board import Board, Console, ExternalRam, Psram, Slots
from n6build.describe.hardware.nor import Mode
from n6build.describe.hardware.pins import PortPins, SelectPins
from n6build.describe.hardware.psram import PsramCommands
from n6build.describe.hardware.soc import Clock, Divider, Pll
from n6build.describe.hardware.soc_header import HEADERS as SOC_HEADERS
from n6build.describe.hardware.soc_header import Constants, Header, WithParts
from n6build.describe.hardware.vision import (
    CameraConstants,
    DisplayConstants,
    camera_constants,
    display_constants,
)


@dataclass(frozen=True)
class ClockConstants:
    """A clock profile, as in `Clock` and `ClockProfile`.

    Attributes:
        plls, dividers: in the order in which the firmware sets them.
    """

    name: str
    cpu_hz: int
    plls: tuple[tuple[str, Pll], ...]
    dividers: tuple[tuple[str, Divider], ...]
    ahb_divider: int
    overdrive: bool


@dataclass(frozen=True)
class PinConstants:
    """Pins of one port.

    Attributes:
        mask: one bit for each line.
        alternate: alternate function of the lines.
    """

    port: str
    mask: int
    alternate: int


@dataclass(frozen=True)
class PadClock:
    """A clock of pads, and the divider of its source."""

    hz: int
    divider: int


def _pad_clock(source_hz: int, divider: int) -> PadClock:
    return PadClock(source_hz // divider, divider)


@dataclass(frozen=True)
class NorConstants:
    """The NOR for the firmware; other fields as in `Nor` and `NorCommands`.

    Attributes:
        slow: clock without the fuse of the pads, from PLL1 or HCLK.
        fast: clock with the fuse of the pads, from PLL1 or HCLK.
        select: line of the chip select.
        commands: name of the description of the commands.
        octal_mask: as `second_byte_mask`.
        octal_*: commands on eight lines.
    """

    base: int
    size: int
    jedec_id: int
    mode: Mode
    slow: PadClock
    fast: PadClock
    from_pll1: bool
    pins: PinConstants
    select: int
    commands: str
    read: int
    program: int
    erase_4k: int
    write_register: int
    octal_mask: int
    octal_read_register: int
    octal_read: int
    octal_program: int
    memory_type: int
    mode_address: int
    mode_value: int
    dummy_address: int
    dummy_value: int
    dummy_cycles: int
    register_dummy_cycles: int


@dataclass(frozen=True)
class RegisterConstants:
    """A mode register of the PSRAM.

    Attributes:
        value: value that is written or expected, of the bits in `mask`.
    """

    address: int
    value: int
    mask: int = 0xFF


@dataclass(frozen=True)
class PsramConstants:
    """The PSRAM for the firmware; other fields as in `Psram` and `PsramCommands`.

    Attributes:
        memory: name of its window.
        slow: clock without the fuse of the pads, from HCLK.
        fast: clock with the fuse of the pads, from HCLK.
        slow_refresh_cycles, fast_refresh_cycles: clock cycles between refreshes at these clocks.
        select: line of the chip select.
        commands: name of the description of the commands.
        read_cycles, write_cycles: latencies.
        density: register with the code of the part's size.
    """

    memory: str
    size: int
    slow: PadClock
    fast: PadClock
    slow_refresh_cycles: int
    fast_refresh_cycles: int
    supply: str
    control: PinConstants
    select: int
    data: PinConstants
    commands: str
    row: int
    memory_type: int
    reset: int
    read: int
    write: int
    read_register: int
    write_register: int
    read_latency: RegisterConstants
    read_cycles: int
    write_latency: RegisterConstants
    write_cycles: int
    width: RegisterConstants
    vendor: RegisterConstants
    density: RegisterConstants


@dataclass(frozen=True)
class OfClock(Constants):
    """The constants of n6_board_clock.h. smps_overdrive: as in `Board`."""

    clock: ClockConstants
    smps_overdrive: str | None


@dataclass(frozen=True)
class OfConsole(Constants):
    """The constants of n6_board_console.h."""

    console: Console


@dataclass(frozen=True)
class OfNor(Constants):
    """The constants of n6_board_nor.h."""

    nor: NorConstants


@dataclass(frozen=True)
class OfPsram(Constants):
    """The constants of n6_board_psram.h. psram: None if the firmware maps none."""

    psram: PsramConstants | None


@dataclass(frozen=True)
class OfSlots(Constants):
    """The constants of n6_board_slots.h."""

    slots: Slots


@dataclass(frozen=True)
class OfVision(Constants):
    """The constants of n6_board_vision.h.

    Attributes:
        camera, display: None if the board has none, or PLL1 does not run.
    """

    camera: CameraConstants | None
    display: DisplayConstants | None


def _clock(clock: Clock) -> ClockConstants:
    profile = clock.profile
    plls, dividers = tuple(profile.plls.items()), tuple(profile.dividers.items())
    return ClockConstants(clock.name, clock.cpu_hz, plls, dividers, profile.ahb_divider, profile.overdrive)


def _pins(pins: PortPins | SelectPins) -> PinConstants:
    return PinConstants(pins.port, pins.mask, pins.alternate)


def _nor(board: Board) -> NorConstants:
    nor, commands = board.nor, board.nor_commands
    return with_fields_of(
        NorConstants,
        nor,
        commands,
        slow=_pad_clock(board.clock.xspi_source_hz, board.xspi_divider(fast_pads=False)),
        fast=_pad_clock(board.clock.xspi_source_hz, board.xspi_divider(fast_pads=True)),
        from_pll1="PLL1" in board.clock.profile.plls,
        pins=_pins(nor.pins),
        select=nor.pins.chip_select,
        commands=commands.name,
        octal_mask=commands.second_byte_mask,
        octal_read_register=commands.octal(commands.read_register),
        octal_read=commands.octal(commands.read_dtr),
        octal_program=commands.octal(commands.program),
        mode_address=commands.mode.address,
        mode_value=commands.mode.opi_dtr,
        dummy_address=commands.dummy.address,
        dummy_value=commands.dummy.value,
        dummy_cycles=commands.dummy.chosen,
    )


def _mapped(board: Board) -> PsramConstants | None:
    ram, commands = board.external_ram, board.psram_commands
    return _psram(board, ram, ram.psram, commands) if ram and ram.psram and commands else None


def _psram(board: Board, ram: ExternalRam, psram: Psram, commands: PsramCommands) -> PsramConstants:
    slow, fast = (
        _pad_clock(board.clock.hclk_hz, board.psram_divider(psram, fast_pads=fast_pads)) for fast_pads in (False, True)
    )
    density = commands.density
    return with_fields_of(
        PsramConstants,
        ram,
        psram,
        commands,
        slow=slow,
        fast=fast,
        slow_refresh_cycles=commands.refresh_cycles(slow.hz),
        fast_refresh_cycles=commands.refresh_cycles(fast.hz),
        control=_pins(psram.control),
        select=psram.control.chip_select,
        data=_pins(psram.data),
        commands=commands.name,
        read_latency=RegisterConstants(commands.read_latency.address, commands.read_latency_value),
        read_cycles=commands.read_latency.chosen,
        write_latency=RegisterConstants(commands.write_latency.address, commands.write_latency.value),
        write_cycles=commands.write_latency.chosen,
        width=RegisterConstants(commands.width.address, commands.width.value),
        vendor=RegisterConstants(commands.vendor.address, commands.vendor.value, commands.vendor.mask),
        density=RegisterConstants(density.address, density.sizes.index(ram.size), density.mask),
    )


def _vision(board: Board) -> OfVision:
    if "PLL1" not in board.clock.profile.plls:
        return OfVision(board.name, None, None)
    pll1_hz, found = board.clock.xspi_source_hz, board.camera
    device = next((each for each in board.i2c if found and each.part.name == found.part), None)
    camera = (
        camera_constants(found, device.address, device.part.sensor, pll1_hz)
        if found and device and device.part.sensor
        else None
    )
    return OfVision(board.name, camera, display_constants(board.display, pll1_hz) if board.display else None)


_PARTS: tuple[Header[Board], ...] = (
    Header("n6_board_clock.h", OfClock, lambda board: OfClock(board.name, _clock(board.clock), board.smps_overdrive)),
    Header("n6_board_console.h", OfConsole, lambda board: OfConsole(board.name, board.console)),
    Header("n6_board_nor.h", OfNor, lambda board: OfNor(board.name, _nor(board))),
    Header("n6_board_psram.h", OfPsram, lambda board: OfPsram(board.name, _mapped(board))),
    Header("n6_board_slots.h", OfSlots, lambda board: OfSlots(board.name, board.slots)),
    Header("n6_board_vision.h", OfVision, _vision),
)
HEADERS: tuple[Header[Board], ...] = (
    Header("n6_board.h", WithParts, lambda board: WithParts(board.name, ("n6_soc.h", *(part.name for part in _PARTS)))),
    *_PARTS,
)


def header_texts(board: Board) -> dict[str, str]:
    """Return the texts of all headers of the chip and the board, by their names."""
    of_chip = {each.name: each.text(each.of(board.soc)) for each in SOC_HEADERS}
    return of_chip | {each.name: each.text(each.of(board)) for each in HEADERS}


def recovery_defines(board: Board) -> tuple[str, ...]:
    """Return the C macros for recovery over the console."""
    pin = board.recovery
    macros = ("N6_RECOVERY=1", f"N6_NOR_PAGE={board.nor_commands.page}u")
    if pin is None:
        return macros
    return (
        *macros,
        f"N6_RECOVERY_PORT_BASE=N6_{pin.port}_BASE",
        f"N6_RECOVERY_PORT_ENABLE=N6_RCC_AHB4ENR_{pin.port}EN",
        f"N6_RECOVERY_PIN={pin.line}u",
        f"N6_RECOVERY_LEVEL={int(pin.level == 'high')}u",
    )

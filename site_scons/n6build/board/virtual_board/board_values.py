"""Parts of a board outside the chip, as properties of QEMU's machine.

Tables by which a serial NOR describes itself (JESD216F, "SFDP"), as bytes. They are made from the
description of its family in boards/nor and from its size.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from n6build.describe.hardware.board import Board
from n6build.describe.hardware.nor import NorCommands, ParameterTables
from n6build.describe.hardware.pins import RecoveryPin
from n6build.describe.hardware.soc import Soc, field_bits

_SIGNATURE = b"SFDP"
_REVISION = (1, 8)
# The tables are read at both edges in octal DTR with an address of 32 bits and twenty dummy cycles.
_ACCESS_PROTOCOL = 0xFD
_TABLES_AT = 0x40
# A read that does not exist: opcode 0xFF, no dummy cycles.
_NO_READS = 0xFF00FF00
_NO_FULL_READS = 0xFF00FFFF
# Erase commands with addresses of 24 bits, the same for every part.
_ERASE_4K = 0x20
_ERASE_64K = 0xD8
# Microseconds of a step, by the code of the unit.
_ERASE_UNITS = (1_000, 16_000, 128_000, 1_000_000)
_CHIP_UNITS = (16_000, 256_000, 4_000_000, 64_000_000)
_PROGRAM_UNITS = (8, 64)
_STEPS = 32


@dataclass(frozen=True)
class _Table:
    """A table with its identifier and its revision (major, minor)."""

    number: int
    revision: tuple[int, int]
    words: tuple[int, ...]


def parameter_tables(commands: NorCommands, size: int) -> bytes:
    """Return the bytes that command 0x5A reads from address 0 on.

    They are empty if the family has no tables.

    Args:
        commands: Commands of the family.
        size: Size of the part in bytes.
    """
    if commands.sfdp is None:
        return b""
    tables = (
        _Table(0xFF00, (1, 7), _basic(commands, commands.sfdp, size)),
        _Table(0xFF87, (1, 1), commands.sfdp.registers),
        _Table(0xFF0A, (1, 0), _sequences(commands.sfdp.to_octal)),
        _Table(0xFF05, (1, 0), _profile(commands, commands.sfdp)),
        _Table(0xFF84, (1, 0), _four_byte(commands, commands.sfdp)),
    )
    headers = _SIGNATURE + bytes((_REVISION[1], _REVISION[0], len(tables) - 1, _ACCESS_PROTOCOL))
    content = b""
    for table in tables:
        place = _TABLES_AT + len(content)
        number = table.number
        headers += bytes((number & 0xFF, table.revision[1], table.revision[0], len(table.words)))
        headers += place.to_bytes(3, "little") + bytes((number >> 8,))
        content += struct.pack(f"<{len(table.words)}I", *table.words)
    return headers.ljust(_TABLES_AT, b"\xff") + content


def _steps(us: int, units: Sequence[int]) -> int:
    """Return a time as a code of unit and steps.

    The lower five bits are the number of steps less one, the bits above them the unit. The unit is the
    finest that is long enough; if none is, the code is the longest time.
    """
    for code, unit in enumerate(units):
        steps = -(-us // unit)
        if steps <= _STEPS:
            return code << 5 | (max(steps, 1) - 1)
    return (len(units) - 1) << 5 | (_STEPS - 1)


def _factor(times: int) -> int:
    return times // 2 - 1


def _basic(commands: NorCommands, tables: ParameterTables, size: int) -> tuple[int, ...]:
    busy, bits = commands.busy_us, size * 8
    # 4 KiB sectors, addresses of 24 or 32 bits, octal DTR; unused bits are ones.
    features = 0xFF8A00E5 | _ERASE_4K << 8
    density = bits - 1 if bits <= 1 << 32 else 1 << 31 | (bits.bit_length() - 1)
    erases = 12 | _ERASE_4K << 8 | 16 << 16 | _ERASE_64K << 24
    erase_times = _factor(tables.max_factors.erase) | _steps(busy.erase_4k, _ERASE_UNITS) << 4
    erase_times |= _steps(busy.erase_64k, _ERASE_UNITS) << 11
    page = commands.page.bit_length() - 1
    chip = _steps(busy.erase_mib * max(size >> 20, 1), _CHIP_UNITS)
    program_times = _factor(tables.max_factors.program) | page << 4 | _steps(busy.program, _PROGRAM_UNITS) << 8
    reads = (_NO_READS, _NO_READS, 0xFFFFFFEE, _NO_FULL_READS, _NO_FULL_READS)
    times = (erase_times, 1 << 31 | chip << 24 | program_times)
    return (features, density, *reads, erases, _NO_READS, *times, *tables.basic_from_12)


def _sequences(commands: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return command sequences of two words each.

    A sequence has the number of bytes, then the bytes, from the highest byte of a word down.
    """
    text = b"".join(bytes((len(command), *command)).ljust(8, b"\0") for command in commands)
    return struct.unpack(f">{len(text) // 4}I", text)


def _cycles_at(commands: NorCommands, hz: int) -> int:
    """Return cycles and register value for a clock, as a field of seven bits.

    It is 0 if the part does not reach the clock.
    """
    able = [(cycles, code) for code, cycles in enumerate(commands.dummy.cycles) if commands.max_hz()[code] >= hz]
    cycles, code = min(able, default=(0, 0))
    return cycles << 5 | code


def _profile(commands: NorCommands, tables: ParameterTables) -> tuple[int, ...]:
    read, write = commands.read_register, commands.write_register
    at_166, at_133, at_100 = (_cycles_at(commands, mhz * 1_000_000) for mhz in (166, 133, 100))
    return (
        tables.profile[0] | commands.read_dtr << 8,
        read << 24 | read << 16 | write << 8 | write,
        tables.profile[1],
        _cycles_at(commands, 200_000_000) << 2,
        at_166 << 22 | at_133 << 12 | at_100 << 2,
    )


def _four_byte(commands: NorCommands, tables: ParameterTables) -> tuple[int, ...]:
    return (tables.four_byte, 0xFFFF0000 | commands.erase_64k << 8 | commands.erase_4k)


def board_values(board: Board, *, with_sensor: bool = False) -> dict[str, int | str]:
    """Return values of a board by the names of the machine's properties.

    Args:
        board: The board.
        with_sensor: True with its image sensor, which answers only if it has pictures.
    """
    commands = board.nor_commands
    gpio = board.soc.peripherals["GPIO"].instances
    return {
        "appli-slot": board.slots.appli.address,
        "appli-second-slot": board.trial.appli.address if board.trial and board.trial.appli else 0,
        "nor-jedec-id": board.nor.jedec_id,
        "nor-memory-type": commands.memory_type,
        "nor-second-byte": commands.second_byte_mask,
        "nor-read": commands.read,
        "nor-read-str": commands.read_str,
        "nor-read-dtr": commands.read_dtr,
        "nor-write-register": commands.write_register,
        "nor-read-register": commands.read_register,
        "nor-mode-address": commands.mode.address,
        "nor-mode-spi": commands.mode.spi,
        "nor-mode-str": commands.mode.opi_str,
        "nor-mode-dtr": commands.mode.opi_dtr,
        "nor-dummy-address": commands.dummy.address,
        "nor-dummy-cycles": "/".join(map(str, commands.dummy.cycles)),
        "nor-max-hz": "/".join(map(str, commands.max_hz())),
        "nor-read-max-hz": commands.read_max_hz,
        "nor-spi-max-hz": commands.spi_max_hz,
        "nor-program": commands.program,
        "nor-erase-4k": commands.erase_4k,
        "nor-erase-64k": commands.erase_64k,
        "nor-page": commands.page,
        "nor-configuration": commands.configuration,
        "nor-former-mode-us": commands.mode.former_us,
        "nor-reset-us": commands.reset_us,
        "nor-program-us": commands.busy_us.program,
        "nor-erase-4k-us": commands.busy_us.erase_4k,
        "nor-erase-64k-us": commands.busy_us.erase_64k,
        "nor-erase-mib-us": commands.busy_us.erase_mib,
        "nor-sfdp": parameter_tables(commands, board.nor.size).hex(),
        "nor-port": gpio[board.nor.pins.port],
        "nor-pins": board.nor.pins.mask,
        "nor-alternate": board.nor.pins.alternate,
        "nor-chip-select": 1 << board.nor.pins.chip_select,
        "console-port": gpio[f"GPIO{board.console.tx[1]}"],
        "console-tx": int(board.console.tx[2:]),
        "console-alternate": board.console.alternate,
        "console-baud": board.console.baud,
        "fuses": "/".join(f"{fuse.word}:0x{fuse.value:x}" for fuse in board.fuses),
        **_i2c_values(board, with_sensor=with_sensor),
        **_psram_values(board),
    }


def held_values(pin: RecoveryPin, soc: Soc) -> dict[str, int | str]:
    """Return a pin that is held at power-on."""
    port = soc.peripherals["GPIO"].instances[pin.port]
    return {"held-port": port, "held-pins": 1 << pin.line, "held-level": int(pin.level == "high")}


def _i2c_values(board: Board, *, with_sensor: bool) -> dict[str, int | str]:
    """Return the devices on I2C buses in the format of n6virt_i2c.c."""
    devices = [
        f"{device.bus}:0x{device.address:x}:{device.part.number_bytes}:{device.part.value_bytes}:"
        + "+".join(
            f"0x{each.number:x}=0x{each.value:x}{'!' * each.constant}" for each in device.part.registers.values()
        )
        for device in board.i2c
        if with_sensor or device.part.sensor is None
    ]
    return {"i2c-devices": "/".join(devices)} if devices else {}


def _psram_values(board: Board) -> dict[str, int | str]:
    """Return the external RAM that the firmware can map, empty without one."""
    psram, commands = board.psram, board.psram_commands
    if board.external_ram is None or psram is None or commands is None:
        return {}
    ports = board.soc.peripherals["GPIO"].instances
    supply = board.soc.peripherals["PWR"].registers["SVMCR3"].fields
    size = board.external_ram.size
    return {
        "psram-bytes": size,
        "psram-memory-type": commands.memory_type,
        "psram-reset": commands.reset,
        "psram-reset-us": commands.reset_us,
        "psram-row": commands.row,
        "psram-max-select-ns": commands.max_select_ns,
        "psram-read": commands.read,
        "psram-write": commands.write,
        "psram-read-register": commands.read_register,
        "psram-write-register": commands.write_register,
        "psram-read-latency-address": commands.read_latency.address,
        "psram-read-latency-bit": commands.read_latency.low_bit,
        "psram-read-latency": "/".join(map(str, commands.read_latency.cycles)),
        "psram-read-latency-reset": commands.read_latency.reset_value,
        "psram-fixed-latency": commands.fixed_latency,
        "psram-write-latency-address": commands.write_latency.address,
        "psram-write-latency-bit": commands.write_latency.low_bit,
        "psram-write-latency": "/".join(map(str, commands.write_latency.cycles)),
        "psram-write-latency-reset": commands.write_latency.reset_value,
        "psram-width-address": commands.width.address,
        "psram-width": commands.width.value,
        "psram-vendor-address": commands.vendor.address,
        "psram-vendor": commands.vendor.value,
        "psram-density-address": commands.density.address,
        "psram-density": commands.density.sizes.index(size),
        "psram-supply": field_bits(supply[f"{psram.supply}SV"])[1],
        "psram-control-port": ports[psram.control.port],
        "psram-control-pins": psram.control.mask,
        "psram-control-alternate": psram.control.alternate,
        "psram-data-port": ports[psram.data.port],
        "psram-data-pins": psram.data.mask,
        "psram-data-alternate": psram.data.alternate,
    }

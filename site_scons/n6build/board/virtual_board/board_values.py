"""Parts of a board outside the chip, as properties of QEMU's machine."""

from __future__ import annotations

from n6build.board.virtual_board.sfdp import parameter_tables
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.recovery_pin import RecoveryPin
from n6build.describe.hardware.soc import Soc, field_bits


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

"""OpenOCD with an ST-LINK; its stmqspi driver programs the NOR in plain SPI.

Facts used: target/stm32n6x.cfg is in OpenOCD since the end of 2025, not in any release up to 0.12.0,
which works with a target of the same names; stmqspi drives XSPI2 after a script has set up pins, clock
and the read command; the part takes read 13h, program 12h, sector erase 21h (4 KB) and DCh (64 KB),
with addresses of four bytes. OpenOCD ends with 1 after an error in a script. Tried with OpenOCD 0.12.0
at the virtual board, not on a board.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from serial.tools import list_ports

from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.base.templates import render
from n6build.board.flash.command_line import (
    UNPLUG,
    Attached,
    CommandLine,
    DebugServer,
    Meaning,
    Order,
    device_id,
    server_port,
)
from n6build.board.flash.programmer import Identity, RamProgram
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.debug_port import read_debug_port
from n6build.describe.hardware.soc import CLEAR_ALIAS, SET_ALIAS, Soc, field_bits

TEMPLATE = Path(__file__).with_name("openocd.cfg.j2")
SERVER_TEMPLATE = Path(__file__).with_name("openocd_server.cfg.j2")
RESET_TEMPLATE = Path(__file__).with_name("openocd_reset.cfg.j2")
DEBUG_TEMPLATE = Path(__file__).with_name("openocd_debug.cfg.j2")
_ST = 0x0483
_ST_LINK_V3 = range(0x374D, 0x3760)
# The script of n6build prints this text at its end.
_DONE = "n6 done"
# The template has the same files.
_CONFIGURATION = ("interface/stlink-dap.cfg", "target/stm32n6x.cfg")
_READY = "n6 waits for a debugger"


def _probes(_: Path) -> dict[str, str]:
    """Return serial number and product of ST-LINK probes with a serial port.

    OpenOCD cannot list probes, so that the list comes from the operating system.
    """
    return {
        port.serial_number: port.product or "ST-LINK"
        for port in list_ports.comports()
        if port.vid == _ST and port.pid in _ST_LINK_V3 and port.serial_number
    }


def _order(attached: Attached, commands: Sequence[str]) -> Order:
    script = attached.folder / "n6.cfg"
    script.write_text(openocd_script(attached.board, attached.serial, commands))
    return Order(["-f", str(script)], _DONE)


def _identify(attached: Attached) -> Order:
    return _order(attached, ["n6_device_id"])


def _identity(output: str, _: Board) -> Identity | None:
    found = device_id(output, r"n6 device 0x([0-9a-f]+)")
    return None if found is None else Identity(device_id=found)


def _read(attached: Attached, files: Sequence[tuple[Span, Path]]) -> Order:
    base = attached.board.nor.base
    commands = [f"flash read_bank nor {{{path}}} 0x{span.address - base:X} {span.size}" for span, path in files]
    return _order(attached, ["n6_open_nor", *commands])


def _nor_id(attached: Attached) -> Order:
    return _order(attached, ["n6_nor_id"])


def _program(attached: Attached, files: Sequence[tuple[int, Path]]) -> Order:
    commands = [f"flash write_image erase {{{path}}} 0x{address:08X} bin" for address, path in files]
    return _order(attached, ["n6_open_nor", *commands])


def _verify(attached: Attached, files: Sequence[tuple[int, Path]]) -> Order:
    commands = [f"flash verify_image {{{path}}} 0x{address:08X} bin" for address, path in files]
    return _order(attached, ["n6_open_nor", *commands])


def _reset(attached: Attached) -> Order:
    script = attached.folder / "n6_reset.cfg"
    script.write_text(render(RESET_TEMPLATE, {**_connection(attached.board, attached.serial), "done": _DONE}))
    return Order(["-f", str(script)], _DONE)


def _start(attached: Attached, program: RamProgram, path: Path) -> Order:
    load = f"load_image {{{path}}} 0x{program.address:08X} bin"
    registers = [f"reg sp 0x{program.stack_pointer:08X}", f"reg pc 0x{program.entry:08X}", "reg xPSR 0x01000000"]
    return _order(attached, [load, *registers, "resume"])


def _connection(board: Board, serial: str) -> dict[str, Any]:
    """Return the values of the template of a probe."""
    return {"board": board, "serial": serial, "server_port": server_port(serial), "debug": read_debug_port()}


def server_script(board: Board, port: int) -> str:
    """Return a script that connects to a probe server of this computer."""
    return render(SERVER_TEMPLATE, _connection(board, f"tcp-{port}"))


def openocd_script(board: Board, serial: str, commands: Sequence[str]) -> str:
    """Return a script that connects, carries out the commands and ends.

    Raises:
        N6Error: N6-FLASH-017 if one command cannot erase a sector of the board's size.
    """
    nor = board.nor
    erase = board.nor_commands.erase(nor.sector)
    if erase is None:
        what = f"OpenOCD cannot erase sectors of {nor.sector} bytes"
        raise N6Error(
            "N6-FLASH-017",
            what,
            where=f"boards/{board.name}/board.yaml",
            hint="set nor.sector in board.yaml to 4K or 64K",
        )
    values: dict[str, Any] = {
        **_connection(board, serial),
        "commands": commands,
        "nor": board.nor_commands,
        "erase": erase,
        "register": lambda *names: _register(board.soc, *names),
        "set_alias": lambda *names: _register(board.soc, *names) + SET_ALIAS,
        "clear_alias": lambda *names: _register(board.soc, *names) + CLEAR_ALIAS,
        "bits": lambda *names: _bits(board.soc, *names),
        "pins": list(nor.pins.lines),
        "done": _DONE,
    }
    return render(TEMPLATE, values)


def _register(soc: Soc, peripheral: str, register: str, instance: str = "") -> int:
    described = soc.peripherals[peripheral]
    base = described.instances[instance] if instance else described.base
    assert base is not None
    return base + described.registers[register].offset


def _bits(soc: Soc, peripheral: str, register: str, *fields: str) -> int:
    """Return a mask of these fields."""
    known = soc.peripherals[peripheral].registers[register].fields
    return sum(field_bits(known[name])[1] for name in fields)


def _serve(attached: Attached, port: int) -> list[str]:
    script = attached.folder / "n6_debug.cfg"
    values = {**_connection(attached.board, attached.serial), "port": port, "ready": _READY}
    script.write_text(render(DEBUG_TEMPLATE, values))
    return ["-f", str(script)]


PROGRAMMER = CommandLine(
    name="openocd",
    command="openocd",
    rank=2,
    install="install OpenOCD 0.12.0 or newer",
    # Plain SPI at a few MHz: a guess, since no board was at hand.
    seconds_a_sector=2.0,
    probes=_probes,
    identify=_identify,
    identity=_identity,
    read=_read,
    nor_id=_nor_id,
    program=_program,
    verify=_verify,
    reset=_reset,
    start=_start,
    meanings=(
        Meaning(("failed to connect",), "start n6build probe-server, which prints its port"),
        Meaning(("open failed",), UNPLUG),
        Meaning(
            ("no flash bank found",),
            "set up this programmer for the NOR as in docs/board-on-a-cable.md: its "
            "installation cannot program the NOR",
        ),
    ),
    uses_servers=True,
    debug=DebugServer("openocd", _serve, _READY, "openocd", lambda _: {"configFiles": list(_CONFIGURATION)}),
)

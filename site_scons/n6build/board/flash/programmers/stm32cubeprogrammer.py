"""ST's STM32_Programmer_CLI, which programs through the board's external loader.

It finds ST-LINK probes. Facts used: `-l st-link` lists probes as 'ST-LINK SN  : <serial>'; every
connection prints 'Board' and 'Device ID'; a successful download prints 'File download complete'; a
failure is a line 'Error: ...', sometimes with exit status 0; a missing external loader can go
unnoticed. Several -w are accepted in a command; several -r are tried. Its own -v is not used: it is
as slow as reading back, and has been seen to report success after an error. A start in RAM that worked on
a NUCLEO-N657X0-Q (release 2.23) is a hardware reset, then in one call -halt, -w, VTOR and CPACR by -w32, MSP and
PC by -coreReg, and -run; -g and -s executed the vector table there.

ST-LINK_gdbserver takes the port as -p, the programmer's folder as -cp, SWD as -d, the access port as
-m (1 on this chip: others do not connect), the probe as -i, and prints 'Waiting for debugger
connection...' (reports of its users). No board was at hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.board.flash.command_line import (
    LIST_TIMEOUT_S,
    UNPLUG,
    Attached,
    CommandLine,
    DebugServer,
    Meaning,
    Order,
    device_id,
    run_command,
)
from n6build.board.flash.programmer import Identity, RamProgram
from n6build.describe.hardware.board import Board

COMMAND = "STM32_Programmer_CLI"
# Registers of the Cortex-M55: its vector table, and access to the coprocessors 10 and 11, which are the FPU.
_VTOR, _CPACR, _FPU_ON = 0xE000_ED08, 0xE000_ED88, 0x00F0_0000


def _probes(command: Path) -> dict[str, str]:
    said = run_command(command, ["-l", "st-link"], LIST_TIMEOUT_S)
    probes: dict[str, str] = {}
    serial = ""
    for line in said.output.splitlines():
        if match := re.search(r"ST-LINK SN\s*:\s*(\w+)", line):
            serial = match[1]
            probes.setdefault(serial, "")
        elif serial and (match := re.search(r"Board(?: Name)?\s*:\s*(\S+)", line)):
            probes[serial] = match[1]
    return probes


def _connection(attached: Attached, access_port: int = 1) -> list[str]:
    return ["-c", "port=SWD", "mode=HOTPLUG", f"ap={access_port}", f"sn={attached.serial}"]


def _with_loader(attached: Attached) -> list[str]:
    """Return arguments with the external loader; raise N6-FLASH-005 if it is missing."""
    name = attached.board.programmer.external_loader
    loader = attached.command.resolve().parent / "ExternalLoader" / name
    if not loader.is_file():
        raise N6Error("N6-FLASH-005", f"no external loader '{name}' beside {COMMAND}", where=COMMAND)
    return [*_connection(attached), "-el", str(loader)]


def _identify(attached: Attached) -> Order:
    return Order(_connection(attached))


def _identity(output: str, _: Board) -> Identity | None:
    found = device_id(output, r"Device ID\s*:\s*0x([0-9A-F]+)")
    named = re.search(r"^Board\s*:\s*(\S+)", output, re.MULTILINE)
    return None if found is None else Identity(named[1] if named and named[1].strip("-") else "", found)


def _read(attached: Attached, files: Sequence[tuple[Span, Path]]) -> Order:
    arguments = _with_loader(attached)
    for span, path in files:
        arguments += ["-r", f"0x{span.address:08X}", str(span.size), str(path)]
    return Order(arguments)


def _program(attached: Attached, files: Sequence[tuple[int, Path]]) -> Order:
    arguments = _with_loader(attached)
    for address, path in files:
        arguments += ["-w", str(path), f"0x{address:08X}"]
    return Order(arguments, "File download complete", len(files))


def _reset(attached: Attached) -> Order:
    # Access port 0 answers in each boot mode.
    return Order([*_connection(attached, 0), "-hardRst"], "Hard reset is performed")


def _start(attached: Attached, program: RamProgram, path: Path) -> Order:
    address = f"0x{program.address:08X}"
    registers = [f"MSP=0x{program.stack_pointer:08X}", f"PC=0x{program.entry:08X}"]
    writes = ["-w32", f"0x{_VTOR:08X}", address, "-w32", f"0x{_CPACR:08X}", f"0x{_FPU_ON:08X}"]
    return Order([*_connection(attached), "-halt", "-w", str(path), address, *writes, "-coreReg", *registers, "-run"])


def _serve(attached: Attached, port: int) -> list[str]:
    folder = str(attached.command.resolve().parent)
    return ["-p", str(port), "-cp", folder, "-d", "-m", "1", "-i", attached.serial, "--halt"]


PROGRAMMER = CommandLine(
    name="stm32cubeprogrammer",
    command=COMMAND,
    rank=1,
    install="install STM32CubeProgrammer and put it in PATH",
    # 64 KB over SWD at 8 MHz with an erase of the NOR: a guess, since no board was at hand.
    seconds_a_sector=0.8,
    probes=_probes,
    identify=_identify,
    identity=_identity,
    read=_read,
    program=_program,
    reset=_reset,
    start=_start,
    meanings=(
        Meaning(("DEV_USB_COMM_ERR",), UNPLUG),
        # Release 2.20 cannot erase the NOR of the Nucleo.
        Meaning(("v2.20.", "erase"), f"use {COMMAND} 2.19, or 2.21 or newer: 2.20 cannot erase the NOR of this board"),
    ),
    # STM32CubeCLT has the server in a folder beside that of the programmer.
    debug=DebugServer(
        "ST-LINK_gdbserver",
        _serve,
        "Waiting for debugger connection",
        "stlink",
        lambda _: {"serverArgs": ["-m", "1"]},
        ("../../STLink-gdb-server/bin",),
    ),
)

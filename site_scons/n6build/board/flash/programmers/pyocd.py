"""PyOCD as a command.

Its documentation recommends the command for programming, and the library for tests that control a
target. Facts used, tried with 0.46: `pyocd json --probes` lists 'boards' with 'unique_id' and
'board_name'; `load` takes several files as <file>@<address> and ends with 1 after a failure;
`commander` has savemem and read32. The NOR needs a flash algorithm for its window in the target's
pack; no public one is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.board.flash.command_line import (
    LIST_TIMEOUT_S,
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


def _probes(command: Path) -> dict[str, str]:
    """Return unique id and board name of all probes that pyOCD sees."""
    said = run_command(command, ["json", "--probes"], LIST_TIMEOUT_S)
    try:
        found: Any = parse_json(said.output[said.output.index("{") :])
        return {str(each["unique_id"]): str(each["board_name"]) for each in found["boards"]}
    except WRONG_FIELDS as error:
        what = "the list of probes is not JSON as pyOCD 0.46 writes it"
        raise N6Error("N6-FLASH-007", what, where=command.name) from error


def _connection(attached: Attached) -> list[str]:
    # --no-wait makes a missing probe an error at once.
    return ["--no-wait", "--uid", attached.serial, "--target", attached.board.programmer.pyocd_target]


def _commander(attached: Attached, commands: Sequence[str]) -> Order:
    arguments = [argument for command in commands for argument in ("-c", command)]
    return Order(["commander", *_connection(attached), *arguments])


def _identify(attached: Attached) -> Order:
    return _commander(attached, [f"read32 0x{attached.board.soc.peripherals['DBGMCU'].base:08X}"])


def _identity(output: str, board: Board) -> Identity | None:
    found = device_id(output, rf"^{board.soc.peripherals['DBGMCU'].base:08x}:\s+([0-9a-f]{{8}})")
    return None if found is None else Identity(device_id=found)


def _read(attached: Attached, files: Sequence[tuple[Span, Path]]) -> Order:
    return _commander(attached, [f"savemem 0x{span.address:08X} {span.size} {path}" for span, path in files])


def _program(attached: Attached, files: Sequence[tuple[int, Path]]) -> Order:
    images = [f"{path}@0x{address:08X}" for address, path in files]
    return Order(["load", *_connection(attached), "--erase", "sector", "--no-reset", "--format", "bin", *images])


def _reset(attached: Attached) -> Order:
    return Order(["reset", *_connection(attached)])


def _start(attached: Attached, program: RamProgram, path: Path) -> Order:
    load = f"loadmem 0x{program.address:08X} {path}"
    registers = [f"wreg sp 0x{program.stack_pointer:08X}", f"wreg pc 0x{program.entry:08X}"]
    return _commander(attached, ["halt", load, *registers, "continue"])


def _serve(attached: Attached, port: int) -> list[str]:
    return ["gdbserver", *_connection(attached), "--connect", "halt", "--port", str(port)]


PROGRAMMER = CommandLine(
    name="pyocd",
    command="pyocd",
    rank=3,
    install="install the Python package pyocd, and a flash algorithm",
    # A guess, since no board was at hand.
    seconds_a_sector=1.5,
    probes=_probes,
    identify=_identify,
    identity=_identity,
    read=_read,
    program=_program,
    reset=_reset,
    start=_start,
    meanings=(
        Meaning(
            ("no memory region",),
            "set up this programmer for the NOR as in docs/board-on-a-cable.md: its "
            "installation cannot program the NOR",
        ),
        Meaning(
            ("not recognized",),
            "run pyocd pack install for the chip, or install a newer pyOCD: this one does not know the chip",
        ),
        Meaning(
            ("target type",),
            "run pyocd pack install for the chip, or install a newer pyOCD: this one does not know the chip",
        ),
    ),
    debug=DebugServer(
        "pyocd",
        _serve,
        "GDB server listening on port",
        "pyocd",
        lambda board: {"targetId": board.programmer.pyocd_target},
    ),
)

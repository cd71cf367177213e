"""PyOCD as a command.

Its documentation recommends the command for programming, and the library for tests that control a
target. Facts used, tried with 0.46: `pyocd json --probes` lists 'boards' with 'unique_id' and
'board_name'; `load` takes several files as <file>@<address> and ends with 1 after a failure;
`commander` has savemem and read32. A script of --script gives it the NOR's window and n6build's own
flash algorithm, since no pack has one; its functions will_connect and did_connect are called around
the connection. A probe server is remote:<host>:<port>, and needs no pack: target cortex_m.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.base.templates import render
from n6build.board.flash.algorithm import PAGE, SECTOR, FlashAlgorithm, build_algorithm
from n6build.board.flash.command_line import (
    LIST_TIMEOUT_S,
    Attached,
    CommandLine,
    DebugServer,
    Meaning,
    Order,
    device_id,
    run_command,
    server_port,
)
from n6build.board.flash.programmer import Identity, RamProgram
from n6build.describe.hardware.board import Board

NOR_TEMPLATE = Path(__file__).with_name("pyocd_nor.py.j2")
_ANY_CORTEX_M = "cortex_m"


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
    port = server_port(attached.serial)
    uid = attached.serial if port is None else f"remote:127.0.0.1:{port}"
    target = attached.board.programmer.pyocd_target if port is None else _ANY_CORTEX_M
    return ["--no-wait", "--uid", uid, "--target", target]


def nor_script(board: Board, algorithm: FlashAlgorithm, reads: bool) -> str:
    """Return a script that gives pyOCD the NOR.

    Args:
        board: The board.
        algorithm: Its flash algorithm.
        reads: Whether it maps the window when it has connected, for reads.
    """
    values = {
        "board": board,
        "algorithm": algorithm,
        "page": PAGE,
        "sector": SECTOR,
        "reads": reads,
    }
    return render(NOR_TEMPLATE, values)


def _with_nor(attached: Attached, *, reads: bool) -> list[str]:
    """Return the arguments that connect, with the NOR."""
    script = attached.folder / "n6_nor.py"
    algorithm = build_algorithm(attached.board, attached.folder / "algorithm")
    script.write_text(nor_script(attached.board, algorithm, reads))
    # A core that goes on behind the algorithm would meet its BKPT, a fault.
    return [*_connection(attached), "-O", "resume_on_disconnect=false", "--script", str(script)]


def _commander(attached: Attached, commands: Sequence[str], connection: Sequence[str] = ()) -> Order:
    arguments = [argument for command in commands for argument in ("-c", command)]
    return Order(["commander", *(connection or _connection(attached)), *arguments])


def _identify(attached: Attached) -> Order:
    return _commander(attached, [f"read32 0x{attached.board.soc.peripherals['DBGMCU'].base:08X}"])


def _identity(output: str, board: Board) -> Identity | None:
    found = device_id(output, rf"^{board.soc.peripherals['DBGMCU'].base:08x}:\s+([0-9a-f]{{8}})")
    return None if found is None else Identity(device_id=found)


def _read(attached: Attached, files: Sequence[tuple[Span, Path]]) -> Order:
    commands = [f"savemem 0x{span.address:08X} {span.size} {path}" for span, path in files]
    return _commander(attached, commands, _with_nor(attached, reads=True))


def _nor_id(attached: Attached) -> Order:
    return _commander(attached, ["status"], _with_nor(attached, reads=True))


def _program(attached: Attached, files: Sequence[tuple[int, Path]]) -> Order:
    images = [f"{path}@0x{address:08X}" for address, path in files]
    return Order(
        ["load", *_with_nor(attached, reads=False), "--erase", "sector", "--no-reset", "--format", "bin", *images]
    )


def _reset(attached: Attached) -> Order:
    # By the pin: flash boot closes the core's access port, and pyOCD's own choice needs a core.
    return Order(["reset", "--method", "hw", *_connection(attached)])


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
    install="install the Python package pyocd",
    # A guess, since no board was at hand.
    seconds_a_sector=1.5,
    probes=_probes,
    identify=_identify,
    identity=_identity,
    read=_read,
    nor_id=_nor_id,
    program=_program,
    reset=_reset,
    start=_start,
    meanings=(
        Meaning(("connection refused",), "start n6build probe-server, which prints its port"),
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
    uses_servers=True,
    debug=DebugServer(
        "pyocd",
        _serve,
        "GDB server listening on port",
        "pyocd",
        lambda board: {"targetId": board.programmer.pyocd_target},
    ),
)

"""The command `n6build probe-server`: the virtual board for debuggers."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import only_errors, say
from n6build.cli.arguments import CommandParser, add_build, add_quiet
from n6build.describe.choices import Choices

if TYPE_CHECKING:
    from n6build.board.probe.debug_port import VirtualDebugPort
    from n6build.board.probe.front import Front
    from n6build.board.virtual_board.run import NorBoot
    from n6build.describe.hardware.board import Board

HELP = "puts the virtual board behind a debug port, which pyOCD and OpenOCD open like that of a chip"
_PYOCD, _OPENOCD, _BOTH = "pyocd", "openocd", "both"
_MOST_PORT = 65_535


def probe_server(words: Sequence[str]) -> None:
    """Serve a virtual board until Ctrl-C or SIGTERM.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-019 for invalid words; N6-BOARD-001 for an unknown board; N6-VB-001 without an emulator;
            N6-FLASH-003 if the NOR's file cannot be written; N6-PROBE-001 to N6-PROBE-003.
    """
    from n6build.board.probe.board import probed_board
    from n6build.board.probe.machine import BoardGone
    from n6build.board.probe.server import ProbeServer
    from n6build.board.virtual_board.build import find_emulator
    from n6build.describe.hardware.boards import home_of_board, load_board

    asked = probe_server_parser().parse_args(words)
    board = load_board(asked.board, home_of_board(asked.board))
    folder = Path(asked.build) / "probe_server" / board.name
    folder.mkdir(parents=True, exist_ok=True)
    boot = _boot(asked, board, folder)
    fronts = _fronts(asked)
    emulator = find_emulator(board.soc)
    # A supervisor ends a server by SIGTERM, and a shell lets jobs in the background ignore Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with only_errors(asked.quiet), probed_board(emulator, boot, folder / "findings.jsonl") as on:
        server = ProbeServer(on.port, fronts)
        try:
            _show_commands(asked.front, server.ports, board, folder)
            assert on.process.stdout is not None
            server.watch(on.process.stdout.fileno(), on.show_console)
            server.serve()
        except BoardGone as error:
            raise on.ended() from error
        except KeyboardInterrupt:
            say("Ended", f"{board.name}, NOR in {boot.nor}")
            return
        finally:
            server.close()
        raise on.ended()


def _boot(asked: argparse.Namespace, board: Board, folder: Path) -> NorBoot:
    """Return the boot settings, with a file for the NOR, erased if it is new."""
    from n6build.base.files import cannot_write
    from n6build.board.flash.virtual import make_erased
    from n6build.board.virtual_board.run import NorBoot

    nor = Path(asked.nor) if asked.nor else folder / "nor.bin"
    if not nor.exists():
        try:
            make_erased(nor, board.nor.size)
        except OSError as error:
            raise cannot_write(nor, error) from error
    return NorBoot(nor, board, strict_clocks=False, keeps_writes=True, development=asked.boot == "development")


def _fronts(asked: argparse.Namespace) -> list[tuple[int, Callable[[VirtualDebugPort], Front]]]:
    """Return the makers of the wanted fronts with their TCP ports."""
    from n6build.board.probe import openocd_front, pyocd_front

    if asked.front == _BOTH:
        first, second = pyocd_front.PORT, openocd_front.PORT
        if asked.port is not None:
            first, second = asked.port, asked.port and asked.port + 1
        return [(first, pyocd_front.PyocdFront), (second, openocd_front.OpenocdFront)]
    if asked.front == _OPENOCD:
        return [(openocd_front.PORT if asked.port is None else asked.port, openocd_front.OpenocdFront)]
    return [(pyocd_front.PORT if asked.port is None else asked.port, pyocd_front.PyocdFront)]


def _show_commands(front: str, ports: Sequence[int], board: Board, folder: Path) -> None:
    """Print a line with the command for each kind of debugger; OpenOCD gets a file."""
    from n6build.base.files import write_atomically
    from n6build.board.flash.programmers.openocd import server_script

    kinds = (_PYOCD, _OPENOCD) if front == _BOTH else (front,)
    for kind, port in zip(kinds, ports, strict=True):
        if kind == _PYOCD:
            say("pyOCD", f"pyocd commander --uid remote:127.0.0.1:{port} --target cortex_m")
        else:
            script = folder / "openocd.cfg"
            write_atomically(script, server_script(board, port))
            say("OpenOCD", f"openocd -f {script}")


def probe_server_parser() -> CommandParser:
    """Return the parser of the words behind `n6build probe-server`."""
    parser = CommandParser(prog="n6build probe-server", description=f"{HELP[0].upper()}{HELP[1:]}.", allow_abbrev=False)
    parser.add_argument(
        "--board", metavar="NAME", default=Choices.board, help=f"virtual board; default: {Choices.board}"
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=_port,
        help="TCP port of this computer only, 0 for any; OpenOCD gets the next one with --front both; default: pyOCD "
        "5555, OpenOCD 3335",
    )
    parser.add_argument(
        "--boot",
        choices=("development", "flash"),
        default="development",
        help="development: the boot ROM waits for a debugger; flash: it starts the FSBL in the NOR, and the core is "
        "closed for debuggers; default: development",
    )
    parser.add_argument(
        "--front", choices=(_PYOCD, _OPENOCD, _BOTH), default=_BOTH, help="debuggers to wait for; default: both"
    )
    parser.add_argument(
        "--nor",
        metavar="FILE",
        help="content of the NOR, which debuggers change; default: a file in the build folder, erased if it is new",
    )
    add_build(parser)
    add_quiet(parser)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"'{text}' is not a TCP port from 0 to {_MOST_PORT}")
    return int(text)

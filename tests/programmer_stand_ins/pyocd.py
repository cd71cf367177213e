"""pyOCD 0.46: json --probes, commander with read32 and savemem, load, reset.

A failure ends with a status, without the word 'Error:'.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from programmer_stand_ins.board import Board, Fault

_TARGETS = ("stm32n657x0hxq",)


def main(folder: Path, arguments: list[str]) -> int:
    board = Board(folder)
    if arguments == ["json", "--probes"]:
        return _list(board)
    parser = argparse.ArgumentParser()
    parser.add_argument("subcommand", choices=("commander", "load", "reset", "gdbserver"))
    parser.add_argument("--no-wait", action="store_true", required=True)
    parser.add_argument("--uid", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("-O", dest="options", choices=("resume_on_disconnect=false",))
    parser.add_argument("--script", type=Path)
    parser.add_argument("-c", dest="commands", action="append", default=[])
    parser.add_argument("--erase", choices=("sector",))
    parser.add_argument("--no-reset", action="store_true")
    parser.add_argument("--format", choices=("bin",))
    parser.add_argument("--connect", choices=("halt",))
    parser.add_argument("--port", type=int)
    parser.add_argument("--method", choices=("hw",))
    parser.add_argument("files", nargs="*")
    options = parser.parse_intermixed_args(arguments)
    if options.script:
        compile(options.script.read_text(), options.script.name, "exec")
    reads = options.script is not None and "did_connect" in options.script.read_text()
    if options.target not in _TARGETS:
        return _critical(f"Target type {options.target} not recognized")
    try:
        if not board.connect(options.uid):
            return _critical(f"No connected debug probe matches unique ID '{options.uid}'")
        if reads:
            print(f"n6 nor id 0x{board.settings.jedec_id:06x}")
        for command in options.commands:
            _commander(board, command.split())
        if options.files and not options.script:
            return _critical("no memory region for the NOR")
        for file in options.files:
            path, _, address = file.rpartition("@")
            board.program(int(address, 16), Path(path).read_bytes())
        if options.subcommand == "gdbserver":
            board.operation()
            print(f"0000456 I GDB server listening on port {options.port} (core 0) [gdbserver]")
            print("0001234 I Client detached [gdbserver]", flush=True)
        if options.subcommand == "reset":
            board.begin(board.settings.on_reset)
    except Fault:
        return _critical("Unexpected ACK value (0)")
    return 0


def _list(board: Board) -> int:
    boards = [
        {"unique_id": serial, "info": f"STMicroelectronics {name}", "board_name": name, "target": "cortex_m"}
        for serial, name in board.settings.probes.items()
    ]
    print(json.dumps({"pyocd_version": "0.46.0", "version": {"major": 1, "minor": 1}, "status": 0, "boards": boards}))
    return 0


def _critical(text: str) -> int:
    print(f"0000311 C {text} [__main__]", file=sys.stderr)
    return 1


def _commander(board: Board, words: list[str]) -> None:
    if words[0] == "read32":
        board.operation()
        value = 0x2003_6000 | board.settings.device_id
        print(f"{int(words[1], 16):08x}:  {value:08x}    | ..|")
    elif words[0] == "savemem":
        Path(words[3]).write_bytes(board.read(int(words[1], 16), int(words[2])))
        print(f"Saved {words[2]} bytes to {words[3]}")
    elif words[0] == "loadmem":
        board.load(int(words[1], 16), Path(words[2]).read_bytes())
    elif words[0] == "continue":
        board.begin(board.settings.on_start)
    elif words[0] in ("halt", "wreg", "status"):
        board.operation()
    else:
        raise ValueError(words[0])

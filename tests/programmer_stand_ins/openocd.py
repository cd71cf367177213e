"""OpenOCD: a configuration file with commands behind `init`. It ends with 1 after the first that fails."""

from __future__ import annotations

import re
from pathlib import Path

from programmer_stand_ins.board import BASE, Board, Fault

_NEEDED = ("transport select dapdirect_swd", "source [find target/stm32n6x.cfg]", "flash bank nor stmqspi 0x70000000")


def main(folder: Path, arguments: list[str]) -> int:
    board = Board(folder)
    print("Open On-Chip Debugger 0.12.0+dev-01360")
    script = Path(arguments[arguments.index("-f") + 1]).read_text()
    missing = [line for line in _NEEDED if line not in script]
    if missing:
        return _error(f"no {missing[0]}")
    serial = re.search(r"^adapter serial (\S+)$", script, re.MULTILINE)
    try:
        if serial is None or not board.connect(serial[1]):
            return _error("open failed")
        return _commands(board, script[script.index("\ninit\n") + 6 :].splitlines())
    except Fault:
        return _error("jtag status contains invalid mode value - communication failure")


def _error(text: str) -> int:
    print(f"Error: {text}")
    return 1


def _commands(board: Board, lines: list[str]) -> int:
    mapped = False
    for line in lines:
        if line in ("halt", "shutdown"):
            continue
        if line == "n6_device_id":
            print(f"n6 device 0x2003{0x6000 | board.settings.device_id:04x}")
        elif line == "n6_open_nor":
            board.operation()
            mapped = True
        elif match := re.fullmatch(r'echo "(.*)"', line):
            print(match[1])
        elif line == "reset run":
            board.operation()
        elif not mapped:
            return _error("auto_probe failed")
        elif match := re.fullmatch(r"flash write_image erase \{(.*)\} (0x\w+) bin", line):
            board.program(int(match[2], 16), Path(match[1]).read_bytes())
            print(f"auto erase enabled\nwrote {Path(match[1]).stat().st_size} bytes from file {match[1]}")
        elif match := re.fullmatch(r"flash verify_image \{(.*)\} (0x\w+) bin", line):
            if not board.holds(int(match[2], 16), Path(match[1]).read_bytes()):
                return _error("checksum mismatch")
        elif match := re.fullmatch(r"flash read_bank nor \{(.*)\} (0x\w+) (\d+)", line):
            Path(match[1]).write_bytes(board.read(BASE + int(match[2], 16), int(match[3])))
        else:
            return _error(f'invalid command name "{line.split()[0]}"')
    return 0

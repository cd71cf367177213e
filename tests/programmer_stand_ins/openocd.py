"""OpenOCD: a configuration file with commands behind `init`.

It ends with 1 after the first command that fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from programmer_stand_ins.board import BASE, Board, Fault

_NEEDED = (
    "transport select dapdirect_swd",
    "source [find target/stm32n6x.cfg]",
    "flash bank nor stmqspi 0x70000000",
    "catch {flash probe nor}\n    stmqspi set nor ",
)


def main(folder: Path, arguments: list[str]) -> int:
    board = Board(folder)
    print("Open On-Chip Debugger 0.12.0+dev-01360")
    script = Path(arguments[arguments.index("-f") + 1]).read_text()
    if "\ngdb_port disabled" not in script:
        return _serve(board, script)
    by_pin = "\nreset_config srst_only\n" in script
    missing = [line for line in (_NEEDED[:2] if by_pin else _NEEDED) if line not in script]
    if missing:
        return _error(f"no {missing[0]}")
    serial = re.search(r"^adapter serial (\S+)$", script, re.MULTILINE)
    try:
        if serial is None or not board.connect(serial[1]):
            return _error("open failed")
        return _commands(board, script[script.index("\ninit\n") + 6 :].splitlines())
    except Fault:
        return _error("jtag status contains invalid mode value - communication failure")


def _serve(board: Board, script: str) -> int:
    """Serve a debugger that disconnects at once."""
    missing = [line for line in (*_NEEDED[:2], "bindto 127.0.0.1", "{shutdown}\ninit\nhalt\n") if line not in script]
    serial = re.search(r"^adapter serial (\S+)$", script, re.MULTILINE)
    if missing or serial is None:
        return _error(f"no {missing or 'serial'}")
    try:
        if not board.connect(serial[1]):
            return _error("open failed")
        board.operation()
    except Fault:
        return _error("jtag status contains invalid mode value - communication failure")
    print(f"Info : Listening on port {re.findall(r'gdb_port (.*)', script)[0]} for gdb connections")
    print(re.findall(r'echo "(.*)"', script)[0])
    print("shutdown command invoked")
    return 0


def _error(text: str) -> int:
    print(f"Error: {text}")
    return 1


def _commands(board: Board, lines: list[str]) -> int:
    mapped = False
    for line in lines:
        mapped = mapped or line == "n6_open_nor"
        if line.startswith("flash ") and not mapped:
            return _error("auto_probe failed")
        for pattern, carry_out in _PATTERNS:
            if match := re.fullmatch(pattern, line):
                if error := carry_out(board, *match.groups()):
                    return _error(error)
                break
        else:
            return _error(f'invalid command name "{line.split()[0]}"')
    return 0


def _nor_id(board: Board) -> None:
    board.operation()
    print(f"n6 nor id 0x{board.settings.jedec_id:06x}")


def _load(board: Board, path: str, address: str) -> None:
    board.load(int(address, 16), Path(path).read_bytes())


def _write(board: Board, path: str, address: str) -> None:
    board.program(int(address, 16), Path(path).read_bytes())
    print(f"auto erase enabled\nwrote {Path(path).stat().st_size} bytes from file {path}")


def _verify(board: Board, path: str, address: str) -> str:
    return "" if board.holds(int(address, 16), Path(path).read_bytes()) else "checksum mismatch"


def _read(board: Board, path: str, offset: str, size: str) -> None:
    Path(path).write_bytes(board.read(BASE + int(offset, 16), int(size)))


# Each pattern of a script's line has a function, which returns an error or nothing.
_PATTERNS: tuple[tuple[str, Callable[..., str | None]], ...] = (
    ("halt|shutdown", lambda _: None),
    ("n6_device_id", lambda board: print(f"n6 device 0x2003{0x6000 | board.settings.device_id:04x}")),
    ("n6_nor_id", _nor_id),
    ("n6_open_nor|reg (?:sp|pc|xPSR) 0x[0-9A-F]+", Board.operation),
    ('echo "(.*)"', lambda _, text: print(text)),
    (r"adapter assert srst|sleep \d+", lambda _: None),
    ("adapter deassert srst", lambda board: board.begin(board.settings.on_reset)),
    ("resume", lambda board: board.begin(board.settings.on_start)),
    (r"load_image \{(.*)\} (0x\w+) bin", _load),
    (r"flash write_image erase \{(.*)\} (0x\w+) bin", _write),
    (r"flash verify_image \{(.*)\} (0x\w+) bin", _verify),
    (r"flash read_bank nor \{(.*)\} (0x\w+) (\d+)", _read),
)

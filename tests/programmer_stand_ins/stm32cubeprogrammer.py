"""STM32_Programmer_CLI: the options that n6build uses, and its output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from programmer_stand_ins.board import BASE, Board, Fault

_LINE = "      " + "-" * 67


def main(folder: Path, arguments: list[str]) -> int:
    board = Board(folder)
    print(f"{_LINE}\n                       STM32CubeProgrammer v{board.settings.version}\n{_LINE}\n")
    if arguments[0] == "-l":
        return _list(board)
    try:
        return _connected(board, arguments)
    except Fault as fault:
        print("\x1b[31mError: ST-LINK error (DEV_USB_COMM_ERR)\x1b[0m")
        return 0 if fault.kind == "zero" else 1


def _list(board: Board) -> int:
    print("=====  STLink Interface  =====")
    if not board.settings.probes:
        print("Error: No ST-LINK detected!")
        return 1
    print("\n-------- Connected ST-LINK Probes List --------\n")
    for index, (serial, name) in enumerate(board.settings.probes.items()):
        print(
            f"ST-Link Probe {index} :\n   ST-LINK SN  : {serial}\n   ST-LINK FW  : V3J16M6\n   Access Port Number  : 2"
        )
        print(f"   Board Name  : {name}")
    print("-----------------------------------------------")
    return 0


def _connected(board: Board, arguments: list[str]) -> int:
    serial = next(argument[3:] for argument in arguments if argument.startswith("sn="))
    if not board.connect(serial):
        print("Error: No debug probe detected.")
        return 1
    print(f"ST-LINK SN  : {serial}\nST-LINK FW  : V3J16M6\nBoard       : {board.settings.probes[serial]}")
    print("Voltage     : 3.28V\nSWD freq    : 8000 KHz\nConnect mode: Hot Plug\nReset mode  : Software reset")
    print(f"Device ID   : 0x{board.settings.device_id:03X}\nRevision ID : Rev B\nDevice name : STM32N6xx\n")
    words = arguments[arguments.index(f"sn={serial}") + 1 :]
    reads = 0
    while words:
        option = words.pop(0)
        count, carry_out = _OPTIONS[option]
        values, words = words[:count], words[count:]
        if option == "-r":
            reads += 1
            if reads > 1 and board.settings.one_read:
                continue
        if error := carry_out(board, *values):
            print(f"Error: {error}")
            return 1
    return 0


def _loader(_: Board, path: str) -> None:
    if not Path(path).is_file():
        # The real program was seen to accept this without an error.
        print("Warning: the external loader is ignored")


def _write(board: Board, path: str, address: str) -> None:
    data, at = Path(path).read_bytes(), int(address, 16)
    print(f"Memory Programming ...\nOpening and parsing file: {Path(path).name}\n  Address       : 0x{at:08X}\n")
    if at < BASE:
        board.load(at, data)
    else:
        print("Erasing memory corresponding to segment 0:\nErasing external memory sectors\nDownload in Progress:")
        board.program(at, data)
    print("\n\x1b[32mFile download complete\x1b[0m\nTime elapsed during download operation: 00:00:02.117\n")


def _read(board: Board, address: str, size: str, path: str) -> None:
    Path(path).write_bytes(board.read(int(address, 16), int(size)))
    print(f"UPLOADING ...\n  Size          : {size} Bytes\n  Address       : {address}\nRead progress:")
    print("Data read successfully\nTime elapsed during the read operation is: 00:00:00.009")


def _reset(board: Board) -> None:
    board.begin(board.settings.on_reset)
    print("Hard reset is performed")


def _halt(_: Board) -> None:
    print("Core halted")


def _write_word(board: Board, address: str, value: str) -> str:
    if address == "0xE000ED08" and int(value, 16) != int((board.folder / "ram.address").read_text(), 16):
        return "there is no vector table"
    return ""


def _set_registers(_: Board, stack: str, program_counter: str) -> str:
    return "" if stack.startswith("MSP=0x") and program_counter.startswith("PC=0x") else "unknown register"


def _run(board: Board) -> None:
    board.begin(board.settings.on_start)
    print("Core run")


# Each option maps to the number of its words and to its function, which returns an error or an empty text.
_OPTIONS: dict[str, tuple[int, Callable[..., str | None]]] = {
    "-el": (1, _loader),
    "-w": (2, _write),
    "-r": (3, _read),
    "-hardRst": (0, _reset),
    "-halt": (0, _halt),
    "-w32": (2, _write_word),
    "-coreReg": (2, _set_registers),
    "-run": (0, _run),
}

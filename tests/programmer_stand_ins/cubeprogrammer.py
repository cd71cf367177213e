"""STM32_Programmer_CLI: -l, -c, -el, -w with -v, -r, -hardRst, and what it prints of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from programmer_stand_ins.board import Board, Fault

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
    read = False
    while words:
        option = words.pop(0)
        if option == "-el":
            if not Path(words.pop(0)).is_file():
                print("Warning: the external loader is ignored")
        elif option == "-w":
            path, address = Path(words.pop(0)), int(words.pop(0), 16)
            print(f"Memory Programming ...\nOpening and parsing file: {path.name}\n  Address       : 0x{address:08X}")
            print(
                "\nErasing memory corresponding to segment 0:\nErasing external memory sectors\nDownload in Progress:"
            )
            board.program(address, path.read_bytes())
            print("\n\x1b[32mFile download complete\x1b[0m\nTime elapsed during download operation: 00:00:02.117\n")
            if words[:1] == ["-v"]:
                words.pop(0)
                print("Verifying ...\n")
                if not board.holds(address, path.read_bytes()):
                    print(f"Error: Data mismatch found at address 0x{address:08X}")
                    return 1
                print("\x1b[32mDownload verified successfully\x1b[0m")
        elif option == "-r":
            address, size, path = int(words.pop(0), 16), int(words.pop(0)), Path(words.pop(0))
            if not (read and board.settings.one_read):
                path.write_bytes(board.read(address, size))
                print(
                    f"UPLOADING ...\n  Size          : {size} Bytes\n  Address       : 0x{address:08X}\nRead progress:"
                )
                print("Data read successfully\nTime elapsed during the read operation is: 00:00:00.009")
            read = True
        elif option == "-hardRst":
            board.operation()
            if board.settings.on_reset:
                subprocess.Popen(board.settings.on_reset, stdin=subprocess.DEVNULL, start_new_session=True)
            print("Hard reset is performed")
        else:
            print(f"Error: Wrong command {option}")
            return 1
    return 0

"""A fake flashcat for tests, whose board is a folder.

Its path in the project is tests/programmer_stand_ins/flashcat.py.
"""

from __future__ import annotations

from pathlib import Path

from programmer_stand_ins.board import Board


def main(folder: Path, arguments: list[str]) -> int:
    board = Board(folder)
    if arguments == ["list"]:
        for serial, name in board.settings.probes.items():
            print("probe", serial, name)
        return 0
    serial, verb, *words = arguments
    if not board.connect(serial):
        print("Error: the cat is asleep")
        return 1
    if verb == "id":
        print(f"chip {board.settings.device_id:x}")
    elif verb == "read":
        for address, size, path in zip(words[::3], words[1::3], words[2::3], strict=True):
            Path(path).write_bytes(board.read(int(address, 16), int(size)))
            print("done")
    elif verb == "write":
        for address, path in zip(words[::2], words[1::2], strict=True):
            board.program(int(address, 16), Path(path).read_bytes())
            print("done")
    elif verb == "ram":
        board.load(int(words[0], 16), Path(words[1]).read_bytes())
        print("done")
    else:
        board.begin(board.settings.on_reset)
        print("done")
    return 0

"""ST-LINK_gdbserver, which comes with STM32CubeProgrammer.

A debugger connects and disconnects at once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from programmer_stand_ins.board import Board, Fault


def main(folder: Path, arguments: list[str]) -> int:
    board = Board(folder)
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", type=int, required=True)
    parser.add_argument("-cp", type=Path, required=True)
    parser.add_argument("-d", action="store_true", required=True)
    parser.add_argument("-m", choices=("1",), required=True)
    parser.add_argument("-i", required=True)
    parser.add_argument("--halt", action="store_true")
    options = parser.parse_args(arguments)
    assert (options.cp / "STM32_Programmer_CLI").is_file()
    print("STMicroelectronics ST-LINK GDB server. Version 7.8.0\n\nStarting server with the following options:")
    print(f"        Listen Port Number         : {options.p}")
    try:
        if not board.connect(options.i):
            print("Error in initializing ST-LINK device.\nReason: ST-LINK device not found.")
            return 1
        board.operation()
    except Fault:
        print("Error in initializing ST-LINK device.\nReason: Unknown. Please check power and cabling to target.")
        return 1
    print("Waiting for debugger connection...\nDebugger connected\nDebugger connection lost.\nShutting down...")
    return 0

#!/usr/bin/env python3
"""Disassembled blobs of the NPU's epoch controller.

    tools/npu_blob.py network_ecblobs.h                 registers, fields and ports by their names; a form that diff compares
    tools/npu_blob.py network_rel.bin --json            the same for programs
    tools/npu_blob.py network_ecblobs.h --list          only their names and sizes

They come from NAME_ecblobs.h, from a single blob, or from any binary with blobs in it (a
relocatable model, an image of flash).
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.describe.hardware.boards import board_names, load_board
from n6build.judge.npu.blobs import Blob, read_blobs
from n6build.judge.npu.disassemble import Instruction, blob_lines, instructions
from n6build.judge.npu.names import Names, names_of


def main(arguments: list[str] | None = None) -> int:
    """Print the blobs; return 0, or 2 for an unreadable file or a damaged blob.

    The part that could be decoded is printed before.
    """
    options = _parser().parse_args(arguments)
    names = names_of(load_board(options.board).soc.npu)
    try:
        blobs = read_blobs(options.file)
        if options.list:
            for blob in blobs:
                print(f"{blob.name}  {len(blob.words)} words{_relocatable(blob)}")
        elif options.json:
            print(to_json([_as_dict(blob, names) for blob in blobs]), end="")
        else:
            for blob in blobs:
                for line in blob_lines(blob, names):
                    print(line)
    except N6Error as error:
        sys.stdout.flush()
        sys.stderr.write(f"{error}\n")
        return 2
    except BrokenPipeError:
        # The reader of the pipe has closed it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _relocatable(blob: Blob) -> str:
    if blob.container is None:
        return ""
    changes = [f"+ {each.name}" for each in blob.container.relocations]
    changes += [f"patched by {each.name}" for each in blob.container.patches]
    return f", relocatable, container {blob.container.title}{''.join(f', {each}' for each in changes)}"


def _as_dict(blob: Blob, names: Names) -> dict[str, Any]:
    decoded = [_instruction(each, names) for each in instructions(blob)]
    return {
        "name": blob.name,
        "relocatable": blob.relocatable,
        "container": f"0x{blob.container.layout.magic:08X}" if blob.container else None,
        "relocations": [asdict(each) for each in blob.container.relocations] if blob.container else [],
        "patches": [asdict(each) for each in blob.container.patches] if blob.container else [],
        "words": len(blob.words),
        "instructions": decoded,
    }


def _instruction(instruction: Instruction, names: Names) -> dict[str, Any]:
    fields = asdict(instruction)
    if "unit" in fields:
        fields["register"] = names.register_name(fields["unit"], fields["offset"])
    return {"instruction": type(instruction).__name__, **fields}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="npu_blob.py", description="disassembles blobs of the epoch controller")
    parser.add_argument("file", type=Path, help="NAME_ecblobs.h, or a binary")
    parser.add_argument(
        "--board", default=board_names()[0], help="board whose chip has the registers (default: %(default)s)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs")
    form.add_argument("--list", action="store_true", help="names and sizes only")
    return parser


if __name__ == "__main__":
    sys.exit(main())

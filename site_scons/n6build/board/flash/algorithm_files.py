"""Files with a board's flash algorithm, for debuggers without n6build."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.base.templates import render
from n6build.board.flash.algorithm import ERASE_MS, PAGE, PROGRAM_MS, SECTOR, FlashAlgorithm, build_algorithm
from n6build.board.flash.programmers.pyocd import nor_script
from n6build.describe.hardware.board import Board

PROBE_RS_TEMPLATE = Path(__file__).with_name("algorithm_probe_rs.yaml.j2")


@dataclass(frozen=True)
class AlgorithmFiles:
    """Files with a flash algorithm.

    Attributes:
        flm: ELF file as CMSIS packs have it.
        pyocd: Script for pyOCD's --script.
        probe_rs: Description of the chip for probe-rs.
    """

    flm: Path
    pyocd: Path
    probe_rs: Path


def write_algorithm(board: Board, folder: Path) -> AlgorithmFiles:
    """Write the flash algorithm of a board for debuggers.

    Raises:
        N6Error: The errors of `build_algorithm`; N6-FILE-001 if a file cannot be written.
    """
    algorithm = build_algorithm(board, folder / "build")
    names = AlgorithmFiles(*(folder / f"{board.name}{end}" for end in (".FLM", "_pyocd.py", "_probe_rs.yaml")))
    write_atomically(names.flm, content_of(algorithm.file))
    write_atomically(names.pyocd, nor_script(board, algorithm, reads=True))
    write_atomically(names.probe_rs, probe_rs_description(board, algorithm))
    return names


def probe_rs_description(board: Board, algorithm: FlashAlgorithm) -> str:
    """Return the description of a board's chip for probe-rs.

    It has the RAM that is on after reset, and the NOR.
    """
    memories = [
        {"name": name, "base": memory.base, "end": memory.end}
        for name, memory in board.soc.memories.items()
        if memory.clock is not None and memory.clock.on_after_reset
    ]
    values = {
        "board": board,
        "memories": memories,
        "algorithm": algorithm,
        "instructions": base64.b64encode(algorithm.code).decode(),
        "page": PAGE,
        "sector": SECTOR,
        "program_ms": PROGRAM_MS,
        "erase_ms": ERASE_MS,
    }
    return render(PROBE_RS_TEMPLATE, values)

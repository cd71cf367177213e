"""Files with a board's flash algorithm, for debuggers without n6build."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.board.flash.algorithm import build_algorithm
from n6build.board.flash.programmers.probe_rs import description
from n6build.board.flash.programmers.pyocd import nor_script
from n6build.describe.hardware.board import Board


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
    write_atomically(names.probe_rs, description(board, algorithm))
    return names

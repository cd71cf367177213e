"""The virtual board as an input of steps.

The sources of its emulator affect the result of a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from n6build.base import c_format
from n6build.base.files import digest_of, remembered
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.board.flash.probes import chosen_programmer
from n6build.board.flash.program import board_lock
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.flash.survey import writes_noted
from n6build.board.virtual_board import machine
from n6build.board.virtual_board.build import BINARY, place_of_emulator
from n6build.board.virtual_board.fuses import with_fuses, with_key
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.hardware import npu_header
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import read_board
from n6build.describe.hardware.soc import Soc
from n6build.describe.hardware.soc_header import HEADERS
from n6build.engine.step import Tool
from n6build.place.trust.encryption import read_key
from n6build.steps.flash_board import Target


def nor_of(target: Target) -> Path:
    """Return the file with the content of the virtual board's NOR."""
    return Path(target.virtual_board) / "nor.bin"


def boot_of(target: Target, board: Board) -> NorBoot:
    """Return the boot settings of a target's virtual board.

    Writes of its program are discarded.

    Raises:
        N6Error: As `with_fuses` and `read_key`.
    """
    boot = NorBoot(nor_of(target), board, strict_clocks=not target.foreign, harsh=target.harsh)
    boot = with_fuses(boot, target.fuses)
    return with_key(boot, read_key(Path(target.key))) if target.key else boot


@contextmanager
def switched_on(target: Target, board: Board) -> Iterator[NorBoot]:
    """Lock the virtual board for a run, and keep the writes of its program to the NOR.

    The next start sees these writes, as on any board.

    Raises:
        N6Error: N6-FLASH-002 if another build uses this virtual board.
    """
    programmer = chosen_programmer(target.probe, board, Path(target.virtual_board))
    with board_lock(programmer), writes_noted(programmer, board):
        yield replace(boot_of(target, board), keeps_writes=True)


def emulator_files(target: Target, board: Board) -> tuple[str, ...]:
    """Return the sources of a step that runs the emulator, or none for a real board."""
    return tuple(map(project_path, machine.machine_inputs(board))) if target.probe == VIRTUAL else ()


def emulator_tool(board: Board) -> Tool:
    """Return the emulator as a tool, identified by the digest of its binary.

    The binary also depends on the release of QEMU and on the compiler. The digest is missing until the
    emulator is built.

    Raises:
        N6Error: N6-VB-008 if the virtual board does not support the chosen release of QEMU.
    """
    return _tool(_sources(board.files[0]))


def emulator_for(soc: Soc) -> Tool:
    """Return the emulator of a chip as a tool, see `emulator_tool`."""
    return _tool(machine.machine_sources(soc))


def _tool(sources: dict[str, str]) -> Tool:
    return Tool(BINARY, digest_of(place_of_emulator(sources)))


@remembered
def _sources(board_file: Path) -> dict[str, str]:
    """Return the emulator's sources, remembered because a matrix has many runs."""
    return machine.machine_sources(read_board(board_file).soc)


def emulator_templates(target: Target) -> tuple[str, ...]:
    """Return the templates of a step that runs the emulator, or none for a real board."""
    if target.probe != VIRTUAL:
        return ()
    soc_headers = dict.fromkeys(header.template for header in HEADERS)
    templates = (*soc_headers, c_format.TEMPLATE, machine.TEMPLATE, npu_header.TEMPLATE)
    return tuple(dict.fromkeys(project_path(path) for template in templates for path in with_included(template)))

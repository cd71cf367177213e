"""Which board a `flash` goes to. Nothing is ever chosen silently: a board that was not named must be the only one."""

from __future__ import annotations

from pathlib import Path

from n6build.boards import Board
from n6build.errors import N6Error, did_you_mean
from n6build.flash.cubeprogrammer import COMMAND, CubeProgrammer, attached_probes, find_command
from n6build.flash.programmer import Programmer
from n6build.flash.virtual import VirtualProgrammer

VIRTUAL = "virtual"
AUTO = "auto"
CUBE = "stm32cubeprogrammer"


def choose_programmer(probe: str, board: Board, virtual_folder: Path) -> Programmer:
    """probe: 'auto', 'virtual' or a serial number, with 'stm32cubeprogrammer:' in front or without.

    Raises N6-FLASH-010 (none), -011 (several), -012 (not that one).
    """
    if probe == VIRTUAL:
        return VirtualProgrammer(virtual_folder, board.nor.base, board.nor.size)
    probe = probe.removeprefix(f"{CUBE}:")
    command = find_command()
    serials = attached_probes(command) if command else []
    if probe == AUTO:
        if not serials:
            why = (
                "no debug probe is attached" if command else f"no debug probe was looked for: {COMMAND} is not in PATH"
            )
            hint = "plug the board in, or flash the virtual board: probe=virtual"
            raise N6Error("N6-FLASH-010", f"{why}; nothing was programmed", hint=hint)
        if len(serials) > 1:
            raise N6Error(
                "N6-FLASH-011",
                f"{len(serials)} probes are attached: {', '.join(serials)}",
                hint=f"choose one: probe={serials[0]}",
            )
        probe = serials[0]
    if command is None or probe not in serials:
        raise N6Error("N6-FLASH-012", f"probe '{probe}' is not attached", hint=did_you_mean(probe, [*serials, VIRTUAL]))
    hints = board.programmer
    return CubeProgrammer(command, probe, hints.external_loader, hints.dev_boot, hints.flash_boot)

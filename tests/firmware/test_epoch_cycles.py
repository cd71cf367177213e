"""Blocks that ST's runtime inserts for a hybrid epoch count as part of it.

They do not count as the first epochs of the network.
"""

from __future__ import annotations

from pathlib import Path

from firmware_build import BOARD, bring_up, build, image_of, write_nor
from n6build.base.paths import FIRMWARE
from n6build.board.run.console_log import ends_run, read_console
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot, run_nor
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.program_places import appli_ram, program_script

PROGRAM = Path(__file__).parent / "programs" / "hybrid_epochs.c"


def test_cycles_of_inserted_blocks_are_those_of_their_epoch(tmp_path: Path, fsbl: bytes) -> None:
    include = [f"-I{FIRMWARE / part}" for part in ("appli", "runtime")]
    sources = [PROGRAM, FIRMWARE / "appli" / "n6_inference.c", *bring_up()]
    elf = build(tmp_path, "hybrid_epochs", sources, program_script(appli_ram(BOARD.soc)), include)
    parts = {BOARD.slots.fsbl.address: fsbl, BOARD.slots.appli.address: image_of(elf, BinaryType.SSBL)}
    boot = NorBoot(write_nor(tmp_path / "nor.bin", parts), BOARD)
    result = run_nor(find_emulator(BOARD.soc), boot, programs=[elf], stop=ends_run)
    assert result.ended == "stopped"
    hybrid, software = (read_console(result.lines).inferences[1].epoch_cycles[place] for place in (1, 2))
    # The hybrid epoch has two blocks of 10 in its core and one of 1 at its end. The software epoch has one of
    # 10 at its end. One turn takes the same time everywhere.
    turn = software.end / 10_000
    assert [round(part / turn / 1000) for part in (hybrid.start, hybrid.core, hybrid.end)] == [0, 20, 1]
    assert [round(part / turn / 1000) for part in (software.start, software.core, software.end)] == [0, 0, 10]

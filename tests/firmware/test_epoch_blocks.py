"""The Appli reports which epoch block runs, when it has ended, and its cycles.

Blocks that ST's runtime inserts for a hybrid epoch are part of that epoch. They do not count as the
first epochs of the network.
"""

from __future__ import annotations

import struct
from pathlib import Path

from elf_symbols import symbols_of
from elftools.elf.elffile import ELFFile
from firmware_build import BOARD, bring_up, build, image_of
from n6build.base.paths import FIRMWARE
from n6build.board.run.console_log import ends_run, read_console
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.program_places import appli_ram, program_script
from virtual_board.small_programs import boot_both

PROGRAM = Path(__file__).parent / "programs" / "hybrid_epochs.c"
# The first inference has an outer block with two inserted ones, then one of software. The test changes the
# counter before the latter.
PUT = 100
ENDED_AFTER = {0: 3, 1: PUT + 1}


def address_of(elf: Path, name: str) -> int:
    with elf.open("rb") as file:
        return next(int(symbol["st_value"]) for symbol in symbols_of(ELFFile(file)) if symbol.name == name)


def built(folder: Path) -> Path:
    include = [f"-I{FIRMWARE / part}" for part in ("appli", "runtime")]
    sources = [PROGRAM, FIRMWARE / "appli" / "n6_inference.c", *bring_up()]
    return build(folder, "hybrid_epochs", sources, program_script(appli_ram(BOARD.soc)), include)


def test_blocks_are_told_when_they_begin_and_when_they_have_ended(tmp_path: Path, fsbl: bytes) -> None:
    elf = built(tmp_path)
    files = NpuFiles(record=tmp_path / "record", trace=tmp_path / "trace", tensors=tmp_path / "tensors")
    assert files.tensors and files.trace and files.record
    counter = address_of(elf, "ended_blocks")
    gets = "".join(f"get 0 place {place} 0x{counter:08x} 4 {4 * place}\n" for place in sorted(ENDED_AFTER))
    files.tensors.write_text(f"put 0 place 1 0x{counter:08x} 4 0\n{gets}")
    files.tensors.with_name("tensors.in").write_bytes(struct.pack("<I", PUT))
    result = boot_both(tmp_path, fsbl, image_of(elf, BinaryType.SSBL), [elf], stop=ends_run, npu=files)
    assert result.findings == ()
    assert files.trace.read_text() == "epoch 0 0\nepoch 0 1\n" * 2
    # The values are still in the data cache, which no code has cleaned.
    assert struct.unpack("<2I", files.tensors.with_name("tensors.out").read_bytes()) == tuple(ENDED_AFTER.values())
    assert files.record.read_bytes() == b""


def test_cycles_of_inserted_blocks_are_those_of_their_epoch(tmp_path: Path, fsbl: bytes) -> None:
    result = boot_both(tmp_path, fsbl, image_of(built(tmp_path), BinaryType.SSBL), stop=ends_run)
    assert result.ended == "stopped"
    hybrid, software = (read_console(result.lines).inferences[1].epoch_cycles[place] for place in (1, 2))
    # The hybrid epoch has two blocks of 10 in its core and one of 1 at its end. The software epoch has one of
    # 10 at its end. One turn takes the same time everywhere.
    turn = software.end / 10_000
    assert [round(part / turn / 1000) for part in (hybrid.start, hybrid.core, hybrid.end)] == [0, 20, 1]
    assert [round(part / turn / 1000) for part in (software.start, software.core, software.end)] == [0, 0, 10]

"""The Appli reports which epoch block runs and when it has ended.

Blocks that ST's runtime inserts for a hybrid epoch are part of that epoch.
"""

from __future__ import annotations

import struct
from pathlib import Path

from elf_symbols import symbols_of
from elftools.elf.elffile import ELFFile
from firmware_build import BOARD, bring_up, build, image_of, write_nor
from n6build.base.paths import FIRMWARE
from n6build.board.run.console_log import ends_run
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.board.virtual_board.run import NorBoot, run_nor
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.program_places import appli_ram, program_script

PROGRAM = Path(__file__).parent / "programs" / "hybrid_epochs.c"
# The first inference has an outer block with two inserted ones, then one of software. The test changes the
# counter before the latter.
PUT = 100
ENDED_AFTER = {0: 3, 1: PUT + 1}


def address_of(elf: Path, name: str) -> int:
    with elf.open("rb") as file:
        return next(int(symbol["st_value"]) for symbol in symbols_of(ELFFile(file)) if symbol.name == name)


def test_blocks_are_told_when_they_begin_and_when_they_have_ended(tmp_path: Path, fsbl: bytes) -> None:
    include = [f"-I{FIRMWARE / part}" for part in ("appli", "runtime")]
    sources = [PROGRAM, FIRMWARE / "appli" / "n6_inference.c", *bring_up()]
    elf = build(tmp_path, "hybrid_epochs", sources, program_script(appli_ram(BOARD.soc)), include)
    parts = {BOARD.slots.fsbl.address: fsbl, BOARD.slots.appli.address: image_of(elf, BinaryType.SSBL)}
    files = NpuFiles(record=tmp_path / "record", trace=tmp_path / "trace", tensors=tmp_path / "tensors")
    assert files.tensors and files.trace and files.record
    counter = address_of(elf, "ended_blocks")
    gets = "".join(f"get 0 place {place} 0x{counter:08x} 4 {4 * place}\n" for place in sorted(ENDED_AFTER))
    files.tensors.write_text(f"put 0 place 1 0x{counter:08x} 4 0\n{gets}")
    files.tensors.with_name("tensors.in").write_bytes(struct.pack("<I", PUT))
    boot = NorBoot(write_nor(tmp_path / "nor.bin", parts), BOARD, npu=files)
    result = run_nor(find_emulator(BOARD.soc), boot, programs=[elf], stop=ends_run)
    assert result.findings == ()
    assert files.trace.read_text() == "epoch 0 0\nepoch 0 1\n" * 2
    # The values are still in the data cache, which no code has cleaned.
    assert struct.unpack("<2I", files.tensors.with_name("tensors.out").read_bytes()) == tuple(ENDED_AFTER.values())
    assert files.record.read_bytes() == b""

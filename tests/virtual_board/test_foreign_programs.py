"""Third-party programs, unmodified: each FSBL with each Appli.

If a row gets further than before, put its new result into `MATRIX`. Its comments explain where the
others stop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from end_to_end.conftest import make_project
from n6build.base.errors import N6Error
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.hardware.boards import load_board
from n6build.place.image.foreign import Piece, Role, flash_pieces
from n6build.place.image.program_board import program_board
from samples import sample

BOARD = load_board("stm32n6570-dk")
OURS = "ours"
FSBLS = {
    "lrun 1.2": "boot/fsbl_fw_lrun_v1.2.0.bin",
    "LoadAndRun": "boot/LoadAndRun-FSBL-trusted.bin",
    "PSRAM": "boot/PSRAM-FSBL-trusted.bin",
    "XIP": "boot/XIP-FSBL-trusted.bin",
}
# Each with two Applis only: how these start others is as with the FSBLs above.
MORE_FSBLS = {"ai 1.4": "boot/ai_fsbl_v1.4.0.hex", "assistant": "boot/ai_assistant_fsbl.hex"}
MORE_APPLIS = {"assistant": "boot/AI_Assistant_Ref_Project.hex"}
APPLIS = {
    "Audio": "boot/aed_bm.bin",
    "LoadAndRun": "boot/LoadAndRun-Appli-trusted.bin",
    "PSRAM": "boot/PSRAM-Appli-trusted.bin",
    "XIP": "boot/XIP-Appli-trusted.bin",
}
WEIGHTS = "npu/yamnet-core-2.2/aed_weights.bin", 0x70180000
STARTED = "n6 appli start"
LIMITS = Limits(50_000_000, None, text=STARTED)


@dataclass(frozen=True)
class Reached:
    """The result of an FSBL with an Appli.

    Attributes:
        ended: As in RunResult, or the id of the error that refused the combination.
        lines: Lines of the console.
        findings: Their kinds, in the order in which they first came.
        stored: Registers that no model answers.
        at: Address of a program that does not end, to 256 bytes.
    """

    ended: str
    lines: int = 0
    findings: tuple[str, ...] = ()
    stored: int = 0
    at: str = ""


# The pads of the NOR stay in the range of 3.3 V, which is only a warning, because real boards run these
# programs.
RANGE = "nor-range"
# The program sets attributes of GPIOO before that has a clock: a warning, too. It blinks.
ATTRIBUTES = "attribute-off"
BLINKS = Reached("timeout", findings=(RANGE, ATTRIBUTES), at="0x34000fxx")
# The FSBL does not copy to this Appli's address, or does not map its memory.
LOST = Reached("exited", findings=(RANGE, "lockup"))
NOT_MAPPED = Reached("exited", findings=(RANGE, "psram-not-mapped", "lockup"))
# (FSBL, Appli) -> the result. Audio waits for devices that are not attached here: see test_st_audio.py.
MATRIX = {
    (OURS, OURS): Reached("until", 4),
    (OURS, "Audio"): Reached("timeout", 3, at="0x34007axx"),
    (OURS, "LoadAndRun"): Reached("timeout", 3, (ATTRIBUTES,), at="0x34000fxx"),
    (OURS, "PSRAM"): Reached("N6-FOREIGN-004"),
    (OURS, "XIP"): Reached("N6-FOREIGN-004"),
    ("lrun 1.2", OURS): Reached("until", 1, stored=1),
    ("lrun 1.2", "Audio"): Reached("timeout", stored=1, at="0x34007axx"),
    ("lrun 1.2", "LoadAndRun"): replace(BLINKS, findings=(ATTRIBUTES,), stored=1),
    ("lrun 1.2", "PSRAM"): replace(NOT_MAPPED, findings=("psram-not-mapped", "lockup"), stored=1),
    ("lrun 1.2", "XIP"): Reached("timeout", stored=3, at="0x70100fxx"),
    # This FSBL reads the status in octal DTR at one edge; the next one clocks the NOR with 133.33 MHz where 133 is the limit.
    ("ai 1.4", OURS): Reached("until", 1, stored=4),
    ("assistant", OURS): Reached("until", 1, ("nor-rate",)),
    ("ai 1.4", "Audio"): Reached("timeout", stored=4, at="0x34007axx"),
    ("assistant", "assistant"): Reached("timeout", findings=("nor-rate",), stored=6, at="0x340008xx"),
    ("LoadAndRun", OURS): Reached("until", 1, (RANGE,)),
    # This FSBL copies 64 KiB, whatever the Appli's size.
    ("LoadAndRun", "Audio"): Reached("timeout", findings=(RANGE, "short-copy", "hole"), at="0x34002bxx"),
    ("LoadAndRun", "LoadAndRun"): BLINKS,
    ("LoadAndRun", "PSRAM"): NOT_MAPPED,
    ("LoadAndRun", "XIP"): Reached("timeout", findings=(RANGE,), stored=2, at="0x70100fxx"),
    ("PSRAM", OURS): LOST,
    ("PSRAM", "Audio"): LOST,
    ("PSRAM", "LoadAndRun"): LOST,
    ("PSRAM", "PSRAM"): Reached("timeout", findings=(RANGE,), stored=6, at="0x910010xx"),
    ("PSRAM", "XIP"): Reached("timeout", findings=(RANGE,), stored=2, at="0x70100exx"),
    ("XIP", OURS): replace(LOST, findings=(RANGE, "hole", "lockup")),
    ("XIP", "Audio"): LOST,
    ("XIP", "LoadAndRun"): LOST,
    ("XIP", "PSRAM"): NOT_MAPPED,
    ("XIP", "XIP"): Reached("timeout", findings=(RANGE,), stored=2, at="0x70100fxx"),
}
# The other rows show nothing new, so they are slow.
MORE = {("ai 1.4", OURS), ("assistant", OURS), ("ai 1.4", "Audio"), ("assistant", "assistant")}
ALWAYS = MORE | {
    (OURS, OURS),
    (OURS, "LoadAndRun"),
    (OURS, "XIP"),
    ("lrun 1.2", "Audio"),
    ("PSRAM", "PSRAM"),
    ("XIP", "XIP"),
}


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[Role, Path]:
    """Return n6build's FSBL and Appli, without the Appli's weights in flash."""
    project = make_project(tmp_path_factory.mktemp("ours"))
    # As the FSBL is built for an Appli of somebody else, which sets its own clocks.
    project.done(f"board={BOARD.name}", "model=keyword", "clock=hsi", "build")
    folder = project.root / "build" / BOARD.name
    return {"fsbl": folder / "fsbl_image.bin", "appli": folder / "keyword/appli_image.bin"}


def boot(folder: Path, fsbl: Path, appli: Path, *, ours_copies: bool, strict: bool) -> RunResult:
    found: list[Piece] = flash_pieces(fsbl, "fsbl", program_board(BOARD), None, copied_by_ours=False)
    found += flash_pieces(appli, "appli", program_board(BOARD), None, copied_by_ours=ours_copies)
    file, address = WEIGHTS
    found += flash_pieces(sample(file), "data", program_board(BOARD), address, copied_by_ours=False)
    nor = bytearray(b"\xff") * BOARD.nor.size
    for piece in found:
        start = piece.address - BOARD.nor.base
        nor[start : start + len(piece.data)] = piece.data
    path = folder / "nor.bin"
    path.write_bytes(nor)
    booted = NorBoot(path, BOARD, strict_clocks=strict)
    return run_nor(find_emulator(BOARD.soc), booted, programs=[], stop=lambda _: False, limits=LIMITS)


def reached(folder: Path, ours: dict[Role, Path], fsbl: str, appli: str) -> Reached:
    first = ours["fsbl"] if fsbl == OURS else sample((FSBLS | MORE_FSBLS)[fsbl])
    second = ours["appli"] if appli == OURS else sample((APPLIS | MORE_APPLIS)[appli])
    try:
        result = boot(folder, first, second, ours_copies=fsbl == OURS, strict=fsbl == appli == OURS)
    except N6Error as error:
        return Reached(error.id)
    kinds = tuple(dict.fromkeys(finding.kind for finding in result.findings))
    at = f"{result.at[:-2]}xx" if result.ended == "timeout" else ""
    return Reached(result.ended, len(result.lines), kinds, len(result.unmodelled), at)


@pytest.mark.parametrize(
    ("fsbl", "appli"),
    [pytest.param(*pair, marks=() if pair in ALWAYS else pytest.mark.slow) for pair in MATRIX],
)
def test_it_comes_as_far_as_the_table_says(tmp_path: Path, ours: dict[Role, Path], fsbl: str, appli: str) -> None:
    assert reached(tmp_path, ours, fsbl, appli) == MATRIX[fsbl, appli]


def test_the_table_has_every_pair() -> None:
    pairs = {(fsbl, appli) for fsbl in (OURS, *FSBLS) for appli in (OURS, *APPLIS)}
    assert set(MATRIX) == pairs | MORE

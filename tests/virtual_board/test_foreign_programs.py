"""Third-party programs, unmodified: each FSBL with each Appli.

If a row gets further than before, put its new result into `MATRIX`. Its comments explain where the
others stop. `n6build survey FOLDER --run` makes such rows of any folder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from end_to_end.conftest import make_project
from n6build.board.virtual_board.run import Limits
from n6build.describe.hardware.boards import load_board
from n6build.describe.option import PlacedFile
from n6build.place.image.foreign import Role
from n6build.survey.starts import End, Pair, Stage, start
from samples import sample

BOARD = load_board("stm32n6570-dk")
OURS = "ours"
# A file that has FSBL and Appli.
WHOLE = ""
FSBLS = {
    "lrun 1.2": "boot/fsbl_fw_lrun_v1.2.0.bin",
    "LoadAndRun": "boot/LoadAndRun-FSBL-trusted.bin",
    "PSRAM": "boot/PSRAM-FSBL-trusted.bin",
    "XIP": "boot/XIP-FSBL-trusted.bin",
    "ai 1.4": "boot/ai_fsbl_v1.4.0.hex",
    "assistant": "boot/ai_assistant_fsbl.hex",
}
# Each is refused or started in one row: these rows are the same with any Appli.
ALONE = {
    "unaligned": "boot/STM32N6DK2_FSBL-Trusted.bin",
    "faces, DK": "boot/STM32N6570-DK_GettingStarted_FaceDetection.hex",
    "faces, Nucleo": "boot/NUCLEO-N657X0-Q_GettingStarted_FaceDetection-uvc.hex",
}
APPLIS = {
    "Audio": "boot/aed_bm.bin",
    "speech": "boot/se_bm.bin",
    "LoadAndRun": "boot/LoadAndRun-Appli-trusted.bin",
    "PSRAM": "boot/PSRAM-Appli-trusted.bin",
    "XIP": "boot/XIP-Appli-trusted.bin",
    "assistant": "boot/AI_Assistant_Ref_Project.hex",
}
WEIGHTS = "npu/yamnet-core-2.2/aed_weights.bin", 0x70180000
STARTED = "n6 appli start"
LIMITS = Limits(50_000_000, None, text=STARTED)


@dataclass(frozen=True)
class Reached:
    """The result of an FSBL with an Appli.

    Attributes:
        stage: As in Started.
        ended: As in Started: 'until' if our Appli has said that it started.
        lines: Lines of the console.
        findings: Their kinds, in the order in which they first came.
        stored: Registers that no model answers.
        at: Address of a program that does not end, to 256 bytes.
        why: The id of the error that refused the combination.
    """

    stage: Stage
    ended: End
    lines: int = 0
    findings: tuple[str, ...] = ()
    stored: int = 0
    at: str = ""
    why: str = ""


# The pads of the NOR stay in the range of 3.3 V, which is only a warning, because real boards run these
# programs.
RANGE = "nor-range"
# This FSBL clocks the NOR with 133.33 MHz where 133 is the limit.
RATE = "nor-rate"
# The program sets attributes of GPIOO before that has a clock: a warning, too. It blinks.
ATTRIBUTES = "attribute-off"
RUNS = Reached("Appli", "runs")
BLINKS = replace(RUNS, findings=(ATTRIBUTES,), at="0x34000fxx")
BLINKS_IN_FLASH = replace(RUNS, at="0x70100fxx")
# The FSBL does not copy to this Appli's address, or does not map its memory.
LOST = Reached("FSBL", "locks up", findings=(RANGE, "lockup"))
# Code that was never copied runs with whatever is in the registers, such as the address of the boot ROM's context in r0.
WILD = replace(LOST, findings=(RANGE, "hole", "lockup"))
NOT_MAPPED = Reached("FSBL", "locks up", findings=("psram-not-mapped", "lockup"))
# This FSBL copies 64 KiB, whatever the Appli's size.
SHORT = Reached("FSBL", "runs", findings=(RANGE, "short-copy", "hole"))
SAYS = Reached("Appli", "until", 1)
REFUSED = Reached("nothing", "refused", why="N6-FOREIGN-004")
# (FSBL, Appli) -> the result. Audio waits for devices that are not attached here: see test_st_audio.py.
MATRIX = {
    (OURS, OURS): replace(SAYS, lines=4),
    (OURS, "Audio"): replace(RUNS, lines=3, at="0x34007axx"),
    (OURS, "speech"): replace(RUNS, lines=3, at="0x34008axx"),
    (OURS, "LoadAndRun"): replace(BLINKS, lines=3),
    (OURS, "PSRAM"): REFUSED,
    (OURS, "XIP"): REFUSED,
    (OURS, "assistant"): replace(RUNS, lines=3, at="0x340008xx"),
    ("lrun 1.2", OURS): SAYS,
    ("lrun 1.2", "Audio"): replace(RUNS, at="0x34007axx"),
    ("lrun 1.2", "speech"): replace(RUNS, at="0x34008axx"),
    ("lrun 1.2", "LoadAndRun"): BLINKS,
    ("lrun 1.2", "PSRAM"): NOT_MAPPED,
    ("lrun 1.2", "XIP"): replace(BLINKS_IN_FLASH, stored=2),
    ("lrun 1.2", "assistant"): replace(RUNS, at="0x340008xx"),
    # This FSBL reads the status in octal DTR at one edge.
    ("ai 1.4", OURS): SAYS,
    ("ai 1.4", "Audio"): replace(RUNS, at="0x34007axx"),
    ("ai 1.4", "speech"): replace(RUNS, at="0x34008axx"),
    ("ai 1.4", "LoadAndRun"): replace(BLINKS, at="0x34000exx"),
    ("ai 1.4", "PSRAM"): NOT_MAPPED,
    ("ai 1.4", "XIP"): replace(BLINKS_IN_FLASH, stored=2, at="0x70100exx"),
    ("ai 1.4", "assistant"): replace(RUNS, at="0x340008xx"),
    ("assistant", OURS): replace(SAYS, findings=(RATE,)),
    ("assistant", "Audio"): replace(RUNS, findings=(RATE,), at="0x34001cxx"),
    ("assistant", "speech"): replace(RUNS, findings=(RATE,), at="0x340022xx"),
    ("assistant", "LoadAndRun"): replace(BLINKS, findings=(RATE, ATTRIBUTES)),
    ("assistant", "PSRAM"): replace(NOT_MAPPED, findings=(RATE, *NOT_MAPPED.findings)),
    ("assistant", "XIP"): replace(BLINKS_IN_FLASH, findings=(RATE,), stored=2),
    ("assistant", "assistant"): replace(RUNS, findings=(RATE,), at="0x340008xx"),
    ("LoadAndRun", OURS): replace(SAYS, findings=(RANGE,)),
    # The first instructions of the Applis of Audio are behind the 64 KiB.
    ("LoadAndRun", "Audio"): replace(SHORT, at="0x34002bxx"),
    ("LoadAndRun", "speech"): replace(SHORT, at="0x340033xx"),
    ("LoadAndRun", "LoadAndRun"): replace(BLINKS, findings=(RANGE, ATTRIBUTES)),
    ("LoadAndRun", "PSRAM"): replace(NOT_MAPPED, findings=(RANGE, *NOT_MAPPED.findings)),
    ("LoadAndRun", "XIP"): replace(BLINKS_IN_FLASH, findings=(RANGE,), stored=2),
    ("LoadAndRun", "assistant"): replace(SHORT, stage="Appli", at="0x3400aexx"),
    ("PSRAM", OURS): WILD,
    ("PSRAM", "Audio"): WILD,
    ("PSRAM", "speech"): WILD,
    ("PSRAM", "LoadAndRun"): WILD,
    ("PSRAM", "PSRAM"): replace(RUNS, findings=(RANGE,), stored=6, at="0x910010xx"),
    ("PSRAM", "XIP"): replace(BLINKS_IN_FLASH, findings=(RANGE,), stored=2, at="0x70100exx"),
    ("PSRAM", "assistant"): WILD,
    ("XIP", OURS): LOST,
    ("XIP", "Audio"): LOST,
    ("XIP", "speech"): LOST,
    ("XIP", "LoadAndRun"): LOST,
    ("XIP", "PSRAM"): replace(NOT_MAPPED, findings=(RANGE, *NOT_MAPPED.findings)),
    ("XIP", "XIP"): replace(BLINKS_IN_FLASH, findings=(RANGE,), stored=2),
    ("XIP", "assistant"): LOST,
    # Its vector table is at 0x240: it was signed without -align.
    ("unaligned", "LoadAndRun"): replace(REFUSED, why="N6-IMAGE-004"),
    ("faces, DK", WHOLE): replace(RUNS, at="0x340034xx"),
    ("faces, Nucleo", WHOLE): replace(RUNS, at="0x340034xx"),
}
# The other rows show nothing new, so they are slow.
ALWAYS = {
    (OURS, OURS),
    (OURS, "LoadAndRun"),
    (OURS, "XIP"),
    ("lrun 1.2", "Audio"),
    ("ai 1.4", OURS),
    ("ai 1.4", "Audio"),
    ("assistant", OURS),
    ("assistant", "assistant"),
    ("PSRAM", "PSRAM"),
    ("XIP", "XIP"),
    ("unaligned", "LoadAndRun"),
    ("faces, DK", WHOLE),
}


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[Role, Path]:
    """Return n6build's FSBL and Appli, without the Appli's weights in flash."""
    project = make_project(tmp_path_factory.mktemp("ours"))
    # As the FSBL is built for an Appli of somebody else, which sets its own clocks.
    project.done(f"board={BOARD.name}", "model=keyword", "clock=hsi", "build")
    folder = project.root / "build" / BOARD.name
    return {"fsbl": folder / "fsbl_image.bin", "appli": folder / "keyword/appli_image.bin"}


def reached(ours: dict[Role, Path], fsbl: str, appli: str) -> Reached:
    first = ours["fsbl"] if fsbl == OURS else sample((FSBLS | ALONE)[fsbl])
    second = None if appli == WHOLE else ours["appli"] if appli == OURS else sample(APPLIS[appli])
    file, address = WEIGHTS
    # A whole file has its own weights.
    data = () if appli == WHOLE else (PlacedFile(str(sample(file)), address),)
    started = start(
        Pair(first, second),
        BOARD,
        data,
        limits=LIMITS,
        copied_by_ours=fsbl == OURS,
        strict=fsbl == appli == OURS,
    )
    return Reached(
        started.reached,
        started.ended,
        started.lines,
        started.findings,
        started.stored,
        f"{started.at[:-2]}xx" if started.ended == "runs" else "",
        started.why.partition(":")[0],
    )


@pytest.mark.parametrize(
    ("fsbl", "appli"),
    [pytest.param(*pair, marks=() if pair in ALWAYS else pytest.mark.slow) for pair in MATRIX],
)
def test_it_comes_as_far_as_the_table_says(ours: dict[Role, Path], fsbl: str, appli: str) -> None:
    assert reached(ours, fsbl, appli) == MATRIX[fsbl, appli]


def test_the_table_has_every_pair() -> None:
    pairs = {(fsbl, appli) for fsbl in (OURS, *FSBLS) for appli in (OURS, *APPLIS)}
    assert {pair for pair in MATRIX if pair[0] not in ALONE} == pairs
    assert {fsbl for fsbl, _ in MATRIX} == {OURS, *FSBLS, *ALONE}


def test_each_sample_is_in_the_table() -> None:
    """A new sample that is a program needs its rows; weights and scripts are none."""
    folder = sample("boot")
    known = {Path(file).name for file in (*FSBLS.values(), *ALONE.values(), *APPLIS.values())}
    assert {path.name for path in folder.glob("*.*") if path.suffix in (".bin", ".hex")} - known == {"se_weights.bin"}

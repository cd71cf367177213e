"""A field report: console lines, the facts that they settle, and its file.

The file is read again.
"""

from __future__ import annotations

import dataclasses
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from field_reports import read_field_report
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.run.field_facts import FACTS, Evidence, Verdict
from n6build.board.run.field_readings import Reading, is_reading, readings_of
from n6build.board.run.field_report import (
    FieldReport,
    Inference,
    Stopped,
    console_lines,
    field_report_text,
    hashed_serial,
    judged,
    measurement_lines,
)
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.field_registers import FIELD, field_header, npu_version_names, read_field_registers
from n6build.judge.timing.facts import read_measurements

BOARD = load_board("nucleo-n657")
SOC = BOARD.soc


def line(moment: str, name: str, value: int | None, address: int = 0) -> str:
    """Return a line as the firmware prints it."""
    check = zlib.crc32(name.encode()) ^ address ^ (0 if value is None else ~value & 0xFFFF_FFFF)
    shown = "fault" if value is None else f"0x{value:08x}"
    return f"n6 field {moment} {name} 0x{address:08x} {shown} 0x{check:08x}"


def test_a_register_with_its_fields() -> None:
    (reading,) = readings_of([line("fsbl", "DBGMCU.IDCODE", 0x2000_6486, 0x5400_1000)], SOC)
    assert reading == Reading("fsbl", "DBGMCU.IDCODE", 0x5400_1000, 0x2000_6486, {"DEV_ID": 0x486, "REV_ID": 0x2000})


def test_a_register_that_cannot_be_read() -> None:
    (reading,) = readings_of([line("appli", "XSPI2.CCR", None, 4)], SOC)
    assert (reading.value, reading.fields) == (None, {})


def test_what_is_printed_again_counts_once() -> None:
    lines = [line("entry", "RCC.SR", 1), line("entry", "RCC.CR", 2), line("entry", "RCC.SR", 8)]
    assert [(each.name, each.value) for each in readings_of(lines, SOC)] == [("RCC.CR", 2), ("RCC.SR", 8)]


@given(st.integers(0, 60), st.characters(min_codepoint=32, max_codepoint=126))
def test_one_wrong_character_of_a_line_is_noticed(place: int, letter: str) -> None:
    sent = line("entry", "RCC.SR", 0x1234_5678, 0x5602_8004)
    place %= len(sent)
    if letter == sent[place] or (9 <= place < 15):
        return  # The moment has no check, and no two moments differ in one letter.
    assert not is_reading(sent[:place] + letter + sent[place + 1 :])


@given(st.text() | st.from_regex(r"n6 field (entry|fsbl) [A-Z.@=0-9]{1,20} 0x\w{8} (fault|0x\w{8}) 0x\w{8}"))
def test_no_line_of_a_console_ends_in_a_traceback(text: str) -> None:
    assert len(readings_of([text], SOC)) == is_reading(text)


def test_every_register_is_in_the_description_of_the_chip(tmp_path: Path) -> None:
    registers = read_field_registers(FIELD, SOC)
    header = field_header(registers)
    for each in (*registers.entry, *registers.fsbl, *registers.appli):
        assert f'{{"{each.name}", 0x{each.address:08X}u, 0x{each.selector:08X}u, {each.selected}u}},' in header
    assert {each.name for each in registers.appli} >= set(npu_version_names(SOC))
    file = tmp_path / "field.yaml"
    file.write_text("entry: [RCC.SRR]\nfsbl: []\nappli: []\n")
    with pytest.raises(N6Error) as caught:
        read_field_registers(file, SOC)
    assert caught.value.id == "N6-SOC-010"
    assert "RCC.SR" in str(caught.value.hint)


def test_no_unit_of_the_npu_is_read_without_its_clock() -> None:
    versions = [each for each in read_field_registers(FIELD, SOC).appli if each.name.endswith(".VERSION")]
    assert versions[0].name == "NPU.CLKCTRL.VERSION"
    assert all(each.selector and each.selected for each in versions)


GOOD = {
    ("entry", "RCC.CFGR1"): 0,
    ("entry", "SCB.CCR"): 0x201,
    ("entry", "CPU.MSP"): 0x3420_0000,
    ("entry", "CPU.MSPLIM"): 0,
    ("entry", "CPU.VECTOR0"): 0x3418_6000,
    ("entry", "RCC.HWRSR"): 1 << 23,
    ("entry", "RCC.AHB2ENR"): 1 << 12,
    ("entry", "RCC.AHB3ENR"): 1 << 9,
    ("entry", "RCC.AHB4ENR"): 1 << 18,
    ("entry", "RCC.APB4ENR2"): 1 << 1,
    ("fsbl", "SCB.CPUID"): 0x411F_D221,
    ("fsbl", "SCB.CSSELR@SCB.CSSELR=1"): 1,
    ("fsbl", "SCB.CCSIDR@SCB.CSSELR=0"): 255 << 13 | 3 << 3 | 1,
    ("fsbl", "SCB.CCSIDR@SCB.CSSELR=1"): 511 << 13 | 1 << 3 | 1,
    ("fsbl", "DBGMCU.IDCODE"): SOC.revision_id << 16 | SOC.device_id,
    ("fsbl", "BSEC.FVR124"): 1 << 15,
    # PLL1, PLL2 and HSI run; CPU and buses are on the dividers.
    ("appli", "RCC.SR"): 1 << 9 | 1 << 8 | 1 << 3,
    ("appli", "RCC.CFGR1"): 3 << 28 | 3 << 24 | 3 << 20 | 3 << 16,
    ("appli", "XSPI2.TCR"): 20,
    **{("appli", name): word for name, word in npu_version_names(SOC).items()},
}
CONSOLE = (
    "n6 fsbl start board=nucleo-n657",
    "n6 fsbl nor id=0x00c2803a mode=opi-dtr clock=50000000 slow-pads",
    "n6 appli start model=keyword epochs=1 clock=600000000",
    "n6 image xSPI2 in-place bytes=128 crc=0x00000000 ok",
)


def evidence(changed: dict[tuple[str, str], int | None] | None = None, start: str = "flash", *console: str) -> Evidence:
    values: dict[tuple[str, str], int | None] = {**GOOD, **(changed or {})}
    lines = [line(moment, name, value) for (moment, name), value in values.items()]
    return Evidence(BOARD, readings_of(lines, SOC), console or CONSOLE, start)  # type: ignore[arg-type]


def verdicts(found: Evidence) -> dict[str, Verdict]:
    return {each.id: each.verdict for each in judged(found)}


QUESTIONS = {"rom-stack", "reset-cause", "nor-pads"}


def test_a_board_as_it_is_described() -> None:
    assert verdicts(evidence()) == {fact.id: "look" if fact.id in QUESTIONS else "holds" for fact in FACTS}


@pytest.mark.parametrize(
    ("fact", "register", "value", "observed"),
    [
        ("silicon", ("fsbl", "DBGMCU.IDCODE"), 0x1000_0486, "device 0x486, revision 0x1000"),
        ("processor", ("fsbl", "SCB.CPUID"), 0x411F_D210, "part 0xD21, r1p0"),
        ("cache-geometry", ("fsbl", "SCB.CCSIDR@SCB.CSSELR=1"), 255 << 13 | 1 << 3 | 1, "instruction 16 KiB, 2 ways"),
        ("rom-clocks", ("entry", "RCC.APB4ENR2"), 0, "off: APB4ENR2.BSECEN"),
        ("rom-oscillator", ("entry", "RCC.CFGR1"), 3 << 20, "CPUSWS=3, SYSSWS=0"),
        ("rom-caches", ("entry", "SCB.CCR"), 1 << 16, "DC=1, IC=0"),
        ("clock-profile", ("appli", "RCC.SR"), 1 << 3, "not locked: PLL1"),
        ("npu-units", ("appli", "NPU.POOL1.VERSION"), 0x1234, "NPU.POOL1.VERSION 0x00001234"),
        ("npu-units", ("appli", "NPU.RECBUF.VERSION"), None, "NPU.RECBUF.VERSION unreadable"),
    ],
)
def test_a_board_that_is_otherwise(fact: str, register: tuple[str, str], value: int | None, observed: str) -> None:
    found = {each.id: each for each in judged(evidence({register: value}))}[fact]
    assert found.verdict == "does not hold"
    assert observed in found.observed


@pytest.mark.parametrize(
    ("register", "value", "observed"),
    [
        (("entry", "CPU.MSP"), 0x3418_6000, "MSP=0x34186000, as in the image's vector table; MSPLIM=0x00000000"),
        (("entry", "RCC.HWRSR"), 5 << 22, "PINRSTF, SFTRSTF"),
        (("fsbl", "BSEC.FVR124"), 0, "HSLV_VDDIO3=0"),
    ],
)
def test_questions_are_answered_by_what_is_there(register: tuple[str, str], value: int, observed: str) -> None:
    assert observed in [each.observed for each in judged(evidence({register: value}))]


def test_a_nor_that_does_not_answer() -> None:
    stop = "n6 fsbl error N6-FW-002 the NOR does not answer: check pins and supply; a reset may not have ended its mode"
    found = {each.id: each for each in judged(evidence(None, "flash", *CONSOLE[:2], stop))}["nor"]
    assert (found.verdict, found.observed) == ("does not hold", stop)


def test_the_boot_rom_is_not_judged_by_what_a_debugger_has_started() -> None:
    found = verdicts(evidence(None, "ram"))
    assert {name for name, verdict in found.items() if verdict == "not observed"} == {
        name for name in found if name.startswith("rom-")
    }


def test_a_selection_that_is_not_kept_says_nothing_of_the_caches() -> None:
    assert verdicts(evidence({("fsbl", "SCB.CSSELR@SCB.CSSELR=1"): 0}))["cache-geometry"] == "not observed"


def test_a_board_that_says_nothing_settles_nothing() -> None:
    silent = Evidence(BOARD, (), (), "flash")
    assert set(verdicts(silent).values()) == {"not observed"}


def report(**changed: object) -> FieldReport:
    found = evidence()
    made = FieldReport(
        n6build="0.5.0",
        board=BOARD.name,
        profile="extflash",
        virtual=False,
        start="flash",
        probe=hashed_serial("0041"),
        programmer="pyocd 0.46",
        device="0x486",
        versions=(("compiler", "gcc"),),
        clock_hz=64_000_000,
        counts="cycles",
        inferences=(),
        facts=judged(found),
        readings=tuple(found.readings),
        not_modelled=(),
        findings=(),
        stopped=None,
        console=CONSOLE,
    )
    return dataclasses.replace(made, **changed)  # type: ignore[arg-type]


def read(text: str, folder: Path) -> FieldReport:
    path = folder / "field_report.md"
    path.write_text(text)
    return read_field_report(path)


@pytest.mark.parametrize("name", ["keyword", 'a"b: c', "\x1b[2J```", "#{}[]"])
@pytest.mark.parametrize(
    ("profile", "weights"), [("extflash", "flash"), ("noextmem", "on chip"), ("extram", "unknown")]
)
def test_a_real_board_s_report_has_a_line_for_the_measured_times(
    name: str, profile: str, weights: str, tmp_path: Path
) -> None:
    timed = report(
        npu_hz=1_000_000_000,
        nor_hz=50_000_000,
        clock_hz=800_000_000,
        profile=profile,
        inferences=(Inference(name, 2_400_000, None, None, {}),),
    )
    assert "```yaml" in field_report_text(timed)
    added = "\n".join(measurement_lines(timed)[3:-1])
    nothing = "".join(f"\n{group}: []" for group in ("tables", "blocks", "operators", "cpu_layers", "estimates"))
    path = tmp_path / "timings.yaml"
    path.write_text(added + nothing)
    (row,) = read_measurements(path).networks
    assert (row.ms, row.weights) == (3.0, weights)


def test_the_virtual_board_measures_no_time() -> None:
    inference = Inference("net", 1000, None, None, {})
    (line,) = measurement_lines(report(virtual=True, inferences=(inference,)))
    assert line.startswith("None")
    assert measurement_lines(report(inferences=(inference,), counts="instructions")) == [line]


HOSTILE = ("```", "```json", "| a | b |", "\x1b[2J", "</code>", "# head", "\u202e")


def test_one_file_for_people_and_for_programs(tmp_path: Path) -> None:
    made = report(console=(*CONSOLE, *HOSTILE), stopped=Stopped("N6-LINK-001", "`nothing`|"), findings=HOSTILE)
    text = field_report_text(made)
    assert read(text, tmp_path) == made
    assert field_report_text(read(text, tmp_path)) == text
    fences = [each for each in text.splitlines() if each.startswith("```")]
    assert fences == ["```", "```", "```", "```", "```json", "```"], "what a board prints ends no block of ours"


def test_the_serial_number_is_not_in_it() -> None:
    assert "0041" not in field_report_text(report())
    assert hashed_serial("0041") != hashed_serial("0042")


def test_what_a_broken_board_prints_is_bounded() -> None:
    lines = console_lines(["x" * 10_000] * 10_000)
    assert len(lines) == 2000
    assert len(lines[0]) == 400
    assert replace(report(), console=lines).console == lines

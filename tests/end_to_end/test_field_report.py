"""Field reports of the virtual board, a board on a cable, and a silent board."""

from __future__ import annotations

from pathlib import Path

import pytest
from field_reports import read_field_report
from programmer_stand_ins.board import Desk, make_desk

from end_to_end.conftest import Project
from end_to_end.test_real_boards import SETTINGS, console, on_a_cable, scons

REPORT = "build/field/nucleo-n657-keyword.md"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path / "desk", SETTINGS, "stm32cubeprogrammer")


def test_of_the_virtual_board(project: Project) -> None:
    result = project.done("model=keyword", "probe=virtual", "field-report")
    assert "they prove nothing about the chip" in result.output
    assert "n6 field" not in result.output
    report = read_field_report(project.root / REPORT)
    assert report.virtual
    assert report.counts == "instructions"
    assert report.findings == ()
    assert (report.inferences[0].model, report.inferences[0].equal) == ("keyword", True)
    assert {fact.verdict for fact in report.facts} <= {"holds", "look", "not observed"}
    # The emulator's CSSELR keeps no value, so only one cache is visible.
    assert [fact.id for fact in report.facts if fact.verdict == "not observed"] == ["cache-geometry"]
    values = {(each.moment, each.name): each.value for each in report.readings}
    assert None not in values.values()
    assert values["entry", "RCC.APB4ENR2"] == 2
    # Programs of a normal build do not contain the report's code.
    assert project.scons("model=keyword", "build").status == 0
    assert b"n6 field" in (project.root / "build/nucleo-n657-field/fsbl_image.bin").read_bytes()
    assert b"n6 field" not in (project.root / "build/nucleo-n657/fsbl_image.bin").read_bytes()


@pytest.mark.slow
def test_the_same_for_relocatable_models(project: Project) -> None:
    project.done("model=keyword", "loader=reloc", "probe=virtual", "field-report")
    report = read_field_report(project.root / "build/field/nucleo-n657-keyword-reloc.md")
    assert [each.equal for each in report.inferences] == [True]
    assert any(each.name == "NPU.CLKCTRL.VERSION" for each in report.readings)


@pytest.mark.slow
def test_of_a_board_on_a_cable(project: Project, desk: Desk) -> None:
    with on_a_cable(desk, b"\xff\x00\x13n6") as ours:
        result = scons(project, desk, "field-report", f"console={ours}").done()
    report = read_field_report(project.root / REPORT)
    assert not report.virtual
    assert report.programmer == "stm32cubeprogrammer 2.19.0"
    assert report.device == "NUCLEO-N657X0-Q 0x486"
    assert report.counts == "cycles"
    assert [each.equal for each in report.inferences] == [True]
    assert "0041" not in (project.root / REPORT).read_text()
    assert "settle nothing" not in result.output


@pytest.mark.slow
def test_a_board_that_says_nothing_has_a_report_too(project: Project, desk: Desk) -> None:
    with console() as (_, ours):
        result = scons(project, desk, "field-report", f"console={ours}").refused()
    assert "error N6-FIELD-002: the run did not reach its end: N6-LINK-001: the board prints nothing" in result.output
    report = read_field_report(project.root / REPORT)
    assert report.stopped is not None
    assert report.stopped.id == "N6-LINK-001"
    assert report.device == "NUCLEO-N657X0-Q 0x486"
    assert {fact.verdict for fact in report.facts} == {"not observed"}


@pytest.mark.slow
def test_programs_of_somebody_else_do_not_know_what_to_ask(project: Project) -> None:
    (project.root / "mine.bin").write_bytes(bytes(2048))
    assert "N6-FIELD-001" in project.scons("fsbl=mine.bin", "probe=virtual", "field-report").refused().output

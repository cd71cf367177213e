"""Target ladder on the virtual board: all rungs, one difference, a wrong NPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from field_reports import read_field_report
from n6build.board.run.ladder import NETWORKS, VERSIONS
from n6build.judge.own_blobs.board_record import read_ladder
from programmer_stand_ins.board import make_desk

from end_to_end.conftest import Project
from end_to_end.test_real_boards import SETTINGS, on_a_cable, scons

CALL = ("backend=neural_art", "probe=virtual", "ladder")


def result(project: Project) -> dict[str, str]:
    record = read_ladder(project.root / "build/field/nucleo-n657-ladder.json")
    assert record is not None
    assert record.virtual
    return {each.name: each.result for each in record.rungs}


@pytest.mark.slow
def test_the_virtual_board_climbs_it_and_stops_where_something_differs(project: Project) -> None:
    climbed = project.done(*CALL)
    assert set(result(project).values()) == {"equal", "near"}
    assert "around the buffers of 11 rungs" in climbed.output
    assert "it settles nothing about the chip" in climbed.output
    # If the outputs differ from the expected bytes, later rungs do not run, and the output explains the
    # failed rung.
    expected = project.root / "models/ladder/pool/expected.npy"
    changed = bytearray(expected.read_bytes())
    changed[-1] ^= 1
    expected.write_bytes(bytes(changed))
    differs = project.scons(*CALL).refused()
    assert "N6-LADDER-001: rung pool fails: N6-RUN-005" in differs.output
    (pool,) = [rung for rung in NETWORKS if rung.name == "pool"]
    assert pool.tells in differs.output
    assert [name for name, each in result(project).items() if each == "differs"] == ["pool"]
    assert result(project)["dense"] == "not reached"
    assert "4 of 8, dense" not in differs.output
    # An epoch writes one line too far, into the guard behind its output. The bytes of the output are right.
    add = "site_scons/n6build/compile/neural_art/operators/add.py"
    project.replace(add, "Frames(Address(name), output.elements)", "Frames(Address(name), output.elements + 32)")
    project.replace(add, "port), output.elements)", "port), output.elements + 32)")
    beyond = project.scons(*CALL).refused()
    assert (
        "rung sum fails: N6-LADDER-004: the guard behind buffer Add_0_out_0 was written: byte 0 at 0x" in beyond.output
    )
    assert "32 bytes of all guards have changed" in beyond.output
    assert result(project)["sum"] == "stopped"
    # The versions are those of another NPU.
    project.replace("firmware/runtime/ll_aton_npu.c", "!= units[i].expected", "== units[i].expected")
    other = project.scons(*CALL).refused()
    assert "N6-LADDER-001: rung versions fails: N6-FW-061" in other.output
    assert VERSIONS.tells in other.output
    assert result(project)["versions"] == "stopped"


@pytest.mark.slow
def test_of_a_board_on_a_cable_the_field_report_takes_it_along_and_grades_rise(
    project: Project, tmp_path: Path
) -> None:
    desk = make_desk(tmp_path / "desk", SETTINGS, "stm32cubeprogrammer")
    with on_a_cable(desk) as ours:
        climbed = scons(project, desk, "backend=neural_art", "ladder", f"console={ours}").done()
        scons(project, desk, "field-report", f"console={ours}").done()
    assert "settles nothing" not in climbed.output
    record = read_ladder(project.root / "build/field/nucleo-n657-ladder.json")
    assert record is not None
    assert not record.virtual
    assert read_field_report(project.root / "build/field/nucleo-n657-keyword.md").ladder == record
    # This record confirms keyword, since rung logits has all of its forms.
    confirmed = project.root / "boards/npu/confirmed/mine.json"
    confirmed.write_bytes((project.root / "build/field/nucleo-n657-ladder.json").read_bytes())
    keyword = ("backend=neural_art", "model=keyword", "build")
    graded = project.scons(*keyword)
    assert "Record mine.json, nucleo-n657: forms confirmed" in graded.output
    assert "Grades 13 confirmed on silicon" in graded.output
    assert project.scons(*keyword).actions == []
    confirmed.unlink()
    assert "Grades 11 seen, 2 smaller" in project.scons(*keyword).output


@pytest.mark.slow
def test_a_watchdog_gets_the_board_out_of_a_rung_that_hangs_it(project: Project) -> None:
    """The CPU does not get to its first poll, as with a bus that never answers."""
    starts = "N6_REG32(N6_NPU_EPOCHCTRL_ADDR) = (uint32_t)blob;"
    hangs = "for (volatile uint32_t i = 0u; i != 1u;) {\n    }\n    "
    project.replace("firmware/runtime/ll_aton_npu.c", starts, hangs + starts)
    project.replace("firmware/appli/n6_appli.c", "REQUEST_MS 60000u", "REQUEST_MS 2000u")
    hung = project.scons(*CALL).refused()
    assert "N6-LADDER-001: rung copy fails: N6-LINK-005: the board has restarted 3 times" in hung.output
    assert result(project)["copy"] == "stopped"
    assert result(project)["offset"] == "not reached"

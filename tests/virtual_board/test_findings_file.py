"""The emulator's file of a run, also of a killed one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.board.virtual_board.findings import Finding, Unmodelled
from n6build.board.virtual_board.findings_file import Summary, read_findings, unmodelled_of
from n6build.board.virtual_board.source_lines import Places

FINDING = {"kind": "ram-off", "address": "0x34200000", "pc": "0x34000400", "text": "a bank is off"}
SUMMARY = {
    "kind": "summary",
    "instructions": 12,
    "ended": "until",
    "pc": "0x34000404",
    "banks_on": ["AXISRAM3"],
    "cleaned": [["0x34000000", "0x34000020"]],
    "unmodelled": [["0x58000000", "0x34000400", 1, 2]],
}
WHOLE = "".join(json.dumps(each) + "\n" for each in (FINDING, SUMMARY))


def read(folder: Path, text: str | bytes) -> tuple[list[Finding], Summary]:
    path = folder / "findings.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_findings(path, Places([]))


def test_findings_and_a_summary_are_read(tmp_path: Path) -> None:
    findings, summary = read(tmp_path, WHOLE)
    assert findings == [Finding("ram-off", "a bank is off", "0x34000400")]
    cleaned, unmodelled = ((0x34000000, 0x34000020),), ((0x58000000, 0x34000400, 1, 2),)
    assert summary == Summary("until", 0x34000404, 12, ("AXISRAM3",), cleaned, unmodelled)
    assert unmodelled_of(summary, Places([])) == (Unmodelled(0x58000000, "0x34000400", 1, 2),)


def test_without_a_file_nothing_was_found(tmp_path: Path) -> None:
    assert read_findings(tmp_path / "none", Places([])) == ([], Summary())


@pytest.mark.parametrize("cut", range(1, len(WHOLE) - len(json.dumps(FINDING)), 7))
def test_the_line_that_a_killed_emulator_did_not_finish_is_left_out(cut: int, tmp_path: Path) -> None:
    findings, summary = read(tmp_path, WHOLE[:-cut])
    assert [each.kind for each in findings] == ["ram-off"]
    assert summary == Summary()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "x",
        "1",
        "{}",
        '{"kind": "a", "pc": 1}',
        '{"kind": "a", "pc": "x"}',
        "[" * 9999,
        '{"kind": "summary", "unmodelled": [[1]]}',
    ],
)
def test_any_other_damage_is_an_error_with_its_line(line: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error) as caught:
        read(tmp_path, f"{json.dumps(FINDING)}\n{line}\n")
    assert (caught.value.id, caught.value.where) == ("N6-VB-010", "findings.jsonl:2")

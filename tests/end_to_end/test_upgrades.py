"""Files of older and newer n6build versions: read, remade, or refused.

The old files are copies of files that the releases wrote. `git archive` of a release made whole
build folders, which were tried once.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.board.flash.model_update import plan_updates
from n6build.board.flash.receipt import read_receipt
from n6build.board.flash.record import BoardRecord, other_format, read_record
from n6build.board.run.session import read_outcome
from n6build.describe.formats.model_trailer import LAYOUT, MAGIC
from n6build.engine.ledger import ledger_path, read_ledger
from n6build.engine.plan import read_plan_json
from n6build.place.memory_plan.plan import read_plan
from n6build.tell.matrix.result import read_results
from slow_rows import slow_rows

from end_to_end.conftest import Project

SECTOR = "0x70000000"
DIGEST = "339690120c5a3988d82cb9e7361f613a870917c34fbfd2ee658c1d36b4d895a3"
BY_0_3 = {"board": "nucleo-n657", "sectors": {SECTOR: DIGEST}}
BY_0_4 = {
    "board": "nucleo-n657",
    "identity": {"board": "", "device_id": None},
    "sectors": {SECTOR: DIGEST},
    "witnesses": [{"address": SECTOR, "size": 1024, "sha256": DIGEST}],
}
RECORD = Path("build/virtual_board/nucleo-n657/record.json")


def written(folder: Path, values: object) -> Path:
    path = folder / "file.json"
    path.write_text(to_json(values))
    return path


def test_a_record_of_0_4_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, BY_0_4)
    assert read_record(path, "nucleo-n657").sectors == {0x7000_0000: DIGEST}
    assert other_format(path) == ""


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (BY_0_3, "its record was written by n6build 0.3"),
        ({**BY_0_4, "format": 2}, "its record is in format 2 of another n6build, this one reads 1"),
        ({**BY_0_4, "format": "x"}, ""),
        ([], ""),
    ],
)
def test_another_record_means_that_the_board_is_read_back(tmp_path: Path, values: object, why: str) -> None:
    path = written(tmp_path, values)
    assert read_record(path, "nucleo-n657") == BoardRecord("nucleo-n657")
    assert other_format(path) == why


@pytest.mark.parametrize("change", [{}, {"format": 2}, {"format": 1, "more": 1}])
def test_a_receipt_of_another_version_is_none(tmp_path: Path, change: dict[str, int]) -> None:
    by_0_5 = {"board": "nucleo-n657", "probe": "virtual", "programmed": [SECTOR], "sectors": {SECTOR: DIGEST}}
    assert read_receipt(written(tmp_path, {**by_0_5, **change})) is None
    assert read_receipt(written(tmp_path, {"format": 1, **by_0_5})) is not None


@pytest.mark.parametrize("format", [0, 2])
def test_a_ledger_of_another_version_says_nothing(tmp_path: Path, format: int) -> None:
    entry = {"name": "a", "parts": {}, "inputs": {}, "outputs": {}, "reason": "", "origin": "", "seconds": 0.0}
    path = ledger_path(tmp_path)
    path.parent.mkdir()
    path.write_text(
        json.dumps({**entry, "format": format}) + "\n" + json.dumps({**entry, "format": 1, "name": "b"}) + "\n"
    )
    assert set(read_ledger(tmp_path).entries) == {"b"}


def test_a_plan_of_another_version_is_refused() -> None:
    with pytest.raises(N6Error, match="it has format 9 of another n6build; this one reads") as caught:
        read_plan_json({"format": 9, "goals": {}, "steps": []})
    assert (caught.value.id, caught.value.hint) == ("N6-STEP-009", "run scons plan, which writes it again")


def test_results_of_a_matrix_of_another_version_are_no_comparison(tmp_path: Path) -> None:
    assert read_results(written(tmp_path, [{"board": "b", "model": "m", "of_tomorrow": 1}])) == []


def test_a_result_and_a_plan_of_the_memory_of_another_version_are_refused(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="is not a result of a run") as caught:
        read_outcome(written(tmp_path, {"board": "b", "clock_hz": "64 MHz"}))
    assert caught.value.hint == "repeat the run: scons run"
    with pytest.raises(N6Error, match="is not a memory plan"):
        read_plan(written(tmp_path, {"board": "b", "networks": 1}))


def test_a_board_yaml_of_0_4_is_told_what_it_lacks(project: Project) -> None:
    board = project.root / "boards/nucleo-n657/board.yaml"
    text = board.read_text()
    board.write_text(re.sub(r"^ *commands:.*\n", "", text, count=1, flags=re.MULTILINE))
    result = project.scons("build").refused()
    assert "N6-YAML-006: key 'commands' is missing: this file was written for n6build before 0.5.0" in result.output
    assert "hint: add it: commands: macronix-octal" in result.output
    board.write_text(re.sub(r"^max_speed:.*\n", "", text, flags=re.MULTILINE))
    assert "key 'max_speed' is missing: this file was written for n6build before 0.4.0" in project.scons("build").output


@pytest.mark.parametrize("values", [BY_0_3, *slow_rows({**BY_0_4, "format": 2})], ids=["0.3", "newer"])
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_a_virtual_board_of_another_version_is_read_back_and_programmed(project: Project, values: object) -> None:
    (project.root / RECORD).write_text(to_json(values))
    result = project.done("model=keyword", "probe=virtual", "flash")
    assert "Read back nucleo-n657 (virtual), its record" in result.output
    assert result.flashed == "already up to date"
    assert json.loads((project.root / RECORD).read_text())["format"] == 1
    assert project.scons("model=keyword", "probe=virtual", "flash").actions == []


@pytest.mark.slow
@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_what_0_5_has_flashed_is_not_flashed_again(project: Project) -> None:
    """The receipts and the record of 0.5 have no format number."""
    for path in (project.root / RECORD, project.root / "build/flash/virtual-nucleo-n657.json"):
        values = json.loads(path.read_text())
        del values["format"]
        path.write_text(to_json(values))
    result = project.done("model=keyword", "probe=virtual", "flash")
    assert result.flashed == "already up to date"


@pytest.mark.slow
def test_a_pair_that_fails_beside_a_result_of_another_version(project: Project) -> None:
    pairs = ("matrix", "boards=nucleo-n657", "models=keyword")
    assert project.scons(*pairs).status == 0
    folder = project.root / "build/nucleo-n657/keyword"
    model = project.root / "models/keyword/keyword.tflite"
    model.write_bytes(model.read_bytes() + b"\0")
    for name in ("run.json", "memory_plan.json"):
        (folder / name).write_text("{}")
    assert "Matrix 0 of 1 passed" in project.scons(*pairs).refused().output


@pytest.mark.slow
def test_a_slot_with_a_model_of_a_newer_version_is_not_overwritten(project: Project) -> None:
    options = ("model=keyword", "loader=reloc", "slots=2", "probe=virtual")
    assert project.scons(*options, "flash").status == 0
    folder = project.root / "build/nucleo-n657/keyword-reloc"
    nor = bytearray((project.root / "build/virtual_board/nucleo-n657/nor.bin").read_bytes())
    ours, newer = MAGIC + struct.pack("<I", LAYOUT), MAGIC + struct.pack("<I", LAYOUT + 1)
    assert nor.count(ours) == 1
    at = nor.index(ours)
    nor[at : at + len(newer)] = newer
    plan = read_plan(folder / "memory_plan.json")
    with pytest.raises(N6Error, match=f"contains a model of a newer n6build .layout {LAYOUT + 1}") as caught:
        plan_updates(plan, folder, lambda address, size: bytes(nor[address - 0x7000_0000 :][:size]), {})
    assert caught.value.id == "N6-SLOT-004"

"""A damaged record counts as none: the board is programmed as if unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.span import Span
from n6build.board.flash.model_update import read_running, remember_running
from n6build.board.flash.receipt import read_receipt, still_holds
from n6build.board.flash.record import BoardRecord, other_format, read_record, without, write_record

BOARD = "nucleo-n657"
DAMAGED = [
    b"",
    b"\xff",
    b"[]",
    b"1",
    b"null",
    b'{"board": "nucleo-n657"',
    b"[" * 100_000,
    b'{"board": "nucleo-n657", "sectors": ' + b'{"a":' * 5000,
    b'{"board": "nucleo-n657", "sectors": {"0x0": "a"}, "witnesses": [{"address": "0x0", "size": 1e999, "sha256": ""}]}',
    b'{"board": "nucleo-n657", "sectors": {"0x0": "a"}, "witnesses": [], "identity": {"board": "", "device_id": '
    + b"9" * 5000,
    b'{"board": "nucleo-n657", "sectors": [], "witnesses": {}, "identity": []}',
]


@pytest.mark.parametrize("data", DAMAGED)
def test_a_damaged_record_is_replaced_by_the_next(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(data)
    other_format(path)
    record = read_record(path, BOARD)
    assert record == BoardRecord(BOARD)
    write_record(path, without(record, [Span(0x70000000, 4096)]))
    assert read_record(path, BOARD) == BoardRecord(BOARD)


@pytest.mark.parametrize("data", DAMAGED)
def test_a_damaged_receipt_is_none(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_bytes(data)
    assert read_receipt(path) is None
    assert not still_holds(path, path, path)


@pytest.mark.parametrize("data", [*DAMAGED, b'{"a": {"slot": Infinity, "revision": 0}}'])
def test_what_a_board_ran_is_remembered_anew(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.with_suffix(".models").write_bytes(data)
    assert read_running(path) == {}
    remember_running(path, {"keyword": (1, 2)})
    assert list(read_running(path)) == ["keyword"]

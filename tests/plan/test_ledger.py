"""The ledger of outputs and their inputs: shortened, damaged, and locked.

One process at a time writes it.
"""

from __future__ import annotations

from pathlib import Path

from n6build.engine.ledger import Entry, ledger_path, read_ledger

LINES = 201


def long_ledger(build: Path) -> bytes:
    ledger = read_ledger(build)
    for _ in range(LINES):
        ledger.write(Entry("one", {}, {"input": "x"}, {}, "", "here"))
    return ledger_path(build).read_bytes()


def test_a_long_ledger_is_shortened(tmp_path: Path) -> None:
    before = long_ledger(tmp_path)
    assert before.count(b"\n") == LINES
    entries = read_ledger(tmp_path).entries
    assert ledger_path(tmp_path).read_bytes() == before.splitlines(keepends=True)[-1]
    assert read_ledger(tmp_path).entries == entries


def test_a_line_that_a_killed_process_left_is_ended(tmp_path: Path) -> None:
    read_ledger(tmp_path).write(Entry("one", {}, {}, {}, "", "here"))
    with ledger_path(tmp_path).open("ab") as file:
        file.write(b'{"format": 1, "name": "ha')
    ledger = read_ledger(tmp_path)
    ledger.write(Entry("two", {}, {}, {}, "", "here"))
    assert list(read_ledger(tmp_path).entries) == ["one", "two"]

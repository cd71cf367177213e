"""The record of what was made from what, when several processes write to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from n6build.base.paths import LIBRARY
from n6build.plan.ledger import Entry, ledger_path, read_ledger

PROCESSES, STEPS = 6, 40
# As `n6build step` does: each step reads the ledger, which becomes long again and again, and enters itself.
WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from n6build.plan.ledger import Entry, read_ledger
for number in range(int(sys.argv[4])):
    for _ in range(8):
        ledger = read_ledger(Path(sys.argv[2]))
        ledger.write(Entry(f"{sys.argv[3]}-{number}", {}, {"input": "x" * 2000}, {}, "", "here"))
"""


def test_no_entry_is_lost_when_many_processes_write_and_shorten_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(LIBRARY.parent), str(tmp_path)]
    running = [subprocess.Popen([*command, str(number), str(STEPS)]) for number in range(PROCESSES)]
    assert [process.wait(120) for process in running] == [0] * PROCESSES
    wanted = {f"{number}-{step}" for number in range(PROCESSES) for step in range(STEPS)}
    assert set(read_ledger(tmp_path).entries) == wanted
    assert all(len(entry.inputs["input"]) == 2000 for entry in read_ledger(tmp_path).entries.values())
    # It was shortened on the way.
    assert ledger_path(tmp_path).read_bytes().count(b"\n") < PROCESSES * STEPS * 8


def test_a_line_that_a_killed_process_left_is_ended(tmp_path: Path) -> None:
    read_ledger(tmp_path).write(Entry("one", {}, {}, {}, "", "here"))
    with ledger_path(tmp_path).open("ab") as file:
        file.write(b'{"format": 1, "name": "ha')
    ledger = read_ledger(tmp_path)
    ledger.write(Entry("two", {}, {}, {}, "", "here"))
    assert list(read_ledger(tmp_path).entries) == ["one", "two"]

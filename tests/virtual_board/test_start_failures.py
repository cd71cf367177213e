"""An emulator that gives up before the first instruction is an error, not a run without findings."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from n6build.errors import N6Error
from n6build.virtual_board import run
from n6build.virtual_board.build import find_emulator


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match=r"N6-VB-006: the emulator ended: .*No such file"):
        run.run_program(find_emulator(), tmp_path / "none.elf", stop=lambda _: False)


def test_a_debugger_port_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(run, "GDB_PORT", taken.getsockname()[1])
        (tmp_path / "empty.bin").write_bytes(bytes(64))
        with pytest.raises(N6Error, match=r"N6-VB-006: the emulator ended: .*in use"):
            run.run_program(find_emulator(), tmp_path / "empty.bin", stop=lambda _: False, gdb=True)

"""Signs of life of a long run."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.board.virtual_board import guest_time as module
from n6build.board.virtual_board.guest_time import GuestTime, Heartbeat, Progress
from n6build.board.virtual_board.source_lines import Places


def guest_time(folder: Path, *values: int) -> GuestTime:
    path = folder / "guest_time"
    path.write_bytes(struct.pack("<QQIIQ", *values))
    return GuestTime(path)


def test_a_silent_run_shows_its_instructions_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    Heartbeat(guest_time(tmp_path, 9, 2_000_000, 0x34000400, 0, 0), Places([])).look()
    assert capsys.readouterr().out.strip() == "Running 2,000,000 instructions, at 0x34000400"


def test_it_shows_the_register_that_the_program_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    Heartbeat(guest_time(tmp_path, 9, 5, 0x34000400, 0x56028004, 70_000), Places([]), BOARD.soc).look()
    assert "waiting for 0x56028004 RCC SR, 70,000 reads" in capsys.readouterr().out


def test_a_console_that_speaks_needs_no_sign_of_life(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    beat = Heartbeat(guest_time(tmp_path, 9, 5, 1, 0, 0), Places([]))
    beat.note_line()
    beat.look()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("size", [0, 8, 31, 33])
def test_a_file_of_another_size_is_no_progress(tmp_path: Path, size: int) -> None:
    path = tmp_path / "guest_time"
    path.write_bytes(bytes(size))
    assert GuestTime(path).progress() == Progress()

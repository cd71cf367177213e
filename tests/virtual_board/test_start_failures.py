"""An emulator that fails before the first instruction causes an error."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from emulator_runs import run_program
from firmware_build import BOARD
from n6build.base.errors import N6Error
from n6build.board.virtual_board import guest_time, run
from n6build.board.virtual_board.build import find_emulator


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match=r"N6-VB-006: the emulator ended: .*No such file"):
        run_program(find_emulator(BOARD.soc), tmp_path / "none.elf")


def stand_in(folder: Path, does: str) -> Path:
    """Return a stand-in of the emulator that runs a shell command."""
    path = folder / "emulator"
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return path


def test_an_emulator_that_hangs_is_said_to_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_time, "HANGS_S", 0.5)
    with pytest.raises(N6Error, match="N6-VB-007: the emulator hangs"):
        run_program(stand_in(tmp_path, "exec sleep 3600"), tmp_path / "a.elf")


def test_an_emulator_that_does_not_end_is_no_run_without_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "HANGS_S", 0.5)
    stubborn = stand_in(tmp_path, "trap '' TERM\necho stop\nexec sleep 3600")
    with pytest.raises(N6Error, match="N6-VB-007: the emulator hangs: it has not ended"):
        run_program(stubborn, tmp_path / "a.elf", stop=lambda _: True)


FINDING = '{"kind": "ram-off", "address": "0x34200000", "pc": "0x34000400", "text": "a bank is off"}'
SUMMARY = '{"kind": "summary", "instructions": 12, "ended": "", "pc": "0x34000404"}'


@pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (6, "SIGABRT"), (9, "SIGKILL")])
def test_an_emulator_that_crashes_is_reported_with_its_place(tmp_path: Path, number: int, name: str) -> None:
    to = """f=; for a; do case $a in *findings=*) f=${a#*findings=}; f=${f%%,*};; esac; done"""
    crash = f"""{to}\necho '{FINDING}' > "$f"\necho '{SUMMARY}' >> "$f"\nkill -{number} $$"""
    (tmp_path / "a.elf").write_bytes(b"")
    with pytest.raises(N6Error, match="N6-VB-006") as caught:
        run_program(stand_in(tmp_path, crash), tmp_path / "a.elf")
    assert f"ended by {name}, with the program at 0x34000404" in str(caught.value)
    assert "last finding: 0x34000400: a bank is off" in str(caught.value)


def test_a_crash_before_the_first_instruction_names_the_signal(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-VB-006: the emulator was ended by SIGSEGV"):
        run_program(stand_in(tmp_path, "kill -SEGV $$"), tmp_path / "a.elf")


@pytest.mark.parametrize(("longest", "lines"), [(1 << 16, 4), (200_000, 1), (1 << 20, 1)])
def test_a_line_is_as_long_as_the_caller_expects(tmp_path: Path, longest: int, lines: int) -> None:
    emulator = stand_in(tmp_path, r"head -c 200000 /dev/zero | tr '\0' a; echo; echo end")
    *long, last = run_program(emulator, tmp_path / "a.elf", longest_line=longest).lines
    assert ("".join(long), last) == ("a" * 200_000, "end")
    assert len([part for part in long if part]) == lines


@pytest.mark.parametrize("gdb", [False, True])
def test_only_a_debugger_may_take_as_long_as_it_likes(tmp_path: Path, gdb: bool) -> None:
    emulator = stand_in(tmp_path, 'echo "$@"')
    (line,) = run_program(emulator, tmp_path / "a.elf", gdb=gdb).lines
    for limit in ("max-instructions=", "max-silence=", "guest-time="):
        assert (limit in line) is not gdb


def test_a_debugger_port_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(run, "GDB_PORT", taken.getsockname()[1])
        (tmp_path / "empty.bin").write_bytes(bytes(64))
        with pytest.raises(N6Error, match=r"N6-VB-006: the emulator ended: .*in use"):
            run_program(find_emulator(BOARD.soc), tmp_path / "empty.bin", gdb=True)

"""One process at a time writes to a build folder.

Builds take its lock, and a question leaves the ledger unchanged.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from n6build.__main__ import main
from n6build.base.console import say
from n6build.base.file_lock import try_lock
from n6build.cli import build
from n6build.engine import lock
from n6build.engine.ledger import FOLDER, Entry, ledger_path, read_ledger
from n6build.engine.lock import locked_build_folder
from n6build.engine.perform import Site
from n6build.engine.plan import Plan
from patience import NET_S

HEADER = "build/nucleo-n657/include/n6_soc.h"


def is_free(folder: Path) -> bool:
    handle = os.open(folder / FOLDER / "lock", os.O_RDWR)
    try:
        return try_lock(handle)
    finally:
        os.close(handle)


def test_a_second_build_waits_for_the_first_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = locked_build_folder(tmp_path)
    taken, printed = threading.Event(), threading.Event()

    def say_and_note(*words: str) -> None:
        say(*words)
        printed.set()

    # Reading the output while the other thread prints could lose the line, and wait for it without end.
    monkeypatch.setattr(lock, "say", say_and_note)

    def second() -> None:
        os.close(locked_build_folder(tmp_path))
        taken.set()

    # A failure leaves it waiting, which must not keep the process.
    thread = threading.Thread(target=second, daemon=True)
    thread.start()
    assert printed.wait(NET_S)
    said = capsys.readouterr().out
    assert "Waiting" in said
    assert f"{tmp_path.name}, another build is using it (process {os.getpid()})" in said
    assert not taken.is_set()
    os.close(first)
    thread.join()
    assert taken.is_set()


def test_steps_are_done_under_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    free: list[bool] = []

    def looked(plan: Plan, wanted: Iterable[str], site: Site, *, jobs: int | None) -> None:
        free.append(is_free(site.build))

    monkeypatch.setattr(build, "execute", looked)
    assert main(["build", HEADER]) == 0
    assert free == [False]
    assert is_free(Path("build"))


def test_a_question_takes_no_lock_and_does_not_shorten_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = read_ledger(Path("build"))
    for _ in range(201):
        ledger.write(Entry("one", {}, {}, {}, "", "here"))
    before = ledger_path(Path("build")).read_bytes()
    handle = locked_build_folder(Path("build"))
    with pytest.raises(SystemExit, match="1"):
        main(["build", "--question", HEADER])
    os.close(handle)
    assert ledger_path(Path("build")).read_bytes() == before

"""Output on a terminal: text, and n6build's own colours."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base import console
from n6build.base.errors import N6Error
from n6build.board.run.session import show_line
from n6build.engine.command import run_command
from n6build.engine.progress import note_error
from n6build.engine.step import Step

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\r\u202egnp.exe\u2028\x00"
TEXTS = st.text(max_size=40) | st.sampled_from([HOSTILE, "a\nscons: done", "\x1b[32mgood\x1b[0m"])
OWN = re.compile(r"\x1b\[(?:36|32|31|2|0)m")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(params=[False, True], ids=["log", "terminal"])
def output(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    monkeypatch.delenv("NO_COLOR", raising=False)
    console._colour.cache_clear()
    request.addfinalizer(console._colour.cache_clear)
    return Terminal() if request.param else io.StringIO()


@contextmanager
def printing_to(output: io.StringIO) -> Iterator[list[str]]:
    """Yield a list that gets the printed text, as a log would have it.

    The text lacks n6build's own colours.
    """
    output.seek(0)
    output.truncate()
    shown: list[str] = []
    with redirect_stdout(output):
        yield shown
    shown.append(OWN.sub("", output.getvalue()) if output.isatty() else output.getvalue())


@given(TEXTS, TEXTS, TEXTS)
def test_a_line_is_one_line_of_letters(output: io.StringIO, verb: str, subject: str, detail: str) -> None:
    with printing_to(output) as found:
        console.say(verb, subject, detail, "good")
    (shown,) = found
    assert shown.endswith("\n")
    assert shown[:-1].isprintable()


@given(TEXTS)
def test_a_table_drives_no_terminal(output: io.StringIO, text: str) -> None:
    with printing_to(output) as found:
        console.show(f"{console.styled('found', 'good')} {text}")
    assert all(letter.isprintable() or letter in "\n\t" for letter in found[0])


@given(TEXTS)
def test_a_board_drives_no_terminal(output: io.StringIO, text: str) -> None:
    with printing_to(output) as found:
        show_line(text)
    (shown,) = found
    assert shown[:-1].isprintable()
    assert shown.count("\n") == (0 if text.startswith("n6 run ") else 1)


@given(TEXTS, TEXTS, TEXTS)
def test_an_error_neither_drives_a_terminal_nor_looks_like_another_line(what: str, where: str, hint: str) -> None:
    first, *others = str(N6Error("N6-FILE-002", what, where=where, hint=hint)).split("\n")
    assert all(letter.isprintable() or letter == "\t" for line in (first, *others) for letter in line)
    assert all(line.startswith("  ") for line in others)


def test_a_compiler_drives_no_terminal(output: io.StringIO, tmp_path: Path) -> None:
    """A compiler quotes lines of sources, which may have control characters."""
    script = f"import sys; sys.stdout.write({HOSTILE!r} + '\\ta\\n'); sys.stderr.buffer.write(b'\\xff\\n'); sys.exit(3)"
    step = Step("Make", "test", (str(tmp_path / "out"),), (), command=(sys.executable, "-c", script))
    with printing_to(output) as found, pytest.raises(N6Error, match="N6-STEP-010"):
        run_command(step, {"PYTHONIOENCODING": "utf-8"})
    (shown,) = found
    assert "\\x1b]0;title\\x07" in shown
    assert sorted(shown) == sorted(letter for letter in shown if letter.isprintable() or letter in "\n\t")


def test_an_error_that_cannot_be_written_down_is_still_the_one_that_is_raised(tmp_path: Path) -> None:
    (tmp_path / "build").write_text("a file in the place of the folder")
    note_error(N6Error("N6-FILE-002", "cannot read"), tmp_path / "build")
    note_error(N6Error("N6-FILE-002", HOSTILE), tmp_path / "other")
    assert json.loads((tmp_path / "other/last_error.json").read_text())["what"] == HOSTILE


PRINTS = re.compile(r"(?<![\w.])print\(|sys\.stdout\.write\(")
# These print for other programs: shells, make, CMake, the caller of a worker, a proof; or to a log that is no terminal.
MAY_PRINT = {
    "base/console.py",
    "cli/main.py",
    "cli/worker_platform.py",
    "prove/loaded.py",
    "board/virtual_board/build.py",
}


def test_nothing_else_prints() -> None:
    library = Path(console.__file__).parents[1]
    found = {path.relative_to(library).as_posix() for path in library.rglob("*.py") if PRINTS.search(path.read_text())}
    assert found == MAY_PRINT
    tools = library.parent / "site_tools"
    assert not [path.name for path in tools.glob("*.py") if PRINTS.search(path.read_text())]

"""Absent headers: the places where a compiler looks before it finds a header."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.engine.depfile import _INCLUDE, absent_headers, found_headers


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("src", "one", "two"):
        (tmp_path / folder).mkdir()


def absent(text: str) -> list[str]:
    Path("src/main.c").write_text(text)
    return absent_headers(["src/main.c"], ["one", "two"])


def test_a_header_is_looked_for_beside_the_source_and_in_each_folder_until_it_is_found() -> None:
    Path("two/a.h").write_text("")
    assert absent('#include "a.h"\n') == ["one/a.h", "src/a.h"]
    assert absent("#include <a.h>\n") == ["one/a.h"]
    Path("src/a.h").write_text("")
    assert absent('  #  include "a.h"\n') == []


def test_a_header_that_is_nowhere_is_looked_for_everywhere() -> None:
    everywhere = ["one/maybe.h", "src/maybe.h", "two/maybe.h"]
    assert absent('#if __has_include("maybe.h")\n#endif\n') == everywhere
    assert absent('#if 0\n#include "maybe.h"\n#endif\n') == everywhere
    assert absent("#include <sys/up/../maybe.h>") == ["one/sys/maybe.h", "two/sys/maybe.h"]


def test_headers_are_found_as_the_compiler_finds_them_and_in_each_other() -> None:
    """Conditions are ignored, and a cycle ends.

    The toolchain's own headers cannot be found in this way.
    """
    Path("src/main.c").write_text('#include "a.h"\n#if 0\n#include <b.h>\n#endif\n#include <stdint.h>\n')
    Path("two/a.h").write_text('#include "c.h"\n')
    Path("two/c.h").write_text('#include "a.h"\n')
    for folder in ("one", "two", "src"):
        Path(folder, "b.h").write_text("")
    assert found_headers(["src/main.c"], ["one", "two"]) == ["one/b.h", "two/a.h", "two/c.h"]


@given(st.binary(max_size=200))
def test_any_file_can_be_read(data: bytes) -> None:
    for quoted, angled in _INCLUDE.findall(data):
        assert bool(quoted) != bool(angled)
        assert b"\0" not in quoted + angled

"""Numbers of things in messages."""

from __future__ import annotations

from n6build.base.size_text import counted


def test_one_is_one_and_all_others_are_several() -> None:
    assert [counted(number, "sector") for number in (0, 1, 2)] == ["0 sectors", "1 sector", "2 sectors"]

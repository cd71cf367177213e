"""A template that cannot be filled in is an error at its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.templates import render


def test_a_template_includes_others_of_its_folder_and_has_the_filters(tmp_path: Path) -> None:
    (tmp_path / "outer.h.j2").write_text("{% include 'inner.h.j2' %}\n{{ 43981 | hex32 }}\n")
    (tmp_path / "inner.h.j2").write_text("{{ 43981 | hex }}\n")
    assert render(tmp_path / "outer.h.j2", {}) == "0xABCD\n0x0000ABCDu\n"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{% if x %}\nno end", "Unexpected end of template"),
        ("{{ mising }}", "'mising' is undefined"),
        ("{{", "unexpected"),
    ],
)
def test_the_line_of_the_file_that_is_wrong_is_named(tmp_path: Path, wrong: str, said: str) -> None:
    (tmp_path / "outer.h.j2").write_text("{% include 'inner.h.j2' %}\n")
    (tmp_path / "inner.h.j2").write_text(f"first line\n{wrong}\n")
    with pytest.raises(N6Error, match=f"N6-FILE-005: .*(?i:{said})") as caught:
        render(tmp_path / "outer.h.j2", {"x": 1})
    assert (caught.value.where or "").startswith(f"{tmp_path / 'inner.h.j2'}:")
    assert int((caught.value.where or "").rsplit(":", 1)[1]) >= 2

"""Templates are compiled once, and every text has a record of its templates.

A mistake is an error at its line.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base import uses
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


def _written(folder: Path, outer: str, inner: str) -> Path:
    (folder / "inner.j2").write_text(inner)
    (folder / "outer.j2").write_text(outer)
    return folder / "outer.j2"


def test_a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    template = _written(tmp_path, "{{ value }} {% include 'inner.j2' %}", "one")
    assert render(template, {"value": 1}) == "1 one"
    (tmp_path / "inner.j2").write_text("two")
    assert render(template, {"value": 1}) == "1 two"
    template.write_text("{{ value }}.")
    assert render(template, {"value": 2}) == "2."


def test_every_text_has_used_all_its_templates(tmp_path: Path) -> None:
    """A template counts even if it was compiled for another text.

    A step that renders it must be done again after a change.
    """
    template = _written(tmp_path, "{% include 'inner.j2' %}", "one")
    for _ in range(2):
        with uses.recorded() as used:
            render(template, {})
        assert {Path(use.path).name for use in used.lines} == {"outer.j2", "inner.j2"}

"""Templates are compiled once, and what a text is made from is seen each time."""

from pathlib import Path

from n6build.base import uses
from n6build.base.templates import render


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
    """Also where they were compiled for another one: a step that renders one must be done again when it changes."""
    template = _written(tmp_path, "{% include 'inner.j2' %}", "one")
    for _ in range(2):
        with uses.recorded() as used:
            render(template, {})
        assert {Path(use.path).name for use in used.lines} == {"outer.j2", "inner.j2"}

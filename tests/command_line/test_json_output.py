"""Products of a build that are tables for --json."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.cli.json_output import json_of
from n6build.engine.plan import make_plan
from n6build.engine.step import Step

MAKE = "n6build.steps.image_sizes:make_image_sizes"


def test_tables_are_found_behind_what_a_target_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model's description belongs to network_rel.bin.

    A file that only has a similar ending is no table.
    """
    monkeypatch.chdir(tmp_path)
    described = Step("Reloc", "reloc", ("b/network_reloc.c", "b/network_reloc.json"), function=MAKE)
    linked = Step(
        "Model", "reloc", ("b/network_rel.bin",), ("b/network_reloc.json", "b/other_sizes.json"), function=MAKE
    )
    sizes = Step("Sizes", "image", ("b/sizes.txt", "b/sizes.json"), function=MAKE)
    other = Step("Sizes", "image", ("b/other_sizes.json",), function=MAKE)
    plan = make_plan(
        (described, linked, sizes, other),
        {"reloc": ("b/network_rel.bin",), "image": ("b/sizes.txt", "b/other_sizes.json")},
    )
    (tmp_path / "b").mkdir()
    for name in ("network_reloc", "sizes", "other_sizes"):
        (tmp_path / f"b/{name}.json").write_text(f'"{name}"')
    assert json_of(("reloc", "image", "b/other_sizes.json"), plan) == {
        "reloc": {"network_reloc": "network_reloc"},
        "image": {"sizes": "sizes"},
        "b/other_sizes.json": {"other_sizes": "other_sizes"},
    }

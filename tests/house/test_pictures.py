"""The committed pictures are those that today's code draws of the committed build."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from reference_docs.pictures import (
    MODEL,
    PICTURES,
    SCHEMES,
    buffers_svg,
    page_hash,
    pipeline_svg,
    plan,
    read_report,
    report_page,
    shown_in,
    stages_of,
)

STALE = "run make pictures, and look at the result"


def committed(name: str) -> str:
    return (PICTURES / name).read_text(encoding="utf-8")


def test_the_buffers_are_drawn_as_in_a_report() -> None:
    assert buffers_svg(read_report()) == committed("memory.svg"), STALE


@pytest.mark.parametrize("name", SCHEMES)
def test_a_screenshot_is_of_the_page_that_a_report_has_today(name: str) -> None:
    assert shown_in(PICTURES / name) == page_hash(report_page()), STALE
    with Image.open(PICTURES / name) as image:
        assert image.width == 1280


def test_the_pipeline_has_the_stages_of_a_plan(tmp_path: Path) -> None:
    stages = stages_of(plan(tmp_path))
    assert next(iter(stages)) == "network"
    assert [*stages][-1] == "run"
    assert pipeline_svg(stages, read_report()) == committed("pipeline.svg"), STALE


def test_the_pictures_follow_the_colours_of_the_reader_and_load_nothing() -> None:
    for name in ("pipeline.svg", "memory.svg"):
        text = committed(name)
        assert "prefers-color-scheme: dark" in text
        assert "<script" not in text
        assert "href" not in text


def test_the_build_of_the_pictures_is_a_good_one() -> None:
    report = read_report()
    assert report.application == MODEL
    assert report.networks[0].compared[0] == "10 of 10 outputs equal the reference interpreter bit for bit"
    assert [check.id for check in report.checks if check.state == "failed"] == []

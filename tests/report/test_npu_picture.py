"""The NPU in the report: units of a network and their work.

It has numbers and a picture.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.judge.own_blobs.epoch_grades import EpochGrade, read_grades
from n6build.tell.content import NpuSection, Report, report_json
from n6build.tell.html import report_html
from n6build.tell.npu_picture import MOST_EPOCHS, npu_svg
from n6build.tell.text import report_text

from report.npu_samples import CONVOLUTION, GRADED, NOT_MODELLED, NPU, SATURATED, SMALL
from report.report_samples import REPORT, with_network
from report.test_report import Page
from report.test_report_browser import colours, rgb, screenshot

SVG = "{http://www.w3.org/2000/svg}"


def with_npu(npu: object) -> Report:
    return with_network(npu=npu)


def cells(svg: str) -> dict[tuple[str, str], tuple[str, float]]:
    """Return {(first line, second line of the tip): (colour, shade)}."""
    found = {}
    for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        tip = rect.findtext(f"{SVG}title")
        if tip and "fill-opacity" in rect.attrib:
            epoch, unit, *_ = tip.splitlines()
            found[epoch, unit.partition(":")[0]] = (rect.attrib["class"], float(rect.attrib["fill-opacity"]))
    return found


def test_every_unit_of_every_epoch_has_a_cell_in_the_shade_of_its_share() -> None:
    made = cells(npu_svg([CONVOLUTION, SMALL]))
    large, small = "epoch 5, Conv Mul", "epoch 8, Conv <b>"
    assert made.keys() == {
        *((large, unit) for unit in ("STRENG0", "STRENG6", "CONVACC3", "ARITH1")),
        *((small, unit) for unit in ("STRENG0", "STRENG1", "CONVACC0")),
    }
    # The most MACs, bytes and elements have the strongest shade. A hundredth of them has a tenth of it, and stays
    # visible.
    assert made[large, "CONVACC3"] == ("convacc", 1.0)
    assert made[large, "STRENG6"] == ("read", 1.0)
    assert made[large, "ARITH1"] == ("arith", 1.0)
    colour, shade = made[small, "CONVACC0"]
    assert (colour, abs(shade - (0.16 + 0.84 * 0.1)) < 0.01) == ("convacc", True)
    # The colour of an engine shows its task in the epoch.
    assert (made[large, "STRENG0"][0], made[small, "STRENG0"][0], made[small, "STRENG1"][0]) == (
        "write",
        "read",
        "write",
    )


def test_tips_have_the_numbers() -> None:
    tips = [title.text for title in ElementTree.fromstring(npu_svg([CONVOLUTION])).iter(f"{SVG}title")]
    assert "epoch 5, Conv Mul\nCONVACC3: 3x3 stride 2x2, 8 kernels of 8\n1,769,472 MACs" in tips
    assert "epoch 5, Conv Mul\n12,288 bytes moved" in tips


def test_a_unit_that_is_never_on_has_no_row_and_a_colour_that_is_not_there_no_legend() -> None:
    texts = [text.text for text in ElementTree.fromstring(npu_svg([CONVOLUTION])).iter(f"{SVG}text")]
    assert [text for text in texts if text and text.isupper() and text[-1].isdigit()] == [
        "STRENG0",
        "STRENG6",
        "CONVACC3",
        "ARITH1",
    ]
    assert "calculates" in texts
    assert "pools" not in texts


def test_nothing_to_draw_is_no_picture_and_a_long_network_is_cut() -> None:
    assert npu_svg([]) == ""
    assert npu_svg([replace(CONVOLUTION, units=())]) == ""
    many = [replace(SMALL, number=number) for number in range(MOST_EPOCHS + 50)]
    assert len(cells(npu_svg(many))) == 3 * MOST_EPOCHS


def test_epochs_that_move_and_multiply_nothing_are_drawn() -> None:
    idle = replace(
        CONVOLUTION, units=tuple(replace(unit, macs=0, reads=0, writes=0, elements=0) for unit in SMALL.units)
    )
    assert len(cells(npu_svg([idle]))) == 3


def test_page_text_and_json_tell_what_is_used_and_what_was_done() -> None:
    html = report_html(with_npu(NPU))
    page = Page(html)
    assert not page.open
    assert "Features of the NPU that this network uses" in page.text
    assert "the virtual NPU models all their settings." in page.text
    assert "40 values, 1 to 4096" in page.text
    assert "in 6:8,192  out 0:4,096" in page.text
    # The names of operators come from a third-party file.
    assert "Conv <b>" in page.text
    assert "<b>, " not in html
    text = report_text(with_npu(NPU))
    assert "2   epochs, with 3 STRENG, 2 CONVACC" in text
    assert "first inference: 1,787,166 MACs, 8.1 KiB read, 4.1 KiB written" in text
    document = json.loads(report_json(with_npu(NPU)))["networks"][0]["npu"]
    assert document["epochs"][0]["units"][2]["macs"] == 1_769_472
    assert document["use"]["kinds"][1]["units"] == ["CONVACC0", "CONVACC3"]


def test_page_text_and_json_have_the_values_that_saturated() -> None:
    html = report_html(with_npu(SATURATED))
    page = Page(html)
    loses = "ARITH3 loses 141 values of channel 47, up to 40,086 in 16 bits (32,767)"
    assert f"Epoch 12, Conv2D_48 <b>: {loses}." in page.text
    assert "To avoid losses: calibrate with representative data" in page.text
    assert "47: 0, 150" in page.text
    # The unit that lost values comes first, and outputs at the end of their scale are in the table only.
    assert html.index("47: 0, 150") < html.index("5: 500, 20")
    assert "ARITH0 loses" not in page.text
    assert "Conv2D_48 <b>" not in html
    assert f"epoch 12, Conv2D_48 <b>: {loses}" in " ".join(report_text(with_npu(SATURATED)).split())
    (unit,) = json.loads(report_json(with_npu(SATURATED)))["networks"][0]["npu"]["epochs"][0]["units"][1:]
    assert unit["saturation"]["lost"] == 141
    assert unit["saturation"]["channels"][0]["highest"] == 40086
    assert "Values that saturated" not in report_html(with_npu(NPU))


def test_what_is_not_modelled_is_told_before_anything_runs() -> None:
    for told in (Page(report_html(with_npu(NOT_MODELLED))).text, report_text(with_npu(NOT_MODELLED))):
        assert "POOL1 CTRL TYPE is 12; modelled: 0, 1, 2" in told
        assert "RECBUF is not modelled" in told
    assert "Units of the NPU in the first inference" not in report_html(with_npu(NOT_MODELLED))


def test_a_blob_that_cannot_be_read_does_not_cost_the_page() -> None:
    unreadable = NpuSection(None, (), "od_ecblobs.h: _ec_blob_od_1, word 9: has opcode 5, which is unknown")
    for told in (Page(report_html(with_npu(unreadable))).text, report_text(with_npu(unreadable))):
        assert "cannot be read: od_ecblobs.h: _ec_blob_od_1, word 9: has opcode 5" in " ".join(told.split())


def test_grades_and_warnings_are_told_without_a_run(tmp_path: Path) -> None:
    html = report_html(with_npu(GRADED))
    page = Page(html)
    assert not page.open
    assert "1 seen, 1 smaller, of 2 epochs" in page.text
    assert "width is 4, seen from 8 to 60" in page.text
    assert "Epoch 2, Conv2D_0 3x3 <b>: a board failed with this kind, in rung chain on a board." in page.text
    assert "3x3 <b>" not in html
    assert "Units of the NPU in the first inference" not in html
    text = " ".join(report_text(with_npu(GRADED)).split())
    assert "grades 1 seen, 1 smaller; experimental" in text
    assert "epoch 2, Conv2D_0 3x3 <b>: a board failed with this kind, in rung chain on a board" in text
    # The warning has its colour.
    without = report_html(with_npu(replace(GRADED, grades=GRADED.grades[:1])))
    shots = [np.asarray(screenshot(each, tmp_path, "1200,4000"), dtype=int) for each in (html, without)]
    colour = rgb(colours(html, dark=False)["warn"])
    warned = [int((abs(each - colour).max(axis=2) <= 3).sum()) for each in shots]
    assert warned[0] > warned[1] + 100


def test_grades_are_read_from_what_the_backend_wrote(tmp_path: Path) -> None:
    figures = tmp_path / "network_npu.json"
    epoch = {
        "epoch": 3,
        "node": "Add_0",
        "kind": "sum",
        "grade": "seen",
        "not_seen": [],
        "failed_on_board": ["sum on a"],
    }
    figures.write_text(json.dumps({"epochs": [epoch]}))
    assert read_grades(figures) == (EpochGrade(3, "Add_0 sum", "seen", (), ("sum on a",)),)
    figures.write_text('{"epochs": [{"epoch": 3}]}')
    with pytest.raises(N6Error, match="N6-LADDER-002"):
        read_grades(figures)


def test_a_network_for_the_cpu_says_nothing_of_it() -> None:
    assert "of the NPU" not in Page(report_html(REPORT)).text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_picture_is_drawn_in_a_browser(tmp_path: Path, dark: bool) -> None:
    """The bars of MACs have their colour and the right height.

    The small one has a hundredth of the large one's height.
    """
    svg = npu_svg([CONVOLUTION, SMALL])
    colour = ("#fb923c" if dark else "#c2570c", "#12161d" if dark else "#ffffff")
    page = f"<!doctype html><body style='margin:0'>{svg}"
    pixels = np.asarray(screenshot(page, tmp_path, "1200,700", dark=dark), dtype=int)
    # The legend is above.
    is_bar = np.all(abs(pixels - rgb(colour[0])) <= 3, axis=2)[30:]
    columns = [int(is_bar[:, left : left + 24].sum(axis=0).max()) for left in (97, 123)]
    # The column has the full height of a bar, and the cell of the unit that did the most of all.
    assert columns == [40 + 15, 1]
    assert tuple(pixels[2, 600]) == rgb(colour[1])

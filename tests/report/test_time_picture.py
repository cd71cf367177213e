"""Pictures of expected times: all epochs to scale.

Names from outside remain text.
"""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

from n6build.judge.timing.conditions import Conditions
from n6build.judge.timing.expected import NetworkTime, expected_time
from n6build.judge.timing.model import read_model
from n6build.judge.timing.of_network import EpochWork, NetworkWork
from n6build.tell.html import report_html
from n6build.tell.text import report_text
from n6build.tell.time_picture import roofline_svg, time_line_svg

from report.report_samples import with_network

SVG = "{http://www.w3.org/2000/svg}"
DK = Conditions("dk", 800_000_000, 1_000_000_000, 200_000_000)
HOSTILE = "</title><script>alert(1)</script>"
WORK = (
    EpochWork(1, "Conv", "NPU", 1_000_000, 0, (0, 0), 0, "controller"),
    EpochWork(2, HOSTILE, "NPU", 1_000, 0, (800_000, 800_000), 0, None),
    EpochWork(3, "Softmax", "CPU", 10_000, 0, (0, 0), 0, None),
    EpochWork(4, "Concat", "both", 5_000, 0, (0, 0), 1_000, "CPU"),
)


def time_of(*epochs: EpochWork) -> NetworkTime:
    return expected_time(NetworkWork(epochs, "", 0, 0), read_model(), DK)


def shapes(svg: str, kind: str, name: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(svg).iter(f"{SVG}{name}") if each.get("class") == kind]


def test_bars_are_as_long_as_what_they_stand_for() -> None:
    svg = time_line_svg(time_of(*WORK[:2]))
    (npu, *_), (flash, *_) = (
        [each for each in shapes(svg, kind, "rect") if float(each.get("width", 0)) > 20] for kind in ("npu", "flash")
    )
    # The NPU takes a millisecond, and then the flash takes two.
    assert float(flash.get("width", 0)) / float(npu.get("width", 0)) > 1.9
    assert float(flash.get("x", 0)) >= float(npu.get("x", 0)) + float(npu.get("width", 0))
    assert npu.get("y") != flash.get("y")


def test_the_roofline_has_a_dot_for_each_epoch_and_none_above_the_roof() -> None:
    svg = roofline_svg(time_of(*WORK))
    dots = [each for kind in ("npu", "cpu", "least") for each in shapes(svg, kind, "circle")]
    assert len(dots) == len(WORK)
    (roof,) = shapes(svg, "roof", "polyline")
    top = min(float(point.split(",")[1]) for point in str(roof.get("points")).split())
    assert all(float(dot.get("cy", 0)) >= top - 0.2 for dot in dots)


def test_what_has_only_a_lower_bound_looks_otherwise() -> None:
    assert len(shapes(roofline_svg(time_of(*WORK)), "least", "circle")) == 1


def test_nothing_is_drawn_of_nothing() -> None:
    assert time_line_svg(time_of()) == roofline_svg(time_of()) == ""
    unknown = replace(WORK[0], elements=None, starts=None)
    assert roofline_svg(time_of(unknown)) == ""


def test_the_page_and_the_text_tell_of_the_expected_time_and_of_what_is_not_known() -> None:
    time = time_of(*WORK)
    report = with_network(time=time)
    page, text = report_html(report), report_text(report)
    assert "<script>alert" not in page
    page = unescape(page)
    for said in (page, text):
        assert "at least" in said
        assert "the CPU's share of its work was not measured" in said.replace("\n", " ").replace("                ", "")
    assert page.count("n6-time") > 2

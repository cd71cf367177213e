"""The report: its content in page, text and JSON, and hostile names.

All three forms have the same content.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from n6build.base.findings import Finding
from n6build.board.run.instructions import Cycles, Meaning
from n6build.check.run import Result
from n6build.engine.perform import DoneStep
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step
from n6build.judge.accuracy.figures import NO_ACCURACY, Accuracy, AreaFigures, OutputFigures, TensorFigures
from n6build.tell.content import EpochRow, Part, Report, Space, report_json
from n6build.tell.html import TEMPLATE, report_html
from n6build.tell.seen_picture import Seen
from n6build.tell.text import report_text
from plan.plan_samples import svg_of

from report.report_samples import KIB, LARGE, REPORT, with_network


class Page(HTMLParser):
    """A page with its text, links and unclosed elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.tags: list[tuple[str, list[str]]] = []
        self.references: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [name for name, _ in attributes]))
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.references += [value or "" for name, value in attributes if name in ("src", "href", "action", "onclick")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_needs_nothing_from_outside() -> None:
    html = report_html(REPORT)
    page = Page(html)
    assert not page.open
    assert not page.references
    assert not re.search(r"https?:|url\(|@import", html)


def test_what_instructions_say_of_cycles_is_shown_where_they_were_counted() -> None:
    title = "Cycles of the chip for instructions of the virtual board"
    assert title not in Page(report_html(REPORT)).text
    meanings = {
        "scalar": Meaning("scalar code", "model", "No stalls.", Cycles(1.0, 2.5)),
        "npu": Meaning("epochs of the NPU", "unknown", "<b>Not</b> computed."),
    }
    page = Page(report_html(replace(REPORT, meanings=meanings)))
    text = " ".join(page.text.split())
    assert title in text
    assert "1 to 2.5" in text
    assert "not known" in text
    assert "<b>Not</b> computed." in text
    assert not page.open


def test_names_from_outside_stay_text() -> None:
    evil = "<img src=x onerror=alert(1)>\"'&"
    report = with_network(model=evil, inputs=(evil,), epochs=(EpochRow(1, evil, "CPU", 1, 0, None),))
    page = Page(report_html(replace(report, application=evil, actions=(DoneStep(evil, evil, 0.0),))))
    assert not page.references
    assert page.text.count(evil) >= 5


def test_text_and_page_tell_the_same() -> None:
    text, page = report_text(REPORT), Page(report_html(REPORT)).text
    for fact in (
        "keyword",
        "NUCLEO-N657X0-Q",
        "AXISRAM3",
        "75.0%",
        "0x34200000",
        "9 MiB outside",
        "known & accepted",
        "N6-CHECK-014",
        "Conv2D",
        "3,000",
        "5.0 KiB",
        "build/network.c",
    ):
        assert fact in text, fact
        assert fact in page, fact


def test_the_text_fits_a_terminal() -> None:
    for report in (REPORT, LARGE):
        assert max(map(len, report_text(report).splitlines())) <= 100


def test_the_text_draws_to_scale() -> None:
    row = next(line for line in report_text(REPORT).splitlines() if line.startswith("  |"))
    assert (row.count("W"), row.count("A"), row.count(".")) == (16, 32, 16)


def test_the_json_has_every_number() -> None:
    document = json.loads(report_json(REPORT))
    assert document["memory"][0]["spaces"][0]["parts"][1]["size"] == 200 * KIB
    assert document["memory"][0]["spaces"][0]["used"] == 300 * KIB
    assert document["flash"]["spaces"][0]["used"] == 512 * KIB
    assert document["networks"][0]["epochs"][0]["cycles"] == 500


def test_shared_bytes_count_once() -> None:
    parts = (Part("a", "weights", 0, 100), Part("b", "activations", 50, 100), Part("c", "vectors", 60, 10))
    assert Space("x", 0, 200, parts).used == 150


def test_a_build_that_did_nothing_says_so() -> None:
    assert "every target was up to date" in Page(report_html(replace(REPORT, actions=()))).text


def test_the_browser_loads_nothing_and_runs_only_the_script_that_sorts() -> None:
    html = report_html(REPORT)
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert html.count("<script") == 1
    assert script == (TEMPLATE.parent / "report_sort.js.j2").read_text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert re.findall(r'Content-Security-Policy" content="([^"]*)"', html) == [policy]
    # The script reads the page and moves its rows; it makes no markup of any text.
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function|fetch|import", script)


def test_what_failed_comes_first_and_what_passed_is_folded() -> None:
    finding = Finding("keyword", "12 bytes too many", "less")
    failed = Result("N6-CHECK-020", "late in the list", "error", "failed", (finding,))
    report = replace(REPORT, checks=(*REPORT.checks, failed))
    for text in (report_text(report), Page(report_html(report)).text):
        assert text.index("N6-CHECK-020") < text.index("N6-CHECK-003") < text.index("N6-CHECK-014")
    html = report_html(report)
    assert html.index("N6-CHECK-014") < html.index("<details><summary>1 passed") < html.index("N6-CHECK-001")


def test_what_had_nothing_to_look_at_is_counted_apart() -> None:
    html = report_html(REPORT)
    assert (
        html.index("N6-CHECK-001") < html.index("<details><summary>1 had nothing to check") < html.index("N6-CHECK-021")
    )
    assert "2 of 3</b>checks passed or waived" in html
    assert "Checks: 1 passed, 1 warned, 1 waived, 1 had nothing to check" in report_text(REPORT)
    expected = {"passed": 1, "failed": 0, "warned": 1, "waived": 1, "not applicable": 1}
    assert json.loads(report_json(REPORT))["check_counts"] == expected


def test_what_lies_in_no_memory_is_not_left_out() -> None:
    report = replace(REPORT, elsewhere=(Part("activations, pool hyperRAM", "activations", 0x90000000, 4096),))
    for text in (report_text(report), Page(report_html(report)).text):
        assert "Not completely inside a memory of the board" in text
        assert "activations, pool hyperRAM" in text
        assert "0x90000000" in text
    assert "Not wholly" not in report_text(REPORT) + report_html(REPORT)


def test_epochs_that_were_not_measured_keep_their_column() -> None:
    epochs = (EpochRow(1, "Conv2D", "CPU", 10, 0, 7), EpochRow(2, "Softmax", "CPU", 0, 0, None))
    html = report_html(with_network(epochs=epochs))
    table = html.partition("<h2>Network")[2]
    rows = [row for row in re.findall(r"<tr>.*?</tr>", table) if "Conv2D" in row or "Softmax" in row]
    assert [row.count("<td") for row in rows] == [7, 7]


def test_shares_of_npu_and_cpu() -> None:
    epochs = (EpochRow(1, "Conv2D", "NPU", 900, 0, None), EpochRow(2, "Mean", "CPU", 100, 0, None))
    report = with_network(epochs=epochs)
    assert "90.0% on the NPU, 10.0% on the CPU" in report_text(report)
    html = report_html(report)
    assert "share of the epochs: NPU 50.0%, CPU 50.0%" in html
    assert "share of the MACs: NPU 90.0%, CPU 10.0%" in html


def test_a_network_without_macs_has_no_column_and_no_share_of_them() -> None:
    """c_info of nearly every release has 0 MACs for each epoch.

    The report takes this for not counted.
    """
    epochs = (EpochRow(2, "Transpose", "CPU", None, 64, 900), EpochRow(3, "Conv", "NPU", None, 4096, 70, 117, 115))
    report = with_network(epochs=epochs)
    for text in (report_text(report), report_html(report)):
        assert "MAC" not in text
        assert "3-117" in text
    assert "116   115 on the NPU, 1 on the CPU" in report_text(report)
    assert "116 epochs: 115 on the NPU, 1 on the CPU" in report_html(report)
    assert [row["macs"] for row in json.loads(report_json(report))["networks"][0]["epochs"]] == [None, None]


def test_the_largest_epochs_are_those_with_most_macs_or_else_cycles_or_bytes() -> None:
    network = REPORT.networks[0]
    rows = [
        (EpochRow(1, "a", "CPU", 1, 9, 9), EpochRow(2, "b", "CPU", 2, 0, None)),
        (EpochRow(1, "a", "CPU", None, 9, 1), EpochRow(2, "b", "CPU", None, 0, 2)),
        (EpochRow(1, "a", "CPU", None, 1, None), EpochRow(2, "b", "CPU", None, 2, None)),
    ]
    assert [[row.kind for row in replace(network, epochs=each).largest(1)] for each in rows] == [["b"]] * 3


def plan_of(*names: str) -> Plan:
    return make_plan(Step("Make", "stage", (name,), command=("make", name), made_at="here") for name in names)


def test_the_page_alone_shows_the_plan() -> None:
    svg = svg_of(plan_of("some_object.o"), ())
    report = replace(REPORT, plan_svg=svg)
    html = report_html(report)
    assert html.count(svg) == 1
    page = Page(html)
    assert not page.open
    assert not page.references
    assert "Build plan" in page.text
    assert "Build plan" not in report_html(REPORT)
    assert "<svg" not in report_html(REPORT)
    assert report_text(report) == report_text(REPORT)
    assert report_json(report) == report_json(REPORT)
    assert "plan_svg" not in report_json(report)


def test_names_in_the_plan_stay_text() -> None:
    evil = "<img src=x onerror=alert(1)>\"'&"
    pages = [Page(report_html(replace(REPORT, plan_svg=svg_of(plan_of(name), (name,))))) for name in (evil, "a")]
    assert pages[0].tags == pages[1].tags
    assert evil in pages[0].text


# A lone surrogate comes from "\ud800" in a JSON file. No file of n6build can contain it.
LETTERS = st.sampled_from("\x1b\ud800\u202e\n<>&\"'{}ab") | st.characters()


@given(st.lists(LETTERS, max_size=150).map("".join))
def test_no_name_can_harm_a_terminal_or_the_page(name: str) -> None:
    report = named(name)
    text = report_text(report)
    assert all(line.isprintable() and len(line) <= 100 for line in text.removesuffix("\n").split("\n"))
    html = report_html(report)
    assert html.encode()
    assert Page(html).tags == tags_of_harmless_names()
    assert json.loads(report_json(report))["application"] == name


@cache
def tags_of_harmless_names() -> object:
    return Page(report_html(named("a"))).tags


def named(name: str) -> Report:
    """Return a report in which everything has this name."""
    epochs = (EpochRow(1, name, "CPU", 1, 0, None),)
    return replace(
        with_network(model=name, inputs=(name,), outputs=(name,), epochs=epochs),
        application=name,
        versions=((name, name),),
        elsewhere=(Part(name, "weights", 0, 1),),
        checks=(Result("N6-CHECK-001", "t", "error", "failed", (Finding(name, name, name),)),),
        actions=(DoneStep("network", name, 0.0),),
    )


def test_the_picture_of_a_run_is_part_of_the_page_only() -> None:
    assert "<img" not in report_html(REPORT)
    assert "img-src" not in report_html(REPORT)
    report = replace(REPORT, picture_png=b"picture")
    assert '<img class="found"' in report_html(report)
    assert "default-src 'none'; img-src data:; style-src" in report_html(report)
    assert base64.b64encode(b"picture").decode() in report_html(report)
    assert "picture_png" not in json.loads(report_json(report))


FIGURES = Accuracy(
    100,
    (OutputFigures("classes", 31.7, 98),),
    100,
    91,
    90,
    99,
    98,
    (TensorFigures("a<b>", 20.25), TensorFigures("r1", 25.0)),
)


def test_the_accuracy_of_an_int8_file() -> None:
    report = with_network(accuracy=FIGURES, on_board={"top-1": 89.0})
    page, text = report_html(report), report_text(report)
    row = '<tr><td>top-1</td><td class="n">91.0 %</td><td class="n">90.0 %</td><td class="n">89.0 %</td></tr>'
    assert row in page
    assert '<td>top-5</td><td class="n">99.0 %</td><td class="n">98.0 %</td><td class="n"></td>' in page
    assert '<td class="w">output classes</td><td class="n">31.7 dB</td>' in page
    assert '<td class="w">a&lt;b&gt;</td><td class="n">20.2 dB</td>' in page
    assert NO_ACCURACY.capitalize() not in page
    assert "top-1 91.0 % float, 90.0 % int8; top-5 99.0 % and 98.0 %" in text
    (network,) = json.loads(report_json(report))["networks"]
    assert (network["accuracy"]["int8_top1"], network["on_board"]) == (90, {"top-1": 89.0})


def test_figures_without_labels_are_called_no_accuracy() -> None:
    report = with_network(accuracy=replace(FIGURES, labelled=0))
    page = report_html(report)
    assert f'<p class="failed">{NO_ACCURACY.capitalize()}.</p>' in page
    assert '<td>samples of the same class as in float</td><td></td><td class="n">98.0 %</td>' in page
    assert " ".join(NO_ACCURACY.split()) in " ".join(report_text(report).split())
    assert "Accuracy of int8" not in report_html(REPORT)


def test_areas_have_their_mean_iou() -> None:
    areas = AreaFigures("areas", 98.5, 9000, 71.25, 69.0)
    page = report_html(with_network(accuracy=replace(FIGURES, labelled=0, areas=areas), on_board={"mean IoU": 68.5}))
    assert '<td>mean IoU</td><td class="n">71.2 %</td><td class="n">69.0 %</td><td class="n">68.5 %</td>' in page
    assert "<td>pixels of the same class as in float</td>" in page


def test_the_inputs_as_the_network_gets_them() -> None:
    report = with_network(seen=Seen(b"pixels", 9, 40, "8 x 8 pixels, int8"))
    page = report_html(report)
    assert "9 of 40 inputs, 8 x 8 pixels, int8." in page
    assert f'src="data:image/png;base64,{base64.b64encode(b"pixels").decode()}"' in page
    assert "default-src 'none'; img-src data:; style-src" in page
    assert "seen" not in json.loads(report_json(report))["networks"][0]

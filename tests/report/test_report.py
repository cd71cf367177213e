"""The report: what stands in it, that it needs nothing from outside, and how it looks in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from n6build.checks.run import Result
from n6build.checks.subject import Finding
from n6build.report.actions import DoneAction
from n6build.report.content import AddressRange, EpochRow, NetworkSection, Part, Report, Space, report_json
from n6build.report.html import report_html
from n6build.report.text import report_text
from PIL import Image

KIB = 1 << 10
RAM = Space(
    "AXISRAM3",
    0x34200000,
    400 * KIB,
    (
        Part("weights, pool npuRAM3", "weights", 0x34200000, 100 * KIB),
        Part("activations, pool npuRAM3", "activations", 0x34200000 + 100 * KIB, 200 * KIB),
    ),
)
SLOT = Space("appli", 0x70000000, 1 << 20, (Part("appli_image.bin", "program", 0x70000000, 512 * KIB),))
REPORT = Report(
    application="keyword",
    board="NUCLEO-N657X0-Q",
    profile="extflash",
    versions=(("reference", "1.0"),),
    networks=(
        NetworkSection(
            "keyword",
            "reference",
            ("in: int8 1 x 10",),
            ("out: int8 1 x 2",),
            100 * KIB,
            200 * KIB,
            (EpochRow(1, "Conv2D", "NPU", 3000, 500), EpochRow(2, "Softmax", "CPU", 0, 70)),
        ),
    ),
    memory=(
        AddressRange("RAM in the chip", RAM.address, RAM.size, (RAM,), (Part("pool a", "pool", RAM.address, 4096),)),
    ),
    flash=AddressRange("Flash", SLOT.address, SLOT.size, (SLOT,), ()),
    checks=(
        Result("N6-CHECK-001", "pools hold", "error", "passed", ()),
        Result(
            "N6-CHECK-003", "stay inside", "warning", "failed", (Finding("keyword: pool x", "9 MiB outside", "less"),)
        ),
        Result("N6-CHECK-014", "types", "error", "waived", (Finding("keyword", "is int8", "h"),), "known & accepted"),
    ),
    actions=(DoneAction("network", "build/network.c", 0.25),),
    seconds=1.5,
)
LARGE = replace(
    REPORT,
    networks=(
        replace(
            REPORT.networks[0],
            epochs=tuple(EpochRow(n, "Conv", "NPU" if n % 3 else "CPU", n * 100, None) for n in range(1, 601)),
        ),
    ),
    actions=tuple(DoneAction("compile", f"build/{'long_folder_name/' * 8}{n}.o", 0.1) for n in range(60)),
)


class Page(HTMLParser):
    """Texts, links and elements that are left open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.references: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
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
    assert "<script" not in html
    assert not re.search(r"https?:|url\(|@import", html)


def test_names_from_outside_stay_text() -> None:
    evil = "<img src=x onerror=alert(1)>\"'&"
    network = replace(REPORT.networks[0], model=evil, inputs=(evil,), epochs=(EpochRow(1, evil, "CPU", 1, None),))
    page = Page(
        report_html(replace(REPORT, application=evil, networks=(network,), actions=(DoneAction(evil, evil, 0.0),)))
    )
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
    assert document["networks"][0]["epochs"][0]["cycles"] == 500


def test_shared_bytes_count_once() -> None:
    parts = (Part("a", "weights", 0, 100), Part("b", "activations", 50, 100), Part("c", "vectors", 60, 10))
    assert Space("x", 0, 200, parts).used == 150


def test_a_build_that_did_nothing_says_so() -> None:
    assert "every target was up to date" in Page(report_html(replace(REPORT, actions=()))).text


def browse(page: Path, folder: Path, *options: str) -> str:
    """What headless Chromium prints."""
    browser = shutil.which("chromium")
    assert browser, "the tests look at the page in a browser: python3 tools/setup.py --browser installs it"
    quiet = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"
    command = [browser, "--headless", *quiet.split(), "--disable-component-update", "--hide-scrollbars"]
    command += [f"--user-data-dir={folder / 'profile'}", *options, page.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def pixels(image: Image.Image, colour: str) -> list[tuple[int, int]]:
    """(row, columns of this colour) of every row that has at least 20 of them."""
    wanted = tuple(int(colour[n : n + 2], 16) for n in (1, 3, 5))
    found = []
    width, height = image.size
    data = image.convert("RGB").tobytes()
    for row in range(height):
        line = data[3 * width * row : 3 * width * (row + 1)]
        count = sum(
            all(abs(line[x + channel] - wanted[channel]) <= 24 for channel in range(3)) for x in range(0, len(line), 3)
        )
        if count >= 20:
            found.append((row, count))
    return found


def colours(html: str, *, dark: bool) -> dict[str, str]:
    """Custom properties of the page, of its light or its dark half."""
    blocks = re.findall(r":root \{(.*?)\}", html, re.DOTALL)
    return dict(re.findall(r"--(\w+): (#\w{6})", blocks[1 if dark else 0]))


@pytest.mark.parametrize("width", [390, 1400])
def test_in_a_browser_ranges_are_drawn_to_scale(tmp_path: Path, width: int) -> None:
    html = report_html(REPORT)
    (tmp_path / "report.html").write_text(html)
    shot = tmp_path / "shot.png"
    # The window of a headless browser is not narrower than 500 pixels; a frame in it is.
    frame = f'<body style="margin:0"><iframe src="report.html" style="border:0;width:{width}px;height:1500px"></iframe>'
    (tmp_path / "frame.html").write_text(frame)
    browse(tmp_path / "frame.html", tmp_path, f"--window-size={max(width, 500)},1500", f"--screenshot={shot}")
    image = Image.open(shot)
    light = colours(html, dark=False)
    weights = max(count for _, count in pixels(image, light["weights"]))
    activations = max(count for _, count in pixels(image, light["activations"]))
    bar = min(width, 1120) - (28 if width < 560 else 40)
    assert abs(weights - bar / 4) <= 4
    assert abs(activations - bar / 2) <= 4


@pytest.mark.parametrize("report", [REPORT, LARGE], ids=["small", "600 epochs"])
@pytest.mark.parametrize("width", [390, 1400])
def test_in_a_browser_nothing_is_wider_than_the_window(tmp_path: Path, report: Report, width: int) -> None:
    probe = (
        "<script>addEventListener('load', () => { const d = document.documentElement;"
        " document.title = `widths ${d.scrollWidth} ${d.clientWidth}`; parent.postMessage(document.title, '*') })</script>"
    )
    (tmp_path / "report.html").write_text(report_html(report) + probe)
    listen = "<script>addEventListener('message', e => { document.title = e.data })</script>"
    frame = (
        f'<title>none</title>{listen}<iframe src="report.html" style="border:0;width:{width}px;height:900px"></iframe>'
    )
    (tmp_path / "frame.html").write_text(frame)
    dom = browse(
        tmp_path / "frame.html", tmp_path, "--window-size=1500,1000", "--virtual-time-budget=4000", "--dump-dom"
    )
    match = re.search(r"widths (\d+) (\d+)", dom)
    assert match, dom[:500]
    assert int(match[1]) <= int(match[2]) == width

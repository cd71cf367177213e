"""The appearance of the report in a real browser."""

from __future__ import annotations

import html
import io
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from browser import browse
from n6build.compile.artifacts.buffer_lives import BufferLife
from n6build.engine.plan import make_plan
from n6build.engine.step import Step
from n6build.judge.accuracy.figures import Accuracy, OutputFigures, TensorFigures
from n6build.tell.content import AddressRange, Part, Report, Space
from n6build.tell.html import report_html
from n6build.tell.seen_picture import Seen
from PIL import Image
from plan.plan_samples import svg_of
from slow_rows import slow_rows

from report.npu_samples import GRADED, NPU
from report.report_samples import LARGE, REPORT, with_network

LONG = replace(
    with_network(model="b" * 300, inputs=("c" * 300,)),
    application="a" * 300,
    versions=(("d" * 300, "e" * 300),),
)


@cache
def planned() -> Report:
    """Return a report with a plan that is wider and longer than any window."""
    plan = make_plan(
        Step("Make", "s", (f"{n}/{'o' * 40}",), (f"{n - 7}/{'o' * 40}",), command=("make",), made_at="here")
        for n in range(60)
    )
    return replace(REPORT, plan_svg=svg_of(plan, ("3/" + "o" * 40,)))


# This network has more epochs than fit into a window.
ON_NPU = with_network(npu=replace(NPU, epochs=(*NPU.epochs * 150,), grades=(*GRADED.grades * 150,)))

# One buffer has half of the picture's height in all epochs but the last, the other one has the other half in all but
# the first.
LIVES = (
    BufferLife("first", "activation", 0x34200000, 1 << 16, 0, 98),
    BufferLife("b" * 300, "output", 0x34210000, 1 << 16, 1, 99),
)
POOLS = (Part("pool " + "p" * 300, "pool", 0x34200000, 1 << 16), Part("pool q", "pool", 0x34210000, 1 << 20))
WITH_BUFFERS = with_network(buffers=LIVES, pools=POOLS)


def pixels(width: int) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (width, 60), "red").save(content, "PNG")
    return content.getvalue()


WITH_ACCURACY = with_network(
    accuracy=Accuracy(9, (OutputFigures("o" * 300, 9.5, 7),), tensors=(TensorFigures("t" * 300, 9.0),) * 7),
    seen=Seen(pixels(1400), 9, 12, "500 x 40 pixels, int8"),
)


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[n : n + 2], 16) for n in (1, 3, 5))


def screenshot(page: str, folder: Path, size: str, *, dark: bool = False) -> Image.Image:
    """Return the picture of a page in a window of this size.

    Args:
        page: Content of the page.
        folder: Folder for the files of the browser.
        size: Width and height of the window: "1200,900".
        dark: The user prefers dark colours.
    """
    (tmp := folder / "page.html").write_text(page)
    options = [f"--window-size={size}", f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    browse(tmp, folder, *options, f"--screenshot={folder / 'shot.png'}")
    return Image.open(folder / "shot.png").convert("RGB")


def widest(image: Image.Image, colour: str) -> int:
    """Return the most pixels of about this colour in any row.

    A little of the background shines through the parts of an axis.
    """
    away = np.abs(np.asarray(image, dtype=int) - rgb(colour)).max(axis=2)
    return int((away <= 24).sum(axis=1).max())


def colours(page: str, *, dark: bool) -> dict[str, str]:
    """Return the custom properties of the page's light or dark half."""
    blocks = re.findall(r":root \{(.*?)\}", page, re.DOTALL)
    return dict(re.findall(r"--(\w+): (#\w{6})", blocks[dark]))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, *slow_rows(1400)])
def test_ranges_are_drawn_to_scale(tmp_path: Path, width: int, dark: bool) -> None:
    page = report_html(REPORT)
    (tmp_path / "report.html").write_text(page)
    # The window of a headless browser has at least 500 pixels, but a frame in it may be narrower.
    frame = f'<body style="margin:0"><iframe src="report.html" style="border:0;width:{width}px;height:1500px"></iframe>'
    image = screenshot(frame, tmp_path, f"{max(width, 500)},1500", dark=dark)
    colour = colours(page, dark=dark)
    assert image.getpixel((5, 5)) == rgb(colour["paper"])
    bar = min(width, 1120) - (28 if width < 560 else 40)
    assert abs(widest(image, colour["weights"]) - bar / 4) <= 4
    assert abs(widest(image, colour["activations"]) - bar / 2) <= 4


@pytest.mark.parametrize(
    "report",
    [REPORT, LARGE, LONG, None, ON_NPU, WITH_BUFFERS, WITH_ACCURACY],
    ids=["small", "600 epochs", "long names", "plan", "NPU", "buffers", "accuracy"],
)
@pytest.mark.parametrize("width", [390, *slow_rows(1400)])
def test_nothing_is_wider_than_the_window(tmp_path: Path, report: Report | None, width: int) -> None:
    page = html.escape(report_html(report or planned()))
    measure = (
        "addEventListener('load', () => { const d = document.querySelector('iframe').contentDocument.documentElement;"
        " document.title = `widths ${d.scrollWidth} ${d.clientWidth}` })"
    )
    frame = f'<iframe srcdoc="{page}" style="border:0;width:{width}px;height:900px"></iframe>'
    (tmp_path / "frame.html").write_text(f"<title>none</title><script>{measure}</script>{frame}")
    dom = browse(tmp_path / "frame.html", tmp_path, "--window-size=1500,1000", "--dump-dom")
    match = re.search(r"widths (\d+) (\d+)", dom)
    assert match, dom[:500]
    assert int(match[1]) <= int(match[2]) == width


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_plan_follows_the_colours_of_the_page(tmp_path: Path, dark: bool) -> None:
    page = report_html(planned())
    # The picture is alone on the page: it has its own colours, for readers who open only the picture.
    page = page[: page.index("<h1>")] + page[page.index("<h2>Build plan") :]
    image = screenshot(page, tmp_path, "1200,900", dark=dark)
    picture = dict(
        re.findall(r"--plan-(\w+): (#\w{6})", page.partition("@media (prefers-color-scheme: dark) { .n6")[2 * dark])
    )
    assert picture["paper"] == colours(page, dark=dark)["paper"]
    assert widest(image, picture["tint"]) > 100
    assert widest(image, picture["paper"]) == 1200


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_buffers_are_as_wide_as_their_lives_and_as_high_as_their_sizes(tmp_path: Path, dark: bool) -> None:
    page = report_html(WITH_BUFFERS)
    alone = page[: page.index("<h1>")] + page[page.index("<h3>2 buffers over time") :]
    image = screenshot(alone, tmp_path, "1900,700", dark=dark)
    picture = dict(
        re.findall(r"--mem-(\w+): (#\w{6})", page.partition("@media (prefers-color-scheme: dark) { .n6-m")[2 * dark])
    )
    assert picture["paper"] == colours(page, dark=dark)["paper"]
    epochs = 1120 - 2 * 20 - (12 + 118 + 12)
    assert abs(widest(image, picture["output"]) - epochs * 99 / 100) <= 4
    heights = (np.abs(np.asarray(image, dtype=int) - rgb(picture["output"])).max(axis=2) <= 8).sum(axis=0)
    assert abs(int(heights.max()) - 340 / 2) <= 14


SORTED = """
addEventListener('load', () => {
  const page = document.querySelector('iframe').contentDocument;
  const head = (name) => [...page.querySelectorAll('th')].find((each) => each.textContent === name);
  const cells = (name) => {
    const table = head(name).closest('table'), column = head(name).cellIndex;
    return [...table.tBodies[0].rows].map((row) => row.cells[column].textContent.trim()).join(' ');
  };
  const seen = [cells('Used')];
  for (let turn = 0; turn < 3; turn++) {
    head('Used').querySelector('button').click();
    seen.push(head('Used').getAttribute('aria-sort') + ': ' + cells('Used'));
  }
  head('Space').querySelector('button').focus();
  seen.push(page.activeElement.textContent, page.querySelectorAll('script').length, page.evil);
  document.title = seen.join('; ');
});
"""


def test_a_click_sorts_a_table_and_no_other_script_runs(tmp_path: Path) -> None:
    """Sort memories by used bytes: largest first, smallest first, then as before."""
    parts = (Part("a", "weights", 0, 900), Part("b", "weights", 2048, 64 << 10), Part("c", "weights", 1 << 20, 0))
    spaces = tuple(Space(f"RAM{part.label}", part.address, 128 << 10, (part,)) for part in parts)
    report = replace(REPORT, memory=(AddressRange("RAM", 0, 2 << 20, spaces, ()),))
    page = report_html(report).replace("</main>", "</main><script>document.evil = 'ran'</script>")
    frame = f'<iframe srcdoc="{html.escape(page)}"></iframe>'
    (tmp_path / "frame.html").write_text(f"<title>none</title><script>{SORTED}</script>{frame}")
    dom = browse(tmp_path / "frame.html", tmp_path, "--dump-dom")
    (title,) = re.findall("<title>(.*?)</title>", dom)[:1]
    assert title.split("; ") == [
        "900 B 900 B 64.0 KiB 65,536 B 0 B 0 B",
        "descending: 64.0 KiB 65,536 B 900 B 900 B 0 B 0 B",
        "ascending: 0 B 0 B 900 B 900 B 64.0 KiB 65,536 B",
        "null: 900 B 900 B 64.0 KiB 65,536 B 0 B 0 B",
        "Space",
        "2",
        "",
    ]


def test_on_paper_nothing_is_folded(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(report_html(LARGE))
    browse(tmp_path / "report.html", tmp_path, f"--print-to-pdf={tmp_path / 'report.pdf'}")
    pages = len(re.findall(rb"/Type /Page\b", (tmp_path / "report.pdf").read_bytes()))
    assert pages > 600 // 60

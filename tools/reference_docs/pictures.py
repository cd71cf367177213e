"""Pictures of README and documentation, made from a build by `make pictures`.

It builds a model, runs it on the virtual board, and writes to docs/pictures: the report as data,
the pipeline and the buffers as SVG, and the page of the report as screenshots.
tests/house/test_pictures.py fails if today's code would draw them differently.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT / "site_scons") not in sys.path:
    sys.path.insert(0, str(ROOT / "site_scons"))

import msgspec  # noqa: E402
from n6build.base import svg  # noqa: E402
from n6build.tell.content import Report  # noqa: E402
from n6build.tell.html import report_html  # noqa: E402
from n6build.tell.memory_picture import memory_svg  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
REPORT = PICTURES / "report.json"
BOARD, MODEL = "nucleo-n657", "miniresnet"
# By the number that Chromium has for a colour scheme.
SCHEMES = {"report-light.png": 1, "report-dark.png": 0}
# Text of a screenshot that has the hash of its page.
PAGE = "Page"
_WINDOW = "1280,1180"

# Pixels, and letters of a list of files.
_WIDTH, _ROW, _BOX, _MARGIN = 560, 40, 28, 12
_NAME, _GAP, _FILES = 96, 16, 57
_STYLE = """
.n6-pipeline { color-scheme: light dark; --pipe-paper: #ffffff; --pipe-ink: #1c2330;
  --pipe-line: #8b95a7; --pipe-box: #dbe7ff; --pipe-border: #2563eb; }
@media (prefers-color-scheme: dark) { .n6-pipeline { --pipe-paper: #12161d; --pipe-ink: #e6eaf1;
  --pipe-line: #6d7a8f; --pipe-box: #1c3258; --pipe-border: #60a5fa; } }
.n6-pipeline .paper { fill: var(--pipe-paper); }
.n6-pipeline text { fill: var(--pipe-ink); font: 13px system-ui, sans-serif; }
.n6-pipeline .stage { font-weight: 600; text-anchor: middle; }
.n6-pipeline .file { font: 12px ui-monospace, monospace; }
.n6-pipeline .box { fill: var(--pipe-box); stroke: var(--pipe-border); }
.n6-pipeline .arrow { stroke: var(--pipe-line); stroke-width: 1.5; }
"""


def read_report() -> Report:
    """Return the report of the build that the pictures show."""
    return msgspec.convert(json.loads(REPORT.read_text(encoding="utf-8")), Report, strict=False)


def report_page() -> str:
    """Return the page that the screenshots show."""
    return report_html(read_report())


def plan(folder: Path) -> dict[str, Any]:
    """Return the plan of the build, made in an empty folder."""
    _n6build(folder, "plan", "--write", "plan.json", "flash", "run")
    found: dict[str, Any] = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    return found


def stages_of(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the stages of a plan in their order, with an output of each step.

    The last step of a stage comes first, since it joins what the others made.
    """
    found: dict[str, list[str]] = {}
    for step in document["steps"]:
        found.setdefault(step["stage"], []).insert(0, PurePosixPath(step["outputs"][0]).name)
    return found


def pipeline_svg(stages: Mapping[str, list[str]], report: Report) -> str:
    """Return the picture of the pipeline, from the model to the result of the run.

    Args:
        stages: Stages of the plan, as from `stages_of`.
        report: Report of the build.
    """
    begin = [f"{MODEL}.tflite, {BOARD}/board.yaml"]
    rows = [("", begin), *stages.items(), ("", list(report.networks[0].compared[:1]))]
    label = f"The pipeline of n6build: {', '.join(stages)}"
    root = svg.picture("n6-pipeline", _WIDTH, 2 * _MARGIN + _ROW * len(rows) - (_ROW - _BOX), label, _STYLE)
    for number, (stage, files) in enumerate(rows):
        top = _MARGIN + number * _ROW
        middle = top + _BOX / 2 + 4.5
        if number:
            x, tip = _MARGIN + _NAME / 2, top - 1
            svg.line(root, "arrow", x, top - (_ROW - _BOX) + 1, x, tip)
            for side in (-4, 4):
                svg.line(root, "arrow", x + side, tip - 5, x, tip)
        if not stage:
            svg.text(root, "", _MARGIN, middle, files[0])
            continue
        svg.rect(root, "box", _MARGIN, top, _NAME, _BOX).set("rx", "5")
        svg.text(root, "stage", _MARGIN + _NAME / 2, middle, stage.capitalize())
        svg.text(root, "file", _MARGIN + _NAME + _GAP, middle, _listed(files))
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _listed(files: list[str]) -> str:
    """Return as many names as fit on a line.

    Their number is left out, since every new C file would change it.
    """
    for shown in range(len(files), 0, -1):
        said = ", ".join([*files[:shown], *(["..."] if shown < len(files) else [])])
        if len(said) <= _FILES:
            return said
    return files[0]


def buffers_svg(report: Report) -> str:
    """Return the picture of the network's buffers, as in the report."""
    network = report.networks[0]
    return memory_svg(network.buffers, network.pools)


def page_hash(page: str) -> str:
    """Return the hash that a screenshot of this page carries."""
    return hashlib.sha256(page.encode()).hexdigest()


def shown_in(screenshot: Path) -> str:
    """Return the hash of the page that a screenshot shows, or ""."""
    from PIL import Image  # noqa: PLC0415 - comes with extra [test], which planning and drawing do not need.

    if not screenshot.is_file():
        return ""
    with Image.open(screenshot) as image:
        return str(image.info.get(PAGE, ""))


def _n6build(folder: Path, *arguments: str) -> None:
    options = (f"board={BOARD}", f"model={MODEL}", "probe=virtual")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "site_scons")}
    command = [sys.executable, "-m", "n6build", *arguments, *options]
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def _screenshot(page: Path, scheme: int) -> bytes:
    """Return a picture of the top of a page, in few colours, as PNG."""
    from PIL import Image, PngImagePlugin  # noqa: PLC0415 - comes with extra [test], as above.

    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("no browser: chromium is not in PATH, make setup-tests installs it")
    shot = page.with_suffix(".png")
    quiet = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars"
    options = [f"--window-size={_WINDOW}", f"--screenshot={shot}", f"--blink-settings=preferredColorScheme={scheme}"]
    profile = f"--user-data-dir={page.parent / 'profile'}"
    subprocess.run([browser, *quiet.split(), profile, *options, page.as_uri()], check=True, stderr=subprocess.DEVNULL)
    about = PngImagePlugin.PngInfo()
    about.add_text(PAGE, page_hash(page.read_text(encoding="utf-8")))
    written = io.BytesIO()
    # Every colour of the page is kept, however few pixels have it.
    few = Image.open(shot).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    few.save(written, "PNG", optimize=True, pnginfo=about)
    return written.getvalue()


def main() -> None:
    """Build, and write all pictures; --again takes the report of the last build."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stages = stages_of(plan(folder))
        if "--again" not in sys.argv:
            _n6build(folder, "flash", "run", "report")
            shutil.copyfile(folder / "build" / BOARD / MODEL / "report.json", REPORT)
        report = read_report()
        (PICTURES / "pipeline.svg").write_text(pipeline_svg(stages, report), encoding="utf-8")
        (PICTURES / "memory.svg").write_text(buffers_svg(report), encoding="utf-8")
        page = folder / "report.html"
        page.write_text(report_page(), encoding="utf-8")
        for file, scheme in SCHEMES.items():
            if shown_in(PICTURES / file) != page_hash(report_page()):
                (PICTURES / file).write_bytes(_screenshot(page, scheme))


if __name__ == "__main__":
    main()

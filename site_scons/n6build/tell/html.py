"""Report as one page without network access.

It has a light and a dark style, and can be printed. Its only script sorts tables; the browser
runs no other one.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import kib
from n6build.board.run.npu_epochs import units_text
from n6build.board.run.saturation import REMEDY, saturation_text
from n6build.judge.accuracy.figures import NAMED, NO_ACCURACY
from n6build.judge.own_blobs.epoch_grades import counted_grades
from n6build.judge.timing.timing_table import span_text, spread_text, whole_text
from n6build.tell.content import Report, urgency
from n6build.tell.memory_picture import drawn, fullest_epoch, memory_svg
from n6build.tell.npu_picture import MOST_EPOCHS, npu_svg
from n6build.tell.pages import page_environment
from n6build.tell.slowest import SHOWN, slowest
from n6build.tell.text import share_text
from n6build.tell.time_picture import roofline_svg, time_line_svg

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = Path(__file__).with_name("report.html.j2")
EPOCHS_SHOWN = 20


def report_html(report: Report) -> str:
    """Return the text of report.html."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with Jinja2, which a build that renders nothing need not wait for.

    checks = sorted(report.checks, key=urgency)
    picture = Markup(report.plan_svg)
    template = _environment().get_template(TEMPLATE.name)
    slow = slowest(report)
    return str(template.render(report=report, checks=checks, slow=slow, epochs_shown=EPOCHS_SHOWN, plan_svg=picture))


def _sha256(script: str) -> str:
    """Return the hash of a script as in a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    from markupsafe import Markup  # noqa: PLC0415 - as above.

    environment = page_environment(TEMPLATE.parent)
    environment.filters["kib"] = kib
    environment.filters["address"] = lambda value: f"0x{value:08X}"
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.filters["percent"] = lambda part, whole: f"{100 * part / whole if whole else 0:.4f}"
    environment.filters["sha256"] = _sha256
    environment.filters["base64"] = lambda data: base64.b64encode(data).decode()
    environment.globals["share"] = share_text
    environment.filters["units_text"] = units_text
    environment.filters["saturation_text"] = saturation_text
    environment.filters["grades_text"] = counted_grades
    # Only these texts are trusted as markup: `plan_svg`, `npu_svg` and the others make them, and escape all names in them.
    environment.filters["npu_picture"] = lambda epochs: Markup(npu_svg(epochs))
    environment.filters["memory_picture"] = lambda network: Markup(memory_svg(network.buffers, network.pools))
    environment.filters["drawn_buffers"] = lambda network: drawn(network.buffers)
    environment.filters["fullest_epoch"] = fullest_epoch
    environment.filters["time_line"] = lambda time: Markup(time_line_svg(time))
    environment.filters["roofline"] = lambda time: Markup(roofline_svg(time))
    environment.filters["whole_text"] = whole_text
    environment.filters["span_text"] = span_text
    environment.filters["spread_text"] = spread_text
    environment.globals["most_drawn"] = MOST_EPOCHS
    environment.globals["slow_steps"] = SHOWN
    environment.globals["saturation_remedy"] = REMEDY
    environment.globals["channels_shown"] = 4
    environment.globals["named_tensors"] = NAMED
    environment.globals["no_accuracy"] = NO_ACCURACY
    return environment

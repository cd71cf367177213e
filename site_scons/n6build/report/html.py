"""The report as one page: no script, nothing from any network, light and dark, on paper too."""

from __future__ import annotations

from pathlib import Path

from n6build.console import kib
from n6build.report.content import Report, printable, urgency
from n6build.report.text import share_text

TEMPLATE = Path(__file__).with_name("report.html.j2")
EPOCHS_SHOWN = 20


def _finalize(value: object) -> object:
    """Of the texts from outside only; markup is the page's own."""
    return printable(value) if type(value) is str else value


def report_html(report: Report) -> str:
    import jinja2  # noqa: PLC0415 - a build that renders nothing need not wait for it.

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE.parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Names of models, buffers and files come from outside.
        autoescape=True,
        finalize=_finalize,
    )
    environment.filters["kib"] = kib
    environment.filters["address"] = lambda value: f"0x{value:08X}"
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.filters["percent"] = lambda part, whole: f"{100 * part / whole if whole else 0:.4f}"
    environment.globals["share"] = share_text
    checks = sorted(report.checks, key=urgency)
    return environment.get_template(TEMPLATE.name).render(report=report, checks=checks, epochs_shown=EPOCHS_SHOWN)

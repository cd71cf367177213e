"""Pages about messages of n6build: every error, every check."""

from __future__ import annotations

import inspect
import re

from n6build.check.run import CHECKS

from reference_docs.markdown import anchor, code, page, sentence, table, text

ROW = re.compile(r"^\| (N6-[A-Z]+-\d{3}) \|", re.MULTILINE)

_CHECKS = """\
What is looked at before a board is touched: always before `flash`, and alone with `scons check`. A failed check of severity error
ends the build; a warning does not. `checks: {waive: {N6-CHECK-003: "why"}}` in a model.yaml accepts a finding for that model, and
every build shows the reason. `checks.json` has the results ([format](formats.md#checksjson))."""


def errors_with_anchors(errors: str) -> str:
    """Return docs/errors.md with an anchor for each id."""
    return ROW.sub(lambda found: f"| {anchor(found[1])}{code(found[1])} |", errors)


def checks_page() -> str:
    """Return the page with every check, its title and its findings."""
    rows = [
        (
            f"[{check.id}](../errors.md#{check.id})",
            check.severity,
            text(sentence(check.title)),
            text(inspect.cleandoc(check.find.__doc__ or "")),
        )
        for check in CHECKS
    ]
    return page("Checks", _CHECKS, table(("check", "severity", "condition", "finding"), rows))

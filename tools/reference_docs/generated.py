"""All pages that are made from the code."""

from __future__ import annotations

import re
from pathlib import Path

from reference_docs.boards import board_pages
from reference_docs.builders import builders_page
from reference_docs.command_line import options_page, targets_page
from reference_docs.formats import console_page, formats_page
from reference_docs.house import house_page
from reference_docs.messages import checks_page
from reference_docs.operators import operators_page
from reference_docs.yaml_files import yaml_pages


def pages(root: Path) -> dict[str, str]:
    """Return the pages as Markdown by place in the site; `root` is the repository's."""
    return {
        "reference/options.md": options_page(),
        "reference/targets.md": targets_page(),
        "reference/builders.md": builders_page(),
        "reference/checks.md": checks_page(),
        "reference/console.md": console_page(),
        "reference/formats.md": formats_page(),
        "reference/operators.md": operators_page(),
        "reference/house.md": house_page(root),
        **yaml_pages(root),
        **board_pages(root),
        "changelog.md": _changelog(root),
    }


def _changelog(root: Path) -> str:
    """Return the changelog with links that start in the folder docs/."""
    return re.sub(r"\]\(docs/", "](", (root / "CHANGELOG.md").read_text(encoding="utf-8"))

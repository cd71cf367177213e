"""Pages from templates: what comes from outside is escaped, and cannot drive what shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.base.console import printable
from n6build.base.files import read_bytes


def _finalize(value: object) -> object:
    """Of the texts from outside only; markup is the page's own."""
    return printable(value) if type(value) is str else value


def page_environment(folder: Path) -> Any:
    """A Jinja2 environment over the templates of a folder, in which a missing value is an error."""
    import jinja2  # noqa: PLC0415 - a build that renders nothing need not wait for it.

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: read_bytes(folder / name).decode()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Names of models, buffers and files come from outside.
        autoescape=True,
        finalize=_finalize,
    )

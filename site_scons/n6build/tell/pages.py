"""Pages from templates; text from outside is escaped and cannot control a display."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import printable
from n6build.base.templates import environment_of

if TYPE_CHECKING:
    from jinja2 import Environment


def _finalize(value: object) -> object:
    """Make texts from outside printable; markup of the page stays as it is."""
    return printable(value) if type(value) is str else value


def page_environment(folder: Path) -> Environment:
    """Return a Jinja2 environment over the templates of a folder.

    A missing value is an error.
    """
    # Names of models, buffers and files come from outside.
    return environment_of(folder, _finalize)

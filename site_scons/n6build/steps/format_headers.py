"""Step for the C headers of formats that C and Python share."""

from __future__ import annotations

from n6build.base import c_format
from n6build.base.c_format import Format, header_text
from n6build.base.files import write_atomically
from n6build.base.members import members
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.engine.step import Call, Step

FORMATS = members("n6build.describe.formats.*", "FORMAT", Format)


def format_headers_step(folder: str) -> Step:
    """Return the step that writes a header for each format into `folder`."""
    return Step(
        verb="Header",
        stage="header",
        outputs=tuple(f"{folder}/{each.header}" for each in FORMATS),
        sources=(),
        templates=tuple(map(project_path, with_included(c_format.TEMPLATE))),
        function="n6build.steps.format_headers:make_format_headers",
    )


def make_format_headers(call: Call) -> None:
    """Write the headers."""
    for output, described in zip(call.outputs, FORMATS, strict=True):
        write_atomically(output, header_text(described))

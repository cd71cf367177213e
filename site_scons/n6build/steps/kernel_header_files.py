"""Step for n6_kernels.h and n6_kernels_plain.h.

They declare the kernels that networks of the reference backend call.
"""

from __future__ import annotations

from n6build.base.files import write_atomically
from n6build.base.paths import TEMPLATES, project_path
from n6build.base.templates import with_included
from n6build.engine.step import Call, Step

NAMES = ("n6_kernels.h", "n6_kernels_plain.h")


def kernel_headers_step(folder: str) -> Step:
    """Return the step that writes both headers into `folder`."""
    return Step(
        verb="Header",
        stage="header",
        outputs=tuple(f"{folder}/{name}" for name in NAMES),
        templates=tuple(project_path(path) for name in NAMES for path in with_included(TEMPLATES / f"{name}.j2")),
        function="n6build.steps.kernel_header_files:make_kernel_header_files",
    )


def make_kernel_header_files(call: Call) -> None:
    """Write both headers."""
    from n6build.compile.reference.kernel_headers import (  # noqa: PLC0415 - planning reads no operator.
        kernels_header,
        plain_kernels_header,
    )

    for path, text in zip(call.outputs, (kernels_header(), plain_kernels_header()), strict=True):
        write_atomically(path, text)

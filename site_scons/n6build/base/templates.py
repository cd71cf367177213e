"""Generated C and linker scripts: one Jinja2 environment for all templates, in which a missing value is an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from n6build.base.files import read_bytes

_INCLUDED = re.compile(rb"""\{%-?\s*(?:include|import|from|extends)\s+["']([^"']+)["']""")


def render(template: Path, values: dict[str, Any]) -> str:
    import jinja2  # noqa: PLC0415 - a build that renders nothing need not wait for it.

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: read_bytes(template.parent / name).decode()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C and linker scripts, not markup.
    )
    environment.filters["hex32"] = lambda value: f"0x{value:08X}u"
    environment.filters["hex"] = lambda value: f"0x{value:X}"
    return environment.get_template(template.name).render(values)


def with_included(template: Path) -> tuple[str, ...]:
    """The template and all that it includes, as paths."""
    found: dict[Path, None] = {}
    waiting = [template]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = None
            waiting += [template.parent / name.decode() for name in _INCLUDED.findall(read_bytes(path))]
    return tuple(str(path) for path in found)

"""Generated C and linker scripts: one Jinja2 environment for all templates, in which a missing value is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.files import read_bytes

if TYPE_CHECKING:
    from jinja2 import Environment

_INCLUDED = re.compile(rb"""\{%-?\s*(?:include|import|from|extends)\s+["']([^"']+)["']""")


def render(template: Path, values: Mapping[str, object]) -> str:
    """The text of a Jinja2 template, which may include others in its folder. Filters: `hex32` gives 0x0000ABCDu, `hex`
    0xABCD. Raises jinja2.UndefinedError if a value is missing."""
    return _environment(template.parent).get_template(template.name).render(values)


@cache
def _environment(folder: Path) -> Environment:
    """It compiles a template once, and again when its text differs: to compile takes longer than all else."""
    import jinja2  # noqa: PLC0415 - a build that renders nothing need not wait for it.

    def load(name: str) -> tuple[str, None, Callable[[], bool]]:
        text = _text(folder / name)
        return text, None, lambda: _text(folder / name) == text

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(load),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C and linker scripts, not markup.
    )
    environment.filters["hex32"] = lambda value: f"0x{value:08X}u"
    environment.filters["hex"] = lambda value: f"0x{value:X}"
    return environment


def _text(path: Path) -> str:
    return read_bytes(path).decode()


def with_included(template: Path) -> tuple[str, ...]:
    """Paths of the template and of all that it includes, directly or not."""
    found: dict[Path, None] = {}
    waiting = [template]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = None
            waiting += [template.parent / name.decode() for name in _INCLUDED.findall(read_bytes(path))]
    return tuple(str(path) for path in found)

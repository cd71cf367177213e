"""Generated C and linker scripts: one Jinja2 environment for all templates, in which a missing value is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.files import read_bytes

if TYPE_CHECKING:
    from jinja2 import Environment, FunctionLoader

_INCLUDED = re.compile(rb"""\{%-?\s*(?:include|import|from|extends)\s+["']([^"']+)["']""")


def render(template: Path, values: Mapping[str, object]) -> str:
    """The text of a Jinja2 template, which may include others in its folder. Filters: `hex32` gives 0x0000ABCDu, `hex`
    0xABCD. Raises jinja2.UndefinedError if a value is missing."""
    return _environment(template.parent).get_template(template.name).render(values)


def templates_of(folder: Path) -> FunctionLoader:
    """Return a Jinja2 loader of the templates in a folder.

    An environment that stays compiles a template once. It still reads the file for each text: the file may have changed, and
    the step that renders it must be seen to use it.
    """
    import jinja2  # noqa: PLC0415 - a build that renders nothing need not wait for it.

    def load(name: str) -> tuple[str, None, Callable[[], bool]]:
        path = folder / name
        content = read_bytes(path)
        return content.decode(), None, lambda: read_bytes(path) == content

    return jinja2.FunctionLoader(load)


@lru_cache(maxsize=16)
def _environment(folder: Path) -> Environment:
    import jinja2  # noqa: PLC0415 - as above.

    environment = jinja2.Environment(
        loader=templates_of(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C and linker scripts, not markup.
    )
    environment.filters["hex32"] = lambda value: f"0x{value:08X}u"
    environment.filters["hex"] = lambda value: f"0x{value:X}"
    return environment


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

"""Generated C files and linker scripts, from templates.

All templates share one Jinja2 environment, in which a missing value is an error.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes

if TYPE_CHECKING:
    from jinja2 import Environment, FunctionLoader

_INCLUDED = re.compile(rb"""\{%-?\s*(?:include|import|from|extends)\s+["']([^"']+)["']""")


def render(template: Path, values: Mapping[str, object]) -> str:
    """Return the text of a Jinja2 template, which may include others of its folder.

    Args:
        template: The file. Its filters: `hex32` gives 0x0000ABCDu, `hex` gives 0xABCD.
        values: Values that the template may name.

    Raises:
        N6Error: N6-FILE-002 if a file cannot be read; N6-FILE-005 with the line where the template
            is wrong or a value is
            missing.
    """
    import jinja2  # noqa: PLC0415 - a build that renders nothing need not wait for it.

    try:
        return _environment(template.parent).get_template(template.name).render(values)
    except jinja2.TemplateSyntaxError as error:
        raise _wrong(error.message, error.filename or str(template), error.lineno) from error
    except jinja2.TemplateError as error:
        frames = traceback.extract_tb(error.__traceback__)
        inside = [frame for frame in frames if frame.filename.startswith(str(template.parent))]
        raise _wrong(error.message, inside[-1].filename, inside[-1].lineno) from error


def templates_of(folder: Path) -> FunctionLoader:
    """Return a Jinja2 loader of the templates in a folder.

    An environment that stays compiles a template once. It still reads the file for each text: the file may have changed, and
    the step that renders it must be seen to use it.
    """
    import jinja2  # noqa: PLC0415 - as above.

    def load(name: str) -> tuple[str, str, Callable[[], bool]]:
        path = folder / name
        content = read_bytes(path)
        # With the file's name, the traceback of a missing value has the template's line.
        return content.decode(), str(path), lambda: read_bytes(path) == content

    return jinja2.FunctionLoader(load)


def environment_of(folder: Path, finalize: Callable[[object], object] | None = None) -> Environment:
    """Return a Jinja2 environment over the templates of a folder.

    A missing value is an error.

    Args:
        folder: Folder of the templates.
        finalize: Function for each value of a page, which is also escaped; None for templates without markup.
    """
    import jinja2  # noqa: PLC0415 - a build that renders nothing need not wait for it.

    return jinja2.Environment(
        loader=templates_of(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=finalize is not None,
        finalize=finalize,
    )


@lru_cache(maxsize=16)
def _environment(folder: Path) -> Environment:
    environment = environment_of(folder)
    environment.filters["hex32"] = lambda value: f"0x{value:08X}u"
    environment.filters["hex"] = lambda value: f"0x{value:X}"
    return environment


def _wrong(message: str | None, path: str, line: int | None) -> N6Error:
    what = f"the template cannot be filled in: {message}"
    hint = "correct the template; its values come from the function that renders it"
    return N6Error("N6-FILE-005", what, where=f"{path}:{line}", hint=hint)


def with_included(template: Path) -> tuple[str, ...]:
    """Return the paths of a template and of all that it includes, directly or not."""
    found: dict[Path, None] = {}
    waiting = [template]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = None
            waiting += [template.parent / name.decode() for name in _INCLUDED.findall(read_bytes(path))]
    return tuple(str(path) for path in found)

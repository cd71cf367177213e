"""The interpreter's own cache of code, held to what it is made of.

It takes a .pyc for right whose source has the same size and the same time in whole seconds. A file that is edited twice in a
second, or comes out of an archive with fixed times, would then be signed as it is and run as it was.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import sys

from n6build.errors import N6Error

# Of a .pyc, in front of the code: magic number, flags, time, size.
_HEAD = 16


def check_bytecode(module: str, path: str, source: bytes, changed_ns: int) -> None:
    """changed_ns: when the source file was changed last, which cannot be set back. Code that is not of this source is removed.

    Raises N6-STEP-016 where this process runs it already.
    """
    cached = importlib.util.cache_from_source(os.path.abspath(path))
    try:
        if os.stat(cached).st_mtime_ns > changed_ns:
            return
        with open(cached, "rb") as file:
            data = file.read()
    except OSError:
        return
    if _is_of(data, source, path):
        # Not looked at again.
        os.utime(cached)
        return
    os.unlink(cached)
    if getattr(sys.modules.get(module), "__cached__", None) == cached:
        what = f"{module} was edited under an unchanged time, and the interpreter has run what it was before"
        raise N6Error("N6-STEP-016", what, where=os.path.relpath(path), hint="run the same command again")


def _is_of(data: bytes, source: bytes, path: str) -> bool:
    try:
        return bool(marshal.loads(data[_HEAD:]) == compile(source, path, "exec", dont_inherit=True))
    except (ValueError, EOFError, TypeError, SyntaxError):
        return False

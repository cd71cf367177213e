"""Lists of headers that compilers write.

The next build relies on the files that the compiler has read. The assembler's .incbin and #embed,
which no list mentions, are errors unless the file is a source of the step.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of
from n6build.engine.step import Step

_WORD = re.compile(rb"((?:\\[ #\\:]|\$\$|[^\s\\$])+)")
_ESCAPED = re.compile(rb"\\([ #\\:])")
_INCBIN = re.compile(rb"\.incbin\s*([^\n]{0,300})|^[ \t]*#[ \t]*embed\b([^\n]{0,300})", re.MULTILINE)
_QUOTED = re.compile(rb'\\?"([^"\\]+)\\?"')


def read_depfile(data: bytes) -> list[str]:
    """Return the files of the first rule, as the compiler names them.

    With -MMD the compiler's own headers are not among them: they are part of the toolchain, which
    is an input as a whole.
    """
    # Each of the rules that follow is for one header, in case it disappears.
    _, _, names = data.replace(b"\\\n", b" ").split(b"\n", 1)[0].partition(b": ")
    return [os.fsdecode(_ESCAPED.sub(rb"\1", word).replace(b"$$", b"$")) for word in _WORD.findall(names)]


def headers_read(step: Step) -> list[str]:
    """Return the headers that a compilation has read, as the step names files.

    The headers of the toolchain are not among them.

    Args:
        step: A compilation, done in this folder or by a worker for it.
    """
    named = read_depfile(content_of(step.depfile))
    if "-MD" in step.command:
        # The compiler's own headers, which are part of the toolchain, are listed, too.
        folders = tuple(f"{folder}/" for folder in step.include_folders)
        named = [path for path in named if not os.path.isabs(path) or path in step.sources or path.startswith(folders)]
    return [path for path in map(os.path.normpath, named) if path not in step.sources]


def check_embedded(step: Step, read: Sequence[str]) -> None:
    """Check that the step declares the files that its code embeds.

    No compiler lists such files.

    Args:
        step: A compilation.
        read: All files that the compiler has listed.

    Raises:
        N6Error: N6-STEP-013 for .incbin or #embed of a file that is not a source.
    """
    expected = {os.path.realpath(path) for path in (*step.sources, *read)}
    for path in read:
        _check_incbin(step, path, expected)


def _check_incbin(step: Step, path: str, expected: set[str]) -> None:
    data = content_of(path)
    if b"incbin" not in data and b"embed" not in data:
        return
    for match in _INCBIN.finditer(data):
        named = _QUOTED.search(match[1] or match[2] or b"")
        file = os.fsdecode(named[1]) if named else ""
        folders = ("", os.path.dirname(path), *step.include_folders)
        if not named or not any(os.path.realpath(os.path.join(each, file)) in expected for each in folders):
            line = data.count(b"\n", 0, match.start()) + 1
            what = f"step {step.name} includes the file {file or 'of an .incbin'}, which is not one of its sources"
            raise N6Error(
                "N6-STEP-013", what, where=f"{path}:{line}", hint="make it a source of the step, or use a C array"
            )

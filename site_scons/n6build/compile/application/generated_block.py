"""Edits in host sources: between two markers, or in a macro's value.

All other bytes stay the same. Files are read as bytes: line ends, encodings and a missing last
newline are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from n6build.base.errors import N6Error

_START = re.compile(rb"^[^\n]*@GENERATED CODE START\b[^\n]*\n?", re.MULTILINE)
_STOP = re.compile(rb"^[^\n]*@GENERATED CODE STOP\b[^\n]*\n?", re.MULTILINE)


def replace_block(data: bytes, block: str, file: str) -> bytes:
    """Return `data` with `block` between the lines of its markers.

    Replacing the same block twice changes nothing.

    Raises:
        N6Error: N6-APP-020 if a marker is missing; N6-APP-021 if the markers appear twice or in the
            wrong order.
    """
    starts, stops = list(_START.finditer(data)), list(_STOP.finditer(data))
    for word, found in (("START", starts), ("STOP", stops)):
        if not found:
            hint = "put it back: n6build only writes between '@GENERATED CODE START' and '@GENERATED CODE STOP'"
            raise N6Error("N6-APP-020", f"marker '@GENERATED CODE {word}' is missing", where=file, hint=hint)
        if len(found) > 1:
            where = f"{file}:{_line(data, found[1].start())}"
            raise N6Error("N6-APP-021", f"marker '@GENERATED CODE {word}' appears twice", where=where)
    start, stop = starts[0], stops[0]
    if stop.start() < start.end():
        where = f"{file}:{_line(data, stop.start())}"
        raise N6Error("N6-APP-021", "'@GENERATED CODE STOP' comes before START", where=where)
    newline = b"\r\n" if start[0].endswith(b"\r\n") else b"\n"
    return data[: start.end()] + block.encode().replace(b"\n", newline) + data[stop.start() :]


def replace_defines(data: bytes, values: Mapping[str, str], file: str) -> bytes:
    """Return `data` with new values of macros, in parentheses.

    Comments behind the values stay.

    Raises:
        N6Error: N6-APP-022 if a macro is not defined, or defined twice.
    """
    for name, value in values.items():
        head = rb"^([ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\b)"
        pattern = re.compile(head + rb"([ \t]*)(\([^()\r\n]*\)|[^\s/]*)", re.MULTILINE)
        found = list(pattern.finditer(data))
        if len(found) != 1:
            what = f"macro {name} is defined {len(found)} times instead of once"
            raise N6Error("N6-APP-022", what, where=file, hint=f"add a line: #define {name} ({value})")
        (match,) = found
        data = data[: match.end(1)] + (match[2] or b" ") + f"({value})".encode() + data[match.end() :]
    return data


def replace_section(data: bytes, section: str, ram: str, file: str) -> bytes:
    """Return `data` with the variable in `.<section>_<any RAM>` moved to `ram`.

    Raises:
        N6Error: N6-APP-023 if there is no such variable.
    """
    pattern = re.compile(rb'(section\(")\.' + section.encode() + rb'(?:_\w+)?("\))')
    if not pattern.search(data):
        raise N6Error("N6-APP-023", f"no variable is in a section .{section}", where=file)
    return pattern.sub(rb"\g<1>." + f"{section}_{ram}".encode() + rb"\g<2>", data)


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1

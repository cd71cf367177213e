"""Lists of headers in the form that a compiler writes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from n6build.engine.depfile import read_depfile

NAMES = st.text(st.sampled_from("ab/ #$\\:é'\"("), min_size=1).map("a{}.h".format)


def _as_compiled(paths: Sequence[str]) -> bytes:
    return b" ".join(re.sub(rb"[ #\\]", rb"\\\g<0>", os.fsencode(path)).replace(b"$", b"$$") for path in paths)


@given(st.lists(NAMES, max_size=4))
def test_headers_are_read_as_the_compiler_names_them(headers: list[str]) -> None:
    written = b"build/boot.o: " + _as_compiled(["boot.c", *headers]) + b"\n"
    rules = b"".join(b"\n%b:\n" % _as_compiled([header]) for header in headers)
    assert read_depfile(written + rules) == ["boot.c", *headers]
    assert read_depfile(written.replace(b" boot.c", b" \\\n boot.c") + rules) == ["boot.c", *headers]

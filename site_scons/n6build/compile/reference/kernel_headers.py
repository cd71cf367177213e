"""n6_kernels.h and n6_kernels_plain.h, made from the operators' modules.

They hold the descriptors and prototypes of the kernels.
"""

from __future__ import annotations

import textwrap
from typing import Any

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.compile.reference.descriptors import Structure, declaration, with_inner
from n6build.compile.reference.kinds import all_kernels

TEMPLATE = TEMPLATES / "n6_kernels.h.j2"
PLAIN_TEMPLATE = TEMPLATES / "n6_kernels_plain.h.j2"
_COLUMNS = 120


def kernels_header() -> str:
    """Return the text of n6_kernels.h."""
    kernels = all_kernels()
    descriptors = dict.fromkeys(kernel.descriptor for kernel in kernels)
    # Structures inside descriptors come first, because C needs their definitions.
    shared = dict.fromkeys(inner for each in descriptors for inner in with_inner(each)[:-1])
    return render(TEMPLATE, {"structures": [*map(_structure, (*shared, *descriptors))], "kernels": kernels})


def plain_kernels_header() -> str:
    """Return the text of n6_kernels_plain.h."""
    return render(PLAIN_TEMPLATE, {"kernels": all_kernels()})


def _structure(structure: Structure) -> dict[str, Any]:
    return {
        "name": structure.name,
        "comment": _comment(structure.doc) if structure.doc else "",
        "members": [(f"{declaration(member)};", member.note) for member in structure.members],
        "definitions": structure.definitions,
    }


def _comment(text: str) -> str:
    lines = textwrap.wrap(text, _COLUMNS - len(" *  */"), break_long_words=False, break_on_hyphens=False)
    return "/* " + "\n * ".join(lines) + " */"

"""C code that checks a header written by hand."""

from __future__ import annotations

from n6build.base.c_format import Format


def assertions(described: Format) -> str:
    """Return C code that checks a header written by hand against the description.

    The code does not compile if they disagree.
    """
    lines = ["#include <stddef.h>", f'#include "{described.header}"']

    def equal(expression: str, value: int) -> None:
        lines.append(f'_Static_assert({expression} == {value}u, "{expression}");')

    for constant in described.constants:
        equal(constant.name, constant.value)
    for enumeration in described.enumerations:
        for value in enumeration.values:
            equal(f"{enumeration.prefix}{value.name}", value.value)
    for each in described.structs:
        for member in each.members:
            equal(f"offsetof({each.name}, {member.name})", each.offset_of(member.name))
        equal(f"sizeof({each.name})", each.size)
    return "\n".join(lines) + "\n"

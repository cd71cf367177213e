"""A binary format as C and Python both know it: one description, from which C gets a header and Python packs and unpacks.

All numbers are little endian, and members are laid out without padding.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render

TEMPLATE = TEMPLATES / "n6_format.h.j2"

Kind = Literal["uint8_t", "uint16_t", "uint32_t"]
_CODES = {"uint8_t": "B", "uint16_t": "H", "uint32_t": "I"}


@dataclass(frozen=True)
class Member:
    """note: for a comment in C. count: length of an array, whose Python value is bytes; 0 for a single number."""

    name: str
    note: str = ""
    kind: Kind = "uint32_t"
    count: int = 0

    @property
    def code(self) -> str:
        """Format string of the module struct, without the byte order."""
        each = struct.calcsize(_CODES[self.kind])
        return f"{self.count * each}s" if self.count else _CODES[self.kind]

    @property
    def size(self) -> int:
        """Bytes."""
        return struct.calcsize(f"<{self.code}")


@dataclass(frozen=True)
class Struct:
    """name: of the C type. note: a sentence for the comment above it."""

    name: str
    members: tuple[Member, ...]
    note: str = ""

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(member.size for member in self.members)

    @property
    def is_packed(self) -> bool:
        """Whether C needs `packed`: it would otherwise leave a gap in front of a member or behind the last one."""
        offset, alignment = 0, 1
        for member in self.members:
            own = struct.calcsize(_CODES[member.kind])
            if offset % own:
                return True
            offset, alignment = offset + member.size, max(alignment, own)
        return offset % alignment != 0

    def offset_of(self, name: str) -> int:
        """Bytes from the start. Raises KeyError for a name that is not a member's."""
        offset = 0
        for member in self.members:
            if member.name == name:
                return offset
            offset += member.size
        raise KeyError(name)

    def pack(self, **values: int | bytes) -> bytes:
        """The struct as bytes; members without a value are zero. Raises KeyError for a name that is not a member's."""
        unknown = values.keys() - {member.name for member in self.members}
        if unknown:
            raise KeyError(*sorted(unknown))
        parts = [values.get(member.name, b"" if member.count else 0) for member in self.members]
        return struct.pack(self._codes, *parts)

    def unpack(self, data: bytes, offset: int = 0) -> dict[str, int]:
        """The single numbers by name; arrays are skipped. Raises struct.error where `data` is too short."""
        values = struct.unpack_from(self._codes, data, offset)
        pairs = zip(self.members, values, strict=True)
        return {member.name: int(value) for member, value in pairs if not member.count}

    @property
    def _codes(self) -> str:
        return "<" + "".join(member.code for member in self.members)


@dataclass(frozen=True)
class Constant:
    """A #define of an unsigned number. note: for its comment."""

    name: str
    value: int
    note: str = ""


@dataclass(frozen=True)
class Enumeration:
    """name: of the C type. prefix: put in front of the names in `values` to make the C names. notes: comments by name."""

    name: str
    prefix: str
    values: type[IntEnum]
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """header: file name of the C header. text: lines of the comment at its top."""

    header: str
    text: tuple[str, ...]
    constants: tuple[Constant, ...] = ()
    enumerations: tuple[Enumeration, ...] = ()
    structs: tuple[Struct, ...] = ()

    @property
    def guard(self) -> str:
        """The macro of the include guard."""
        return self.header.upper().replace(".", "_")


def header_text(described: Format) -> str:
    """The text of the C header."""
    return render(TEMPLATE, {"format": described})


def assertions(described: Format) -> str:
    """C that does not compile if a header written by hand disagrees with the description."""
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

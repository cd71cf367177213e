"""A binary format that C and Python share, in one description.

C gets a header from it, and Python packs and unpacks with it. All numbers are little endian, and
members are laid out without padding.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from n6build.base.line_format import Line
from n6build.base.paths import TEMPLATES
from n6build.base.templates import render

TEMPLATE = TEMPLATES / "n6_format.h.j2"

Kind = Literal["uint8_t", "uint16_t", "uint32_t"]
_CODES = {"uint8_t": "B", "uint16_t": "H", "uint32_t": "I"}


@dataclass(frozen=True)
class Member:
    """A member of a C struct.

    Attributes:
        name: Name in C.
        note: Text of a comment in C.
        kind: Type in C.
        count: Length of an array, whose Python value is bytes; 0 for a single number.
    """

    name: str
    note: str = ""
    kind: Kind = "uint32_t"
    count: int = 0

    @property
    def code(self) -> str:
        """Return the format string for module struct, without the byte order."""
        each = struct.calcsize(_CODES[self.kind])
        return f"{self.count * each}s" if self.count else _CODES[self.kind]

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return struct.calcsize(f"<{self.code}")


@dataclass(frozen=True)
class Struct:
    """A C struct.

    Attributes:
        name: Name of the C type.
        members: Members in their order in memory.
        note: Sentence for the comment above the struct.
    """

    name: str
    members: tuple[Member, ...]
    note: str = ""

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return sum(member.size for member in self.members)

    @property
    def is_packed(self) -> bool:
        """Return whether C needs `packed`.

        Without it C would leave a gap in front of a member or behind the last one.
        """
        offset, alignment = 0, 1
        for member in self.members:
            own = struct.calcsize(_CODES[member.kind])
            if offset % own:
                return True
            offset, alignment = offset + member.size, max(alignment, own)
        return offset % alignment != 0

    def offset_of(self, name: str) -> int:
        """Return the offset of a member in bytes.

        Raises:
            KeyError: No member has this name.
        """
        offset = 0
        for member in self.members:
            if member.name == name:
                return offset
            offset += member.size
        raise KeyError(name)

    def pack(self, **values: int | bytes) -> bytes:
        """Return the struct as bytes; members without a value are zero.

        Raises:
            KeyError: No member has the name of a value.
        """
        unknown = values.keys() - {member.name for member in self.members}
        if unknown:
            raise KeyError(*sorted(unknown))
        parts = [values.get(member.name, b"" if member.count else 0) for member in self.members]
        return struct.pack(self._codes, *parts)

    def unpack(self, data: bytes, offset: int = 0) -> dict[str, int]:
        """Return the single numbers by name; arrays are skipped.

        Args:
            data: Bytes that contain the struct.
            offset: Start of the struct in bytes.

        Raises:
            struct.error: `data` is too short.
        """
        values = struct.unpack_from(self._codes, data, offset)
        pairs = zip(self.members, values, strict=True)
        return {member.name: int(value) for member, value in pairs if not member.count}

    @property
    def _codes(self) -> str:
        return "<" + "".join(member.code for member in self.members)


@dataclass(frozen=True)
class Constant:
    """A #define of an unsigned number.

    Attributes:
        name: Name of the macro.
        value: The number.
        note: Text of its comment.
    """

    name: str
    value: int
    note: str = ""


@dataclass(frozen=True)
class Enumeration:
    """An enumeration in C.

    Attributes:
        name: Name of the C type.
        prefix: Text in front of the names in `values`, which makes the C names.
        values: The names and numbers.
        notes: Comments by name.
    """

    name: str
    prefix: str
    values: type[IntEnum]
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A binary format, or the lines of a text.

    Attributes:
        header: File name of the C header.
        text: Lines of the comment at the top of the header.
        constants: Macros of the header.
        enumerations: Enumerations of the header.
        structs: Structs of the header.
        lines: Lines that functions of the header write.
    """

    header: str
    text: tuple[str, ...]
    constants: tuple[Constant, ...] = ()
    enumerations: tuple[Enumeration, ...] = ()
    structs: tuple[Struct, ...] = ()
    lines: tuple[Line, ...] = ()

    @property
    def guard(self) -> str:
        """Return the macro of the include guard."""
        return self.header.upper().replace(".", "_")


def header_text(described: Format) -> str:
    """Return the text of the C header."""
    return render(TEMPLATE, {"format": described})

"""What kernels are called with: C structures, described once for the headers, the generated networks and the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

_Name = TypeVar("_Name", bound=str)
Scalar = Literal["int8_t", "uint8_t", "uint16_t", "int16_t", "int32_t", "uint32_t", "int64_t", "float"]


@dataclass(frozen=True)
class Pointer:
    """to: the C type that it points to."""

    to: str


def reads(to: str) -> Pointer:
    """To what a kernel only reads."""
    return Pointer(f"const {to}")


def writes(to: str) -> Pointer:
    """To what a kernel writes."""
    return Pointer(to)


@dataclass(frozen=True)
class Member:
    """note: a word or two for the comment beside it."""

    name: str
    type: Scalar | Pointer | Structure
    note: str = ""


@dataclass(frozen=True)
class Structure:
    """name: of the C type. doc: the comment above it. definitions: C that comes with it."""

    name: str
    members: tuple[Member, ...]
    doc: str = ""
    definitions: str = ""


@dataclass(frozen=True)
class Kernel:
    """The function n6k_<name> in firmware/kernels, with its plain twin n6k_plain_<name>; both take a constant `descriptor`.
    in_place: members whose memory the output may take, where that tensor is not needed any more."""

    name: str
    descriptor: Structure
    in_place: tuple[str, ...] = ()


def enumeration(prefix: str, numbers: Mapping[_Name, int]) -> str:
    """C of constants, for a structure's definitions. numbers: by names, to which the prefix is added."""
    return f"enum {{ {', '.join(f'{prefix}_{name.upper()} = {number}' for name, number in numbers.items())} }};\n"


def declaration(member: Member) -> str:
    """In C, without the semicolon."""
    match member.type:
        case Pointer(to):
            return f"{to} *{member.name}"
        case Structure(name):
            return f"{name} {member.name}"
    return f"{member.type} {member.name}"


def with_inner(structure: Structure) -> tuple[Structure, ...]:
    """The structure, after all structures that its members are made of."""
    inner = (
        each for member in structure.members if isinstance(member.type, Structure) for each in with_inner(member.type)
    )
    return (*dict.fromkeys(inner), structure)


SHAPE = Structure(
    "n6k_shape_t",
    (Member("height", "uint16_t"), Member("width", "uint16_t"), Member("channels", "uint16_t")),
)
# Of int8 elements, which most kernels read and write.
ENDS = (Member("input", reads("int8_t")), Member("output", writes("int8_t")))
# Of an operator that takes the last dimension for itself, row by row.
ROWS = (*ENDS, Member("rows", "uint32_t"), Member("depth", "uint32_t"))

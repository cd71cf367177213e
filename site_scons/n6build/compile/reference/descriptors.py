"""Descriptors of kernels: C structures that a kernel is called with.

Each structure is described once for the headers, the generated networks and the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

_Name = TypeVar("_Name", bound=str)
Scalar = Literal["int8_t", "uint8_t", "uint16_t", "int16_t", "int32_t", "uint32_t", "int64_t", "float"]


@dataclass(frozen=True)
class Pointer:
    """A pointer in C.

    Attributes:
        to: The C type that it points to.
    """

    to: str


def reads(to: str) -> Pointer:
    """Return the type of a pointer to data that a kernel only reads."""
    return Pointer(f"const {to}")


def writes(to: str) -> Pointer:
    """Return the type of a pointer to data that a kernel writes."""
    return Pointer(to)


@dataclass(frozen=True)
class Member:
    """A member of a C structure.

    Attributes:
        name: Its name in C.
        type: Its type.
        note: A word or two for the comment beside it.
    """

    name: str
    type: Scalar | Pointer | Structure
    note: str = ""


@dataclass(frozen=True)
class Structure:
    """A C structure.

    Attributes:
        name: Name of the C type.
        members: Members in their order.
        doc: Text of the comment above it.
        definitions: C source that comes with it.
    """

    name: str
    members: tuple[Member, ...]
    doc: str = ""
    definitions: str = ""


@dataclass(frozen=True)
class Kernel:
    """A function n6k_<name> in firmware/kernels.

    It has a plain twin n6k_plain_<name>. Both take a constant `descriptor`.

    Attributes:
        name: Name of the function without its prefix.
        descriptor: Structure that the function is called with.
        in_place: Members whose memory the output may take if their tensor is no longer needed.
    """

    name: str
    descriptor: Structure
    in_place: tuple[str, ...] = ()


def of_type(kind: Scalar | Pointer | Structure, *names: str) -> tuple[Member, ...]:
    """Return members of one type."""
    return tuple(Member(name, kind) for name in names)


def elements(given: str, made: str) -> tuple[Member, ...]:
    """Return input, output and number of elements, for element-wise kernels."""
    return (Member("input", reads(given)), Member("output", writes(made)), Member("elements", "uint32_t"))


def kernel_with(name: str, *members: Member, doc: str, definitions: str = "", in_place: tuple[str, ...] = ()) -> Kernel:
    """Return a kernel with a descriptor of its own, n6k_<name>_t.

    Args:
        name: Name of the function without its prefix.
        *members: Members of the descriptor.
        doc: As in `Structure`.
        definitions: As in `Structure`.
        in_place: As in `Kernel`.
    """
    return Kernel(name, Structure(f"n6k_{name}_t", members, doc, definitions), in_place)


def enumeration(prefix: str, numbers: Mapping[_Name, int]) -> str:
    """Return a C enumeration for the definitions of a structure.

    Args:
        prefix: Prefix of the names.
        numbers: Values by names without prefix.
    """
    return f"enum {{ {', '.join(f'{prefix}_{name.upper()} = {number}' for name, number in numbers.items())} }};\n"


def declaration(member: Member) -> str:
    """Return the declaration of a member in C, without the semicolon."""
    match member.type:
        case Pointer(to):
            return f"{to} *{member.name}"
        case Structure(name):
            return f"{name} {member.name}"
    return f"{member.type} {member.name}"


def with_inner(structure: Structure) -> tuple[Structure, ...]:
    """Return a structure after all structures that its members consist of."""
    inner = (
        each for member in structure.members if isinstance(member.type, Structure) for each in with_inner(member.type)
    )
    return (*dict.fromkeys(inner), structure)


SHAPE = Structure(
    "n6k_shape_t",
    of_type("uint16_t", "height", "width", "channels"),
)
# Input and output of int8 elements, which most kernels read and write.
ENDS = (Member("input", reads("int8_t")), Member("output", writes("int8_t")))
# Members for an operator that computes along the last dimension, row by row.
ROWS = (*ENDS, *of_type("uint32_t", "rows", "depth"))

"""Options of operators as .tflite files have them: tables of the flatbuffer schema, read by the operators' modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class DamagedError(Exception):
    """The flatbuffer contradicts itself or its schema."""


class UnsupportedError(Exception):
    """The model file is sound, but asks for something that is not supported. Arguments: what, hint."""


@dataclass(frozen=True)
class OptionsReader:
    """table: of the flatbuffer schema. code: of that table in the operator's union of options. read: from such a table to
    `graph.Operator.options`; raises DamagedError and UnsupportedError."""

    table: type
    code: int
    read: Callable[[Any], object]


def names_in(enumeration: type) -> dict[int, str]:
    """Code -> name of an enumeration in the flatbuffer schema."""
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}


def choice(names: dict[int, str], code: int, known: tuple[str, ...], what: str) -> str:
    """The name of a code, one of `known`. what: for messages. Raises DamagedError for a code without a name,
    UnsupportedError."""
    name = names.get(code)
    if name is None:
        raise DamagedError(f"{what} {code} does not exist")
    if name not in known:
        raise UnsupportedError(f"{what} {name} is not supported", f"supported: {', '.join(known)}")
    return name

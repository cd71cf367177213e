"""Options of operators in .tflite files.

They are tables of the flatbuffer schema, which the operators' modules read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tflite


class DamagedError(Exception):
    """An error for a flatbuffer that contradicts itself or its schema."""


class UnsupportedError(Exception):
    """An error for a sound model file that requires an unsupported feature.

    Its arguments are the problem and the hint.
    """


@dataclass(frozen=True)
class OptionsReader:
    """A reader of the options of one kind of operator.

    Attributes:
        table: Class of the options' table in the flatbuffer schema.
        read: Function from such a table to `graph.Operator.options`; raises DamagedError and
            UnsupportedError.
    """

    table: type
    read: Callable[[Any], object]

    @property
    def code(self) -> int:
        """Return the code of the table in the operator's union of options."""
        return int(getattr(tflite.BuiltinOptions, self.table.__name__))


def names_in(enumeration: type) -> dict[int, str]:
    """Return the names of an enumeration in the flatbuffer schema, by code."""
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}


def choice(names: dict[int, str], code: int, known: tuple[str, ...], what: str) -> str:
    """Return the name of a code, which is one of `known`.

    Args:
        names: Names by code.
        code: Code in the model file.
        known: Supported names.
        what: Name of the option, for messages.

    Raises:
        DamagedError: The code has no name.
        UnsupportedError: The name is not one of `known`.
    """
    name = names.get(code)
    if name is None:
        raise DamagedError(f"{what} {code} does not exist")
    if name not in known:
        raise UnsupportedError(f"{what} {name} is not supported", f"use one of: {', '.join(known)}")
    return name

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

    def of(self, operator: tflite.Operator) -> object:
        """Return the options of an operator's table.

        Raises:
            DamagedError: The operator has no options of this kind, or they are invalid.
            UnsupportedError: An option is not supported.
        """
        union = operator.BuiltinOptions()
        if union is None or operator.BuiltinOptionsType() != self.code:
            raise DamagedError("an operator has no options")
        options = self.table()
        options.Init(union.Bytes, union.Pos)
        return self.read(options)


@dataclass(frozen=True)
class CustomOptionsReader:
    """A reader of the options of a custom operator, a flexbuffer with a map.

    Attributes:
        read: Function from such a map to `graph.Operator.options`, as in `OptionsReader`.
    """

    read: Callable[[Any], object]

    def of(self, operator: tflite.Operator) -> object:
        """Return the options of an operator's table, as `OptionsReader.of` does."""
        from flatbuffers import flexbuffers  # noqa: PLC0415 - only custom operators need it.

        data = operator.CustomOptionsAsNumpy() if operator.CustomOptionsLength() else None
        try:
            options = None if data is None else flexbuffers.Loads(bytearray(data.tobytes()))
        except Exception as error:
            # The reader of flexbuffers does not check what it reads.
            raise DamagedError("the options of a custom operator are damaged") from error
        if not isinstance(options, dict):
            raise DamagedError("a custom operator has no options")
        return self.read(options)


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

"""JSON of other tools, read field by field.

Anything unexpected is one error with file and path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.base import bounded
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most

# Descriptions of the largest networks have a few megabytes.
MAX_BYTES = 32 << 20


@dataclass(frozen=True)
class JsonValue:
    """A JSON value and its path, such as 'memory_pools[3].address'.

    Every accessor raises N6-NET-020.
    """

    data: object
    file: str
    path: str = ""

    def error(self, what: str) -> N6Error:
        """Return N6-NET-020 with the file and the path."""
        return N6Error(
            "N6-NET-020",
            what,
            where=f"{self.file}: {self.path}" if self.path else self.file,
            hint="compile the network again: ST Edge AI Core does not write such a description",
        )

    def __getitem__(self, key: str) -> JsonValue:
        if not isinstance(self.data, dict):
            raise self.error("is not an object")
        if key not in self.data:
            raise self.error(f"has no '{key}'")
        return JsonValue(self.data[key], self.file, f"{self.path}.{key}" if self.path else key)

    def get(self, key: str) -> JsonValue | None:
        """Return the value of a key, None if it is absent or null."""
        return self[key] if isinstance(self.data, dict) and self.data.get(key) is not None else None

    def __iter__(self) -> Iterator[JsonValue]:
        if not isinstance(self.data, list):
            raise self.error("is not a list")
        return (JsonValue(item, self.file, f"{self.path}[{index}]") for index, item in enumerate(self.data))

    def at_most(self, count: int) -> Iterator[JsonValue]:
        """Return the items of a list that is short in every real file.

        Args:
            count: Most items that are read.
        """
        if isinstance(self.data, list) and len(self.data) > count:
            raise self.error(f"has {len(self.data)} entries, {len(self.data) - count} more than the limit")
        return iter(self)

    def first(self) -> JsonValue:
        """Return the first item of a list that must not be empty."""
        for item in self:
            return item
        raise self.error("is empty")

    def text(self) -> str:
        """Return the value, which must be a string."""
        if not isinstance(self.data, str):
            raise self.error("is not text")
        return self.data

    def integer(self) -> int:
        """Return an integer of at most 64 bits, also if it is written as decimal text."""
        data = self.data
        if isinstance(data, str) and data.isascii() and data.isdigit() and len(data) <= 20:
            data = int(data)
        if not isinstance(data, int) or isinstance(data, bool) or abs(data) >= 1 << 64:
            raise self.error(f"{str(data)[:40]!r} is not an integer")
        return data

    def count(self) -> int:
        """Return an integer that is not negative."""
        if (value := self.integer()) < 0:
            raise self.error(f"{value} is negative")
        return value

    def number(self) -> float:
        """Return a number, which may be infinite or NaN."""
        if isinstance(self.data, int) and abs(self.data) >= 1 << 64:
            raise self.error("is out of range")
        if not isinstance(self.data, (int, float)) or isinstance(self.data, bool):
            raise self.error("is not a number")
        return float(self.data)


def read_json(path: Path) -> JsonValue:
    """Read a JSON file.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003 if the file is larger than 32 MiB; N6-NET-020 if it is not
            JSON.
    """
    return parse_json(read_at_most(path, MAX_BYTES), path.name)


def parse_json(text: bytes, file: str) -> JsonValue:
    """Parse JSON text.

    Args:
        text: The text.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-NET-020 if the text is not JSON.
    """
    try:
        return JsonValue(bounded.parse_json(text, MAX_BYTES), file)
    except json.JSONDecodeError as error:
        where = f"{file}:{error.lineno}:{error.colno}"
        raise N6Error(
            "N6-NET-020",
            f"is not JSON: {error.msg}",
            where=where,
            hint="compile the network again: the file may be incomplete",
        ) from error
    except ValueError as error:
        raise N6Error("N6-NET-020", f"is not JSON: {error}", where=file) from error

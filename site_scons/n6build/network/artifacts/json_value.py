"""JSON of other tools, read field by field: whatever is not as expected is one error with its file and its path."""

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
    """A value and the way to it, such as 'memory_pools[3].address'. Every accessor raises N6-NET-020."""

    data: object
    file: str
    path: str = ""

    def error(self, what: str) -> N6Error:
        """N6-NET-020 with the file and the path."""
        return N6Error(
            "N6-NET-020",
            what,
            where=f"{self.file}: {self.path}" if self.path else self.file,
            hint="compile the network again: this is not a description that ST Edge AI Core writes",
        )

    def __getitem__(self, key: str) -> JsonValue:
        if not isinstance(self.data, dict):
            raise self.error("is not an object")
        if key not in self.data:
            raise self.error(f"has no '{key}'")
        return JsonValue(self.data[key], self.file, f"{self.path}.{key}" if self.path else key)

    def get(self, key: str) -> JsonValue | None:
        """None where the key is absent or null."""
        return self[key] if isinstance(self.data, dict) and self.data.get(key) is not None else None

    def __iter__(self) -> Iterator[JsonValue]:
        if not isinstance(self.data, list):
            raise self.error("is not a list")
        return (JsonValue(item, self.file, f"{self.path}[{index}]") for index, item in enumerate(self.data))

    def at_most(self, count: int) -> Iterator[JsonValue]:
        """The items of a list that is short in every real file. count: the most that are read."""
        if isinstance(self.data, list) and len(self.data) > count:
            raise self.error(f"has {len(self.data)} entries, {len(self.data) - count} more than is read")
        return iter(self)

    def first(self) -> JsonValue:
        """Of a list that must not be empty."""
        for item in self:
            return item
        raise self.error("is empty")

    def text(self) -> str:
        """Where the value is a string."""
        if not isinstance(self.data, str):
            raise self.error("is not text")
        return self.data

    def integer(self) -> int:
        """Of at most 64 bits; also where it is written as a decimal text."""
        data = self.data
        if isinstance(data, str) and data.isascii() and data.isdigit() and len(data) <= 20:
            data = int(data)
        if not isinstance(data, int) or isinstance(data, bool) or abs(data) >= 1 << 64:
            raise self.error(f"{str(data)[:40]!r} is not an integer")
        return data

    def count(self) -> int:
        """An integer that is not negative."""
        if (value := self.integer()) < 0:
            raise self.error(f"{value} is negative")
        return value

    def number(self) -> float:
        """May be infinite or NaN, which is for the caller to judge."""
        if isinstance(self.data, int) and abs(self.data) >= 1 << 64:
            raise self.error("is out of range")
        if not isinstance(self.data, (int, float)) or isinstance(self.data, bool):
            raise self.error("is not a number")
        return float(self.data)


def read_json(path: Path) -> JsonValue:
    """Raises N6-FILE-002, N6-FILE-003 where it is larger than 32 MiB, N6-NET-020 where it is not JSON."""
    return parse_json(read_at_most(path, MAX_BYTES), path.name)


def parse_json(text: bytes, file: str) -> JsonValue:
    """file: for messages. Raises N6-NET-020 where the text is not JSON."""
    try:
        return JsonValue(bounded.parse_json(text, MAX_BYTES), file)
    except json.JSONDecodeError as error:
        where = f"{file}:{error.lineno}:{error.colno}"
        raise N6Error("N6-NET-020", f"is not JSON: {error.msg}", where=where, hint="is the file complete?") from error
    except ValueError as error:
        raise N6Error("N6-NET-020", f"is not JSON: {error}", where=file) from error

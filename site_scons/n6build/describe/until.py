"""Values of options with a form of their own: until, shard, lists of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from n6build.base.errors import N6Error, did_you_mean
from n6build.describe.option import Setting

T = TypeVar("T")

MOST_SHARDS = 1000


@dataclass(frozen=True)
class Shard:
    """A part of a matrix.

    Attributes:
        number: Number of the part, from 1 to `count`.
        count: Number of all parts.
    """

    number: int
    count: int

    def part_of(self, whole: Sequence[T]) -> Sequence[T]:
        """Return the elements that belong to this part.

        Every element belongs to one part. Neighbours go to different parts, since they take about
        as long.
        """
        return whole[self.number - 1 :: self.count]


def parse_shard(setting: Setting) -> Shard | None:
    """Return the part in a setting, None if nothing is given.

    Raises:
        N6Error: N6-OPTION-002 for another text.
    """
    if not setting.value:
        return None
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", setting.value)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 0 < number <= count <= MOST_SHARDS:
        what = f"'{setting.value}' is not a shard of a matrix"
        hint = f"write for example shard=3/8, the third of eight shards; at most {MOST_SHARDS}"
        raise N6Error("N6-OPTION-002", what, where=setting.origin, hint=hint)
    return Shard(number, count)


# Modes of a run, with the names of ST's load-and-run.
MODES = ("copy", "xip", "no-flash", "no-run", "max-speed")


def modes_of(setting: Setting) -> tuple[str, ...]:
    """Return the modes, sorted.

    Raises:
        N6Error: N6-OPTION-002 if one is unknown, or two exclude each other.
    """
    modes = {word.strip() for word in setting.value.split(",") if word.strip()}
    for unknown in sorted(modes - set(MODES)):
        raise N6Error("N6-OPTION-002", f"no mode '{unknown}'", where=setting.origin, hint=did_you_mean(unknown, MODES))
    # The clock of a program that is already on the board is fixed.
    for one, other in (("copy", "xip"), ("no-flash", "no-run"), ("no-flash", "max-speed")):
        if {one, other} <= modes:
            raise N6Error("N6-OPTION-002", f"modes '{one}' and '{other}' exclude each other", where=setting.origin)
    return tuple(sorted(modes))


Kind = Literal["text", "symbol", "address", "instructions", "frames"]

_KINDS: dict[str, Kind] = {
    "text": "text",
    "symbol": "symbol",
    "address": "address",
    "instructions": "instructions",
    "frames": "frames",
}
_NUMBER = re.compile(r"(0x[0-9a-fA-F]{1,8}|[0-9][0-9_]{0,18})")
_LARGEST = 1 << 60


@dataclass(frozen=True)
class Until:
    """An event that ends a run.

    Attributes:
        kind: Kind of the event.
        value: A part of a line of the console; a symbol, with `fsbl:` or `appli:` in front if it is
            of that program; an address; a number of instructions, or of pictures on the panel.
    """

    kind: Kind
    value: str

    @property
    def number(self) -> int:
        """Return the address, or the number of instructions or pictures."""
        return int(self.value, 0)

    def __str__(self) -> str:
        if self.kind in ("instructions", "frames"):
            return f"{self.number:,} {'instructions' if self.kind == 'instructions' else 'pictures on the panel'}"
        return f"text '{self.value}'" if self.kind == "text" else f"{self.kind} {self.value}"


# The default for a third-party program: one with clocks, caches and a display has started by then.
BY_DEFAULT = Until("instructions", "1000000000")


def parse_until(setting: Setting) -> Until | None:
    """Return the event in a setting, None if nothing is given.

    Raises:
        N6Error: N6-OPTION-002 for another text.
    """
    if not setting.value:
        return None
    word, colon, value = setting.value.partition(":")
    kind = _KINDS.get(word)
    hint = (
        "write until=text:'network ready', until=symbol:main, until=address:0x34000400, "
        "until=instructions:2_000_000_000, or until=frames:3"
    )
    if kind is None or not colon or not value:
        what = f"'{setting.option}={setting.value}' does not name an end of the run"
        raise N6Error("N6-OPTION-002", what, where=setting.origin, hint=hint)
    if kind in ("address", "instructions", "frames"):
        if not _NUMBER.fullmatch(value) or value.endswith("_") or "__" in value:
            raise N6Error("N6-OPTION-002", f"'{value}' is not a number", where=setting.origin, hint=hint)
        number = int(value, 16 if value.startswith("0x") else 10)
        if not 0 < number < (_LARGEST if kind == "instructions" else 1 << 32):
            raise N6Error("N6-OPTION-002", f"{value} is out of range", where=setting.origin, hint=hint)
        value = f"0x{number:08x}" if kind == "address" else str(number)
    return Until(kind, value)

"""Memory regions of a linker script (MEMORY), each with its line.

Expressions may contain numbers, K, M, ORIGIN() and LENGTH() of earlier regions, + - * / and parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import read_at_most

_MAX_BYTES = 4 << 20
_MAX_TOKENS, _MAX_DEPTH = 64, 16
# Characters of an expression; longer ones have numbers that take long to compute.
_LONGEST = 256
_COMMENT = re.compile(r"/\*.*?(\*/|\Z)", re.DOTALL)
_MEMORY = re.compile(r"\bMEMORY\s*+\{")
# A search reads each character a bounded number of times: it tries a name only from its start, gives no part of it back, and
# bounds what may contain the start of another region.
_REGION = re.compile(
    r"(?<![\w.$])(?P<name>[A-Za-z_.$][\w.$]*+)\s*+(?:\([^)]{0,64}\)\s*+)?:\s*+(?:ORIGIN|org|o)\s*+=\s*+"
    rf"(?P<origin>[^,\n]{{1,{_LONGEST}}}),\s*+(?:LENGTH|len|l)\s*+=\s*+(?P<length>[^,;\n}}]{{1,{_LONGEST}}})(?=[,;\n]|\Z)"
)
_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+[KMkm]?|\d+[KMkm]?|(?:ORIGIN|LENGTH)\s*\(\s*[\w.$]+\s*\)|[-+*/()])")
_OF_REGION = re.compile(r"(ORIGIN|LENGTH)\s*\(\s*([\w.$]+)\s*\)")


@dataclass(frozen=True)
class MemoryRegion:
    """A memory region of a linker script.

    Attributes:
        name: Name of the region.
        address: Start address; None if it cannot be computed here.
        bytes: Size; None if it cannot be computed here.
        file: Linker script.
        line: Line in the script.
    """

    name: str
    address: int | None
    bytes: int | None
    file: str
    line: int


def read_memory_regions(path: Path, shown: str) -> tuple[MemoryRegion, ...]:
    """Read the memory regions of a linker script.

    Args:
        path: Linker script.
        shown: Name of the script in messages.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-003 if it is too large.
    """
    text = _COMMENT.sub(
        lambda found: re.sub(r"[^\n]", " ", found.group()), read_at_most(path, _MAX_BYTES).decode(errors="replace")
    )
    found: dict[str, MemoryRegion] = {}
    line, counted = 1, 0
    for start, end in _memories(text):
        for region in _REGION.finditer(text, start, end):
            line, counted = line + text.count("\n", counted, region.start()), region.start()
            address, size = (_number(region[which], found) for which in ("origin", "length"))
            found[region["name"]] = MemoryRegion(region["name"], address, size, shown, line)
    return tuple(found.values())


def _memories(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the content of each MEMORY."""
    memory = _MEMORY.search(text)
    while memory and (end := text.find("}", memory.end())) >= 0:
        yield memory.end(), end
        memory = _MEMORY.search(text, end)


def _number(text: str, known: dict[str, MemoryRegion]) -> int | None:
    """Evaluate an expression by recursive descent to a bounded depth, or return None."""
    tokens: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or len(tokens) == _MAX_TOKENS:
            return None
        tokens.append(token[1])
        at = token.end()
    try:
        value = _sum(tokens, known, 0)
    except (IndexError, ValueError, ZeroDivisionError, KeyError, TypeError):
        return None
    return value if not tokens and 0 <= value < 1 << 32 else None


def _sum(tokens: list[str], known: dict[str, MemoryRegion], depth: int) -> int:
    value = _product(tokens, known, depth)
    while tokens and tokens[0] in "+-":
        value += _product(tokens, known, depth) if tokens.pop(0) == "+" else -_product(tokens, known, depth)
    return value


def _product(tokens: list[str], known: dict[str, MemoryRegion], depth: int) -> int:
    value = _atom(tokens, known, depth)
    while tokens and tokens[0] in "*/":
        value = value * _atom(tokens, known, depth) if tokens.pop(0) == "*" else value // _atom(tokens, known, depth)
    return value


def _atom(tokens: list[str], known: dict[str, MemoryRegion], depth: int) -> int:
    if depth == _MAX_DEPTH:
        raise ValueError(depth)
    token = tokens.pop(0)
    if token == "(":
        value = _sum(tokens, known, depth + 1)
        if tokens.pop(0) != ")":
            raise ValueError(token)
        return value
    if of_region := _OF_REGION.match(token):
        region = known[of_region[2]]
        found = region.address if of_region[1] == "ORIGIN" else region.bytes
        if found is None:
            raise ValueError(token)
        return found
    unit = {"k": 1 << 10, "m": 1 << 20}.get(token[-1].lower(), 1)
    return (
        int(token.rstrip("KMkm"), 0 if token[:2].lower() == "0x" else 8 if token[0] == "0" and unit == 1 else 10) * unit
    )

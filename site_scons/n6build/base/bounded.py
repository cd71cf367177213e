"""Limits on the size and the depth of JSON and YAML from outside.

They are checked before a parser reads a text: a few kilobytes of brackets overflow the stack of
YAML's parser in C, and values that nest deeper than in any real file cause trouble later, in code
that walks through them.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any, TypeVar

T = TypeVar("T")

# The deepest real file is a plan, whose parameters nest six levels deep.
MAX_LEVELS = 64
# Kinds of files that may be larger have a limit of their own.
MAX_JSON_BYTES = 256 << 20
# board.yaml of a large project has 10 KB.
MAX_YAML_BYTES = 1 << 20
# An alias repeats the value that it names, so that a few lines can stand for billions of values.
MAX_YAML_ALIASES = 100
# Errors to catch where fields of such a file are read: a value may be of any type and size, and a number infinite.
WRONG_FIELDS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)

_STRING = re.compile(rb'"(?:[^"\\]+|\\.)*+"?', re.DOTALL)
# Text that a line may have in front of the innermost block that begins in it.
_BLOCK_START = re.compile(r"\ufeff?(?:---)?[ \t]*(?:[-?:][ \t]+)*")
_OTHER_BYTES = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def parse_json(data: bytes | str, most: int = MAX_JSON_BYTES, **hooks: Callable[..., object]) -> object:
    """Return the value of a JSON text from outside.

    Args:
        data: The text.
        most: Largest size in bytes, or in characters of a str.
        **hooks: Further arguments of json.loads.

    Raises:
        ValueError: The text is not JSON, is larger or nests deeper; as json.JSONDecodeError, which
            has the place, where that is
            known.
    """
    _check_json(data, most)
    value: object = json.loads(data, **hooks)  # type: ignore[arg-type]
    return value


def decode_json(data: bytes, type: type[T]) -> T:
    """Return a JSON text as a value of this type, decoded by msgspec.

    Raises:
        ValueError: The text is not such a value, is too large or nests too deep.
    """
    import msgspec  # noqa: PLC0415 - planning reads no results.

    _check_json(data, MAX_JSON_BYTES)
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _check_json(data: bytes | str, most: int) -> None:
    if len(data) > most:
        raise ValueError(f"has {len(data)} bytes, {len(data) - most} more than the limit")
    text = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if text[:4].count(b"\0"):
        raise ValueError("is not UTF-8 text")
    if text.count(b"[") + text.count(b"{") <= MAX_LEVELS:
        return
    brackets = _STRING.sub(b"", text).translate(None, _OTHER_BYTES)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_LEVELS:
        raise ValueError(f"nests more than {MAX_LEVELS} levels deep")


def check_yaml(text: str) -> None:
    """Check that a text is not too large, nests not too deep and has few aliases.

    The events of a YAML text are read without recursion, as far as it is YAML; other texts are left
    to its parser. Events are read only where counting characters leaves a doubt, since that parses
    the text a second time.

    Raises:
        ValueError: The text exceeds a limit.
    """
    import yaml  # noqa: PLC0415 - many steps read none.

    if len(text) > MAX_YAML_BYTES:
        raise ValueError(f"has {len(text)} characters, {len(text) - MAX_YAML_BYTES} more than the limit")
    if text.count("*") <= MAX_YAML_ALIASES and most_yaml_levels(text) <= MAX_LEVELS:
        return
    level = aliases = 0
    try:
        for event in yaml.parse(text, Loader=_yaml_loader()):
            level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            aliases += isinstance(event, yaml.AliasEvent)
            if level > MAX_LEVELS:
                raise ValueError(f"nests more than {MAX_LEVELS} levels deep")
            if aliases > MAX_YAML_ALIASES:
                raise ValueError(f"has more than {MAX_YAML_ALIASES} aliases")
    except yaml.YAMLError:
        return


def most_yaml_levels(text: str) -> int:
    """Return an upper bound of the levels that the text nests.

    It holds even if quotes and comments hide something: each line counts as its worst case. A block
    inside another one begins further right, except for a list in a mapping. Brackets that a line
    opens stay open, unless the line closes them itself; a closing bracket may be mere text only
    behind a quote or a comment sign, and in a key.
    """
    column = opened = left_open = 0
    for line in text.splitlines():
        start = _BLOCK_START.match(line)
        column = max(column, start.end() if start else 0)
        opens = line.count("[") + line.count("{")
        opened = max(opened, opens)
        hidden = "#" in line or '"' in line or "'" in line
        left_open += max(opens - (0 if hidden else line.count("]") + line.count("}")), 0)
    return 2 * (column + 1) + left_open + 2 * opened


@functools.cache
def _yaml_loader() -> Any:
    import yaml  # noqa: PLC0415 - many steps read none.

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)

"""Merge of entries into .vscode/tasks.json and launch.json.

No entry of the user is changed or lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from n6build.base.bounded import parse_json
from n6build.base.errors import N6Error

Entry = Mapping[str, Any]
_MOST_BYTES = 4 << 20


@dataclass(frozen=True)
class EntryList:
    """A list in a file, and the key that identifies an entry."""

    key: str
    known_by: str
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Merged:
    """Result of a merge.

    Attributes:
        text: Text of the whole file, None if it is up to date.
        added: Names of added entries.
        kept: Names of existing entries with other content, which stay as they are.
    """

    text: str | None
    added: tuple[str, ...]
    kept: tuple[str, ...]


def fresh(version: str, lists: Sequence[EntryList]) -> str:
    """Return the text of a file with only these entries."""
    document = {"version": version, **{each.key: list(each.entries) for each in lists if each.entries}}
    return json.dumps(document, indent=4, ensure_ascii=False) + "\n"


def merged(existing: bytes, where: str, version: str, lists: Sequence[EntryList]) -> Merged:
    """Merge entries into an existing file.

    An existing entry with the same name stays as it is.

    Args:
        existing: Content of the file.
        where: Path of the file, for messages.
        version: Version for a file without one.
        lists: Entries to add.

    Raises:
        N6Error: N6-EDITOR-001 if the file is not JSON, or has comments, which would be lost;
            N6-EDITOR-002 if it is JSON of another shape.
    """
    document = _read(existing, where)
    added: list[str] = []
    kept: list[str] = []
    for each in lists:
        there = document.setdefault(each.key, []) if each.entries else []
        if not isinstance(there, list) or not all(isinstance(entry, dict) for entry in there):
            what = f"'{each.key}' is not a list of objects"
            raise N6Error("N6-EDITOR-002", what, where=where, hint="correct it; nothing was written")
        known = {entry.get(each.known_by): entry for entry in there if isinstance(entry.get(each.known_by), str)}
        for entry in each.entries:
            name = str(entry[each.known_by])
            if name not in known:
                there.append(dict(entry))
                added.append(name)
            elif known[name] != entry:
                kept.append(name)
    document.setdefault("version", version)
    text = json.dumps(document, indent=_indent(existing), ensure_ascii=False) + "\n" if added else None
    return Merged(text, tuple(added), tuple(kept))


def _read(data: bytes, where: str) -> dict[str, Any]:
    if len(data) > _MOST_BYTES:
        what = f"has {len(data)} bytes, more than n6build reads"
        raise N6Error("N6-EDITOR-002", what, where=where, hint="correct it; nothing was written")
    try:
        text = data.decode("utf-8-sig")
        document = (
            parse_json(text, object_pairs_hook=_without_doubles, parse_constant=_no_constant) if text.strip() else {}
        )
    except json.JSONDecodeError as error:
        raise _not_json(f"{where}:{error.lineno}", error.msg) from error
    except ValueError as error:
        raise _not_json(where, str(error)) from error
    if not isinstance(document, dict):
        raise N6Error("N6-EDITOR-002", "is not an object", where=where, hint="correct it; nothing was written")
    return document


def _not_json(where: str, why: str) -> N6Error:
    what = f"is not plain JSON ({why}): n6build would lose comments and trailing commas"
    return N6Error("N6-EDITOR-001", what, where=where)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice in an object")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def _indent(existing: bytes) -> str:
    """Return the indentation of the file."""
    found = re.search(rb"^([ \t]+)\S", existing, re.MULTILINE)
    return found[1].decode() if found and len(found[1]) <= 8 else "    "

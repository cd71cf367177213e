"""The keys of a YAML or JSON file, from its dataclasses.

The file is read into the dataclasses (`n6build.base.yaml_schema`).
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from n6build.base.yaml_schema import OtherKeys, Pattern, Range, Size

from reference_docs.markdown import code, sentence, table, text
from reference_docs.meanings import introduction, meanings

# The path of a key has these placeholders for a name, such as that of a pool, and for an item of a list.
_NAME, _ITEM = "<name>", "[]"
_LONGEST_EXAMPLE = 28
_UNIONS = (types.UnionType, typing.Union)
_SCALARS = {int: "integer", str: "text", bool: "true or false", float: "number", Path: "path", object: "anything"}


@dataclass(frozen=True)
class Key:
    """A key of a file.

    Attributes:
        path: Path with dots, such as `pools.<name>.fname`.
        kind: Kind of its value, in words.
        default: Default in YAML's spelling; None for a required key.
        meaning: Meaning, empty if the docstring has none.
        is_section: Whether keys of its own follow.
    """

    path: str
    kind: str
    default: str | None
    meaning: str
    is_section: bool


def keys(schema: type, others: Mapping[str, type] | None = None, below: str = "") -> Iterator[Key]:
    """Yield all keys, each section before its own keys.

    Args:
        schema: Dataclass of the file.
        others: Possible sections of a field with `OtherKeys`.
        below: Path in front of the keys.
    """
    said = meanings(schema)
    hints = typing.get_type_hints(schema, include_extras=True)
    for field in dataclasses.fields(schema):
        hint, path = hints[field.name], f"{below}{field.name}"
        if not field.init:
            continue
        if any(isinstance(note, OtherKeys) for note in typing.get_args(hint)):
            for name, kind in (others or {}).items():
                yield Key(f"{below}{name}", "section", "", introduction(kind) or f"Options of {name}.", True)
                yield from keys(kind, None, f"{below}{name}.")
            continue
        inner, steps = _section_of(hint)
        meaning = said.get(field.name, "") or (introduction(inner) if inner else "")
        yield Key(path, kind_of(hint), _default(field), meaning, inner is not None)
        if inner is not None:
            yield from keys(inner, others, f"{path}{steps}.")


def key_table(schema: type, examples: Mapping[str, str] | None = None, others: Mapping[str, type] | None = None) -> str:
    """Return a table of all keys.

    Args:
        schema: Dataclass of the file.
        examples: Values of some files by path; None leaves out the columns of examples and
            defaults.
        others: Possible sections of a field with `OtherKeys`.
    """
    rows = []
    for key in keys(schema, others):
        row = [_breakable(key.path), text(key.kind)]
        if examples is not None:
            row.append("required" if key.default is None else code(key.default) if key.default else "")
        row.append(text(sentence(key.meaning)))
        if examples is not None:
            row.append(code(_shortened(examples[key.path])) if key.path in examples else "")
        rows.append(row)
    head = ("key", "value", "meaning") if examples is None else ("key", "value", "default", "meaning", "example")
    return table(head, rows)


def _shortened(value: str) -> str:
    return value if len(value) <= _LONGEST_EXAMPLE else f"{value[: _LONGEST_EXAMPLE - 3]}..."


def _breakable(path: str) -> str:
    """Return a path that may end a line behind a dot."""
    return code(path).replace(".", ".<wbr>")


def examples_in(files: list[Path], schema: type, others: Mapping[str, type] | None = None) -> dict[str, str]:
    """Return an example of each key that is no section, by path.

    It is the value as written in the first of the files that has one.
    """
    wanted = {key.path for key in keys(schema, others) if not key.is_section}
    found: dict[str, str] = {}
    for file in files:
        written = file.read_text(encoding="utf-8")
        for path, node in _nodes(yaml.compose(written), "", wanted):
            found.setdefault(path, " ".join(written[node.start_mark.index : node.end_mark.index].split()))
    return found


def _nodes(node: Any, path: str, wanted: set[str]) -> Iterator[tuple[str, Any]]:
    if path in wanted:
        yield path, node
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = f"{path}.{key.value}" if path else str(key.value)
            is_known = any(each == below or each.startswith((f"{below}.", f"{below}{_ITEM}")) for each in wanted)
            yield from _nodes(value, below if is_known else f"{path}.{_NAME}", wanted)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _nodes(item, f"{path}{_ITEM}", wanted)


def kind_of(hint: Any) -> str:
    """Return the kinds of values that may be written there, in words."""
    if hint == Size:
        return "bytes, as in 64K or 2M"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _narrowed(arguments[0], arguments[1:])
    if origin is Literal:
        return " or ".join(f"`{each}`" for each in arguments)
    if origin in _UNIONS:
        return " or ".join(dict.fromkeys(kind_of(each) for each in arguments if each is not types.NoneType))
    if origin is not None:
        return f"list of {_several(arguments[0])}" if origin is tuple else f"{_several(arguments[1])} by name"
    return "section" if dataclasses.is_dataclass(hint) else _SCALARS.get(hint, "anything")


def _several(hint: Any) -> str:
    """Return the words of `kind_of`, in the plural if they have one."""
    words = kind_of(hint)
    plural = {"section": "sections", "text": "texts", "integer": "integers", "number": "numbers", "path": "paths"}
    first, _, rest = words.partition(" ")
    return f"{plural.get(first, first)} {rest}".strip()


def _narrowed(base: Any, notes: tuple[Any, ...]) -> str:
    for note in notes:
        if isinstance(note, Range) and (note.low, note.high) == (0, 0xFFFF_FFFF):
            return "address"
        if isinstance(note, Range):
            return f"{_SCALARS[base]} from {note.low:,} to {note.high:,}"
        if isinstance(note, Pattern):
            return note.of.partition(":")[0].removeprefix("the ").removeprefix("a ")
    return kind_of(base)


def _section_of(hint: Any) -> tuple[type | None, str]:
    """Return the dataclass behind a hint, and the path between the key and its keys."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return hint, ""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        return next((found for each in arguments if (found := _section_of(each))[0]), (None, ""))
    if origin is tuple:
        inner, steps = _section_of(arguments[0])
        return inner, f"{_ITEM}{steps}"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        inner, steps = _section_of(arguments[1])
        return inner, f".{_NAME}{steps}"
    return None, ""


def _default(field: dataclasses.Field[Any]) -> str | None:
    """Return a default in YAML's spelling, None for a required key.

    It is empty for an empty value, or a section with defaults of its own.
    """
    if field.default is not dataclasses.MISSING:
        value = field.default
    elif field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    else:
        return None
    if value is None or value in ("", (), {}) or dataclasses.is_dataclass(value):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)

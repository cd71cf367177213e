"""The keys of a YAML or JSON file, from the dataclasses that it is read into (`n6build.base.yaml_schema`)."""

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

# What a name such as those of pools stands for in the path of a key; an item of a list.
_NAME, _ITEM = "<name>", "[]"
_LONGEST_EXAMPLE = 28
_UNIONS = (types.UnionType, typing.Union)
_SCALARS = {int: "integer", str: "text", bool: "true or false", float: "number", Path: "path", object: "anything"}


@dataclass(frozen=True)
class Key:
    """path: with dots, `pools.<name>.fname`. kind: of its value, in words. default: as YAML has it; None: it has to be there.
    meaning: empty where the docstring says nothing. is_section: whether keys of its own follow."""

    path: str
    kind: str
    default: str | None
    meaning: str
    is_section: bool


def keys(schema: type, others: Mapping[str, type] | None = None, below: str = "") -> Iterator[Key]:
    """All keys, each section behind its own. others: for a field with `OtherKeys`, the sections that it may have."""
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
    """examples: by path, a value that some file has; None: the table has no such column, and no defaults."""
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
    """Long ones may end a line behind a dot."""
    return code(path).replace(".", ".<wbr>")


def examples_in(files: list[Path], schema: type, others: Mapping[str, type] | None = None) -> dict[str, str]:
    """By path of a key that is no section, the value as the first of the files writes it that has one."""
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
    """What may be written there, in words."""
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
    """Of the words above that have a plural, that."""
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
    """The dataclass behind a hint, and what stands between the key and its keys."""
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
    """As YAML has it; empty where it is nothing, or a section with defaults of its own."""
    if field.default is not dataclasses.MISSING:
        value = field.default
    elif field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    else:
        return None
    if value is None or value in ("", (), {}) or dataclasses.is_dataclass(value):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)

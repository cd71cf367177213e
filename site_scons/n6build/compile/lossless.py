"""JSON and YAML of ST's tools, read and written without loss.

YAML for JSON documents of ST's tools, and back, without loss. Keys keep their order, and numbers
their spelling.

Strict ASCII JSON for ST's compiler, read and written without loss. Numbers keep their spelling.
"""

from __future__ import annotations

import json
from typing import Any

import yaml

from n6build.base.bounded import WRONG_FIELDS, check_yaml, parse_json
from n6build.base.errors import N6Error

MAX_BYTES = 4 << 20


class Number(str):
    """A number as it is written: 2.50 stays 2.50."""

    __slots__ = ()


def parse_strict(data: bytes, file: str, id: str) -> object:
    """Parse strict JSON: objects as ordered dicts, numbers as `Number`.

    Args:
        data: Content of the file.
        file: Name of the file, for messages.
        id: Id of the error.

    Raises:
        N6Error: `id` with file, line and column for anything that is not strict JSON, for non-ASCII
            characters, for a key that appears twice, for more than 4 MiB.
    """
    hint = "remove comments and non-ASCII characters: the network compiler stops at them with 'memory pool JSON ERROR'"
    wrong = next((position for position, byte in enumerate(data) if byte > 0x7F), None) if not data.isascii() else None
    if wrong is not None:
        raise N6Error(id, f"byte 0x{data[wrong]:02X} is not ASCII", where=_position(data, wrong, file), hint=hint)
    text = data.decode("ascii")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) != len(pairs):
            twice = next(key for key, _ in pairs if [name for name, _ in pairs].count(key) > 1)
            raise N6Error(id, f"key '{twice[:40]}' appears twice in one object", where=file)
        return values

    def no_constant(name: str) -> Any:
        raise N6Error(id, f"{name} is not a JSON number", where=file, hint=hint)

    try:
        return parse_json(
            text,
            MAX_BYTES,
            object_pairs_hook=unique,
            parse_int=Number,
            parse_float=Number,
            parse_constant=no_constant,
        )
    except json.JSONDecodeError as error:
        where = f"{file}:{error.lineno}:{error.colno}"
        raise N6Error(id, f"is not strict JSON: {error.msg}", where=where, hint=hint) from error
    except ValueError as error:
        raise N6Error(id, str(error), where=file) from error


def _position(data: bytes, offset: int, file: str) -> str:
    line = data.count(b"\n", 0, offset) + 1
    column = offset - data.rfind(b"\n", 0, offset)
    return f"{file}:{line}:{column}"


def strict_text(value: object, indent: int = 0) -> str:
    """Return a value as strict JSON, the inverse of `parse_strict`.

    It is ASCII, indented by two spaces, with keys in their order and numbers in their spelling.

    Args:
        value: The value.
        indent: Level of the value.
    """
    pad, inner = "  " * indent, "  " * (indent + 1)
    if isinstance(value, dict):
        if not value:
            return "{}"
        rows = [f"{inner}{json.dumps(key)}: {strict_text(item, indent + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
    if isinstance(value, list):
        if not value:
            return "[]"
        return "[\n" + ",\n".join(inner + strict_text(item, indent + 1) for item in value) + f"\n{pad}]"
    return str(value) if isinstance(value, Number) else json.dumps(value)


class _Dumper(yaml.SafeDumper):
    """A dumper that keeps the spelling of numbers and puts flat objects on one line."""


class _Loader(yaml.SafeLoader):
    """A loader that keeps the spelling of numbers and refuses aliases.

    Aliases could make a few lines endless, and JSON has none.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed", mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


def _number(dumper: yaml.SafeDumper, value: Number) -> yaml.Node:
    return dumper.represent_scalar(_INT if value.lstrip("-").isdigit() else _FLOAT, str(value))


def _plain_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Number:
    return Number(loader.construct_scalar(node))


def _represent_mapping(dumper: yaml.SafeDumper, value: dict[str, object]) -> yaml.Node:
    flat = not any(isinstance(item, (dict, list)) for item in value.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=flat)


_Dumper.add_representer(Number, _number)
_Dumper.add_representer(dict, _represent_mapping)
_Loader.add_constructor(_INT, _plain_number)
_Loader.add_constructor(_FLOAT, _plain_number)


def to_yaml(document: object, kind: str) -> str:
    """Return a document as YAML.

    Texts that look like numbers are quoted, numbers are not.

    Args:
        document: The document.
        kind: Kind of the document, used as the one key around it.
    """
    return str(yaml.dump({kind: document}, Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=160))


def from_yaml(text: str, file: str) -> tuple[str, object]:
    """Return (kind, document) of a YAML text.

    Raises:
        N6Error: N6-MPOOL-003 if the text is not the output of `to_yaml`.
    """
    try:
        check_yaml(text)
        document = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        where = f"{file}:{error.problem_mark.line + 1}" if error.problem_mark else file
        raise N6Error("N6-MPOOL-003", f"is not YAML: {error.problem}", where=where) from error
    except (yaml.YAMLError, *WRONG_FIELDS) as error:
        raise N6Error("N6-MPOOL-003", f"is not YAML: {error}", where=file) from error
    if not isinstance(document, dict) or len(document) != 1 or not isinstance(next(iter(document)), str):
        raise N6Error(
            "N6-MPOOL-003",
            "is not a descriptor of memory pools or profiles",
            where=file,
            hint="convert the file with tools/pools.py import",
        )
    kind, inner = next(iter(document.items()))
    return kind, inner

"""Conversion of YAML to frozen dataclasses, with file and line of every error.

A schema is a dataclass: its fields are the known keys, a default makes a key optional, and an
`Annotated` type narrows the values (`Size`, `Address`, `Range`). An unknown key, a missing one or a
value of another type is an N6Error.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml

from n6build.base.bounded import WRONG_FIELDS
from n6build.base.console import clipped
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.size_text import bytes_of
from n6build.base.yaml_tree import compose, dotted, pairs_of, read_merged_tree, read_tree

T = TypeVar("T")

# Characters of a value that a message shows, and characters that a number may have.
_SHOWN = 80


@dataclasses.dataclass(frozen=True)
class Range:
    """A range of values from low to high, both included."""

    low: int
    high: int


@dataclasses.dataclass(frozen=True)
class _SizeSyntax:
    """The syntax of an integer in bytes.

    It has digits with an optional K, M or G (powers of 1024), or is a text such as "0x1800000",
    since JSON has no hexadecimal numbers.
    """


@dataclasses.dataclass(frozen=True)
class Pattern:
    """A pattern that has to match a whole text.

    Attributes:
        regex: The regular expression.
        of: Description of the expected text, for the message.
    """

    regex: str
    of: str


@dataclasses.dataclass(frozen=True)
class Since:
    """A required key that files for an older n6build do not have.

    Attributes:
        version: First version that requires the key.
        write: Line that adds the key, for the hint.
    """

    version: str
    write: str


@dataclasses.dataclass(frozen=True)
class OtherKeys:
    """The mark of a field that takes every key that is not a field.

    The field is declared as `Annotated[dict[str, Section], OtherKeys()]`.
    """


Size = Annotated[int, _SizeSyntax()]
# A name becomes the name of a folder, a target and a text in C; it must not lead out of the checkout.
Name = Annotated[str, Pattern(r"[A-Za-z0-9_][\w.-]*", "a name: letters, digits, '_', '.' and '-'")]
Identifier = Annotated[str, Pattern(r"[A-Za-z_][A-Za-z0-9_]*", "a C identifier")]
# A title is the maker's text on a board or a part. It is used in comments of C and of scripts, on pages and terminals.
Title = Annotated[
    str, Pattern(r"(?u:\w)(?u:[\w .,:()+&/-]){0,79}", "a title: up to 80 letters, digits and any of '_ .,:()+&/-'")
]
# The name of a file beside a tool, which must not lead out of the tool's folder.
PlainFile = Annotated[str, Pattern(r"[A-Za-z0-9_][\w.+ -]*", "the name of a file without its folder")]
# The name of a user's file: anything but characters that end a line or control a terminal.
FileName = Annotated[str, Pattern(r"[^\0-\x1f\x7f]+", "the name of a file")]
Address = Annotated[int, Range(0, 0xFFFF_FFFF)]


@dataclasses.dataclass(frozen=True)
class Document:
    """One YAML file, or several merged by `include`, with the place of each key.

    `where("slots", "appli")` is 'board.yaml:12: slots.appli', and names the file that contains the
    key.

    Attributes:
        root: Root node.
        files: All files that were read, the requested one first.
    """

    root: yaml.Node
    files: tuple[Path, ...] = ()

    def load(self, schema: type[T]) -> T:
        """Return the document as a dataclass.

        Raises:
            N6Error: N6-YAML-003 to N6-YAML-006 if it does not match the schema.
        """
        value: T = _convert(self, schema, self.root, ())
        return value

    def where(self, *keys: str | int) -> str:
        """Return file:line of the deepest part of a path that exists, with the path."""
        node: yaml.Node = self.root
        mark = node.start_mark
        for key in keys:
            if isinstance(node, yaml.MappingNode):
                found = [(k, v) for k, v in node.value if k.value == str(key)]
                if not found:
                    break
                mark, node = found[0][0].start_mark, found[0][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
                node = node.value[key]
                mark = node.start_mark
        place = f"{mark.name}:{mark.line + 1}"
        return f"{place}: {dotted(keys)}" if keys else place


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of a document that has not been converted yet."""

    document: Document
    keys: tuple[str | int, ...]
    node: yaml.Node

    def load(self, schema: type[T]) -> T:
        """Return the part as a dataclass.

        Raises:
            N6Error: N6-YAML-003 to N6-YAML-006 if it does not match the schema.
        """
        value: T = _convert(self.document, schema, self.node, self.keys)
        return value

    def where(self, *keys: str | int) -> str:
        """Return the place of a key, as `Document.where` does.

        Args:
            *keys: Path from this part on.
        """
        return self.document.where(*self.keys, *keys)


def read_document(path: Path, *, shown_as: str | None = None) -> Document:
    """Read a YAML file.

    Args:
        path: The file.
        shown_as: Name of the file in messages; by default the path as given.

    Raises:
        N6Error: N6-YAML-001 if the file cannot be read; N6-YAML-002 if it is not YAML.
    """
    tree = read_tree(path, shown_as or str(path))
    return Document(tree.root, tree.files)


def read_merged_document(path: Path, *, shown_as: str | None = None) -> Document:
    """Read a YAML file that may `include:` another one.

    Args:
        path: The file.
        shown_as: Name of the file in messages; by default the path as given.

    Raises:
        N6Error: N6-YAML-007 for an invalid include; N6-YAML-005 if a key appears twice; N6-YAML-001
            and N6-YAML-002 as in
            `read_document`.
    """
    tree = read_merged_tree(path, shown_as or str(path))
    return Document(tree.root, tree.files)


def parse_document(text: str, file: str) -> Document:
    """Return the document of a YAML text.

    Args:
        text: The text.
        file: Name of its file in messages.

    Raises:
        N6Error: N6-YAML-002 if it is not YAML.
    """
    return Document(compose(text, file))


def _fail(
    document: Document, path: tuple[str | int, ...], what: str, hint: str | None = None, id: str = "N6-YAML-004"
) -> N6Error:
    return N6Error(id, what, where=document.where(*path), hint=hint)


def _convert(document: Document, kind: Any, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _convert_dataclass(document, kind, node, path)
    convert = _CONVERSIONS.get(typing.get_origin(kind), _convert_scalar)
    return convert(document, kind, node, path)


@functools.cache
def _fields_of(kind: type) -> tuple[tuple[dataclasses.Field[Any], Any], ...]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple((field, hints[field.name]) for field in dataclasses.fields(kind) if field.init)


def _pairs(document: Document, node: yaml.Node, path: tuple[str | int, ...]) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise _fail(document, path, "must be a mapping of keys to values")
    return {name: value for name, (_, value) in pairs_of(node, path).items()}


def _convert_dataclass(document: Document, kind: type, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
    pairs = _pairs(document, node, path)
    fields = {field.name: (field, hint) for field, hint in _fields_of(kind)}
    values: dict[str, Any] = {}
    for name, (_, hint) in list(fields.items()):
        if any(isinstance(note, OtherKeys) for note in typing.get_args(hint)):
            del fields[name]
            values[name] = {
                key: Section(document, (*path, key), each) for key, each in pairs.items() if key not in fields
            }
            pairs = {key: each for key, each in pairs.items() if key in fields}
    for name in pairs:
        if name not in fields:
            raise _fail(document, (*path, name), f"unknown key '{name}'", did_you_mean(name, fields), "N6-YAML-003")
    for name, (field, hint) in fields.items():
        if name in pairs:
            values[name] = _convert(document, hint, pairs[name], (*path, name))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise _missing(document, path, name, hint)
    return kind(**values)


def _missing(document: Document, path: tuple[str | int, ...], name: str, hint: Any) -> N6Error:
    since = next((note for note in typing.get_args(hint) if isinstance(note, Since)), None)
    if since is None:
        return _fail(document, path, f"key '{name}' is missing", id="N6-YAML-006")
    what = f"key '{name}' is missing: this file was written for n6build before {since.version}"
    return _fail(document, path, what, f"add it: {since.write}", "N6-YAML-006")


def _convert_mapping(document: Document, kind: Any, node: yaml.Node, path: tuple[str | int, ...]) -> dict[str, Any]:
    key, inner = typing.get_args(kind)
    found = _pairs(document, node, path)
    for name in found:
        _check_notes(document, name, (*path, name), typing.get_args(key)[1:])
    return {name: _convert(document, inner, value, (*path, name)) for name, value in found.items()}


def _convert_sequence(document: Document, kind: Any, node: yaml.Node, path: tuple[str | int, ...]) -> tuple[Any, ...]:
    if not isinstance(node, yaml.SequenceNode):
        raise _fail(document, path, "must be a list")
    inner = typing.get_args(kind)[0]
    return tuple(_convert(document, inner, item, (*path, index)) for index, item in enumerate(node.value))


def _convert_optional(document: Document, kind: Any, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
    if node.tag == "tag:yaml.org,2002:null":
        return None
    inner = [argument for argument in typing.get_args(kind) if argument is not types.NoneType]
    for argument in inner[:-1]:
        try:
            return _convert(document, argument, node, path)
        except N6Error:
            continue
    return _convert(document, inner[-1], node, path)


def _convert_literal(document: Document, kind: Any, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
    choices = typing.get_args(kind)
    for choice in choices:
        if isinstance(node, yaml.ScalarNode) and node.value == str(choice):
            return choice
    shown = node.value if isinstance(node, yaml.ScalarNode) else "this value"
    raise _fail(
        document, path, f"invalid value '{clipped(shown, _SHOWN)}'", did_you_mean(str(shown), map(str, choices))
    )


def _convert_annotated(document: Document, kind: Any, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
    base, *notes = typing.get_args(kind)
    if any(isinstance(note, _SizeSyntax) for note in notes):
        text = node.value if isinstance(node, yaml.ScalarNode) else ""
        size = bytes_of(text)
        if size is not None:
            value = size
        elif re.fullmatch(r"0x[0-9a-fA-F]{1,8}", text):
            value = int(text, 16)
        else:
            value = _convert_scalar(document, int, node, path)
    else:
        value = _convert(document, base, node, path)
    _check_notes(document, value, path, notes)
    return value


def _check_notes(document: Document, value: Any, path: tuple[str | int, ...], notes: Sequence[Any]) -> None:
    for note in notes:
        if isinstance(note, Range) and not note.low <= value <= note.high:
            raise _fail(document, path, f"{value} is outside {note.low}..{note.high}")
        if isinstance(note, Pattern) and not re.fullmatch(note.regex, str(value), re.ASCII):
            raise _fail(document, path, f"{value!r} is not {note.of}")


def _convert_scalar(document: Document, kind: Any, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
    names = {int: "an integer", str: "a text", bool: "true or false", float: "a number"}
    if not isinstance(node, yaml.ScalarNode):
        raise _fail(document, path, f"must be {names[kind]}")
    if kind is str and node.tag != "tag:yaml.org,2002:null":
        return node.value
    value = _scalar_value(node)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise _fail(document, path, f"'{clipped(node.value, _SHOWN)}' must be {names[kind]}")
    return value


def _scalar_value(node: yaml.ScalarNode) -> Any:
    """Return the value of a node, None if it does not match its tag or is too long."""
    constructor = yaml.constructor.SafeConstructor()
    try:
        return constructor.construct_object(node) if len(node.value) <= _SHOWN else None
    except (*WRONG_FIELDS, yaml.YAMLError):
        return None


_CONVERSIONS = {
    Annotated: _convert_annotated,
    typing.Literal: _convert_literal,
    tuple: _convert_sequence,
    dict: _convert_mapping,
    types.UnionType: _convert_optional,
    typing.Union: _convert_optional,
}

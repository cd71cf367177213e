"""Options of a build, each declared once, as a field of a dataclass."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from n6build.base.errors import N6Error
from n6build.base.paths import project_path
from n6build.base.size_text import bytes_of

T = TypeVar("T")

_KEY = "n6build option"
_FEW_TARGETS = 3
Loader = Literal["linked", "reloc"]


@dataclass(frozen=True)
class Setting:
    """The text given for an option.

    Attributes:
        value: The text.
        origin: 'default', a file, an environment variable, 'command line', or file:line of a host's
            script.
        option: Name of the option.
        is_explicit: Whether it was given for this build, and is not a habit of its user.
    """

    value: str
    origin: str
    option: str
    is_explicit: bool = False


@dataclass(frozen=True)
class PlacedFile:
    """A file for the NOR.

    Attributes:
        path: Path of the file.
        address: Address in the memory-mapped window; None if the file contains it.
    """

    path: str
    address: int | None


@dataclass(frozen=True)
class Option:
    """An option of a build.

    Attributes:
        name: Name on the command line.
        default: Default as text.
        help: Help text.
        choices: Possible texts, empty if any text is possible.
        environment: Variable that gives the value, or None.
        loader: The only loader that the option is for, or None.
        field: Field of the dataclass that holds the value.
        parse: Function that makes the value; relative paths start at the folder that it gets.
        separator: Separator of several values.
        targets: The only targets that use the option; empty for all that build.
    """

    name: str
    default: str
    help: str
    choices: tuple[str, ...]
    environment: str | None
    loader: Loader | None
    field: str
    parse: Callable[[Setting, Path], object]
    separator: str = ","
    targets: tuple[str, ...] = ()


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options of a dataclass.

    The functions below make the fields of options; other fields are filled by the caller.
    """
    return tuple(
        dataclasses.replace(field.metadata[_KEY], name=field.metadata[_KEY].name or field.name, field=field.name)
        for field in dataclasses.fields(kind)
        if _KEY in field.metadata
    )


def described(option: Option) -> str:
    """Return the option's help, with its default and its variable."""
    default = f"; default {option.default}" if option.default else ""
    more = f" [{option.environment}]" if option.environment else ""
    return f"{scoped_help(option)}{default}{more}"


def scoped_help(option: Option) -> str:
    """Return the help text, with the scope of the option in front.

    The scope is the loader, or the few targets, that the option is for.
    """
    scope = (option.loader,) if option.loader else option.targets
    return f"{', '.join(scope)}: {option.help}" if 0 < len(scope) <= _FEW_TARGETS else option.help


def chosen(kind: type[T], settings: Mapping[str, Setting], folder: Path, **others: object) -> T:
    """Return the dataclass with the chosen values.

    Args:
        kind: The dataclass.
        settings: Setting of each option by its name.
        folder: Folder where relative paths start.
        **others: Values of fields without an option.

    Raises:
        N6Error: N6-OPTION-002 for an invalid value.
    """
    values = {option.field: option.parse(settings[option.name], folder) for option in options_of(kind)}
    return kind(**values, **others)


def option_text(value: object, separator: str = ",") -> str:
    """Return a value as text on a command line.

    This is the inverse of reading the fields below, except for `parsed`. Paths inside the project
    are relative to it.

    Args:
        value: The value.
        separator: Separator of several values.
    """
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return separator.join(map(option_text, value))
    if isinstance(value, PlacedFile):
        path = project_path(value.path)
        return path if value.address is None else f"{path}@0x{value.address:08X}"
    text = str(value)
    return project_path(text) if os.path.isabs(text) else text  # noqa: PTH117


def word(
    default: str,
    help: str,
    choices: tuple[str, ...] = (),
    *,
    environment: str | None = None,
    loader: Loader | None = None,
    targets: tuple[str, ...] = (),
) -> Any:
    """Return a field for a text, one of `choices` if there are any."""
    return _field(
        default, default, help, lambda setting, _: setting.value, choices, environment, loader, targets=targets
    )


def names(default: str, help: str, *, name: str = "", environment: str | None = None) -> Any:
    """Return a field for a,b: a tuple of texts.

    Its `parse` raises N6-OPTION-002 for an empty text.

    Args:
        default: Default as text.
        help: Help text.
        name: Name of the option, if it differs from the field's.
        environment: Variable that gives the value.
    """

    def parse(setting: Setting, _: Path) -> tuple[str, ...]:
        found = tuple(setting.value.split(","))
        if not all(each.strip() for each in found):
            what = f"'{setting.option}={setting.value}' has an empty value" + (
                " between its commas" if found[1:] else ""
            )
            raise N6Error(
                "N6-OPTION-002", what, where=setting.origin, hint=f"write for example {setting.option}={default}"
            )
        return found

    return _field(
        tuple(default.split(",")),
        default,
        help,
        parse,
        (),
        environment,
        None,
        name,
    )


def switch(
    default: bool,
    help: str,
    *,
    environment: str | None = None,
    loader: Loader | None = None,
    targets: tuple[str, ...] = (),
) -> Any:
    """Return a field for 0 or 1, as a bool.

    Args:
        default: The default.
        help: Help text.
        environment: Variable that gives the value.
        loader: The only loader that the option is for.
        targets: The only targets that use the option.
    """
    text = str(int(default))
    return _field(
        default, text, help, lambda setting, _: setting.value == "1", ("0", "1"), environment, loader, targets=targets
    )


def number(default: int, help: str, choices: tuple[str, ...], *, loader: Loader | None = None) -> Any:
    """Return a field for one of a few integers."""
    return _field(default, str(default), help, lambda setting, _: int(setting.value), choices, None, loader)


def count(help: str, of: str, *, most: int = 10**18 - 1, targets: tuple[str, ...] = ()) -> Any:
    """Return a field for a number; 0 if nothing is given.

    Its `parse` raises N6-OPTION-002 for another text.

    Args:
        help: Help text.
        of: Counted things, for the message.
        most: Largest number.
        targets: The only targets that use the option.
    """

    def parse(setting: Setting, _: Path) -> int:
        if setting.value and not (re.fullmatch("[0-9]{1,18}", setting.value) and int(setting.value) <= most):
            what = f"'{setting.option}={setting.value}' is not a number of {of}"
            raise N6Error("N6-OPTION-002", what, where=setting.origin, hint="write a number, for example 100")
        return int(setting.value or 0)

    return _field(0, "", help, parse, (), None, None, targets=targets)


def size(default: str, help: str, *, environment: str | None = None) -> Any:
    """Return a field for a number of bytes, with an optional K, M or G.

    Its `parse` raises N6-OPTION-002 for another text.
    """

    def parse(setting: Setting, _: Path) -> int:
        found = bytes_of(setting.value)
        if found is None:
            what = f"'{setting.option}={setting.value}' is not a size"
            raise N6Error(
                "N6-OPTION-002", what, where=setting.origin, hint="write a number of bytes, for example 500M or 20G"
            )
        return found

    return _field(bytes_of(default), default, help, parse, (), environment, None)


def path(
    help: str,
    *,
    loader: Loader | None = None,
    environment: str | None = None,
    targets: tuple[str, ...] = (),
    literal: str = "",
) -> Any:
    """Return a field for a path as text, empty if none is given.

    A relative path starts in the folder in which the command was typed.

    Args:
        help: Help text.
        loader: The only loader that uses it.
        environment: Variable that gives the value.
        targets: The only targets that use the option.
        literal: Beginning of a value that is no path; empty if each value is one.
    """
    return _field(
        "",
        "",
        help,
        lambda setting, launched: (
            setting.value
            if not setting.value or (literal and setting.value.startswith(literal))
            else str(launched / setting.value)
        ),
        (),
        environment,
        loader,
        targets=targets,
    )


def paths(help: str, *, automatic: str, environment: str | None = None) -> Any:
    """Return a field for paths that are separated as in PATH: a tuple of texts.

    Relative paths start in the folder in which the command was typed.

    Args:
        help: Help text.
        automatic: Word that leaves the search to the build, as for `folder`.
        environment: Variable that gives the value.
    """

    def parse(setting: Setting, launched: Path) -> tuple[str, ...]:
        named = [each for each in setting.value.split(os.pathsep) if each]
        return tuple(each if each == automatic else str(launched / each) for each in named)

    return _field((), "", help, parse, (), environment, None, separator=os.pathsep)


def folder(help: str, *, automatic: str) -> Any:
    """Return a field for a folder as text, empty if none is given.

    A relative path starts in the folder in which the command was typed.

    Args:
        help: Help text.
        automatic: Word that leaves the search to the build, and is not a folder.
    """

    def parse(setting: Setting, launched: Path) -> str:
        return setting.value if setting.value in ("", automatic) else str(launched / setting.value)

    return _field("", "", help, parse, (), None, None)


def listed_paths(help: str, *, targets: tuple[str, ...] = ()) -> Any:
    """Return a field for a,b: a tuple of paths as texts.

    Relative paths start in the folder in which the command was typed.
    """

    def parse(setting: Setting, launched: Path) -> tuple[str, ...]:
        return tuple(str(launched / each) for each in setting.value.split(",") if each)

    return _field((), "", help, parse, (), None, None, targets=targets)


def placed_files(help: str) -> Any:
    """Return a field for FILE@ADDRESS, or FILE alone; several as a,b.

    Relative paths start in the folder in which the command was typed. Its `parse` raises
    N6-OPTION-002 for an invalid address.
    """

    def parse(setting: Setting, launched: Path) -> tuple[PlacedFile, ...]:
        return tuple(_placed(setting, each, launched) for each in setting.value.split(",") if each)

    return _field((), "", help, parse, (), None, None)


def _placed(setting: Setting, text: str, launched: Path) -> PlacedFile:
    name, at, address = text.rpartition("@")
    if not at:
        return PlacedFile(str(launched / text), None)
    try:
        return PlacedFile(str(launched / name), int(address, 0))
    except ValueError as error:
        what = f"'{address}' is not an address"
        hint = f"{setting.option}={name}@0x70180000"
        raise N6Error("N6-OPTION-002", what, where=setting.origin, hint=hint) from error


def parsed(default: T, help: str, parse: Callable[[Setting], T], *, name: str, targets: tuple[str, ...] = ()) -> T:
    """Return a field whose value `parse` makes from the text.

    Args:
        default: Value without a text.
        help: Help text.
        parse: Function that makes the value.
        name: Name of the option.
        targets: The only targets that use the option.
    """
    made: T = _field(default, "", help, lambda setting, _: parse(setting), (), None, None, name, targets=targets)
    return made


def _field(
    default: Any,
    text: str,
    help: str,
    parse: Callable[[Setting, Path], object],
    choices: tuple[str, ...],
    environment: str | None,
    loader: Loader | None,
    name: str = "",
    separator: str = ",",
    targets: tuple[str, ...] = (),
) -> Any:
    option = Option(name, text, help, choices, environment, loader, "", parse, separator, targets)
    return dataclasses.field(default=default, metadata={_KEY: option})

"""Projects of STM32CubeIDE: .cproject and .project.

.cproject has the settings, .project has the names of files outside the project's folder.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most

MAX_BYTES = 16 << 20
_WORKSPACE = re.compile(r"\$\{workspace_loc:/\$\{ProjName\}/?([^}]{0,400})\}")
_PROJECT_FILE = re.compile(r"\$\{(?:ProjDirPath|PROJECT_LOC)\}/?")
_PARENT = re.compile(r"(?:\$%7B)?PARENT-(\d{1,2})-PROJECT_LOC(?:%7D)?/?")
# The options are found by the end of their superClass.
_SCRIPT = ".linker.option.script"
_BOARD = ".option.target_board"
_LISTS = (".option.includepaths", ".option.definedsymbols", ".option.libraries", ".option.otherflags")


@dataclass(frozen=True)
class Configuration:
    """A build configuration, such as Debug.

    Attributes:
        name: name of the configuration and of its folder.
        linker_script: name as in the file, without the IDE's variables for the project's folder; empty
            without a script.
        board: name as in STM32CubeIDE, empty if there is none.
        values: include paths, symbols, libraries and flags.
        before: command before a build, empty without one.
        after: command after a build, empty without one.
    """

    name: str
    linker_script: str
    board: str
    values: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True)
class CubeText:
    """The contents of an IDE project.

    Attributes:
        sources: files outside the project's folder, relative to that folder.
    """

    configurations: tuple[Configuration, ...]
    sources: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Names of files, folders, symbols and libraries."""
        return tuple(dict.fromkeys((*self.sources, *(value for each in self.configurations for value in each.values))))


def read_cube_project(path: Path) -> CubeText:
    """Read a .cproject, and the .project beside it.

    Raises:
        N6Error: N6-ADOPT-002 for a file that is not XML; N6-FILE-002; N6-FILE-003.
    """
    root = parse_xml(read_at_most(path, MAX_BYTES), path)
    beside = path.with_name(".project")
    linked = parse_xml(read_at_most(beside, MAX_BYTES), beside) if is_file(beside) else None
    return CubeText(configurations_in(root), sources_in(linked) if linked is not None else ())


def parse_xml(data: bytes, path: Path) -> ET.Element:
    """Parse XML without a document type, which could name entities.

    Raises:
        N6Error: N6-ADOPT-002 for a document type, or for text that is not XML.
    """
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise N6Error("N6-ADOPT-002", "has a document type (DOCTYPE); files of STM32CubeIDE have none", where=str(path))
    try:
        return ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError) as error:
        raise N6Error("N6-ADOPT-002", f"is not XML: {error}", where=str(path)) from error


def configurations_in(root: ET.Element) -> tuple[Configuration, ...]:
    """Return the configurations that build a program."""
    found = []
    for each in root.iter("configuration"):
        name = each.get("name")
        if not name or each.find(".//toolChain") is None:
            continue
        options = [(option.get("superClass", ""), option) for option in each.iter("option")]
        script = _first(options, _SCRIPT)
        values = [
            value.get("value", "")
            for kind, option in options
            if kind.endswith(_LISTS)
            for value in option.iter("listOptionValue")
        ]
        found.append(
            Configuration(
                name=name,
                linker_script=_plain(script),
                board=_first(options, _BOARD),
                values=tuple(dict.fromkeys(_plain(value) for value in values if value)),
                before=each.get("prebuildStep", ""),
                after=each.get("postbuildStep", ""),
            )
        )
    return tuple(found)


def _first(options: list[tuple[str, ET.Element]], kind: str) -> str:
    return next((value for each, option in options if each.endswith(kind) and (value := option.get("value", ""))), "")


def _plain(text: str) -> str:
    """Return a path without the IDE's variables for the project's folder."""
    return _PROJECT_FILE.sub("", _WORKSPACE.sub(r"\1", text)).strip('"')


def sources_in(root: ET.Element) -> tuple[str, ...]:
    """Return the files outside the folder that a .project names, relative to it."""
    found = []
    for link in root.iter("link"):
        place = link.findtext("locationURI") or link.findtext("location") or ""
        if parents := _PARENT.match(place):
            found.append("../" * int(parents[1]) + place[parents.end() :])
    return tuple(dict.fromkeys(found))

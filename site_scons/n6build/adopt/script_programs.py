"""Programs in Makefiles and CMakeLists.txt: their variables, sources and rules.

Makefiles as text: variables, included files and programs of rules. n6build runs no part of a
makefile.

CMake scripts as text: commands with their arguments. n6build runs no part of a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.build_scripts import expand, is_open, scripts_in
from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import files_in, is_file, read_at_most

MAX_BYTES = 4 << 20
_MOST_INCLUDED = 32
_ASSIGNMENT = re.compile(
    r"\s{0,40}(?:(?:export|override|private)\s{1,9})*([\w.-]{1,200})\s{0,40}(\+|\?|:{1,3}|!)?=(.*)", re.S
)
_INCLUDE = re.compile(r"[-s]?include\s(.*)", re.S)
_RULE = re.compile(r"([^\t#=:][^#=:]{0,2000}):(?![=:])(.*)", re.S)
_DEFINE = re.compile(r"\s{0,9}define\s{1,9}")
_ENDEF = re.compile(r"\s{0,9}endef\b")


@dataclass(frozen=True)
class MakeText:
    """The contents of a makefile and of the files that it includes.

    Attributes:
        variables: values by name. All branches of conditions count: a later one comes after an earlier
            one.
        programs: ELF files that rules make, as the makefile spells them.
        flags: all text that may contain flags.
    """

    variables: dict[str, str]
    programs: tuple[str, ...]
    flags: str

    def value(self, text: str) -> str:
        """Return a text with its variables replaced."""
        return expand(text, self.variables)

    @property
    def linker_scripts(self) -> tuple[str, ...]:
        """Scripts that flags name, with variables left as in the makefile."""
        return tuple(dict.fromkeys(scripts_in(self.flags)))

    @property
    def words(self) -> tuple[str, ...]:
        """All words of the variables, replaced; names of files are among them."""
        found = dict.fromkeys(word for text in self.variables.values() for word in self.value(text).split())
        return tuple(word for word in found if not is_open(word))


def read_makefile(path: Path) -> MakeText:
    """Read a makefile with the files that it includes by name.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003.
    """
    variables: dict[str, str] = {}
    programs: dict[str, None] = {}
    flags: list[str] = []
    waiting, seen = [path], {path}
    while waiting:
        text = read_at_most(waiting.pop(0), MAX_BYTES).decode("utf-8", "replace")
        parsed = parse_makefile(text, variables)
        programs.update(dict.fromkeys(parsed.programs))
        flags.append(parsed.flags)
        for name in parsed.names_included:
            for word in expand(name, variables).split():
                other = path.parent / word
                if not is_open(word) and other not in seen and len(seen) < _MOST_INCLUDED and is_file(other):
                    seen.add(other)
                    waiting.append(other)
    return MakeText(variables, tuple(programs), "\n".join(flags))


@dataclass(frozen=True)
class Parsed:
    """The contents of one file. names_included: names as in the file."""

    programs: tuple[str, ...]
    names_included: tuple[str, ...]
    flags: str


def parse_makefile(text: str, variables: dict[str, str]) -> Parsed:
    """Read the text of one makefile into `variables`."""
    programs: dict[str, None] = {}
    included, flags = [], []
    in_define = False
    for line in logical_lines(text):
        if in_define or _DEFINE.match(line):
            in_define = not _ENDEF.match(line)
            continue
        flags.append(line)
        if line.startswith("\t"):
            continue
        if assignment := _ASSIGNMENT.fullmatch(line):
            _assign(variables, assignment)
        elif include := _INCLUDE.fullmatch(line.strip()):
            included.append(include[1])
        elif rule := _RULE.match(line):
            names = (word for word in rule[1].split() if word.endswith(".elf") and "%" not in word)
            programs.update(dict.fromkeys(names))
    return Parsed(tuple(programs), tuple(included), "\n".join(flags))


def _assign(variables: dict[str, str], found: re.Match[str]) -> None:
    name, how, value = found[1], found[2] or "", found[3].strip()
    before = variables.get(name)
    if how == "?" and before is not None:
        return
    if how == "+" and before:
        # A variable that names itself, as in CFLAGS := $(CFLAGS) -g, is replaced by its former value.
        value = f"{before} {value}"
    variables[name] = value.replace(f"$({name})", before or "").replace(f"${{{name}}}", before or "")


def logical_lines(text: str) -> list[str]:
    """Return the lines as make sees them.

    Lines that end in a backslash are joined, and comments are removed.
    """
    lines, open_line = [], ""
    for raw in text.splitlines():
        line = open_line + raw
        if line.endswith("\\"):
            open_line = line[:-1] + " "
            continue
        open_line = ""
        lines.append(line if line.startswith("\t") else _without_comment(line))
    if open_line:
        lines.append(_without_comment(open_line))
    return [line for line in lines if line.strip()]


def _without_comment(line: str) -> str:
    at = line.find("#")
    while at > 0 and line[at - 1] == "\\":
        at = line.find("#", at + 1)
    return line if at < 0 else line[:at]


_PRESETS = ("CMakePresets.json", "CMakeUserPresets.json")
_COMMAND = re.compile(r"[ \t]*([A-Za-z_]\w{0,99})[ \t]*\(")
# A bracket argument or comment: [[...]], [==[...]==].
_BRACKET = re.compile(r"\[(=*)\[")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|#[^\n]*|([()])|((?:[^\s()#"\\]|\\.)+)|\s+|(.)', re.DOTALL)
_NO_PROGRAMS = frozenset({"IMPORTED", "ALIAS"})


@dataclass(frozen=True)
class Command:
    """A command of a script.

    Attributes:
        name: name in lower case.
        line: line of its name, from 1.
        end: last line of the command.
    """

    name: str
    arguments: tuple[str, ...]
    line: int
    end: int


@dataclass(frozen=True)
class CMakeText:
    """The contents of a CMakeLists.txt, of its included files and its toolchain file.

    The toolchain file is that of its presets.

    Attributes:
        commands: commands of all these files.
        own: commands of the CMakeLists.txt itself.
        variables: values by name; CMAKE_CURRENT_SOURCE_DIR and its like are the folder of the script.
    """

    commands: tuple[Command, ...]
    own: tuple[Command, ...]
    variables: dict[str, str]

    def value(self, text: str) -> str:
        """Return a text with its variables replaced."""
        return expand(text, self.variables)

    @property
    def programs(self) -> tuple[str, ...]:
        """Targets of add_executable in the file itself, as it spells them."""
        made = (each for each in self.own if each.name == "add_executable" and each.arguments)
        return tuple(dict.fromkeys(each.arguments[0] for each in made if not _NO_PROGRAMS & {*each.arguments}))

    @property
    def linker_scripts(self) -> tuple[str, ...]:
        """Scripts that flags name, with variables replaced."""
        flags = (self.value(" ".join(each.arguments)) for each in self.commands)
        return tuple(dict.fromkeys(name for text in flags for name in scripts_in(text)))

    @property
    def words(self) -> tuple[str, ...]:
        """All arguments, replaced; names of files are among them."""
        found = dict.fromkeys(
            word for each in self.commands for text in each.arguments for word in self.value(text).split(";")
        )
        return tuple(word for word in found if word and not is_open(word))


def read_cmake(path: Path) -> CMakeText:
    """Read a CMakeLists.txt.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003.
    """
    here = str(path.parent)
    places = ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR")
    variables = dict.fromkeys(places, here)
    own = parse_cmake(read_at_most(path, MAX_BYTES).decode("utf-8", "replace"))
    commands, seen = list(own), {path}
    waiting = [*_included(own), *_toolchains(path.parent)]
    _set_variables(own, variables)
    while waiting and len(seen) < _MOST_INCLUDED:
        other = path.parent / expand(waiting.pop(0), variables)
        if other in seen or is_open(str(other)) or not is_file(other):
            continue
        seen.add(other)
        found = parse_cmake(read_at_most(other, MAX_BYTES).decode("utf-8", "replace"))
        _set_variables(found, variables)
        commands += found
        waiting += _included(found)
    return CMakeText(tuple(commands), own, variables)


def _included(commands: tuple[Command, ...]) -> list[str]:
    return [each.arguments[0] for each in commands if each.name == "include" and each.arguments]


def _toolchains(folder: Path) -> Iterator[str]:
    """Yield the toolchain files that presets name, and those of STM32CubeMX.

    STM32CubeMX writes its files to known folders.
    """
    for name in _PRESETS:
        if is_file(folder / name):
            try:
                presets = parse_json(read_at_most(folder / name, MAX_BYTES))
                named = [each.get("toolchainFile") for each in presets["configurePresets"]]  # type: ignore[index]
                yield from (text.replace("${sourceDir}", str(folder)) for text in named if isinstance(text, str))
            except WRONG_FIELDS:
                continue
    for place in (folder, folder / "cmake", folder.parent, folder.parent / "cmake"):
        yield from map(str, files_in(place, "*gcc*.cmake"))


def _set_variables(commands: tuple[Command, ...], variables: dict[str, str]) -> None:
    for each in commands:
        if each.name == "set" and len(each.arguments) > 1:
            name, *values = each.arguments
            value = ";".join(_without_cache(values))
            before = variables.get(name, "")
            # set(FLAGS "${FLAGS} -g") adds to the former value.
            variables[name] = value.replace(f"${{{name}}}", before)
        elif each.name == "project" and each.arguments:
            variables["PROJECT_NAME"] = each.arguments[0]


def _without_cache(values: list[str]) -> list[str]:
    for mark in ("CACHE", "PARENT_SCOPE"):
        if mark in values:
            values = values[: values.index(mark)]
    return values


def parse_cmake(text: str) -> tuple[Command, ...]:
    """Return the commands of a script; skip all other text."""
    commands = []
    at = 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _end_of_comment(text, at)
        elif found := _COMMAND.match(text, at):
            arguments, end = _arguments(text, found.end())
            lines = (text.count("\n", 0, found.start(1)) + 1, text.count("\n", 0, end) + 1)
            commands.append(Command(found[1].lower(), arguments, *lines))
            at = end
        else:
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline + 1
    return tuple(commands)


def _end_of_comment(text: str, at: int) -> int:
    if bracket := _BRACKET.match(text, at + 1):
        return _end_of_bracket(text, bracket)
    newline = text.find("\n", at)
    return len(text) if newline < 0 else newline + 1


def _end_of_bracket(text: str, opened: re.Match[str]) -> int:
    close = f"]{opened[1]}]"
    end = text.find(close, opened.end())
    return len(text) if end < 0 else end + len(close)


def _arguments(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the arguments behind a parenthesis, and the place behind the closing one."""
    found: list[str] = []
    depth = 1
    while at < len(text):
        if text[at] == "[" and (bracket := _BRACKET.match(text, at)):
            end = _end_of_bracket(text, bracket)
            found.append(text[bracket.end() : max(bracket.end(), end - len(bracket[1]) - 2)])
            at = end
            continue
        if text[at] == "#":
            at = _end_of_comment(text, at)
            continue
        token = _TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        quoted, parenthesis, plain, other = token.groups()
        if parenthesis:
            depth += 1 if parenthesis == "(" else -1
            if not depth:
                break
        elif quoted is not None:
            found.append(quoted.replace('\\"', '"'))
        elif plain or other:
            found.append(plain or other)
    return tuple(found), at

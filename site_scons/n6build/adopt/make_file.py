"""Makefiles as text: variables, included files and programs of rules.

n6build runs no part of a makefile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.linker_script import scripts_in
from n6build.adopt.variables import expand, is_open
from n6build.base.files import is_file, read_at_most

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

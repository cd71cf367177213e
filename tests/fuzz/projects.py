"""Fuzz targets for files of host projects, and for texts of their options."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from adopt.trees import CMAKE, CPROJECT, DOT_PROJECT, MAKEFILE
from n6build.adopt.cube_ide import configurations_in, parse_xml, sources_in
from n6build.adopt.programs import find_programs
from n6build.adopt.script_programs import read_cmake, read_makefile
from n6build.adopt.write import with_block, with_step
from n6build.base.foreign_flags import hint_from
from n6build.base.walk import walk
from n6build.compile.application.h7_project import replace_block, replace_defines, replace_section
from n6build.describe.choices import Choices
from n6build.describe.hardware.boards import load_board
from n6build.describe.option import Setting
from n6build.describe.until import parse_until
from n6build.place.reloc.slots import slots_at
from n6build.tell.editor_files import EntryList, merged

from fuzz.target import Parse, Target

BOARD = load_board("nucleo-n657")
_ENTRIES = [EntryList("tasks", "label", [{"label": "ours", "args": ["a"]}])]
_SOURCE = b"""/* @GENERATED CODE START */
int old;
/* @GENERATED CODE STOP */
#define NN_WIDTH (224) /* of the input */
__attribute__((section(".nn_buffer_AXISRAM3"))) char buffer[4];
"""


def _source(data: bytes, folder: Path) -> None:
    replace_block(data, "int new;\n", "app.c")
    replace_defines(data, {"NN_WIDTH": "96"}, "app.c")
    replace_section(data, "nn_buffer", "AXISRAM4", "app.c")


def _until(data: bytes, folder: Path) -> None:
    parse_until(Setting(data.decode("utf-8", "replace"), "command line", "until"))


def _count(data: bytes, folder: Path) -> None:
    runs = next(each for each in dataclasses.fields(Choices) if each.name == "runs").metadata
    (option,) = runs.values()
    option.parse(Setting(data.decode("utf-8", "replace"), "command line", "runs"), folder)


def _script(name: str) -> Parse:
    """Return a target's parse function for a project with one script of this name."""

    def parse(data: bytes, folder: Path) -> None:
        (folder / name).write_bytes(data)
        found, _ = find_programs(walk(folder))
        for program in found:
            program.names(folder / "network.c")
        if name == "Makefile":
            assert "" not in read_makefile(folder / name).words
        elif name == "CMakeLists.txt":
            assert "" not in read_cmake(folder / name).words
        with_block(data.decode("utf-8", "replace"), ["N6_LINKED := 0"])
        (folder / name).unlink()

    return parse


def _settings(data: bytes, folder: Path) -> None:
    configurations_in(parse_xml(data, folder / ".cproject"))
    sources_in(parse_xml(data, folder / ".project"))
    with_step(data.decode("utf-8", "replace"), "n6build build")


PROJECTS = (
    Target(
        "Makefile of a project",
        lambda: [MAKEFILE.encode()],
        _script("Makefile"),
        (b"$(", b"+=", b"include ", b"define ", b"\\\n", b"-T"),
    ),
    Target(
        "CMakeLists.txt of a project",
        lambda: [CMAKE.encode()],
        _script("CMakeLists.txt"),
        (b"${", b"[[", b"]]", b"#[", b"include(", b"add_executable("),
    ),
    Target(
        "platformio.ini of a project",
        lambda: [b"[env:n6]\nboard = nucleo_n657x0_q\nboard_build.ldscript = app.ld\n"],
        _script("platformio.ini"),
    ),
    Target("SConstruct of a project", lambda: [b'env.Program("a.elf", LINKFLAGS=["-Tb.ld"])\n'], _script("SConstruct")),
    Target(
        "settings of STM32CubeIDE",
        lambda: [CPROJECT.encode(), DOT_PROJECT.encode()],
        _settings,
        (b"<configuration ", b"postbuildStep=", b"PARENT-", b"<!DOCTYPE"),
    ),
    Target(
        "text of a compiler",
        lambda: [b"a.c:1:1: error: unknown type name 'float_t'\n"],
        lambda data, _: hint_from(data.decode("utf-8", "replace")),
    ),
    Target(
        "VS Code's files",
        lambda: [b'{"version": "2.0.0", "tasks": [{"label": "mine", "x": {"a": [1.5, null]}}]}'],
        lambda data, _: merged(data, "tasks.json", "2.0.0", _ENTRIES),
    ),
    Target("generated block", lambda: [_SOURCE], _source),
    Target("runs=", lambda: [b"100"], _count),
    Target("until=", lambda: [b"symbol:main", b"address:0x34000400", b"instructions:2_000_000_000"], _until),
    Target(
        "addresses=",
        lambda: [b"0x71000000,0x71800000"],
        lambda data, _: slots_at(BOARD, data.decode("utf-8", "replace"), split=True),
    ),
)

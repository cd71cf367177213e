"""Programs of a project, from the scripts that build them.

n6build reads Makefiles, CMake, STM32CubeIDE, PlatformIO and SCons.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.build_scripts import Kind, scripts_in
from n6build.adopt.cube_ide import read_cube_project
from n6build.adopt.script_programs import CMakeText, read_cmake, read_makefile
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most
from n6build.base.walk import Tree
from n6build.place.image.memory_regions import read_memory_regions

_MAKEFILES = ("GNUmakefile", "Makefile", "makefile")
_MAX_BYTES = 4 << 20
_MOST_SCRIPTS = 200
# Scripts in ST's CMSIS, HAL and component folders build no program of the project.
_NOT_OF_THE_PROJECT = re.compile(r"(?:^|/)(?:Drivers/CMSIS|Drivers/STM32N6xx_HAL_Driver|Drivers/BSP/Components)(?:/|$)")
_ELF_IN_TEXT = re.compile(r"""["']([^"'\s]{1,200}\.elf)["']""")
_FSBL = re.compile(r"fsbl", re.IGNORECASE)


@dataclass(frozen=True)
class Program:
    """A program that a script of the project builds.

    Attributes:
        kind: kind of build system.
        script: file that is read, and to which the lines are added.
        name: name of the program in the script: a file, or the target of CMake.
        others: further programs of the script.
        file: file of the program as far as the script names it, from the folder of the script.
        linker_script: script that the build script names; None if it names none that exists.
        starts_at: address of the program in the linker script; None if that cannot be read.
        words: files, folders and flags that the script names, with its variables replaced.
        flags: all text of the script that may contain flags.
        board: board in the script, empty if it names none.
        after: command after a build, of STM32CubeIDE.
    """

    kind: Kind
    script: Path
    name: str
    others: tuple[str, ...]
    file: str
    linker_script: Path | None
    starts_at: int | None
    words: tuple[str, ...]
    flags: str
    board: str = ""
    after: str = ""

    @property
    def folder(self) -> Path:
        """Return the folder of the script, from which its relative names start."""
        return self.script.parent

    @property
    def is_fsbl(self) -> bool:
        """Return whether the boot ROM starts the program.

        The names of the linker script, the folder and the program decide.
        """
        named = (self.linker_script.name if self.linker_script else "", self.folder.name, self.name)
        return any(_FSBL.search(each) for each in named)

    def names(self, path: Path) -> bool:
        """Return whether the script names a file."""
        return any(word.endswith(path.name) and _same(self.folder / word, path) for word in self.words)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve()
    except (OSError, RuntimeError, ValueError):
        return False


def find_programs(tree: Tree) -> tuple[tuple[Program, ...], tuple[str, ...]]:
    """Read the scripts of a project.

    Returns:
        The programs, nearest to the root first, and a sentence for each script that could not be read.
    """
    found: list[Program] = []
    problems: list[str] = []
    scripts = [path for path in tree.named(*_READERS) if not _NOT_OF_THE_PROJECT.search(_below(path, tree.root))]
    for path in scripts[:_MOST_SCRIPTS]:
        try:
            found += _READERS[path.name](path)
        except N6Error as error:
            problems.append(f"{_below(path, tree.root)} {error.what}")
    if len(scripts) > _MOST_SCRIPTS:
        problems.append(f"{len(scripts) - _MOST_SCRIPTS} build scripts were not read")
    return tuple(found), tuple(problems)


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _make(path: Path) -> Iterator[Program]:
    text = read_makefile(path)
    if not text.programs:
        return
    scripts = [text.value(name) for name in text.linker_scripts]
    file, flags = text.value(text.programs[0]), text.value(text.flags[:_MAX_BYTES])
    yield _program("make", path, text.programs, file, scripts, text.words, flags)


def _program(
    kind: Kind,
    path: Path,
    names: Sequence[str],
    file: str,
    linker_scripts: Iterable[str],
    words: tuple[str, ...],
    flags: str,
    board: str = "",
    after: str = "",
) -> Program:
    """Return the first program of a script, with its first existing linker script.

    Args:
        kind: as in `Program`.
        path: the script.
        names: programs of the script, one at least.
        file: as in `Program`.
        linker_scripts: names in the script, of which the first existing one counts.
        words: as in `Program`.
        flags: as in `Program`.
        board: as in `Program`.
        after: as in `Program`.
    """
    script = _existing(path.parent, linker_scripts)
    name, *others = names
    return Program(kind, path, name, tuple(others), file, script, _start(script), words, flags, board, after)


def _cmake(path: Path) -> Iterator[Program]:
    text = read_cmake(path)
    if not text.programs or not _is_for_arm(text):
        return
    # CMake's own suffix for this kind of system is .elf, and STM32CubeMX sets it as well.
    target = text.value(text.programs[0])
    file, flags = target if target.endswith(".elf") else f"{target}.elf", "\n".join(text.words)
    yield _program("cmake", path, text.programs, file, text.linker_scripts, text.words, flags)


def _is_for_arm(text: CMakeText) -> bool:
    """Return whether a program is for this chip, and not a test for the host computer."""
    return any("cortex-m55" in word or "arm-none-eabi" in word or "STM32N6" in word.upper() for word in text.words)


def _cube_ide(path: Path) -> Iterator[Program]:
    text = read_cube_project(path)
    if not text.configurations:
        return
    first = text.configurations[0]
    # A relative name starts in the folder of the configuration, which is not there before the first build.
    scripts = [each.linker_script for each in text.configurations]
    scripts += [name.removeprefix("../") for name in scripts]
    # Include paths start in the folder of the configuration.
    words = (*(word.removeprefix("../") for word in text.words), *text.sources)
    file, flags = f"{first.name}/${{BuildArtifactFileName}}", "\n".join(text.words)
    after = next((each.after for each in text.configurations if each.after), "")
    yield _program("cubeide", path, ["${BuildArtifactFileName}"], file, scripts, words, flags, first.board, after)


def read_platformio(path: Path) -> Iterator[Program]:
    """Read the environments of a platformio.ini.

    Raises:
        N6Error: N6-ADOPT-003 if the file cannot be parsed; N6-FILE-002; N6-FILE-003.
    """
    text = read_at_most(path, _MAX_BYTES).decode("utf-8", "replace")
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise N6Error("N6-ADOPT-003", f"cannot be read: {str(error).splitlines()[0]}", where=str(path)) from error
    for section in parser.sections():
        if not section.startswith("env:"):
            continue
        values = dict(parser[section])
        name, words = section.removeprefix("env:"), tuple(" ".join(values.values()).split())
        scripts, file = [values.get("board_build.ldscript", "")], f".pio/build/{name}/firmware.elf"
        flags, board = values.get("build_flags", ""), values.get("board", "")
        yield _program("platformio", path, [name], file, scripts, words, flags, board)


def _scons(path: Path) -> Iterator[Program]:
    text = read_at_most(path, _MAX_BYTES).decode("utf-8", "replace")
    programs = tuple(dict.fromkeys(_ELF_IN_TEXT.findall(text)))
    if not programs:
        return
    words = tuple(re.findall(r"""["']([^"'\n]{1,400})["']""", text))
    yield _program("scons", path, programs, programs[0], scripts_in(text), words, text)


_READERS = {
    **dict.fromkeys(_MAKEFILES, _make),
    "CMakeLists.txt": _cmake,
    ".cproject": _cube_ide,
    "platformio.ini": read_platformio,
    "SConstruct": _scons,
}


def _existing(folder: Path, names: Iterable[str]) -> Path | None:
    return next((folder / name for name in names if name and "$" not in name and is_file(folder / name)), None)


def _start(script: Path | None) -> int | None:
    """Return the start of the region that begins with the chip's vector table.

    This is the lowest address that code is linked to.
    """
    if script is None:
        return None
    try:
        regions = read_memory_regions(script, script.name)
    except N6Error:
        return None
    named = [each for each in regions if each.name.upper() in ("ROM", "FLASH", "ROM_D", "AXISRAM2_S")] or list(regions)
    return named[0].address if named else None

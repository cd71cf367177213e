"""Steps that compile C files to objects and link them to an ELF file.

Each command is an argument list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.paths import project_path
from n6build.compile.toolchain import LINK_FLAGS, Toolchain
from n6build.engine.command import SPECS
from n6build.engine.step import Step

# With these flags GCC writes machine-specific text into the object: its options with local folders, or paths of counters.
_OF_THIS_MACHINE = ("-flto", "--coverage", "-coverage", "-fprofile-")


@dataclass(frozen=True)
class Compilation:
    """Settings for the compilation of C files.

    Attributes:
        toolchain: Compiler and its flags.
        folders: Folders searched for headers, in this order.
        defines: Macros, as NAME or NAME=value.
        flags: Further flags of the compiler.
        after: Generated headers that must exist first.
        named_by_macros: Headers that `#include NAME` refers to. The scanner cannot find them by reading.
        foreign_folders: Folders of third-party headers, searched last; their warnings are off.
    """

    toolchain: Toolchain
    folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    named_by_macros: tuple[str, ...] = ()
    foreign_folders: tuple[str, ...] = ()

    def looking_in(self, *folders: str | Path) -> Compilation:
        """Return a copy with further folders for headers, searched after the present ones."""
        return replace(self, folders=(*self.folders, *map(project_path, folders)))

    def looking_in_foreign(self, *folders: str | Path) -> Compilation:
        """Return a copy with further folders for third-party headers."""
        return replace(self, foreign_folders=(*self.foreign_folders, *map(project_path, folders)))

    def defining(self, *defines: str) -> Compilation:
        """Return a copy with further macros, as NAME or NAME=value."""
        return replace(self, defines=(*self.defines, *defines))

    def with_flags(self, *flags: str) -> Compilation:
        """Return a copy with further compiler flags."""
        return replace(self, flags=(*self.flags, *flags))

    def including(self, *headers: str | Path) -> Compilation:
        """Return a copy with headers that are included through macros."""
        return replace(self, named_by_macros=(*self.named_by_macros, *map(project_path, headers)))

    def behind(self, files: Sequence[str]) -> Compilation:
        """Return a copy with further files that must exist first."""
        return replace(self, after=(*self.after, *files))


def compile_step(output: str, source: str | Path, how: Compilation) -> Step:
    """Return the step that compiles one source.

    Args:
        output: Object file; the compiler writes <output>.d beside it.
        source: C or assembler file.
        how: Settings of the compilation.
    """
    source = project_path(source)
    depfile = f"{output}.d"
    return Step(
        verb="Compile",
        stage="compile",
        outputs=(output,),
        sources=(source, *how.named_by_macros, project_path(SPECS)),
        command=(
            how.toolchain.command,
            "-o",
            output,
            "-c",
            *how.toolchain.flags,
            *how.flags,
            *(f"-D{define}" for define in how.defines),
            *(f"-I{folder}" for folder in how.folders),
            *(part for folder in how.foreign_folders for part in ("-isystem", folder)),
            # The compiler treats foreign folders as system folders, and -MMD omits their headers.
            "-MD" if how.foreign_folders else "-MMD",
            # With -MP, a removed header does not make `make` fail.
            "-MP",
            "-MF",
            depfile,
            source,
        ),
        include_folders=(*how.folders, *how.foreign_folders),
        depfile=depfile,
        tools=(how.toolchain.tool,),
        after=tuple(dict.fromkeys(how.after)),
        shared=not any(flag.startswith(_OF_THIS_MACHINE) for flag in how.flags),
    )


def compile_steps(folder: str, sources: Sequence[str | Path], how: Compilation) -> tuple[Step, ...]:
    """Return one compile step for each source, in the order of the sources.

    Objects are in `folder` and have the names of their sources.
    """
    return tuple(compile_step(f"{folder}/{Path(source).stem}.o", source, how) for source in sources)


def link_step(
    elf: str,
    objects: Sequence[str],
    toolchain: Toolchain,
    *,
    scripts: Sequence[str],
    libraries: Sequence[str | Path] = (),
    system_libraries: Sequence[str] = (),
    flags: Sequence[str] = LINK_FLAGS,
) -> Step:
    """Return the step that links the ELF file and writes the linker's map beside it.

    Args:
        elf: ELF file.
        objects: Object files, in the order of their layout.
        toolchain: Compiler that links.
        scripts: Linker scripts.
        libraries: Files of libraries.
        system_libraries: Libraries of the toolchain, by name.
        flags: Flags of the link.
    """
    map_file = str(Path(elf).with_suffix(".map"))
    linked = (*objects, *map(project_path, libraries))
    return Step(
        verb="Link",
        stage="link",
        outputs=(elf, map_file),
        sources=(*linked, *scripts),
        command=(
            toolchain.command,
            "-o",
            elf,
            *flags,
            *(flag for script in scripts for flag in ("-T", script)),
            f"-Wl,-Map={map_file}",
            *linked,
            *(f"-l{name}" for name in system_libraries),
        ),
        tools=(toolchain.tool,),
    )

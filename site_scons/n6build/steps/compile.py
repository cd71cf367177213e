"""C -> objects -> ELF, as argument lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.paths import project_path
from n6build.compiler.toolchain import LINK_FLAGS, Toolchain
from n6build.plan.command import SPECS
from n6build.plan.step import Step

# With such flags GCC writes its options, among them the folders of this machine, or paths of counters into the object.
_OF_THIS_MACHINE = ("-flto", "--coverage", "-coverage", "-fprofile-")


@dataclass(frozen=True)
class Compilation:
    """How C files are compiled. folders: searched for headers, in this order. foreign_folders: searched behind those, for headers
    of others, whose warnings are not ours. defines: NAME or NAME=value. after: generated
    headers, which have to exist first. named_by_macros: headers that `#include NAME` refers to, which cannot be found by
    reading."""

    toolchain: Toolchain
    folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    named_by_macros: tuple[str, ...] = ()
    foreign_folders: tuple[str, ...] = ()

    def looking_in(self, *folders: str | Path) -> Compilation:
        """With further folders for headers, searched last."""
        return replace(self, folders=(*self.folders, *map(project_path, folders)))

    def looking_in_foreign(self, *folders: str | Path) -> Compilation:
        """With further folders for headers of others."""
        return replace(self, foreign_folders=(*self.foreign_folders, *map(project_path, folders)))

    def defining(self, *defines: str) -> Compilation:
        """With further macros, NAME or NAME=value."""
        return replace(self, defines=(*self.defines, *defines))

    def with_flags(self, *flags: str) -> Compilation:
        """With further flags of the compiler."""
        return replace(self, flags=(*self.flags, *flags))

    def including(self, *headers: str | Path) -> Compilation:
        """With headers that are included by macros which expand to their names."""
        return replace(self, named_by_macros=(*self.named_by_macros, *map(project_path, headers)))

    def behind(self, files: Sequence[str]) -> Compilation:
        """With further files that have to exist first."""
        return replace(self, after=(*self.after, *files))


def compile_step(output: str, source: str | Path, how: Compilation) -> Step:
    """output: the object file, next to which the compiler writes <output>.d."""
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
            # Of headers in foreign folders, which the compiler takes for the system's, the other option says nothing.
            "-MD" if how.foreign_folders else "-MMD",
            # A header that was removed is no error of make.
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
    """One object for each source, named after it, in `folder`, in the order of the sources."""
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
    """Makes the ELF file and, next to it, the linker's map. objects: in the order in which they are laid out.
    system_libraries: of the toolchain, by name."""
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

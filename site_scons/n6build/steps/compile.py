"""C -> objects -> ELF, as argument lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.paths import project_path
from n6build.compiler.toolchain import LINK_FLAGS, Toolchain
from n6build.plan.step import Step


@dataclass(frozen=True)
class Compilation:
    """How C files are compiled. folders: where headers are looked for, in this order. defines: NAME or NAME=value. after: headers
    that are generated, which have to be there before. named_by_macros: headers that `#include NAME` stands for, which nobody
    finds by reading."""

    toolchain: Toolchain
    folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    named_by_macros: tuple[str, ...] = ()

    def looking_in(self, *folders: str | Path) -> Compilation:
        return replace(self, folders=(*self.folders, *map(project_path, folders)))

    def defining(self, *defines: str) -> Compilation:
        return replace(self, defines=(*self.defines, *defines))

    def with_flags(self, *flags: str) -> Compilation:
        return replace(self, flags=(*self.flags, *flags))

    def including(self, *headers: str | Path) -> Compilation:
        """By macros that become their names."""
        return replace(self, named_by_macros=(*self.named_by_macros, *map(project_path, headers)))

    def behind(self, files: Sequence[str]) -> Compilation:
        return replace(self, after=(*self.after, *files))


def compile_step(output: str, source: str | Path, how: Compilation) -> Step:
    source = project_path(source)
    depfile = f"{output}.d"
    return Step(
        verb="Compile",
        stage="compile",
        outputs=(output,),
        sources=(source, *how.named_by_macros),
        command=(
            how.toolchain.command,
            "-o",
            output,
            "-c",
            *how.toolchain.flags,
            *how.flags,
            *(f"-D{define}" for define in how.defines),
            *(f"-I{folder}" for folder in how.folders),
            "-MMD",
            "-MF",
            depfile,
            source,
        ),
        include_folders=how.folders,
        depfile=depfile,
        tools=(how.toolchain.tool,),
        after=tuple(dict.fromkeys(how.after)),
    )


def compile_steps(folder: str, sources: Sequence[str | Path], how: Compilation) -> tuple[Step, ...]:
    """Objects of the sources' names in one folder, in their order."""
    return tuple(compile_step(f"{folder}/{Path(source).stem}.o", source, how) for source in sources)


def link_step(
    elf: str,
    objects: Sequence[str],
    toolchain: Toolchain,
    *,
    scripts: Sequence[str],
    libraries: Sequence[str | Path] = (),
    flags: Sequence[str] = LINK_FLAGS,
) -> Step:
    """Makes the ELF file and, beside it, the linker's map. Objects in the order in which they are laid out."""
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
        ),
        tools=(toolchain.tool,),
    )

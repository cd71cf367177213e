"""The files of ST's runtime in ST Edge AI Core, an X-CUBE-AI pack or a project.

Names and contents identify the files, so that any layout of folders will do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import content_fault, is_file, is_folder, read_part
from n6build.base.size_text import counted
from n6build.base.walk import Tree, nearest, walk
from n6build.compile.ll_aton import Version, read_ll_aton_version, release_name, version_text

# ST installs the runtime here. The rest of the installation, such as examples, has thousands of files and further copies.
_INSTALLED = Path("Middlewares/ST/AI")
_RUNTIME = "ll_aton_runtime.c"
_VERSION = "ll_aton_version.h"
_REGISTERS = "ATON.h"
_HAL = "stm32n6xx_hal.h"
# This is one level more than from Application/<board>/STM32CubeIDE/Debug to the root of a project.
_LEVELS_UP = 6
_CACHES = ("mcu_cache.c", "npu_cache.c")
# Every release has this header of the library.
_LIBRARY_HEADER = "ai_platform.h"
# The release is in the name, as in NetworkRuntime1010_CM55_GCC.a; the names of some releases begin with lib.
_LIBRARY = re.compile(r"(?:lib)?NetworkRuntime(\d{1,6})_CM55_GCC(_PIC)?\.a", re.ASCII)
_OTHER_LIBRARY = re.compile(r"(?:lib)?NetworkRuntime\d{1,6}_(\w{1,20}?)(?:_PIC)?\.a", re.ASCII)
_ARCHIVE_MARK = b"!<arch>\n"
# A checkout without symbolic links writes a link as a short text file.
_LONGEST_LINK = 200
WHERE_TO_LOOK = (
    "set core=FOLDER, or STEDGEAI_CORE_DIR, to ST Edge AI Core, an X-CUBE-AI pack or a project with ST's runtime; "
    "core=auto uses the project of your working directory"
)


@dataclass(frozen=True)
class RuntimeFiles:
    """The files of ST's runtime on the disk.

    Attributes:
        version: Its four numbers.
        ll_aton: Folder of `ll_aton_runtime.c`.
        registers: Folder of the device's `ATON.h`; in old layouts the same as `ll_aton`.
        mcu_cache: Driver of the CPU's cache, None if there is none.
        npu_cache: Driver of the NPU's cache, which STM32CubeMX puts beside network.c from Core
            4.0.1 on; None if there is none, and n6build's own driver is used.
        headers: Folder of the library's headers, None if there is none.
        library: Library for the Cortex-M55, None if there is none.
        pic_library: Position-independent library for the Cortex-M55, None if there is none.
        other_cores: Names of libraries for other cores or compilers, such as CM7_GCC.
        problems: Reasons why files with the right name were rejected, such as pointers of Git LFS.
    """

    version: Version
    ll_aton: Path
    registers: Path | None
    mcu_cache: Path | None
    npu_cache: Path | None
    headers: Path | None
    library: Path | None
    pic_library: Path | None
    other_cores: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def find_runtime(root: Path) -> RuntimeFiles:
    """Find ST's runtime below a folder.

    Args:
        root: Root of ST Edge AI Core, of an X-CUBE-AI pack, or of a project.

    Raises:
        N6Error: N6-LLATON-002 if there is none; N6-LLATON-006 if there are two releases;
            N6-LLATON-001 if its version cannot be read; N6-FILE-007 for a folder with too many
            files.
    """
    if not is_folder(root):
        raise N6Error("N6-LLATON-002", "is not a folder", where=str(root), hint=WHERE_TO_LOOK)
    installed = root / _INSTALLED
    if any(is_file(installed / folder / _RUNTIME) for folder in ("Npu/ll_aton", "Npu")):
        found = runtime_in(walk(installed))
        # A project may keep parts of the runtime elsewhere. All of ST Edge AI Core is never searched.
        if not missing_parts(found) or is_folder(root / "Utilities"):
            return found
    return runtime_in(walk(root))


def project_around(start: Path) -> Path:
    """Find the nearest folder with ST's runtime or the HAL: `start` or one above it.

    Raises:
        N6Error: N6-LLATON-002 if there is none up to the root of the repository.
    """
    tried = start
    for tried in (start, *start.parents)[:_LEVELS_UP]:
        try:
            if walk(tried).named(_RUNTIME, _HAL):
                return tried
        except N6Error:
            # The folder is too large for a project, or not readable.
            break
        if is_folder(tried / ".git") or is_file(tried / ".git"):
            break
    what = f"is not inside a project with ST's runtime or HAL; searched up to {tried}"
    raise N6Error("N6-LLATON-002", what, where=str(start), hint="name their folders with core=FOLDER and cmsis=FOLDER")


def runtime_in(tree: Tree) -> RuntimeFiles:
    """Find ST's runtime in the file list of a tree.

    Raises:
        N6Error: N6-LLATON-001, N6-LLATON-002, N6-LLATON-006.
    """
    folders = [path.parent for path in tree.named(_RUNTIME) if is_file(path.parent / _VERSION)]
    if not folders:
        raise _nothing(tree)
    versions = {folder: read_ll_aton_version(folder / _VERSION) for folder in folders}
    if len(set(versions.values())) > 1:
        places = ", ".join(
            f"{release_name(version)} in {folder.relative_to(tree.root)}" for folder, version in versions.items()
        )
        hint = f"select one: core={folders[0]}, or the folder above it that also has its library"
        raise N6Error(
            "N6-LLATON-006", f"contains several releases of ST's runtime: {places}", where=str(tree.root), hint=hint
        )
    ll_aton = folders[0]
    libraries = [path for path in tree.ending(".a") if _LIBRARY.fullmatch(path.name)]
    fit = tuple(path for path in libraries if not _fault(path))
    plain = tuple(path for path in fit if not _is_pic(path))
    return RuntimeFiles(
        version=versions[ll_aton],
        ll_aton=ll_aton,
        registers=_folder_of(tree.named(_REGISTERS), ll_aton),
        mcu_cache=nearest(tree.named(_CACHES[0]), ll_aton),
        npu_cache=nearest(tree.named(_CACHES[1]), ll_aton),
        headers=_folder_of(tree.named(_LIBRARY_HEADER), ll_aton),
        library=_newest(plain, ll_aton),
        pic_library=_newest(tuple(path for path in fit if _is_pic(path)), ll_aton),
        other_cores=tuple(sorted({core for path in tree.ending(".a") if (core := _other_core(path))})),
        problems=tuple(f"{path.relative_to(tree.root)} {fault}" for path in libraries if (fault := _fault(path))),
    )


def missing_parts(found: RuntimeFiles) -> tuple[str, ...]:
    """Return the parts of the runtime that a firmware needs and that are missing.

    Each part comes with the reason why it matters.
    """
    missing = []
    if found.registers is None:
        missing.append(f"{_REGISTERS}: the NPU's registers")
    if found.headers is None:
        missing.append(f"{_LIBRARY_HEADER} and the headers beside it, for the library of the CPU's layers")
    if found.mcu_cache is None:
        missing.append(f"{_CACHES[0]}: the driver of the CPU's cache")
    if found.library is None:
        why = "; ".join(found.problems) or (f"there are {', '.join(found.other_cores)}" if found.other_cores else "")
        missing.append(f"NetworkRuntime*_CM55_GCC.a: the layers that the CPU computes{f' ({why})' if why else ''}")
    return tuple(missing)


def _folder_of(files: tuple[Path, ...], ll_aton: Path) -> Path | None:
    file = nearest(files, ll_aton)
    return file.parent if file else None


def _is_pic(library: Path) -> bool:
    match = _LIBRARY.fullmatch(library.name)
    return match is not None and match[2] is not None


def _other_core(library: Path) -> str | None:
    if _LIBRARY.fullmatch(library.name):
        return None
    match = _OTHER_LIBRARY.fullmatch(library.name)
    return match[1] if match else None


def _newest(libraries: tuple[Path, ...], ll_aton: Path) -> Path | None:
    """Return the library nearest to the runtime, in its folder the highest number."""
    closest = nearest(libraries, ll_aton)
    if closest is None:
        return None
    return max((path for path in libraries if path.parent == closest.parent), key=_number)


def _number(library: Path) -> int:
    match = _LIBRARY.fullmatch(library.name)
    return int(match[1]) if match else 0


def _fault(library: Path) -> str:
    """Return why a file is no usable library; empty for a usable one."""
    if fault := content_fault(library):
        return fault
    return "" if read_part(library, 0, len(_ARCHIVE_MARK)) == _ARCHIVE_MARK else "is not a library"


def _nothing(tree: Tree) -> N6Error:
    what = f"has no {_RUNTIME} with {_VERSION} beside it in {counted(len(tree.folders), 'folder')}"
    links = [*tree.links, *(path for path in _texts_of_links(tree))]
    if links:
        named = ", ".join(str(path.relative_to(tree.root)) for path in links[:3])
        what += f"; n6build does not follow these links: {named}"
    return N6Error("N6-LLATON-002", what, where=str(tree.root), hint=WHERE_TO_LOOK)


def _texts_of_links(tree: Tree) -> list[Path]:
    """Return files that hold a folder's path, as Git writes links it cannot make."""
    found = []
    for folder in tree.folders[:100]:
        for name in folder.files:
            path = folder.path / name
            if "." in name or not is_file(path):
                continue
            text = read_part(path, 0, _LONGEST_LINK + 1)
            if text.startswith((b"../", b"./", b"/")) and len(text) <= _LONGEST_LINK and b"\n" not in text:
                found.append(path)
    return found


def describe(found: RuntimeFiles) -> str:
    """Return the release with its four numbers.

    An example is 'ST Edge AI Core 2.1 (ll_aton 1.1.0-31)'.
    """
    return f"{release_name(found.version)} (ll_aton {version_text(found.version)})"

"""A project of ST for pictures: the files that another network replaces in it.

Such a project has a Makefile, one network, an app_config.h, and an app_postprocess.h with the names of its decoders.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file, is_folder, read_at_most
from n6build.base.walk import Tree, nearest, walk
from n6build.compile.artifacts.network_c import read_network_c

CONFIG = "app_config.h"
# In a copy of the project, its app_config.h has this name, under which the generated one includes it.
OWN_CONFIG = "app_config_project.h"
_MAKEFILE = "Makefile"
_DECODERS = "app_postprocess.h"
_DECODER = re.compile(r"^[ \t]*#[ \t]*define[ \t]+POSTPROCESS_(\w{1,60})[ \t]+\(", re.MULTILINE)
# A getting-started application names its decoder's macros AI_OBJDETECT_ before release 2.0.
_OLD_MACROS = b"AI_OBJDETECT_"
# A path that begins with this; behind a variable it starts elsewhere.
_UP = re.compile(r"(?<![\w/)}.])(?:\.\./){1,9}")
_MOST_BYTES = 4 << 20
_MOST_BYTES_OF_NETWORK = 64 << 20
_NETWORK_MARK = b"LL_ATON_EpochBlockItems_"
_ELF = ".elf"
# No build reads these, and an edit of them makes no program anew.
_NOT_BUILT = (".md", ".hex", ".png", ".jpg", ".gif", ".pdf", ".html")


@dataclass(frozen=True)
class VisionProject:
    """The files of a project that a build with another network uses.

    Attributes:
        root: Folder with all files of the project.
        makefile: Makefile of the program, below `root`.
        network: C file of its network, below `root`.
        symbol: Name of its network, as the program calls it.
        config: Its app_config.h, below `root`.
        decoders: Post-processing that its code has, in lower case, such as od_yolo_v8_uf.
        has_old_macros: Whether macros of its decoders begin with AI_OBJDETECT_.
        files: All files that a build may read, below `root`.
    """

    root: Path
    makefile: str
    network: str
    symbol: str
    config: str
    decoders: tuple[str, ...]
    has_old_macros: bool
    files: tuple[str, ...]


def is_project(path: str) -> bool:
    """Return whether a program is a project or its Makefile, not a file for flash."""
    return bool(path) and (is_folder(Path(path)) or Path(path).name == _MAKEFILE)


def read_vision_project(given: Path, kit: str) -> VisionProject:
    """Read a project that another network is put into.

    Args:
        given: Folder of the project or of a program in it, or its Makefile.
        kit: Name of the board's kit, such as STM32N6570-DK, which selects one of several programs.

    Raises:
        N6Error: N6-APP-030 if a part is missing; N6-APP-031 for several programs or networks; N6-FILE-00x.
    """
    start = given.parent if given.name == _MAKEFILE else given
    makefile = _makefile(walk(start), given, kit)
    root = _root(makefile, start)
    tree = walk(root)
    text = read_at_most(makefile, _MOST_BYTES)
    network = _network(tree, makefile, text)
    config = _near(tree.named(CONFIG), makefile, CONFIG, root)
    decoders = _near(tree.named(_DECODERS), makefile, _DECODERS, root)
    names = _DECODER.findall(read_at_most(decoders, _MOST_BYTES).decode("utf-8", "replace"))
    files = tuple(
        sorted(
            (each.path / name).relative_to(root).as_posix()
            for each in tree.folders
            for name in each.files
            if not name.lower().endswith(_NOT_BUILT)
        )
    )
    return VisionProject(
        root,
        makefile.relative_to(root).as_posix(),
        network.relative_to(root).as_posix(),
        read_network_c(network).suffix,
        config.relative_to(root).as_posix(),
        tuple(name.lower() for name in names),
        _OLD_MACROS in read_at_most(config, _MOST_BYTES),
        files,
    )


def _makefile(tree: Tree, given: Path, kit: str) -> Path:
    """Return the only Makefile of a program for the board."""
    if given.name == _MAKEFILE:
        return given
    found = [path for path in tree.named(_MAKEFILE) if _ELF.encode() in read_at_most(path, _MOST_BYTES)]
    of_board = [path for path in found if kit.lower() in path.relative_to(tree.root).as_posix().lower()]
    candidates = of_board or found
    if not candidates:
        raise _lacks("a Makefile that links a program (.elf)", tree.root)
    if len(candidates) > 1:
        names = ", ".join(path.relative_to(tree.root).as_posix() for path in candidates)
        raise N6Error(
            "N6-APP-031",
            f"has {len(candidates)} programs: {names}",
            where=str(tree.root),
            hint=f"name one of them, such as appli={candidates[0]}",
        )
    return candidates[0]


def _root(makefile: Path, start: Path) -> Path:
    """Return the folder with all files that a Makefile names by relative paths."""
    text = read_at_most(makefile, _MOST_BYTES).decode("utf-8", "replace")
    levels = max((len(each) // len("../") for each in _UP.findall(text)), default=0)
    above = Path(os.path.normpath(makefile.parent.joinpath(*[".."] * levels)))
    return start if above.is_relative_to(start) else above


def _network(tree: Tree, makefile: Path, text: bytes) -> Path:
    """Return the only network that the Makefile compiles."""
    found = [
        path
        for path in tree.ending(".c")
        if path.name.encode() in text and _NETWORK_MARK in read_at_most(path, _MOST_BYTES_OF_NETWORK)
    ]
    networks = [path for path in found if _defines(path)]
    # A project for several boards has a network for each.
    names = sorted({path.name for path in networks})
    if not names:
        raise _lacks("a network.c that its Makefile compiles", tree.root)
    if len(names) > 1:
        what = f"has {len(names)} networks: {', '.join(names)}; n6build replaces the network of a project with one"
        hint = "build such a project by its own Makefile (n6build adopt)"
        raise N6Error("N6-APP-031", what, where=str(makefile), hint=hint)
    named = [path for path in networks if os.path.relpath(path, makefile.parent).encode() in text]
    place = nearest(tuple(named or networks), makefile)
    assert place is not None
    return place


def _defines(path: Path) -> bool:
    """Return whether a file is a network, and does not only call one."""
    try:
        read_network_c(path)
    except N6Error:
        return False
    return True


def _near(places: tuple[Path, ...], makefile: Path, name: str, root: Path) -> Path:
    place = nearest(places, makefile)
    if place is None:
        raise _lacks(name, root)
    assert is_file(place)
    return place


def _lacks(part: str, root: Path) -> N6Error:
    return N6Error(
        "N6-APP-030",
        f"is not a project of ST for pictures: it lacks {part}",
        where=str(root),
        hint="use one such as STM32N6-GettingStarted-ObjectDetection; for another program, name its ELF file in appli=",
    )

"""Reader of a third-party project on the disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.boards import BoardName, board_of
from n6build.adopt.networks import MODEL_SUFFIXES, FoundNetwork, find_networks
from n6build.adopt.programs import Program, find_programs
from n6build.base.errors import N6Error
from n6build.base.files import content_fault
from n6build.base.foreign_flags import UNKNOWN_FLAGS
from n6build.base.size_text import counted
from n6build.base.walk import Tree, nearest, walk
from n6build.compile.device_headers import headers_in, missing_header
from n6build.compile.runtime_files import RuntimeFiles, runtime_in

_NOR = range(0x7000_0000, 0x8000_0000)
_NON_SECURE = range(0x2000_0000, 0x3000_0000)
_FSBL_IMAGES = (".hex", ".bin", ".elf")


@dataclass(frozen=True)
class Application:
    """A program of the project with its board and networks.

    Attributes:
        program: the program and its script.
        board: board of the program; None if no file names one.
        networks: networks that the script compiles.
        fsbl: program or image that starts the program, if n6build's FSBL cannot.
        unknown_flags: flags of the script that only ST's own compiler knows.
    """

    program: Program
    board: BoardName | None
    networks: tuple[FoundNetwork, ...]
    fsbl: Path | None
    unknown_flags: tuple[str, ...]

    @property
    def starts_in_flash(self) -> bool:
        """Return whether the program executes in place."""
        return _is_in(_NOR, self.program.starts_at)

    @property
    def is_non_secure(self) -> bool:
        """Return whether a secure program, and not an FSBL, starts the program."""
        return _is_in(_NON_SECURE, self.program.starts_at)


@dataclass(frozen=True)
class Project:
    """The contents of a project.

    Attributes:
        root: folder of the project.
        runtime: ST's runtime, None if there is no usable one.
        runtime_fault: reason why there is none.
        headers: folders of CMSIS, device and HAL.
        headers_fault: missing header, empty if there is none.
        bsp: folders of board support packages.
        applications: programs that an FSBL starts.
        fsbls: programs that the boot ROM starts.
        fsbl_images: image files with an FSBL.
        networks: all networks.
        models: model files.
        problems: files that could not be read, and links that were not followed.
    """

    root: Path
    runtime: RuntimeFiles | None
    runtime_fault: str
    headers: tuple[Path, ...]
    headers_fault: str
    bsp: tuple[Path, ...]
    applications: tuple[Application, ...]
    fsbls: tuple[Program, ...]
    fsbl_images: tuple[Path, ...]
    networks: tuple[FoundNetwork, ...]
    models: tuple[Path, ...]
    problems: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether no file belongs to an STM32N6 project."""
        return not (self.runtime or self.headers or self.applications or self.fsbls or self.networks or self.models)


def read_project(root: Path) -> Project:
    """Read a project.

    Args:
        root: folder of the project.

    Raises:
        N6Error: N6-ADOPT-001 for a folder without a project; N6-LLATON-006 for two releases of ST's
            runtime; N6-LLATON-001 for a runtime whose version cannot be read; N6-FILE-007 for a folder
            with too many files.
    """
    tree = walk(root)
    runtime, runtime_fault = _runtime(tree)
    headers = headers_in(tree, runtime.ll_aton if runtime else root)
    programs, problems = find_programs(tree)
    networks = find_networks(tree)
    fsbls = tuple(program for program in programs if program.is_fsbl)
    images = tuple(path for path in tree.ending(*_FSBL_IMAGES) if "fsbl" in path.name.lower())
    project = Project(
        root=root,
        runtime=runtime,
        runtime_fault=runtime_fault,
        headers=tuple(headers),
        headers_fault=missing_header(tuple(headers)),
        bsp=_bsp(tree),
        applications=tuple(
            _application(program, root, networks, fsbls, images) for program in programs if not program.is_fsbl
        ),
        fsbls=fsbls,
        fsbl_images=images,
        networks=networks,
        models=tree.ending(*MODEL_SUFFIXES),
        problems=(
            *problems,
            *(f"{path.relative_to(root)} is a link to a folder; n6build does not follow it" for path in tree.links),
            *(
                f"{path.relative_to(root)} {fault}"
                for path in tree.ending(*MODEL_SUFFIXES)
                if (fault := content_fault(path))
            ),
        ),
    )
    if project.is_empty:
        what = (
            "contains no STM32N6 project: no runtime, HAL, network, model or build script in "
            f"{counted(len(tree.folders), 'folder')}"
        )
        hint = "name the top folder of the project, for example the root of the repository"
        raise N6Error("N6-ADOPT-001", what, where=str(root), hint=hint)
    return project


def _is_in(memory: range, address: int | None) -> bool:
    # For any value but a number, Python would search all addresses of the range.
    return address is not None and address in memory


def _runtime(tree: Tree) -> tuple[RuntimeFiles | None, str]:
    try:
        return runtime_in(tree), ""
    except N6Error as error:
        if error.id != "N6-LLATON-002":
            raise
        return None, error.what


def _bsp(tree: Tree) -> tuple[Path, ...]:
    folders = (each.path for each in tree.folders)
    return tuple(path for path in folders if path.parent.name == "BSP" and path.name != "Components")


def _application(
    program: Program,
    root: Path,
    networks: tuple[FoundNetwork, ...],
    fsbls: tuple[Program, ...],
    images: tuple[Path, ...],
) -> Application:
    board = board_of(program, root)
    used = tuple(network for network in networks if program.names(network.source))
    # STM32CubeIDE builds the files in the project's folder, and a wildcard of make names no file.
    used = used or tuple(each for each in networks if each.source.is_relative_to(program.folder))
    if not used and len(networks) == 1 and not any(word.endswith(networks[0].source.name) for word in program.words):
        used = networks
    fsbl = None
    if _is_in(_NOR, program.starts_at):
        near = nearest(tuple(each.script for each in fsbls), program.script)
        built = next((each for each in fsbls if each.script == near), None)
        fsbl = built.folder / "build" / built.file if built else nearest(images, program.script)
    unknown = tuple(flag for flag in UNKNOWN_FLAGS if flag in program.flags)
    return Application(program, board, used, fsbl, unknown)

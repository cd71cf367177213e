"""Table of a project: present parts, missing parts, and their purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.adopt.networks import FoundNetwork
from n6build.adopt.project import Application, Project
from n6build.compile.ll_aton import release_name
from n6build.compile.runtime_files import describe, missing_parts

_KINDS = {
    "make": "make",
    "cmake": "CMake",
    "cubeide": "STM32CubeIDE",
    "scons": "SCons",
    "platformio": "PlatformIO",
}


@dataclass(frozen=True)
class Row:
    """A line of the table. why: purpose of a missing part."""

    state: Literal["found", "missing", "unfit"]
    what: str
    text: str
    why: str = ""


def rows_of(project: Project) -> tuple[Row, ...]:
    """Return the rows in the order of the table."""
    return tuple(_rows(project))


def _rows(project: Project) -> Iterator[Row]:
    yield from _runtime(project)
    yield from _headers(project)
    for application in project.applications:
        yield from _application(application, project)
    for program in project.fsbls:
        yield Row("found", "FSBL", f"{_below(program.script, project.root)} builds {program.file}")
    for path in project.fsbl_images:
        yield Row("found", "FSBL", f"{_below(path, project.root)}, an image")
    if not (project.fsbls or project.fsbl_images):
        yield Row("missing", "FSBL", "none", "n6build uses its own FSBL, which starts a program linked to 0x34000400")
    for network in project.networks:
        yield from _network(network, project)
    if not project.networks:
        yield Row("missing", "network", "none", "to compile a model, name it: model=FILE")
    for path in project.models:
        yield Row("found", "model", _below(path, project.root))
    if not project.models:
        yield Row("missing", "model", "none", "n6build cannot compare the outputs of a run")
    for problem in project.problems:
        yield Row("unfit", "read", problem)


def _below(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix() or "."
    except ValueError:
        return path.as_posix()


def _runtime(project: Project) -> Iterator[Row]:
    found = project.runtime
    if found is None:
        why = "networks for the NPU cannot be linked; n6build's own runtime uses the Cortex-M55 only"
        yield Row("missing", "runtime", f"the project {project.runtime_fault}", why)
        return
    yield Row("found", "runtime", f"{describe(found)} in {_below(found.ll_aton, project.root)}")
    if found.library:
        pic = f", and {found.pic_library.name}" if found.pic_library else ""
        yield Row("found", "library", f"{_below(found.library, project.root)}{pic}")
        if not found.pic_library:
            why = "relocatable models (loader=reloc) need it"
            yield Row("missing", "library", "NetworkRuntime*_CM55_GCC_PIC.a", why)
    for part in missing_parts(found):
        name, _, why = part.partition(": ")
        yield Row("missing", "runtime", name, why)


def _headers(project: Project) -> Iterator[Row]:
    for folder in project.headers:
        yield Row("found", "CMSIS, HAL", _below(folder, project.root))
    if project.headers_fault:
        yield Row(
            "missing", "CMSIS, HAL", project.headers_fault, "n6build's own firmware with ST's runtime includes it"
        )
    for folder in project.bsp:
        yield Row("found", "BSP", _below(folder, project.root))


def _application(application: Application, project: Project) -> Iterator[Row]:
    program, root = application.program, project.root
    others = f", and {len(program.others)} more" if program.others else ""
    yield Row(
        "found", "program", f"{_below(program.script, root)} ({_KINDS[program.kind]}) builds {program.name}{others}"
    )
    if application.board:
        yield Row("found", "  board", f"{application.board.name}, by {application.board.evidence}")
    else:
        yield Row("missing", "  board", "not named", "to select flash and RAM, name it: board=NAME")
    if program.linker_script:
        at = f" starts at 0x{program.starts_at:08X}" if program.starts_at is not None else ""
        yield Row("found", "  linker script", f"{_below(program.linker_script, root)}{at}")
    else:
        why = "without it, n6build does not check its MEMORY against the board"
        yield Row("missing", "  linker script", "the build script names no existing file", why)
    if application.fsbl:
        yield Row("found", "  started by", f"{_below(application.fsbl, root)}, since it executes in flash")
    for network in application.networks:
        yield Row("found", "  network", _below(network.source, root))
    for flag in application.unknown_flags:
        why = "the distribution's gcc does not accept it: run n6build adopt FOLDER --gcc build/gcc"
        yield Row("unfit", "  flag", flag, why)


def _network(network: FoundNetwork, project: Project) -> Iterator[Row]:
    root = project.root
    asks = f", of {release_name(network.version)}" if network.version else ""
    yield Row("found", "network", f"{_below(network.source, root)}{asks}")
    if network.version and project.runtime and network.version != project.runtime.version:
        text = f"asks for {release_name(network.version)}, the runtime is {release_name(project.runtime.version)}"
        yield Row(
            "unfit", "  version", text, "the network does not compile with this runtime, or computes wrong results"
        )
    if network.fault:
        yield Row("unfit", "  file", network.fault)
    for weights in (*network.weights, *network.elsewhere):
        state: Literal["found", "unfit"] = "unfit" if weights.fault else "found"
        apart = "" if weights in network.weights else ", in another folder than the network"
        yield Row(state, "  weights", f"{_below(weights.file, root)} {weights.fault}".rstrip() + apart)
    for pool in network.missing:
        why = "the NPU needs them; many repositories do not contain them"
        yield Row("missing", "  weights", f"{network.source.stem}_atonbuf.{pool}.raw, .bin or .hex", why)


def widest(rows: Iterable[Row]) -> int:
    """Return the width of the second column."""
    return max((len(row.what) for row in rows), default=0)

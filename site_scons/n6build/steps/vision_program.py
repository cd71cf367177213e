"""Build of a third-party project with another network, in a copy.

The copy stays for the next build, so that make compiles only changed files.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.captured import run_in_session
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.files import (
    cannot_write,
    is_file,
    is_folder,
    read_at_most,
    read_bytes,
    remove_others,
    to_json,
    write_atomically,
)
from n6build.base.foreign_flags import hint_from
from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.compile.adapted_tools import adapted_tools
from n6build.compile.application.vision_project import OWN_CONFIG
from n6build.compile.artifacts.network_c import read_network_c
from n6build.compile.toolchain import which
from n6build.engine.step import Call

TEMPLATE = TEMPLATES / "camera_network.c.j2"
_CODE = "n6_network_code.h"
_TIMEOUT_S = 1800
_MAKE = "make"
# The compiler lists the headers of an object for the next make only with one of these flags.
_LISTS_HEADERS = (b"-MMD", b"-MD")
_MOST_LINES = 6
_MOST_OF_STATE = 16 << 20
_ERROR = re.compile(r"(?!make\b).*(?:\berror\b|undefined reference|overflowed|multiple definition).*", re.IGNORECASE)


@dataclass(frozen=True)
class VisionProgramParameters:
    """Parameters of the step.

    The sources are the project's files, then network.c with its headers, app_config.h, and object files.

    Attributes:
        files: Names of the project's files, in the order of the sources.
        makefile: Its Makefile.
        network: Its network.c.
        config: Its app_config.h.
        symbol: Name of the network in its code.
        has_old_macros: As in `VisionProject`.
        headers: Number of the network's headers.
        gives_up_input: The CPU reads the input, which the camera writes.
        passes_instance: Functions of an epoch have the instance of the network as second argument.
        room: Folder for the copy.
    """

    files: tuple[str, ...]
    makefile: str
    network: str
    config: str
    symbol: str
    has_old_macros: bool
    headers: int
    gives_up_input: bool
    passes_instance: bool
    room: str


def make_vision_program(call: Call) -> None:
    """Copy the project, put the network into the copy, and build it.

    Raises:
        N6Error: N6-APP-033 if make fails or makes no program; N6-APP-034 if the network has another name.
    """
    given = call.parameters_as(VisionProgramParameters)
    count = len(given.files)
    (source, *headers), config, objects = (
        call.sources[count : count + 1 + given.headers],
        call.sources[count + 1 + given.headers],
        call.sources[count + 2 + given.headers :],
    )
    room = Path(given.room).absolute()
    copy, tools = room / "project", room / "tools"
    contents = {name: read_bytes(file) for name, file in zip(given.files, call.sources[:count], strict=True)}
    makefile, own = contents[given.makefile], sorted(contents)
    network, place = Path(given.network).parent, Path(given.config).parent
    contents[f"{place / OWN_CONFIG}"] = contents[given.config]
    contents[given.config] = _old_names(read_bytes(config), given)
    contents |= {f"{network / header.name}": read_bytes(header) for header in headers}
    contents |= _network(source, given)
    linked = room / "linked"
    adapted = adapted_tools(read_environment().path, (f"-ffile-prefix-map={copy}=.",), (f"@{linked}",))
    scripts = {f"{tools / name}": text for name, text in adapted.scripts.items()}
    state = to_json({"files": own, "scripts": scripts})
    _make_room(room, state, keeps=any(flag in makefile for flag in _LISTS_HEADERS))
    # Headers of the network before would hide a header that is missing now.
    remove_others(copy / network, {Path(name).name for name in contents if Path(name).parent == network})
    _write_changed(copy, contents)
    write_atomically(linked, "".join(f"{_quoted(each.absolute())}\n" for each in objects))
    for path, text in scripts.items():
        write_atomically(Path(path), text)
        Path(path).chmod(0o755)
    before = {copy / name for name in contents}
    for old in _programs(copy, before):
        old.unlink()
    _build(copy / given.makefile, tools)
    programs = _programs(copy, before)
    if len(programs) != 1:
        names = ", ".join(str(path.relative_to(copy)) for path in programs) or "none"
        raise N6Error("N6-APP-033", f"make has to link one program; it linked {names}", where=given.makefile)
    write_atomically(call.outputs[0], read_bytes(programs[0]))


def _old_names(config: bytes, given: VisionProgramParameters) -> bytes:
    """Return app_config.h with the macros as the project's release calls them."""
    if not given.has_old_macros:
        return config
    for now, before in ((b"ST_YOLOX", b"YOLOVX"), (b"YOLOV2", b"YOLOV2"), (b"YOLOV8", b"YOLOV8")):
        config = config.replace(b"AI_OD_" + now + b"_", b"AI_OBJDETECT_" + before + b"_")
    return config


def _network(source: Path, given: VisionProgramParameters) -> dict[str, bytes]:
    """Return the file that the project compiles as its network, and its code."""
    code = read_bytes(source)
    described = read_network_c(source)
    if described.suffix != given.symbol:
        what = f"has the name '{described.suffix}', but the project calls its network '{given.symbol}'"
        hint = f"compile it again with --name {given.symbol}"
        raise N6Error("N6-APP-034", what, where=source.name, hint=hint)
    if not given.gives_up_input:
        return {given.network: code}
    text = render(
        TEMPLATE,
        {
            "name": given.symbol,
            "code": _CODE,
            "epochs": len(described.epochs),
            "passes_instance": given.passes_instance,
        },
    )
    return {given.network: text.encode(), f"{Path(given.network).parent / _CODE}": code}


def _make_room(room: Path, state: str, *, keeps: bool) -> None:
    """Remove the copy unless make finds out by itself which of its objects are stale.

    Args:
        room: Folder of the copy.
        state: Names of its files, and scripts in front of the compiler.
        keeps: Whether the project's objects have lists of their headers.
    """
    noted = room / "state.json"
    if keeps and is_file(noted) and read_at_most(noted, _MOST_OF_STATE) == state.encode():
        return
    try:
        if is_folder(room):
            shutil.rmtree(room)
    except OSError as error:
        raise cannot_write(room, error) from error
    write_atomically(noted, state)


def _write_changed(copy: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        path = copy / name
        if not is_file(path) or read_bytes(path) != content:
            write_atomically(path, content)


def _quoted(path: Path) -> str:
    """Return a path as the compiler reads it in a file of options."""
    return re.sub(r"([\\\s\"'])", r"\\\1", str(path))


def _programs(copy: Path, before: set[Path]) -> list[Path]:
    return sorted(path for path in copy.rglob("*.elf") if path not in before)


def _build(makefile: Path, tools: Path) -> None:
    """Run make.

    Raises:
        N6Error: N6-APP-033 if it fails.
    """
    environment = read_environment()
    path = os.pathsep.join((str(tools), environment.path))
    make = which(_MAKE, environment.path)
    if make is None:
        raise N6Error("N6-APP-033", "make was not found in PATH", hint="install GNU make")
    command = [str(make), f"-j{os.cpu_count() or 1}", "-f", makefile.name, f"GCC_PATH={tools}"]
    try:
        status, text = run_in_session(
            command, makefile.parent, _TIMEOUT_S, {**dict(environment.commands), "PATH": path}
        )
    except subprocess.TimeoutExpired as error:
        what = f"make was stopped after {_TIMEOUT_S} s"
        raise N6Error("N6-APP-033", what, where=makefile.name) from error
    if status == 0:
        return
    lines = list(_telling(text))
    what = "make fails in a copy of the project:\n" + "\n".join(f"    {line}" for line in lines[:_MOST_LINES])
    hint = hint_from(text) or "build the project without another network first: cd FOLDER; make"
    raise N6Error("N6-APP-033", what, where=makefile.name, hint=hint)


def _telling(text: str) -> Iterator[str]:
    """Yield the lines that report errors, or the last ones if none does."""
    lines = [line[:300] for line in text.splitlines() if line.strip()]
    found = [line for line in lines if _ERROR.fullmatch(line)]
    yield from found or lines[-_MOST_LINES:]

"""Lines that add n6build to the build script of a program."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.networks import FoundNetwork
from n6build.adopt.project import Application, Project
from n6build.compile.runtime_files import missing_parts

# These characters need no quotes in make, CMake, a shell or an option.
_PLAIN = re.compile(r"[\w./@+:=,${}()-]+", re.ASCII)
# Folder for links to a network and its weights, if these are in different folders.
LINKED_NETWORK = "n6build-network"


@dataclass(frozen=True)
class Adoption:
    """The changes and commands that add n6build to one program.

    Attributes:
        application: the program.
        lines: lines for its script; empty if the script takes none or a part is missing.
        commands: commands to type afterwards, in the folder of the script.
        links: files to link, by the names of the links, from the folder of the script.
        lacks: reason why there are no lines, empty if there are some.
    """

    application: Application
    lines: tuple[str, ...]
    commands: tuple[str, ...]
    links: tuple[tuple[str, Path], ...] = ()
    lacks: str = ""


def adoption_of(application: Application, project: Project, board: str, models: tuple[str, ...], name: str) -> Adoption:
    """Return the lines and commands for a program.

    Args:
        application: the program.
        project: contents of the project.
        board: board that the user has named, empty for the one that was found.
        models: models that the user has named, relative to the working directory; empty for the
            networks that were found.
        name: name of the program in a script with several programs; empty for its first one.
    """
    program = application.program
    lacks = _lacks(application, project, board, models, name)
    if lacks:
        return Adoption(application, (), (), (), lacks)
    chosen = board or (application.board.name if application.board else "")
    links = _links(application, models)
    named = _models(application, models, links)
    options = {"board": chosen, "model": ",".join(named)}
    if application.networks and project.runtime:
        options["core"] = _relative(project.root, program.folder)
    if program.linker_script:
        options["linker_script"] = _relative(program.linker_script, program.folder)
    if application.fsbl:
        options["fsbl"] = _relative(application.fsbl, program.folder)
    if program.kind == "cmake" and not named:
        # n6build's CMake function always links a network, so there are only commands.
        return Adoption(application, (), tuple(_by_hand(application, options, name)[1]))
    writer = {"make": _make, "cmake": _cmake, "cubeide": _cube_ide, "scons": _by_hand, "platformio": _by_hand}
    given = {key: value for key, value in options.items() if value}
    lines, commands = writer[program.kind](application, given, name)
    return Adoption(application, tuple(lines), tuple(commands), links)


def _lacks(application: Application, project: Project, board: str, models: tuple[str, ...], name: str) -> str:
    """Return the reason why no lines can be written; empty if they can."""
    program = application.program
    faults = {
        "it is linked to non-secure memory: it needs a secure program that starts it, and n6build does not program "
        "that one": application.is_non_secure,
        f"its script builds no '{name}'; it has {', '.join((program.name, *program.others))}": (
            name not in ("", program.name, *program.others)
        ),
        "its script, its folder and .ioc files name no board: run n6build adopt FOLDER board=nucleo-n657": (
            not (board or application.board)
        ),
        "it executes in flash, and the project has no FSBL that starts it there": (
            application.starts_in_flash and application.fsbl is None
        ),
    }
    fault = next((why for why, holds in faults.items() if holds), "")
    if fault or models or not application.networks:
        return fault
    return _runtime_fault(application, project) or next(
        filter(None, (_network_fault(network, project) for network in application.networks)), ""
    )


def _runtime_fault(application: Application, project: Project) -> str:
    if project.runtime is None:
        return f"its network needs ST's runtime, and the project {project.runtime_fault}"
    missing = missing_parts(project.runtime)
    # n6build links a runtime only into programs that CMake builds.
    return f"ST's runtime in the project has no {missing[0]}" if missing and application.program.kind == "cmake" else ""


def _network_fault(network: FoundNetwork, project: Project) -> str:
    source = _relative(network.source, project.root)
    if network.fault:
        return f"{source}: {network.fault}"
    if network.missing:
        return f"the project does not contain the weights of pool {network.missing[0]} of {source}"
    fault = next((each for each in (*network.weights, *network.elsewhere) if each.fault), None)
    return f"{_relative(fault.file, project.root)} {fault.fault}" if fault else ""


def _links(application: Application, models: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
    if models:
        return ()
    found: list[tuple[str, Path]] = []
    for network in application.networks:
        if network.elsewhere:
            blobs = network.source.with_name(f"{network.source.stem}_ecblobs.h")
            files = [network.source, *([blobs] if network.blobs else []), *(each.file for each in network.elsewhere)]
            found += [(f"{LINKED_NETWORK}/{path.name}", path) for path in files]
    return tuple(found)


def _models(application: Application, models: tuple[str, ...], links: tuple[tuple[str, Path], ...]) -> list[str]:
    folder = application.program.folder
    if models:
        # Names of n6build's own models stay as they are.
        return [_relative(Path(each), folder) if Path(each).exists() else each for each in models]
    linked = {path: name for name, path in links}
    sources = [network.source for network in application.networks]
    found = []
    for source in sources:
        if source in linked:
            found.append(LINKED_NETWORK if len(sources) == 1 else linked[source])
        else:
            # The file names one of several networks in a folder.
            alone = sum(other.parent == source.parent for other in sources) == 1
            found.append(_relative(source.parent if alone else source, folder))
    return found


def _relative(path: Path, start: Path) -> str:
    return Path(os.path.relpath(path, start)).as_posix()


def _make(application: Application, options: dict[str, str], name: str) -> tuple[list[str], list[str]]:
    program = application.program
    script = options.pop("linker_script", "")
    words = [f"{key}={_for_make(value)}" for key, value in options.items()]
    words += [f"linker_script={_for_make(script)}"] if script else []
    links = "model" in options and not application.networks
    lines = [
        f"N6_APPLI := {name or program.name}",
        f"N6_OPTIONS := {' '.join(words)}",
        # The program has its own networks and runtime, or none.
        *([] if links else ["N6_LINKED := 0"]),
        "include $(or $(wildcard build/n6build/n6build.mk),$(shell n6build --makefile))",
        *(["CFLAGS += $(N6_CPPFLAGS)", "LDFLAGS += $(N6_LIBS)"] if links else []),
    ]
    return lines, ["make n6-build", "make n6-flash", f"make n6-run N6_BOARD_OPTIONS={shlex.quote(_VIRTUAL)}"]


_VIRTUAL = "probe=virtual until=instructions:300_000_000"


def _for_make(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else shlex.quote(text).replace("$", "$$")


def _cmake(application: Application, options: dict[str, str], name: str) -> tuple[list[str], list[str]]:
    program = application.program
    target = name or program.name
    board, model = options.pop("board"), options.pop("model")
    words = " ".join(_for_cmake(f"{key}={value}") for key, value in options.items())
    models = " ".join(_for_cmake(each) for each in model.split(","))
    own = " OWN_RUNTIME" if application.networks else ""
    lines = [
        "execute_process(COMMAND n6build --cmake-dir OUTPUT_VARIABLE n6build_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)",
        "find_package(n6build CONFIG REQUIRED)",
        f"n6build_add_network({target} MODEL {models} BOARD {board}{own}{f' OPTIONS {words}' if words else ''})",
        f"n6build_flash({target})",
        f'n6build_run({target} OPTIONS probe=virtual "until=instructions:300_000_000")',
    ]
    target = Path(program.file).stem
    built = f"cmake --build BUILD_FOLDER --target {target}_n6"
    return lines, [f"{built}_image", f"{built}_flash", f"{built}_run"]


def _for_cmake(text: str) -> str:
    return text if re.fullmatch(r"[\w./@+:=,-]+", text) else f'"{text}"'


def _cube_ide(_: Application, options: dict[str, str], __: str) -> tuple[list[str], list[str]]:
    # The IDE runs the command in the folder of the configuration.
    moved = {key: _from_configuration(key, value) for key, value in options.items()}
    words = [f"{key}={_for_shell(value)}" for key, value in moved.items()]
    line = f"n6build build --build n6build {' '.join(words)} appli=${{BuildArtifactFileName}}"
    return [line], [
        line.replace("n6build build", "n6build flash", 1).replace("${BuildArtifactFileName}", "PROGRAM.elf")
    ]


def _from_configuration(key: str, value: str) -> str:
    if key == "board":
        return value
    return ",".join(
        f"../{each}" if "/" in each or each in (".", "..") or "." in each else each for each in value.split(",")
    )


def _by_hand(application: Application, options: dict[str, str], name: str) -> tuple[list[str], list[str]]:
    program = application.program
    file = (name if program.kind != "cmake" else "") or program.file
    if program.kind == "cmake":
        file = f"build/{file}"
    words = " ".join(f"{key}={_for_shell(value)}" for key, value in options.items() if value)
    return [], [f"n6build build appli={file} {words}", f"n6build flash run appli={file} {words} {_VIRTUAL}"]


def _for_shell(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and not set("$(){}") & set(text) else shlex.quote(text)

"""Step of target vscode: .vscode/tasks.json and launch.json of the project."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, to_json, write_atomically
from n6build.base.paths import project_path
from n6build.board.flash.probes import PROGRAMMERS
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.virtual_board.run import GDB_PORT
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.tell.editor_files import (
    LAUNCH_VERSION,
    TASKS_VERSION,
    Application,
    EntryList,
    Server,
    fresh,
    launch_lists,
    merged,
    task_lists,
)

FOLDER = ".vscode"


@dataclass(frozen=True)
class EditorParameters:
    """Parameters of the step.

    Attributes:
        application: Application that the entries build, run and debug.
        servers: Debug servers for launch.json.
    """

    application: Application
    servers: tuple[Server, ...]


def editor_step(
    output: str,
    title: str,
    options: Sequence[str],
    probe: str,
    svd: str,
    board: Board,
    elves: Mapping[str, str],
    models: Sequence[str],
) -> Step:
    """Return the step that writes the files of the editor.

    Args:
        output: Note of the written entries. The files themselves belong to the user, and n6build never
            removes them.
        title: Title of the application.
        options: Options of the command line that choose the application.
        probe: Value of option probe.
        svd: Value of option svd.
        board: Board of the application.
        elves: ELF files of the programs by name, FSBL first.
        models: ELF files of relocatable models.
    """
    described = Application(title, _command(), tuple(options), tuple(elves.values()), tuple(models), svd, GDB_PORT)
    return Step(
        verb="Editor",
        stage="report",
        outputs=(output,),
        sources=(),
        parameters=to_parameters(EditorParameters(described, _servers(probe, board))),
        state=(FOLDER,),
        function="n6build.steps.editor:make_editor",
        always=True,
        shared=False,
        quiet=True,
    )


def make_editor(call: Call) -> None:
    """Write the missing entries of both files.

    Raises:
        N6Error: N6-EDITOR-001 or N6-EDITOR-002 if entries cannot be added to a file; they are then in a
            file beside it.
    """
    given = call.parameters_as(EditorParameters)
    files = {
        "tasks.json": (TASKS_VERSION, task_lists(given.application)),
        "launch.json": (LAUNCH_VERSION, launch_lists(given.application, given.servers)),
    }
    refused: list[N6Error] = []
    written = []
    for name, (version, lists) in files.items():
        try:
            written += _write(Path(FOLDER) / name, version, lists)
        except N6Error as error:
            if not error.id.startswith("N6-EDITOR-"):
                raise
            refused.append(error)
    if refused:
        raise refused[0]
    write_atomically(call.outputs[0], to_json({"written": written}))


def _write(path: Path, version: str, lists: Sequence[EntryList]) -> list[str]:
    """Write one file and return the names of the added entries."""
    # Resolve a symbolic link, so that writing does not replace it.
    target = path.resolve()
    if not target.exists():
        write_atomically(target, fresh(version, lists))
        names = [str(entry[each.known_by]) for each in lists for entry in each.entries]
        say("Wrote", str(path), f"{len(names)} entries")
        return names
    try:
        result = merged(read_bytes(target), str(path), version, lists)
    except N6Error as error:
        beside = path.with_name(f"{path.stem}.n6build.json")
        write_atomically(beside, fresh(version, lists))
        raise N6Error(error.id, error.what, where=error.where, hint=f"copy what you need from {beside}") from error
    if result.text is not None:
        write_atomically(target, result.text)
    for name in result.kept:
        say(
            "Kept",
            f"'{name}' in {path}",
            "kept although it differs from n6build's entry; delete it there to get n6build's",
        )
    say("Wrote" if result.added else "Kept", str(path), f"{len(result.added)} entries added")
    return list(result.added)


def _command() -> str:
    """Return the n6build command: its path if this environment is in the project."""
    command = project_path(Path(sys.prefix) / "bin" / "n6build")
    return "n6build" if command.startswith("/") else f"${{workspaceFolder}}/{command}"


def _servers(probe: str, board: Board) -> tuple[Server, ...]:
    """Return the debug servers of the named programmer, or of all programmers.

    Without a named programmer the files must be the same on any machine.
    """
    if probe == VIRTUAL:
        return ()
    named = probe.partition(":")[0]
    serial = probe.partition(":")[2]
    kinds = [PROGRAMMERS[named]] if named in PROGRAMMERS else PROGRAMMERS.values()
    return tuple(
        Server(kind.name, kind.debug.type, {**kind.debug.editor(board), **({"serialNumber": serial} if serial else {})})
        for kind in kinds
        if kind.debug
    )

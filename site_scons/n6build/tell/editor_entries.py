"""Entries for VS Code: tasks for targets, and debugging with cortex-debug."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from n6build.tell.editor_files import EntryList

TASKS_VERSION = "2.0.0"
LAUNCH_VERSION = "0.2.0"
_ADDRESS = "n6build.modelAddress"
_WORKSPACE = "${workspaceFolder}"
_WAITS = "wait for a debugger with"
_TARGETS = ("build", "check", "flash", "run", "merge-report", "doctor")
# The virtual board listens only after this line.
_LISTENS = r"^\s*Debugger "


@dataclass(frozen=True)
class Server:
    """A server for GDB in cortex-debug.

    Attributes:
        title: Title of the programmer.
        type: Server type.
        settings: Further settings of its configuration.
    """

    title: str
    type: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Application:
    """An application with its paths for VS Code.

    Attributes:
        title: Title of the application.
        command: Command of n6build, absolute or in PATH.
        options: Options on its command line.
        elves: ELF files of the programs, the Appli last.
        models: ELF files of relocatable models.
        svd: SVD file, or empty.
        gdb_port: Port of the virtual board.
    """

    title: str
    command: str
    options: tuple[str, ...]
    elves: tuple[str, ...]
    models: tuple[str, ...]
    svd: str
    gdb_port: int


def task_lists(application: Application) -> list[EntryList]:
    """Return the entries of tasks.json."""
    tasks = [_task(application, _label(application, target), [target]) for target in _TARGETS]
    tasks[0]["group"] = "build"
    waiting = _task(application, _label(application, _WAITS), ["flash", "run", "probe=virtual", "gdb=1"])
    waiting["isBackground"] = True
    waiting["problemMatcher"] = {
        "owner": "n6build",
        "pattern": {"regexp": r"^(\S+):(\d+): error (.*)$", "file": 1, "line": 2, "message": 3},
        "background": {"activeOnStart": True, "beginsPattern": r"^\s*Run ", "endsPattern": _LISTENS},
    }
    return [EntryList("tasks", "label", [*tasks, waiting])]


def _label(application: Application, what: str) -> str:
    """Return the label of a task, by which launch.json refers to it.

    The application's name makes it unique.
    """
    return f"n6build: {what} {application.title}"


def _task(application: Application, label: str, words: Sequence[str]) -> dict[str, Any]:
    return {
        "label": label,
        "type": "process",
        "command": application.command,
        "args": [*words, *(each for each in application.options if each.partition("=")[0] not in _given(words))],
        "options": {"cwd": _WORKSPACE},
        "problemMatcher": ["$gcc"],
    }


def _given(words: Sequence[str]) -> set[str]:
    return {word.partition("=")[0] for word in words if "=" in word}


def launch_lists(application: Application, servers: Sequence[Server]) -> list[EntryList]:
    """Return the entries of launch.json."""
    virtual = {
        **_debug(application, f"n6build: {application.title}, virtual board"),
        "servertype": "external",
        "gdbTarget": f"localhost:{application.gdb_port}",
        "preLaunchTask": _label(application, _WAITS),
    }
    real = [
        {
            **_debug(application, f"n6build: {application.title}, {server.title}"),
            "servertype": server.type,
            **server.settings,
            "preLaunchTask": _label(application, "flash"),
        }
        for server in servers
    ]
    prompt = "Address of the model: on the console, after ram= with load=copy, after at= with load=xip"
    inputs = [{"id": _ADDRESS, "type": "promptString", "description": prompt}] if application.models else []
    return [EntryList("configurations", "name", [virtual, *real]), EntryList("inputs", "id", inputs)]


def _debug(application: Application, name: str) -> dict[str, Any]:
    """Return a configuration that attaches.

    It loads no program, since the boot ROM and the FSBL do that.
    """
    described: dict[str, Any] = {
        "name": name,
        "type": "cortex-debug",
        "request": "attach",
        "cwd": _WORKSPACE,
        "executable": _in_workspace(application.elves[-1]),
        "gdbPath": "gdb-multiarch",
        "symbolFiles": [{"file": _in_workspace(elf)} for elf in application.elves],
    }
    if application.models:
        described["postAttachCommands"] = [
            f'add-symbol-file "{_in_workspace(elf)}" -s .flash ${{input:{_ADDRESS}}}' for elf in application.models
        ]
    if application.svd:
        described["svdFile"] = application.svd
    return described


def _in_workspace(path: str) -> str:
    return path if path.startswith("/") else f"{_WORKSPACE}/{path}"

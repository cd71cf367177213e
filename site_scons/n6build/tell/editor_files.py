"""Merge of entries into .vscode/tasks.json and launch.json.

No entry of the user is changed or lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from n6build.base.bounded import parse_json
from n6build.base.errors import N6Error

Entry = Mapping[str, Any]
_MOST_BYTES = 4 << 20


@dataclass(frozen=True)
class EntryList:
    """A list in a file, and the key that identifies an entry."""

    key: str
    known_by: str
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Merged:
    """Result of a merge.

    Attributes:
        text: Text of the whole file, None if it is up to date.
        added: Names of added entries.
        kept: Names of existing entries with other content, which stay as they are.
    """

    text: str | None
    added: tuple[str, ...]
    kept: tuple[str, ...]


def fresh(version: str, lists: Sequence[EntryList]) -> str:
    """Return the text of a file with only these entries."""
    document = {"version": version, **{each.key: list(each.entries) for each in lists if each.entries}}
    return json.dumps(document, indent=4, ensure_ascii=False) + "\n"


def merged(existing: bytes, where: str, version: str, lists: Sequence[EntryList]) -> Merged:
    """Merge entries into an existing file.

    An existing entry with the same name stays as it is.

    Args:
        existing: Content of the file.
        where: Path of the file, for messages.
        version: Version for a file without one.
        lists: Entries to add.

    Raises:
        N6Error: N6-EDITOR-001 if the file is not JSON, or has comments, which would be lost;
            N6-EDITOR-002 if it is JSON of another shape.
    """
    document = _read(existing, where)
    added: list[str] = []
    kept: list[str] = []
    for each in lists:
        there = document.setdefault(each.key, []) if each.entries else []
        if not isinstance(there, list) or not all(isinstance(entry, dict) for entry in there):
            what = f"'{each.key}' is not a list of objects"
            raise N6Error("N6-EDITOR-002", what, where=where, hint="correct it; nothing was written")
        known = {entry.get(each.known_by): entry for entry in there if isinstance(entry.get(each.known_by), str)}
        for entry in each.entries:
            name = str(entry[each.known_by])
            if name not in known:
                there.append(dict(entry))
                added.append(name)
            elif known[name] != entry:
                kept.append(name)
    document.setdefault("version", version)
    text = json.dumps(document, indent=_indent(existing), ensure_ascii=False) + "\n" if added else None
    return Merged(text, tuple(added), tuple(kept))


def _read(data: bytes, where: str) -> dict[str, Any]:
    if len(data) > _MOST_BYTES:
        what = f"has {len(data)} bytes, more than n6build reads"
        raise N6Error("N6-EDITOR-002", what, where=where, hint="correct it; nothing was written")
    try:
        text = data.decode("utf-8-sig")
        document = (
            parse_json(text, object_pairs_hook=_without_doubles, parse_constant=_no_constant) if text.strip() else {}
        )
    except json.JSONDecodeError as error:
        raise _not_json(f"{where}:{error.lineno}", error.msg) from error
    except ValueError as error:
        raise _not_json(where, str(error)) from error
    if not isinstance(document, dict):
        raise N6Error("N6-EDITOR-002", "is not an object", where=where, hint="correct it; nothing was written")
    return document


def _not_json(where: str, why: str) -> N6Error:
    what = f"is not plain JSON ({why}): n6build would lose comments and trailing commas"
    return N6Error("N6-EDITOR-001", what, where=where)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice in an object")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def _indent(existing: bytes) -> str:
    """Return the indentation of the file."""
    found = re.search(rb"^([ \t]+)\S", existing, re.MULTILINE)
    return found[1].decode() if found and len(found[1]) <= 8 else "    "


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

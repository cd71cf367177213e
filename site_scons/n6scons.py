"""What the SCons tools in site_tools/ share: actions over library functions, their messages, errors and times."""

from __future__ import annotations

import atexit
import io
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from n6build.console import line, say
from n6build.errors import N6Error
from n6build.files import to_json, write_atomically
from n6build.paths import ROOT
from n6build.report.actions import DoneAction
from SCons.Action import Action
from SCons.Errors import BuildError
from SCons.Script import COMMAND_LINE_TARGETS, GetOption

LIBRARY = ROOT / "site_scons" / "n6build"
INFORMATION = frozenset({"boards", "models", "doctor"})
LAST_ERROR = Path("build/last_error.json")

# Of this call: nodes by their target.
_made: dict[str, Any] = {}
# Of this call: what ran, for how long.
_actions: list[DoneAction] = []
_actions_lock = threading.Lock()
_started = time.monotonic()


# Names come from models and folders: a terminal that lacks a letter gets a question mark, not a traceback.
for stream in (sys.__stdout__, sys.__stderr__):  # SCons has wrapped the others.
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


class StageFunction:
    """A library call as SCons runs it: no traceback for an N6Error, its time in the summary.

    SCons would sign whatever the function refers to, down to cached hashes of paths. Here its code is signed and nothing
    else, because every input of a stage is a source or a dependency of its target.
    """

    def __init__(self, function: Callable[..., None], stage: str) -> None:
        self._function = function
        self._stage = stage

    def __call__(self, target: list[Any], source: list[Any], env: Any) -> None:
        begin = time.monotonic()
        try:
            self._function(target, source, env)
        except N6Error as error:
            raise reported(error, target[0]) from None
        finally:
            add_time(self._stage, str(target[0]), time.monotonic() - begin)

    def get_contents(self, target: list[Any], source: list[Any], env: Any) -> bytes:
        code = self._function.__code__
        return code.co_code + repr((code.co_names, self._function.__qualname__)).encode()


def stage_action(verb: str, function: Callable[..., None], *, stage: str) -> Any:
    """An SCons action that shows itself as one line: the verb and the first target."""

    def describe(target: list[Any], source: list[Any], env: Any) -> str:
        return line(verb, str(target[0]))

    return Action(StageFunction(function, stage), describe)


def quiet_action(function: Callable[..., None], *, stage: str) -> Any:
    """For a function whose own words say what it does."""
    return Action(StageFunction(function, stage), cmdstr=None)


def add_time(stage: str, target: str, seconds: float) -> None:
    with _actions_lock:
        _actions.append(DoneAction(stage, target, seconds))


def on_exit(function: Callable[[], None]) -> None:
    """After the build, in front of its summary."""
    atexit.register(function)


def actions_so_far() -> tuple[tuple[DoneAction, ...], float]:
    """(what has run in this call of scons, seconds since its start)."""
    with _actions_lock:
        return tuple(_actions), time.monotonic() - _started


def reported(error: N6Error, node: Any = None) -> BuildError:
    """The error also goes to build/last_error.json, since SCons' exit status is 2 whatever happened."""
    write_atomically(LAST_ERROR, to_json(error.as_dict()))
    return BuildError(node=node, errstr=str(error), exitstatus=2)


def stop_with(error: N6Error) -> NoReturn:
    """For errors found while SConscript files are read: SCons would add its own position and hide the text behind it."""
    write_atomically(LAST_ERROR, to_json(error.as_dict()))
    sys.stderr.write(f"{error}\n")
    raise SystemExit(2)


def only_informs() -> bool:
    """Whether this call of scons asks for nothing but lists: they have to work where a compiler is missing."""
    return bool(COMMAND_LINE_TARGETS) and INFORMATION.issuperset(COMMAND_LINE_TARGETS)


def once(target: str, make: Callable[[], Any]) -> Any:
    """For targets that several applications of a call share: the nodes that `make` gave for the first of them."""
    if target not in _made:
        _made[target] = make()
    return _made[target]


def library_files(env: Any, *parts: str) -> list[Any]:
    """The Python files that a stage is made of: a changed compiler compiles again."""
    paths: list[Path] = []
    for part in parts:
        path = LIBRARY / part
        paths += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [env.File(str(path)) for path in paths]


def timed_spawn(spawn: Callable[..., int]) -> Callable[..., int]:
    """SCons' SPAWN with its time counted as 'compile' or 'link'."""

    def run(sh: Any, escape: Any, command: str, arguments: list[str], environment: Any) -> int:
        begin = time.monotonic()
        try:
            return spawn(sh, escape, command, arguments, environment)
        finally:
            target = arguments[arguments.index("-o") + 1] if "-o" in arguments else arguments[-1]
            add_time("compile" if "-c" in arguments else "link", target.strip('"'), time.monotonic() - begin)

    return run


@atexit.register
def _summary() -> None:
    if not _actions or GetOption("no_exec"):
        return
    times: dict[str, float] = {}
    for action in _actions:
        times[action.stage] = times.get(action.stage, 0.0) + action.seconds
    parts = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in times.items())
    say("Time", f"{time.monotonic() - _started:.2f} s", f"of which {parts}")

"""Steps as values: outputs, sources, parameters, and a function or a command."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import TypeVar

from n6build.base.bounded import decode_json, parse_json
from n6build.base.errors import N6Error

T = TypeVar("T")

_FUNCTION = re.compile(r"[a-z_][\w.]*:[a-z]\w*", re.ASCII)


@dataclass(frozen=True)
class Tool:
    """A third-party program or library that makes bytes.

    Attributes:
        name: Name of the tool.
        digest: Digest of all files that it consists of.
    """

    name: str
    digest: str


@dataclass(frozen=True)
class Step:
    """A step of a build.

    Paths are relative to the project's folder if they are inside it, with '/'.

    Attributes:
        verb: Name on the console.
        stage: Name in the summary.
        outputs: Files that it makes; the first one names the step.
        sources: Files whose content it reads.
        function: 'module:name' of a function with one argument, a `Call`.
        command: An argument list, instead of a function; run without a shell.
        parameters: Canonical JSON (`to_parameters`).
        templates: Templates that it renders, with all that they include.
        include_folders: Folders where a compiler looks for headers, in this order.
        depfile: File where the compiler lists the files that it has read.
        tools: Third-party programs and libraries that it uses.
        after: Outputs of steps that have to be done first, whose content does not matter.
        state: Files and folders that it consults or changes besides its outputs, such as the record
            of a board.
        consulted: The files in `state` that alone decide on its outputs, so that another machine may
            do it. Where it changes one, no cache takes its outputs.
        always: Whether it runs whenever its outputs are requested.
        shared: Whether another checkout may take its outputs.
        quiet: Whether it prints no line of its own.
        kept: Outputs that stay if it fails, such as the reasons in JUnit.
        made_at: file:line of the code that made it, for messages.

    Raises:
        N6Error: N6-STEP-005 to -008 for fields that are not valid.
    """

    verb: str
    stage: str
    outputs: tuple[str, ...]
    sources: tuple[str, ...] = ()
    function: str = ""
    command: tuple[str, ...] = ()
    parameters: str = "{}"
    templates: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    depfile: str = ""
    tools: tuple[Tool, ...] = ()
    after: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    consulted: tuple[str, ...] = ()
    always: bool = False
    shared: bool = True
    quiet: bool = False
    kept: tuple[str, ...] = ()
    made_at: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.made_at:
            object.__setattr__(self, "made_at", _caller())
        _check(self)

    @property
    def name(self) -> str:
        """Return the first output, which no other step of a plan makes."""
        return self.outputs[0]


@dataclass(frozen=True)
class Call:
    """The argument of a step's function.

    Attributes:
        outputs: Files to make.
        sources: Files to read.
        parameters: Canonical JSON.
        build: Folder of all build products.
    """

    outputs: tuple[Path, ...]
    sources: tuple[Path, ...]
    parameters: str
    build: Path

    def parameters_as(self, kind: type[T]) -> T:
        """Return the parameters as a dataclass.

        Args:
            kind: A dataclass with the parameters' names.

        Raises:
            N6Error: N6-STEP-006 if they do not match its types.
        """
        try:
            return decode_json(self.parameters.encode(), kind)
        except ValueError as error:
            raise N6Error("N6-STEP-006", f"parameters are not those of {kind.__name__}: {error}") from error


def to_parameters(value: object) -> str:
    """Return a dataclass or mapping as a text that is equal for equal values.

    Raises:
        N6Error: N6-STEP-006 for a value that JSON cannot express.
    """
    try:
        return canonical(asdict(value) if is_dataclass(value) and not isinstance(value, type) else value)
    except (TypeError, ValueError) as error:
        raise N6Error("N6-STEP-006", f"a parameter cannot be written as JSON: {error}", where=_caller()) from error


def canonical(value: object) -> str:
    """Return JSON with sorted keys and without spaces.

    Raises:
        TypeError: JSON cannot express a value, because of its type.
        ValueError: JSON cannot express a value, such as an infinite number.
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def output_with(step: Step, suffix: str) -> str:
    """Return the only output with this suffix.

    Raises:
        ValueError: There are none or several.
    """
    (found,) = [output for output in step.outputs if output.endswith(suffix)]
    return found


def outputs_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the outputs of all steps, in their order."""
    return tuple(output for step in steps for output in step.outputs)


def _check(step: Step) -> None:
    if not step.outputs:
        raise _wrong(step, "N6-STEP-005", "has no output: a step needs at least one")
    for listed in (
        step.outputs,
        step.sources,
        step.command,
        step.templates,
        step.include_folders,
        step.after,
        step.state,
        step.consulted,
    ):
        if not isinstance(listed, tuple):
            raise _wrong(step, "N6-STEP-008", f"{listed!r} is not a tuple of strings")
    if bool(step.function) == bool(step.command):
        raise _wrong(step, "N6-STEP-007", "needs either a function or a command")
    if step.function and not _FUNCTION.fullmatch(step.function):
        what = f"'{step.function}' is not a function of a module"
        raise _wrong(step, "N6-STEP-007", what, "name a top-level function of a module as 'module:name'")
    if isinstance(step.command, str) or not all(isinstance(each, str) for each in step.command):
        raise _wrong(
            step, "N6-STEP-007", "a command is a tuple of strings", "write it as a tuple: it runs without a shell"
        )
    if not _is_canonical(step.parameters):
        raise _wrong(step, "N6-STEP-006", "its parameters are not canonical JSON", "create them with to_parameters")
    for path in (*step.outputs, *step.sources, *step.templates, *step.after, *step.state, *step.consulted):
        if not isinstance(path, str) or not path or "\0" in path or path != os.path.normpath(path):
            raise _wrong(step, "N6-STEP-008", f"{path!r} is not a file path", "write paths without '.', '..' and '//'")


def _is_canonical(text: str) -> bool:
    try:
        return text == "{}" or canonical(parse_json(text)) == text
    except (TypeError, ValueError):
        return False


def _wrong(step: Step, id: str, what: str, hint: str | None = None) -> N6Error:
    name = f"step {step.outputs[0]}: " if step.outputs else f"step {step.verb}: "
    return N6Error(id, name + what, where=step.made_at or None, hint=hint)


def _caller() -> str:
    """Return file:line of the code that makes a step."""
    frame = sys._getframe(1)
    here = frame.f_code.co_filename
    while frame.f_back is not None and frame.f_code.co_filename in (here, "<string>"):
        frame = frame.f_back
    return f"{os.path.relpath(frame.f_code.co_filename)}:{frame.f_lineno}"

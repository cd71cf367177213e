"""A parser of outside data, and the rule that every one of them keeps: whatever the bytes are, it returns or raises an N6Error,
within bounded time and memory."""

from __future__ import annotations

import dataclasses
import signal
import time
import traceback
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import msgspec
from n6build.base.errors import N6Error

# Of the processor's time, which does not depend on how busy the machine is.
HANGS_S = 10.0
Parse = Callable[[bytes, Path], object]
Result = Literal["read", "refused", "traceback", "hang"]


@dataclass(frozen=True)
class Target:
    """seeds(): what it reads, small and sound. parse(data, folder): folder is empty, or has what earlier calls have left. words:
    of the format, which mutations put in."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    parse: Parse
    words: Sequence[bytes] = ()


@dataclass(frozen=True)
class Trial:
    """seconds: of the processor. said: the error's text, or the end of the traceback. where: of a traceback, the innermost line
    of this project."""

    result: Result
    seconds: float
    said: str = ""
    where: str = ""


class _HangError(BaseException):
    """Nothing that reads catches it."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(signum: int, frame: types.FrameType | None) -> None:
        raise _HangError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def tried(target: Target, data: bytes, folder: Path) -> Trial:
    """One input."""
    start = time.process_time()
    result: Result = "read"
    said = where = ""
    try:
        with _limited(HANGS_S):
            target.parse(data, folder)
    except N6Error as error:
        result, said = "refused", str(error)
    except _HangError as error:
        result, said, where = "hang", "".join(traceback.format_exception(error)[-3:]), _place(error)
    except Exception as error:
        result, said, where = "traceback", "".join(traceback.format_exception(error)[-3:]), _place(error)
    return Trial(result, time.process_time() - start, said, where)


def _place(error: BaseException) -> str:
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if "/n6build/" in frame.filename]
    kind = type(error).__name__
    return f"{Path(own[-1].filename).name}:{own[-1].lineno} {kind}" if own else kind


def of_file(name: str, read: Callable[[Path], object]) -> Parse:
    """For what reads a file of this name."""

    def parse(data: bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(data)
        return read(path)

    return parse


def sample_of(kind: Any) -> Any:  # noqa: PLR0911 - a kind of type each
    """A JSON value that reads as this type: one item in each list and mapping, no value that could be absent left out."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return {name: sample_of(each) for name, each in typing.get_type_hints(kind).items()}
    if origin is Literal:
        return arguments[0]
    if origin in (types.UnionType, typing.Union):
        return sample_of(next(each for each in arguments if each is not types.NoneType))
    if origin in (list, tuple):
        items = [each for each in arguments if each is not Ellipsis]
        return [sample_of(each) for each in items]
    if origin in (dict, Mapping):
        return {sample_of(arguments[0]) if arguments[0] is str else "1": sample_of(arguments[1])}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind)).value
    return {int: 1, float: 1.5, str: "name", bool: True, Path: "name"}[kind]


def json_of(kind: Any, **values: object) -> bytes:
    """`sample_of`, as text. values: that a field needs."""
    return msgspec.json.encode({**sample_of(kind), **values})

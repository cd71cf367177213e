"""A parser of outside data, and the rule that each parser keeps.

The rule: for any bytes, the parser returns or raises an N6Error, within bounded time and memory.
"""

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

# Processor time does not depend on how busy the machine is.
HANGS_S = 10.0
Parse = Callable[[bytes, Path], object]
Result = Literal["read", "refused", "traceback", "hang"]


@dataclass(frozen=True)
class Target:
    """A parser with its seeds.

    Attributes:
        seeds: Function that returns small, sound inputs.
        parse: Called with the data and a folder, which is empty or holds files of earlier calls.
        words: Words of the format, which mutations insert.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    parse: Parse
    words: Sequence[bytes] = ()


@dataclass(frozen=True)
class Trial:
    """The result of one input.

    Attributes:
        seconds: Processor time in seconds.
        said: The error's text, or the end of the traceback.
        where: The innermost line of this project in the traceback.
    """

    result: Result
    seconds: float
    said: str = ""
    where: str = ""


class _HangError(BaseException):
    """An exception that no reader catches."""


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
    """Parse one input and return the result."""
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
    """Return a parse function that writes the data to a named file and reads it."""

    def parse(data: bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(data)
        return read(path)

    return parse


def sample_of(kind: Any) -> Any:  # noqa: PLR0911 - a kind of type each
    """Return a JSON value that reads as this type.

    Each list and mapping has one item, and optional values are present.
    """
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
    """Return `sample_of` as JSON text.

    Args:
        values: Values of fields that need a certain one.
    """
    return msgspec.json.encode({**sample_of(kind), **values})

"""The ledger of a build folder: the inputs behind the outputs of each step.

It has one line for each step, written when the step is done. It decides which steps are done, gives
people the reasons, detects altered outputs, and survives a build that is killed. Only the process
that holds the lock of the build folder (`lock.py`) writes to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from n6build.base import uses
from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import cannot_write, write_atomically
from n6build.base.regular_file import content_of
from n6build.engine.step import Step, canonical

FOLDER = ".n6build"
# Stored in place of the digest of an input that changed while the step was done. It equals no digest.
UNSTABLE = "?"
_FORMAT = 1
_LARGEST = 64 << 20


@dataclass(frozen=True)
class Output:
    """An output as a step has made it.

    Attributes:
        state: Size, times and inode of the file when it was written.
        digest: SHA-256.
    """

    state: uses.State
    digest: str


@dataclass(frozen=True)
class Entry:
    """The record of one step.

    Attributes:
        name: Name of the step.
        parts: Parts from `signed_parts`.
        inputs: Path -> digest, empty for a file that had to be absent, `UNSTABLE` for one that
            changed meanwhile.
        outputs: Outputs by their paths.
        reason: Reason to do the step.
        origin: Place where it was done.
        seconds: Duration.
    """

    name: str
    parts: Mapping[str, object]
    inputs: Mapping[str, str]
    outputs: Mapping[str, Output]
    reason: str
    origin: str
    seconds: float = 0.0


@dataclass
class Ledger:
    """The records of a build folder.

    Attributes:
        path: The file.
        entries: The latest entry of each step, by its name.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)

    def write(self, entry: Entry) -> None:
        """Append an entry.

        One call writes the line: threads cannot mix theirs, and a kill leaves at most the last line
        incomplete.

        Raises:
            N6Error: N6-FILE-001 if the file cannot be written.
        """
        self.entries[entry.name] = entry
        line = (canonical(_as_json(entry)) + "\n").encode()
        with _writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)

    def objections(self, step: Step) -> list[str]:
        """Return a line for each output that is not as the step left it.

        There is none if the step is not in the ledger.
        """
        entry = self.entries.get(step.name)
        if entry is None:
            return []
        return [found for output in step.outputs if (found := _objection(output, entry.outputs.get(output)))]


def _objection(output: str, written: Output | None) -> str:
    """Return a line about an output that is not as the step left it, else nothing.

    Args:
        written: The output when it was made; None if it was gone before the step was entered.
    """
    try:
        state = uses.state_of(output)
    except (OSError, ValueError):
        return f"{output} is missing"
    if written and state == written.state and uses.trusts_earlier_builds():
        return ""
    if written and state[0] == written.state[0] and uses.digest_of(output) == written.digest:
        return ""
    return f"{output} has been altered since it was made"


def ledger_path(build: Path) -> Path:
    """Return the path of the ledger.

    Args:
        build: Folder of all build products.
    """
    return build / FOLDER / "ledger.jsonl"


def read_ledger(build: Path, *, may_write: bool = True) -> Ledger:
    """Read the ledger of a build folder.

    Lines that are damaged or of another version are left out.

    Args:
        build: Folder of all build products.
        may_write: Whether this process holds the folder's lock. A file that has grown long is
            rewritten then.

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written.
    """
    path = ledger_path(build)
    data = _data(path)
    ledger = Ledger(path, _entries(data))
    if may_write and data:
        with _writing(path):
            if _is_long(data, ledger.entries):
                write_atomically(path, "".join(canonical(_as_json(entry)) + "\n" for entry in ledger.entries.values()))
            elif not data.endswith(b"\n"):
                # A build was killed while writing: the next line must not become part of this one.
                with path.open("ab") as file:
                    file.write(b"\n")
    return ledger


def _data(path: Path) -> bytes:
    try:
        return content_of(path) if path.stat().st_size <= _LARGEST else b""
    except OSError:
        return b""


def _entries(data: bytes) -> dict[str, Entry]:
    found = filter(None, map(_entry, data.splitlines()))
    return {entry.name: entry for entry in found}


def _is_long(data: bytes, entries: Mapping[str, Entry]) -> bool:
    return data.count(b"\n") > max(200, 3 * len(entries))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise N6-FILE-001 if the block cannot write."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def output_of(path: str) -> Output:
    """Return state and digest of a file as it is now.

    Raises:
        OSError: The file does not exist.
    """
    return Output(uses.state_of(path), uses.digest_of(path))


def digests(paths: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each path, empty for a file that cannot be read."""
    return {path: uses.digest_of(path) for path in paths}


def _as_json(entry: Entry) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "name": entry.name,
        "parts": entry.parts,
        "inputs": entry.inputs,
        "outputs": {path: [*output.state, output.digest] for path, output in entry.outputs.items()},
        "reason": entry.reason,
        "origin": entry.origin,
        "seconds": round(entry.seconds, 4),
    }


def _part(name: str, value: object) -> object:
    """Return a part if it has the type that `signed_parts` gives it.

    This is a text or a list of texts, and for tools a list of pairs.

    Raises:
        ValueError: The part has another type.
    """
    texts: list[Any] = value if isinstance(value, list) else [value]
    if name == "tools" and all(isinstance(each, list) and len(each) == 2 for each in texts):
        texts = [each for pair in texts for each in pair]
    if not all(isinstance(each, str) for each in texts):
        raise ValueError("a part of a step is neither text nor a list of texts")
    return value


def _entry(line: bytes) -> Entry | None:
    try:
        values: Any = parse_json(line)
        if values["format"] != _FORMAT:
            return None
        outputs = {
            str(path): Output((int(size), int(mtime), int(ctime), int(inode)), str(digest))
            for path, (size, mtime, ctime, inode, digest) in values["outputs"].items()
        }
        return Entry(
            name=str(values["name"]),
            parts={str(name): _part(name, value) for name, value in values["parts"].items()},
            inputs={str(path): str(digest) for path, digest in values["inputs"].items()},
            outputs=outputs,
            reason=str(values["reason"]),
            origin=str(values["origin"]),
            seconds=float(values["seconds"]),
        )
    except WRONG_FIELDS:
        return None

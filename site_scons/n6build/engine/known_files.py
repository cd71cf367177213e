"""Digests that earlier builds have computed: of files, and of import closures.

Digests of files that earlier builds have computed. They hold as long as a file has the same size,
times and inode: a build with nothing to do reads no file twice.

Digests of import closures that an earlier call has computed. They hold as long as each file of the
library, and each record of an installed package, has the same size, times and inode. Reading all
the sources again takes twenty times as long.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from n6build.base import uses
from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.engine.closure import MODULE_SUFFIXES, Code, library_code
from n6build.engine.ledger import FOLDER
from n6build.engine.packages import installed_packages, record_of
from n6build.engine.step import canonical

_CODE_NAME = "code.json"


def known_code(build: Path) -> Code:
    """Return the code of n6build, with digests of an earlier call.

    Args:
        build: Folder of all build products, where the earlier call has kept the digests.
    """
    code = library_code()
    states = list(states_of_code(code))
    # The state is taken before anything is read: the digest of a file that changes in between is stored under a state that
    # does not come again.
    if all(uses.is_settled(state) for _, state in states):
        code.state = hashlib.sha256(canonical([sys.version, states]).encode()).hexdigest()
    try:
        document: Any = parse_json(content_of(build / FOLDER / _CODE_NAME))
        if code.state and document["state"] == code.state and uses.trusts_earlier_builds():
            code.digests.update({str(name): str(digest) for name, digest in document["digests"].items()})
    except (OSError, *WRONG_FIELDS):
        pass
    code.known = len(code.digests)
    return code


def keep_known_code(code: Code, build: Path) -> None:
    """Write the known digests of the code, if there are more than before."""
    if code.state and len(code.digests) > code.known:
        document = {"state": code.state, "digests": dict(sorted(code.digests.items()))}
        write_atomically(build / FOLDER / _CODE_NAME, json.dumps(document) + "\n")
        code.known = len(code.digests)


def states_of_code(code: Code) -> Iterator[tuple[str, uses.State]]:
    """Yield path and state of every file that the digests depend on."""
    for root in code.roots.values():
        yield from sorted(_python_files(str(root)))
    for folder in sorted(installed_packages().values()):
        path = record_of(folder)
        if os.path.isfile(path):
            yield path, uses.state_of(path)


def _python_files(folder: str) -> Iterator[tuple[str, uses.State]]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith(MODULE_SUFFIXES) and entry.is_file():
                yield entry.path, uses.state_of(entry.path)
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _python_files(entry.path)


_FILES_NAME = "files.json"


def remember_known_files(build: Path) -> None:
    """Take over the digests that an earlier call has kept.

    A damaged file counts as none.

    Args:
        build: Folder of all build products.
    """
    for path, (*state, digest) in _read(build).items():
        uses.remember_digest(path, (state[0], state[1], state[2], state[3]), digest)


def keep_known_files(build: Path) -> None:
    """Write the known digests of files, if reading the new ones again takes a while.

    A wrong digest that is kept there is replaced at once: the times of a file may not show a change
    (option paranoid).

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written.
    """
    kept = {path: known for path, known in uses.settled_files().items() if _is_there(path, known)}
    lines = {path: [*known.state, known.digest] for path, known in kept.items()}
    before = _read(build)
    is_wrong = any(
        line[:-1] == lines[path][:-1] and line != lines[path] for path, line in before.items() if path in lines
    )
    new = sum(known.state[0] for path, known in kept.items() if lines[path] != before.get(path))
    if is_wrong or new >= uses.LARGE_BYTES:
        write_atomically(build / FOLDER / _FILES_NAME, json.dumps(lines) + "\n")


def _read(build: Path) -> dict[str, list[Any]]:
    try:
        found: Any = parse_json(content_of(build / FOLDER / _FILES_NAME))
        return {
            str(path): [int(size), int(mtime), int(ctime), int(inode), str(digest)]
            for path, (size, mtime, ctime, inode, digest) in found.items()
        }
    except (OSError, *WRONG_FIELDS):
        return {}


def _is_there(path: str, known: uses.Known) -> bool:
    try:
        return uses.state_of(path) == known.state
    except OSError:
        return False

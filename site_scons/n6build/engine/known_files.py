"""Digests of files that earlier builds have computed.

They hold as long as a file has the same size, times and inode: a build with nothing to do reads no file twice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from n6build.base import uses
from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import write_atomically
from n6build.base.regular_file import content_of
from n6build.engine.ledger import FOLDER

_NAME = "files.json"


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
        write_atomically(build / FOLDER / _NAME, json.dumps(lines) + "\n")


def _read(build: Path) -> dict[str, list[Any]]:
    try:
        found: Any = parse_json(content_of(build / FOLDER / _NAME))
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

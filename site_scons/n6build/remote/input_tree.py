"""The files that an action starts with, as the Merkle tree of directories by which the protocol names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from n6build.remote.messages import CLASSES
from n6build.remote.store import Blob, Digest, blob_of


@dataclass(frozen=True)
class InputTree:
    """root: names the whole tree. blobs: everything in it, directories and files."""

    root: Digest
    blobs: tuple[Blob, ...]


def input_tree(files: Mapping[str, Blob]) -> InputTree:
    """files: path relative to the root, with '/' -> content. No path may be a folder of another."""
    blobs: list[Blob] = []
    root = _directory(sorted((tuple(path.split("/")), blob) for path, blob in files.items()), blobs)
    return InputTree(root, tuple(blobs))


def _directory(files: list[tuple[tuple[str, ...], Blob]], blobs: list[Blob]) -> Digest:
    """files: parts of the path -> content. Equal trees have equal digests: names are sorted, as the protocol demands."""
    inside: dict[str, list[tuple[tuple[str, ...], Blob]]] = {}
    directory = CLASSES["Directory"]()
    for (name, *rest), blob in files:
        if rest:
            inside.setdefault(name, []).append((tuple(rest), blob))
        else:
            directory.files.add(name=name, digest=blob.digest.message())
            blobs.append(blob)
    for name in sorted(inside):
        directory.directories.add(name=name, digest=_directory(inside[name], blobs).message())
    blob = blob_of(directory.SerializeToString(deterministic=True))
    blobs.append(blob)
    return blob.digest

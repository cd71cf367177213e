"""SCons' cache of build products, with the digest of each entry: an altered entry is not used, and the file is built again."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

from n6build.plan.perform import note_delivered
from SCons.CacheDir import CacheDir

_MAGIC = b"n6build cache 1 "
_HEAD = len(_MAGIC) + 64 + 1


class CheckedCacheDir(CacheDir):  # type: ignore[misc]
    """An entry is its digest, then the file. What the cache delivers is entered into the ledger, like what is built."""

    @classmethod
    def copy_to_cache(cls, env: Any, src: str, dst: str) -> str:
        """src: the file. dst: the entry."""
        with open(src, "rb") as source, open(dst, "wb") as target:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
            target.write(_MAGIC + digest.encode() + b"\n")
            source.seek(0)
            shutil.copyfileobj(source, target)
        return dst

    @classmethod
    def copy_from_cache(cls, env: Any, src: str, dst: str) -> str:
        """src: the entry. dst: the file. Raises OSError if the entry is damaged; SCons then builds the file."""
        if _is_sound(src):
            with open(src, "rb") as source, open(dst, "wb") as target:
                source.seek(_HEAD)
                shutil.copyfileobj(source, target)
            return dst
        # Removed, since it would otherwise block the correct one.
        os.unlink(src)
        raise OSError(f"the cache entry for {dst} was altered")

    def retrieve(self, node: Any) -> bool:
        """Whether the cache had the node's file; enters the step into the ledger once all of its outputs exist."""
        if not super().retrieve(node):
            return False
        step = getattr(node.attributes, "n6_step", None)
        if step is not None and all(Path(output).is_file() for output in step.outputs):
            top = node.attributes.n6_site.top
            children = (os.path.relpath(child.get_abspath(), top) for child in node.children())
            known = {*step.sources, *step.templates}
            note_delivered(step, node.attributes.n6_site, [path for path in children if path not in known])
        return True

    def push(self, node: Any) -> None:
        """SCons keeps an entry that is there already; where that one was altered, the right one takes its place."""
        _, path = self.cachepath(node)
        if path and os.path.isfile(path) and not _is_sound(path):
            os.unlink(path)
        super().push(node)

    def get_cachedir_csig(self, node: Any) -> str:
        """Digest of the file alone, without the head of the entry."""
        _, path = self.cachepath(node)
        try:
            with open(path, "rb") as source:
                source.seek(_HEAD)
                return str(hashlib.file_digest(source, _algorithm()).hexdigest())
        except OSError:
            return str(super().get_cachedir_csig(node))


def _is_sound(entry: str) -> bool:
    with open(entry, "rb") as file:
        head = file.read(_HEAD)
        return head == _MAGIC + hashlib.file_digest(file, "sha256").hexdigest().encode() + b"\n"


def _algorithm() -> str:
    from SCons.Util import hash_signature  # noqa: PLC0415

    return {32: "md5", 40: "sha1", 64: "sha256"}[len(hash_signature(b""))]

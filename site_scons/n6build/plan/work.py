"""A step together with the contents of all that it reads: what a cache is asked for, and what another machine could do.

Names are those of `signature`: equal in every checkout. What lies neither in the project nor in the checkout of n6build is named
by its path, which compilers write into what they make.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from n6build.base.uses import digest_of
from n6build.plan.perform import Site
from n6build.plan.signature import localized, portable, signed_parts
from n6build.plan.step import Step, canonical

_FORMAT = 1


@dataclass(frozen=True)
class Work:
    """headers: further files that the step reads, as it names them. parts: as of `signed_parts`. inputs: name of each file that
    is read -> its SHA-256, sorted by name."""

    step: Step
    headers: tuple[str, ...]
    parts: Mapping[str, object]
    inputs: Mapping[str, str]

    @property
    def key(self) -> str:
        """SHA-256 of everything that decides what the step makes."""
        text = canonical({"format": _FORMAT, "parts": self.parts, "inputs": self.inputs})
        return hashlib.sha256(text.encode()).hexdigest()


def depfile_for_others(step: Step, site: Site) -> bytes:
    """The list of headers that the step has written, as it is kept for other checkouts."""
    data = (site.top / step.depfile).read_bytes()
    return os.fsencode(portable(os.fsdecode(data), str(site.top)))


def depfile_from_others(data: bytes, site: Site) -> bytes:
    """The inverse."""
    return os.fsencode(localized(os.fsdecode(data), str(site.top)))


def work_of(step: Step, site: Site, headers: Iterable[str]) -> Work | None:
    """headers: that a compiler will read, as the build finds them. None where a file cannot be read: nothing is known then."""
    top, found = str(site.top), tuple(sorted(set(headers)))
    digests = {}
    for path in (*step.sources, *step.templates, *step.consulted, *found):
        digest = digest_of(path if os.path.isabs(path) else os.path.join(top, path))
        if not digest:
            return None
        digests[portable(path, top)] = digest
    return Work(step, found, signed_parts(step, site.code, top), dict(sorted(digests.items())))

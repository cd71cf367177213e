"""Steps with the contents of all that they read, for caches and other machines.

Names are those of `signature`: equal in every checkout. A file outside the project and the checkout
of n6build is named by its path, which compilers write into their outputs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from n6build.base.regular_file import content_of
from n6build.base.uses import digest_of
from n6build.engine.perform import Site
from n6build.engine.signature import localized, portable, signed_parts
from n6build.engine.step import Step, canonical

_FORMAT = 1


@dataclass(frozen=True)
class Work:
    """A step with the contents of its inputs.

    Attributes:
        step: The step.
        headers: Further files that the step reads, as it names them.
        parts: Parts from `signed_parts`.
        inputs: Name of each file that is read -> its SHA-256, empty for a file that has to be
            absent; sorted by name.
    """

    step: Step
    headers: tuple[str, ...]
    parts: Mapping[str, object]
    inputs: Mapping[str, str]

    @property
    def key(self) -> str:
        """Return the SHA-256 of everything that affects the outputs of the step."""
        text = canonical({"format": _FORMAT, "parts": self.parts, "inputs": self.inputs})
        return hashlib.sha256(text.encode()).hexdigest()


def depfile_for_others(step: Step, site: Site) -> bytes:
    """Return the list of headers that the step has written, for other checkouts."""
    data = content_of(site.top / step.depfile)
    return os.fsencode(portable(os.fsdecode(data), str(site.top)))


def depfile_from_others(data: bytes, site: Site) -> bytes:
    """Return a list of headers from another checkout, for this one."""
    return os.fsencode(localized(os.fsdecode(data), str(site.top)))


def work_of(step: Step, site: Site, headers: Iterable[str] = ()) -> Work | None:
    """Return the step with the contents of its inputs, None if one cannot be read.

    Args:
        step: The step.
        site: Site where the step is done.
        headers: Further files that the step reads.
    """
    top, found = str(site.top), tuple(sorted(set(headers)))
    digests = {}
    for path in (*step.sources, *step.templates, *step.consulted, *found):
        digest = digest_of(os.path.join(top, path))
        if not digest:
            return None
        digests[portable(path, top)] = digest
    return Work(step, found, signed_parts(step, site.code, top), dict(sorted(digests.items())))


def headers_of(work: Work, digests: Mapping[str, str], site: Site) -> Work | None:
    """Return the work with these headers, None if this checkout has others.

    Args:
        work: Work without headers.
        digests: Portable name of each header -> SHA-256, empty for one that has to be absent.
        site: Site where the step is done.
    """
    paths = {localized(name, str(site.top)): digest for name, digest in digests.items()}
    for path, digest in paths.items():
        place = os.path.join(site.top, path)
        # Pipes and devices, which names from elsewhere may lead to, are not opened.
        if (digest_of(place) if os.path.isfile(place) else "") != digest:
            return None
    headers = tuple(sorted(path for path, digest in paths.items() if digest))
    return Work(work.step, headers, work.parts, dict(sorted({**work.inputs, **digests}.items())))

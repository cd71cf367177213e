"""Results that builds share: fetched before a step is done, stored afterwards.

If the cache fails, a build goes on without it and reports the error once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.console import kib, say
from n6build.base.errors import N6Error
from n6build.engine.perform import Site
from n6build.engine.signature import portable
from n6build.engine.step import canonical
from n6build.engine.work import Work, headers_of

# Files are sent while other steps are done.
_SENDERS = 2
# A note has the sets of headers that a step is known with, the latest first, as in ccache's manifests.
_NOTE_FORMAT, _MOST_SETS, _LONGEST_NOTE = 1, 16, 1 << 20
# Errors about a single answer or entry: the next one may be right.
_ONE_IS_WRONG = ("N6-REMOTE-006", "N6-CACHE-002")


class Store(Protocol):
    """A place where results are kept: a folder, or a server."""

    @property
    def name(self) -> str:
        """Return the name of the store, for messages."""

    def fetch(self, work: Work, site: Site) -> bool:
        """Write the outputs of the step, and return whether the store has all of them.

        Every byte is checked: the outputs are as they were stored.

        Raises:
            N6Error: The store cannot be read, or its content is damaged.
        """

    def keep(self, work: Work, site: Site) -> int:
        """Store the outputs of the step, and return the bytes that had to be stored.

        Raises:
            N6Error: The outputs cannot be stored.
        """

    def read_note(self, work: Work, site: Site) -> bytes | None:
        """Return the note about a step without headers, None if there is none.

        Raises:
            N6Error: The store cannot be read, or the note is damaged.
        """

    def keep_note(self, work: Work, site: Site, note: bytes) -> int:
        """Replace the note about a step without headers, and return its size in bytes.

        Raises:
            N6Error: The note cannot be stored.
        """


@dataclass
class Cache:
    """A cache for several threads.

    Attributes:
        store: Place of the results.
        may_write: Whether outputs that are made here are stored.
        may_read: Whether outputs are fetched.
        fetched: Number of steps that were fetched.
        missed: Number of steps that were not in the store.
        kept: Number of steps that were stored.
        sent: Bytes of files that were stored.
    """

    store: Store
    may_write: bool
    may_read: bool = True
    fetched: int = 0
    missed: int = 0
    kept: int = 0
    sent: int = 0
    _said: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: list[Future[None]] = field(default_factory=list)

    def fetch(self, work: Work, site: Site) -> bool:
        """Write the outputs of the step if the store has them, and return whether it has.

        Compilations are looked up twice: the step without its headers leads to a note with the sets
        of headers that builds have read, and the set that matches the headers here leads to the
        outputs.

        Args:
            work: The step without headers.
            site: Site where the step is done.
        """
        if not self.may_read:
            return False
        try:
            known = self._with_headers(work, site) if work.step.depfile else work
            found = known is not None and self.store.fetch(known, site)
        except N6Error as error:
            found = False
            if error.id not in _ONE_IS_WRONG:
                self.may_read = self.may_write = False
            self._say(error, "this computer runs the step" if self.may_read else "continuing without this cache")
        with self._lock:
            self.fetched += found
            self.missed += not found
        return found

    def keep(self, work: Work, site: Site, headers: Mapping[str, str] | None = None) -> None:
        """Store the outputs of the step in the background.

        Args:
            work: The step without headers.
            site: Site where the step was done.
            headers: Headers of a compilation: path of each header that was read -> SHA-256, empty
                for one that was looked for.
        """
        if self.may_write:
            self._running.append(self._senders.submit(self._keep, work, site, headers or {}))

    def _with_headers(self, work: Work, site: Site) -> Work | None:
        sets = _read_sets(self.store.read_note(work, site) or b"")
        return next((found for each in sets if (found := headers_of(work, each, site)) is not None), None)

    def finish(self) -> None:
        """Wait until everything is stored, and report the use of the cache.

        The wait is limited: each call to a server has an end.
        """
        for each in self._running:
            each.result()
        self._senders.shutdown()
        if self.fetched or self.kept:
            told = [f"{self.fetched} of {self.fetched + self.missed} steps fetched"]
            told += [f"{self.kept} stored ({kib(self.sent)})"] if self.kept else []
            say("Cache", self.store.name, ", ".join(told))

    @cached_property
    def _senders(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_SENDERS)

    def _keep(self, work: Work, site: Site, headers: Mapping[str, str]) -> None:
        made = (*work.step.outputs, work.step.depfile or work.step.name)
        # Another call may clean the folder meanwhile.
        if not self.may_write or not all((site.top / name).is_file() for name in made):
            return
        try:
            sent = self._sent(work, site, headers)
        except N6Error as error:
            self.may_write = False
            self._say(error, "no further results go into this cache")
            return
        with self._lock:
            self.kept += 1
            self.sent += sent

    def _sent(self, work: Work, site: Site, headers: Mapping[str, str]) -> int:
        """Store the outputs of the step, and return the bytes that had to be stored.

        Raises:
            N6Error: The outputs cannot be stored.
        """
        if not work.step.depfile:
            return self.store.keep(work, site)
        digests = {portable(path, str(site.top)): digest for path, digest in headers.items()}
        known = headers_of(work, digests, site)
        if known is None:
            # A header has been edited meanwhile.
            return 0
        sent = self.store.keep(known, site)
        try:
            before = self.store.read_note(work, site) or b""
        except N6Error as error:
            if error.id not in _ONE_IS_WRONG:
                raise
            before = b""
        sets = [each for each in _read_sets(before) if each != digests]
        note = canonical({"format": _NOTE_FORMAT, "headers": [digests, *sets[: _MOST_SETS - 1]]}).encode()
        return sent + self.store.keep_note(work, site, note)

    def _say(self, error: N6Error, consequence: str) -> None:
        with self._lock:
            if error.id in self._said:
                return
            self._said.add(error.id)
        say("Cache", f"{error.where or self.store.name}: {error.id}: {error.what}", consequence, "bad")


def _read_sets(note: bytes) -> list[dict[str, str]]:
    """Return the sets of headers in a note; none if the note is damaged."""
    try:
        values: Any = parse_json(note) if 0 < len(note) <= _LONGEST_NOTE else {}
        if values.get("format") != _NOTE_FORMAT:
            return []
        return [{str(path): str(digest) for path, digest in each.items()} for each in values["headers"][:_MOST_SETS]]
    except WRONG_FIELDS:
        return []


def open_cache(name: str, open_store: Callable[[], Store], *, may_write: bool) -> Cache | None:
    """Return the cache of a store, None if the store cannot be opened.

    In the latter case the error is printed.

    Args:
        name: Name of the store, for the message.
        open_store: Function that opens the store.
        may_write: Whether outputs that are made here are stored.

    Raises:
        N6Error: The user has to correct something.
    """
    try:
        return Cache(open_store(), may_write)
    except N6Error as error:
        if error.id not in _GOES_ON:
            raise
        say("Cache", f"{error.where or name}: {error.id}: {error.what}", "continuing without this cache", "bad")
        return None


# A build goes on after these errors. All others are mistakes on the command line or in the environment.
_GOES_ON = ("N6-CACHE-001", "N6-REMOTE-003", "N6-REMOTE-004", "N6-REMOTE-005", "N6-REMOTE-006")

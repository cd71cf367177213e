"""The place where SCons asks and fills a cache. SCons has entries for files and keys of its own; here a step is fetched as a
whole, by the key that it has on every machine, and what has come is entered into the ledger like what is built."""

from __future__ import annotations

import atexit
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import SCons.Action
from n6build.plan.perform import note_delivered
from n6scons import last_words
from SCons.CacheDir import CacheDir
from SCons.Util import display

if TYPE_CHECKING:
    # Loaded where a cache is used: every build comes by here.
    from n6build.plan.cache import Cache, Store
    from n6build.plan.work import Work


def use_cache(env: Any, where: str, *, may_write: bool, limit: int) -> None:
    """Gives the environment a cache for its steps. where: a folder, or the address of a server; empty for none, also not that of
    the surrounding project, which would not check what it delivers. Raises N6Error for an address that is none."""
    if where and SCons.Action.execute_actions:
        _shared[where] = _opened(where, may_write=may_write, limit=limit)
        env.CacheDir(where.replace("$", "$$"), StepCacheDir)
    else:
        env.CacheDir(None)


# By what the option says, which is all that SCons hands to a class for caches.
_shared: dict[str, Cache | None] = {}


@cache
def _opened(where: str, *, may_write: bool, limit: int) -> Cache | None:
    """One for a whole build, in which SCons makes many objects."""
    from n6build.plan.cache import open_cache

    opened = open_cache(where, lambda: _store(where, limit), may_write=may_write)
    if opened is not None:
        atexit.register(_finish, opened)
    return opened


def _store(where: str, limit: int) -> Store:
    from n6build.remote.address import is_remote, parse_address

    if not is_remote(where):
        from n6build.plan.folder_cache import open_folder

        return open_folder(Path(where).expanduser(), limit)
    # A misspelt address is said even where gRPC is missing, which is loaded here or not at all.
    parse_address(where)
    from n6build.remote.server_store import open_server

    return open_server(where)


def _finish(opened: Cache) -> None:
    with last_words():
        opened.finish()


class StepCacheDir(CacheDir):  # type: ignore[misc]
    """For the nodes that n6 makes, which know their steps. SCons asks for the outputs of a step one after the other; the first
    one decides for all."""

    def __init__(self, path: str) -> None:
        # Without the folder that SCons would make, and the settings in it.
        super().__init__(None)
        self.path = path
        self._cache = _shared.get(path)

    def cachepath(self, node: Any) -> tuple[None, None]:
        """No path: entries are not SCons' own."""
        return None, None

    def retrieve(self, node: Any) -> bool:
        """Whether the node's file is there now, as the cache had it."""
        if self._cache is None or not self.is_enabled() or not SCons.Action.execute_actions:
            return False
        first = _first(node)
        if node is first:
            node.attributes.n6_delivered = _delivered(self._cache, node)
        if first.attributes.n6_delivered:
            display(f"Retrieved `{node.get_internal_path()}' from cache")
        return bool(first.attributes.n6_delivered)

    def push(self, node: Any) -> None:
        """What a step has made is stored once, if it has read what it was to read: its inputs are as they were before."""
        from n6build.plan.work import work_of

        before: Work | None = getattr(node.attributes, "n6_work", None)
        if self._cache is None or self.is_readonly() or node is not _first(node) or before is None:
            return
        site = node.attributes.n6_site
        if before == work_of(before.step, site, before.headers):
            self._cache.keep(before, site)


def _first(node: Any) -> Any:
    """The node of the first output."""
    return node.get_executor().get_all_targets()[0]


def _delivered(used: Cache, node: Any) -> bool:
    """node: of the step's first output. Enters what has come into the ledger."""
    from n6build.plan.work import work_of

    step, site = node.attributes.n6_step, node.attributes.n6_site
    top = os.path.join(site.top, "")
    children = (child.get_abspath() for child in node.children())
    known = {*step.sources, *step.templates}
    # As steps name files: inside the project without its folder.
    headers = [path for path in (child.removeprefix(top) for child in children) if path not in known]
    work = node.attributes.n6_work = work_of(step, site, headers)
    if work is None or not used.fetch(work, site):
        return False
    note_delivered(step, site, headers)
    return True

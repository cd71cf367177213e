"""Steps shared with other machines, by the cache and the workers in the options.

Modules are loaded only if they are needed: most builds share nothing, and only servers need gRPC.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.engine.perform import Site

if TYPE_CHECKING:
    from n6build.engine.cache import Store


@dataclass(frozen=True)
class Sharing:
    """Options of a call about sharing steps.

    Attributes:
        cache: a folder or the address of a server, empty for none.
        cache_write: whether to store the outputs of this machine.
        cache_limit: bytes that a folder may have, 0 for any number.
        remote: address of a server whose workers do steps, empty for none.
    """

    cache: str = ""
    cache_write: bool = True
    cache_limit: int = 0
    remote: str = ""


@contextmanager
def shared_steps(site: Site, options: Sharing) -> Iterator[int | None]:
    """Share the steps of a site inside the block, and report the effect at its end.

    Yields:
        Number of steps to begin at a time, None for the usual number.

    Raises:
        N6Error: if the user has to correct an address or a folder.
    """
    with ExitStack() as stack:
        if options.cache:
            from n6build.engine.cache import open_cache

            site.cache = open_cache(
                options.cache, lambda: _store(options.cache, options.cache_limit), may_write=options.cache_write
            )
            if site.cache is not None:
                stack.callback(site.cache.finish)
        jobs = None
        if options.remote:
            from n6build.engine.remote.executor import JOBS, use_remote

            executor = use_remote(options.remote, site)
            if executor is not None:
                stack.callback(executor.finish)
                jobs = JOBS
        yield jobs


def _store(where: str, limit: int) -> Store:
    from n6build.engine.folder_cache import open_folder
    from n6build.engine.remote.address import is_remote, parse_address

    if not is_remote(where):
        return open_folder(Path(where).expanduser(), limit)
    # A misspelt address is reported even if gRPC is missing.
    parse_address(where)
    from n6build.engine.remote.server_store import open_server

    return open_server(where)

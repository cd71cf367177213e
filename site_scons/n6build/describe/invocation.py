"""Options that do not affect the plan: caches, workers, lists and output."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.describe.option import parsed, path, size, switch, word
from n6build.describe.until import Shard, parse_shard


@dataclass(frozen=True)
class Invocation:
    """Options of a call that do not affect the outputs of a plan."""

    boards: str = word("all", "the boards: a,b or all", targets=("matrix",))
    models: str = word("all", "the models: a,b or all", targets=("matrix",))
    shard: Shard | None = parsed(
        None,
        "3/8 builds the third of eight shards, one for each machine; `n6build matrix-merge` joins their results",
        parse_shard,
        name="shard",
        targets=("matrix",),
    )
    adopt: str = path(
        "folder of a third-party project: lists its parts and the missing ones, and adds n6build to its build script"
    )
    cache: str = word(
        "",
        "shared cache of built files: a folder, or a server as grpc://host:port/instance (docs/caches.md)",
        environment="N6BUILD_CACHE",
    )
    cache_write: bool = switch(True, "0 only reads from the cache", environment="N6BUILD_CACHE_WRITE")
    cache_limit: int = size(
        "10G",
        "size limit of a cache folder: n6build removes the least recently used entries; 0 is no limit",
        environment="N6BUILD_CACHE_LIMIT",
    )
    remote: str = word(
        "",
        "server of the Remote Execution API whose workers run steps: grpc://host:port/instance, or grpcs:// for TLS",
        environment="N6BUILD_REMOTE",
    )
    debug: bool = switch(False, "1 is verbosity=2", loader="reloc")
    no_color: bool = switch(False, "1 prints without colours, as NO_COLOR does")
    verbose: bool = switch(False, "1 shows whole command lines")
    front: bool = switch(
        True, "0 makes the build check everything itself, without the short cut for builds that have nothing to do"
    )
    paranoid: bool = switch(
        False,
        "1 reads all files again, instead of trusting their times and the digests of earlier builds; for daily builds",
        environment="N6BUILD_PARANOID",
    )
    explain: str = word(
        "", "explains why this build product is rebuilt or not, or what another file is; builds nothing"
    )

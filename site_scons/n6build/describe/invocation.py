"""Options that do not affect the plan: caches, workers, lists and output."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.describe.option import parsed, path, size, switch, word
from n6build.describe.shard import Shard, parse_shard


@dataclass(frozen=True)
class Invocation:
    """Options of a call that do not affect the outputs of a plan."""

    boards: str = word("all", "which boards, a,b or all", targets=("matrix",))
    models: str = word("all", "which models, a,b or all", targets=("matrix",))
    shard: Shard | None = parsed(
        None,
        "3/8 builds the third of eight parts, for as many machines; `n6build matrix-merge` joins their results",
        parse_shard,
        name="shard",
        targets=("matrix",),
    )
    adopt: str = path(
        "folder of a third-party project: reads it, lists what it has and lacks, and adds n6build to its build script"
    )
    cache: str = word(
        "",
        "what others have built: a folder, or a server as grpc://host:port/instance (docs/caches.md)",
        environment="N6BUILD_CACHE",
    )
    cache_write: bool = switch(
        True, "0 only reads the cache, and stores nothing in it", environment="N6BUILD_CACHE_WRITE"
    )
    cache_limit: int = size(
        "10G",
        "a folder as cache is trimmed to this size, by what was used longest ago; 0 lets it grow",
        environment="N6BUILD_CACHE_LIMIT",
    )
    remote: str = word(
        "",
        "server of the Remote Execution API whose workers do steps: grpc://host:port/instance, or grpcs:// for TLS",
        environment="N6BUILD_REMOTE",
    )
    debug: bool = switch(False, "1 is verbosity=2", loader="reloc")
    no_color: bool = switch(False, "1 prints without colours, as NO_COLOR does")
    verbose: bool = switch(False, "1 shows whole command lines")
    front: bool = switch(
        True, "0 lets the build itself find out that there is nothing to do, whatever an earlier one wrote down"
    )
    paranoid: bool = switch(
        False,
        "1 reads all contents again, and trusts no digest that an earlier build kept by the times of files: for daily builds",
        environment="N6BUILD_PARANOID",
    )
    explain: str = word("", "explains why this file was or will be made again, or why not; nothing is built")

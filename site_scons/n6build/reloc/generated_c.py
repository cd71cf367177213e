"""What is compiled and linked into a relocatable model besides network.c: configuration, pool table, wrapper, linker script."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.network.artifacts.description import NetworkArtifacts
from n6build.network.ll_aton import Version
from n6build.reloc.compilation import CONF_HEADER
from n6build.reloc.layout import ABI_A, READ_ONLY_ALIGNMENT, Segment, abi_of, version_words
from n6build.reloc.pools import PoolTable

CONF_TEMPLATE = TEMPLATES / "reloc_conf.h.j2"
POOLS_TEMPLATE = TEMPLATES / "reloc_pools.c.j2"
WRAPPER_TEMPLATE = TEMPLATES / "reloc_network.c.j2"
SCRIPT_TEMPLATE = TEMPLATES / "reloc.ld.j2"
# The only one that the header of Core 2.1 knows, whose compiler uses no other without --network-name.
_SUFFIX_OF_CORE_2_1 = "Default"
RENDERED = (CONF_TEMPLATE, POOLS_TEMPLATE, WRAPPER_TEMPLATE, SCRIPT_TEMPLATE)


@dataclass(frozen=True)
class RelocSources:
    """conf: the configuration of the model, a header. script: of the linker."""

    conf: str
    pools: str
    wrapper: str
    script: str


def reloc_sources(artifacts: NetworkArtifacts, table: PoolTable, version: Version, source_text: str) -> RelocSources:
    """source_text: network.c. Nothing here depends on the values of the weights: they join the code when the file is put
    together."""
    word, dev = version_words(version)
    stubs = [
        f"LL_ATON_{what}_{artifacts.suffix}"
        for what in ("WeightEncryption_Info", "BlobEncryption_Info")
        if len(abi_of(version).entries) > 10 and f"LL_ATON_{what}_{artifacts.suffix}(" not in source_text
    ]
    values = {
        "network": artifacts,
        "table": table,
        "version_word": word,
        "version_dev": dev,
        "description": "n6build (RELOC.GCC)",
        "stubs": stubs,
        "alias_functions": abi_of(version) is ABI_A and artifacts.suffix != _SUFFIX_OF_CORE_2_1,
        "conf_header": CONF_HEADER,
        "alignment": READ_ONLY_ALIGNMENT,
        "symbols": {
            f"_mem_pool_{fname}_{artifacts.suffix}": segment.origin
            for fname, segment in table.segments.items()
            if segment is not Segment.PARAM_0
        },
        # Behind the blobs, where there are some, the segment begins with the whole file of the weights.
        "weights": {
            f"_mem_pool_{pool.name}_{artifacts.suffix}": {"origin": Segment.PARAM_0.origin, "foff": pool.foff}
            for pool in table.pools
            if table.segments.get(pool.name) is Segment.PARAM_0
        },
    }
    return RelocSources(
        conf=render(CONF_TEMPLATE, values),
        pools=render(POOLS_TEMPLATE, values),
        wrapper=render(WRAPPER_TEMPLATE, values),
        script=render(SCRIPT_TEMPLATE, values),
    )

"""Generated sources of a relocatable model, besides network.c.

They are configuration, pool table, wrapper and linker script.
"""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.ll_aton import Version
from n6build.place.reloc.compilation import CONF_HEADER
from n6build.place.reloc.model_format import ABI_A, READ_ONLY_ALIGNMENT, Segment, abi_of, version_words
from n6build.place.reloc.pools import PoolTable

CONF_TEMPLATE = TEMPLATES / "reloc_conf.h.j2"
POOLS_TEMPLATE = TEMPLATES / "reloc_pools.c.j2"
WRAPPER_TEMPLATE = TEMPLATES / "reloc_network.c.j2"
SCRIPT_TEMPLATE = TEMPLATES / "reloc.ld.j2"
# The header of Core 2.1 knows only this suffix, and its compiler uses no other without --network-name.
_SUFFIX_OF_CORE_2_1 = "Default"
RENDERED = (CONF_TEMPLATE, POOLS_TEMPLATE, WRAPPER_TEMPLATE, SCRIPT_TEMPLATE)


@dataclass(frozen=True)
class RelocSources:
    """The generated sources of a relocatable model.

    Attributes:
        conf: configuration of the model, a header.
        script: linker script.
    """

    conf: str
    pools: str
    wrapper: str
    script: str


def reloc_sources(artifacts: NetworkArtifacts, table: PoolTable, version: Version, source_text: str) -> RelocSources:
    """Return the generated sources of a relocatable model.

    They do not depend on the values of the weights, which join the code when the file is assembled.

    Args:
        artifacts: the compiled network.
        table: pool table of the model.
        version: version of ll_aton.
        source_text: text of network.c.
    """
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
        # The segment begins with the whole file of the weights, behind the blobs if there are any.
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

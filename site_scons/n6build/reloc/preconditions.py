"""What a network has to be compiled with before it can become a relocatable model."""

from __future__ import annotations

from n6build.base.errors import N6Error
from n6build.network.artifacts.description import NetworkArtifacts
from n6build.network.artifacts.network_c import NetworkSource
from n6build.network.ll_aton import Version


def check_buffers_known(artifacts: NetworkArtifacts, source: NetworkSource) -> None:
    """How much of a pool is used is in c_info, or follows from all buffers. Raises N6-RELOC-003 where neither is available."""
    described_by_source = artifacts.described_by == artifacts.source.name
    if described_by_source and not source.knows_all_buffers:
        raise N6Error(
            "N6-RELOC-003",
            "does not list its internal buffers, so how much of the memory pools it uses is unknown",
            where=artifacts.source.name,
            hint="--all-buffers-info among the options of the profile, and compile the network again",
        )


def version_for(artifacts: NetworkArtifacts, runtime: Version) -> Version:
    """Of the model: what network.c asks for, which the version gate has compared with the runtime's."""
    return artifacts.ll_aton or runtime

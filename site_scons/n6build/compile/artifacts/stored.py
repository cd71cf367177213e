"""<name>_artifacts.json: the description of a network without network.c.

A relocatable model is such a network: code, tables and weights in one file, linked already. The
step that reads the model writes the description.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, to_json
from n6build.base.same_fields import with_fields_of
from n6build.compile.artifacts.description import (
    EpochBlock,
    EpochInfo,
    IoBuffer,
    NetworkArtifacts,
    PoolRange,
    Quantised,
)
from n6build.compile.ll_aton import Version


@dataclass(frozen=True)
class _Stored:
    """The fields of `NetworkArtifacts` that such a network has.

    `source` is the name of its file, in the same folder.
    """

    name: str
    source: str
    pools: tuple[PoolRange, ...]
    inputs: tuple[IoBuffer, ...]
    outputs: tuple[IoBuffer, ...]
    quantised: tuple[Quantised, ...]
    epochs: tuple[EpochInfo, ...]
    ll_aton: Version
    tools: tuple[tuple[str, str], ...]
    blocks: tuple[EpochBlock, ...]


def stored_name(network: str) -> str:
    """Return the name of the description in a folder of stage 1."""
    return f"{network}_artifacts.json"


def artifacts_json(artifacts: NetworkArtifacts) -> str:
    """Return the text of <name>_artifacts.json.

    Args:
        artifacts: A network without network.c and without files of weights.
    """
    assert artifacts.ll_aton is not None
    return to_json(asdict(with_fields_of(_Stored, artifacts, source=artifacts.source.name)))


def read_stored(path: Path) -> NetworkArtifacts:
    """Read a <name>_artifacts.json.

    Raises:
        N6Error: N6-FILE-002; N6-NET-020 if the file is not such a description.
    """
    try:
        stored = decode_json(read_bytes(path), _Stored)
    except ValueError as error:
        hint = "build again"
        raise N6Error(
            "N6-NET-020", f"is not a valid description of a network: {error}", where=path.name, hint=hint
        ) from error
    source = path.parent / stored.source
    return with_fields_of(
        NetworkArtifacts,
        stored,
        suffix=stored.name,
        source=source,
        initializers=(),
        library_call=None,
        described_by=source.name,
    )

"""<name>_reloc.json: the facts about a network that later steps of stage 2 need.

The file contains nothing else. New values of the weights do not change it, nor any file that is
made from it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, to_json
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.place.reloc.model_format import PoolDescriptor
from n6build.place.reloc.pools import ParamsPart, PoolTable


@dataclass(frozen=True)
class RelocDescription:
    """The contents of <name>_reloc.json.

    Attributes:
        signature: signature of the network's code.
        params: (raw file or None for zeros, bytes, bytes of the raw file) for each part of the
            weights' file.
        outputs: bytes of each output.
    """

    name: str
    signature: int
    pools: tuple[PoolDescriptor, ...]
    params: tuple[tuple[str | None, int, int], ...]
    outputs: tuple[int, ...]

    def params_parts(self, raws: Mapping[str, Path]) -> tuple[ParamsPart, ...]:
        """Return the parts of the weights' file.

        Args:
            raws: files of stage 1 with weights, by name.
        """
        return tuple(ParamsPart(raws[file] if file else None, size, raw) for file, size, raw in self.params)


def describe(artifacts: NetworkArtifacts, table: PoolTable, signature: int) -> RelocDescription:
    """Return the description of a network.

    Args:
        artifacts: the compiled network.
        table: pool table of the model.
        signature: signature of network.c, as `network_signature` computes it.
    """
    return RelocDescription(
        name=artifacts.name,
        signature=signature,
        pools=table.pools,
        params=tuple((part.file.name if part.file else None, part.bytes, part.raw_bytes) for part in table.params),
        outputs=tuple(output.bytes for output in artifacts.outputs),
    )


def description_json(description: RelocDescription) -> str:
    """Return the text of <name>_reloc.json."""
    return to_json(asdict(description))


def read_description(path: Path) -> RelocDescription:
    """Read <name>_reloc.json.

    Raises:
        N6Error: N6-RELOC-008 if the file is not such a description.
    """
    try:
        return decode_json(read_bytes(path), RelocDescription)
    except ValueError as error:
        raise N6Error(
            "N6-RELOC-008", f"is not a description of a relocatable model: {error}", where=path.name
        ) from error

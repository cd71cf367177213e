"""Check that weights are those of the model beside a network.

Weights of another network may have the same size. Each constant of the model is in the weights with
the same values in another order, so that counting values finds a mix-up without a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most
from n6build.compile.artifacts.description import InitializerImage
from n6build.compile.artifacts.network_c import SourceBuffer, read_network_c
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.model_constants import SMALLEST, counts_of, int8_constants
from n6build.compile.prebuilt.imported import MAX_WEIGHTS_BYTES

# One or two buffers say little: a compiler may change a layer. Of seven networks of ST's compiler at least nine tenths match.
_FEWEST, _LEAST_SHARE = 3, 0.25


def require_weights_of(model: Path, folder: Path, name: str, weights: tuple[str, ...]) -> None:
    """Refuse weights that are not those of a model.

    Args:
        model: File of the model.
        folder: Folder of stage 1 with network.c and raw files.
        name: Name of the network.
        weights: Names of the raw files.

    Raises:
        N6Error: N6-PRE-006 if hardly any of its buffers has the values of a constant of the model.
    """
    import numpy as np  # noqa: PLC0415 - planning compares no weights.

    constants = int8_constants(model)
    params = [buffer for buffer in read_network_c(folder / f"{name}.c").params if buffer.type == "int8"]
    stored = dict(_stored(params, read_artifacts(folder, name, weights).initializers))
    other = [name for name, data in stored.items() if counts_of(np.frombuffer(data, np.uint8)) not in constants]
    if not constants or len(stored) < _FEWEST or len(stored) - len(other) >= _LEAST_SHARE * len(stored):
        return
    raise N6Error(
        "N6-PRE-006",
        f"are not the weights of {model.name}: {len(other)} of {len(stored)} buffers with weights have other values "
        f"than each constant of the model, {other[0]} first",
        where=", ".join(weights),
        hint="use network.c and weights of the same run of the compiler, and the model that they were compiled from",
    )


def _stored(params: Sequence[SourceBuffer], images: Sequence[InitializerImage]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of buffers in raw files."""
    for image in images:
        if not is_file(image.file):
            continue
        data = read_at_most(image.file, MAX_WEIGHTS_BYTES)
        for buffer in params:
            size = buffer.offset_end - buffer.offset_start
            at = buffer.offset_start + (0 if buffer.base is None else buffer.base - image.address)
            if buffer.pool == image.fname and size >= SMALLEST and 0 <= at <= len(data) - size:
                yield buffer.name, data[at : at + size]

"""Expected outputs of a network: what the reference interpreter makes of the same inputs with the model that it was made from."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.compare.interpret import ports_of, reference_rows
from n6build.compare.join import Joined, join
from n6build.memory_plan.vectors import VectorSet, check_row_size, rows
from n6build.network.artifacts.description import IoBuffer, NetworkArtifacts


def reference_npy(model: Path, network: NetworkArtifacts, inputs: VectorSet) -> bytes:
    """A .npy file with a row of outputs for each of inputs: in the type and shape of the network's output, or as bytes, one
    output after another, where it has several. Raises N6-COMPARE-00x, N6-VEC-002."""
    check_row_size(inputs, network.inputs, "inputs")
    takes, gives = ports_of(model)
    channels_last = model.suffix == ".tflite"
    joined = join(network.inputs, takes, "input", channels_last=channels_last)
    outputs = join(network.outputs, gives, "output", channels_last=channels_last)
    made = reference_rows(model, [_in_order(row, joined) for row in rows(inputs)])
    return _npy([[one.for_network(run[one.place]) for one in outputs] for run in made])


def model_inputs(model: Path, network: NetworkArtifacts, row: bytes) -> list[NDArray[np.generic]]:
    """Those of the model, in its order and types. row: of the network, one after another. Raises N6-COMPARE-00x."""
    takes, _ = ports_of(model)
    return _in_order(row, join(network.inputs, takes, "input", channels_last=model.suffix == ".tflite"))


def _in_order(row: bytes, inputs: Sequence[Joined]) -> list[NDArray[np.generic]]:
    """In the model's order. row: of the network's, one after another."""
    found: dict[int, NDArray[np.generic]] = {}
    start = 0
    for one in inputs:
        found[one.place] = one.for_model(_values(row[start : start + one.network.bytes], one.network))
        start += one.network.bytes
    return [found[place] for place in range(len(inputs))]


def _values(data: bytes, port: IoBuffer) -> NDArray[np.generic]:
    return np.frombuffer(data, np.dtype(port.type).newbyteorder("<")).astype(port.type)


def _npy(made: Sequence[Sequence[NDArray[np.generic]]]) -> bytes:
    several = len(made[0]) > 1
    as_rows = [np.concatenate([np.frombuffer(each.tobytes(), np.uint8) for each in run]) for run in made]
    buffer = io.BytesIO()
    np.save(buffer, np.stack(as_rows if several else [run[0] for run in made]), allow_pickle=False)
    return buffer.getvalue()

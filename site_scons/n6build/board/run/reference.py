"""Expected outputs of a network from the reference interpreter.

The interpreter runs the original model on the same inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.npy import npy_of
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.compile.artifacts.made_buffers import made_buffers
from n6build.judge.compare.buffers import join_buffers
from n6build.judge.compare.interpret import interpret, ports_of, reference_rows
from n6build.judge.compare.join import Joined, join
from n6build.judge.compare.measure import measure
from n6build.place.memory_plan.vectors import VectorSet, check_row_size, rows

_SEED = 7
# An input in floating point has no step: it gets that of 8 bits over its range.
_STEPS_OF_FLOATS = 255


def reference_npy(model: Path, network: NetworkArtifacts, inputs: VectorSet) -> bytes:
    """Return a .npy file with a row of expected outputs for each row of inputs.

    A row has the type and shape of the network's output. For several outputs it has their bytes, one
    output after another.

    Raises:
        N6Error: N6-COMPARE-00x, N6-VEC-002.
    """
    check_row_size(inputs, network.inputs, "inputs")
    takes, gives = ports_of(model)
    channels_last = model.suffix == ".tflite"
    joined = join(network.inputs, takes, "input", channels_last=channels_last)

    @cache
    def by_graph() -> Mapping[str, str]:
        return _tensors_of_buffers(model, network, _in_order(next(iter(rows(inputs))), joined))

    outputs = join(network.outputs, gives, "output", channels_last=channels_last, by_graph=by_graph)
    made = reference_rows(model, [_in_order(row, joined) for row in rows(inputs)])
    return _npy([[one.for_network(run[one.place]) for one in outputs] for run in made])


def nudged_cosine(model: Path, network: NetworkArtifacts, inputs: VectorSet) -> float:
    """Return the least cosine of an output, if each input value changes by a step.

    The inputs change at random, but always alike.

    Args:
        model: File of the model.
        network: The network.
        inputs: Test vectors, of which the first is used.

    Raises:
        N6Error: N6-COMPARE-00x.
    """
    _, gives = ports_of(model)
    given = model_inputs(model, network, next(iter(rows(inputs))))
    random = np.random.default_rng(_SEED)
    plain, moved = reference_rows(model, [given, [_nudged(each, random) for each in given]])
    outputs = zip(moved, plain, gives, strict=True)
    return min(measure(after, before, port.zero_point).cosine for after, before, port in outputs)


def _nudged(values: NDArray[np.generic], random: np.random.Generator) -> NDArray[np.generic]:
    real = values.astype(np.float64)
    step = float(np.ptp(real)) / _STEPS_OF_FLOATS if values.dtype.kind == "f" else 1.0
    moved = real + step * random.choice((-1, 1), values.shape)
    return np.clip(moved, real.min(), real.max()).astype(values.dtype)


def _tensors_of_buffers(
    model: Path, network: NetworkArtifacts, inputs: Sequence[NDArray[np.generic]]
) -> dict[str, str]:
    """Return the model's tensors by the names of the buffers that hold them."""
    if network.is_linked:
        return {}
    buffers = made_buffers(network.source.parent, network.name)
    joined, _ = join_buffers(buffers, interpret(model, inputs))
    return {each.buffer.name: each.tensor.name for each in joined}


def model_inputs(model: Path, network: NetworkArtifacts, row: bytes) -> list[NDArray[np.generic]]:
    """Return the model's inputs in its own order and types.

    Args:
        model: File of the model.
        network: The network.
        row: All inputs of the network, one after another.

    Raises:
        N6Error: N6-COMPARE-00x.
    """
    takes, _ = ports_of(model)
    return _in_order(row, join(network.inputs, takes, "input", channels_last=model.suffix == ".tflite"))


def _in_order(row: bytes, inputs: Sequence[Joined]) -> list[NDArray[np.generic]]:
    """Split a row of network inputs and return them in the model's order."""
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
    return npy_of(np.stack(as_rows if several else [run[0] for run in made]))

"""Expected outputs of a network from the reference interpreter.

The interpreter runs the original model on the same inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class ReferenceOutputs:
    """Outputs of the model on test vectors.

    Attributes:
        npy: A .npy file with a row for each vector. A row has the type and shape of the network's output.
            For several outputs it has their bytes, one output after another.
        nudged: Least cosine of an output for the first vector to that for the same vector with each
            value one step off; None if it was not asked for.
    """

    npy: bytes
    nudged: float | None


def reference_outputs(
    model: Path, network: NetworkArtifacts, inputs: VectorSet, *, nudge: bool = False
) -> ReferenceOutputs:
    """Return the outputs of the model for each row of inputs.

    Args:
        model: File of the model.
        network: The network.
        inputs: Test vectors.
        nudge: Also run the first vector with each value one step off, at random, but always alike.

    Raises:
        N6Error: N6-COMPARE-00x, N6-VEC-002.
    """
    check_row_size(inputs, network.inputs, "inputs")
    takes, gives = ports_of(model)
    channels_last = model.suffix == ".tflite"
    joined = join(network.inputs, takes, "input", channels_last=channels_last)
    given = [_in_order(row, joined) for row in rows(inputs)]

    @cache
    def by_graph() -> Mapping[str, str]:
        return _tensors_of_buffers(model, network, given[0])

    outputs = join(network.outputs, gives, "output", channels_last=channels_last, by_graph=by_graph)
    made = reference_rows(model, [*given, *([_nudged(given[0])] if nudge else [])])
    npy = _npy([[one.for_network(run[one.place]) for one in outputs] for run in made[: len(given)]])
    pairs = zip(made[-1], made[0], gives, strict=True)
    cosines = [measure(moved, plain, port.zero_point).cosine for moved, plain, port in pairs] if nudge else []
    return ReferenceOutputs(npy, min(cosines) if nudge else None)


def _nudged(inputs: Sequence[NDArray[np.generic]]) -> list[NDArray[np.generic]]:
    random = np.random.default_rng(_SEED)
    return [_one_step_off(values, random) for values in inputs]


def _one_step_off(values: NDArray[np.generic], random: np.random.Generator) -> NDArray[np.generic]:
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

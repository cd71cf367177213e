"""The model of the NPU against values that a chip returned.

Four networks of one layer ran ten times each on a real STM32N657. They are the only evidence that
depends neither on the facts from which the model was made nor on the reference interpreter.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from samples import sample

from virtual_board.npu.model import Npu
from virtual_board.npu.silicon import Coefficients, Layer, Placed, coefficients, placed, read_layer

# Network of the samples -> values that the chip returned, and the equal ones of the model. The reference interpreter has 313,
# 314, 315 and 29 equal ones.
NETWORKS = {"Conv2d_1x1": (320, 315), "Conv2d_3x3": (320, 313), "Conv2d_32f_5x5": (320, 315), "Depthwise_3x3": (30, 29)}


def computed(library: ctypes.CDLL, network: Placed, inputs: np.ndarray) -> np.ndarray:
    """Return the outputs of the network for each input, by its blob."""
    found = []
    for one in inputs:
        with closing(Npu(library)) as npu:
            npu.memory[:] = network.epoch.memory_before()
            npu.put(network.features, one)
            reason = network.epoch.run_by_blob(npu)
            assert reason is None, reason
            found.append(npu.get(network.output, network.channels))
    return np.stack(found)


def measured(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs and the outputs of the chip."""
    with np.load(sample(f"silicon/{name}/network_val_io.npz")) as file:
        inputs, outputs = file["c_inputs_1"], file["c_outputs_1"]
    return inputs, outputs.reshape(len(outputs), -1)


def layer_of(name: str) -> Layer:
    (model,) = sample(f"silicon/{name}").glob("*.tflite")
    return read_layer(model)


def distances(library: ctypes.CDLL, name: str, layer: Layer, found: Coefficients) -> np.ndarray:
    inputs, outputs = measured(name)
    made = computed(library, placed(layer, found), inputs)
    distance: np.ndarray = np.abs(made.astype(int) - outputs)
    return distance


@pytest.mark.parametrize("name", NETWORKS)
def test_the_model_computes_the_values_of_the_chip(name: str, library: ctypes.CDLL) -> None:
    values, equal = NETWORKS[name]
    layer = layer_of(name)
    distance = distances(library, name, layer, coefficients(layer))
    assert distance.size == values
    assert (distance <= 1).all()
    assert (distance == 0).sum() == equal


WRONG: dict[str, Callable[[Coefficients], Coefficients]] = {
    "the mean without its offset": lambda found: replace(found, mean_offset=0),
    "one bit less of the sums": lambda found: replace(found, sums=found.sums + 1),
    "half a step of offset": lambda found: replace(found, offsets=found.offsets + (1 << found.last - 1)),
    "one per cent of a factor": lambda found: replace(found, factors=found.factors + found.factors // 100),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_constant_is_further_from_the_chip(
    change: Callable[[Coefficients], Coefficients], library: ctypes.CDLL
) -> None:
    name = "Depthwise_3x3"
    layer = layer_of(name)
    distance = distances(library, name, layer, change(coefficients(layer)))
    assert (distance == 0).sum() < NETWORKS[name][1] // 2


def test_the_input_s_zero_point_counts(library: ctypes.CDLL) -> None:
    name = "Depthwise_3x3"
    layer = layer_of(name)
    assert layer.source.quantisation
    zero = replace(layer.source, quantisation=replace(layer.source.quantisation, zero_points=(0,)))
    distance = distances(library, name, replace(layer, source=zero), coefficients(layer))
    assert (distance == 0).sum() < NETWORKS[name][1] // 2

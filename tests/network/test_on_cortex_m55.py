"""Every epoch of a network on an emulated Cortex-M55, against the reference.

The network consists of network.c, the epoch runtime and the Helium kernels.
"""

from pathlib import Path

import numpy as np
import pytest
from movement_models import random_inputs
from numpy.typing import NDArray

from network.equality import assert_sent, tensors_of, tensors_of_inferences
from network.network_models import own_models
from network.target_network import BuildTarget
from network.test_sequences import MODELS as SEQUENCES
from network.test_sequences import OTHERS


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_state_goes_on_from_inference_to_inference(target_network: BuildTarget, name: str) -> None:
    network = target_network(SEQUENCES[name])
    runs = [random_inputs(SEQUENCES[name], seed) for seed in range(4)]
    computed = network.run(*runs)
    expected = tensors_of_inferences(SEQUENCES[name], runs)
    assert computed == b"".join(
        each[epoch.name.split("_")[-1]] for each in expected for epoch in network.artifacts.epochs
    )


# Indices have no scale, and the target program sends only quantised tensors.
@pytest.mark.parametrize(
    "name", [name for name in OTHERS if name not in ("class of each pixel", "index of the smallest")]
)
def test_an_operator_alone(target_network: BuildTarget, name: str) -> None:
    inputs = random_inputs(OTHERS[name], 1)
    assert target_network(OTHERS[name]).run(inputs) == tensors_of(OTHERS[name], inputs)["0"]


@pytest.mark.parametrize("model", own_models(), ids=lambda path: path.stem)
def test_every_epoch_has_the_reference_s_bits(target_network: BuildTarget, model: Path) -> None:
    network = target_network(model)
    data = model.read_bytes()
    given: list[NDArray[np.generic]] = [row[np.newaxis] for row in np.load(model.parent / "inputs.npy")[:2]]
    compared = 0
    for inputs in ([given[0]], [given[1]], random_inputs(data, 1)):
        expected = tensors_of(data, inputs)
        # A float tensor is not sent: the target program sends only quantised ones, such as its source.
        quantised = [epoch.name for epoch in network.artifacts.epochs if epoch.kind != "Dequantize"]
        sent = network.run(inputs)
        assert_sent(sent, ((name, expected[name.rpartition("_")[2]]) for name in quantised))
        compared += len(sent)
    print(f"{model.stem}: {compared} bytes")

"""Every tensor of every epoch has the bits of the reference interpreter."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from movement_models import random_inputs
from numpy.typing import NDArray
from samples import sample

from network.equality import assert_equal_everywhere
from network.host_network import Build, extflash, noextmem
from network.network_models import own_models

SAMPLES = [
    "miniresnet_1stacks_64x50_tl_int8.tflite",
    "mlperf_kws_dscnn_int8.tflite",
    "mlperf_resnet8_int8.tflite",
    "baseline_conv2d_1x1_int8.tflite",
    "baseline_conv2d_3x3_int8.tflite",
    "baseline_depthwise_3x3_int8.tflite",
]
RANDOM_INPUTS = 4


def given_inputs(model: Path) -> list[list[NDArray[np.generic]]]:
    file = model.parent / "inputs.npy"
    return [[row] for row in np.load(file)] if file.is_file() else []


@pytest.mark.parametrize("profile", [extflash, noextmem])
@pytest.mark.parametrize("model", [*own_models(), *SAMPLES], ids=lambda model: Path(model).stem)
def test_a_model_of_the_project_or_of_others(
    host_network: Build,
    model: Path | str,
    profile: Callable[[], object],
    record_property: Callable[[str, object], None],
) -> None:
    file = sample(f"models/{model}") if isinstance(model, str) else model
    data = file.read_bytes()
    network = host_network(file, profile())
    vectors = given_inputs(file) + [random_inputs(data, seed) for seed in range(RANDOM_INPUTS)]
    counts = [assert_equal_everywhere(network, data, inputs) for inputs in vectors]
    record_property("compared", counts)
    print(f"{file.stem}: {len(vectors)} inputs, {sum(t for t, _ in counts)} tensors, {sum(b for _, b in counts)} bytes")


def test_c_info_and_network_c_agree_on_every_buffer(host_network: Build) -> None:
    for model in own_models():
        network = host_network(model)
        document = json.loads((network.folder / "network_c_info.json").read_text())
        pools = {pool["id"]: int(pool["address"]) for pool in document["memory_pools"]}
        described = {
            (buffer["name"], pools[buffer["mpool_id"]] + buffer["offset_start"], buffer["size_bytes"])
            for buffer in document["buffers"]
            if not buffer["is_param"]
        }
        assert described == {*network.inputs, *network.outputs, *network.internals}

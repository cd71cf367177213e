"""ReID MobileNetV2 as ST's compiler made it for the Nucleo, against LiteRT.

Its blob has 52 epochs. LiteRT uses its reference kernels. The NPU requantises in three steps, so
outputs are close to those of the interpreter, but not equal.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.damages import NETWORKS
from benchmarks.fed_replay import Network, load_network, run_forced, words_in_memory
from n6build.board.run.epoch_test import Watched
from n6build.describe.hardware.boards import load_board
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.own_blobs.model_program import Run, find_program, replay
from samples import sample

SOC = load_board("nucleo-n657").soc
BLOB = 0x1000_0000
# The NPU's description was proved with these figures on the same picture. Shares have four decimals.
EPOCHS, ELEMENTS, EQUAL, WITHIN_1, MOST = 52, 4_156_416, 0.9821, 0.9993, 6


def picture(shape: tuple[int, ...]) -> np.ndarray:
    """Return unsigned smoothed noise."""
    noise = np.random.default_rng(3).integers(0, 256, shape).astype(np.int64)
    for _ in range(2):
        noise = (noise + np.roll(noise, 1, 1) + np.roll(noise, 1, 2) + np.roll(noise, 2, 1)) // 4
    return noise.astype(np.uint8)


@pytest.fixture(scope="module")
def network() -> Network:
    pytest.importorskip("ai_edge_litert.interpreter")
    return load_network(*map(sample, NETWORKS["reid"]))


def numbers(each: Watched, data: bytes) -> np.ndarray:
    return np.frombuffer(data, each.joined.buffer.type).astype(np.int64)


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / np.sqrt(float(left @ left) * float(right @ right)))


def test_its_output_is_that_of_the_interpreter_as_far_as_the_facts_promise(network: Network) -> None:
    (blob,) = network.blobs.values()
    last = network.watched[-1]
    assert last.joined.buffer.address is not None
    regions = [*network.regions.items(), (BLOB, words_in_memory(blob, blob.words, network.user))]
    run = Run(BLOB, network.inputs, wanted=[(last.joined.buffer.address, len(last.wanted))])
    (data,) = replay(find_program(SOC), regions, [run])[0].wanted
    made, expected = numbers(last, data), numbers(last, last.wanted)
    zero = last.joined.buffer.zero_point
    assert cosine((made - zero).astype(float), (expected - zero).astype(float)) > 0.99
    assert (abs(made - expected) <= 6).mean() > 0.9


def test_each_epoch_makes_the_tensor_of_the_interpreter_from_its_tensors(network: Network) -> None:
    """Memory gets the interpreter's tensor after each epoch.

    So each epoch starts from the same inputs.
    """
    (blob,) = network.blobs.values()
    epochs = [each.number for each in epochs_of_blob(blob, names_of(SOC.npu))]
    assert len(epochs) == EPOCHS
    # The last epoch makes the output, with 1280 elements.
    assert [each.joined.buffer.epoch for each in network.watched] == sorted(epochs)
    made = run_forced(network, {}, {})
    *distances, output = (
        np.abs(numbers(each, made[each.joined.buffer.name]) - numbers(each, each.wanted)) for each in network.watched
    )
    assert output.max() <= 1
    distance = np.concatenate(distances)
    assert distance.size == ELEMENTS
    assert round((distance == 0).mean(), 4) >= EQUAL
    assert round((distance <= 1).mean(), 4) >= WITHIN_1
    assert distance.max() <= MOST

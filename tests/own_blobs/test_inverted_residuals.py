"""Layers as in MobileNetV2, with many channels, and an image in front.

They have more channels than one unit or one table of coefficients takes.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import one_op_models as ops
import pytest
from n6build.base.errors import N6Error
from n6build.compile.neural_art.compile_epochs import CompiledForNpu
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.neural_art.padding import group_of
from n6build.compile.neural_art.units import MOST_COEFFICIENTS
from n6build.compile.reference.compile_model import graph_of
from n6build.judge.npu.blobs import Blob, blob_of_words, read_blobs
from n6build.judge.npu.disassemble import blob_lines
from n6build.judge.npu.moved import bytes_moved
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.own_blobs.envelope import Envelope, Grade
from n6build.judge.own_blobs.features import features_of
from n6build.judge.own_blobs.figures import whole_work
from n6build.judge.own_blobs.grades import grades_of
from n6build.judge.own_blobs.make_blobs import Attempt, compiled_and_proved
from n6build.judge.own_blobs.proof import LEAST_EQUAL, prove
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors, reference_tensors
from network.network_models import chain
from one_op_models import Quantisation
from samples import sample

from own_blobs import compiled as own
from own_blobs.compiled import NAMES, NPU, SEEN

IMAGE, CUT_OFF, LINEAR = Quantisation(0.02, -1), Quantisation(0.02, -128), Quantisation(0.03, 5)
SIZE = 16


def conv(size: int, depth: int, kernels: int, given: Quantisation, made: Quantisation, window: int = 1) -> bytes:
    rng = np.random.default_rng(kernels)
    weights = rng.integers(-127, 128, (kernels, window, window, depth), dtype=np.int8)
    scales = list(rng.uniform(0.8, 1.2, kernels) / 73 / math.sqrt(weights[0].size))
    stride = 2 if window == 3 else 1
    bias = rng.integers(-500, 500, kernels, dtype=np.int32)
    return ops.conv_2d((size, size, depth), weights, bias, scales, given, made, (stride, stride))


def depthwise(size: int, channels: int) -> bytes:
    rng = np.random.default_rng(channels)
    weights = rng.integers(-127, 128, (1, 3, 3, channels), dtype=np.int8)
    scales = list(rng.uniform(0.8, 1.2, channels) / 73 / 3)
    bias = np.zeros(channels, np.int32)
    return ops.depthwise_conv_2d((size, size, channels), weights, bias, scales, CUT_OFF, CUT_OFF)


def compiled(folder: Path) -> tuple[CompiledForNpu, ReferenceTensors]:
    model = chain(
        conv(SIZE, 3, 16, IMAGE, CUT_OFF, window=3),
        conv(SIZE // 2, 16, 144, CUT_OFF, CUT_OFF),
        depthwise(SIZE // 2, 144),
        conv(SIZE // 2, 144, 24, CUT_OFF, LINEAR),
        conv(SIZE // 2, 24, 576, LINEAR, CUT_OFF),
        depthwise(SIZE // 2, 576),
        conv(SIZE // 2, 576, 32, CUT_OFF, LINEAR),
        ops.mean((SIZE // 2, SIZE // 2, 32), LINEAR, LINEAR),
    )
    file, graph, values = own.on_noise(model, folder, SIZE, SIZE, 3)
    return own.compile_file(file, graph, values), values


def test_layers_of_mobilenet_v2_are_litert_s_within_one_step(tmp_path: Path) -> None:
    network, values = compiled(tmp_path)
    assert network.lowered.on_cpu == ()
    kinds = [f"{epoch.operators[-1]} {epoch.kind}" for epoch in network.lowered.hardware.values() if epoch.operators]
    assert kinds == [
        "0 3x3, chain of 1",
        "1 1x1 deep, chain of 1",
        "2 depthwise 3x3",
        "3 1x1 deep, chain of 2",
        # Units subtract the zero point, and there are more kernels than coefficients: this takes two epochs.
        *["4 1x1, chain of 1"] * 2,
        *["5 depthwise 3x3"] * 2,
        # There are more channels than four units take: the second part adds the sums of the first to its own.
        "6 1x1 deep, chain of 4",
        "6 1x1 deep, chain of 2",
        "7 mean of the image",
    ]
    assert max(each.grade for each in grades_of(network.blocks, NPU, SEEN)) <= Grade.SMALLER
    proof = prove(own.program(), network, values)
    assert max(each.furthest for each in proof.forced) == 1
    elements = sum(each.elements for each in proof.forced)
    assert sum(each.equal * each.elements for each in proof.forced) >= LEAST_EQUAL * elements


def attempt(model: bytes, channels: int, folder: Path, envelope: Envelope = SEEN) -> Attempt:
    """Return an attempt for a layer that reads noise with this number of channels."""
    file, graph, values = own.on_noise(model, folder, SIZE, SIZE, channels)
    calibration = Calibration(values.values, 1.5)
    return Attempt(own.BOARD.soc, own.program(), own.request(file), graph, calibration, values, envelope)


def test_units_of_a_chain_subtract_the_zero_point(tmp_path: Path) -> None:
    given = attempt(conv(SIZE, 32, 48, LINEAR, CUT_OFF), 32, tmp_path)
    compiled, proof = compiled_and_proved(given)
    assert [each.kind for each in compiled.lowered.hardware.values()] == ["1x1, chain of 2"]
    assert max(each.grade for each in given.grades(compiled)) <= Grade.SMALLER
    assert [each.furthest for each in proof.forced] == [1]


@pytest.mark.parametrize(("channels", "kind"), [(64, "1x1, chain of 4"), (80, "1x1 deep, chain of 1")])
def test_channels_that_were_seen_spread_over_all_units_are_spread(channels: int, kind: str, tmp_path: Path) -> None:
    given = attempt(conv(SIZE, channels, 48, CUT_OFF, CUT_OFF), channels, tmp_path)
    compiled, proof = compiled_and_proved(given)
    assert [each.kind for each in compiled.lowered.hardware.values()] == ["+128", kind]
    assert max(each.grade for each in given.grades(compiled)) <= Grade.SMALLER
    assert max(each.furthest for each in proof.forced) == 1


def uneven(channels: int) -> bytes:
    """Return a depthwise convolution whose kernels differ widely in scale.

    One pair of shifts does not fit all of them.
    """
    rng = np.random.default_rng(channels)
    weights = rng.integers(-127, 128, (1, 3, 3, channels), dtype=np.int8)
    scales = list(np.geomspace(2e-4, 0.2, channels))
    bias = np.zeros(channels, np.int32)
    return ops.depthwise_conv_2d((SIZE, SIZE, channels), weights, bias, scales, CUT_OFF, CUT_OFF)


def test_an_imprecise_layer_is_cut_into_more_epochs_before_the_cpu_has_it(tmp_path: Path) -> None:
    given = attempt(uneven(48), 48, tmp_path)
    compiled, proof = compiled_and_proved(given)
    assert [each.kind for each in compiled.lowered.hardware.values()] == ["+128", *["depthwise 3x3"] * 3]
    assert compiled.lowered.on_cpu == ()
    whole = prove(given.program, own.compile_file(given.request.model, given.graph, given.vectors), given.vectors)
    assert whole.forced[-1].equal < LEAST_EQUAL <= proof.forced[-1].equal
    # Epochs that were not seen are no alternative.
    kinds = tuple(replace(each, sizes={**each.sizes, "shift": (0, 0)}) for each in SEEN.kinds)
    with pytest.raises(N6Error, match=r"N6-NET-030(.|\n)*in several epochs unlike those of ST's compiler: .*shift"):
        compiled_and_proved(replace(given, envelope=replace(SEEN, kinds=kinds)))


@pytest.fixture(scope="module")
def st() -> Blob:
    (blob,) = read_blobs(sample("npu/reid-mobilenetv2-core-3.0/reid_ecblobs.h"))
    return blob


def test_st_s_compiler_fills_as_many_coefficients(st: Blob) -> None:
    found = (re.search(r"ARITH\d\.COEFF(\d+)\s", line) for line in blob_lines(st, NAMES))
    last = max(int(each[1]) for each in found if each)
    assert last // 2 < MOST_COEFFICIENTS <= last // 2 + 8


def test_a_depthwise_convolution_takes_as_many_channels_at_once_as_st_s(st: Blob) -> None:
    features = [each for epoch in epochs_of_blob(st, NAMES) for each in features_of(epoch, NAMES)]
    depthwise = [each.sizes for each in features if "kernel=3x3" in each.kind and "stride=1x1" in each.kind]
    assert len(depthwise) > 10
    assert [group_of(1, each["width"]) for each in depthwise] == [each["group"] for each in depthwise]


def test_a_mobilenet_v2_moves_at_most_one_and_a_half_times_the_bytes_of_st_s(st: Blob, tmp_path: Path) -> None:
    file = sample("npu/reid-mobilenetv2-core-3.0/mobilenetv2_a100_256_128_fft_int8.tflite")
    graph = graph_of(file)
    np.save(tmp_path / "inputs.npy", np.random.default_rng(1).integers(0, 256, (1, 256, 128, 3), dtype=np.uint8))
    network = own.compile_file(file, graph, reference_tensors(file, graph, tmp_path / "inputs.npy"))
    assert [each.operator for each in network.lowered.on_cpu] == ["QUANTIZE"]
    ours = whole_work(network.lowered.hardware.values()).moved
    assert ours <= 1.5 * bytes_moved(epochs_of_blob(st, NAMES))
    # The number for our epochs equals the number from their registers.
    (block,) = network.blocks
    assert ours == bytes_moved(epochs_of_blob(blob_of_words(block.words, "blob"), NAMES))

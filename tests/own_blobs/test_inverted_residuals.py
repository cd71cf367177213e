"""Layers as in MobileNetV2: more channels than one unit or one table of coefficients takes, and an image in front."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import one_op_models as ops
import pytest
from n6build.network.neural_art.compile import CompiledForNpu
from n6build.network.neural_art.units import MOST_COEFFICIENTS
from n6build.network.reference.compile import graph_of
from n6build.npu.blobs import Blob, blob_of_words, read_blobs
from n6build.npu.disassemble import blob_lines
from n6build.npu.moved import bytes_moved
from n6build.npu.settings import epochs_of_blob
from n6build.own_blobs.envelope import Grade
from n6build.own_blobs.grades import grades_of
from n6build.own_blobs.proof import LEAST_EQUAL, prove
from n6build.own_blobs.reference_tensors import ReferenceTensors, reference_tensors
from n6build.own_blobs.work import whole_work
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
    file, inputs = folder / "layers.tflite", folder / "inputs.npy"
    file.write_bytes(model)
    np.save(inputs, np.random.default_rng(1).integers(-128, 128, (3, SIZE, SIZE, 3), dtype=np.int8))
    graph = graph_of(file)
    values = reference_tensors(file, graph, inputs)
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
        # More channels than coefficients: in two epochs.
        *["4 1x1 deep, chain of 1"] * 2,
        *["5 depthwise 3x3"] * 2,
        # More channels than four units take: sums in parts.
        "6 1x1 deep, chain of 4",
        "6 1x1 deep, chain of 2",
        "6 sum of partial sums",
        "7 mean of the image",
    ]
    assert max(each.grade for each in grades_of(network.blocks, NPU, SEEN)) <= Grade.SMALLER
    proof = prove(own.program(), network, values)
    assert max(each.furthest for each in proof.forced) == 1
    elements = sum(each.elements for each in proof.forced)
    assert sum(each.equal * each.elements for each in proof.forced) >= LEAST_EQUAL * elements


@pytest.fixture(scope="module")
def st() -> Blob:
    (blob,) = read_blobs(sample("npu/reid-mobilenetv2-core-3.0/reid_ecblobs.h"))
    return blob


def test_st_s_compiler_fills_as_many_coefficients(st: Blob) -> None:
    found = (re.search(r"ARITH\d\.COEFF(\d+)\s", line) for line in blob_lines(st, NAMES))
    last = max(int(each[1]) for each in found if each)
    assert last // 2 < MOST_COEFFICIENTS <= last // 2 + 8


def test_a_mobilenet_v2_moves_at_most_one_and_a_half_times_the_bytes_of_st_s(st: Blob, tmp_path: Path) -> None:
    file = sample("npu/reid-mobilenetv2-core-3.0/mobilenetv2_a100_256_128_fft_int8.tflite")
    graph = graph_of(file)
    np.save(tmp_path / "inputs.npy", np.random.default_rng(1).integers(0, 256, (1, 256, 128, 3), dtype=np.uint8))
    network = own.compile_file(file, graph, reference_tensors(file, graph, tmp_path / "inputs.npy"))
    assert [each.operator for each in network.lowered.on_cpu] == ["QUANTIZE"]
    ours = whole_work(network.lowered.hardware.values()).moved
    assert ours <= 1.5 * bytes_moved(epochs_of_blob(st, NAMES))
    # What is said of our epochs is what a reader of their registers finds.
    (block,) = network.blocks
    assert ours == bytes_moved(epochs_of_blob(blob_of_words(block.words, "blob"), NAMES))

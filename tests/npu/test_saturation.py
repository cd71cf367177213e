"""Channels that can lose values by saturation, from blobs and weights alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.compile.artifacts.description import InitializerImage, NetworkArtifacts
from n6build.judge.npu.blobs import blob_of_words, read_blobs
from n6build.judge.npu.saturation import Reach, reach, reach_of_network
from n6build.judge.npu.sums import Weights
from run.test_table import ARTIFACTS
from samples import sample
from virtual_board.npu.assembler import activ, activ_input, pool, pool_input
from virtual_board.npu.cases_vector import biased_layer
from virtual_board.npu.examples import EXAMPLES
from virtual_board.npu.model import NPU

from npu.damaged_layer import read_or_refused, weights_in

KERNELS, FACTORS, BIASES = (40, -9, 40, 10), (30138, 8000, 30138, 9000), (-619, 5, 0, -20)


def reach_of(kernels: Sequence[int], factors: Sequence[int], biases: Sequence[int], *, known: bool = True) -> Reach:
    epoch = biased_layer(kernels, factors, biases)
    weights = weights_in(epoch) if known else Weights({}, {})
    return reach([blob_of_words(epoch.blob(), "layer")], NPU, weights)


def test_a_channel_with_a_large_bias_ends_before_its_output_does() -> None:
    found = reach_of(KERNELS, FACTORS, BIASES)
    assert (found.layers, found.unknown) == (1, 0)
    (cut,) = found.cut
    assert (cut.epoch, cut.unit, cut.channel, cut.bits, cut.limit) == (1, "ARITH3", 0, 16, 32767)
    assert cut.needs == round(40 * 255 * 30138 / (1 << 13))
    assert (cut.ends_at, cut.wanted) == (61, 127)


def test_no_channel_is_named_whose_sum_cannot_get_there() -> None:
    assert reach_of((20, -9, 20, 10), FACTORS, BIASES).cut == ()


def test_a_product_below_its_format_is_named_too() -> None:
    (cut,) = reach_of((-40, -9, -40, 10), FACTORS, (619, 5, 0, -20)).cut
    assert (cut.limit, cut.ends_at, cut.wanted) == (-32768, -61, -128)


def test_without_weights_the_layer_is_unknown() -> None:
    assert reach_of(KERNELS, FACTORS, BIASES, known=False) == Reach(1, 1, ())


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_epoch_is_read(name: str) -> None:
    epoch = EXAMPLES[name]()
    found = reach([blob_of_words(epoch.blob(), name)], NPU, weights_in(epoch))
    assert found.unknown <= found.layers


def test_units_in_a_circle_end_the_search() -> None:
    epoch = biased_layer(KERNELS, FACTORS, BIASES)
    epoch.feed(7, pool(0))
    epoch.feed(pool_input(0), activ(0))
    epoch.feed(activ_input(0), pool(0))
    for kind in ("POOL", "ACTIV"):
        epoch.switch_on(kind, 0)
    epoch.switch_on("STRENG", 7, DIR=1, RAW=1, SIZE0=8)
    assert len(reach([blob_of_words(epoch.blob(), "layer")], NPU, weights_in(epoch)).cut) == 1


@given(place=st.integers(0, 400), value=st.integers(0, 0xFFFF_FFFF))
def test_a_damaged_blob_is_read_or_refused(place: int, value: int) -> None:
    epoch = biased_layer(KERNELS, FACTORS, BIASES)
    read_or_refused(epoch, place, value, lambda blob, weights: reach([blob], NPU, weights))


def compiled(folder: Path, kernels: Sequence[int]) -> NetworkArtifacts:
    """Return a network of one layer, with its blob and its weights in files."""
    epoch = biased_layer(kernels, FACTORS, BIASES)
    words = epoch.blob()
    pairs = [f"0x{high:08x}{low:08x}UL" for low, high in zip(words[::2], words[1::2], strict=True)]
    blob = f"static const uint64_t _ec_blob_1[] = {{ {', '.join(pairs)} }};\n"
    (folder / "network_ecblobs.h").write_text(blob)
    (folder / "network.c").write_text(
        '#include "network_ecblobs.h"\nconst EpochBlock_ItemTypeDef *LL_ATON_EpochBlockItems_Default(void)\n{\n}\n'
    )
    images = []
    for address, data in epoch.memory.items():
        file = folder / f"{address}.raw"
        file.write_bytes(data.tobytes())
        images.append(InitializerImage("octoFlash", "xSPI2", address, file, data.size, relative=False))
    return replace(ARTIFACTS, source=folder / "network.c", initializers=tuple(images))


def test_a_compiled_network_is_read_from_its_files(tmp_path: Path) -> None:
    artifacts = compiled(tmp_path, KERNELS)
    assert reach_of_network(artifacts, NPU) == reach_of(KERNELS, FACTORS, BIASES)
    assert reach_of_network(replace(artifacts, source=tmp_path / "network_rel.bin"), NPU) is None
    # A network without blobs, and one whose blob cannot be read: the run and the report name the reason.
    header = tmp_path / "network_ecblobs.h"
    header.write_text(header.read_text().replace("0x", "0y"))
    assert reach_of_network(artifacts, NPU) is None
    header.unlink()
    assert reach_of_network(artifacts, NPU) is None


# Channels of the samples that are named. With noise as input each of these four of the SSD loses values, and so does channel 10
# of YOLO-X; nothing is known of the others.
NAMED = {
    "reid-mobilenetv2-core-3.0": (28, 0, set()),
    "pose-movenet-core-2.1": (38, 1, {(13, "ARITH0", 124), (58, "CONVACC3", 60)}),
    "fallguard-ssd-core-2.1": (
        48,
        1,
        {(12, "ARITH3", 47), (13, "ARITH2", 47), (20, "ARITH2", 5), (30, "ARITH3", 47), (23, "ARITH3", 54)},
    ),
    "yolox-core-2.1/STM32N6570-DK": (153, 0, {(16, "CONVACC2", 10), (16, "CONVACC2", 12)}),
}
MOST_NAMED = {"reid-mobilenetv2-core-3.0": 0, "yolox-core-2.1/STM32N6570-DK": 7}


@pytest.mark.parametrize("network", NAMED)
def test_channels_of_real_networks(network: str) -> None:
    name, _, board = network.partition("/")
    folder = sample(f"npu/{name}")
    if not folder.is_dir():
        folder = sample("projects/STM32N6-GettingStarted-ObjectDetection/Model")
    folder /= board
    (source,) = folder.glob("[rn]*.c")
    pool = re.search(r"postfix=xSPI2 name=octoFlash offset=(0x[0-9a-f]+)", source.read_text())
    (weights,) = folder.glob("*.xSPI2.bin")
    (header,) = folder.glob("*_ecblobs.h")
    assert pool
    data = weights.read_bytes()
    found = reach(read_blobs(header), NPU, Weights({int(pool[1], 16): data}, {"xSPI2": data}))
    layers, unknown, named = NAMED[network]
    assert (found.layers, found.unknown) == (layers, unknown)
    assert {(each.epoch, each.unit, each.channel) for each in found.cut} >= named
    assert len(found.cut) <= MOST_NAMED.get(network, 10)

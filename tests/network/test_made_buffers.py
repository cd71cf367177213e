"""The buffers that each epoch of a compiled network makes.

Both network.c and c_info name them.
"""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest
from n6build.compile.artifacts.made_buffers import MadeBuffer, MadeBuffers, made_buffers
from samples import sample

SOURCE = """
LL_ATON_EpochBlockItems_net(void) {
}
"""


def test_real_networks_say_who_makes_what_and_how_it_lies() -> None:
    made = made_buffers(sample("npu/reid-mobilenetv2-core-3.0"), "reid")
    found = {each.name: each for each in made.buffers}
    assert found["Conv2D_55_off_bias_out_106"] == MadeBuffer(
        "Conv2D_55_off_bias_out_106", 13, 0x3433A000, 16384, "int8", (1, 2, 32, 16, 16), 0.242628902196884, -5, "groups"
    )
    # The application allocates the output, so that it has no address.
    assert found["Quantize_249_out_0"].address is None
    epochs = [each.epoch for each in found.values()]
    assert epochs == sorted(epochs)
    # Partial sums have no quantisation: an epoch that reads them has no tensor of the model as its input.
    assert found["Conv2D_166_out_0_cp_in_141_cp_in_142"].type == ""
    assert len(made.kernels) == 52
    assert len(made.kernels["Conv2D_16"]) == 16


def test_groups_of_channels_have_their_own_size_though_arrays_are_shared() -> None:
    found = {each.name: each for each in made_buffers(_yolox(), "network").buffers}
    assert found["Conv2D_608_off_bias_out_1105"].shape == (1, 8, 30, 30, 8)
    shared = [each for each in found.values() if each.shape == (1, 4, 30, 30, 16)]
    assert len(shared) > 10


@pytest.mark.parametrize(
    ("source", "name", "info"),
    [
        ("npu/fallguard-ssd-core-2.1", "network", "npu/fallguard-ssd-core-2.1/network_c_info.json"),
        (
            "projects/STM32N6Example/Appli/X-CUBE-AI/App",
            "network",
            "projects/STM32N6Example/.ai/network_mobilenet_v2_128_0.5_QDQ_quant.onnx_c_info.json",
        ),
    ],
)
def test_c_info_and_network_c_describe_the_same_buffers(source: str, name: str, info: str, tmp_path: Path) -> None:
    (tmp_path / "net.c").write_text(SOURCE)
    (tmp_path / "net_c_info.json").write_bytes(sample(info).read_bytes())
    theirs = {each.name: each for each in made_buffers(tmp_path, "net").buffers}
    ours = made_buffers(sample(source), name)
    assert made_buffers(tmp_path, "net").kernels.keys() == ours.kernels.keys()
    for buffer in ours.buffers:
        other = theirs.get(buffer.name, buffer)
        for field in ("address", "bytes", "type", "zero_point"):
            assert getattr(other, field) == getattr(buffer, field), buffer.name
        lengths = [[size for size in each.shape if size > 1] for each in (buffer, other)]
        assert lengths[0] == lengths[1], buffer.name


def _yolox() -> Path:
    return sample("projects/STM32N6-GettingStarted-ObjectDetection/Model/STM32N6570-DK")


@pytest.mark.parametrize("name", ["core-3.0-mobilenet_v2", "core-2.0-tiny_yolo_v2_224", "core-4.0.0-timeseries"])
def test_c_info_says_it_where_network_c_lists_no_buffers(name: str, tmp_path: Path) -> None:
    (tmp_path / "net.c").write_text(SOURCE)
    (tmp_path / "net_c_info.json").write_bytes(gzip.decompress(sample(f"c_info/{name}.json.gz").read_bytes()))
    made = made_buffers(tmp_path, "net")
    found = [each for each in made.buffers if each.type]
    assert found
    assert made.kernels
    assert all(each.epoch > 0 and each.scale > 0 for each in found)
    size = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float32": 4}
    for each in found:
        assert math.prod(each.shape) == each.bytes // size[each.type], each


def test_without_either_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "net.c").write_text(SOURCE)
    assert made_buffers(tmp_path, "net") == MadeBuffers((), {})

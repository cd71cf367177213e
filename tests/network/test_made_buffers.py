"""The buffers that each epoch of a compiled network makes.

Both network.c and c_info name them.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from n6build.compile.artifacts.made_buffers import MadeBuffer, made_buffers
from samples import sample

SOURCE = """
LL_ATON_EpochBlockItems_net(void) {
}
"""


def test_real_networks_say_who_makes_what_and_how_it_lies() -> None:
    found = {each.name: each for each in made_buffers(sample("npu/reid-mobilenetv2-core-3.0"), "reid")}
    assert found["Conv2D_55_off_bias_out_106"] == MadeBuffer(
        "Conv2D_55_off_bias_out_106", 13, 0x3433A000, 16384, "int8", (1, 2, 32, 16, 16), 0.242628902196884, -5
    )
    # The application allocates the output, so that it has no address.
    assert found["Quantize_249_out_0"].address is None
    epochs = [each.epoch for each in found.values()]
    assert epochs == sorted(epochs)
    # Partial sums have no quantisation, so that they are left out.
    assert not any("_cp_in_141" in name for name in found)


@pytest.mark.parametrize("name", ["core-3.0-mobilenet_v2", "core-2.0-tiny_yolo_v2_224", "core-4.0.0-timeseries"])
def test_c_info_says_it_where_network_c_lists_no_buffers(name: str, tmp_path: Path) -> None:
    (tmp_path / "net.c").write_text(SOURCE)
    (tmp_path / "net_c_info.json").write_bytes(gzip.decompress(sample(f"c_info/{name}.json.gz").read_bytes()))
    found = made_buffers(tmp_path, "net")
    assert found
    assert all(each.epoch > 0 and each.scale > 0 for each in found)
    size = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2}
    for each in found:
        elements = each.bytes // size[each.type]
        shape = 1
        for axis in each.shape:
            shape *= axis
        assert shape == elements, each


def test_without_either_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "net.c").write_text(SOURCE)
    assert made_buffers(tmp_path, "net") == ()

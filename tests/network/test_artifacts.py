"""Artifacts of compiled networks, as later stages read them.

The files come from n6build's own backend and from ST's tool.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import one_op_models as ops
import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.reference.compile_model import compile_network
from one_op_models import Quantisation
from samples import sample

from network.host_network import extflash, noextmem
from network.network_models import as_file, own_models


def miniresnet(folder: Path, pools: Any = None) -> NetworkArtifacts:
    model = next(path for path in own_models() if path.stem == "miniresnet")
    compile_network(model, pools or extflash(), folder)
    return read_artifacts(folder, "network")


def test_pools_with_their_used_ranges(tmp_path: Path) -> None:
    artifacts = miniresnet(tmp_path)
    used = {pool.name: (pool.fname, pool.address, pool.used_bytes > 0) for pool in artifacts.pools}
    assert used == {
        "npuRAM3": ("AXISRAM3", 0x34200000, True),
        "npuRAM4": ("AXISRAM4", 0x34270000, False),
        "npuRAM5": ("AXISRAM5", 0x342E0000, False),
        "npuRAM6": ("AXISRAM6", 0x34350000, False),
        "octoFlash": ("xSPI2", 0x71000000, True),
    }


@pytest.mark.parametrize("profile", [extflash, noextmem])
def test_the_initializers_are_a_file_and_its_address(tmp_path: Path, profile: Any) -> None:
    artifacts = miniresnet(tmp_path, profile())
    (image,) = artifacts.initializers
    pool = {"extflash": ("octoFlash", "xSPI2", 0x71000000), "noextmem": ("npuRAM5", "AXISRAM5", 0x342E0000)}
    assert (image.pool, image.fname, image.address) == pool[profile.__name__]
    assert image.file.name == f"network_atonbuf.{image.fname}.raw"
    assert image.file.stat().st_size == image.bytes > 120_000


def test_inputs_outputs_epochs_and_versions(tmp_path: Path) -> None:
    artifacts = miniresnet(tmp_path)
    (source,), (result,) = artifacts.inputs, artifacts.outputs
    assert (source.type, source.shape, source.bytes) == ("int8", (1, 64, 50, 1), 3200)
    assert (result.type, result.shape, result.bytes, result.scale, result.zero_point) == (
        "float32",
        (1, 10),
        40,
        1.0,
        0,
    )
    assert [epoch.index for epoch in artifacts.epochs] == list(range(1, len(artifacts.epochs) + 1))
    assert artifacts.epochs[-1].kind == "Dequantize"
    assert 7_300_000 < sum(epoch.macs for epoch in artifacts.epochs) < 7_400_000
    assert artifacts.ll_aton == (1, 1, 3, 8)
    assert artifacts.tools[0][0] == "n6build reference backend"
    assert artifacts.source == tmp_path / "network.c"


def test_a_network_without_weights_leaves_an_empty_file(tmp_path: Path) -> None:
    model = as_file(ops.softmax(1, 10, 0.1), tmp_path, "softmax.tflite")
    compile_network(model, extflash(), tmp_path)
    (image,) = read_artifacts(tmp_path, "network").initializers
    assert (image.bytes, image.file.read_bytes()) == (0, b"")


def test_a_quantised_output_has_its_scale(tmp_path: Path) -> None:
    model = tmp_path / "add.tflite"
    model.write_bytes(
        ops.add((1, 4), (1, 4), Quantisation(0.1, 1), Quantisation(0.2, 2), Quantisation(float(np.float32(0.3)), -3))
    )
    compile_network(model, extflash(), tmp_path)
    artifacts = read_artifacts(tmp_path, "network")
    assert (artifacts.outputs[0].scale, artifacts.outputs[0].zero_point) == (float(np.float32(0.3)), -3)
    assert len(artifacts.inputs) == 2


def test_a_raw_file_of_another_size(tmp_path: Path) -> None:
    miniresnet(tmp_path)
    raw = tmp_path / "network_atonbuf.xSPI2.raw"
    raw.write_bytes(raw.read_bytes()[:-5])
    with pytest.raises(N6Error) as caught:
        read_artifacts(tmp_path, "network")
    assert (caught.value.id, caught.value.where) == ("N6-NET-021", raw.name)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"graphs": []}', '{"graphs": [{"nodes": 3}], "buffers": [1]}'])
def test_a_description_that_is_none(tmp_path: Path, content: str) -> None:
    miniresnet(tmp_path)
    (tmp_path / "network_c_info.json").write_text(content)
    with pytest.raises(N6Error, match="error N6-NET-020: "):
        read_artifacts(tmp_path, "network")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="error N6-FILE-002: "):
        read_artifacts(tmp_path, "network")


def test_a_description_by_st_s_tool(tmp_path: Path) -> None:
    packed = sample("generated/core-2.2-transformer/network_c_info.json.gz").read_bytes()
    document = json.loads(gzip.decompress(packed))
    (tmp_path / "network_c_info.json").write_text(json.dumps(document))
    version = " || ".join(
        f"LL_ATON_VERSION_{part} != {n}"
        for part, n in zip(("MAJOR", "MINOR", "MICRO", "DEV"), (1, 1, 1, 14), strict=True)
    )
    (tmp_path / "network.c").write_text(f"#if {version}\nLL_ATON_EpochBlockItems_Default(void) {{\n}}\n")
    (tmp_path / "network_atonbuf.xSPI2.raw").write_bytes(bytes(4_574_097))
    artifacts = read_artifacts(tmp_path, "network")
    assert sum(pool.used_bytes for pool in artifacts.pools if pool.rights == "ACC_WRITE") == 1_266_240
    assert [(image.fname, image.bytes) for image in artifacts.initializers] == [("xSPI2", 4_574_097)]
    assert artifacts.inputs[0].address == 0x342E0000
    assert artifacts.outputs[0].address == 0x34100000 + 600_000
    assert artifacts.ll_aton == (1, 1, 1, 14)
    # The report of ST's tool gives these counts.
    assert (len(artifacts.epochs), sum(epoch.on_cpu for epoch in artifacts.epochs)) == (407, 150)

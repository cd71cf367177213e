"""c_info is read field by field, so that every mistake has its path."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.artifacts.c_info_reader import read_c_info
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.reference.compile_model import compile_network
from samples import sample

from network.host_network import extflash
from network.network_models import own_models


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("keyword")
    compile_network(next(path for path in own_models() if path.stem == "keyword"), extflash(), folder)
    return json.loads((folder / "network_c_info.json").read_text())


@pytest.fixture
def document(whole: Any) -> Any:
    """Return a description that a test may change."""
    return copy.deepcopy(whole)


def read(folder: Path, content: Any) -> Any:
    path = folder / "network_c_info.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_c_info(path)


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [at] if at else []
    for key, inner in items:
        found += paths(inner, (*at, key))
    return found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d["memory_pools"][1].pop("fname"),
            "network_c_info.json: memory_pools[1]: error N6-NET-020: has no 'fname'",
        ),
        (
            lambda d: d["buffers"][0].update(size_bytes="x"),
            "buffers[0].size_bytes: error N6-NET-020: 'x' is not an integer",
        ),
        (
            lambda d: d["buffers"][0].update(offset_start=-1),
            "buffers[0].offset_start: error N6-NET-020: -1 is negative",
        ),
        (
            lambda d: d["graphs"][0].update(inputs=[999]),
            "graphs[0].inputs[0]: error N6-NET-020: buffer 999 does not exist",
        ),
        (lambda d: d.update(json_schema_version="3.1"), "version 3.1 of the schema is unsupported; n6build reads 2.x"),
        (
            lambda d: d["graphs"][0].update(inputs=[1] * 300),
            "graphs[0].inputs: error N6-NET-020: has 300 entries, 44 more",
        ),
        (
            lambda d: d["buffers"][0].update(shape=[1] * 99),
            "buffers[0].shape: error N6-NET-020: has 99 entries, 83 more",
        ),
        (lambda d: d.update(graphs=[]), "graphs: error N6-NET-020: is empty"),
        (lambda d: d.pop("memory_pools"), "network_c_info.json: error N6-NET-020: has no 'memory_pools'"),
    ],
)
def test_what_is_wrong_has_its_path(document: Any, tmp_path: Path, change: Any, message: str) -> None:
    change(document)
    with pytest.raises(N6Error) as caught:
        read(tmp_path, document)
    assert message in str(caught.value)


def test_an_output_in_a_virtual_pool_has_an_address(document: Any, tmp_path: Path) -> None:
    pool = copy.deepcopy(document["memory_pools"][0])
    pool |= {"id": 77, "name": "npuRAM3_npuRAM4", "fname": "", "subpools": [1, 2], "address": str(0x34200000)}
    document["memory_pools"].append(pool)
    output = document["graphs"][0]["outputs"][0]
    buffer = next(buffer for buffer in document["buffers"] if buffer["id"] == output)
    buffer |= {"mpool_id": 77, "offset_start": 64}
    info = read(tmp_path, document)
    assert info.outputs[0].address == 0x34200040
    assert "npuRAM3_npuRAM4" not in {pool.name for pool in info.pools}


def test_a_truncated_file_names_line_and_column(document: Any, tmp_path: Path) -> None:
    with pytest.raises(N6Error, match=r"network_c_info.json:\d+:\d+: error N6-NET-020: is not JSON"):
        read(tmp_path, json.dumps(document, indent=1).encode()[:5000])


@given(data=st.data())
def test_any_value_anywhere_is_read_or_refused(document: Any, tmp_path: Path, data: st.DataObject) -> None:
    changed = copy.deepcopy(document)
    *way, last = data.draw(st.sampled_from(paths(document)))
    place = changed
    for key in way:
        place = place[key]
    hostile: list[object] = [None, True, -1, 0, 2**70, 1e308, float("nan"), "", "x", "9" * 30, [], {}, [[]], {"id": 1}]
    place[last] = data.draw(st.sampled_from(hostile))
    try:
        read(tmp_path, changed)
    except N6Error as error:
        assert error.id == "N6-NET-020"


@given(content=st.binary(max_size=300) | st.sampled_from([b"[" * 100_000, b'{"a":' * 50_000, b"1e999", b"NaN"]))
def test_what_is_no_description(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(N6Error, match="N6-NET-020"):
        read(tmp_path, content)


# Descriptions as ST's releases write them.


def of_release_3(document: Any) -> Any:
    """Return the document in the form of release 3.

    Kinds of operators have a key of their own, and an epoch in which nothing runs ends the network.
    """
    changed = copy.deepcopy(document)
    nodes = changed["graphs"][0]["nodes"]
    for part in (part for node in nodes for part in node["subgraph_nodes"]):
        part["type"] = part.pop("description").removeprefix("Node kind=")
    last = copy.deepcopy(nodes[-1]) | {"name": f"epoch_{len(nodes) + 1}", "mapping": "NODE_NO_X"}
    last["subgraph_nodes"] = [last["subgraph_nodes"][0] | {"name": "__NN__RETURN__", "type": "Return"}]
    nodes.append(last)
    return changed


def test_releases_name_kinds_of_operators_in_two_ways(document: Any, tmp_path: Path) -> None:
    assert read(tmp_path, of_release_3(document)) == read(tmp_path, document)


@pytest.mark.parametrize("mapping", ["NODE_EC", "NODE_SW"])
def test_the_end_of_the_network_is_no_epoch(document: Any, tmp_path: Path, mapping: str) -> None:
    changed = of_release_3(document)
    changed["graphs"][0]["nodes"][-1]["mapping"] = mapping
    assert read(tmp_path, changed).epochs == read(tmp_path, document).epochs


def test_pools_of_core_2_0_get_the_postfix_that_network_c_says(document: Any, tmp_path: Path) -> None:
    changed = copy.deepcopy(document)
    for pool in changed["memory_pools"]:
        del pool["fname"]
    expected = read(tmp_path, document)
    (tmp_path / "network_c_info.json").write_text(json.dumps(changed))
    postfixes = {pool.name: pool.fname for pool in expected.pools}
    assert read_c_info(tmp_path / "network_c_info.json", postfixes) == expected
    postfixes.popitem()
    with pytest.raises(N6Error, match="has no 'fname'"):
        read_c_info(tmp_path / "network_c_info.json", postfixes)


def test_a_network_for_a_processor_only_is_refused_as_one(document: Any, tmp_path: Path) -> None:
    for number, node in enumerate(document["graphs"][0]["nodes"]):
        node["name"] = f"conv2d_{number}"
    with pytest.raises(N6Error, match=r"graphs\[0\].nodes: error N6-NET-020: describes a network for a Cortex-M"):
        read(tmp_path, document)


@pytest.mark.parametrize("network_c", ["int network_create(void);", None])
def test_the_files_of_a_network_for_a_processor_only_are_refused_as_such(
    document: Any, tmp_path: Path, network_c: str | None
) -> None:
    """The error about network.c, which is not for the NPU either, would help less."""
    document["graphs"][0]["nodes"] = [{"name": "conv2d_0"}]
    (tmp_path / "network_c_info.json").write_text(json.dumps(document))
    (tmp_path / "network.c").write_text(network_c or "LL_ATON_EpochBlockItems_Default(void) {\n}\n")
    with pytest.raises(N6Error, match="N6-NET-020: describes a network for a Cortex-M, not for the NPU"):
        read_artifacts(tmp_path, "network")


def test_results_of_validate_are_refused_as_such(document: Any, tmp_path: Path) -> None:
    results = {key: document[key] for key in ("environment", "json_schema_version")} | {
        "validation": {"val_error": "0"}
    }
    with pytest.raises(N6Error, match="N6-NET-020: is from stedgeai validate"):
        read(tmp_path, results)
    described = document | {"validation": {"val_error": "0"}}
    assert read(tmp_path, described) == read(tmp_path, document)


def test_other_damage_is_not_called_a_validation(document: Any, tmp_path: Path) -> None:
    with pytest.raises(N6Error) as caught:
        read(tmp_path, document | {"memory_pools": 3})
    assert "validat" not in str(caught.value)


def sample_text(path: str) -> bytes:
    data = sample(path).read_bytes()
    return gzip.decompress(data) if path.endswith(".gz") else data


# The epochs are those in which an operator runs, numbered from 1 to the end of the network. The weights are the used
# bytes of the pool.
@pytest.mark.parametrize(
    ("name", "core", "epochs", "kinds", "shape", "weights"),
    [
        ("core-2.0-tiny_yolo_v2_224", "2.0.0-20049", 21, {"NODE_EC", "NODE_SW"}, (1, 224, 224, 3), 11_064_337),
        ("core-3.0-mobilenet_v2", "3.0.0-20426 123672867", 56, {"NODE_HW", "NODE_SW"}, (1, 3, 128, 128), 212_609),
        ("core-4.0.0-timeseries", "4.0.0-20500 359356bb0", 18, {"NODE_HW"}, (1, 20, 50, 2), 57_505),
    ],
)
def test_real_descriptions(
    tmp_path: Path, name: str, core: str, epochs: int, kinds: set[str], shape: tuple[int, ...], weights: int
) -> None:
    (tmp_path / "c_info.json").write_bytes(sample_text(f"c_info/{name}.json.gz"))
    postfixes = {"flexMEM": "AXIFLEXMEM", "hyperRAM": "xSPI1", "octoFlash": "xSPI2"}
    info = read_c_info(tmp_path / "c_info.json", postfixes)
    assert info.tools[0] == ("ST.EdgeAI.Core", core)
    assert ([buffer.shape for buffer in info.inputs], len(info.outputs)) == ([shape], 1)
    assert (len(info.epochs), {epoch.mapping for epoch in info.epochs}) == (epochs, kinds)
    assert all(epoch.kind for epoch in info.epochs)
    (flash,) = (pool for pool in info.pools if pool.rights == "ACC_READ")
    assert (flash.fname, flash.used_bytes, flash.weights_bytes) == ("xSPI2", weights, weights)


def test_a_real_description_for_a_cortex_m_is_refused_as_one(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-NET-020: describes a network for a Cortex-M.*\n.*--st-neural-art"):
        read(tmp_path, sample_text("c_info/core-4.0.0-cortex-m.json.gz"))


@pytest.mark.parametrize("name", ["Conv2d_1x1", "Conv2d_3x3", "Depthwise_3x3"])
def test_a_real_description_that_was_only_validated_is_refused_as_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(N6Error, match="N6-NET-020: is from stedgeai validate"):
        read(tmp_path, sample_text(f"generated/core-2.2-{name}/network_c_info.json"))

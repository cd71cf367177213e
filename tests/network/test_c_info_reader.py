"""c_info: read field by field, so that whatever is wrong has its path."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from host_network import extflash
from hypothesis import given
from hypothesis import strategies as st
from n6build.errors import N6Error
from n6build.network.c_info_reader import read_c_info
from n6build.network.reference import compile_network
from network_models import own_models


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("keyword")
    compile_network(next(path for path in own_models() if path.stem == "keyword"), extflash(), folder)
    return json.loads((folder / "network_c_info.json").read_text())


def read(folder: Path, content: str | bytes) -> Any:
    path = folder / "network_c_info.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
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
            "buffers[0].size_bytes: error N6-NET-020: 'x' is no integer",
        ),
        (
            lambda d: d["buffers"][0].update(offset_start=-1),
            "buffers[0].offset_start: error N6-NET-020: -1 is negative",
        ),
        (
            lambda d: d["graphs"][0].update(inputs=[999]),
            "graphs[0].inputs[0]: error N6-NET-020: there is no buffer 999",
        ),
        (lambda d: d.update(json_schema_version="3.1"), "version 3.1 of the schema is not known, 2.x is"),
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
    changed = copy.deepcopy(document)
    change(changed)
    with pytest.raises(N6Error) as caught:
        read(tmp_path, json.dumps(changed))
    assert message in str(caught.value)


def test_an_output_in_a_virtual_pool_has_an_address(document: Any, tmp_path: Path) -> None:
    changed = copy.deepcopy(document)
    pool = copy.deepcopy(changed["memory_pools"][0])
    pool |= {"id": 77, "name": "npuRAM3_npuRAM4", "fname": "", "subpools": [1, 2], "address": str(0x34200000)}
    changed["memory_pools"].append(pool)
    output = changed["graphs"][0]["outputs"][0]
    buffer = next(buffer for buffer in changed["buffers"] if buffer["id"] == output)
    buffer |= {"mpool_id": 77, "offset_start": 64}
    info = read(tmp_path, json.dumps(changed))
    assert info.outputs[0].address == 0x34200040
    assert "npuRAM3_npuRAM4" not in {pool.name for pool in info.pools}


def test_a_truncated_file_names_line_and_column(document: Any, tmp_path: Path) -> None:
    with pytest.raises(N6Error, match=r"network_c_info.json:\d+:\d+: error N6-NET-020: is no JSON"):
        read(tmp_path, json.dumps(document, indent=1)[:5000])


@given(data=st.data())
def test_any_value_anywhere_is_read_or_refused(document: Any, tmp_path: Path, data: st.DataObject) -> None:
    changed = copy.deepcopy(document)
    *way, last = data.draw(st.sampled_from(paths(document)))
    place = changed
    for key in way:
        place = place[key]
    hostile = [None, True, -1, 0, 2**70, 1e308, float("nan"), "", "x", "9" * 30, [], {}, [[]], {"id": 1}]
    place[last] = data.draw(st.sampled_from(hostile))
    try:
        read(tmp_path, json.dumps(changed))
    except N6Error as error:
        assert error.id == "N6-NET-020"


@given(content=st.binary(max_size=300) | st.sampled_from([b"[" * 100_000, b'{"a":' * 50_000, b"1e999", b"NaN"]))
def test_what_is_no_description(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(N6Error, match="N6-NET-020"):
        read(tmp_path, content)

"""Memory pool descriptors: strict reading, YAML, and files for the compiler."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.board_pools import pools_of
from n6build.compile.lossless import from_yaml, parse_strict, strict_text, to_yaml
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.mpool import mpool_text, parse_mpool, pools_of_document
from n6build.describe.hardware.boards import board_names, load_board
from samples import sample

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTOR = mpool_text(pools_of(load_board("stm32n6570-dk"), "allmems"))


def spelled(text: str) -> Any:
    """Return the JSON with the order of its keys and the spelling of its numbers."""
    return json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)


def refused(text: str | bytes) -> str:
    with pytest.raises(N6Error) as caught:
        parse_mpool(text.encode() if isinstance(text, str) else text, "a.mpool")
    return str(caught.value)


@pytest.mark.parametrize("name", board_names())
def test_what_is_written_for_a_board_reads_back_as_its_pools(name: str) -> None:
    board = load_board(name)
    for profile in board.profiles():
        pools = pools_of(board, profile)
        text = mpool_text(pools)
        assert text.isascii()
        assert pools_of_document(parse_mpool(text.encode(), "a.mpool"), "a.mpool") == pools


names = st.from_regex(re.compile(r"[A-Za-z_]\w{0,12}", re.ASCII), fullmatch=True)
pools_strategy = st.lists(
    st.builds(
        MemoryPool,
        name=names,
        fname=names,
        address=st.integers(0x4000_0000, 0xF000_0000),
        size=st.integers(0, 1 << 26),
        rights=st.sampled_from(["ACC_READ", "ACC_WRITE"]),
        cacheable=st.booleans(),
        use_for_initializers=st.booleans(),
        throughput=st.sampled_from(["LOW", "MID", "HIGH"]),
        latency=st.sampled_from(["LOW", "MID", "HIGH"]),
        byte_width=st.integers(1, 64),
        freq_ratio=st.floats(0.01, 100),
        read_power=st.floats(0, 1e4),
        write_power=st.floats(0, 1e4),
    ),
    max_size=6,
    unique_by=(lambda pool: pool.name, lambda pool: pool.fname),
)


@given(pools_strategy)
def test_any_pools_read_back(pools: list[MemoryPool]) -> None:
    assert pools_of_document(parse_mpool(mpool_text(pools).encode(), "a"), "a") == tuple(pools)


values = st.recursive(
    st.text(max_size=20).filter(str.isascii)
    | st.booleans()
    | st.none()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8).filter(str.isascii), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(values)
def test_yaml_loses_nothing(value: Any) -> None:
    text = json.dumps(value)
    kind, document = from_yaml(to_yaml(parse_strict(text.encode(), "a", "X"), "memory_pools"), "a")
    assert kind == "memory_pools"
    assert spelled(strict_text(document)) == spelled(text)


@pytest.mark.parametrize("number", ["2.50", "340.0", "1e5", "1E-3", "-0", "0.1e+10", "123456789012345678901234567890"])
def test_yaml_keeps_the_spelling_of_a_number(number: str) -> None:
    _, document = from_yaml(to_yaml(parse_strict(f'{{"a": {number}}}'.encode(), "a", "X"), "k"), "a")
    assert strict_text(document) == f'{{\n  "a": {number}\n}}'


def test_real_descriptors_survive_the_way_to_yaml_and_back() -> None:
    found = sorted(sample("mpools").glob("*.mpool"))
    assert found
    for path in found:
        _, document = from_yaml(to_yaml(parse_mpool(path.read_bytes(), path.name), "memory_pools"), path.name)
        assert spelled(strict_text(document)) == spelled(path.read_text())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"memory": {', '// pools\n  "memory": {', "a.mpool:11:3: error N6-MPOOL-001: is not strict JSON"),
        ("npuRAM3", "npuRAM³", "is not ASCII"),
        ('"value": "0x34200000"', '"value": 872415232', "memory.mempools[0].offset.value: error N6-MPOOL-002"),
        ('"value": "0x34200000"', '"value": "-1"', "'-1' is not a number"),
        ('"value": "0x34200000"', '"value": "0x134200000"', "5169479680 is beyond 32 bits"),
        ('"magnitude": "BYTES"', '"magnitude": "KBYTE"', "did you mean 'KBYTES'"),
        ('"rights": "ACC_WRITE",\n          "throughput": "HIGH"', '"rights": "ACC_WRIT"', "did you mean 'ACC_WRITE'"),
        ('"name": "npuRAM4"', '"name": "npuRAM3"', "memory.mempools[1]: error N6-MPOOL-002: pool npuRAM3"),
        ('"fname": "AXISRAM3"', '"fname": "AXISRAM3", "fname": "b"', "key 'fname' appears twice"),
        ('"fname": "AXISRAM3",', '"fname": "AXISRAM3", "mode": "USEMODE_RELATIVE",', "inside the chip and cannot be"),
        ('"freqRatio": 1.25', '"freqRatio": NaN', "NaN is not a JSON number"),
        ('"mempools"', '"pools"', "key 'mempools' is missing"),
    ],
)
def test_a_mistake_is_named_with_its_place(old: str, new: str, message: str) -> None:
    assert old in DESCRIPTOR
    assert message in refused(DESCRIPTOR.replace(old, new, 1))


def test_a_second_relative_pool_of_the_same_rights() -> None:
    text = DESCRIPTOR
    for name in ("xSPI1", "xSPI2"):
        text = text.replace(f'"fname": "{name}",', f'"fname": "{name}", "mode": "USEMODE_RELATIVE",')
    assert len(pools_of_document(parse_mpool(text.encode(), "a"), "a")) == 7
    assert "second relative pool" in refused(text.replace('"ACC_READ"', '"ACC_WRITE"'))


def test_a_huge_file_and_a_deep_one() -> None:
    assert "N6-MPOOL-001: has 4194314 bytes, 10 more" in refused(b" " * ((4 << 20) + 10))
    assert "nests more than 64 levels deep" in refused("[" * 100_000)


@given(data=st.data())
def test_damage_is_an_error_of_ours_or_none(data: st.DataObject) -> None:
    text = bytearray(DESCRIPTOR.encode())
    position = data.draw(st.integers(0, len(text) - 1))
    text[position : position + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=8))
    try:
        parse_mpool(bytes(text[: data.draw(st.integers(0, len(text)))]), "a.mpool")
    except N6Error as error:
        assert error.id.startswith("N6-MPOOL")


@given(st.text(max_size=200) | st.binary(max_size=100).map(lambda data: data.decode("latin-1")))
def test_yaml_that_is_none_of_ours(text: str) -> None:
    try:
        from_yaml(text, "a.yaml")
    except N6Error as error:
        assert error.id == "N6-MPOOL-003"


@pytest.mark.parametrize(
    "text",
    ["k: &a [*a]", "k: {a: &a [1, 1], b: &b [*a, *a], c: [*b, *b]}", "k: " + "[" * 5000, "k: 1e999", "? [k]\n: 1"],
)
def test_yaml_that_would_be_endless_or_is_hostile(text: str) -> None:
    try:
        _, document = from_yaml(text, "a.yaml")
        strict_text(document)
    except N6Error as error:
        assert error.id == "N6-MPOOL-003"


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/pools.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_tool_imports_exports_and_shows(tmp_path: Path) -> None:
    file, kept, back = tmp_path / "a.mpool", tmp_path / "a.yaml", tmp_path / "b.mpool"
    assert tool("board", "nucleo-n657", "extflash", "-o", str(file)).returncode == 0
    assert tool("import", str(file), "-o", str(kept)).returncode == 0
    assert tool("export", str(kept), "-o", str(back)).returncode == 0
    assert back.read_text() == file.read_text()
    assert "octoFlash   xSPI2       0x71000000  0x74000000  48.0 MiB  ACC_READ" in tool("show", str(file)).stdout


def test_the_tool_writes_either_alias() -> None:
    text = tool("board", "nucleo-n657", "extflash", "--non-secure").stdout
    assert '"0x24200000"' in text
    assert '"0x34' not in text


def test_the_tool_reports_a_mistake_without_a_traceback(tmp_path: Path) -> None:
    result = tool("board", "nucleo-n657", "allmems")
    assert result.returncode == 2
    assert "N6-BOARD-010" in result.stderr
    (tmp_path / "a.mpool").write_text("{")
    result = tool("import", str(tmp_path / "a.mpool"))
    assert result.returncode == 2
    assert result.stderr.startswith("a.mpool:1:2: error N6-MPOOL-001")

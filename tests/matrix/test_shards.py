"""A matrix in parts gives the same results as a whole one.

Parts that do not belong together are refused with their place.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.describe.option import Setting
from n6build.describe.until import Shard, parse_shard
from n6build.tell.matrix.shard_results import FORMAT, ShardResults, file_name, merged, read_shard

from matrix.results import GOOD, commits, names, options, results_of

PAIRS = tuple((board, model) for board in ("nucleo", "dk") for model in ("keyword", "anomaly", "large"))
COMMIT = "0123abc" * 5


def shard_of(number: int, count: int, pairs: tuple[tuple[str, str], ...] = PAIRS) -> ShardResults:
    own = Shard(number, count).part_of(pairs)
    found = tuple(replace(GOOD, board=board, model=model) for board, model in own)
    return ShardResults(FORMAT, COMMIT, (), number, count, pairs, found)


def written(folder: Path, shard: ShardResults) -> Path:
    path = folder / file_name(Shard(shard.number, shard.count))
    path.write_text(to_json(asdict(shard)))
    return path


@given(st.lists(st.integers()), st.integers(1, 20))
def test_every_pair_is_in_one_part(pairs: list[int], count: int) -> None:
    parts = [Shard(number, count).part_of(pairs) for number in range(1, count + 1)]
    assert sorted(each for part in parts for each in part) == sorted(pairs)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@st.composite
def whole_matrix(draw: st.DrawFn) -> ShardResults:
    boards, models = draw(st.lists(names, max_size=3, unique=True)), draw(st.lists(names, max_size=4, unique=True))
    pairs = tuple((board, model) for board in boards for model in models)
    found = tuple(draw(results_of(*pair)) for pair in pairs)
    return ShardResults(FORMAT, draw(commits), draw(options), 1, 1, pairs, found)


@settings(max_examples=40)
@given(whole_matrix(), st.integers(1, 8), st.randoms())
def test_parts_in_any_order_are_the_whole(whole: ShardResults, count: int, chance: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        paths = []
        for number in range(1, count + 1):
            results = tuple(Shard(number, count).part_of(whole.results))
            paths.append(written(Path(name), replace(whole, number=number, count=count, results=results)))
        chance.shuffle(paths)
        assert merged(paths) == whole


@settings(max_examples=40)
@given(st.binary(max_size=200) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_anything_else_is_refused(data: bytes | str) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "shard.json"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        with pytest.raises(N6Error, match="N6-MATRIX-001"):
            read_shard(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, r"has format 2; this n6build reads 1 .*shard-1-of-2.json: format"),
        ({"number": 3}, r"is shard 3 of 2"),
        (
            {"number": 2},
            r"has 3 results for 3 pairs; nucleo anomaly is missing or at the wrong position "
            r".*results\[0\]",
        ),
        ({"results": []}, r"has 0 results for 3 pairs; nucleo keyword is missing"),
        ({"commit": "main"}, r"commit"),
        ({"pairs": [["a", "../b"]]}, r"pairs"),
    ],
)
def test_a_damaged_part_is_located(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "shard-1-of-2.json"
    path.write_text(json.dumps(asdict(shard_of(1, 2)) | change))
    with pytest.raises(N6Error, match=r"N6-MATRIX-001") as error:
        read_shard(path)
    assert re.search(said, f"{error.value.what} {error.value.where}"), error.value


@pytest.mark.parametrize(
    ("parts", "id", "said"),
    [
        ([shard_of(1, 3), shard_of(3, 3)], "N6-MATRIX-003", "1 of 3 shards are missing: 2"),
        ([shard_of(1, 1), replace(shard_of(1, 1), commit="unknown")], "N6-MATRIX-004", "has unknown, "),
        ([shard_of(1, 2), replace(shard_of(2, 2), options=("load=xip",))], "N6-MATRIX-004", "has load=xip, "),
        ([shard_of(1, 2), shard_of(2, 3)], "N6-MATRIX-004", "has 3 shards, "),
        ([shard_of(1, 2), shard_of(2, 2, PAIRS[:-1])], "N6-MATRIX-004", "has 5 pairs, number 6 none, "),
    ],
)
def test_parts_that_do_not_make_a_whole(tmp_path: Path, parts: list[ShardResults], id: str, said: str) -> None:
    paths = []
    for at, part in enumerate(parts):
        (tmp_path / str(at)).mkdir()
        paths.append(written(tmp_path / str(at), part))
    with pytest.raises(N6Error, match=id) as error:
        merged(paths)
    assert said in error.value.what
    assert error.value.where is not None
    assert str(tmp_path) in error.value.where


def test_a_part_that_is_given_twice(tmp_path: Path) -> None:
    path = written(tmp_path, shard_of(1, 2))
    with pytest.raises(N6Error, match=r"N6-MATRIX-002.*is shard 1 of 2, the same as "):
        merged([path, path])


@pytest.mark.parametrize("text", ["3", "0/8", "9/8", "1/0", "a/b", "1/1001", "-1/2", "1/2/3", " 1/2", "१/२"])
def test_an_option_that_is_no_part(text: str) -> None:
    with pytest.raises(N6Error, match="N6-OPTION-002"):
        parse_shard(Setting(text, "command line", "shard"))


def test_the_option() -> None:
    assert parse_shard(Setting("3/8", "command line", "shard")) == Shard(3, 8)
    assert parse_shard(Setting("", "default", "shard")) is None

"""Epochs as they run, joined with the table of epoch blocks by ST's numbers.

ST's numbers begin anywhere and have gaps.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from n6build.compile.artifacts.description import EpochBlock, EpochInfo, NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.artifacts.timed_epochs import timed_epochs
from n6build.compile.reference.compile_model import compile_network

from network.host_network import extflash
from network.network_models import own_models


def epoch(number: int, kind: str, macs: int = 0, mapping: str = "NODE_HW") -> EpochInfo:
    return EpochInfo(number, f"node_{number}", kind, macs, 10, mapping)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("keyword")
    compile_network(next(path for path in own_models() if path.stem == "keyword"), extflash(), made)
    return made


@pytest.fixture
def artifacts(folder: Path) -> NetworkArtifacts:
    """Return artifacts with the table of a real network.

    It has the CPU, a blob of several epochs, and the NPU.
    """
    return replace(
        read_artifacts(folder, "network"),
        epochs=(
            epoch(2, "Quantize", mapping="NODE_SW"),
            epoch(3, "Conv Add", 100, "NODE_EC"),
            epoch(5, "Conv Pool", 50, "NODE_EC"),
            epoch(118, "Softmax"),
        ),
        blocks=(EpochBlock(2, 2, "NODE_SW"), EpochBlock(3, 117, "NODE_EC"), EpochBlock(118, 118, "NODE_HW")),
    )


def test_a_blob_is_one_row_with_the_operators_inside(artifacts: NetworkArtifacts) -> None:
    assert [(row.number, row.kind, row.count, row.macs, row.bytes) for row in timed_epochs(artifacts)] == [
        ("2", "Quantize", 1, 0, 10),
        ("3-117", "Conv Add Pool", 2, 150, 20),
        ("118", "Softmax", 1, 0, 10),
    ]


def test_two_blocks_of_one_epoch_are_one_row(artifacts: NetworkArtifacts) -> None:
    twice = replace(artifacts, blocks=tuple(block for block in artifacts.blocks for _ in range(2)))
    assert timed_epochs(twice) == timed_epochs(artifacts)


def test_without_a_table_each_epoch_is_a_row(artifacts: NetworkArtifacts) -> None:
    rows = timed_epochs(replace(artifacts, blocks=()))
    assert [(row.number, row.kind) for row in rows] == [
        ("2", "Quantize"),
        ("3", "Conv Add"),
        ("5", "Conv Pool"),
        ("118", "Softmax"),
    ]


def test_where_the_operators_of_a_blob_are_not_known_it_is_called_what_it_is(artifacts: NetworkArtifacts) -> None:
    assert [row.kind for row in timed_epochs(replace(artifacts, epochs=()))] == [
        "epoch_2",
        "epoch controller",
        "epoch_118",
    ]


def test_a_described_epoch_that_is_in_no_block_does_not_count(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    source = tmp_path / "network.c"
    whole = read_artifacts(folder, "network")
    assert [block.first for block in whole.blocks] == [each.index for each in whole.epochs]
    # The second entry now has number 1000, which c_info does not have. Epoch 2 of c_info never runs.
    source.write_text(source.read_text().replace("epoch_num = 2,", "epoch_num = 1000,"))
    changed = read_artifacts(tmp_path, "network")
    assert [each.index for each in changed.epochs] == [1, 1000, *range(3, len(whole.epochs) + 1)]

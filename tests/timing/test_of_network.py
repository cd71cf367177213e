"""Bytes that the epochs of compiled networks move.

They come from settings of the NPU and from the counts of c_info.
"""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.c_info_pools import read_costs
from n6build.compile.artifacts.description import EpochInfo, NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.prebuilt.imported import import_network
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.lowering import lower
from n6build.describe.compiled_folder import find_network
from n6build.describe.hardware.boards import load_board
from n6build.judge.npu.moved import moves_of
from n6build.judge.npu.settings import EpochSettings, UnitSettings
from n6build.judge.timing.classes import class_work
from n6build.judge.timing.conditions import Conditions, conditions_of
from n6build.judge.timing.expected import expected_time
from n6build.judge.timing.facts import read_measurements
from n6build.judge.timing.model import npu_time, read_model
from n6build.judge.timing.of_network import EpochWork, work_of
from samples import sample
from timing_layers import layers_of

BOARD = load_board("nucleo-n657")
MODEL = read_model()
DK = conditions_of(BOARD, "overdrive", "200")


def engine(name: str, **fields: int) -> UnitSettings:
    places = {
        "DIR": "CTRL", "RAW": "CTRL", "SIZE0": "CTRL", "SIZE1": "CTRL", "SIZE2": "CTRL", "CONT": "CTRL", "WIDTH": "FSIZE",
        "HEIGHT": "FSIZE", "SIZE": "DEPTH", "CNT": "LIMIT", "FRAMELIMIT": "LIMITEN", "ADDRLIMIT": "LIMITEN",
        "CACHEABLE": "CID_CACHE",
    }  # fmt: skip
    values = {(places[field], field): value for field, value in fields.items() if field in places}
    values |= {("ADDR", "REG"): fields["at"]} if "at" in fields else {}
    values |= {("LIMITADDR", "REG"): fields["last"]} if "last" in fields else {}
    return UnitSettings(name, "STRENG", values)


def test_an_engine_moves_its_frames() -> None:
    settings = EpochSettings(
        3, (engine("STRENG0", SIZE0=8, SIZE1=8, WIDTH=4, HEIGHT=2, SIZE=3, FRAMELIMIT=1, CNT=5, at=16),)
    )
    (moved,) = moves_of(settings).engines
    assert (moved.elements, moved.bytes, moved.distinct, moved.address, moved.writes) == (120, 240, 240, 16, False)


def test_a_raw_frame_is_a_number_of_elements() -> None:
    settings = EpochSettings(3, (engine("STRENG0", RAW=1, SIZE0=8, WIDTH=1, HEIGHT=2, DIR=1, at=16),))
    (moved,) = moves_of(settings).engines
    assert (moved.elements, moved.writes) == (0x20001, True)


def test_what_a_cache_may_answer_is_counted_once() -> None:
    fields = {"RAW": 1, "SIZE0": 8, "WIDTH": 100, "FRAMELIMIT": 1, "CNT": 10, "ADDRLIMIT": 1, "at": 0, "last": 100 + 63}
    cached = moves_of(EpochSettings(1, (engine("STRENG0", CACHEABLE=1, **fields),))).engines[0]
    other = moves_of(EpochSettings(1, (engine("STRENG0", **fields),))).engines[0]
    assert (cached.bytes, cached.distinct) == (1000, 100)
    assert other.distinct == 1000


def test_a_convolution_may_make_more_than_is_written() -> None:
    """Two frames of 8 x 8 x 3, with 16 kernels each, are pooled before writing.

    The pooling is by four.
    """
    conv = UnitSettings(
        "CONVACC0",
        "CONVACC",
        {
            ("KFORMAT", "BTCDEPTH"): 3, ("KFORMAT", "NR"): 16, ("SAMPLE", "HSTRD"): 1, ("SAMPLE", "VSTRD"): 1,
            ("FFORMAT", "WIDTH"): 24, ("FFORMAT", "HEIGHT"): 8,
        },
    )  # fmt: skip
    read = engine("STRENG0", SIZE0=8, WIDTH=8, HEIGHT=8, SIZE=3, FRAMELIMIT=1, CNT=2)
    written = engine("STRENG1", SIZE0=8, WIDTH=4, HEIGHT=4, SIZE=16, FRAMELIMIT=1, CNT=2, DIR=1)
    assert moves_of(EpochSettings(1, (read, written, conv))).widest == 8 * 8 * 16 * 2


def compiled(folder: str, name: str, weights: str, tmp_path: Path) -> NetworkArtifacts:
    source = sample(f"npu/{folder}")
    for file in source.iterdir():
        if file.suffix in (".c", ".h"):
            shutil.copy(file, tmp_path)
    shutil.copy(source / weights, tmp_path / f"{name}_atonbuf.xSPI2.raw")
    return read_artifacts(tmp_path, name)


@pytest.mark.parametrize(
    ("folder", "name", "weights", "published"),
    [
        ("yamnet-core-2.2", "network", "aed_weights.bin", 9.88),
        ("reid-mobilenetv2-core-3.0", "reid", "reid_atonbuf.xSPI2.bin", 13.37),
    ],
)
def test_compiled_networks_take_about_what_st_has_published(
    folder: str, name: str, weights: str, published: float, tmp_path: Path
) -> None:
    """The fit used none of these epochs; they are less than a tenth off."""
    time = expected_time(work_of(compiled(folder, name, weights, tmp_path), BOARD.soc), MODEL, DK)
    assert sum(each.ms for each in time.epochs) == pytest.approx(published, rel=0.1)
    assert time.low < published < (time.high or 1e9)


def test_weights_at_offsets_of_a_relative_pool_are_read_from_flash(tmp_path: Path) -> None:
    """The blob has offsets, and its container names their pool."""
    found = find_network(sample("npu/square-seg-core-4.0.1"))
    import_network(found, tmp_path)
    artifacts = read_artifacts(tmp_path, found.name)
    (pool,) = (pool for pool in artifacts.pools if pool.relative)
    read = [epoch.flash for epoch in work_of(artifacts, BOARD.soc).epochs]
    assert sum(least for least, _ in read) == sum(most for _, most in read) == pool.weights_bytes == 101_697


@pytest.mark.parametrize(
    ("folder", "weights", "published"),
    [("pose-movenet-core-2.1", "network_data.xSPI2.bin", 18.44), ("yamnet-core-2.2", "aed_weights.bin", 9.88)],
)
def test_compiled_networks_with_work_of_the_cpu_have_a_range_that_holds_the_published_time(
    folder: str, weights: str, published: float, tmp_path: Path
) -> None:
    """One resizes on the CPU, the other transposes on NPU and CPU."""
    at = Conditions("dk", 800_000_000, 1_000_000_000, 200_000_000)
    time = expected_time(work_of(compiled(folder, "network", weights, tmp_path), BOARD.soc), MODEL, at)
    assert time.high is not None
    assert time.low < published < time.high
    assert time.ms == pytest.approx(published, rel=0.1)


@pytest.mark.parametrize(
    ("id", "path"),
    [
        ("B37i192p13", "npu/pose-movenet-core-2.1/st_movenet_lightning_heatmaps_192_int8_pc.tflite"),
        ("A39", "npu/reid-mobilenetv2-core-3.0/mobilenetv2_a100_256_128_fft_int8.tflite"),
    ],
)
def test_the_work_of_a_measured_network_is_what_its_model_file_has(id: str, path: str) -> None:
    """A39 has a list of layers; its file also quantises its input and averages."""
    row = next(each for each in read_measurements().networks if each.id == id)
    lowered = lower(graph_of(sample(path)), path)
    sizes = {each.name: each.tensor.elements if each.tensor else 0 for each in lowered.buffers}
    epochs = [
        EpochWork(
            each.index,
            each.kind,
            "CPU",
            max((sizes.get(name, 0) for name in (*each.inputs, each.output)), default=0),
            each.macs,
            (0, 0),
            0,
            None,
            own=True,
            made=sizes.get(each.output, 0),
        )
        for each in lowered.epochs
    ]
    found = class_work(epochs, MODEL.classes.macs_per_cycle.value)
    if row.work is not None:
        assert replace(found, family=row.work.family) == row.work
    else:
        assert row.layers is not None
        layers = sum(max(each.elements, each.macs / 170) for each in layers_of(row.layers))
        assert found.layers == pytest.approx(layers, rel=0.05)


def test_what_c_info_counts_is_what_a_published_network_took(tmp_path: Path) -> None:
    """The network is tiny_yolo_v2 at 224.

    Its activations are elsewhere than in the network that took 30.67 ms, but elements and weights are
    not.
    """
    path = tmp_path / "network_c_info.json"
    path.write_bytes(gzip.decompress(sample("c_info/core-2.0-tiny_yolo_v2_224.json.gz").read_bytes()))
    costs = read_costs(path)
    times = [
        npu_time(MODEL.epochs, each.compute_cycles, 0, each.reads.get("octoFlash", 0), DK).ns / 1e6
        for each in costs.values()
        if each.compute_cycles
    ]
    assert sum(times) == pytest.approx(30.67, rel=0.05)
    assert costs[16].weights["octoFlash"] == pytest.approx(4718592, rel=0.01)
    assert sum(each.total_cycles for each in costs.values()) / 1e6 > 2.5 * 30.67


def c_info(**changed: object) -> dict[str, object]:
    tensor = {"mpool_id": 1, "is_param": False, "shape": [4, 5], "size_bytes": 20}
    weights = {"mpool_id": 2, "is_param": True, "shape": [9], "size_bytes": 9}
    node = {"id": 7, "name": "epoch_3", "inputs": [1, 2, 1], "outputs": [1]}
    return {
        "memory_pools": [{"id": 1, "name": "ram"}, {"id": 2, "name": "flash"}],
        "buffers": [{"id": 1, **tensor}, {"id": 2, **weights}],
        "graphs": [{"nodes": [node, {**node, "name": "end"}]}],
        **changed,
    }


def test_epochs_of_any_backend_have_tensors_and_weights(tmp_path: Path) -> None:
    path = tmp_path / "network_c_info.json"
    path.write_text(json.dumps(c_info()))
    (found,) = read_costs(path).items()
    assert found[0] == 3
    assert (found[1].elements, found[1].weights, found[1].compute_cycles) == (20, {"flash": 9}, 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("memory_accesses", [{"node_id": 7, "mpool_id": 1, "reads": -1, "writes": 0}]),
        ("memory_accesses", 5),
        ("power_estimates", [{"node_id": "x"}]),
        ("buffers", None),
        ("graphs", []),
    ],
)
def test_a_damaged_c_info_is_told(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "network_c_info.json"
    path.write_text(json.dumps(c_info(**{key: value})))
    with pytest.raises(N6Error, match="N6-NET-020"):
        read_costs(path)


def test_estimates_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "network_c_info.json"
    path.write_text(json.dumps(c_info(power_estimates=[{"node_id": 7, "compute_cycles": 1e400, "max_cycles": -5}])))
    assert read_costs(path)[3].compute_cycles == 0


SOURCE = (
    "void LL_ATON_EpochBlockItems_Default(void) {\n{ .start_epoch_block = a, .flags = EpochBlock_Flags_pure_hw },\n}\n"
)


def test_a_network_whose_epochs_nothing_tells_of_has_a_lower_bound_and_says_so(tmp_path: Path) -> None:
    source = tmp_path / "network.c"
    source.write_text(SOURCE)
    epoch = EpochInfo(1, "epoch_1", "Conv", 0, 0, "NODE_HW")
    empty = NetworkArtifacts("network", "Default", source, (), (), (), (), (), (epoch,), None, None, (), "network.c")
    time = expected_time(work_of(empty, BOARD.soc), MODEL, DK)
    assert time.high is None
    assert any("c_info, blobs and network.c do not" in note for note in time.notes)
    (tmp_path / "network_c_info.json").write_text("{")
    damaged = expected_time(work_of(replace(empty, epochs=(epoch,)), BOARD.soc), MODEL, DK)
    assert any("network_c_info.json" in note for note in damaged.notes)

"""A report collects the files of all stages.

Each used byte is drawn in its memory, or listed as outside any memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from n6build.compile.artifacts.description import EpochBlock, EpochInfo, IoBuffer, NetworkArtifacts, PoolRange
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.place.image.manifest import FlashManifest, Segment
from n6build.place.image.sizes import ProgramExtent
from n6build.place.memory_plan.board_memory import memory_of
from n6build.place.memory_plan.build_plan import CompiledNetwork, make_plan
from n6build.place.memory_plan.vectors import NO_VECTORS
from n6build.tell.collect import collect
from n6build.tell.content import Report, Space

KIB = 1 << 10
ACTIVATIONS = PoolRange("npuRAM3", "AXISRAM3", 0x34200000, 448 * KIB, 20 * KIB, 0, "ACC_WRITE", False)


def artifacts(*pools: PoolRange, name: str = "network") -> NetworkArtifacts:
    return NetworkArtifacts(
        name=name,
        suffix=name,
        source=Path(__file__),  # Any file is possible: without weights, its content has no effect.
        pools=pools,
        initializers=(),
        inputs=(IoBuffer("in", 0x34200000, 10, "int8", (1, 10), 0.5, -3),),
        outputs=(IoBuffer("out", 0x34200000, 8, "float32", (1, 2), 1.0, 0),),
        quantised=(),
        epochs=(
            EpochInfo(1, "epoch_1", "Conv2D", 1000, 64, "NODE_EC"),
            EpochInfo(2, "epoch_2", "Resize", 10, 64, "NODE_SW_HW"),
            EpochInfo(3, "epoch_3", "", 0, 64, "NODE_SW"),
        ),
        ll_aton=None,
        library_call=None,
        tools=(),
        described_by="network_c_info.json",
    )


def report_of(board: Board, networks: Sequence[NetworkArtifacts], cycles: Sequence[dict[int, int]] = ()) -> Report:
    compiled = [CompiledNetwork(each.name, each, NO_VECTORS, False) for each in networks]
    plan = make_plan(memory_of(board, {}), "extflash", compiled)
    segments = (Segment("fsbl", "../fsbl_image.bin", 0x70000000, 6000, ""),)
    return collect(
        board=board,
        plan=plan,
        manifest=FlashManifest(board.name, board.nor.base, board.nor.size, board.nor.sector, segments),
        networks=[("reference", each) for each in networks],
        programs=[ProgramExtent("Appli", 0x34000400, 42000)],
        cycles=cycles,
        checks=(),
        versions=(),
        actions=(),
        seconds=0.0,
    )


def space(report: Report, name: str) -> Space:
    return next(each for axis in (*report.memory, report.flash) for each in axis.spaces if each.name == name)


NUCLEO = load_board("nucleo-n657")


def test_a_pool_of_weights_and_activations_is_two_parts() -> None:
    pool = PoolRange("npuRAM5", "AXISRAM5", 0x342E0000, 448 * KIB, 30 * KIB, 10 * KIB, "ACC_WRITE", False)
    report = report_of(NUCLEO, [artifacts(pool)])
    parts = space(report, "AXISRAM5").parts
    assert [(part.kind, part.address, part.size) for part in parts] == [
        ("weights", 0x342E0000, 10 * KIB),
        ("activations", 0x342E0000 + 10 * KIB, 20 * KIB),
    ]
    section = report.networks[0]
    assert (section.weights_bytes, section.activations_bytes) == (10 * KIB, 20 * KIB)
    assert [part.label for part in report.memory[0].pools] == ["pool npuRAM5"]
    assert report.elsewhere == ()


def test_a_pool_over_two_memories_is_drawn_in_both() -> None:
    pool = PoolRange("cpuRAM", "cpuRAM", 0x34064000, 1648 * KIB, 1000 * KIB, 0, "ACC_WRITE", False)
    report = report_of(NUCLEO, [artifacts(pool)])
    assert (space(report, "AXISRAM1").used, space(report, "AXISRAM2").used) == (624 * KIB, 376 * KIB)
    assert report.elsewhere == ()


def test_the_non_secure_alias_is_the_same_memory() -> None:
    pool = PoolRange("npuRAM3", "AXISRAM3", 0x24200000, 448 * KIB, 20 * KIB, 0, "ACC_WRITE", False)
    report = report_of(NUCLEO, [artifacts(pool)])
    assert space(report, "AXISRAM3").used == 20 * KIB
    assert report.elsewhere == ()


def test_ram_with_another_purpose_is_shown_where_it_is_used() -> None:
    assert "CACHEAXIRAM" not in [each.name for each in report_of(NUCLEO, [artifacts(ACTIVATIONS)]).memory[0].spaces]
    pool = PoolRange("npuCache", "npuCache", 0x343C0000, 256 * KIB, KIB, 0, "ACC_WRITE", False)
    assert space(report_of(NUCLEO, [artifacts(pool)]), "CACHEAXIRAM").used == KIB


def test_activations_in_a_ram_that_the_board_lacks_are_named() -> None:
    pool = PoolRange("hyperRAM", "xSPI1", 0x90000000, 32 << 20, 5000, 0, "ACC_WRITE", False)
    report = report_of(NUCLEO, [artifacts(pool)])
    assert [(part.label, part.size) for part in report.elsewhere] == [("activations, pool hyperRAM", 5000)]


def test_a_board_with_external_ram_shows_its_regions() -> None:
    report = report_of(load_board("openmv-n6"), [artifacts(ACTIVATIONS)])
    axis = report.memory[1]
    assert (axis.title, axis.address, axis.size) == ("External RAM", 0x90000000, 64 << 20)
    assert "uma" in [each.name for each in axis.spaces]


def test_weights_read_in_place_are_in_the_flash() -> None:
    address = NUCLEO.slots.weights.address
    pool = PoolRange("octoFlash", "xSPI2", address, 1 << 20, 9000, 9000, "ACC_READ", False)
    report = report_of(NUCLEO, [artifacts(pool)])
    assert report.elsewhere == ()
    assert report.networks[0].activations_bytes == 0


def test_flash_shows_slots_and_the_names_of_files() -> None:
    report = report_of(NUCLEO, [artifacts(ACTIVATIONS)])
    assert [each.name for each in report.flash.spaces] == ["fsbl", "appli", "vectors", "weights"]
    assert [(part.label, part.kind, part.size) for part in space(report, "fsbl").parts] == [
        ("fsbl_image.bin", "program", 6000)
    ]


def test_of_several_networks_each_part_says_whose_it_is() -> None:
    report = report_of(NUCLEO, [artifacts(ACTIVATIONS), artifacts(ACTIVATIONS, name="other")], [{1: 70}])
    labels = {part.label for part in space(report, "AXISRAM3").parts}
    assert labels == {"network activations, pool npuRAM3", "other activations, pool npuRAM3"}
    assert space(report, "AXISRAM3").used == 20 * KIB
    assert [network.epochs[0].cycles for network in report.networks] == [70, None]


def test_epochs_say_where_they_run() -> None:
    epochs = report_of(NUCLEO, [artifacts(ACTIVATIONS)]).networks[0].epochs
    assert [(epoch.unit, epoch.kind, epoch.bytes) for epoch in epochs] == [
        ("NPU", "Conv2D", 64),
        ("both", "Resize", 64),
        ("CPU", "epoch_3", 64),
    ]


def test_a_network_whose_macs_nobody_counted_has_none() -> None:
    network = artifacts(ACTIVATIONS)
    uncounted = replace(network, epochs=tuple(replace(epoch, macs=0) for epoch in network.epochs))
    assert [epoch.macs for epoch in report_of(NUCLEO, [network]).networks[0].epochs] == [1000, 10, 0]
    assert [epoch.macs for epoch in report_of(NUCLEO, [uncounted]).networks[0].epochs] == [None] * 3


def test_epochs_of_a_blob_share_a_row_with_their_cycles() -> None:
    blocks = (EpochBlock(1, 2, "NODE_EC"), EpochBlock(3, 3, "NODE_SW"))
    network = replace(artifacts(ACTIVATIONS), blocks=blocks)
    (section,) = report_of(NUCLEO, [network], [{1: 70, 3: 5}]).networks
    assert [(row.number, row.kind, row.cycles) for row in section.epochs] == [
        ("1-2", "Conv2D Resize", 70),
        ("3", "epoch_3", 5),
    ]
    assert (section.epoch_count, section.epochs_on("NPU"), section.epochs_on("CPU")) == (3, 2, 1)


def test_ports_say_type_shape_and_scale() -> None:
    section = report_of(NUCLEO, [artifacts(ACTIVATIONS)]).networks[0]
    assert section.inputs == ("in: int8 1 x 10, scale 0.5, zero point -3",)
    assert section.outputs == ("out: float32 1 x 2",)

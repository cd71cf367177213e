"""The memory plan: places of images in flash, and copies into RAM.

It has one or several networks.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import InitializerImage, IoBuffer, NetworkArtifacts, PoolRange
from n6build.compile.artifacts.network_c import parse_network_c
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.slots import flash_of
from n6build.judge.npu.blobs import blobs_of_network
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.npu.source_settings import epochs_of_source
from n6build.place.memory_plan.board_memory import memory_of, models_memory_of
from n6build.place.memory_plan.build_plan import CompiledNetwork, compiled_network, make_plan, make_reloc_plan
from n6build.place.memory_plan.images import elsewhere
from n6build.place.memory_plan.plan import Content, MemoryPlan, PlannedModel, application_name, plan_json, read_plan
from n6build.place.memory_plan.plan_tables import models_source, plan_source, pools_script
from n6build.place.memory_plan.vectors import NO_VECTORS, VectorShape
from n6build.place.reloc.slots import ModelSlot
from samples import sample

BOARD = load_board("nucleo-n657")
WEIGHTS = BOARD.slots.weights
SECTOR = BOARD.nor.sector


def network(folder: Path, name: str, *, pool: str, address: int, size: int, relative: bool = False) -> CompiledNetwork:
    (folder / f"{name}.c").write_text(f"int {name};\n")
    rights = "ACC_READ" if pool == "xSPI2" else "ACC_WRITE"
    artifacts = NetworkArtifacts(
        name=name,
        suffix=f"{name}_symbol",
        source=folder / f"{name}.c",
        pools=(PoolRange(pool, pool, address, 1 << 20, size, size, rights, relative),),
        initializers=(InitializerImage(pool, pool, address, folder / f"{name}_atonbuf.{pool}.raw", size, relative),),
        inputs=(IoBuffer("in", 0x34200000, 10, "int8", (1, 10), 1.0, 0),),
        outputs=(),
        quantised=(),
        epochs=(),
        ll_aton=None,
        library_call=None,
        tools=(),
        described_by=f"{name}_c_info.json",
    )
    return CompiledNetwork(name, artifacts, NO_VECTORS, False)


def plan_of(*networks: CompiledNetwork, board: Board = BOARD) -> MemoryPlan:
    return make_plan(memory_of(board, {}), "extflash", networks)


def test_weights_in_flash_are_read_in_place_and_those_in_ram_are_copied(tmp_path: Path) -> None:
    plan = plan_of(
        network(tmp_path, "a", pool="xSPI2", address=WEIGHTS.address, size=1000),
        network(tmp_path, "b", pool="AXISRAM5", address=0x342E0000, size=70_000),
        network(tmp_path, "c", pool="AXISRAM6", address=0x34350000, size=1),
    )
    places = [(image.slot_file, image.source, image.destination) for image in plan.images]
    assert places == [
        ("a_weights_xSPI2.bin", WEIGHTS.address, WEIGHTS.address),
        ("b_weights_AXISRAM5.bin", WEIGHTS.address + SECTOR, 0x342E0000),
        ("c_weights_AXISRAM6.bin", WEIGHTS.address + 3 * SECTOR, 0x34350000),
    ]
    assert [bank.name for bank in plan.banks] == ["AXISRAM5", "AXISRAM6"]
    assert [image.in_place for image in plan.images] == [True, False, False]


@pytest.mark.parametrize(("room", "banks"), [(64, ["AXISRAM5"]), (63, ["AXISRAM5", "AXISRAM6"])])
def test_the_bank_that_the_npu_may_read_ahead_into_is_powered(room: int, banks: list[str], tmp_path: Path) -> None:
    end = 0x34350000
    size = 1000
    plan = plan_of(network(tmp_path, "a", pool="AXISRAM5", address=end - room - size, size=size))
    assert [bank.name for bank in plan.banks] == banks


@pytest.mark.parametrize(
    "source",
    [
        "npu/yamnet-core-2.2/network.c",
        "npu/reid-mobilenetv2-core-3.0/reid.c",
        "npu/pose-movenet-core-2.1/network.c",
        "npu/square-seg-core-4.0.1/network.c",
    ],
)
def test_every_bank_up_to_the_limit_of_an_engine_is_powered(source: str) -> None:
    """An engine of a network of ST's compiler may read up to LIMITADDR."""
    path, board = sample(source), load_board("stm32n6570-dk")
    compiled = compiled_network("a", path.parent, path.stem, (), None, is_classification=False)
    powered = {bank.name for bank in plan_of(compiled, board=board).banks}
    names = names_of(board.soc.npu)
    text = path.read_text()
    blobs = blobs_of_network(path, parse_network_c(text, path.name).ecblobs_header)
    epochs = [epoch for blob in blobs for epoch in epochs_of_blob(blob, names)] or list(epochs_of_source(text, names))
    engines = [unit.fields for epoch in epochs for unit in epoch.units if unit.kind == "STRENG"]
    limits = [each["LIMITADDR", "REG"] for each in engines if each.get(("LIMITEN", "ADDRLIMIT"))]
    assert limits
    for bank in memory_of(board, {}).banks:
        if any(bank.span.address <= limit < bank.span.end for limit in limits):
            assert bank.name in powered


@pytest.mark.parametrize("address", [0x9000_0000, 0x91FF_F000])
def test_the_appli_maps_the_external_ram_where_a_network_uses_it(tmp_path: Path, address: int) -> None:
    board = load_board("stm32n6570-dk")
    plan = plan_of(network(tmp_path, "a", pool="xSPI1", address=address, size=1000), board=board)
    assert (plan.images[0].source, plan.images[0].destination) == (board.slots.weights.address, address)
    assert "n6_plan_open_external_ram)(uint32_t *id) = n6_xspi_psram_open;" in plan_source(plan)
    inside = plan_of(network(tmp_path, "b", pool="AXISRAM5", address=0x342E0000, size=1000), board=board)
    assert "n6_plan_open_external_ram)(uint32_t *id) = 0;" in plan_source(inside)


def test_nothing_is_mapped_that_the_board_does_not_describe(tmp_path: Path) -> None:
    board = load_board("stm32n6570-dk")
    assert board.external_ram
    unknown = replace(board, external_ram=replace(board.external_ram, psram=None))
    plan = plan_of(network(tmp_path, "a", pool="xSPI1", address=0x9000_0000, size=1000), board=unknown)
    assert not plan.maps_external_ram


def test_models_that_are_installed_share_the_region_of_the_external_ram(tmp_path: Path) -> None:
    board = load_board("openmv-n6")
    compiled = [network(tmp_path, name, pool="xSPI2", address=0, size=100, relative=True) for name in ("a", "b", "c")]
    models = [
        PlannedModel(each.model, f"{each.model}.bin", "", (ModelSlot(0x7080_0000, 1 << 16, 0, 0),)) for each in compiled
    ]
    plan = make_reloc_plan(memory_of(board, {}), "allmems", compiled, models)
    text = models_source(plan, models_memory_of(board), "copy")
    assert "(*const n6_models_open_external_ram)(uint32_t *id) = n6_xspi_psram_open;" in text
    parts = re.findall(r"\.external_ram = (\w+)u,\n\s+\.external_ram_bytes = (\w+)u,", text)
    assert [(int(start, 16), int(size, 16)) for start, size in parts] == [
        (0x9000_0000 + part * (8 << 20), 8 << 20) for part in range(3)
    ]
    nucleo = models_source(replace(plan, external_regions=()), models_memory_of(BOARD), "copy")
    assert "(*const n6_models_open_external_ram)(uint32_t *id) = 0;" in nucleo


def test_a_relative_pool_gets_the_address_of_its_image_by_the_linker(tmp_path: Path) -> None:
    plan = plan_of(network(tmp_path, "od", pool="xSPI2", address=0, size=1000, relative=True))
    assert plan.images[0].destination == plan.images[0].source == WEIGHTS.address
    assert f"_mem_pool_xSPI2_od_symbol = 0x{WEIGHTS.address:08X};" in pools_script(plan)


def test_writable_relative_pools_need_a_loader(tmp_path: Path) -> None:
    with pytest.raises(
        N6Error, match="N6-PLAN-007: memory pool xSPI1 is relative and writable, but the network uses 64 bytes of it"
    ):
        plan_of(network(tmp_path, "a", pool="xSPI1", address=0, size=64, relative=True))


@pytest.mark.parametrize(
    ("address", "size", "slots"),
    [
        (0x7018_0000, 3_581_153, ["appli"]),
        (0x7038_0000, 1000, []),
        (0x7038_0000, 12 << 20, ["vectors"]),
        (0x7018_0000, 20 << 20, ["appli", "vectors", "weights"]),
    ],
)
def test_weights_are_where_their_network_fixes_them(tmp_path: Path, address: int, size: int, slots: list[str]) -> None:
    plan = plan_of(network(tmp_path, "a", pool="xSPI2", address=address, size=size))
    assert [(image.source, image.in_place) for image in plan.images] == [(address, True)]
    assert elsewhere(flash_of(BOARD), plan.images) == [(plan.images[0], slots)]


def test_weights_inside_their_slot_take_room_from_no_other(tmp_path: Path) -> None:
    plan = plan_of(network(tmp_path, "a", pool="xSPI2", address=0x7200_0000, size=1000))
    assert plan.images[0].source == 0x7200_0000
    assert elsewhere(flash_of(BOARD), plan.images) == []


@pytest.mark.parametrize(
    ("address", "size", "text"),
    [
        (0x7000_0000, 10, "must be at 0x70000000..0x70000034, but the FSBL begins at 0x70000000"),
        (0x7008_0000, 1 << 20, "must be at 0x70080000..0x70180024, but the Appli begins at 0x70100000"),
        (0x7018_1000, 10, "must be at 0x70181000, which is not a boundary of 65536-byte sectors"),
    ],
)
def test_weights_where_a_program_begins_are_refused(tmp_path: Path, address: int, size: int, text: str) -> None:
    with pytest.raises(N6Error, match=f"a.c: error N6-PLAN-008: the weights of pool xSPI2 {text}"):
        plan_of(network(tmp_path, "a", pool="xSPI2", address=address, size=size))


def test_fixed_weights_beyond_the_nor_are_refused_with_the_bytes(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-PLAN-001: .* be at 0x70380000 and need 3670052 bytes more than the NOR has"):
        plan_of(network(tmp_path, "a", pool="xSPI2", address=0x7038_0000, size=BOARD.nor.size))


def test_test_vectors_go_behind_fixed_weights_that_cover_the_start_of_their_slot(tmp_path: Path) -> None:
    slot = BOARD.slots.vectors
    vectors = VectorShape("v.npy", 3, 10)
    start = 0x7038_0000
    one = network(tmp_path, "a", pool="xSPI2", address=start, size=slot.address - start + 10)
    assert plan_of(replace(one, vectors=vectors)).networks[0].vectors.source == slot.address + SECTOR
    all_of_it = network(tmp_path, "b", pool="xSPI2", address=start, size=slot.end - start - 48)
    assert plan_of(replace(all_of_it, vectors=vectors)).networks[0].vectors.source == WEIGHTS.address


IMAGES = VectorShape("v.npy", 2, 480 * 480 * 3)


def with_images(network: CompiledNetwork, vectors: VectorShape = IMAGES) -> CompiledNetwork:
    """Return the network with an input of the size of the vectors."""
    (port,) = network.artifacts.inputs
    inputs = (replace(port, bytes=vectors.bytes_each),)
    return replace(network, vectors=vectors, artifacts=replace(network.artifacts, inputs=inputs))


def test_vectors_that_are_larger_than_their_slot_take_the_room_that_is_free(tmp_path: Path) -> None:
    """Two images of 480 x 480 do not fit into a slot of 1 MiB."""
    behind = network(tmp_path, "a", pool="xSPI2", address=WEIGHTS.address, size=SECTOR)
    (planned,) = plan_of(with_images(behind)).networks
    assert planned.vectors.source == WEIGHTS.address + 2 * SECTOR
    # If the weights are elsewhere, the vectors may use slot 'weights', and begin in their own slot.
    elsewhere = network(tmp_path, "b", pool="xSPI2", address=0x7038_0000, size=SECTOR)
    (planned,) = plan_of(with_images(elsewhere)).networks
    assert planned.vectors.source == BOARD.slots.vectors.address


def test_vectors_without_room_are_refused_with_the_room_and_the_bytes(tmp_path: Path) -> None:
    one = network(tmp_path, "a", pool="xSPI2", address=WEIGHTS.address + (20 << 20), size=10)
    many = replace(IMAGES, count=100)
    message = (
        r"nucleo-n657/board.yaml: slots.vectors: error N6-PLAN-005: test vectors need 69140480 bytes of flash \(100 vectors of "
        r"691200 bytes in v.npy\), 39845888 more than the largest free area of slots 'vectors' and 'weights', "
        "29294592 bytes at 0x72410000"
    )
    with pytest.raises(N6Error, match=message):
        plan_of(with_images(one, many))


def test_vectors_beside_models_that_are_installed_stay_in_their_slot(tmp_path: Path) -> None:
    one = with_images(network(tmp_path, "a", pool="AXISRAM5", address=0x342E0000, size=0))
    with pytest.raises(N6Error, match="N6-PLAN-005: .* 1048576 bytes at 0x70F00000"):
        make_reloc_plan(memory_of(BOARD, {}), "extflash", [one], [])


def test_weights_to_copy_go_behind_fixed_ones_that_reach_into_their_slot(tmp_path: Path) -> None:
    plan = plan_of(
        network(tmp_path, "a", pool="AXISRAM5", address=0x342E0000, size=10),
        network(tmp_path, "b", pool="xSPI2", address=0x7038_0000, size=WEIGHTS.address - 0x7038_0000 + 10),
        network(tmp_path, "c", pool="AXISRAM6", address=0x34350000, size=10),
        network(tmp_path, "d", pool="xSPI2", address=0x7030_0000, size=10),
    )
    assert [image.source for image in plan.images] == [
        WEIGHTS.address + SECTOR,
        0x7038_0000,
        WEIGHTS.address + 2 * SECTOR,
        0x7030_0000,
    ]


def test_weights_beyond_their_slot_are_refused_with_the_bytes(tmp_path: Path) -> None:
    with pytest.raises(
        N6Error, match="N6-PLAN-001: the weights of pool AXISRAM5 need 36 bytes more than slot 'weights'"
    ):
        plan_of(network(tmp_path, "a", pool="AXISRAM5", address=0x342E0000, size=WEIGHTS.size))


def test_vectors_of_several_networks_do_not_share_a_sector(tmp_path: Path) -> None:
    one = network(tmp_path, "a", pool="xSPI2", address=WEIGHTS.address, size=10)
    vectors = VectorShape("v.npy", 3, 10)
    two = replace(network(tmp_path, "b", pool="AXISRAM5", address=0x342E0000, size=10), vectors=vectors)
    plan = plan_of(replace(one, vectors=vectors), two)
    base = BOARD.slots.vectors.address
    assert [each.vectors.source for each in plan.networks] == [base, base + SECTOR]
    assert plan.flash_addresses()[Content("vectors", "b")] == base + SECTOR


def test_two_networks_of_the_same_symbols_cannot_be_linked(tmp_path: Path) -> None:
    one, two = (network(tmp_path, name, pool="AXISRAM5", address=0x342E0000, size=10) for name in ("a", "b"))
    old = [replace(each, artifacts=replace(each.artifacts, suffix="Default")) for each in (one, two)]
    with pytest.raises(N6Error, match="N6-PLAN-009: networks a and b have the same symbols"):
        plan_of(*old)


def test_a_single_network_needs_no_name_in_its_files(tmp_path: Path) -> None:
    plan = plan_of(network(tmp_path, "network", pool="xSPI2", address=WEIGHTS.address, size=10))
    assert plan.images[0].slot_file == "weights_xSPI2.bin"
    assert plan.application == "network"


def test_a_vector_of_another_size_than_the_input(tmp_path: Path) -> None:
    wrong = replace(
        network(tmp_path, "a", pool="xSPI2", address=WEIGHTS.address, size=10),
        vectors=VectorShape("v.npy", 1, 11),
    )
    with pytest.raises(N6Error, match="N6-PLAN-004: a test vector has 11 bytes, but the network's input has 10"):
        plan_of(wrong)


def test_a_plan_is_read_back(tmp_path: Path) -> None:
    board = load_board("openmv-n6")
    plan = plan_of(network(tmp_path, "a", pool="AXISRAM5", address=0x342E0000, size=10), board=board)
    assert [region.name for region in plan.external_regions] == ["heap", "uma", "stream"]
    (tmp_path / "plan.json").write_text(plan_json(plan))
    assert read_plan(tmp_path / "plan.json") == plan


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"images": 1}', '{"images": [], "banks": [], "networks": [{}]}'])
def test_a_file_that_is_no_plan(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(N6Error, match="N6-PLAN-006"):
        read_plan(tmp_path / "plan.json")


def test_buffers_of_the_application_lie_on_cache_lines_of_their_own(tmp_path: Path) -> None:
    one = network(tmp_path, "a", pool="xSPI2", address=WEIGHTS.address, size=10)
    own = IoBuffer("out", None, 33, "int8", (1, 33), 1.0, 0, own=True)
    plan = plan_of(replace(one, artifacts=replace(one.artifacts, outputs=(own,))))
    assert [(each.direction, each.index, each.bytes) for each in plan.networks[0].own_buffers] == [("output", 0, 33)]
    assert "static uint8_t a_output_0[64] __attribute__((aligned(32)));" in plan_source(plan)


def wants(folder: Path, *sizes: int) -> CompiledNetwork:
    """Return a network with an output of each size.

    The application has to allocate these outputs.
    """
    one = network(folder, "a", pool="xSPI1", address=0x9000_0000, size=1000)
    own = tuple(IoBuffer(f"out{size}", None, size, "int8", (1, size), 1.0, 0, own=True) for size in sizes)
    return replace(one, artifacts=replace(one.artifacts, outputs=own))


def test_buffers_that_are_too_large_for_the_appli_are_in_external_ram_behind_the_pools(tmp_path: Path) -> None:
    """An eighth of the Appli's 1 MiB of RAM is for such buffers.

    ST's YOLO-X of 480 x 480 needs more than all of that RAM.
    """
    plan = plan_of(wants(tmp_path, 16_200, 691_201, 259_200, 64_800), board=load_board("stm32n6570-dk"))
    places = [(each.bytes, each.address) for each in plan.networks[0].own_buffers]
    assert places == [(16_200, 0), (691_201, 0x9000_0400), (259_200, 0x9000_0400 + 691_232), (64_800, 0)]
    source = plan_source(plan)
    assert "{0, 1, (uint8_t *)0x90000400u, 691201}," in source
    assert "a_output_1" not in source
    assert "static uint8_t a_output_3[64800]" in source


def test_a_board_without_external_ram_keeps_all_buffers_in_the_appli(tmp_path: Path) -> None:
    plan = plan_of(wants(tmp_path, 691_200))
    assert [each.address for each in plan.networks[0].own_buffers] == [0]


def test_external_ram_is_mapped_for_buffers_alone(tmp_path: Path) -> None:
    one = wants(tmp_path, 691_200)
    one = replace(one, artifacts=replace(one.artifacts, pools=()))
    plan = plan_of(one, board=load_board("stm32n6570-dk"))
    assert plan.networks[0].own_buffers[0].address == 0x9000_0000
    assert plan.maps_external_ram


def test_buffers_that_fit_no_region_are_refused_by_how_much(tmp_path: Path) -> None:
    with pytest.raises(N6Error) as error:
        plan_of(wants(tmp_path, 16 << 20), board=load_board("stm32n6570-dk"))
    assert "error N6-PLAN-010: inputs and outputs of the application need 1024 bytes more than region 'network'" in str(
        error.value
    )


def test_the_tables_for_the_appli_name_every_network(tmp_path: Path) -> None:
    source = plan_source(
        plan_of(
            network(tmp_path, "a", pool="xSPI2", address=WEIGHTS.address, size=10),
            network(tmp_path, "b", pool="AXISRAM5", address=0x342E0000, size=10),
        )
    )
    for name in ("a", "b"):
        assert f"LL_ATON_DECLARE_NAMED_NN_INSTANCE_AND_INTERFACE({name}_symbol)" in source
    assert 'n6_plan_application[] = "a+b"' in source


def test_an_application_of_many_networks_has_a_name_that_a_folder_can_have() -> None:
    names = [f"network_{number:02}" for number in range(60)]
    name = application_name(names)
    assert len(name) == 100
    assert name.startswith("network_00+network_01+")
    assert name != application_name([*names[:-1], "network_xx"])
    assert application_name(names[:3]) == "network_00+network_01+network_02"

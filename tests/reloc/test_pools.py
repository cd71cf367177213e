"""Pools of a network become a model's table: valid rows and refused ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import InitializerImage, NetworkArtifacts, PoolRange
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.place.reloc.pools import params_chunks, pool_table


def pool(
    fname: str, address: int, used: int, weights: int = 0, *, rights: str = "ACC_WRITE", relative: bool = False
) -> PoolRange:
    return PoolRange(fname, fname, address, 1 << 20, used, weights, rights, relative)


FLASH = pool("xSPI2", 0, 1000, 1000, rights="ACC_READ", relative=True)
HYPER = pool("hyper", 0, 500, relative=True)
RAM = pool("AXISRAM3", 0x34200000, 3000)


def artifacts(network: Path, folder: Path, *pools: PoolRange) -> NetworkArtifacts:
    images = []
    for each in pools:
        if each.weights_bytes:
            file = folder / f"network_atonbuf.{each.fname}.raw"
            file.write_bytes(bytes(range(1, 101)) * (each.weights_bytes // 100))
            images.append(
                InitializerImage(each.name, each.fname, each.address, file, each.weights_bytes, each.relative)
            )
    return replace(read_artifacts(network, "network"), pools=pools, initializers=tuple(images))


def test_the_rows_of_the_table(network: Path, tmp_path: Path) -> None:
    mixed = pool("AXISRAM5", 0x342E0000, 2000, 400)
    table = pool_table(artifacts(network, tmp_path, RAM, mixed, FLASH, HYPER), secure=True)
    assert [(p.name, p.flags_text, p.id, p.foff, p.destination, p.size) for p in table.pools] == [
        ("hyper", "RELOC.ACTIV.1.WCACHED", 1, 0, 0, 500),
        ("xSPI2", "RELOC.PARAM.0.RCACHED", 0, 0, 0, 1000),
        ("AXISRAM5", "COPY.MIXED.WRITE", 0, 1000, 0x342E0000, 2000),
        ("AXISRAM3", "RESET.ACTIV.WRITE", 0, 0, 0x34200000, 3000),
    ]
    assert (table.activation_bytes, table.weights_bytes, table.external_ram_bytes) == (500 + 1600 + 3000, 1400, 500)
    # A copy ends with the pool, so the weights' file has zeros where there are no weights.
    blob = b"".join(params_chunks(table.params))
    assert len(blob) == table.params_bytes == 1000 + 2000
    assert blob[1000:1400] == bytes(range(1, 101)) * 4
    assert not any(blob[1400:])


def test_parts_begin_at_multiples_of_8(network: Path, tmp_path: Path) -> None:
    odd = [pool("a", 0x34200000, 301, 300), pool("b", 0x34270000, 200, 200, rights="ACC_READ")]
    table = pool_table(artifacts(network, tmp_path, *odd), secure=True)
    assert [(p.name, p.flags_text, p.foff) for p in table.pools] == [
        ("b", "COPY.PARAM.READ", 0),
        ("a", "COPY.MIXED.WRITE", 200),
    ]
    assert table.params_bytes == 200 + 304


def test_a_model_without_weights_has_a_file_for_them_all_the_same(network: Path, tmp_path: Path) -> None:
    """A loader would refuse a model whose params_offset is 0."""
    table = pool_table(artifacts(network, tmp_path, RAM), secure=True)
    assert b"".join(params_chunks(table.params)) == bytes(8)
    assert table.weights_bytes == 0


@pytest.mark.parametrize(
    ("pools", "secure", "id", "change"),
    [
        ((replace(FLASH, relative=False, address=0x71000000),), True, "N6-RELOC-001", "USEMODE_RELATIVE"),
        ((RAM, FLASH), False, "N6-RELOC-004", "0x24200000 in the memory pool descriptor"),
        ((replace(HYPER, weights_bytes=500),), True, "N6-RELOC-005", "ACC_READ"),
        ((FLASH, replace(FLASH, name="x", fname="x")), True, "N6-RELOC-006", "use one of them"),
        ((HYPER, replace(HYPER, name="x", fname="x")), True, "N6-RELOC-006", "use one of them"),
        (tuple(pool(f"p{i}", 0x34200000 + 4096 * i, 8) for i in range(10)), True, "N6-RELOC-006", "fewer memories"),
    ],
)
def test_a_network_that_cannot_be_relocated_is_refused_with_the_change_to_make(
    pools: tuple[PoolRange, ...], secure: bool, id: str, change: str, network: Path, tmp_path: Path
) -> None:
    with pytest.raises(N6Error, match=id) as caught:
        pool_table(artifacts(network, tmp_path, *pools), secure=secure)
    assert change in str(caught.value)


def test_weights_in_the_external_ram_of_a_board_are_copied_there(network: Path, tmp_path: Path) -> None:
    """Profile extram needs no change of a descriptor, because the build wrote it."""
    table = pool_table(artifacts(network, tmp_path, replace(HYPER, weights_bytes=500), RAM), secure=True, of_board=True)
    assert [(p.flags_text, p.id, p.size) for p in table.pools] == [
        ("RELOC.MIXED.1.WCACHED", 1, 500),
        ("RESET.ACTIV.WRITE", 0, 3000),
    ]
    assert table.external_ram_bytes == 500


def test_non_secure_pools_in_their_alias_are_taken(network: Path, tmp_path: Path) -> None:
    table = pool_table(artifacts(network, tmp_path, replace(RAM, address=0x24200000), FLASH), secure=False)
    assert table.pools[1].destination == 0x24200000


def test_without_all_buffers_and_c_info_the_comments_say_how_much_is_used(network: Path, tmp_path: Path) -> None:
    for path in network.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    exact = {pool.name: pool.size for pool in pool_table(read_artifacts(tmp_path, "network"), secure=True).pools}
    text = (tmp_path / "network.c").read_text()
    start = text.index("const LL_Buffer_InfoTypeDef *LL_ATON_Internal_Buffers_Info_network(void)")
    (tmp_path / "network.c").write_text(text[:start])
    (tmp_path / "network_c_info.json").unlink()
    rounded = {pool.name: pool.size for pool in pool_table(read_artifacts(tmp_path, "network"), secure=True).pools}
    assert rounded.keys() == exact.keys()
    assert rounded["xSPI2"] == exact["xSPI2"]
    assert all(0 <= size - exact[name] <= 5 for name, size in rounded.items())


def one_epoch(folder: Path, *, lists_all: bool) -> NetworkArtifacts:
    """Return a network of one epoch with input and output, and without c_info.

    It has 16 KiB of activations. Its comment gives 24 KiB of used bank.
    """
    option = " * --all-buffers-info = true\n" if lists_all else ""
    buffer = (
        '{{ .name = "{}", .addr_base = {{(unsigned char *)(0x34200000UL)}}, .offset_start = {}, .offset_end = {}, '
        ".type = DataType_INT8 }},"
    )
    lists = "".join(
        f"const LL_Buffer_InfoTypeDef *LL_ATON_{kind}_Buffers_Info_one(void)\n{{\n  static const LL_Buffer_InfoTypeDef "
        f"buff_info[] = {{\n    {entries} {{ .name = NULL }}\n  }};\n  return buff_info;\n}}\n"
        for kind, entries in (
            ("Input", buffer.format("in", 0, 8192)),
            ("Output", buffer.format("out", 8192, 16384)),
            ("Internal", ""),
        )
    )
    (folder / "one.c").write_text(
        f"/*\n * Command Line options:\n{option} */\n/* global pool 0 is 24.00 KB */\n"
        "/* index=0 file postfix=AXISRAM3 name=npuRAM3 offset=0x34200000  absolute_mode size=458752 READ_WRITE */\n"
        "/* scheduling epoch=1    nodes=1   ------------------------------------------------------------------- */\n"
        f"{lists}const EpochBlock_ItemTypeDef *LL_ATON_EpochBlockItems_one(void)\n{{\n"
        "  static const EpochBlock_ItemTypeDef ll_atonn_rt_epoch_block_array_one[] = {\n"
        "    { .start_epoch_block = start_1, .flags = EpochBlock_Flags_pure_sw, .epoch_num = 1, .last_epoch_num = 1 },\n"
        "    { .start_epoch_block = 0, .flags = EpochBlock_Flags_last_eb },\n  };\n"
        "  return ll_atonn_rt_epoch_block_array_one;\n}\n"
    )
    return read_artifacts(folder, "one")


@pytest.mark.parametrize(("lists_all", "used"), [(True, 16384), (False, 24582)])
def test_a_network_of_one_epoch_has_no_internal_buffers_if_all_are_listed(
    lists_all: bool, used: int, tmp_path: Path
) -> None:
    """A network that does not list all buffers may have internal ones.

    The comment leaves room for them.
    """
    table = pool_table(one_epoch(tmp_path, lists_all=lists_all), secure=True)
    assert [each.size for each in table.pools] == [used]


def test_a_raw_file_of_another_size_is_refused(network: Path, tmp_path: Path) -> None:
    table = pool_table(artifacts(network, tmp_path, FLASH), secure=True)
    (tmp_path / "network_atonbuf.xSPI2.raw").write_bytes(bytes(1008))
    with pytest.raises(N6Error, match="N6-RELOC-007"):
        b"".join(params_chunks(table.params))

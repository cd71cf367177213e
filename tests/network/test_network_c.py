"""Reading network.c of n6build's backend and of every release of ST's tool.

The tests also read damaged files.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.artifacts.network_c import parse_network_c, read_network_c
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.units import human_bytes
from samples import sample

from network.host_network import extflash
from network.network_c_texts import CORES, Core, network_c
from network.network_models import own_models

NEWEST = CORES[-1]


def with_weights(folder: Path, core: Core, text: str) -> str:
    """Write the network and its weights; return its name."""
    name = "network" if core.suffix == "Default" else core.suffix
    (folder / f"{name}.c").write_text(text)
    (folder / f"{name}_atonbuf.xSPI2.raw").write_bytes(bytes(4704))
    return name


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.release)
def test_every_release(core: Core) -> None:
    source = parse_network_c(network_c(core), "network.c")
    assert (source.suffix, source.ll_aton, source.gate) == (core.suffix, core.ll_aton, core.gate)
    assert source.git_description.startswith("atonn-v1.")
    assert source.ecblobs_header == f"{core.suffix}_ecblobs.h"
    assert source.library_call == "ll_sw_forward_softmax"
    assert [(pool.fname, pool.is_virtual, pool.used_bytes > 0) for pool in source.pools] == [
        ("AXISRAM5", False, True),
        ("AXISRAM6", False, False),
        ("xSPI2", False, True),
        ("AXISRAM5_AXISRAM6", True, False),
    ]
    assert [(epoch.index, epoch.kind, epoch.operators) for epoch in source.epochs] == [
        (1, "ec", ""),
        (2, "hw", "Conv Relu"),
        (3, "sw", "Softmax"),
    ]
    (first,), (result,), (weights,) = source.inputs, source.outputs, source.params
    assert (first.pool, first.base, first.type, first.shape) == ("AXISRAM5", 0x342E0000, "int8", (1, 64, 64, 3))
    assert (result.scale, result.offset, result.offset_end - result.offset_start) == ((0.000424027,), (-128,), 32)
    assert (weights.pool, weights.base, weights.offset_end) == ("xSPI2", 0x70380000, 4704)


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.release)
def test_without_c_info_the_artifacts_come_from_network_c(core: Core, tmp_path: Path) -> None:
    name = with_weights(tmp_path, core, network_c(core))
    artifacts = read_artifacts(tmp_path, name)
    assert artifacts.described_by == f"{name}.c"
    assert [(image.fname, image.address, image.bytes) for image in artifacts.initializers] == [
        ("xSPI2", 0x70380000, 4704)
    ]
    # Internal buffers are not listed. The comment of the pool shows 64.00 KB, which may be 5 bytes more.
    used = {pool.fname: pool.used_bytes for pool in artifacts.pools if pool.used_bytes}
    assert used == {"AXISRAM5": 65542, "xSPI2": 4704}
    assert (artifacts.inputs[0].address, artifacts.inputs[0].scale) == (0x342E0000, 0.00784312188625336)


@pytest.mark.parametrize(
    ("comment", "used"),
    [
        ("?", 0),
        ("0 B", 0),
        ("101697 bytes", 101_697),
        ("12 B", 12),
        ("16.00 KB", 16_390),
        ("99.31 KB", 101_699),
        ("0.500 kB", 513),
        ("1.00 MB", 1 << 20),
        ("3 KB", 3584),
        ("0.1 MB", 157_287),
        ("plenty", 1 << 20),
        ("1.2.3 KB", 1 << 20),
    ],
)
def test_how_much_of_a_pool_a_comment_may_mean(comment: str, used: int) -> None:
    """A pool never uses less than the number before rounding.

    It never uses more than its size.
    """
    text = network_c(NEWEST).replace("/* global pool 5 is 64.00 KB */", f"/* global pool 5 is {comment} */")
    text = text.replace("offset=0x342e0000  absolute_mode size=458752", "offset=0x342e0000  absolute_mode size=1048576")
    (pool,) = (each for each in parse_network_c(text, "network.c").pools if each.fname == "AXISRAM5")
    assert (pool.size, pool.used_bytes) == (1 << 20, used)


@given(st.integers(0, 64 << 20))
def test_a_rounded_comment_never_means_less(used: int) -> None:
    """ST's compiler and n6build's print such comments."""
    for comment in (f"{used / 1024:.2f} KB", f"{used / (1 << 20):.2f} MB", human_bytes(used)):
        text = network_c(NEWEST).replace("/* global pool 5 is 64.00 KB */", f"/* global pool 5 is {comment} */")
        text = text.replace("absolute_mode size=458752", f"absolute_mode size={128 << 20}")
        (pool,) = (each for each in parse_network_c(text, "network.c").pools if each.fname == "AXISRAM5")
        assert used <= pool.used_bytes <= used + 10_486


def test_initializers_in_a_virtual_pool_count_from_the_concrete_one(tmp_path: Path) -> None:
    """The weights are in the second of two joined pools.

    The base of the buffer is that of the first pool.
    """
    text = network_c(NEWEST).replace("xSPI2", "unused")
    text = text.replace("0x70380000UL", "0x342e0000UL").replace("offset=0x70380000", "offset=0x90000000")
    text = text.replace(
        ".offset_start = 0,\n      .offset_end = 4704",
        f".offset_start = {458752},\n      .offset_end = {458752 + 4704}",
    )
    text = text.replace("/* global pool 6 is ? */", "/* global pool 6 is 4.59 KB */")
    (tmp_path / "od.c").write_text(text)
    (tmp_path / "od_atonbuf.AXISRAM6.raw").write_bytes(bytes(4704))
    (image,) = read_artifacts(tmp_path, "od").initializers
    assert (image.fname, image.bytes) == ("AXISRAM6", 4704)


def test_a_relative_pool_has_no_address(tmp_path: Path) -> None:
    name = with_weights(tmp_path, NEWEST, network_c(NEWEST, flash_mode="relative"))
    (image,) = read_artifacts(tmp_path, name).initializers
    assert (image.fname, image.address, image.relative) == ("xSPI2", 0, True)


def test_a_buffer_of_the_application_has_no_address(tmp_path: Path) -> None:
    name = with_weights(tmp_path, NEWEST, network_c(NEWEST, own_output=True))
    assert read_artifacts(tmp_path, name).outputs[0].address is None


def test_a_network_without_epoch_controller() -> None:
    assert parse_network_c(network_c(NEWEST, blobs=False), "od.c").ecblobs_header is None


def item(kind: str, *numbers: int) -> str:
    """Return an entry of the table of epoch blocks, as ST's releases write it.

    Args:
        kind: Flag of the block.
        numbers: First and last epoch of the block.
    """
    return f"""
    {{
      .start_epoch_block = start,
      .flags = EpochBlock_Flags_epoch_start | EpochBlock_Flags_epoch_end | {kind},
#ifdef LL_ATON_EB_DBG_INFO
      .epoch_num = {numbers[0]},
      .last_epoch_num = {numbers[-1]},
#endif // LL_ATON_EB_DBG_INFO
    }},"""


def table(*items: str) -> str:
    """Return a table of these entries with the code that the runtime needs.

    An entry without numbers ends the table.
    """
    end = ".start_epoch_block = NULL, .flags = EpochBlock_Flags_last_eb,"
    return f"""LL_ATON_EpochBlockItems_od(void) {{
/* scheduling epoch=3    nodes=1 --- */
/* kind=Conv node=Conv_1 */
/* scheduling epoch=5    nodes=1 --- */
/* kind=Pool node=Pool_1 */
  static const EpochBlock_ItemTypeDef items[] = {{{"".join(items)} {{ {end} }}, }};
}}
"""


SW, HW, BLOB = (
    "EpochBlock_Flags_pure_sw",
    "EpochBlock_Flags_pure_hw",
    "EpochBlock_Flags_blob | EpochBlock_Flags_pure_hw",
)


def test_epochs_have_the_numbers_of_their_table() -> None:
    text = table(item(SW, 2), item(BLOB, 3, 117), item(HW, 118))
    epochs = parse_network_c(text, "od.c").epochs
    assert [(epoch.index, epoch.last, epoch.kind, epoch.operators) for epoch in epochs] == [
        (2, 2, "sw", ""),
        (3, 117, "ec", "Conv Pool"),
        (118, 118, "hw", ""),
    ]


def test_every_block_counts_also_two_of_one_epoch_and_one_of_no_kind() -> None:
    text = table(item(HW, 2), item(HW, 2), item("0", 3), item(BLOB, 2, 9))
    assert [(each.index, each.last, each.kind) for each in parse_network_c(text, "od.c").epochs] == [
        (2, 2, "hw"),
        (2, 2, "hw"),
        (3, 3, "sw"),
        # This block overlaps others: the epochs inside it are ignored.
        (2, 2, "ec"),
    ]


def test_an_epoch_beyond_what_the_runtime_can_number_is_refused() -> None:
    with pytest.raises(N6Error, match=r"od.c:\d+: error N6-NETC-002: epoch 40000 is beyond 32767"):
        parse_network_c(table(item(BLOB, 1, 40_000)), "od.c")


def test_the_tables_of_real_networks() -> None:
    yamnet = read_network_c(sample("npu/yamnet-core-2.2/network.c")).epochs
    assert [(epoch.index, epoch.last) for epoch in yamnet] == [(number, number) for number in range(1, 40)]
    assert [epoch.index for epoch in yamnet if epoch.kind != "hw"] == [1, 38, 39]
    reid = read_network_c(sample("npu/reid-mobilenetv2-core-3.0/reid.c")).epochs
    assert [(epoch.index, epoch.last, epoch.kind) for epoch in reid] == [(1, 54, "ec")]


def test_our_own_network_c_says_what_its_c_info_says(tmp_path: Path) -> None:
    model = next(path for path in own_models() if path.stem == "miniresnet")
    compile_network(model, extflash(), tmp_path)
    described = read_artifacts(tmp_path, "network")
    (tmp_path / "network_c_info.json").unlink()
    read = read_artifacts(tmp_path, "network")
    assert read.initializers == described.initializers
    assert read.library_call is None
    assert read.pools == described.pools
    assert [port.address for port in read.inputs] == [port.address for port in described.inputs]
    assert [(epoch.index, epoch.kind) for epoch in read.epochs] == [(e.index, e.kind) for e in described.epochs]


@pytest.mark.parametrize("word", ["0.5f", "INFINITY", "NAN", "inf", "1e400", "nonsense"])
def test_a_scale_of_any_spelling_is_read(word: str) -> None:
    text = network_c(NEWEST).replace("0.000424027", word)
    (scale,) = parse_network_c(text, "od.c").outputs[0].scale
    assert scale == 0.5 or not math.isfinite(scale)


def refused(text: str) -> N6Error:
    with pytest.raises(N6Error) as caught:
        parse_network_c(text, "network.c")
    return caught.value


def test_another_c_file_is_refused() -> None:
    assert refused("int main(void) { return 0; }\n").id == "N6-NETC-001"


def test_a_c_file_that_only_calls_the_network_is_refused() -> None:
    calls = "int main(void)\n{\n    return run(LL_ATON_EpochBlockItems_od());\n}\n"
    assert refused(calls).id == "N6-NETC-001"


def test_a_file_that_ends_early_names_the_function_and_its_line() -> None:
    text = network_c(NEWEST)
    error = refused(text[: text.index("Quantize_9_out_0")])
    assert error.id == "N6-NETC-002"
    assert "LL_ATON_Output_Buffers_Info_od has no end" in error.what
    line = text[: text.index("const LL_Buffer_InfoTypeDef *LL_ATON_Output")].count("\n") + 1
    assert error.where == f"network.c:{line}"


@pytest.mark.parametrize("number", ["12x", "99999999999999999999", "-", "1 + 2"])
def test_a_number_that_is_none(number: str) -> None:
    error = refused(network_c(NEWEST).replace(".offset_end = 12288", f".offset_end = {number}"))
    assert error.id == "N6-NETC-002"


@pytest.mark.parametrize("written", ["offset=0x342e0000 ", "(0x342e0000UL)"])
def test_an_address_of_more_than_64_bits(written: str) -> None:
    text = network_c(NEWEST)
    error = refused(text.replace(written, written.replace("0x", "0x" + "f" * 10)))
    assert error.id == "N6-NETC-002"
    assert "more than 64 bits" in error.what


def test_more_memory_pools_than_any_chip_has() -> None:
    pool = next(line for line in network_c(NEWEST).splitlines() if line.startswith("/* index=5 "))
    error = refused(network_c(NEWEST) + f"{pool}\n" * 253)
    assert "257 memory pools" in error.what


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-FILE-002"):
        read_network_c(tmp_path / "network.c")


FUNCTION = "int LL_ATON_EpochBlockItems_x(void)\n{\n"
INPUTS = "\n}\nint LL_ATON_Input_Buffers_Info_x(void)\n{\n"
HOSTILE = {
    "braces": FUNCTION + "{" * 500_000,
    "comments": FUNCTION + "/*" * 500_000,
    "names": FUNCTION + INPUTS + ".name = " * 50_000,
    "pools": FUNCTION + "/* index=1 " * 100_000,
    "blanks": FUNCTION + " " * 1_000_000,
    "blanks in the version check": "LL_ATON_VERSION_MAJOR !=" + " " * 1_000_000 + FUNCTION,
    "blanks behind a field": FUNCTION + INPUTS + '.name = "a", .type' + " " * 1_000_000,
    "one array for many buffers": "".join(
        (FUNCTION, INPUTS, "static const int16_t z[] = {", "1," * 200_000, "};", '.name="a",.mem_shape=z,' * 20_000)
    ),
    "many operators": "".join(f"/* kind=k{number} node=" for number in range(60_000)) + FUNCTION,
    "calls": "LL_ATON_EpochBlockItems_x(" * 50_000 + FUNCTION,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_comes_to_an_end(text: str) -> None:
    """Reading each file takes fractions of a second.

    A time that was not linear in the length would be minutes.
    """
    assert parse_network_c(text + "\n}\n", "network.c").suffix == "x"


@given(data=st.data())
def test_damage_is_an_error_of_ours_or_none(data: st.DataObject) -> None:
    text = network_c(data.draw(st.sampled_from(CORES)))
    cut = data.draw(st.integers(0, len(text)))
    other = st.text(max_size=20).map(lambda new: new + text[cut + len(new) :])
    rest = data.draw(st.sampled_from(["", text[cut + 1 :], "{", "/*", '"', "\n}", "9" * 30]) | other)
    try:
        parse_network_c(text[:cut] + rest, "network.c")
    except N6Error as error:
        assert error.id.startswith("N6-NETC")

"""The epoch that reads the weights first, and weights that are a C array."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import InitializerImage
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.artifacts.weights import first_reader
from n6build.compile.prebuilt.imported import read_array
from n6build.describe.compiled_folder import find_network
from samples import sample

from network.network_c_texts import CORES, network_c

BASE = 0x7038_0000
BODY = "LL_ATON_LIB_UNUSED(epoch_block);"


def reader_of(folder: Path, text: str, blobs: str = "", *, address: int = BASE, relative: bool = False) -> str:
    source = folder / "od.c"
    source.write_text(text)
    if blobs:
        (folder / "od_ecblobs.h").write_text(blobs)
    return first_reader(source, InitializerImage("octoFlash", "xSPI2", address, folder / "od.raw", 4704, relative))


def test_the_first_epoch_whose_code_names_an_address_in_the_image_reads_it(tmp_path: Path) -> None:
    assert reader_of(tmp_path, network_c(CORES[3]).replace(BODY, f"conv(0x{BASE + 4703:x}UL);")) == "2"
    assert reader_of(tmp_path, network_c(CORES[3]).replace(BODY, f"conv(0x{BASE + 4704:x}UL);")) == ""


def test_a_relative_pool_is_read_by_its_symbol(tmp_path: Path) -> None:
    text = network_c(CORES[3], flash_mode="relative").replace(BODY, "conv(_mem_pool_xSPI2_od + 8);")
    assert reader_of(tmp_path, text, address=0, relative=True) == "2"


@pytest.mark.parametrize("name", ["_ec_blob_1", "_ec_blob_od_1", "_ec_blob_1_reloc", "_ec_blob_Default_1_binary"])
def test_a_blob_that_loads_the_address_of_a_buffer_reads_it(tmp_path: Path, name: str) -> None:
    def blob(word: int) -> str:
        return f"static const uint64_t {name} [2] =\n{{\n0x00000001CA057A7A, 0x{word:08X}0000000C\n}};"

    text = network_c(CORES[3])
    assert reader_of(tmp_path, text, blob(BASE)) == "1"
    # No buffer begins at this address: the word may be any other number.
    assert reader_of(tmp_path, text, blob(BASE + 4)) == ""


@pytest.mark.parametrize(
    ("network", "reader"),
    [
        ("npu/fallguard-ssd-core-2.1", "1-45"),
        ("npu/pose-movenet-core-2.1", "1-58"),
        ("npu/reid-mobilenetv2-core-3.0", "1-54"),
        ("npu/yamnet-core-2.2", "2"),
        ("npu/yolox-core-2.2", "1-117"),
        ("projects/STM32N6-GettingStarted-ObjectDetection/Model/NUCLEO-N657X0-Q", "1-19"),
        ("projects/STM32N6Example/Appli/X-CUBE-AI/App", "2"),
    ],
)
def test_readers_in_networks_of_st(network: str, reader: str) -> None:
    found = find_network(sample(network))
    (image,) = read_artifacts(found.source.parent, found.name, ()).initializers
    assert first_reader(found.source, image) == reader


TYPES = {"uint64_t": 8, "uint32_t": 4, "uint16_t": 2, "uint8_t": 1, "unsigned char": 1}


@given(st.sampled_from(sorted(TYPES)), st.data())
def test_an_array_is_read_as_the_chip_has_it(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    numbers = data.draw(st.lists(st.integers(0, (1 << 8 * TYPES[kind]) - 1), min_size=1, max_size=20))
    written = [
        data.draw(st.sampled_from([f"0x{each:X}ULL", f" {each}", f"0x{each:x}", f"\n{each}u /* , */"]))
        for each in numbers
    ]
    end = data.draw(st.sampled_from(["", ",", ", // the last"]))
    text = f"const {kind} _mem_pool_xSPI2_od[{len(numbers)}] = {{{','.join(written)}{end}\n}};\n"
    path = tmp_path_factory.mktemp("array") / "od_atonbuf.xSPI2.c"
    path.write_text(text)
    assert read_array(path) == b"".join(each.to_bytes(TYPES[kind], "little") for each in numbers)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x;", "od.c:1: error N6-PRE-004: defines no array _mem_pool_"),
        ("const uint64_t _mem_pool_a_b[2] = { 1,", "od.c:1: error N6-PRE-004: ends inside its array"),
        ("const uint64_t _mem_pool_a_b[2] = {\n1,\nx };", "od.c:2: error N6-PRE-004: has 'x' in its array"),
        ("const uint64_t _mem_pool_a_b[2] = { 1,, 2 };", "od.c:1: error N6-PRE-004: has '' in its array"),
        (
            "const uint8_t _mem_pool_a_b[1] = { 256 };",
            "od.c:1: error N6-PRE-004: has 256 in its array, more than 1 bytes hold",
        ),
    ],
)
def test_a_damaged_array_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "od.c"
    path.write_text(text)
    with pytest.raises(N6Error, match=message):
        read_array(path)


def test_an_array_of_st_has_the_words_of_its_pool() -> None:
    assert len(read_array(sample("npu/square-seg-core-4.0.1/network_atonbuf.xSPI2.c"))) == 8 * 12713

"""The layout of a relocatable model's file.

It agrees with ST's public loader and with a model of ST's tools.
"""

from __future__ import annotations

import struct
import zlib

import pytest
from n6build.base.errors import N6Error
from n6build.place.reloc.model_format import (
    ABI_A,
    ABI_B,
    ABI_C,
    ABI_D,
    REL_END_WORD,
    REL_START_WORD,
    Flags,
    PoolContent,
    PoolDescriptor,
    PoolType,
    Segment,
    abi_of,
    segment,
    version_of,
    version_words,
)
from n6build.place.reloc.reader import RelocFile, parse_reloc_file


@pytest.mark.parametrize(
    ("version", "abi", "header", "context"),
    [
        ((1, 1, 0, 31), ABI_A, 96, 16),
        ((1, 1, 1, 14), ABI_B, 96, 17),
        ((1, 1, 3, 8), ABI_C, 104, 17),
        ((1, 1, 3, 262), ABI_D, 104, 17),
        ((1, 1, 3, 275), ABI_D, 104, 17),
    ],
)
def test_the_four_abis(version: tuple[int, int, int, int], abi: object, header: int, context: int) -> None:
    found = abi_of(version)
    assert found is abi
    assert (found.header_bytes, len(found.context_fields)) == (header, context)
    assert version_of(*version_words(version)) == version


@pytest.mark.parametrize(("word", "secure"), [(0x80785D22, True), (0x80685D22, False)])
def test_flags_of_a_model_as_st_makes_it(word: int, secure: bool) -> None:
    flags = Flags.of(word)
    assert flags == Flags((8, 0), True, True, secure, 8, 2, True, 0xD22)
    assert flags.word == word


@pytest.mark.parametrize(
    ("flags", "text"),
    [(0x01010500, "RELOC.PARAM.0.RCACHED"), (0x03020200, "RESET.ACTIV.WRITE"), (0x01020601, "RELOC.ACTIV.1.WCACHED"),
     (0x02030200, "COPY.MIXED.WRITE"), (0x02010100, "COPY.PARAM.READ"), (0x01030601, "RELOC.MIXED.1.WCACHED")],
)  # fmt: skip
def test_flags_of_pools_read_as_in_st_s_tables(flags: int, text: str) -> None:
    pool = PoolDescriptor(
        "p", PoolType(flags >> 24), PoolContent(flags >> 16 & 0xFF), flags >> 8 & 0xFF, flags & 0xFF, 0, 0, 0
    )
    assert (pool.flags, pool.flags_text) == (flags, text)


def test_the_header_of_a_model(whole: RelocFile) -> None:
    header = whole.header
    assert header["flags"] == 0x80785D22
    assert whole.abi is ABI_C
    assert header["data_start"] == 0x40000000
    assert header["data_image"] == 0x20000000 + whole.read_only_bytes
    assert whole.read_only_bytes % 64 == 0
    assert header["got_start"] == header["data_end"]
    # The parts follow one another, each at a multiple of 8, with nothing behind the last one.
    assert header["rel_start"] & 0x0FFFFFFF == whole.read_only_bytes + whole.image_bytes
    rel_end = (header["rel_end"] & 0x0FFFFFFF) + 7 & ~7
    assert whole.params_offset == rel_end
    assert len(whole.data) == whole.params_offset + whole.params_bytes
    assert all(segment(address) == Segment.FLASH and address & 1 for address in whole.entries.values())


def test_what_a_model_says_of_itself(whole: RelocFile) -> None:
    context = whole.context
    assert whole.name == "network"
    assert whole.version == (1, 1, 3, 8)
    assert context["struct_sizes"] == 0x3038
    assert context["params_file_crc32"] == zlib.crc32(whole.data[whole.params_offset :])
    assert context["params_bytes"] == sum(pool.size for pool in whole.pools if pool.content is PoolContent.PARAM)
    assert context["activation_bytes"] == sum(pool.size for pool in whole.pools if pool.content is PoolContent.ACTIV)
    for name in ("state", "file", "ram", "rom", "callbacks", "instance"):
        assert context[name] == 0, "is filled in by the loader"


def test_pools_stand_in_the_order_of_descending_addresses(whole: RelocFile) -> None:
    assert [(pool.name, pool.flags_text) for pool in whole.pools] == [
        ("xSPI2", "RELOC.PARAM.0.RCACHED"),
        ("AXISRAM3", "RESET.ACTIV.WRITE"),
    ]
    assert [(pool.foff, pool.destination) for pool in whole.pools] == [(0, 0), (0, 0x34200000)]


def test_every_relocation_is_a_word_of_ram_with_a_link_address(whole: RelocFile) -> None:
    words = [whole.image_word(address) for address in (*whole.relocations, *whole.got)]
    assert len(whole.relocations) > 20
    assert {segment(word) for word in words if word} == {Segment.FLASH, Segment.RAM, Segment.PARAM_0}
    assert list(whole.relocations) == sorted(set(whole.relocations))


def test_split_moves_the_weights_and_nothing_else(whole: RelocFile, split: tuple[RelocFile, bytes]) -> None:
    file, params = split
    assert params == whole.data[whole.params_offset :]
    assert file.params_offset == 0
    assert len(file.data) == whole.params_offset
    different = [i for i in range(0, len(file.data), 4) if file.data[i : i + 4] != whole.data[i : i + 4]]
    crc = whole.data.index(struct.pack("<I", whole.context["params_file_crc32"]))
    # New weights only change their CRC in the file.
    assert different == sorted([12 * 4, crc])


def test_more_relocations_than_words_are_refused(whole: RelocFile) -> None:
    data = bytearray(whole.data)
    (start,) = struct.unpack_from("<I", data, 4 * REL_START_WORD)
    words = (whole.header["bss_start"] & 0x0FFFFFFF) // 4
    struct.pack_into("<I", data, 4 * REL_END_WORD, start + 4 * (words + 1))
    with pytest.raises(
        N6Error, match=f"N6-RELOC-034: has {words + 1} relocations, more than its {words} words of data"
    ):
        parse_reloc_file(bytes(data) + bytes(4 * words), "network_rel.bin")

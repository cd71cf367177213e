"""The loader on bytes: what it takes, what it refuses and with which code; and what `verify` adds to it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.reloc.layout import ABI_A, ABI_C, CONTEXT_FIELDS, HEADER_FIELDS, WORD, Segment, offset, segment
from n6build.reloc.loader import Firmware, Installed, Placement, Refusal, install
from n6build.reloc.reader import RelocFile, parse_reloc_file
from n6build.reloc.verify import check_model, errors, verify

OURS = Firmware((1, 1, 3, 8))
COPY = Placement(file=0x71000000, exec_ram=0x34100000, exec_ram_bytes=1 << 20)
XIP = replace(COPY, mode="xip")


def changed(model: RelocFile, at: int, value: int | Callable[[int], int]) -> RelocFile:
    """With another word at an offset of the file."""
    data = bytearray(model.data)
    (old,) = struct.unpack_from("<I", data, at)
    struct.pack_into("<I", data, at, (value(old) if callable(value) else value) & 0xFFFFFFFF)
    return parse_reloc_file(bytes(data), "model.bin")


def context_at(model: RelocFile, field: str) -> int:
    (address,) = struct.unpack_from("<I", model.data, model.abi.context_word * WORD)
    return model.read_only_bytes + offset(address) + WORD * model.abi.context_fields.index(field)


def image_at(model: RelocFile, address: int) -> int:
    return model.read_only_bytes + offset(address)


def test_data_that_no_chip_has_room_for_takes_no_memory_here_either(whole: RelocFile) -> None:
    large = changed(whole, HEADER_FIELDS.index("bss_end") * WORD, 0x4FFFFFF8)
    with pytest.raises(Refusal, match="more than any STM32N6 has"):
        install(large, OURS, replace(COPY, exec_ram_bytes=1 << 29))
    assert errors(verify(large, None))


@pytest.mark.parametrize("placement", [COPY, XIP], ids=["copy", "xip"])
def test_every_word_is_rebased_by_its_segment(placement: Placement, whole: RelocFile) -> None:
    installed = install(whole, OURS, placement)
    copies = placement.mode == "copy"
    assert installed.rom == (0x34100000 if copies else 0x71000000)
    assert installed.ram == (0x34100000 + whole.read_only_bytes if copies else 0x34100000)
    assert installed.bases[Segment.PARAM_0] == 0x71000000 + whole.params_offset
    for address in (*whole.relocations, *whole.got):
        word = whole.image_word(address)
        expected = installed.bases[Segment(segment(word))] + offset(word) if word else 0
        assert installed.word(address) == expected
    untouched = set(range(0, whole.image_bytes, 4)) - {offset(a) for a in (*whole.relocations, *whole.got)}
    assert all(installed.word(0x40000000 + at) == whole.image_word(0x40000000 + at) for at in untouched)


def test_the_base_of_split_weights_is_given(split: tuple[RelocFile, bytes]) -> None:
    installed = install(split[0], OURS, replace(COPY, params=0x72000000))
    assert installed.bases[Segment.PARAM_0] == 0x72000000
    with pytest.raises(Refusal) as refused:
        install(split[0], OURS, COPY)
    assert refused.value.code == -7


def test_activations_are_cleared_where_that_is_asked_for(whole: RelocFile) -> None:
    activations = next(pool for pool in whole.pools if pool.destination)
    assert install(whole, OURS, COPY).pool_writes == ()
    (write,) = install(whole, OURS, replace(COPY, clear=True)).pool_writes
    assert (write.address, write.bytes, write.offset_in_params) == (0x34200000, (activations.size + 7) & ~7, None)


ALTERED: dict[str, tuple[Callable[[RelocFile], RelocFile], int]] = {
    "another CPU": (lambda m: changed(m, 4, lambda w: w & ~0xFFF | 0xD21), -1),
    "polling": (lambda m: changed(m, 4, lambda w: w & ~(1 << 22)), -1),
    "no debug fields": (lambda m: changed(m, 4, lambda w: w & ~(1 << 21)), -1),
    "another API in both numbers": (lambda m: changed(m, 4, lambda w: w & 0x00FFFFFF | 0x97000000), -1),
    "another version": (lambda m: changed(m, context_at(m, "version"), 0x01010100), -1),
    "other structs": (lambda m: changed(m, context_at(m, "struct_sizes"), 0x1438), -1),
    "an absolute word": (lambda m: changed(m, image_at(m, m.relocations[0]), 0x34200000), -1),
    "an absolute word in the GOT": (lambda m: changed(m, image_at(m, m.got[0]), 0x34200000), -1),
    "a relocation in code": (lambda m: changed(m, offset(m.header["rel_start"]), 0x20000100), -1),
    "a relocation behind the data": (lambda m: changed(m, offset(m.header["rel_start"]), 0x400FFFF0), -1),
    "weights that are written": (lambda m: changed(m, image_at(m, m.header["pools"]) + 4, 0x01010700), -8),
    "weights and activations": (lambda m: changed(m, image_at(m, m.header["pools"]) + 4, 0x01030500), -8),
    "a third segment": (lambda m: changed(m, image_at(m, m.header["pools"]) + 4, 0x01010502), -8),
    "external RAM that is not there": (lambda m: changed(m, image_at(m, m.header["pools"]) + 4, 0x01020601), -7),
}


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_model_is_refused_with_the_code_of_st_s_loader(name: str, whole: RelocFile) -> None:
    change, code = ALTERED[name]
    altered = change(whole)
    for placement in (COPY, XIP):
        with pytest.raises(Refusal) as refused:
            install(altered, OURS, placement)
        assert refused.value.code == code
    assert errors(verify(altered, None, (1, 1, 3, 8)))


@pytest.mark.parametrize(
    ("placement", "code"),
    [
        (replace(COPY, exec_ram=0), -2),
        (replace(COPY, exec_ram_bytes=100), -2),
        (replace(COPY, exec_ram=0x34100002), -2),
        (replace(COPY, file=0x71000002), -1),
        (replace(COPY, file=0x34000000), -7),  # Cached weights in internal memory.
        (replace(COPY, ext_ram=0x90000001), -7),
    ],
)
def test_memory_that_an_application_gives_wrongly(placement: Placement, code: int, whole: RelocFile) -> None:
    with pytest.raises(Refusal) as refused:
        install(whole, OURS, placement)
    assert refused.value.code == code


def test_what_a_loader_accepts_though_it_differs(whole: RelocFile) -> None:
    for altered in (
        changed(whole, 4, lambda w: w & 0xF0FFFFFF | 0x07000000),  # One of the API's numbers.
        changed(whole, 4, lambda w: w & ~0xF0000 | 0x90000),  # The tool-chain.
        changed(whole, context_at(whole, "version_dev"), 262),
        changed(whole, context_at(whole, "params_file_crc32"), 1),
    ):
        assert isinstance(install(altered, OURS, COPY), Installed)


@pytest.mark.parametrize(
    ("model_is_secure", "firmware", "accepted"),
    [
        (True, Firmware((1, 1, 3, 8), secure=True), True),
        (True, Firmware((1, 1, 3, 8), secure=False), False),
        (False, Firmware((1, 1, 3, 8), secure=True), True),
        (False, Firmware((1, 1, 3, 8), secure=False), True),
    ],
)
def test_security_states(model_is_secure: bool, firmware: Firmware, accepted: bool, whole: RelocFile) -> None:
    model = whole if model_is_secure else changed(whole, 4, lambda w: w & ~(1 << 20))
    if accepted:
        warnings = install(model, firmware, COPY).warnings
        assert bool(warnings) == (firmware.secure and not model_is_secure)
    else:
        with pytest.raises(Refusal):
            install(model, firmware, COPY)


def test_the_oldest_loader_refuses_a_model_of_the_other_state(whole: RelocFile) -> None:
    old = Firmware((1, 1, 0, 31))
    non_secure = changed(changed(whole, 4, lambda w: w & ~(1 << 20)), context_at(whole, "version"), 0x01010000)
    with pytest.raises(Refusal, match="non-secure model"):
        install(non_secure, old, COPY)
    assert ABI_A.context_bytes == 64


# What a loader does not look at.


def test_a_sound_model_has_no_findings(whole: RelocFile, split: tuple[RelocFile, bytes]) -> None:
    assert verify(whole, None) == []
    assert verify(*split) == []
    assert [finding.severity for finding in verify(split[0], None)] == ["warning"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: changed(m, context_at(m, "params_file_crc32"), 1), "the CRC of its weights"),
        (lambda m: changed(m, m.params_offset, lambda w: w ^ 1), "the CRC of its weights"),
        (lambda m: changed(m, 13 * 4, 0x20FFFFF1), "entry point ec_network_init"),
        (lambda m: changed(m, 14 * 4, lambda w: w & ~1), "not a Thumb function"),
        (lambda m: changed(m, offset(m.header["rel_start"]) + 4, m.relocations[0]), "is rebased twice"),
        (lambda m: changed(m, image_at(m, m.relocations[0]), 0x2FFFFFF0), "beyond the end of its segment"),
        (lambda m: changed(m, image_at(m, m.header["pools"]) + 16, 1 << 24), "bytes beyond the end of the weights"),
        (lambda m: changed(m, image_at(m, m.header["pools"]) + 24, 0x02020200), "would be copied"),
    ],
)
def test_verify_looks_where_no_loader_does(
    change: Callable[[RelocFile], RelocFile], words: str, whole: RelocFile
) -> None:
    found = [finding.what for finding in errors(verify(change(whole), None))]
    assert any(words in what for what in found), found


def test_the_dev_number_tells_two_abis_apart(whole: RelocFile) -> None:
    (finding,) = errors(verify(whole, None, (1, 1, 3, 275)))
    assert "calls the wrong functions (ABI C and D)" in finding.what


def test_a_model_is_checked_before_it_goes_to_flash(whole: RelocFile) -> None:
    check_model(whole)
    with pytest.raises(N6Error, match="N6-RELOC-015: the model that was made is not sound: the CRC"):
        check_model(changed(whole, whole.params_offset, lambda w: w ^ 1))


# Hostile files.


def survives(data: bytes) -> None:
    """One family of errors, or a judgement; never anything else."""
    try:
        model = parse_reloc_file(data, "hostile.bin")
    except N6Error as error:
        assert error.id.startswith("N6-RELOC-03")
        return
    verify(model, None)
    verify(model, data[:64], (1, 1, 1, 14), secure=False)
    from n6build.reloc.show import as_json, as_text, differences

    as_json(model)
    assert differences(model, model) == []
    as_text(model)


QUICK = settings(max_examples=150)


@QUICK
@given(st.binary(max_size=400))
def test_any_bytes_behind_the_magic(tail: bytes) -> None:
    survives(b"NBIN" + tail)
    survives(tail)


@QUICK
@given(cut=st.integers(0, 100_000))
def test_a_truncated_file(cut: int, whole: RelocFile) -> None:
    survives(whole.data[: cut % (len(whole.data) + 1)])


@QUICK
@given(seed=st.integers(0, 1 << 30), count=st.integers(1, 8))
def test_words_changed_at_random(seed: int, count: int, whole: RelocFile) -> None:
    """In the header, the data image and the table of relocations, to addresses of every segment."""
    chooser = random.Random(seed)
    data = bytearray(whole.data)
    places = [*range(0, 104, 4), *range(whole.read_only_bytes, whole.params_offset, 4)]
    for _ in range(count):
        value = chooser.choice([0, 1, 0xFFFFFFFF, chooser.randrange(1 << 32), 0x20000000 + chooser.randrange(1 << 14)])
        value = chooser.choice([value, 0x40000000 + chooser.randrange(1 << 12), chooser.randrange(1 << 12)])
        struct.pack_into("<I", data, chooser.choice(places), value)
    survives(bytes(data))


def test_context_fields_are_where_the_reader_says(whole: RelocFile) -> None:
    assert CONTEXT_FIELDS[5] == "name"
    assert ABI_C.context_fields[14] == "struct_sizes"
    assert whole.context["version"] == 0x01010300

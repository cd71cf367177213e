"""The loader on bytes: accepted and refused models, with codes, and `verify`.

`verify` reports more than the loader checks.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.loader import Firmware, Installed, Placement, Refusal, install
from n6build.place.reloc.model_format import ABI_A, ABI_C, CONTEXT_FIELDS, HEADER_FIELDS, WORD, Segment, offset, segment
from n6build.place.reloc.reader import RelocFile, parse_reloc_file
from n6build.place.reloc.verify import check_model, errors, ram_of, verify

OURS = Firmware((1, 1, 3, 8))
RAM = ram_of(load_board("nucleo-n657"))
COPY = Placement(file=0x71000000, exec_ram=0x34100000, exec_ram_bytes=1 << 20)
XIP = replace(COPY, mode="xip")


def changed(model: RelocFile, at: int, value: int | Callable[[int], int]) -> RelocFile:
    """Change a word at an offset of the file."""
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
    assert errors(verify(large, None, RAM))


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
    "another version": (lambda m: changed(m, context_at(m, "version"), 0x01010200), -1),
    "other structs": (lambda m: changed(m, context_at(m, "struct_sizes"), 0x1438), -1),
    "an absolute word": (lambda m: changed(m, image_at(m, m.relocations[0]), 0x34200000), -1),
    "an absolute word in the GOT": (lambda m: changed(m, image_at(m, m.got[0]), 0x34200000), -1),
    "a relocation in code": (lambda m: changed(m, offset(m.header["rel_start"]), 0x20000100), -1),
    "a relocation at half a word": (lambda m: changed(m, offset(m.header["rel_start"]), 0x40000002), -1),
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
    assert errors(verify(altered, None, RAM, (1, 1, 3, 8)))


def pool_at(model: RelocFile, number: int) -> int:
    """Return the file offset of a memory pool's row.

    A row has name, flags, offset in the weights, destination and size.
    """
    return image_at(model, model.header["pools"]) + 20 * number


def relocation(value: int) -> Callable[[RelocFile], RelocFile]:
    """Return a function that replaces a model's first relocation."""
    return lambda model: changed(model, offset(model.header["rel_start"]), value)


# The distance from the weights of loader_runner.c to its file.
ANYWHERE = (0x34000000 - 0x71800000) % (1 << 32)
# A loader installs these models all the same and returns 0. Only `verify` reports them, with these words.
UNSEEN: dict[str, tuple[Callable[[RelocFile], RelocFile], str]] = {
    # Aligned: this address is one of a peripheral, where an unaligned access faults.
    "a relocation at the end of its segment": (relocation(0x4FFFFFFC), "outside of the model: the loader returns 0"),
    "a relocation behind the RAM": (relocation(0x40060000), "outside of the model: the loader returns 0"),
    "a relocation in no RAM": (
        lambda m: relocation(Segment.PARAM_1.origin + first_zero(m))(m),
        "which is not an initialised word (the loader returns 0)",
    ),
    "a word behind its segment": (
        lambda m: changed(m, image_at(m, m.relocations[0]), 0x2FFFFFF0),
        "beyond the end of its segment (the loader returns 0)",
    ),
    "a word of the GOT behind its segment": (
        lambda m: changed(m, image_at(m, m.got[0]), 0x4FFFFFF0),
        "beyond the end of its segment (the loader returns 0)",
    ),
    "a word in external RAM that there is not": (
        lambda m: changed(m, image_at(m, m.got[0]), 0x90000000),
        "in a segment that no memory pool places (the loader returns 0)",
    ),
    "a pool that is copied from outside of the weights, as activations": (
        lambda m: changed(changed(m, pool_at(m, 1) + 4, 0x02020200), pool_at(m, 1) + 8, ANYWHERE),
        "contains no weights, but would be copied",
    ),
    "a shorter table of relocations": (
        lambda m: changed(m, HEADER_FIELDS.index("rel_end") * WORD, lambda end: end - 8),
        "words between its table of relocations and what follows it are not 0",
    ),
    "a table of relocations that begins later": (
        lambda m: changed(m, HEADER_FIELDS.index("rel_start") * WORD, lambda start: start + 4),
        "words between its data and its table of relocations are not 0",
    ),
    "a shorter GOT": (
        lambda m: changed(m, HEADER_FIELDS.index("got_end") * WORD, m.got[len(used_got(m)) - 1]),
        "words between its GOT and the end of its data are not 0",
    ),
    "a GOT that begins later": (
        lambda m: changed(m, HEADER_FIELDS.index("got_start") * WORD, lambda start: start + 4 * len(used_got(m))),
        "words between the data and its GOT are not 0",
    ),
    "activations in the NOR": (
        lambda m: changed(m, pool_at(m, 1) + 12, 0x71000000),
        "is not in RAM (the loader returns 0)",
    ),
    "activations nowhere": (
        lambda m: changed(m, pool_at(m, 1) + 12, 0x34440000),
        "is not in RAM (the loader returns 0)",
    ),
    "activations of 2 GiB": (
        lambda m: changed(m, pool_at(m, 1) + 16, 1 << 31),
        "has 2147483648 bytes, but a segment has",
    ),
    "activations of 4 GiB": (
        lambda m: changed(m, pool_at(m, 1) + 16, 0xFFFFFFFF),
        "has 4294967295 bytes, but a segment has",
    ),
    "activations in the place of weights": (
        lambda m: changed(m, pool_at(m, 0) + 4, 0x01020500),
        "contains no weights, but is placed with them (the loader returns 0)",
    ),
    "no function": (lambda m: changed(m, 14 * WORD, lambda w: w & ~1), "not a Thumb function"),
    "a function elsewhere": (lambda m: changed(m, 13 * WORD, 0x20FFFFF1), "entry point ec_network_init"),
    "weights beyond their end": (lambda m: changed(m, pool_at(m, 0) + 8, 1 << 20), "beyond the end of the weights"),
}
# The firmware decides where memory pools are, and not the check before its loader.
ANOTHER_BOARD = ("activations in the NOR", "activations nowhere")


def first_zero(model: RelocFile) -> int:
    """Return the offset in the data of a word that is 0, which needs no rebasing."""
    return next(at for at in range(0, model.image_bytes, WORD) if not model.image_word(Segment.RAM.origin + at))


def used_got(model: RelocFile) -> list[int]:
    """Return the GOT's words up to the last one that is not 0."""
    got = list(model.got)
    while got and model.image_word(got[-1]) == 0:
        got.pop()
    return got


@pytest.mark.parametrize("name", UNSEEN)
def test_what_a_loader_does_not_see_is_refused_with_what_it_returns(name: str, whole: RelocFile) -> None:
    change, words = UNSEEN[name]
    altered = change(whole)
    for placement in (COPY, XIP):
        install(altered, OURS, placement)
    found = [finding.what for finding in errors(verify(altered, None, RAM))]
    assert any(words in what for what in found), found


def test_a_model_for_another_cpu_is_refused_whatever_the_firmware(whole: RelocFile) -> None:
    change, _ = ALTERED["another CPU"]
    found = [finding.what for finding in errors(verify(change(whole), None, RAM))]
    assert "copy: compiled for CPU 0xD21, but this is 0xD22 (the loader returns -1)" in found


def test_a_shorter_table_of_relocations_of_a_split_model_is_noticed(split: tuple[RelocFile, bytes]) -> None:
    """The header does not give the file's end if the weights are in another file."""
    model, params = split
    for words in range(1, 5):
        shorter = changed(model, HEADER_FIELDS.index("rel_end") * WORD, model.header["rel_end"] - WORD * words)
        assert errors(verify(shorter, params, RAM)), words


@pytest.mark.parametrize(("beyond", "is_relocation"), [(-WORD, True), (0, False)])
def test_a_word_of_data_behind_a_split_model_is_a_relocation_cut_off(
    beyond: int, is_relocation: bool, split: tuple[RelocFile, bytes]
) -> None:
    model, params = split
    address = Segment.RAM.origin + model.image_bytes + beyond
    longer = parse_reloc_file(model.data + struct.pack("<I", address), "model.bin")
    said = f"a relocation of 0x{address:08X} follows the end of the table of relocations (the loader returns 0)"
    assert [finding.what for finding in errors(verify(longer, params, RAM))] == ([said] if is_relocation else [])


def test_a_relocation_out_of_range_is_a_stray_write(whole: RelocFile) -> None:
    assert install(relocation(0x40060000)(whole), OURS, XIP).strays == (0x40060000,)
    assert install(whole, OURS, XIP).strays == ()


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


# Fields that a loader does not check.


def test_a_sound_model_has_no_findings(whole: RelocFile, split: tuple[RelocFile, bytes]) -> None:
    assert verify(whole, None, RAM) == []
    assert verify(*split, RAM) == []
    assert [finding.severity for finding in verify(split[0], None, RAM)] == ["warning"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: changed(m, context_at(m, "params_file_crc32"), 1), "the CRC of its weights"),
        (lambda m: changed(m, m.params_offset, lambda w: w ^ 1), "the CRC of its weights"),
        (lambda m: changed(m, offset(m.header["rel_start"]) + 4, m.relocations[0]), "is rebased twice"),
        (lambda m: changed(m, image_at(m, m.header["pools"]) + 16, 1 << 24), "bytes beyond the end of the weights"),
        (lambda m: changed(m, image_at(m, m.header["pools"]) + 24, 0x02020200), "would be copied"),
        (lambda m: changed(m, HEADER_FIELDS.index("bss_end") * 4, lambda w: w + (8 << 20)), "bytes of executable RAM"),
    ],
)
def test_verify_looks_where_no_loader_does(
    change: Callable[[RelocFile], RelocFile], words: str, whole: RelocFile
) -> None:
    found = [finding.what for finding in errors(verify(change(whole), None, RAM))]
    assert any(words in what for what in found), found


def test_the_dev_number_tells_two_abis_apart(whole: RelocFile) -> None:
    (finding,) = errors(verify(whole, None, RAM, (1, 1, 3, 275)))
    assert "calls wrong functions (ABI C and D)" in finding.what


def test_a_model_is_checked_before_it_goes_to_flash(whole: RelocFile) -> None:
    check_model(whole, RAM)
    with pytest.raises(N6Error, match="N6-RELOC-015: n6build made a faulty model: the CRC"):
        check_model(changed(whole, whole.params_offset, lambda w: w ^ 1), RAM)


# Hostile files.


def words_changed(model: RelocFile, seed: int, count: int) -> bytes:
    """Change random words of the header, the data image and the relocation table.

    New values point to every segment.
    """
    chooser = random.Random(seed)
    data = bytearray(model.data)
    places = [*range(0, 104, 4), *range(model.read_only_bytes, model.params_offset, 4)]
    for _ in range(count):
        value = chooser.choice([0, 1, 0xFFFFFFFF, chooser.randrange(1 << 32), 0x20000000 + chooser.randrange(1 << 14)])
        value = chooser.choice([value, 0x40000000 + chooser.randrange(1 << 12), chooser.randrange(1 << 12)])
        struct.pack_into("<I", data, chooser.choice(places), value)
    return bytes(data)


def survives(data: bytes) -> None:
    """Check that a file causes one family of errors or a judgement, nothing else."""
    try:
        model = parse_reloc_file(data, "hostile.bin")
    except N6Error as error:
        assert error.id.startswith("N6-RELOC-03")
        return
    verify(model, None, RAM)
    verify(model, data[:64], RAM, (1, 1, 1, 14), secure=False)
    from n6build.place.reloc.reloc_text import as_dict, as_text, differences

    as_dict(model)
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
    survives(words_changed(whole, seed, count))


def test_context_fields_are_where_the_reader_says(whole: RelocFile) -> None:
    assert CONTEXT_FIELDS[5] == "name"
    assert ABI_C.context_fields[14] == "struct_sizes"
    assert whole.context["version"] == 0x01010300

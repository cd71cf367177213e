"""A verifying FSBL with a glitch starts no wrong Appli."""

from __future__ import annotations

import struct

import pytest
from glitched_boots import FLAGS, WRONG, Fsbl, Glitch, Try, program, verifying_fsbl
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES
from trust_build import LOAD

START = "n6_start_appli"
# It leads from the upper half of the Appli's RAM to that of the FSBL.
BIT = 20


@pytest.fixture(scope="module")
def fsbl(tmp_path_factory: pytest.TempPathFactory) -> Fsbl:
    return verifying_fsbl(tmp_path_factory.mktemp("skipped"))


# tools/bench.py glitches skips every instruction.
@pytest.mark.parametrize(
    ("stride", "arithmetic"), [(149, 5000), pytest.param(20, 200, marks=pytest.mark.slow)], ids=["few", "more"]
)
def test_no_skipped_instruction_starts_a_wrong_appli(fsbl: Fsbl, stride: int, arithmetic: int) -> None:
    tries = list(fsbl.skips(stride, arithmetic))
    assert {each.wrong for each in tries} == set(WRONG)
    assert [each for each in tries if each.end == "started"] == []
    # Most instructions decide nothing, or are not executed with this Appli.
    assert sum(each.end == "refused" for each in tries) > len(tries) / 2


COUNTS = pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.slow)], ids=["few", "more"])


@COUNTS
def test_no_flipped_bit_of_a_register_starts_a_wrong_appli(fsbl: Fsbl, count: int) -> None:
    assert_refused(list(fsbl.random_flips(count)))


@COUNTS
def test_no_single_skip_starts_a_wrong_appli(fsbl: Fsbl, count: int) -> None:
    assert_refused(list(fsbl.random_skips(count)))


def assert_refused(tries: list[Try]) -> None:
    assert [each for each in tries if each.end == "started"] == []
    done = [each for each in tries if each.end != "not executed"]
    assert len(done) > len(tries) / 4
    assert sum(each.end == "refused" for each in done) > len(done) / 3


def test_a_flipped_address_of_the_copy_does_not_reach_the_stack(fsbl: Fsbl) -> None:
    """Its word leads behind the second check: one flip would start any Appli."""
    load, start = ([each for each in fsbl.instructions if each.function == name] for name in ("n6_load_appli", START))
    first = fsbl.run(fsbl.applis["no signature"], None, [load[0].address])
    (stack,) = {state.registers[13] for state in first.stops.functions if state.registers[15] == load[0].address}
    return_address = stack - 4
    offset = (return_address ^ 1 << BIT) - LOAD.load_address
    tail = start[next(number for number, each in enumerate(start) if each.text.startswith("bne")) + 1]
    image = bytearray(program().ljust(offset + 64, b"\0"))
    struct.pack_into("<I", image, offset, tail.address | 1)
    struct.pack_into("<I", image, BASE.offset_of("image_bytes"), len(image) - HEADER_BYTES)
    struct.pack_into("<I", image, BASE.offset_of("checksum"), sum(image[HEADER_BYTES:]) % 2**32)
    appli = bytes(image)
    assert "N6-FW-090" in fsbl.run(appli, None).lines[-1]
    stores = [each for each in load if each.text == "str" and len(each.reads) == 2]
    flipped = [
        fsbl.run(appli, Glitch(each, offset // 4 + 1, register, BIT)) for each in stores for register in each.reads
    ]
    assert [result.lines[-1] for result in flipped if result.ended == "until"] == []
    # One of the stores is that of the copy.
    assert any(f"mmfar=0x{return_address:08x}" in line for result in flipped for line in result.lines)


def test_a_glitch_has_an_effect(fsbl: Fsbl) -> None:
    """A glitch that refuses a good Appli is seen."""
    check = [each for each in fsbl.instructions if each.function == "n6_trust_check_appli" and each.reads == [FLAGS]]
    assert "refused" in {fsbl.end_of_good(Glitch(each, 1, FLAGS, 30)) for each in check[:8]}
    first = next(each for each in fsbl.instructions if each.function == "n6_trust_check_appli")
    assert fsbl.end_of_good(Glitch(first, 2, 0, 0)) == "not executed"


def test_a_start_is_seen(fsbl: Fsbl) -> None:
    assert fsbl.end_of_good() == "started"
    assert {wrong: fsbl.end_of(wrong, None) for wrong in WRONG} == dict.fromkeys(WRONG, "refused")

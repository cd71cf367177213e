"""The tables in which a NOR describes itself, read as in JESD216F."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.board.virtual_board.board_values import parameter_tables
from n6build.describe.hardware.boards import load_board

BOARD = load_board("stm32n6570-dk")
COMMANDS = BOARD.nor_commands


def tables_of(data: bytes) -> dict[int, tuple[int, ...]]:
    """Return the tables by identifier; first the one that every part has."""
    signature, _, major, last, _ = struct.unpack_from("<4sBBBB", data)
    assert (signature, major) == (b"SFDP", 1)
    tables = {}
    for index in range(last + 1):
        low, _, _, words, place, high = struct.unpack("<BBBB3sB", data[8 + 8 * index :][:8])
        start = int.from_bytes(place, "little")
        tables[high << 8 | low] = struct.unpack_from(f"<{words}I", data, start)
    assert next(iter(tables)) == 0xFF00
    return tables


def time_of(code: int, units: tuple[int, ...]) -> int:
    return ((code & 31) + 1) * units[code >> 5]


def test_a_part_tells_its_size_and_what_it_erases() -> None:
    basic = tables_of(parameter_tables(COMMANDS, BOARD.nor.size))[0xFF00]
    assert len(basic) == 20
    assert (basic[1] + 1) // 8 == BOARD.nor.size
    types = [(1 << (word & 0xFF), word >> 8 & 0xFF) for word in (basic[7] & 0xFFFF, basic[7] >> 16)]
    assert types == [(4096, 0x20), (65536, 0xD8)]
    assert tables_of(parameter_tables(COMMANDS, 1 << 30))[0xFF00][1] == 1 << 31 | 33


def test_a_part_tells_how_long_it_is_busy() -> None:
    basic = tables_of(parameter_tables(COMMANDS, BOARD.nor.size))[0xFF00]
    erases, programs, busy = basic[9], basic[10], COMMANDS.busy_us
    units = (1_000, 16_000, 128_000, 1_000_000)
    assert time_of(erases >> 4 & 0x7F, units) == busy.erase_4k
    assert time_of(erases >> 11 & 0x7F, units) == busy.erase_64k
    assert time_of(programs >> 8 & 0x3F, (8, 64)) == busy.program
    assert 1 << (programs >> 4 & 15) == COMMANDS.page
    chip = busy.erase_mib * BOARD.nor.size >> 20
    assert time_of(programs >> 24 & 0x7F, (16_000, 256_000, 4_000_000, 64_000_000)) == chip


def test_a_part_tells_its_commands_on_eight_lines() -> None:
    tables = tables_of(parameter_tables(COMMANDS, BOARD.nor.size))
    profile = tables[0xFF05]
    assert profile[0] >> 8 & 0xFF == COMMANDS.read_dtr
    assert profile[3] >> 7 & 31 == 20  # At 200 MHz.
    assert [profile[4] >> 27, profile[4] >> 17 & 31, profile[4] >> 7 & 31] == [16, 12, 10]  # At 166, 133, 100 MHz.
    assert tables[0xFF84][1] & 0xFFFF == COMMANDS.erase_64k << 8 | COMMANDS.erase_4k
    last = struct.pack(">2I", *tables[0xFF0A][-2:])
    assert last[: last[0] + 1] == bytes((6, COMMANDS.write_register, 0, 0, 0, 0, COMMANDS.mode.opi_dtr))


def test_a_family_without_tables_has_none() -> None:
    assert parameter_tables(replace(COMMANDS, sfdp=None), BOARD.nor.size) == b""


@given(st.integers(1, 60_000_000), st.integers(1, 60_000_000))
@pytest.mark.parametrize("field", ["erase_4k", "erase_64k"])
def test_no_time_is_told_shorter_than_it_is_up_to_what_the_field_holds(field: str, first: int, second: int) -> None:
    busy = replace(COMMANDS.busy_us, **{field: first, "erase_mib": second})
    basic = tables_of(parameter_tables(replace(COMMANDS, busy_us=busy), BOARD.nor.size))[0xFF00]
    code = basic[9] >> (4 if field == "erase_4k" else 11) & 0x7F
    assert time_of(code, (1_000, 16_000, 128_000, 1_000_000)) >= min(first, 32_000_000)

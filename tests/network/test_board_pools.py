"""Memory pools as data: profiles, sizes, external RAM, aliases and shares."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.board_pools import external_regions, pools_of, pools_of_networks, roomier_profiles
from n6build.compile.memory_pools import MemoryPool, check_pools
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import board_names, load_board

MIB = 1 << 20


def by_name(pools: tuple[MemoryPool, ...]) -> dict[str, MemoryPool]:
    return {pool.name: pool for pool in pools}


@pytest.mark.parametrize("name", board_names())
def test_every_profile_of_every_board_has_pools_that_do_not_overlap(name: str) -> None:
    board = load_board(name)
    for profile in board.profiles():
        pools = pools_of(board, profile)
        check_pools(pools, board.soc.cache_line)
        assert [pool.use_for_initializers for pool in pools].count(True) == 1


def test_where_each_profile_keeps_weights_and_activations() -> None:
    board = load_board("stm32n6570-dk")
    holds = {
        profile: (
            next(pool.name for pool in pools_of(board, profile) if pool.use_for_initializers),
            "hyperRAM" in by_name(pools_of(board, profile)),
        )
        for profile in board.profiles()
    }
    assert holds == {
        "extflash": ("octoFlash", False),
        "noextmem": ("npuRAM5", False),
        "extram": ("hyperRAM", True),
        "allmems": ("octoFlash", True),
    }


def test_profiles_with_more_ram_the_largest_last() -> None:
    dk, nucleo, camera = (load_board(name) for name in ("stm32n6570-dk", "nucleo-n657", "openmv-n6"))

    def names(board: Board, profile: str) -> list[str]:
        return [each.name for each in roomier_profiles(board, profile)]

    assert names(dk, "noextmem") == ["extflash", "extram", "allmems"]
    assert names(dk, "extflash") == names(camera, "extflash") == ["extram", "allmems"]
    assert names(dk, "extram") == ["allmems"]
    assert names(dk, "allmems") == []
    assert names(nucleo, "noextmem") == ["extflash"]
    assert names(nucleo, "extflash") == []


def test_a_profile_with_ram_outside_the_chip_says_what_it_costs() -> None:
    inside, outside, _ = roomier_profiles(load_board("stm32n6570-dk"), "noextmem")
    assert (inside.external, inside.slower) == ((), 0)
    # The outside RAM is two bytes wide and clocked at a fifth, the inside RAM eight bytes at four fifths.
    assert (outside.external, outside.slower) == (("hyperRAM",), (5 / 2) / (1.25 / 8))


def test_a_profile_with_external_ram_on_a_board_without_names_the_memory() -> None:
    with pytest.raises(N6Error, match="N6-BOARD-010: profile 'allmems' needs hyperRAM") as caught:
        pools_of(load_board("nucleo-n657"), "allmems")
    assert caught.value.hint == "choose one of: extflash, noextmem"


def test_a_larger_pool_in_external_ram_moves_what_lies_behind_it() -> None:
    board = load_board("openmv-n6")
    before, after = external_regions(board), external_regions(board, {"hyperRAM": 28 * MIB})
    assert (before["heap"].size, after["heap"].size) == (24 * MIB, 28 * MIB)
    for region in ("uma", "stream"):
        assert after[region].address - before[region].address == 4 * MIB
    assert by_name(pools_of(board, "allmems", {"hyperRAM": 28 * MIB}))["hyperRAM"].end <= after["uma"].address


@pytest.mark.parametrize(
    ("board", "sizes", "message"),
    [
        (
            "openmv-n6",
            {"hyperRAM": 30 * MIB},
            "N6-POOL-003: pool hyperRAM needs 30.0 MiB of region 'heap', 2.0 MiB more than its limit",
        ),
        ("stm32n6570-dk", {"hyperRAM": 24 * MIB}, "N6-POOL-004: .* need 8.0 MiB more than its 32.0 MiB"),
    ],
)
def test_regions_stay_within_their_limits_and_the_ram(board: str, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(N6Error, match=message):
        external_regions(load_board(board), sizes)


def test_a_pool_larger_than_its_memory() -> None:
    with pytest.raises(
        N6Error, match="N6-POOL-002: memory pool npuRAM4 is set to 449.0 KiB, 1.0 KiB more than AXISRAM4"
    ):
        pools_of(load_board("nucleo-n657"), "extflash", {"npuRAM4": 449 << 10})


def test_an_unknown_pool_names_the_nearest() -> None:
    with pytest.raises(N6Error, match="did you mean 'npuRAM4'"):
        pools_of(load_board("nucleo-n657"), "extflash", {"npuRam4": 1})


def test_a_pool_of_size_0_is_not_used() -> None:
    assert "cpuRAM2" not in by_name(pools_of(load_board("openmv-n6"), "extflash"))
    assert "npuRAM3" not in by_name(pools_of(load_board("nucleo-n657"), "extflash", {"npuRAM3": 0}))


def test_the_non_secure_alias_clears_bit_28_of_what_is_inside_the_chip() -> None:
    board = replace(load_board("stm32n6570-dk"), alias="non-secure")
    bases = {pool.name: pool.address for pool in pools_of(board, "allmems")}
    assert (bases["npuRAM3"], bases["cpuRAM2"]) == (0x2420_0000, 0x2410_0000)
    assert (bases["octoFlash"], bases["hyperRAM"]) == (0x7100_0000, 0x9000_0000)


@given(
    count=st.integers(2, 6),
    profile=st.sampled_from(["extflash", "noextmem"]),
    fixed=st.dictionaries(st.integers(0, 5), st.integers(1, 64 << 10), max_size=2),
)
def test_the_weights_of_several_networks_never_share_a_byte(count: int, profile: str, fixed: dict[int, int]) -> None:
    board = load_board("nucleo-n657")
    weights = board.profile(profile).weights
    sizes = [{weights: fixed[number]} if number in fixed else {} for number in range(count)]
    parts = [by_name(pools)[weights] for pools in pools_of_networks(board, profile, sizes)]
    whole = by_name(pools_of(board, profile))[weights]
    assert parts[0].address == whole.address
    assert parts[-1].end <= whole.end
    for part, behind in itertools.pairwise(parts):
        assert part.size > 0
        assert part.end <= behind.address
    for number, size in fixed.items():
        if number < count:
            assert parts[number].size >= size


def test_parts_that_are_more_than_the_pool() -> None:
    board = load_board("nucleo-n657")
    with pytest.raises(N6Error, match="N6-POOL-005: the parts of memory pool npuRAM5 need 152.0 KiB more"):
        pools_of_networks(board, "noextmem", [{"npuRAM5": 300 << 10}, {"npuRAM5": 300 << 10}])

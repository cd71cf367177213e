"""Whole networks in memory: joined banks, shared places and external RAM.

Each network is run, so that a byte that is overwritten too early is a wrong tensor.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from memory_models import ModelWriter, mobilenet_v2
from movement_models import random_inputs
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.reference.epochs import Network
from n6build.compile.reference.external_ram import external_uses
from n6build.compile.reference.lowering import lower
from n6build.compile.reference.placement import place
from n6build.compile.reference.tflite_reader import read_graph

from network.equality import assert_equal_everywhere, tensors_of
from network.host_network import Build, extflash, noextmem, npu_ram_pools
from network.network_models import as_file, own_models
from network.soundness import assert_sound, lowered
from network.target_network import POOLS, BuildTarget
from network.tflm_arena import arena_bytes

KIB = 1 << 10
CPU_RAM = MemoryPool("cpuRAM2", "AXISRAM2", 0x34100000, 1 << 20, "ACC_WRITE")
EXTERNAL = MemoryPool(
    "hyperRAM", "xSPI1", 0x90000000, 16 << 20, "ACC_WRITE", cacheable=True, byte_width=2, freq_ratio=5
)


def banks(count: int, size: int) -> list[MemoryPool]:
    """Return adjacent banks of this size, and a flash for the weights."""
    ends = [0x34200000 + n * size for n in range(count)]
    made = [MemoryPool(f"npuRAM{n}", f"AXISRAM{n}", end, size, "ACC_WRITE") for n, end in enumerate(ends)]
    return [*made, extflash()[-1]]


def without_scratch(network: Network) -> Network:
    """Return the network without the scratch memory of its kernels.

    An arena is compared without it on both sides.
    """
    epochs = tuple(replace(epoch, scratch=None) for epoch in network.epochs)
    return replace(network, epochs=epochs, buffers=tuple(buffer for buffer in network.buffers if buffer.tensor))


def random_model(seed: int) -> bytes:
    """Return a model with branches that part and meet again.

    It adds tensors that were made long before, and reads outputs again.
    """
    chance = random.Random(seed)
    writer = ModelWriter(seed)
    size = chance.choice([6, 9, 14])
    made = [writer.input(size, size, chance.choice([3, 8]))]
    for _ in range(chance.randrange(6, 16)):
        source = chance.choice(made[-4:])
        alike = [each for each in made[1:] if writer.shapes[each] == writer.shapes[source] and each != source]
        kind = chance.random()
        if kind < 0.4 and alike:
            made.append(writer.add(source, chance.choice(alike)))
        elif kind < 0.6:
            made.append(writer.depthwise(source))
        else:
            made.append(writer.conv(source, chance.choice([4, 8, 8, 16, 24])))
    return writer.model(*dict.fromkeys([made[-1], chance.choice(made[1:])]))


@pytest.mark.parametrize("seed", range(14))
def test_random_networks_are_exact_and_need_no_more_than_a_greedy_arena(
    seed: int, host_network: Build, tmp_path: Path
) -> None:
    model = random_model(seed)
    network = lowered(model, tmp_path)
    plan = place(network, extflash())
    assert_sound(plan, network, extflash())
    assert plan.peak == plan.bound
    assert_equal_everywhere(host_network(model), model, random_inputs(model, seed))
    # The largest bank has room for at most half of the plan. A buffer across a border has to be as exact.
    small = banks(5, max(64, -(-plan.peak // 4 // 32) * 32))
    split = host_network(model, small)
    assert_equal_everywhere(split, model, random_inputs(model, seed))


def test_random_networks_need_less_than_a_greedy_arena_as_a_rule(tmp_path: Path) -> None:
    ratios = []
    for seed in range(60):
        model = random_model(seed)
        plan = place(without_scratch(lowered(model, tmp_path)), extflash())
        # The buffers have some hundred bytes each: n6build rounds them to whole cache lines, the arena to 16 bytes.
        rounding = 16 * len(plan.places)
        assert plan.peak <= arena_bytes(model) + rounding
        ratios.append(plan.peak / arena_bytes(model))
    print(f"mean {sum(ratios) / len(ratios):.3f} of the greedy arena, from {min(ratios):.3f} to {max(ratios):.3f}")
    assert sum(ratio < 0.95 for ratio in ratios) >= 20


@pytest.mark.parametrize("model", own_models(), ids=lambda path: path.stem)
def test_the_models_of_the_project_need_no_more_than_a_greedy_arena(model: Path) -> None:
    plan = place(without_scratch(lower(read_graph(model), model.name)), extflash())
    print(f"{model.stem}: {plan.peak} of {arena_bytes(model.read_bytes())} bytes")
    assert plan.peak <= arena_bytes(model.read_bytes())


def test_mobilenet_v2_at_224_lies_across_all_banks_of_the_npu(
    host_network: Build,
) -> None:
    model = mobilenet_v2()
    network = host_network(model)
    used = {pool.name: pool.used_bytes for pool in network.artifacts.pools}
    # The first expansion has 112 x 112 x 96 bytes, the depthwise convolution makes 56 x 56 x 96 of it and needs scratch
    # memory.
    assert [used[f"npuRAM{bank}"] for bank in (3, 4, 5, 6)] == [448 * KIB, 448 * KIB, 448 * KIB, 145_688]
    assert sum(used.values()) - used["octoFlash"] == (112 * 112 + 56 * 56) * 96 + 16_664
    compared, _ = assert_equal_everywhere(network, model, random_inputs(model, 1))
    assert compared == 64


def test_c_info_and_network_c_say_the_same_of_a_buffer_across_a_border(tmp_path: Path) -> None:
    """The joined pool is a view, as in ST's compiler.

    Its bytes count as used in the concrete pools.
    """
    writer = ModelWriter()
    file = as_file(writer.model(writer.conv(writer.input(40, 40, 3), 24)), tmp_path)
    pools = banks(3, 16 * KIB)
    compile_network(file, pools, tmp_path)
    both = read_artifacts(tmp_path, "network")
    source = (tmp_path / "network.c").read_text()
    assert "name=npuRAM0_npuRAM1_npuRAM2 offset=0x34200000  absolute_mode size=49152 vpool READ_WRITE" in source
    (tmp_path / "network_c_info.json").unlink()
    alone = read_artifacts(tmp_path, "network")
    assert both.pools == alone.pools
    assert [pool.name for pool in both.pools] == ["npuRAM0", "npuRAM1", "npuRAM2", "octoFlash"]
    scratch = 32
    assert [pool.used_bytes for pool in both.pools][:3] == [16 * KIB, 16 * KIB, 40 * 40 * 27 + scratch - 32 * KIB]
    assert [(port.address, port.bytes) for port in both.outputs] == [
        (port.address, port.bytes) for port in alone.outputs
    ]


def test_a_gap_or_weights_between_two_pools_part_them(tmp_path: Path) -> None:
    writer = ModelWriter()
    network = lowered(writer.model(writer.conv(writer.input(40, 40, 8), 8)), tmp_path)
    first, second, flash = banks(2, 16 * KIB)
    assert place(network, [first, second, flash]).joined
    apart = place(network, [first, replace(second, address=second.address + 32), flash])
    assert not apart.joined and {apart.places[each.name].pool.name for each in network.buffers} == {
        "npuRAM0",
        "npuRAM1",
    }
    weights_first = replace(second, use_for_initializers=True)
    assert not place(network, [first, weights_first]).joined
    weights_last = replace(first, use_for_initializers=True)
    assert place(network, [weights_last, replace(second, size=10 * KIB)]).joined


def test_a_sum_takes_the_place_of_what_is_added(tmp_path: Path, host_network: Build) -> None:
    """A block of a residual network needs two buffers at a time, not three."""
    writer = ModelWriter()
    first = writer.conv(writer.input(16, 16, 16), 16)
    model = writer.model(writer.conv(writer.add(first, writer.conv(first, 16)), 4))
    plan = place(without_scratch(lowered(model, tmp_path)), extflash())
    assert plan.peak == plan.bound == 2 * 16 * 16 * 16
    assert plan.places["Add_2_out_0"].offset in {plan.places[f"Conv2D_{n}_out_0"].offset for n in (0, 1)}
    assert arena_bytes(model) == 3 * 16 * 16 * 16
    assert_equal_everywhere(host_network(model), model, random_inputs(model, 5))


def test_what_is_read_later_or_leaves_the_network_keeps_its_place(tmp_path: Path, host_network: Build) -> None:
    writer = ModelWriter()
    given = writer.input(8, 8, 8)
    first = writer.conv(given, 8)
    added = writer.add(first, writer.conv(first, 8))
    again = writer.add(first, added)
    for outputs in (
        [again],
        [again, first],
        [again, added],
        [added],
        [first, added, again],
        [writer.add(given, again)],
    ):
        model = writer.model(*outputs)
        network = lowered(model, tmp_path)
        assert_sound(place(network, extflash()), network, extflash())
        assert_equal_everywhere(host_network(model), model, random_inputs(model, 2))


def test_an_output_is_not_the_memory_of_an_input(tmp_path: Path) -> None:
    """The application uses the input and the output at the same time."""
    writer = ModelWriter()
    network = lowered(writer.model(writer.add(writer.input(8, 8, 8), writer.input(8, 8, 8))), tmp_path)
    assert all(buffer.inside is None for buffer in network.buffers)


def test_an_input_may_be_an_output(host_network: Build) -> None:
    writer = ModelWriter()
    given = writer.input(8, 8, 16)
    made = writer.add(given, writer.conv(given, 16))
    for outputs in ([made, given], [given, made]):
        model = writer.model(*outputs)
        network = host_network(model)
        assert [port.name for port in network.artifacts.outputs].count("Input_0_out_0") == 1
        assert_equal_everywhere(network, model, random_inputs(model, 3))


def test_branches_are_done_one_after_the_other(tmp_path: Path, host_network: Build) -> None:
    """Side by side, all wide buffers would be in use at once.

    The model has the branches in that order.
    """
    writer = ModelWriter()
    given = writer.input(16, 16, 4)
    wide = [writer.conv(given, 32) for _ in range(4)]
    narrow = [writer.conv(each, 4) for each in wide]
    joined = narrow[0]
    for each in narrow[1:]:
        joined = writer.add(joined, each)
    model = writer.model(writer.conv(joined, 4))
    network = lowered(model, tmp_path)
    plan = place(without_scratch(network), extflash())
    area = 16 * 16
    # At the peak, the input, the sum so far and one branch are in use.
    assert plan.peak == plan.bound == area * (4 + 4 + 32 + 4) and arena_bytes(model) >= area * 4 * 32
    assert [epoch.operators[0] for epoch in network.epochs] != sorted(epoch.operators[0] for epoch in network.epochs)
    assert [each.epoch for each in network.initializers] == sorted(each.epoch for each in network.initializers)
    assert_equal_everywhere(host_network(model), model, random_inputs(model, 4))


def test_external_ram_is_the_last_resort_and_holds_what_moves_least(tmp_path: Path, host_network: Build) -> None:
    writer = ModelWriter()
    given = writer.input(32, 32, 4)
    kept = writer.conv(given, 24)
    last = kept
    for _ in range(4):
        last = writer.add(writer.depthwise(last), last)
    model = writer.model(writer.add(last, kept))
    network = lowered(model, tmp_path)
    *inside, flash = banks(2, 26 * KIB)
    enough = place(network, [*banks(3, 32 * KIB)[:-1], EXTERNAL, flash])
    assert enough.used_bytes(EXTERNAL) == 0
    plan = place(network, [*inside, EXTERNAL, flash])
    outside = [name for name, found in plan.places.items() if found.pool is EXTERNAL]
    assert outside == ["Conv2D_0_out_0"]
    pools = [*inside, EXTERNAL, flash]
    (use,) = external_uses(network, plan, pools)
    # The outside buffer is made once and read three times. The operands of a sum take each other's place, and are read
    # and written more often.
    assert (use.bytes, use.moved, use.slower) == (32 * 32 * 24, 4 * 32 * 32 * 24, (5 / 2) / (1 / 8))
    assert str(use) == (
        "holds 1 buffer of 24.0 KiB that do not fit into the chip's RAM; an inference moves 96.0 KiB there, 20 "
        "times as slow as "
        "the chip's own RAM"
    )
    assert external_uses(network, enough, pools) == ()
    network_with_it = host_network(model, pools)
    assert f"External RAM: hyperRAM {use}" in (network_with_it.folder / "network_generate_report.txt").read_text()
    assert_equal_everywhere(network_with_it, model, random_inputs(model, 6))


def test_on_the_cortex_m55_a_buffer_lies_across_banks_and_sums_are_made_in_place(
    tmp_path: Path, target_network: BuildTarget
) -> None:
    writer = ModelWriter(8)
    first = writer.conv(writer.input(24, 24, 8), 16, 3)
    wide = [writer.conv(first, 32), writer.depthwise(first)]
    model = writer.model(writer.add(writer.add(first, wide[1]), writer.conv(wide[0], 16)))
    flash = POOLS[1]
    ram = [MemoryPool(f"ram{n}", f"FLEXRAM{n}", 0x34000000 + n * 0x3000, 0x3000, "ACC_WRITE") for n in range(4)]
    network = target_network(model, [*ram, flash])
    assert " vpool " in (tmp_path / "network.c").read_text()
    inputs = random_inputs(model, 9)
    expected = tensors_of(model, inputs)
    # The outputs come in the order of the epochs, which differs from that of the model.
    wanted = b"".join(expected[epoch.name.rpartition("_")[2]] for epoch in network.artifacts.epochs)
    assert network.run(inputs) == wanted


@pytest.mark.parametrize("profile", [extflash, noextmem])
def test_pools_that_one_bank_suffices_for_stay_as_they_are(profile: Callable[[], list[MemoryPool]]) -> None:
    for model in own_models():
        plan = place(lower(read_graph(model), model.name), profile())
        assert not plan.joined


def test_the_large_ram_of_the_cpu_is_one_space_with_the_banks_of_the_npu(tmp_path: Path) -> None:
    """The space has 2.8 MB without a gap, from AXISRAM2 to AXISRAM6."""
    writer = ModelWriter()
    given = writer.input(160, 160, 32)
    network = lowered(writer.model(writer.conv(given, 64)), tmp_path)
    plan = place(network, [*npu_ram_pools(), CPU_RAM, extflash()[-1]])
    assert [joined.pool.name for joined in plan.joined] == ["cpuRAM2_npuRAM3_npuRAM4_npuRAM5_npuRAM6"]
    scratch = 64
    assert plan.peak == 160 * 160 * 96 + scratch

"""Memory plans: buffers in use at one time share no byte, and a plan is small."""

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.memory_pools import MemoryPool, RoomierProfile, initializer_pools
from n6build.compile.reference.epochs import Buffer, Initializer, Network
from n6build.compile.reference.liveness import aligned, blocks_of, lower_bound
from n6build.compile.reference.lowering import lower
from n6build.compile.reference.placement import place
from n6build.compile.reference.tflite_reader import read_graph
from samples import sample

from network.host_network import extflash, noextmem, npu_ram_pools
from network.network_models import own_models
from network.soundness import assert_sound


def ram(size: int, name: str = "npuRAM3", address: int = 0x34200000) -> MemoryPool:
    return MemoryPool(name, name.upper(), address, size, "ACC_WRITE")


FLASH = MemoryPool("octoFlash", "xSPI2", 0x71000000, 1 << 20, "ACC_READ", use_for_initializers=True)


def network(buffers: list[Buffer], weights: tuple[int, ...] = ()) -> Network:
    initializers = tuple(
        Initializer(f"weights{number}", 1, "int8", (size,), None, memoryview(bytes(size)))
        for number, size in enumerate(weights)
    )
    return Network((), tuple(buffers), initializers, (), ())


@st.composite
def buffer_lists(draw: st.DrawFn) -> list[Buffer]:
    count = draw(st.integers(1, 14))
    made = []
    for number in range(count):
        first = draw(st.integers(0, 8))
        last = draw(st.integers(first, min(first + draw(st.integers(0, 5)), 10)))
        made.append(Buffer(f"b{number}", draw(st.integers(1, 4000)), first, last, None))
    return made


@settings(max_examples=80)
@given(buffer_lists(), st.integers(0, 3000))
def test_live_buffers_never_overlap(buffers: list[Buffer], weights: int) -> None:
    subject = network(buffers, (weights // 2, weights - weights // 2) if weights else ())
    pools = [ram(1 << 20), FLASH]
    plan = place(subject, pools)
    assert_sound(plan, subject, pools)
    assert plan.bound <= plan.peak <= sum(aligned(buffer.bytes) for buffer in buffers)


@settings(max_examples=80)
@given(buffer_lists(), st.integers(0, 3000))
def test_several_small_pools_with_the_weights_in_one_of_them(buffers: list[Buffer], weights: int) -> None:
    """The plan places everything, or the error reports how many bytes do not fit."""
    subject = network(buffers, (weights,) if weights else ())
    shared = MemoryPool("npuRAM5", "AXISRAM5", 0x342E0000, 8192, "ACC_WRITE", use_for_initializers=True)
    pools = [ram(4096), shared, ram(6000, "npuRAM6", 0x34350000)]
    try:
        plan = place(subject, pools)
    except N6Error as error:
        assert error.id == "N6-NET-013"
        return
    assert_sound(plan, subject, pools)


def test_weights_come_first_where_they_share_a_pool_with_activations() -> None:
    subject = network([Buffer("a", 1000, 0, 1, None)], (70,))
    shared = MemoryPool("npuRAM5", "AXISRAM5", 0x342E0000, 4096, "ACC_WRITE", use_for_initializers=True)
    plan = place(subject, [shared])
    assert (plan.places["weights0"].offset, plan.places["a"].offset) == (0, 96)
    assert plan.used_bytes(shared) == 1096


def test_one_pool_is_preferred_to_a_split() -> None:
    subject = network([Buffer("a", 3000, 0, 1, None), Buffer("b", 3000, 1, 2, None)])
    pools = [ram(4000), ram(7000, "npuRAM4", 0x34270000), FLASH]
    plan = place(subject, pools)
    assert {plan.places[name].pool.name for name in "ab"} == {"npuRAM4"}
    split = place(subject, [ram(4000), ram(4000, "npuRAM4", 0x34270000), FLASH])
    assert {split.places[name].pool.name for name in "ab"} == {"npuRAM3", "npuRAM4"}


def test_a_search_finds_what_greedy_placement_misses() -> None:
    """Largest first wastes memory for these buffers.

    Two tensors of different size each outlive a large one.
    """
    found = 0
    chance = random.Random(7)
    for _ in range(60):
        buffers = []
        for number in range(12):
            first = chance.randrange(10)
            buffers.append(Buffer(f"b{number}", 32 * chance.randrange(1, 60), first, first + chance.randrange(4), None))
        plan = place(network(buffers), [ram(1 << 20), FLASH])
        found += plan.peak == plan.bound
    assert found >= 57


def test_too_many_activations_are_named_with_the_bytes_missing() -> None:
    with pytest.raises(N6Error) as caught:
        place(network([Buffer("a", 3000, 0, 1, None), Buffer("b", 3000, 1, 2, None)]), [ram(4096), FLASH])
    assert caught.value.id == "N6-NET-013"
    assert "at least 6016 bytes" in caught.value.what and "npuRAM3" in caught.value.what


def test_the_hint_names_profiles_with_more_ram_or_says_that_there_is_none() -> None:
    subject = network([Buffer("a", 6000, 0, 1, None)])
    outside = RoomierProfile("extram", ("hyperRAM",), 16.0)
    for roomier, hint in (
        ((RoomierProfile("extflash"),), "use profile=extflash, which has more RAM; the largest buffer"),
        (
            (RoomierProfile("extflash"), outside, replace(outside, name="allmems")),
            "use profile=extflash, which has more RAM; use profile=extram or allmems, which has more RAM outside the chip "
            "(hyperRAM); a byte there takes 16 times as long; the largest buffer",
        ),
        (
            (),
            "use a smaller input, fewer channels, or a board with external RAM: this board has no profile with "
            "more RAM",
        ),
    ):
        with pytest.raises(N6Error, match="N6-NET-013") as caught:
            place(subject, [ram(4096), FLASH], roomier)
        assert hint in (caught.value.hint or "")


def test_too_many_weights_are_named_with_the_bytes_missing() -> None:
    small = MemoryPool("octoFlash", "xSPI2", 0x71000000, 1000, "ACC_READ", use_for_initializers=True)
    with pytest.raises(N6Error) as caught:
        place(network([], (600, 600)), [ram(4096), small])
    assert caught.value.id == "N6-NET-012"
    assert "208 bytes more" in caught.value.what


def test_read_only_pools_come_first_for_weights() -> None:
    writable = MemoryPool("npuRAM5", "AXISRAM5", 0x342E0000, 4096, "ACC_WRITE", use_for_initializers=True)
    assert initializer_pools([writable, FLASH]) == (FLASH,)
    assert initializer_pools([ram(10), writable]) == (writable,)
    with pytest.raises(N6Error, match="no memory pool may hold initializers"):
        initializer_pools(npu_ram_pools())


@pytest.mark.parametrize(
    "pools",
    [
        [ram(0x80000), ram(0x1000, "npuRAM4", 0x34270000), FLASH],
        [ram(4096, address=0x34200010), FLASH],
        [ram(4096), ram(4096, address=0x34270000), FLASH],
        [MemoryPool("npu RAM", "AXISRAM3", 0x34200000, 4096, "ACC_WRITE"), FLASH],
    ],
    ids=["overlap", "alignment", "same name", "not an identifier"],
)
def test_pools_that_cannot_be(pools: list[MemoryPool]) -> None:
    with pytest.raises(N6Error, match="error N6-NET-011: "):
        place(network([]), pools)


@pytest.mark.parametrize("model", own_models(), ids=lambda path: path.stem)
def test_the_project_s_models_take_no_more_than_the_lower_bound(model: Path) -> None:
    subject = lower(read_graph(model), model.name)
    for pools in (extflash(), noextmem()):
        begin = time.perf_counter()
        plan = place(subject, pools)
        print(f"{model.stem}: {plan.peak} of at least {plan.bound} bytes, {time.perf_counter() - begin:.3f} s")
        assert_sound(plan, subject, pools)
        assert plan.peak == plan.bound == lower_bound(blocks_of(subject.buffers))


def test_miniresnet_needs_less_than_with_its_paddings_stored() -> None:
    """The second PAD alone would need more if it was stored.

    With its input it would need 51200 + 58752 bytes.
    """
    model = next(path for path in own_models() if path.stem == "miniresnet")
    assert place(lower(read_graph(model), model.name), extflash()).peak < 109_952


@pytest.mark.parametrize("name", ["miniresnet_1stacks_64x50_tl", "mlperf_kws_dscnn", "mlperf_resnet8"])
def test_sample_models_take_no_more_than_the_lower_bound(name: str) -> None:
    model = sample(f"models/{name}_int8.tflite")
    plan = place(lower(read_graph(model), model.name), extflash())
    assert plan.peak == plan.bound

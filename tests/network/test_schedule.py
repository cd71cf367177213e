"""Epochs run in an order that needs as little memory as any."""

import random
from functools import cache
from itertools import pairwise

import pytest
from n6build.compile.reference.epochs import Address, Buffer, Epoch, Fields, ScratchBuffer
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.lifetimes import buffers_of
from n6build.compile.reference.liveness import aligned, blocks_of, lower_bound
from n6build.compile.reference.schedule import scheduled

INPUT = "input"


def epoch(index: int, output: str, inputs: tuple[str, ...], in_place: tuple[str, ...] = (), scratch: int = 0) -> Epoch:
    return Epoch(
        index=index,
        kernel="kernel",
        descriptor_type="type",
        kind="Kind",
        node=f"node_{index}",
        operators=(index,),
        descriptor=Fields(()),
        inputs=inputs,
        output=output,
        initializers=(),
        macs=0,
        scratch=ScratchBuffer(f"scratch_{index}", scratch, "0") if scratch else None,
        in_place=tuple(Address(name) for name in in_place),
    )


def random_epochs(chance: random.Random) -> tuple[list[Epoch], dict[str, int]]:
    """Return up to ten epochs that read one or two recently made buffers."""
    sizes = {INPUT: chance.randrange(1, 2000)}
    epochs = []
    for index in range(1, chance.randrange(4, 11)):
        recent = list(sizes)[-5:]
        inputs = tuple(chance.sample(recent, min(len(recent), chance.choice([1, 1, 2]))))
        takes_place = chance.random() < 0.3
        sizes[f"b{index}"] = sizes[inputs[0]] if takes_place else chance.randrange(1, 2000)
        scratch = chance.choice([0, 0, 500])
        epochs.append(epoch(index, f"b{index}", inputs, inputs[:1] if takes_place else (), scratch))
    return epochs, sizes


def outputs_of(epochs: list[Epoch]) -> list[str]:
    used = {name for each in epochs for name in each.inputs}
    return [each.output for each in epochs if each.output not in used]


def tensors_of(sizes: dict[str, int]) -> dict[str, Tensor]:
    return {name: Tensor(0, name, "int8", (size,), None) for name, size in sizes.items()}


def needs(epochs: list[Epoch], sizes: dict[str, int], outputs: list[str]) -> int:
    """Return the bytes that the buffers of this order need."""
    return lower_bound(blocks_of(buffers_of(epochs, tensors_of(sizes), {}, [INPUT], outputs)))


def least(epochs: list[Epoch], sizes: dict[str, int], outputs: list[str]) -> int:
    """Return the smallest need of all orders, computed set by set from the definition."""
    makers = {each.output: number for number, each in enumerate(epochs)}
    users = {name: {n for n, each in enumerate(epochs) if name in each.inputs} for name in sizes}

    def live(done: frozenset[int]) -> set[str]:
        made = {INPUT} | {epochs[number].output for number in done}
        return {name for name in made if name in outputs or users[name] - done}

    @cache
    def rest(done: frozenset[int]) -> int:
        best = 0 if len(done) == len(epochs) else 1 << 40
        for number, each in enumerate(epochs):
            if number in done or any(name != INPUT and makers[name] not in done for name in each.inputs):
                continue
            after = done | {number}
            before = live(done)
            dying = before - live(after)
            takes = any(place.name in dying and place.name != INPUT for place in each.in_place)
            takes = takes or (each.output not in outputs and any(place.name in dying for place in each.in_place))
            held = sum(aligned(sizes[name]) for name in before) + (0 if takes else aligned(sizes[each.output]))
            held += aligned(each.scratch.bytes) if each.scratch else 0
            best = min(best, max(held, rest(after)))
        return best

    return max(rest(frozenset()), aligned(sizes[INPUT]))


@pytest.mark.parametrize("seed", range(60))
def test_no_order_needs_less(seed: int) -> None:
    epochs, sizes = random_epochs(random.Random(seed))
    outputs = outputs_of(epochs)
    found = scheduled(epochs, sizes, {}, [INPUT], outputs)
    assert [each.index for each in found] == list(range(1, len(epochs) + 1))
    assert sorted(each.node for each in found) == sorted(each.node for each in epochs)
    own, best = needs(epochs, sizes, outputs), needs(found, sizes, outputs)
    # An output of the network never takes the place of an input, and the search does not know this beforehand.
    assert least(epochs, sizes, outputs) <= min(own, best)
    if not any(place.name == INPUT for each in epochs for place in each.in_place):
        assert best == least(epochs, sizes, outputs)


def test_some_orders_are_better_than_the_model_s() -> None:
    better = 0
    for seed in range(60):
        epochs, sizes = random_epochs(random.Random(seed))
        outputs = outputs_of(epochs)
        better += needs(scheduled(epochs, sizes, {}, [INPUT], outputs), sizes, outputs) < needs(epochs, sizes, outputs)
    assert better >= 20


def test_nothing_is_read_before_it_is_made_or_after_it_is_overwritten() -> None:
    """A state is read, then written; it stays in this order for all sizes."""
    state = [
        epoch(1, "a", (INPUT,)),
        epoch(2, "b", ("a", "state")),
        epoch(3, "state", ("a",)),
        epoch(4, "c", ("b", "state")),
    ]
    for seed in range(20):
        sizes = {name: random.Random(f"{seed} {name}").randrange(1, 4000) for name in (INPUT, "a", "b", "c", "state")}
        found = scheduled(state, sizes, {}, [INPUT], ["c"], ["state"])
        assert [each.node for each in found] == ["node_1", "node_2", "node_3", "node_4"]
        both_may_write = [epoch(1, "a", (INPUT, "state")), epoch(2, "b", (INPUT, "state")), epoch(3, "c", ("a", "b"))]
        found = scheduled(both_may_write, sizes, {}, [INPUT], ["c"], ["state"])
        assert [each.node for each in found] == ["node_1", "node_2", "node_3"]
        made = {
            each.name: each for each in buffers_of(both_may_write, tensors_of(sizes), {}, [INPUT], ["c"], ["state"])
        }
        assert (made["state"].first, made["state"].last) == (0, 3)


def test_eight_branches_of_six_epochs_end_in_time_and_better_than_side_by_side() -> None:
    """A search cannot visit all sets of done epochs one by one here."""
    chance = random.Random(3)
    sizes = {INPUT: 1000}
    epochs: list[Epoch] = []
    for depth in range(6):
        for branch in range(8):
            sizes[f"b{branch}_{depth}"] = 50 if depth == 5 else chance.randrange(2000, 4000)
            before = f"b{branch}_{depth - 1}" if depth else INPUT
            epochs.append(epoch(len(epochs) + 1, f"b{branch}_{depth}", (before,)))
    sizes["out"] = 100
    epochs.append(epoch(len(epochs) + 1, "out", tuple(f"b{branch}_5" for branch in range(8))))
    found = scheduled(epochs, sizes, {}, [INPUT], ["out"])
    largest = max(a + b for a, b in pairwise(sizes[f"b0_{depth}"] for depth in range(5)))
    assert needs(epochs, sizes, ["out"]) > 16_000
    assert needs(found, sizes, ["out"]) < 9_500 and needs(found, sizes, ["out"]) >= largest


def test_parts_are_made_before_what_reads_the_whole() -> None:
    """Two parts form a whole that no epoch makes as such."""
    epochs = [epoch(1, "left", (INPUT,)), epoch(2, "right", (INPUT,)), epoch(3, "out", ("whole",))]
    sizes = {INPUT: 64, "left": 64, "right": 64, "whole": 128, "out": 32}
    parts = {"left": Address("whole", 0), "right": Address("whole", 64)}
    assert [each.output for each in scheduled(epochs, sizes, parts, [INPUT], ["out"])] == ["left", "right", "out"]
    found = {each.name: each for each in buffers_of(epochs, tensors_of(sizes), parts, [INPUT], ["out"])}
    assert (found["left"].first, found["left"].last) == (1, 2)
    assert (found["right"].first, found["right"].last) == (2, 2)
    assert (found["whole"].first, found["whole"].last) == (2, 3)
    assert lower_bound(blocks_of(list(found.values()))) == 64 + 128
    assert isinstance(found["left"], Buffer) and found["left"].inside == Address("whole", 0)

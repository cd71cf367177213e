"""Tensors that are made only to be joined are made in their final place.

CONCATENATION along the outermost dimension then copies nothing.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from memory_models import ModelWriter
from movement_models import random_inputs
from n6build.compile.reference.epochs import Network
from n6build.compile.reference.placement import place

from network.equality import assert_equal_everywhere
from network.host_network import Build, extflash
from network.soundness import assert_sound, lowered


@pytest.fixture
def run(host_network: Build, tmp_path: Path) -> Callable[[bytes], Network]:
    """Return a function that runs a model and compares every tensor.

    The function returns the lowered network.
    """

    def compare(model: bytes) -> Network:
        network = lowered(model, tmp_path)
        assert_sound(place(network, extflash()), network, extflash())
        assert_equal_everywhere(host_network(model), model, random_inputs(model, 1))
        return network

    return compare


def kinds(network: Network) -> list[str]:
    return [epoch.kind for epoch in network.epochs]


def test_parts_are_made_in_the_whole(run: Callable[[bytes], Network]) -> None:
    """The heads of a detector have different sizes; they are seen as rows and joined."""
    writer = ModelWriter()
    given = writer.input(8, 8, 4)
    small = writer.conv(given, 8, stride=2)
    heads = [writer.reshape(writer.conv(each, 12), 1, -1 + 1 + count, 4) for each, count in ((given, 192), (small, 48))]
    network = run(writer.model(writer.reshape(writer.concatenation(heads, 1), 1, 960)))
    assert kinds(network) == ["Conv2D"] * 3
    inside = {each.name: each.inside for each in network.buffers if each.inside}
    assert sorted(place.offset for place in inside.values() if place) == [0, 768]


def test_a_whole_that_is_read_again_keeps_its_parts(run: Callable[[bytes], Network]) -> None:
    writer = ModelWriter()
    given = writer.input(6, 5, 8)
    left, right = writer.conv(given, 8), writer.conv(given, 8, 3)
    whole = writer.concatenation([left, right], 1)
    again = writer.concatenation([whole, writer.add(left, right)], 1)
    network = run(writer.model(writer.conv(again, 4)))
    assert kinds(network) == ["Conv2D", "Conv2D", "Add", "Conv2D"]
    assert place(network, extflash()).bound < 2 * 18 * 5 * 8


def test_what_something_else_decides_about_is_copied(run: Callable[[bytes], Network]) -> None:
    """The network's input or output, a repeated tensor and channels are copied.

    The channels of one tensor are not adjacent in the whole.
    """
    for case in range(5):
        writer = ModelWriter()
        given = writer.input(4, 4, 8)
        made, other = writer.conv(given, 8), writer.conv(given, 8, 3)
        sources, axis = [
            ([given, made], 1),
            ([made, made], 1),
            ([made, other], 3),
            ([made, other], 1),
            ([other, given, made], 1),
        ][case]
        whole = writer.concatenation(sources, axis)
        outputs = [whole, made] if case == 3 else [writer.conv(whole, 4)]
        network = run(writer.model(*outputs))
        assert "Concatenation" in kinds(network), case


def test_the_whole_may_leave_the_network(run: Callable[[bytes], Network], host_network: Build) -> None:
    writer = ModelWriter()
    given = writer.input(4, 4, 8)
    model = writer.model(writer.concatenation([writer.conv(given, 8), writer.conv(given, 8, 3)], 1))
    assert kinds(run(model)) == ["Conv2D", "Conv2D"]
    source = (host_network(model).folder / "network.c").read_text()
    # Each part is cleaned from the cache when it is made.
    assert source.count("LL_ATON_Cache_MCU_Clean_Range(") == 2


@pytest.mark.parametrize("seed", range(8))
def test_random_networks_with_wholes_and_parts(run: Callable[[bytes], Network], seed: int) -> None:
    chance = random.Random(seed)
    writer = ModelWriter(seed)
    made = [writer.input(4, 3, 8)]
    for _ in range(12):
        chosen = chance.random()
        if chosen < 0.35:
            sources = chance.sample(made, min(len(made), chance.choice([2, 3])))
            alike = [each for each in sources if writer.shapes[each][2:] == writer.shapes[sources[0]][2:]]
            made.append(writer.concatenation(alike, 1) if len(alike) > 1 else writer.conv(alike[0], 8))
        elif chosen < 0.6:
            one = chance.choice(made)
            alike = [each for each in made if writer.shapes[each] == writer.shapes[one] and each != one]
            made.append(writer.add(one, chance.choice(alike)) if alike else writer.depthwise(one))
        else:
            made.append(writer.conv(chance.choice(made[-3:]), 8))
    run(writer.model(*dict.fromkeys([made[-1], made[-2], chance.choice(made[1:])])))

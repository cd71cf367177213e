"""Random damages of compiled networks, named with the right epoch or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from n6build.board.run.epoch_bounds import Bounds, graph_of, watched_roundings
from n6build.board.run.epoch_test import FedEpoch, Watched, fed
from n6build.compile.reference.graph import Graph
from n6build.describe.hardware.boards import load_board
from n6build.judge.compare.unrounded import unrounded
from n6build.judge.npu.blobs import Blob
from n6build.judge.npu.constants import contradictions
from n6build.judge.npu.disassemble import Label, Write, WriteSeries, instructions
from n6build.judge.npu.moved import span_of
from n6build.judge.npu.names import Names, names_of
from n6build.judge.npu.settings import EpochSettings, epochs_of_blob
from n6build.judge.npu.sums import Weights
from samples import samples_folder

from benchmarks.fed_replay import BOARD, USER_AT, Network, changed, load_network, run_forced
from benchmarks.measure import Head, Rows

KINDS = ("weight", "bias", "scale", "shift")
_DETECTION = "projects/STM32N6-GettingStarted-ObjectDetection/Model"
_YOLOX = f"{_DETECTION}/st_yolo_x_nano_480_1.0_0.25_3_st_int8.tflite"
# network.c and the model of each network of the samples with blobs, weights and a model that LiteRT runs.
NETWORKS = {
    "reid": (
        "npu/reid-mobilenetv2-core-3.0/reid.c",
        "npu/reid-mobilenetv2-core-3.0/mobilenetv2_a100_256_128_fft_int8.tflite",
    ),
    "pose": (
        "npu/pose-movenet-core-2.1/network.c",
        "npu/pose-movenet-core-2.1/st_movenet_lightning_heatmaps_192_int8_pc.tflite",
    ),
    "ssd": (
        "npu/fallguard-ssd-core-2.1/network.c",
        "npu/fallguard-ssd-core-2.1/fall_guard_st_ssd_mobilenet_v1_256v2.tflite",
    ),
    "yolox": (f"{_DETECTION}/STM32N6570-DK/network.c", _YOLOX),
    "yolox-2.2": ("npu/yolox-core-2.2/network.c", _YOLOX),
}
_TABLES, _SHIFT = 0x400, 8


@dataclass(frozen=True)
class Damage:
    """A damage of one epoch.

    Attributes:
        epoch: Number of the epoch.
        kind: Kind of the damaged constant.
        blob: First epoch of the damaged blob; 0 for a weight.
        place: Index of the damaged word in the blob, or address of the damaged byte.
        value: New word or byte.
    """

    epoch: int
    kind: str
    blob: int
    place: int
    value: int


def damages(count: int = 10, runs: int = 2, seed: int = 1, networks: str = ",".join(NETWORKS)) -> Rows:
    """Yield how many damages of each network are named with the right epoch.

    Damages of one run are in different epochs: each epoch gets the tensors of the reference, so that they
    do not affect each other.
    """
    yield Head(
        (
            "network",
            "buffers",
            "named without a damage",
            "damages",
            "named",
            "without effect",
            "missed",
            "other epochs named",
        )
    )
    folder = samples_folder()
    if folder is None:
        return
    for name in networks.split(","):
        network = load_network(*(folder / each for each in NETWORKS[name]))
        yield (name, *map(str, _measured(network, folder / NETWORKS[name][1], Random(seed), count, runs)))


def _measured(network: Network, model: Path, random: Random, count: int, runs: int) -> tuple[int | str, ...]:
    graph = graph_of(model)
    assert graph is not None
    bounds = Bounds({}, unrounded(graph, network.tensors))
    base = run_forced(network, {}, {})
    good = judged(network, base, bounds, {})
    alarms = sum(not each.good for each in good.values())
    # An epoch that is named without a damage cannot show one.
    epochs = {each.epoch for each in good.values()} - {each.epoch for each in good.values() if not each.good}
    places = sorted(damage_places(network, epochs), key=lambda each: (each.epoch, each.kind, each.place))
    named = silent = others = 0
    missed: list[str] = []
    total = 0
    for _ in range(runs):
        chosen = _chosen(places, random, count)
        total += len(chosen)
        words = _damaged_words(network, chosen)
        weights = {each.place: bytes([each.value]) for each in chosen if each.kind == "weight"}
        made = run_forced(network, words, weights)
        found = judged(network, made, bounds, words)
        wrong = {each.epoch for each in found.values() if not each.good and each.epoch in epochs}
        wrong |= _contradicted(network, words, weights, graph)
        changed = {found[name].epoch for name, data in made.items() if data != base[name]}
        for each in chosen:
            named += each.epoch in wrong
            silent += each.epoch not in changed
            if each.epoch in changed - wrong:
                missed.append(f"{each.kind} of {each.epoch} ({_changed(found, made, base, each.epoch)} elements)")
        others += len(wrong - {each.epoch for each in chosen})
    alarms += len(_contradicted(network, {}, {}, graph))
    return len(good), alarms, total, named, silent, ", ".join(missed) or "none", others


def _contradicted(
    network: Network, words: Mapping[int, Sequence[int]], weights: Mapping[int, bytes], graph: Graph
) -> set[int]:
    """Return the epochs with constants that do not follow from the model."""
    parts = {at: changed(at, data, weights) for at, data in network.regions.items() if at in network.files}
    names = names_of(load_board(BOARD).soc.npu)
    return {each.epoch for each in contradictions(_epochs(network, words, names), names, Weights(parts, {}), graph)}


def _epochs(network: Network, words: Mapping[int, Sequence[int]], names: Names) -> Iterator[EpochSettings]:
    for first, blob in sorted(network.blobs.items()):
        yield from epochs_of_blob(replace(blob, words=tuple(words.get(first, blob.words))), names)


def _changed(found: Mapping[str, FedEpoch], made: Mapping[str, bytes], base: Mapping[str, bytes], epoch: int) -> int:
    """Return how many bytes of an epoch's buffers a damage has changed."""
    names = [name for name, each in found.items() if each.epoch == epoch]
    return sum(a != b for name in names for a, b in zip(made[name], base[name], strict=True))


def judged(
    network: Network, made: Mapping[str, bytes], bounds: Bounds, words: Mapping[int, Sequence[int]]
) -> dict[str, FedEpoch]:
    """Return the verdict of each buffer that a blob makes, by its name."""
    # In a build, buffers of the application have no address.
    watched = {each.joined.buffer.name: _without_address(each) for each in network.watched}
    seen = [each for name, each in watched.items() if name in made]
    names = names_of(load_board(BOARD).soc.npu)
    bounds = replace(bounds, roundings=watched_roundings(_epochs(network, words, names), seen, names))
    return {name: fed(watched[name], data, [], None, {}, bounds.of(watched[name])) for name, data in made.items()}


def _without_address(each: Watched) -> Watched:
    buffer = each.joined.buffer
    if buffer.address is None or buffer.address < USER_AT:
        return each
    return replace(each, joined=replace(each.joined, buffer=replace(buffer, address=None)))


def damage_places(network: Network, epochs: set[int]) -> Iterator[Damage]:
    """Yield a damage for each constant of these epochs, with the present value."""
    names = names_of(load_board(BOARD).soc.npu)
    for first, blob in network.blobs.items():
        yield from (each for each in _in_blob(first, blob, names) if each.epoch in epochs)
        for epoch in epochs_of_blob(blob, names):
            if epoch.number not in epochs:
                continue
            for unit in epoch.units:
                if unit.kind == "STRENG" and unit.fields.get(("CTRL", "CONT")) and not unit.fields.get(("CTRL", "DIR")):
                    start, end = span_of(unit)
                    yield from (
                        Damage(epoch.number, "weight", 0, place, old)
                        for place in range(start, end)
                        if (old := _byte(network, place)) is not None
                    )


def _byte(network: Network, address: int) -> int | None:
    return next(
        (
            data[address - at]
            for at, data in network.regions.items()
            if at <= address < at + len(data) and at >= 0x7000_0000
        ),
        None,
    )


def _in_blob(first: int, blob: Blob, names: Names) -> Iterator[Damage]:
    label = 0
    for each in instructions(blob):
        match each:
            case Label():
                label = each.number
            case WriteSeries(unit=unit, offset=offset, step=4) if _is_arith(names, unit):
                for place, value in enumerate(each.values):
                    at = offset + 4 * place
                    if at >= _TABLES:
                        yield Damage(label, "scale" if at % 8 == 0 else "bias", first, each.at + 1 + place, value)
                    elif at == _SHIFT:
                        yield Damage(label, "shift", first, each.at + 1 + place, value)
            case Write(unit=unit, offset=8, immediate=False) if _is_arith(names, unit):
                yield Damage(label, "shift", first, each.at + 1, each.value)


def _is_arith(names: Names, unit: int) -> bool:
    return unit in names.units and names.units[unit].kind == "ARITH"


def _chosen(places: Sequence[Damage], random: Random, count: int) -> list[Damage]:
    """Return damages of different epochs, all kinds alike."""
    found: dict[int, Damage] = {}
    for number in range(50 * count):
        if len(found) == count:
            break
        kind = KINDS[number % len(KINDS)]
        of_kind = [each for each in places if each.kind == kind and each.epoch not in found]
        if of_kind:
            epoch = random.choice(sorted({each.epoch for each in of_kind}))
            chosen = random.choice([each for each in of_kind if each.epoch == epoch])
            found[epoch] = replace(chosen, value=_other(chosen, random))
    return list(found.values())


def _other(damage: Damage, random: Random) -> int:
    old = damage.value
    if damage.kind == "weight":
        return random.choice([value for value in range(256) if value != old])
    if damage.kind == "shift":
        # RES is in bits 15 to 20.
        shift = old >> 15 & 0x3F
        other = random.choice([each for each in range(max(0, shift - 3), shift + 4) if each != shift])
        return old & ~(0x3F << 15) | other << 15
    return old ^ 1 << random.randrange(16 if damage.kind == "scale" else 32)


def _damaged_words(network: Network, chosen: Sequence[Damage]) -> dict[int, list[int]]:
    words: dict[int, list[int]] = {}
    for each in chosen:
        if each.blob:
            words.setdefault(each.blob, list(network.blobs[each.blob].words))[each.place] = each.value
    return words

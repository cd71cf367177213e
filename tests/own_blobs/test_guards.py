"""Guards around buffers, which no epoch may write: places and checks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.board.run.guards import pattern, require_untouched
from n6build.compile.artifacts.description import IoBuffer
from n6build.compile.neural_art.compile_epochs import CompiledForNpu, compile_for_npu
from n6build.compile.neural_art.hardware_epoch import READ_AHEAD, HardwareEpoch, Limit, Value
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.neural_art.placement import BEFORE, BEHIND, addresses
from n6build.compile.neural_art.program import blob
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.liveness import ALIGNMENT
from n6build.judge.own_blobs.model_program import Run, replay
from n6build.judge.own_blobs.proof import memory_regions
from n6build.judge.own_blobs.reference_tensors import reference_tensors

from models.ladder import make_rungs
from own_blobs.compiled import NPU, compiled, program, request

LADDER = Path(make_rungs.__file__).parent
GUARD = make_rungs.GUARD
BLOB_AT = 0x1000_0000


def compiled_rung(name: str) -> CompiledForNpu:
    model = LADDER / name / f"{name}.tflite"
    graph = graph_of(model)
    calibration = model.with_name("calibration.npy")
    vectors = reference_tensors(model, graph, calibration if calibration.is_file() else model.with_name("inputs.npy"))
    return compile_for_npu(NPU, request(model, GUARD), graph, Calibration(vectors.values, 1.5), {})


@pytest.mark.parametrize("name", ["sum", "layers"])
def test_every_buffer_has_its_own_memory_between_two_guards(name: str) -> None:
    network = compiled_rung(name)
    places = network.placement.places
    for buffer in network.lowered.network.buffers:
        own, before, behind = (places[buffer.name + side] for side in ("", BEFORE, BEHIND))
        assert (before.bytes, before.end, before.address % ALIGNMENT) == (GUARD, own.offset, 0)
        # The last layer of rung layers has twelve outputs, and the NPU writes a frame of sixteen kernels.
        assert behind.offset - own.end == (4 if buffer.name == "FullyConnected_10_out_0" else 0)
        assert behind.bytes >= max(GUARD, READ_AHEAD)
        assert (behind.address + behind.bytes) % ALIGNMENT == 0
    buffers = {
        name + side for name in (each.name for each in network.lowered.network.buffers) for side in ("", BEFORE, BEHIND)
    }
    spans = sorted((places[name].address, places[name].address + places[name].bytes) for name in buffers)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_a_network_that_asks_for_none_has_none() -> None:
    assert not any(side in str(content) for content in compiled("keyword").files.values() for side in (BEFORE, BEHIND))


def guards_of(network: CompiledForNpu) -> tuple[IoBuffer, ...]:
    return tuple(
        IoBuffer(buffer.name + side, place.address, place.bytes, "int8", (1, place.bytes), 1.0, 0)
        for buffer in network.lowered.network.buffers
        for side in (BEFORE, BEHIND)
        for place in (network.placement.places[buffer.name + side],)
    )


def run(network: CompiledForNpu, epochs: Sequence[tuple[int, HardwareEpoch]], inference: int) -> bytes:
    """Return the bytes of all guards after a run in the model of the NPU."""
    guards = guards_of(network)
    filled, at = pattern(guards, inference), 0
    before = []
    for guard in guards:
        assert guard.address is not None
        before.append((guard.address, filled[at : at + guard.bytes]))
        at += guard.bytes
    words = blob(NPU, epochs, addresses(network.placement))
    data = b"".join(word.to_bytes(4, "little") for word in words)
    wanted = [(address, len(content)) for address, content in before]
    (ran,) = replay(
        program(), [*memory_regions(network), (BLOB_AT, data)], [Run(BLOB_AT, before=before, wanted=wanted)]
    )
    return b"".join(ran.wanted)


def a_line_further(epoch: HardwareEpoch, elements: int) -> HardwareEpoch:
    """Return the epoch with engines whose rows are a cache line too long."""

    def longer(value: Value) -> Value:
        if isinstance(value, Limit):
            return Limit(replace(value.end, offset=value.end.offset + ALIGNMENT))
        return elements + ALIGNMENT if value == elements else value

    return replace(
        epoch,
        units=tuple(
            replace(
                unit,
                settings=tuple(
                    replace(setting, values=tuple(map(longer, setting.values))) for setting in unit.settings
                ),
            )
            if unit.kind == "STRENG"
            else unit
            for unit in epoch.units
        ),
    )


def test_an_epoch_that_writes_one_line_too_far_damages_the_guard_behind_its_output() -> None:
    network = compiled_rung("sum")
    ((number, epoch),) = network.lowered.hardware.items()
    guards = guards_of(network)
    for inference in (0, 1):
        require_untouched(guards, inference, run(network, [(number, epoch)], inference), "sum")
    (output,) = network.lowered.network.outputs
    place = network.placement.places[output.buffer]
    with pytest.raises(N6Error, match="N6-LADDER-004") as caught:
        require_untouched(guards, 1, run(network, [(number, a_line_further(epoch, place.bytes))], 1), "sum")
    assert (
        f"behind buffer {output.buffer} was written: byte 0 at 0x{place.address + place.bytes:08X} is"
        in caught.value.what
    )
    assert "32 bytes of all guards have changed" in caught.value.what
    assert caught.value.where == "model sum, vector 1"


def test_a_byte_before_a_buffer_is_told_by_its_distance() -> None:
    guards = (IoBuffer("x_guard_before", 0x34200000, 64, "int8", (1, 64), 1.0, 0),)
    found = bytearray(pattern(guards, 0))
    found[62] ^= 1
    with pytest.raises(N6Error, match="the guard before buffer x was written: byte -2 at 0x3420003E"):
        require_untouched(guards, 0, bytes(found), "sum")


def test_no_value_looks_like_the_pattern_twice() -> None:
    guards = (IoBuffer("x_guard_behind", 0, 96, "int8", (1, 96), 1.0, 0),)
    first, second = pattern(guards, 0), pattern(guards, 1)
    assert all(a != b for a, b in zip(first, second, strict=True))
    assert len(set(first)) == 96

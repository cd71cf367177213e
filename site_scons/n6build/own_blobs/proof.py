"""Every blob, run in the model of the NPU beside the reference interpreter (LiteRT, or onnxruntime) before anything is flashed.

Forced: each epoch gets the interpreter's tensors, so that an epoch that computes something else is found where it does. Free:
blobs run on their own results, as on a board; only what the CPU makes between them is the interpreter's.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.network.neural_art.blocks import Block
from n6build.network.neural_art.compile import CompiledForNpu
from n6build.network.neural_art.hardware_epoch import READ_AHEAD
from n6build.network.reference.epochs import Buffer
from n6build.own_blobs.model_program import Exchange, Ran, Run, replay
from n6build.own_blobs.reference_tensors import ReferenceTensors

# Where no pool of any board lies: the blobs, as the model of the NPU sees them.
_BLOBS_AT = 0x1000_0000
# Of a tensor, when each epoch was given the interpreter's: at least so many are equal, and none is further away than this.
LEAST_EQUAL, FURTHEST = 0.99, 1


@dataclass(frozen=True)
class Agreement:
    """Of a tensor that the NPU makes, over all vectors. equal, within_1: shares of elements. furthest: largest difference."""

    epoch: int
    buffer: str
    elements: int
    equal: float
    within_1: float
    furthest: int


@dataclass(frozen=True)
class Proof:
    """vectors: how many. same_class: on how many the largest element of the last tensor is the same in a free run. last: name of
    that tensor's buffer. interpreter: whose tensors they were compared with."""

    vectors: int
    forced: tuple[Agreement, ...]
    free: tuple[Agreement, ...]
    last: str
    same_class: int
    interpreter: str


@dataclass(frozen=True)
class _Made:
    """A buffer with a whole tensor of the model. epoch: that completes it."""

    epoch: int
    buffer: Buffer
    address: int
    wanted: NDArray[np.uint8]  # vectors x bytes

    @property
    def offset(self) -> int:
        """From which the value of a byte is, as int8."""
        return 128 if _is_unsigned(self.buffer) else 0


def prove(program: Path, compiled: CompiledForNpu, reference: ReferenceTensors) -> Proof:
    """Raises N6-NPU-011 for a blob that the model refuses. Does not judge: `require_agreement` does."""
    made = _made_tensors(compiled, reference)
    forced = _agreements(made, _replayed(program, compiled, reference, made, forced=True))
    found = _replayed(program, compiled, reference, made, forced=False)
    last = made[-1].buffer.name
    ours, theirs = _compared(made, found, -1)
    same = int((ours.argmax(1) == theirs.argmax(1)).sum())
    return Proof(reference.count, forced, _agreements(made, found), last, same, reference.by)


def free_outputs(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """The last tensor that blobs make in a free run, and the interpreter's: vectors x elements. Raises N6-NPU-011."""
    *_, last = free_tensors(program, compiled, reference).values()
    return last


def free_tensors(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors
) -> dict[str, tuple[NDArray[np.int16], NDArray[np.int16]]]:
    """By buffer, in the order in which they are complete, the tensors that blobs make in a free run, and the interpreter's:
    vectors x elements, as int8 has them. Raises N6-NPU-011."""
    made = _made_tensors(compiled, reference)
    found = _replayed(program, compiled, reference, made, forced=False)
    return {each.buffer.name: _compared(made, found, place) for place, each in enumerate(made)}


def imprecise(proof: Proof, compiled: CompiledForNpu) -> dict[int, float]:
    """Operators whose output is never further away than it may be, but too often not equal, with the share that is."""
    hardware = compiled.lowered.hardware
    return {
        hardware[each.epoch].operators[-1]: each.equal
        for each in proof.forced
        if each.equal < LEAST_EQUAL and each.furthest <= FURTHEST and hardware[each.epoch].operators
    }


def require_agreement(proof: Proof, model: str) -> None:
    """Raises N6-NPU-012 where an epoch that is given the interpreter's tensors makes something else."""
    wrong = [each for each in proof.forced if each.equal < LEAST_EQUAL or each.furthest > FURTHEST]
    if not wrong:
        return
    lines = [
        f"epoch {each.epoch}, {each.buffer}: {100 * each.equal:.2f} % equal, {100 * each.within_1:.2f} % within 1, "
        f"furthest {each.furthest}"
        for each in wrong
    ]
    indent = "\n    "
    what = (
        f"{len(wrong)} of {len(proof.forced)} tensors differ from {proof.interpreter}'s on {proof.vectors} "
        f"vectors (asked: {100 * LEAST_EQUAL:.0f} % equal, all within {FURTHEST}):{indent}{indent.join(lines)}"
    )
    hint = "sums that saturate: calibrate with data like the test vectors, or enlarge network.neural_art.margin"
    raise N6Error("N6-NPU-012", what, where=model, hint=hint)


def blob_regions(blocks: Sequence[Block]) -> list[tuple[int, bytes]]:
    """Address and bytes of each blob, for the model."""
    found, at = [], _BLOBS_AT
    for block in blocks:
        data = struct.pack(f"<{len(block.words)}I", *block.words)
        found.append((at, data))
        at += len(data)
    return found


def memory_regions(compiled: CompiledForNpu) -> list[tuple[int, bytes]]:
    """Kernels with what may be read behind them, and each pool with activations."""
    placement = compiled.placement
    contents = {placement.initializer_pool.address: compiled.kernels + bytes(READ_AHEAD)}
    buffers = {buffer.name for buffer in compiled.lowered.network.buffers}
    for name, place in placement.places.items():
        if name in buffers:
            base, end = place.pool.address, place.end + 2 * READ_AHEAD
            before = contents.get(base, b"")
            contents[base] = before + bytes(max(0, end - len(before)))
    return sorted(contents.items())


def _made_tensors(compiled: CompiledForNpu, reference: ReferenceTensors) -> list[_Made]:
    """In the order in which they are complete."""
    lowered, placement = compiled.lowered, compiled.placement
    buffers = {buffer.name: buffer for buffer in lowered.network.buffers}
    complete: dict[str, int] = {}
    for index in sorted(lowered.hardware):
        for name in lowered.hardware[index].writes:
            complete[name] = index
    made = []
    for name, index in complete.items():
        tensor = lowered.tensors.get(name)
        if tensor is not None and tensor in reference.values:
            wanted = _bytes_of(buffers[name], reference.values[tensor])
            made.append(_Made(index, buffers[name], placement.places[name].address, wanted))
    return sorted(made, key=lambda each: each.epoch)


def _bytes_of(buffer: Buffer, values: NDArray[np.int8]) -> NDArray[np.uint8]:
    """vectors x bytes, as the buffer holds them."""
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    return raw + np.uint8(128) if _is_unsigned(buffer) else raw


def _is_unsigned(buffer: Buffer) -> bool:
    return buffer.tensor is not None and buffer.tensor.dtype == "uint8"


def _signed(data: bytes, made: _Made) -> NDArray[np.int16]:
    raw = np.frombuffer(data, np.uint8).astype(np.int16)
    return raw - 128 if made.offset else np.frombuffer(data, np.int8).astype(np.int16)


def _replayed(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors, made: Sequence[_Made], *, forced: bool
) -> list[list[bytes]]:
    """What the NPU has made of each tensor, vector by vector."""
    blobs = blob_regions(compiled.blocks)
    given = _given(compiled, reference, {each.buffer.name for each in made})
    runs = []
    for vector in range(reference.count):
        for block, (at, _) in zip(compiled.blocks, blobs, strict=True):
            exchanges = [
                Exchange(
                    each.epoch,
                    each.address,
                    each.buffer.bytes,
                    each.wanted[vector].tobytes() if forced else b"",
                )
                for each in made
                if block.blob.first <= each.epoch <= block.blob.last
            ]
            before = [
                (address, rows[vector].tobytes()) for name, (address, rows) in given.items() if name in block.blob.reads
            ]
            runs.append(Run(at, before, exchanges))
    ran = replay(program, [*memory_regions(compiled), *blobs], runs)
    return _by_vector(ran, len(compiled.blocks))


def _by_vector(ran: Sequence[Ran], blocks: int) -> list[list[bytes]]:
    return [
        [data for one in ran[first : first + blocks] for data in one.exchanged] for first in range(0, len(ran), blocks)
    ]


def _given(
    compiled: CompiledForNpu, reference: ReferenceTensors, made: set[str]
) -> Mapping[str, tuple[int, NDArray[np.uint8]]]:
    """What the application or the CPU puts into buffers that blobs read."""
    buffers = {buffer.name: buffer for buffer in compiled.lowered.network.buffers}
    read = {name for block in compiled.blocks for name in block.blob.reads}
    return {
        name: (
            compiled.placement.places[name].address,
            _bytes_of(buffers[name], reference.values[compiled.lowered.tensors[name]]),
        )
        for name in sorted(read - made)
        if name in compiled.lowered.tensors
    }


def _agreements(made: Sequence[_Made], found: Sequence[Sequence[bytes]]) -> tuple[Agreement, ...]:
    agreements = []
    for place, each in enumerate(made):
        ours, theirs = _compared(made, found, place)
        far = np.abs(ours - theirs)
        agreements.append(
            Agreement(
                each.epoch,
                each.buffer.name,
                far.size,
                float((far == 0).mean()),
                float((far <= 1).mean()),
                int(far.max()),
            )
        )
    return tuple(agreements)


def _compared(
    made: Sequence[_Made], found: Sequence[Sequence[bytes]], place: int
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Of the tensor in this place, what the NPU makes and what the interpreter does: vectors x elements."""
    ours = np.stack([_signed(run[place], made[place]) for run in found])
    theirs = np.stack([_signed(row.tobytes(), made[place]) for row in made[place].wanted])
    return ours, theirs

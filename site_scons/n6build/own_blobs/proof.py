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
from n6build.own_blobs.agreement import Agreement, MadeTensor, agreements_of, bytes_of, compared, made_tensors
from n6build.own_blobs.model_program import Exchange, Ran, Run, replay
from n6build.own_blobs.reference_tensors import ReferenceTensors

# Where no pool of any board lies: the blobs, as the model of the NPU sees them.
BLOBS_AT = 0x1000_0000
# Of a tensor, when each epoch was given the interpreter's: at least so many are equal, and none is further away than this.
LEAST_EQUAL, FURTHEST = 0.99, 1


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


def prove(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors, forced: Sequence[Agreement] | None = None
) -> Proof:
    """forced: as of `run_forced`, where that is known. Raises N6-NPU-011 for a blob that the model refuses. Does not judge:
    `require_agreement` does."""
    if forced is None:
        forced = run_forced(program, compiled, reference)
    made = made_tensors(compiled, reference)
    found = _replayed(program, compiled, reference, made, forced=False)
    last = made[-1].buffer.name
    ours, theirs = compared(made, found, -1)
    same = int((ours.argmax(1) == theirs.argmax(1)).sum())
    return Proof(reference.count, tuple(forced), agreements_of(made, found), last, same, reference.by)


def run_forced(program: Path, compiled: CompiledForNpu, reference: ReferenceTensors) -> tuple[Agreement, ...]:
    """Of each tensor that the NPU makes, where each epoch is given the interpreter's. Raises N6-NPU-011."""
    made = made_tensors(compiled, reference)
    return agreements_of(made, _replayed(program, compiled, reference, made, forced=True))


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
    made = made_tensors(compiled, reference)
    found = _replayed(program, compiled, reference, made, forced=False)
    return {each.buffer.name: compared(made, found, place) for place, each in enumerate(made)}


def imprecise(forced: Sequence[Agreement], compiled: CompiledForNpu) -> dict[int, float]:
    """Operators whose output is never further away than it may be, but too often not equal, with the share that is."""
    hardware = compiled.lowered.hardware
    return {
        hardware[each.epoch].operators[-1]: each.equal
        for each in forced
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
    found, at = [], BLOBS_AT
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


def _replayed(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors, made: Sequence[MadeTensor], *, forced: bool
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
            bytes_of(buffers[name], reference.values[compiled.lowered.tensors[name]]),
        )
        for name in sorted(read - made)
        if name in compiled.lowered.tensors
    }

"""Runs of blobs in the model of the NPU, compared with the reference interpreter.

Every blob runs before anything is flashed. The interpreter is LiteRT or onnxruntime. In a forced
run, each epoch gets the interpreter's tensors, so that a wrong epoch is found at once. In a free
run, blobs work on their own results, as on a board; only the results of the CPU between them are
the interpreter's.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.compile.neural_art.blocks import Block
from n6build.compile.neural_art.compile_epochs import CompiledForNpu
from n6build.compile.neural_art.hardware_epoch import READ_AHEAD
from n6build.judge.own_blobs.agreement import Agreement, MadeTensor, agreements_of, bytes_of, compared, made_tensors
from n6build.judge.own_blobs.model_program import Exchange, Ran, Run, replay
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors

# The model of the NPU has the blobs at this address, at which no board has a pool.
BLOBS_AT = 0x1000_0000
# Limits for a tensor of a forced run: the least share of equal elements, and the largest difference of any element.
LEAST_EQUAL, FURTHEST = 0.99, 1


@dataclass(frozen=True)
class Proof:
    """The results of the runs of all blobs.

    Attributes:
        vectors: number of vectors.
        forced: agreement of each tensor in the forced run.
        free: agreement of each tensor in the free run.
        last: name of the buffer of the last tensor.
        same_class: number of vectors for which the largest element of the last tensor is the same
            in a free run.
        interpreter: interpreter that the tensors were compared with.
    """

    vectors: int
    forced: tuple[Agreement, ...]
    free: tuple[Agreement, ...]
    last: str
    same_class: int
    interpreter: str


def prove(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors, forced: Sequence[Agreement] | None = None
) -> Proof:
    """Run all blobs, and compare them with the interpreter.

    `require_agreement` judges the result.

    Args:
        program: the model of the NPU.
        compiled: the compiled network.
        reference: tensors of the interpreter.
        forced: result of `run_forced`, if known.

    Raises:
        N6Error: N6-NPU-011 for a blob that the model refuses.
    """
    if forced is None:
        forced = run_forced(program, compiled, reference)
    made = made_tensors(compiled, reference)
    found = _replayed(program, compiled, reference, made, forced=False)
    last = made[-1].buffer.name
    ours, theirs = compared(made, found, -1)
    same = int((ours.argmax(1) == theirs.argmax(1)).sum())
    return Proof(reference.count, tuple(forced), agreements_of(made, found), last, same, reference.by)


def run_forced(program: Path, compiled: CompiledForNpu, reference: ReferenceTensors) -> tuple[Agreement, ...]:
    """Return the agreement of each tensor of the NPU in a forced run.

    Raises:
        N6Error: N6-NPU-011 for a blob that the model refuses.
    """
    made = made_tensors(compiled, reference)
    return agreements_of(made, _replayed(program, compiled, reference, made, forced=True))


def free_outputs(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the last tensor of a free run, and the interpreter's: vectors x elements.

    Raises:
        N6Error: N6-NPU-011 for a blob that the model refuses.
    """
    *_, last = free_tensors(program, compiled, reference).values()
    return last


def free_tensors(
    program: Path, compiled: CompiledForNpu, reference: ReferenceTensors
) -> dict[str, tuple[NDArray[np.int16], NDArray[np.int16]]]:
    """Return the tensors of a free run and those of the interpreter, by buffer.

    The buffers are in the order in which they are complete. The arrays are vectors x elements, with
    the values of int8.

    Raises:
        N6Error: N6-NPU-011 for a blob that the model refuses.
    """
    made = made_tensors(compiled, reference)
    found = _replayed(program, compiled, reference, made, forced=False)
    return {each.buffer.name: compared(made, found, place) for place, each in enumerate(made)}


def imprecise(forced: Sequence[Agreement], compiled: CompiledForNpu) -> dict[int, Agreement]:
    """Return the agreement of each operator that is too imprecise, by its index.

    Operators with a larger difference than their roundings explain are not among them.
    """
    lost: dict[int, float] = {}
    for epoch in compiled.lowered.hardware.values():
        for operator in epoch.operators:
            lost[operator] = max(lost.get(operator, 0.0), epoch.lost)
    found = {}
    for each in filter(_is_outside, forced):
        for operator in compiled.lowered.hardware[each.epoch].operators[-1:]:
            if each.furthest <= FURTHEST + math.ceil(lost[operator]):
                found[operator] = each
    return found


def _is_outside(agreement: Agreement) -> bool:
    return agreement.equal < LEAST_EQUAL or agreement.furthest > FURTHEST


def require_agreement(proof: Proof, model: str) -> None:
    """Check that epochs make the interpreter's tensors in the forced run.

    Raises:
        N6Error: N6-NPU-012 with every tensor that differs too much.
    """
    wrong = [*filter(_is_outside, proof.forced)]
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
    hint = "calibrate with data like the test vectors, or enlarge network.neural_art.margin: sums may saturate"
    raise N6Error("N6-NPU-012", what, where=model, hint=hint)


def blob_regions(blocks: Sequence[Block]) -> list[tuple[int, bytes]]:
    """Return address and bytes of each blob, for the model."""
    found, at = [], BLOBS_AT
    for block in blocks:
        data = struct.pack(f"<{len(block.words)}I", *block.words)
        found.append((at, data))
        at += len(data)
    return found


def memory_regions(compiled: CompiledForNpu) -> list[tuple[int, bytes]]:
    """Return address and bytes of the kernels and of each pool with activations.

    The regions include the bytes behind them that the NPU may read.
    """
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
    """Return the NPU's bytes of each tensor, vector by vector."""
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
    """Return address and bytes of blobs' inputs that the application or the CPU fills."""
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

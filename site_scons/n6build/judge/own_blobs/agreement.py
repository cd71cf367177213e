"""Tensors of the NPU, compared with those of the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from n6build.compile.neural_art.compile_epochs import CompiledForNpu
from n6build.compile.reference.epochs import Buffer
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors


@dataclass(frozen=True)
class Agreement:
    """The agreement of a tensor of the NPU with the interpreter's, over all vectors.

    Attributes:
        equal: share of elements that are equal.
        within_1: share of elements with a difference of at most 1.
        furthest: largest difference.
    """

    epoch: int
    buffer: str
    elements: int
    equal: float
    within_1: float
    furthest: int


@dataclass(frozen=True)
class MadeTensor:
    """A buffer with a whole tensor of the model.

    Attributes:
        epoch: epoch that completes the tensor.
    """

    epoch: int
    buffer: Buffer
    address: int
    wanted: NDArray[np.uint8]  # vectors x bytes

    @property
    def offset(self) -> int:
        """The number to subtract from a byte for its value as int8."""
        return 128 if _is_unsigned(self.buffer) else 0


def made_tensors(compiled: CompiledForNpu, reference: ReferenceTensors) -> list[MadeTensor]:
    """Return the tensors of the NPU, in the order in which they are complete."""
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
            wanted = bytes_of(buffers[name], reference.values[tensor])
            made.append(MadeTensor(index, buffers[name], placement.places[name].address, wanted))
    return sorted(made, key=lambda each: each.epoch)


def bytes_of(buffer: Buffer, values: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return values as the buffer holds them: vectors x bytes."""
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    return raw + np.uint8(128) if _is_unsigned(buffer) else raw


def _is_unsigned(buffer: Buffer) -> bool:
    return buffer.tensor is not None and buffer.tensor.dtype == "uint8"


def _signed(data: bytes, made: MadeTensor) -> NDArray[np.int16]:
    raw = np.frombuffer(data, np.uint8).astype(np.int16)
    return raw - 128 if made.offset else np.frombuffer(data, np.int8).astype(np.int16)


def agreements_of(made: Sequence[MadeTensor], found: Sequence[Sequence[bytes]]) -> tuple[Agreement, ...]:
    """Return the agreement of each tensor.

    Args:
        made: tensors of the NPU.
        found: bytes of each of these tensors, for each vector.
    """
    agreements = []
    for place, each in enumerate(made):
        ours, theirs = compared(made, found, place)
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


def compared(
    made: Sequence[MadeTensor], found: Sequence[Sequence[bytes]], place: int
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return a tensor of the NPU and that of the interpreter: vectors x elements.

    Args:
        made: tensors of the NPU.
        found: bytes of each of these tensors, for each vector.
        place: index of the tensor in `made`.
    """
    ours = np.stack([_signed(run[place], made[place]) for run in found])
    theirs = np.stack([_signed(row.tobytes(), made[place]) for row in made[place].wanted])
    return ours, theirs

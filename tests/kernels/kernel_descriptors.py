"""The kernels' descriptors in the layout of a machine, and cases that use them."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from n6build.compile.reference.descriptors import SHAPE, Member, Pointer, Structure
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.kinds import TFLITE_KINDS, all_kernels
from n6build.compile.reference.windows import WINDOW
from numpy.typing import NDArray

_SCALARS = {
    "int8_t": ctypes.c_int8,
    "uint8_t": ctypes.c_uint8,
    "int16_t": ctypes.c_int16,
    "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "float": ctypes.c_float,
}


@cache
def layout_of(structure: Structure, pointer: type) -> type[ctypes.Structure]:
    """Return a structure's layout.

    Args:
        pointer: The type of an address on the machine.
    """

    def kind(member: Member) -> type:
        match member.type:
            case Pointer():
                return pointer
            case Structure():
                return inner_layout(member.type)
        return _SCALARS[member.type]

    fields = [(member.name, kind(member)) for member in structure.members]
    return type(structure.name, (ctypes.Structure,), {"_fields_": fields})


def inner_layout(structure: Structure) -> type[ctypes.Structure]:
    """Return the layout of a structure without pointers, equal on all machines."""
    return layout_of(structure, ctypes.c_uint32)


def structure_of(structure: Structure, fields: Fields) -> ctypes.Structure:
    """Return a member without pointers, with its values."""
    inner = {member.name: member.type for member in structure.members}
    values: dict[str, object] = {}
    for name, value in fields.members:
        kind = inner[name]
        values[name] = structure_of(kind, value) if isinstance(kind, Structure) and isinstance(value, Fields) else value
    return inner_layout(structure)(**values)


Shape, Window = map(inner_layout, (SHAPE, WINDOW))
DESCRIPTORS = {kernel.name: kernel.descriptor for kernel in all_kernels()}
# Kernels of .tflite models have random cases, which are compared with LiteRT. test_onnx_kernels.py has those
# that only ONNX models use.
# Those of float32 round exponentials differently: test_detection_kernel.py has them.
KERNELS = list(
    dict.fromkeys(
        kernel.name for kind in TFLITE_KINDS.values() for kernel in kind.kernels if not kernel.name.startswith("float_")
    )
)


@dataclass(frozen=True)
class Case:
    """One call of a kernel.

    Attributes:
        buffers: The buffers that its pointers read.
        output: Shape and type of its output.
        scratch: Bytes that it may overwrite.
        state: Buffers that it changes.
        model: The same operator as a .tflite model.
        inputs: The model's inputs, which are the activations among the buffers.
        work: Multiply-accumulates (or elements) of the call.
        in_place: The buffer whose memory the output takes; empty if the output has its own.
    """

    name: str
    kernel: str
    values: Mapping[str, object]
    buffers: Mapping[str, NDArray[np.generic]]
    output: tuple[tuple[int, ...], type[np.generic]]
    scratch: int = 0
    state: tuple[str, ...] = ()
    model: bytes = b""
    inputs: Sequence[NDArray[np.generic]] = field(default=())
    work: int = 0
    in_place: str = ""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Image:
    """A case laid out in memory, with guards between neighbouring buffers."""

    descriptor: bytes
    memory: bytes
    output_offset: int
    output_bytes: int
    scratch_offset: int
    states: tuple[tuple[int, int], ...] = ()  # Offset and bytes of each.

    def output_of(self, memory: bytes) -> bytes:
        return memory[self.output_offset : self.output_offset + self.output_bytes]

    def state_of(self, memory: bytes) -> bytes:
        return b"".join(memory[offset : offset + size] for offset, size in self.states)

    def untouched(self, memory: bytes, scratch: int) -> bool:
        """Return whether `memory` only differs in output, state and scratch."""
        masked = []
        for image in (self.memory, memory):
            copy = bytearray(image)
            own = ((self.output_offset, self.output_bytes), (self.scratch_offset, scratch))
            for offset, size in (*own, *self.states):
                copy[offset : offset + size] = bytes(size)
            masked.append(bytes(copy))
        return masked[0] == masked[1]


_GUARD = b"\x5a\xa5\x80\x7f" * 8


def lay_out(case: Case, base: int, pointer: type, last: str = "output", size: int | None = None) -> Image:
    """Lay out a case and its descriptor at a 16-byte aligned address `base`.

    Buffers are as little aligned as their elements allow, scratch by 16 bytes. The buffer named
    `last` comes last and, if a `size` of the memory is given, ends with it.

    Args:
        pointer: The type of the descriptor's pointers.
    """
    shape, dtype = case.output
    output_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    contents = {name: np.ascontiguousarray(array).tobytes() for name, array in case.buffers.items()}
    alignments = {name: array.dtype.itemsize for name, array in case.buffers.items()}
    contents["scratch"], alignments["scratch"] = b"\x3c" * case.scratch, 16
    if case.in_place:
        assert len(contents[case.in_place]) == output_bytes
        last = case.in_place if last == "output" else last
    else:
        contents["output"], alignments["output"] = b"\xc3" * output_bytes, np.dtype(dtype).itemsize
    order = [name for name in contents if name != last] + [last]

    memory = bytearray(_GUARD)
    offsets: dict[str, int] = {}
    for name in order:
        memory.extend(_GUARD[: -len(memory) % 16 + alignments[name] % 16])
        if name == last and size is not None:
            start = size - len(contents[name])
            memory.extend(_GUARD * ((start - len(memory)) // len(_GUARD) + 1))
            del memory[start:]
        offsets[name] = len(memory)
        memory.extend(contents[name])
        if name != last or size is None:
            memory.extend(_GUARD)

    offsets.setdefault("output", offsets.get(case.in_place, 0))
    descriptor = DESCRIPTORS[case.kernel]
    values = dict(case.values)
    for member in descriptor.members:
        if isinstance(member.type, Pointer):
            values[member.name] = base + offsets[member.name]
    layout = layout_of(descriptor, pointer)(**values)
    states = tuple((offsets[name], len(contents[name])) for name in case.state)
    return Image(bytes(layout), bytes(memory), offsets["output"], output_bytes, offsets["scratch"], states)

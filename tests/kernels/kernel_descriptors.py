"""The operators' descriptors of n6_kernels.h in the layout of a machine, and the cases that run on them."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_POINTER = "pointer"
_I8, _U8, _U16, _I32, _U32, _F32 = (
    ctypes.c_int8,
    ctypes.c_uint8,
    ctypes.c_uint16,
    ctypes.c_int32,
    ctypes.c_uint32,
    ctypes.c_float,
)


class Shape(ctypes.Structure):
    _fields_ = (("height", _U16), ("width", _U16), ("channels", _U16))


class Window(ctypes.Structure):
    _fields_ = (
        ("height", _U16),
        ("width", _U16),
        ("stride_h", _U16),
        ("stride_w", _U16),
        ("dilation_h", _U16),
        ("dilation_w", _U16),
        ("pad_top", _U16),
        ("pad_left", _U16),
    )


class Output(ctypes.Structure):
    _fields_ = (("zero_point", _I8), ("clamp_min", _I8), ("clamp_max", _I8))


def _pointers(*names: str) -> list[tuple[str, object]]:
    return [(name, _POINTER) for name in names]


_REQUANTISED = _pointers("input", "output", "weights", "bias", "multiplier", "shift")
_POOL = [*_pointers("input", "output"), ("in_", Shape), ("out", Shape), ("window", Window), ("range", Output)]

# In the order of the runner's table of kernels.
LAYOUTS: Mapping[str, Sequence[tuple[str, object]]] = {
    "conv_2d": [
        *_REQUANTISED,
        ("scratch", _POINTER),
        ("in_", Shape),
        ("out", Shape),
        ("window", Window),
        ("input_zero_point", _I8),
        ("range", Output),
    ],
    "depthwise_conv_2d": [
        *_REQUANTISED,
        ("in_", Shape),
        ("out", Shape),
        ("window", Window),
        ("depth_multiplier", _U16),
        ("input_zero_point", _I8),
        ("range", Output),
    ],
    "fully_connected": [
        *_pointers("input", "output", "weights", "bias", "scale"),
        ("batches", _U32),
        ("inputs", _U32),
        ("outputs", _U32),
        ("range", Output),
    ],
    "add": [
        *_pointers("a", "b", "output"),
        ("elements", _U32),
        ("elements_b", _U32),
        ("left_shift", _I32),
        ("a_multiplier", _I32),
        ("a_shift", _I32),
        ("b_multiplier", _I32),
        ("b_shift", _I32),
        ("out_multiplier", _I32),
        ("out_shift", _I32),
        ("a_zero_point", _I8),
        ("b_zero_point", _I8),
        ("range", Output),
    ],
    "pad": [
        *_pointers("input", "output"),
        ("in_", Shape),
        ("out", Shape),
        ("pad_top", _U16),
        ("pad_left", _U16),
        ("pad_front", _U16),
        ("value", _I8),
    ],
    "max_pool_2d": _POOL,
    "average_pool_2d": _POOL,
    "mean": [
        *_pointers("input", "output"),
        ("pixels", _U32),
        ("channels", _U32),
        ("bias", _I32),
        ("multiplier", _I32),
        ("shift", _I32),
        ("range", Output),
    ],
    "softmax": [
        *_pointers("input", "output"),
        ("rows", _U32),
        ("depth", _U32),
        ("multiplier", _I32),
        ("left_shift", _I32),
        ("diff_min", _I32),
    ],
    "requantize": [
        *_pointers("input", "output"),
        ("elements", _U32),
        ("multiplier", _I32),
        ("shift", _I32),
        ("in_zero_point", _I32),
        ("out_zero_point", _I32),
        ("in_is_unsigned", _U8),
        ("out_is_unsigned", _U8),
    ],
    "quantize": [
        *_pointers("input", "output"),
        ("elements", _U32),
        ("scale", _F32),
        ("zero_point", _I32),
        ("out_is_unsigned", _U8),
    ],
    "dequantize": [
        *_pointers("input", "output"),
        ("elements", _U32),
        ("scale", _F32),
        ("zero_point", _I32),
        ("in_is_unsigned", _U8),
    ],
    "copy": [*_pointers("input", "output"), ("bytes", _U32)],
}
KERNELS = list(LAYOUTS)


def _structure(kernel: str, pointer: type) -> type[ctypes.Structure]:
    fields = [(name, pointer if kind is _POINTER else kind) for name, kind in LAYOUTS[kernel]]
    return type(f"{kernel}_t", (ctypes.Structure,), {"_fields_": fields})


_STRUCTURES = {
    (kernel, pointer): _structure(kernel, pointer)
    for kernel in LAYOUTS
    for pointer in (ctypes.c_uint64, ctypes.c_uint32)
}


@dataclass(frozen=True)
class Case:
    """One call of a kernel.

    `buffers`: what its pointers read. `output`: what it writes, by shape and type. `scratch`: bytes that it may spoil.
    `model` and `inputs`: the same operator as a .tflite model, and the activations among the buffers.
    `work`: multiply-accumulates (or elements) that the call does.
    """

    name: str
    kernel: str
    values: Mapping[str, object]
    buffers: Mapping[str, NDArray[np.generic]]
    output: tuple[tuple[int, ...], type[np.generic]]
    scratch: int = 0
    model: bytes = b""
    inputs: Sequence[NDArray[np.generic]] = field(default=())
    work: int = 0

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Image:
    """A case laid out in memory: between neighbouring buffers lies a guard."""

    descriptor: bytes
    memory: bytes
    output_offset: int
    output_bytes: int
    scratch_offset: int

    def output_of(self, memory: bytes) -> bytes:
        return memory[self.output_offset : self.output_offset + self.output_bytes]

    def untouched(self, memory: bytes, scratch: int) -> bool:
        """Whether nothing but output and scratch differs between the laid out memory and `memory`."""
        masked = []
        for image in (self.memory, memory):
            copy = bytearray(image)
            for offset, size in ((self.output_offset, self.output_bytes), (self.scratch_offset, scratch)):
                copy[offset : offset + size] = bytes(size)
            masked.append(bytes(copy))
        return masked[0] == masked[1]


_GUARD = b"\x5a\xa5\x80\x7f" * 8


def lay_out(case: Case, base: int, pointer: type, last: str = "output", size: int | None = None) -> Image:
    """Memory for a case at a 16-byte aligned address `base`, and its descriptor with pointers of that type.

    Buffers are as little aligned as their elements allow, scratch by 16 bytes. The buffer named `last` comes last and, if a
    `size` of the memory is given, ends with it.
    """
    shape, dtype = case.output
    output_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    contents = {name: np.ascontiguousarray(array).tobytes() for name, array in case.buffers.items()}
    alignments = {name: array.dtype.itemsize for name, array in case.buffers.items()}
    contents |= {"output": b"\xc3" * output_bytes, "scratch": b"\x3c" * case.scratch}
    alignments |= {"output": np.dtype(dtype).itemsize, "scratch": 16}
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

    structure = _STRUCTURES[case.kernel, pointer]
    values = dict(case.values)
    for name, kind in LAYOUTS[case.kernel]:
        if kind is _POINTER:
            values[name] = base + offsets[name]
    return Image(bytes(structure(**values)), bytes(memory), offsets["output"], output_bytes, offsets["scratch"])

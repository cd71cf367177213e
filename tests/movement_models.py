"""Models of one operator that moves elements.

Sizes of outputs are those that the reference interpreter finds.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import reference_interpreter
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray
from one_op_models import TYPES, Quantisation, Tensor, Type, write_model

SCALED = Quantisation(0.05, 3)
# The interpreter supports no second version of these. The second version of the others takes more types.
_FIRST_VERSION = (
    *("DepthToSpace", "ExpandDims", "LogicalAnd", "LogicalNot", "LogicalOr", "MirrorPad", "ReverseV2", "Shape"),
    "Squeeze",
)


def quantisation_of(dtype: Type) -> Quantisation | None:
    return {np.int8: SCALED, np.uint8: Quantisation(0.05, 100), np.int16: Quantisation(0.001, 0)}.get(dtype)


def activation(shape: Sequence[int], dtype: Type = np.int8, name: str = "input") -> Tensor:
    return Tensor(name, tuple(shape), dtype, quantisation_of(dtype))


def numbers(values: Any, name: str = "numbers", dtype: Type = np.int32) -> Tensor:
    """Return a constant."""
    data: NDArray[np.generic] = np.array(values, dtype)
    return Tensor(name, data.shape, dtype, None, data)


def constant(shape: Sequence[int], seed: int = 1) -> Tensor:
    """Return a constant of int8 elements, with the scale of an activation."""
    data = np.random.default_rng(seed).integers(-128, 128, shape, dtype=np.int8)
    return Tensor(f"constant{seed}", tuple(shape), np.int8, SCALED, data)


def operator(
    name: str,
    inputs: Sequence[Tensor],
    outputs: int = 1,
    dtype: Type = np.int8,
    shape: Sequence[int] = (1,),
    scaled: Quantisation | None = None,
    **options: Any,
) -> bytes:
    """Return a model of one operator.

    Args:
        name: Name in the schema's BuiltinOptions, without `Options`.
        options: Members of its options, by their names.
        shape: Shape of the output, if the interpreter does not find it.
        scaled: Quantisation of the output; None for the usual one of its type.
    """

    def written(shapes: Sequence[Sequence[int]]) -> bytes:
        made = [
            Tensor(f"output{part}", tuple(shape), dtype, scaled or quantisation_of(dtype))
            for part, shape in enumerate(shapes)
        ]
        return write_model(
            _opcode(name),
            [*inputs, *made],
            name,
            1 if name in _FIRST_VERSION else 2,
            model_input=next((i for i, tensor in enumerate(inputs) if tensor.data is None), 0),
            outputs=outputs,
            **options,
        )

    draft = reference_interpreter.load(written([shape] * outputs))
    return written([detail["shape"].tolist() for detail in draft.get_output_details()])


def _opcode(name: str) -> str:
    return "".join(
        f"_{letter}" if letter.isupper() and position and not name[position - 1].isupper() else letter
        for position, letter in enumerate(name)
    ).upper()


def transpose(shape: Sequence[int], order: Sequence[int], dtype: Type = np.int8) -> bytes:
    return operator("Transpose", [activation(shape, dtype), numbers(order)], dtype=dtype)


def strided_slice(
    shape: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None = None,
    dtype: Type = np.int8,
    **masks: Any,
) -> bytes:
    """Return a model of a strided slice.

    Args:
        masks: Values of beginMask, endMask, ellipsisMask, newAxisMask and shrinkAxisMask.
    """
    steps = [1] * len(begin) if strides is None else strides
    ends = [numbers(values, name) for name, values in (("begin", begin), ("end", end), ("strides", steps))]
    return operator("StridedSlice", [activation(shape, dtype), *ends], dtype=dtype, **masks)


def slice_of(shape: Sequence[int], begin: Sequence[int], size: Sequence[int], dtype: Type = np.int8) -> bytes:
    made = [whole - start if part == -1 else part for whole, start, part in zip(shape, begin, size, strict=True)]
    return operator("Slice", [activation(shape, dtype), numbers(begin), numbers(size)], dtype=dtype, shape=made)


def split(shape: Sequence[int], axis: int, parts: int, dtype: Type = np.int8) -> bytes:
    return operator("Split", [numbers(axis), activation(shape, dtype)], parts, dtype=dtype, numSplits=parts)


def split_v(shape: Sequence[int], axis: int, sizes: Sequence[int], dtype: Type = np.int8) -> bytes:
    return operator(
        "SplitV",
        [activation(shape, dtype), numbers(sizes), numbers(axis)],
        len(sizes),
        dtype=dtype,
        numSplits=len(sizes),
    )


def unpack(shape: Sequence[int], axis: int, dtype: Type = np.int8) -> bytes:
    count = shape[axis]
    return operator("Unpack", [activation(shape, dtype)], count, dtype=dtype, axis=axis, num=count)


def concatenation(axis: int, inputs: Sequence[Sequence[int] | Tensor], dtype: Type = np.int8) -> bytes:
    """Return a model of a concatenation.

    Args:
        inputs: Shapes of activations, or constants.
    """
    return operator("Concatenation", _named(inputs, dtype), dtype=dtype, axis=axis)


def pack(axis: int, inputs: Sequence[Sequence[int] | Tensor], dtype: Type = np.int8) -> bytes:
    return operator("Pack", _named(inputs, dtype), dtype=dtype, axis=axis, valuesCount=len(inputs))


def _named(inputs: Sequence[Sequence[int] | Tensor], dtype: Type) -> list[Tensor]:
    return [
        given if isinstance(given, Tensor) else activation(given, dtype, f"input{position}")
        for position, given in enumerate(inputs)
    ]


def expand_dims(shape: Sequence[int], axis: int, dtype: Type = np.int8) -> bytes:
    return operator("ExpandDims", [activation(shape, dtype), numbers(axis)], dtype=dtype)


def squeeze(shape: Sequence[int], axes: Sequence[int], dtype: Type = np.int8) -> bytes:
    return operator("Squeeze", [activation(shape, dtype)], dtype=dtype, squeezeDims=list(axes))


def space_to_depth(shape: Sequence[int], block: int, dtype: Type = np.int8) -> bytes:
    return operator("SpaceToDepth", [activation(shape, dtype)], dtype=dtype, blockSize=block)


def depth_to_space(shape: Sequence[int], block: int, dtype: Type = np.int8) -> bytes:
    return operator("DepthToSpace", [activation(shape, dtype)], dtype=dtype, blockSize=block)


def gather(shape: Sequence[int], axis: int, indices: Any, dtype: Type = np.int8) -> bytes:
    return operator("Gather", [activation(shape, dtype), numbers(indices)], dtype=dtype, axis=axis)


def tile(shape: Sequence[int], times: Sequence[int], dtype: Type = np.int8) -> bytes:
    return operator("Tile", [activation(shape, dtype), numbers(times)], dtype=dtype)


def broadcast_to(shape: Sequence[int], made: Sequence[int], dtype: Type = np.int8) -> bytes:
    return operator("BroadcastTo", [activation(shape, dtype), numbers(made)], dtype=dtype)


def reverse(shape: Sequence[int], axes: Sequence[int], dtype: Type = np.int8) -> bytes:
    return operator("ReverseV2", [activation(shape, dtype), numbers(axes)], dtype=dtype)


def pad(shape: Sequence[int], paddings: Sequence[tuple[int, int]], dtype: Type = np.int8) -> bytes:
    return operator("Pad", [activation(shape, dtype), numbers(paddings)], dtype=dtype)


def mirror_pad(shape: Sequence[int], paddings: Sequence[tuple[int, int]], symmetric: bool) -> bytes:
    mode = schema.MirrorPadMode.SYMMETRIC if symmetric else schema.MirrorPadMode.REFLECT
    return operator("MirrorPad", [activation(shape), numbers(paddings)], mode=mode)


def space_to_batch(shape: Sequence[int], blocks: Sequence[int], paddings: Sequence[tuple[int, int]]) -> bytes:
    return operator("SpaceToBatchND", [activation(shape), numbers(blocks), numbers(paddings)])


def batch_to_space(
    shape: Sequence[int], blocks: Sequence[int], crops: Sequence[tuple[int, int]], scaled: Quantisation = SCALED
) -> bytes:
    given = replace(activation(shape), quantisation=scaled)
    return operator("BatchToSpaceND", [given, numbers(blocks), numbers(crops)], scaled=scaled)


def cast(shape: Sequence[int], given: Type, made: Type) -> bytes:
    return operator("Cast", [activation(shape, given)], dtype=made, inDataType=TYPES[given], outDataType=TYPES[made])


def resize(
    name: str,
    given: tuple[int, int],
    made: tuple[int, int],
    channels: int,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    dtype: Type = np.int8,
) -> bytes:
    """Return a model of a resize.

    Args:
        name: ResizeBilinear or ResizeNearestNeighbor.
        given: Height and width of the input.
        made: Height and width of the output.
    """
    return operator(
        name,
        [activation((1, *given, channels), dtype), numbers(made)],
        dtype=dtype,
        alignCorners=align_corners,
        halfPixelCenters=half_pixel_centers,
    )


def random_values(tensor_shape: Sequence[int], dtype: np.dtype[Any], seed: int) -> NDArray[np.generic]:
    """Return random values of the type's whole range."""
    rng = np.random.default_rng(seed)
    if dtype == np.bool_:
        return rng.integers(0, 2, tensor_shape).astype(np.bool_)
    if dtype == np.float32:
        return rng.normal(0, 3, tensor_shape).astype(np.float32)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, tensor_shape, dtype=dtype, endpoint=True)


def random_inputs(model: bytes, seed: int) -> list[NDArray[np.generic]]:
    details = reference_interpreter.load(model).get_input_details()
    return [random_values(detail["shape"], np.dtype(detail["dtype"]), seed + 7 * i) for i, detail in enumerate(details)]

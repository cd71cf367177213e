"""Constants of a model as counts of their values, known also in another order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.files import read_at_most
from n6build.compile.model_facts import BROKEN, MAX_BYTES, MAX_ITEMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Few values would be alike by chance.
SMALLEST = 64
_BYTE_VALUES = 256


def counts_of(values: NDArray) -> bytes:  # type: ignore[type-arg]
    """Return how often each byte value but 0 is among these bytes.

    A compiler changes the order of weights, and adds zeros.
    """
    import numpy as np  # noqa: PLC0415 - planning compares no weights.

    counts = np.bincount(values.view(np.uint8).ravel(), minlength=_BYTE_VALUES).astype("<i8")
    counts[0] = 0
    return counts.tobytes()


def int8_constants(path: Path) -> set[bytes]:
    """Return the counts of each int8 constant of a model that is not too small.

    The result is empty for a model that cannot be read: whoever needs its operators reports that.

    Args:
        path: File of the model, .tflite or .onnx.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003.
    """
    data = read_at_most(path, MAX_BYTES)
    constants = (_of_onnx if path.suffix == ".onnx" else _of_tflite)(data)
    try:
        return {counts_of(values) for values in constants if values.size >= SMALLEST}
    except BROKEN:
        return set()


def _of_tflite(data: bytes) -> Iterator[NDArray]:  # type: ignore[type-arg]
    import numpy as np  # noqa: PLC0415
    import tflite  # noqa: PLC0415

    model = tflite.Model.GetRootAs(data, 0)
    graph = model.Subgraphs(0)
    for index in range(min(graph.TensorsLength(), MAX_ITEMS)):
        tensor = graph.Tensors(index)
        buffer = model.Buffers(tensor.Buffer())
        if tensor.Type() == tflite.TensorType.INT8 and buffer.DataLength():
            yield buffer.DataAsNumpy().view(np.int8)


def _of_onnx(data: bytes) -> Iterator[NDArray]:  # type: ignore[type-arg]
    import google.protobuf.message  # noqa: PLC0415
    import onnx  # noqa: PLC0415
    import onnx.numpy_helper  # noqa: PLC0415

    try:
        graph = onnx.ModelProto.FromString(data).graph
    except google.protobuf.message.DecodeError as error:
        raise ValueError(str(error)) from error
    for tensor in graph.initializer[:MAX_ITEMS]:
        if tensor.data_type == onnx.TensorProto.INT8:
            yield onnx.numpy_helper.to_array(tensor)

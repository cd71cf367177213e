"""ReID MobileNetV2 as ST's compiler made it for the Nucleo, against LiteRT.

Its blob has 52 epochs. LiteRT uses its reference kernels. The NPU requantises in three steps, so
outputs are close to those of the interpreter, but not equal.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from samples import sample

from virtual_board.npu.model import END, Npu, assembled
from virtual_board.npu.reid import (
    BLOB,
    INPUT,
    OUTPUT,
    Tensor,
    blob_of,
    buffers_of,
    epochs_of,
    joined,
    regions_of,
    tensors_of,
)

# The NPU's description was proved with these figures on the same picture. Shares have four decimals.
EPOCHS, ELEMENTS, EQUAL, WITHIN_1, MOST = 52, 4_156_416, 0.9821, 0.9993, 6


def picture(shape: tuple[int, ...]) -> np.ndarray:
    """Return unsigned smoothed noise."""
    noise = np.random.default_rng(3).integers(0, 256, shape).astype(np.int64)
    for _ in range(2):
        noise = (noise + np.roll(noise, 1, 1) + np.roll(noise, 1, 2) + np.roll(noise, 2, 1)) // 4
    return noise.astype(np.uint8)


@dataclass(frozen=True)
class Reference:
    folder: Path
    pixels: np.ndarray
    tensors: list[Tensor]


@pytest.fixture(scope="module")
def reference() -> Reference:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    folder = sample("npu/reid-mobilenetv2-core-3.0")
    (model,) = folder.glob("*.tflite")
    interpreter = litert.Interpreter(
        model_path=str(model),
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    wanted = interpreter.get_input_details()[0]
    pixels = picture(tuple(wanted["shape"]))
    signed = (pixels.astype(np.int64) - 128).astype(np.int8)
    interpreter.set_tensor(wanted["index"], pixels if wanted["dtype"] is np.uint8 else signed)
    interpreter.invoke()
    return Reference(folder, pixels, tensors_of(interpreter))


@pytest.fixture
def npu(reference: Reference, library: ctypes.CDLL) -> Iterator[Npu]:
    npu = Npu(library, regions_of(reference.folder))
    npu.put(INPUT, reference.pixels)
    yield npu
    npu.close()


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / np.sqrt(float(left @ left) * float(right @ right)))


def test_its_output_is_that_of_the_interpreter_as_far_as_the_facts_promise(reference: Reference, npu: Npu) -> None:
    assert npu.run_blob(blob_of(reference.folder / "reid_ecblobs.h"), BLOB) is None
    last = reference.tensors[-1]
    expected = last.values.ravel().astype(np.int64)
    made = npu.get(OUTPUT, expected.size, "uint8").astype(np.int64) - 128
    assert cosine((made - last.zero).astype(float), (expected - last.zero).astype(float)) > 0.99
    assert (abs(made - expected) <= 6).mean() > 0.9


def test_each_epoch_makes_the_tensor_of_the_interpreter_from_its_tensors(reference: Reference, npu: Npu) -> None:
    """Memory gets the interpreter's tensor after each epoch.

    So each epoch starts from the same inputs.
    """
    epochs = epochs_of(blob_of(reference.folder / "reid_ecblobs.h"))
    buffers = buffers_of((reference.folder / "reid.c").read_text())
    pairs = joined([buffer for buffer in buffers if buffer.epoch in epochs], reference.tensors)
    assert len(epochs) == EPOCHS
    # The last epoch makes the output, with 1280 elements.
    assert sorted(pairs) == sorted(epochs)
    distances = []
    for number, program in epochs.items():
        assert npu.run_blob(assembled(*program, END), BLOB) is None, f"epoch {number}"
        buffer, tensor = pairs[number]
        wanted = buffer.in_order(tensor.values)
        made = npu.get(buffer.address, buffer.size, "uint8")
        distances.append(np.abs(buffer.signed(made) - buffer.signed(wanted)))
        npu.put(buffer.address, wanted)
    output = distances.pop()
    assert output.max() <= 1
    distance = np.concatenate(distances)
    assert distance.size == ELEMENTS
    assert round((distance == 0).mean(), 4) >= EQUAL
    assert round((distance <= 1).mean(), 4) >= WITHIN_1
    assert distance.max() <= MOST

"""ReID MobileNetV2 as ST's compiler made it for the Nucleo: its blob of 54 epochs, against LiteRT's reference kernels.

The NPU requantises in three steps: outputs are close to those of the interpreter, not equal.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from samples import sample

from virtual_board.npu.model import Npu, Regions, build_model

ARENA, FLASH_PADDING = 0x3400_0000, 128
INPUT, OUTPUT, BLOB = 0x342E_0000, 0x0000_0000, 0x2000_0000


def blob_of(header: Path) -> list[int]:
    (body,) = re.findall(r"uint64_t _ec_blob_\w+ ?\[\d*\]\s*=\s*\{(.*?)\};", header.read_text(), re.DOTALL)
    words = [int(word, 16) for word in re.findall(r"0x([0-9a-f]+)UL", body)]
    return [half for word in words for half in (word & 0xFFFF_FFFF, word >> 32)]


def picture(shape: tuple[int, ...]) -> np.ndarray:
    """Smoothed noise, unsigned."""
    noise = np.random.default_rng(3).integers(0, 256, shape).astype(np.int64)
    for _ in range(2):
        noise = (noise + np.roll(noise, 1, 1) + np.roll(noise, 1, 2) + np.roll(noise, 2, 1)) // 4
    return noise.astype(np.uint8)


def test_its_outputs_are_those_of_the_interpreter_as_far_as_the_facts_promise(tmp_path: Path) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    folder = sample("npu/reid-mobilenetv2-core-3.0")
    (base,) = re.findall(r"postfix=xSPI2 name=octoFlash offset=(0x[0-9a-f]+)", (folder / "reid.c").read_text())
    blob = blob_of(folder / "reid_ecblobs.h")
    (model,) = folder.glob("*.tflite")
    interpreter = litert.Interpreter(
        model_path=str(model), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF
    )
    interpreter.allocate_tensors()
    wanted = interpreter.get_input_details()[0]
    pixels = picture(tuple(wanted["shape"]))
    signed = (pixels.astype(np.int64) - 128).astype(np.int8)
    interpreter.set_tensor(wanted["index"], pixels if wanted["dtype"] is np.uint8 else signed)
    interpreter.invoke()
    details = interpreter.get_output_details()[0]
    expected = interpreter.get_tensor(details["index"]).ravel().astype(np.int64)

    weights = np.frombuffer((folder / "reid_atonbuf.xSPI2.bin").read_bytes(), np.uint8)
    regions = Regions(
        {
            ARENA: np.zeros(0x3C_0000, np.uint8),
            int(base, 16): np.concatenate([weights, np.zeros(FLASH_PADDING, np.uint8)]),
            OUTPUT: np.zeros(0x1_0000, np.uint8),
            BLOB: np.zeros(0x10_0000, np.uint8),
        }
    )
    npu = Npu(build_model(tmp_path), regions)
    npu.put(INPUT, pixels)
    assert npu.run_blob(blob, BLOB) is None
    made = npu.get(OUTPUT, expected.size, "uint8").astype(np.int64) - 128
    npu.close()
    zero = details["quantization"][1]
    left, right = (made - zero).astype(float), (expected - zero).astype(float)
    assert left @ right / np.sqrt((left @ left) * (right @ right)) > 0.99
    assert (abs(made - expected) <= 6).mean() > 0.9

"""Outputs behind a camera, compared with the reference interpreter."""

from __future__ import annotations

import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from n6build.board.run.compare import of_noise
from numpy.typing import NDArray
from PIL import Image, ImageOps
from reference_interpreter import load
from samples import sample
from virtual_board.test_pixels import Path_, expected, scaled

from end_to_end.hosts import Host

# In every run: the pixels of DCMIPP (tests/virtual_board/test_pixels.py), a program with a camera (test_camera_template.py).
pytestmark = pytest.mark.slow

FOLDERS, PICTURES, FRAMES, SIDE, CLASSES = 3, 20, 3, 32, 10
MODEL = "name: things\nfile: net.tflite\npreprocess: {scale: 1}\npostprocess: {decoder: classification}\n"
CALIBRATION = "network: {neural_art: {calibration: inputs.npy, allow: [larger]}}\n"
# The middle of the sensor's 2592 x 1944 pixels: every eighth, then 243 for 32.
PATH = scaled(Path_(324, 0, 1944, 1944, 8, 8), SIDE, SIDE)
_DUMP = """\
    n6_put("dump ");
    n6_put_hex32(n6_crc32((const uint8_t *)INPUT_AT, INPUT_BYTES));
    for (uint32_t i = 0; i < bytes; i += 4u) {
        n6_put(" ");
        n6_put_hex32(*(const uint32_t *)((const uint8_t *)outputs[0] + i));
    }
    n6_put_end();
"""


def draw_pictures(folder: Path, seed: int) -> None:
    """Draw random curves of colour with rectangles, each for several frames."""
    folder.mkdir()
    random = np.random.default_rng(seed)
    for number in range(PICTURES):
        coarse = Image.fromarray(random.integers(0, 256, (6, 8, 3), dtype=np.uint8))
        picture = np.array(coarse.resize((648, 486), Image.Resampling.BICUBIC))
        for _ in range(4):
            (top, left), (height, width) = random.integers(0, 400, 2), random.integers(20, 200, 2)
            picture[top : top + height, left : left + width] = random.integers(0, 256, 3)
        for frame in range(FRAMES):
            Image.fromarray(picture).save(folder / f"{number:02}-{frame}.png")


def inputs_of(folder: Path) -> dict[int, NDArray[np.int8]]:
    """Return the input that each picture becomes, by its CRC-32.

    The second implementation of DCMIPP makes it.
    """
    found = {}
    for path in sorted(folder.glob("*-0.*")):
        with Image.open(path) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
            seen = np.array(ImageOps.fit(upright, (2592, 1944), Image.Resampling.BILINEAR))
        values = (expected(PATH, seen).astype(np.int16) - 128).astype(np.int8)
        found[zlib.crc32(values.tobytes())] = values
    return found


class Reference:
    """The outputs of the reference interpreter."""

    def __init__(self, network: bytes) -> None:
        self._interpreter = load(network)

    def __call__(self, values: NDArray[np.int8]) -> NDArray[np.int8]:
        (given,), (made,) = self._interpreter.get_input_details(), self._interpreter.get_output_details()
        self._interpreter.set_tensor(given["index"], values.reshape(given["shape"]))
        self._interpreter.invoke()
        found: NDArray[np.int8] = np.array(self._interpreter.get_tensor(made["index"]), np.int8)
        return found.ravel()


def nudged(values: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return an input whose values are one step off."""
    steps = np.random.default_rng(1).choice([-1, 1], values.shape)
    moved: NDArray[np.int8] = np.clip(values + steps, -128, 127).astype(np.int8)
    return moved


def cosine(one: NDArray[np.int8], other: NDArray[np.int8]) -> float:
    """Return the cosine of two outputs, whose zero point is -128."""
    a, b = one.astype(float) + 128, other.astype(float) + 128
    return float(a @ b / np.sqrt((a @ a) * (b @ b))) if (one != other).any() else 1.0


@pytest.mark.parametrize(("backend", "frames"), [("reference", 30), ("neural_art", 58)])
def test_outputs_are_those_of_the_reference(backend: str, frames: int, tmp_path: Path) -> None:
    network = sample("models/mlperf_resnet8_int8.tflite")
    wanted: dict[int, NDArray[np.int8]] = {}
    for number in range(FOLDERS):
        draw_pictures(tmp_path / f"scenes{number}", number)
        wanted |= inputs_of(tmp_path / f"scenes{number}")
    (tmp_path / "things").mkdir()
    shutil.copy(network, tmp_path / "things/net.tflite")
    np.save(tmp_path / "things/inputs.npy", np.stack([*wanted.values()])[:10])
    (tmp_path / "things/model.yaml").write_text(MODEL + (CALIBRATION if backend == "neural_art" else ""))
    host = Host(tmp_path, "make")
    shutil.rmtree(host.root)
    host.root.mkdir()
    host.call(
        "n6build",
        "new",
        ".",
        str(tmp_path / "things"),
        "board=stm32n6570-dk",
        "--template",
        "camera",
        "--with",
        "scons",
    )
    program = host.root / "src/main.c"
    text = program.read_text()
    place = '    n6_put("{\\"frame\\": ");\n'
    assert text.count(place) == 1
    program.write_text('#include "n6_crc32.h"\n' + text.replace(place, _DUMP + place))
    reference = Reference(network.read_bytes())
    # For random pictures the network is unsure. Its outputs on the NPU may move as in a run with random inputs.
    moved = min(cosine(reference(values), reference(nudged(values))) for values in wanted.values())
    least = of_noise(moved).cosine if backend == "neural_art" else 1.0
    seen, cosines = set(), []
    for number in range(FOLDERS):
        run = ("n6.probe=virtual", f"n6.camera={tmp_path / f'scenes{number}'}", f"n6.backend={backend}")
        output = host.call("scons", *run, f'n6.until=text:frame": {frames}', "flash", "run")
        for line in re.findall(r"dump (.*)", output):
            crc, *words = (int(word, 16) for word in line.split())
            # Every picture that the network gets is one of DCMIPP's, byte for byte.
            cosines.append(cosine(reference(wanted[crc]), np.array(words, "<u4").view(np.int8)[:CLASSES]))
            seen.add(crc)
    assert len(seen) >= 50
    assert min(cosines) >= least

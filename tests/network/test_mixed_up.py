"""Files of different networks in one folder, and files that were edited by hand.

Each is named in a second, before anything is built.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import one_op_models as ops
import pytest
from n6build.base.errors import N6Error
from n6build.base.paths import MODELS
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.model_constants import int8_constants
from n6build.compile.prebuilt.backend import require_weights_of
from n6build.compile.prebuilt.imported import import_network
from n6build.compile.reference.compile_model import compile_network
from n6build.describe.compiled_folder import find_network
from one_op_models import Quantisation
from onnx_models import qdq_convolution
from samples import sample

from network.host_network import extflash
from network.network_models import as_file

ONE, OTHER = Quantisation(0.05, 3), Quantisation(0.11, -7)
SECOND = 1.0
RAW = "network_atonbuf.xSPI2.raw"


@contextmanager
def refused_in_a_second(id: str) -> Iterator[pytest.ExceptionInfo[N6Error]]:
    begin = time.process_time()
    with pytest.raises(N6Error, match=f"error {id}: ") as error:
        yield error
    assert time.process_time() - begin < SECOND


def compiled(folder: Path, inputs: int = 8, source: Quantisation = ONE) -> Path:
    """Return a folder with a network of one operator."""
    folder.mkdir()
    weights = np.ones((4, inputs), np.int8)
    model = as_file(
        ops.fully_connected(1, weights, np.zeros(4, np.int32), [0.01] * 4, source, OTHER), folder, "network.tflite"
    )
    compile_network(model, extflash(), folder / "out")
    return folder / "out"


def test_files_of_one_network_belong_together(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "a")
    assert read_artifacts(folder, "network").described_by == "network_c_info.json"


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"inputs": 16}, r"input 0 has 16 bytes, and in network.c 8"),
        ({"source": OTHER}, r"buffer \w+ has another scale or zero point there"),
    ],
)
def test_a_c_info_of_another_network_is_named(tmp_path: Path, other: dict[str, object], difference: str) -> None:
    folder, wrong = compiled(tmp_path / "a"), compiled(tmp_path / "b", **other)  # type: ignore[arg-type]
    shutil.copy(wrong / "network_c_info.json", folder)
    with refused_in_a_second("N6-NET-026") as error:
        read_artifacts(folder, "network")
    assert error.value.where == "network_c_info.json"
    assert re.search(difference, error.value.what)


def test_a_c_info_with_other_outputs_is_named(tmp_path: Path) -> None:
    source = sample("npu/fallguard-ssd-core-2.1")
    example = sample("projects/STM32N6Example/.ai")
    shutil.copy(source / "network.c", tmp_path)
    (info,) = example.glob("*_c_info.json")
    shutil.copy(info, tmp_path / "network_c_info.json")
    with refused_in_a_second("N6-NET-026") as error:
        read_artifacts(tmp_path, "network", ())
    assert "input 0 has 49152 bytes, and in network.c 196608" in error.value.what


@pytest.mark.parametrize(
    ("network", "info"),
    [
        ("npu/fallguard-ssd-core-2.1/network.c", "npu/fallguard-ssd-core-2.1"),
        ("projects/STM32N6Example/Appli/X-CUBE-AI/App/network.c", "projects/STM32N6Example/.ai"),
    ],
)
def test_c_info_and_network_c_of_st_s_compiler_agree(tmp_path: Path, network: str, info: str) -> None:
    shutil.copy(sample(network), tmp_path / "network.c")
    (described,) = sample(info).glob("*_c_info.json")
    shutil.copy(described, tmp_path / "network_c_info.json")
    assert len(read_artifacts(tmp_path, "network", ()).quantised) > 100


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        # The address of the input and the output, and the size of the input.
        (r"\(0x342[0-9a-f]{5}UL\)", "(0x34350000UL)"),
        (r"\.offset_end = 8,", ".offset_end = 6,"),
    ],
)
def test_a_network_c_that_was_edited_by_hand_contradicts_its_c_info(tmp_path: Path, pattern: str, instead: str) -> None:
    folder = compiled(tmp_path / "a")
    file = folder / "network.c"
    edited, count = re.subn(pattern, instead, file.read_text())
    assert count
    file.write_text(edited)
    with refused_in_a_second("N6-NET-026") as error:
        read_artifacts(folder, "network")
    assert "network.c" in error.value.what


REAL = {
    "npu/reid-mobilenetv2-core-3.0": 52,
    "npu/pose-movenet-core-2.1": 65,
    "npu/fallguard-ssd-core-2.1": 58,
    "npu/yamnet-core-2.2": 29,
    "projects/STM32N6-GettingStarted-ObjectDetection/Model/STM32N6570-DK": 186,
}


def imported(place: str, folder: Path) -> tuple[Path, str, tuple[str, ...]]:
    """Return model, name and raw files of a network of the samples.

    The raw files are names in the folder.
    """
    network = find_network(sample(place))
    import_network(network, folder)
    found = [*network.source.parent.glob("*.tflite"), *network.source.parent.glob("*.onnx")]
    found += network.source.parent.parent.glob("*.tflite")
    return found[0], network.name, tuple(path.name for path in folder.glob("*.raw"))


@pytest.mark.parametrize("place", REAL)
def test_weights_of_st_s_compiler_are_those_of_the_model(tmp_path: Path, place: str) -> None:
    model, name, raws = imported(place, tmp_path)
    assert len(int8_constants(model)) == REAL[place]
    require_weights_of(model, tmp_path, name, raws)


def _other_values(data: bytes) -> bytes:
    return np.random.default_rng(5).integers(-127, 128, len(data)).astype(np.int8).tobytes()


def _moved_by_some_bytes(data: bytes) -> bytes:
    return data[4096:] + data[:4096]


def _turned(data: bytes) -> bytes:
    return data[::-1]


@pytest.mark.parametrize("change", [_other_values, _moved_by_some_bytes, _turned])
def test_weights_of_another_network_with_the_same_size_are_named(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    model, name, raws = imported("npu/reid-mobilenetv2-core-3.0", tmp_path)
    (raw,) = raws
    (tmp_path / raw).write_bytes(change((tmp_path / raw).read_bytes()))
    with refused_in_a_second("N6-PRE-006") as error:
        require_weights_of(model, tmp_path, name, raws)
    assert error.value.where == raw
    assert re.search(
        r"not the weights of mobilenetv2\w+\.tflite: \d+ of 5\d buffers with weights have other values",
        error.value.what,
    )


def test_weights_that_are_no_constants_of_the_model_are_named_without_samples(tmp_path: Path) -> None:
    model, folder = MODELS / "keyword" / "keyword.tflite", tmp_path / "out"
    compile_network(model, extflash(), folder)
    (source,), (raw,) = folder.glob("*.c"), folder.glob("*.raw")
    require_weights_of(model, folder, source.stem, (raw.name,))
    raw.write_bytes(_other_values(raw.read_bytes()))
    with refused_in_a_second("N6-PRE-006"):
        require_weights_of(model, folder, source.stem, (raw.name,))


def test_a_model_that_cannot_be_read_has_no_constants(tmp_path: Path) -> None:
    for name, data in (("a.tflite", b"\x08\0\0\0TFL3" + bytes(40)), ("a.onnx", b"\xff\xff"), ("b.tflite", b"")):
        (tmp_path / name).write_bytes(data)
        assert int8_constants(tmp_path / name) == set()


def test_constants_of_an_onnx_model_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(qdq_convolution(channels=3))
    assert len(int8_constants(tmp_path / "a.onnx")) == 1

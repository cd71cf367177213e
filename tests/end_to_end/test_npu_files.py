"""The emulator's record of a real network on the NPU.

Tensors are put into its run and read back.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from firmware_build import write_nor
from n6build.base.errors import N6Error
from n6build.board.run.console_log import ends_run, read_console
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.board.virtual_board.npu_record import NpuEpoch, read_npu_record
from n6build.board.virtual_board.run import NorBoot, RunResult, run_nor
from n6build.describe.hardware.boards import load_board
from numpy.typing import NDArray
from samples import sample
from virtual_board.npu.test_real_network import picture

from end_to_end.conftest import make_project, st_core

BOARD = load_board("nucleo-n657")
NETWORK = "reid-mobilenetv2-core-3.0"
EPOCHS = 52
# The first epoch makes signed pixels from unsigned ones.
FIRST_LABEL, INPUT, SIGNED, BYTES = 2, 0x342E_0000, 0x3432_0000, 256 * 128 * 3


@pytest.fixture(scope="module")
def nor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the NOR file of a Nucleo with the network."""
    project = make_project(tmp_path_factory.mktemp("npu_files"))
    project.done(f"model={sample(f'npu/{NETWORK}')}", "probe=virtual", "flash", **st_core(sample("core/3.0")))
    return project.root / "build/virtual_board/nucleo-n657/nor.bin"


def run(nor: Path, files: NpuFiles) -> RunResult:
    boot = NorBoot(nor, BOARD, npu=files)
    result = run_nor(find_emulator(BOARD.soc), boot, programs=[], stop=ends_run)
    assert result.findings == ()
    return result


def output_of(result: RunResult) -> bytes:
    return read_console(result.lines).inferences[0].outputs[0]


def recorded(nor: Path, folder: Path) -> tuple[tuple[NpuEpoch, ...], bytes]:
    folder.mkdir()
    files = NpuFiles(record=folder / "record", trace=folder / "trace")
    assert files.record and files.trace
    run(nor, files)
    return read_npu_record(files.record), files.trace.read_bytes()


@pytest.mark.slow
def test_record_and_trace_tell_what_every_epoch_did_and_are_the_same_each_time(nor: Path, tmp_path: Path) -> None:
    epochs, trace = recorded(nor, tmp_path / "first")
    assert recorded(nor, tmp_path / "second") == (epochs, trace)
    assert len(epochs) == EPOCHS
    assert {(epoch.network, epoch.place, epoch.by_blob) for epoch in epochs} == {(0, 0, True)}
    # The blob has the same words as the compiler's, and its epochs are in order.
    lines = trace.decode().splitlines()
    (blob,) = (number for number, line in enumerate(lines) if line.startswith("blob 0x"))
    words = " ".join(line for line in lines[blob + 1 :] if line.startswith("0x")).split()
    assert words[0] == "0xca057a7a"
    assert len(words) == int(words[1], 16) + 2
    assert [f"run {epoch.label}" for epoch in epochs] == [line for line in lines if line.startswith("run ")]
    assert lines.index("epoch 0 0") < blob
    assert all(re.fullmatch(r"w 0x[0-9a-f]{5} 0x[0-9a-f]{8}", line) for line in lines[:blob] if line[0] == "w")


# In every run: tests/run/test_npu_epochs.py, tests/virtual_board/npu/test_real_network.py.
@pytest.mark.slow
def test_units_say_what_they_did(nor: Path, tmp_path: Path) -> None:
    epochs, _ = recorded(nor, tmp_path / "files")
    first = {unit.unit: unit for unit in epochs[0].units}
    assert sorted(first) == ["ARITH0", "STRENG1", "STRENG6"]
    reader, writer = first["STRENG6"], first["STRENG1"]
    assert (reader.first, reader.end, reader.reads, reader.writes) == (INPUT, INPUT + BYTES, BYTES, 0)
    assert (writer.first, writer.end, writer.reads, writer.writes) == (SIGNED, SIGNED + BYTES, 0, BYTES)
    assert first["ARITH0"].what == "a x + c"
    assert first["ARITH0"].elements == BYTES
    second = {unit.unit: unit for unit in epochs[1].units}
    convolution = next(unit for name, unit in second.items() if name.startswith("CONVACC"))
    shape = re.match(r"(\d+)x(\d+) stride \d+x\d+, (\d+) kernels of (\d+)", convolution.what)
    assert shape
    height, width, _, depth = map(int, shape.groups())
    assert convolution.macs == convolution.elements * height * width * depth


@pytest.mark.slow
def test_tensors_are_put_and_got_by_label_and_by_place(nor: Path, tmp_path: Path) -> None:
    pixels = picture((256, 128, 3))
    zeros = output_of(run(nor, NpuFiles()))
    outputs = {}
    for key in (f"label {FIRST_LABEL}", "place 0"):
        tensors = tmp_path / key.replace(" ", "_")
        tensors.with_name(f"{tensors.name}.in").write_bytes(bytes(7) + pixels.tobytes())
        tensors.write_text(
            f"put 0 {key} 0x{INPUT:08x} {BYTES} 7\n"
            f"get 0 label {FIRST_LABEL} 0x{SIGNED:08x} {BYTES} 0\n"
            f"get 0 place 0 0x{INPUT:08x} 16 {BYTES}\n"
        )
        outputs[key] = output_of(run(nor, NpuFiles(tensors=tensors)))
        got = tensors.with_name(f"{tensors.name}.out").read_bytes()
        signed = np.frombuffer(got[:BYTES], np.int8)
        assert np.array_equal(signed, pixels.ravel().astype(np.int16) - 128)
        assert len(got) == BYTES + 16
    assert outputs["place 0"] == outputs[f"label {FIRST_LABEL}"] != zeros


@pytest.mark.slow
def test_a_tensor_is_replaced_once_it_was_got(nor: Path, tmp_path: Path) -> None:
    before = output_of(run(nor, NpuFiles()))
    tensors = tmp_path / "tensors"
    tensors.with_name("tensors.in").write_bytes(signed(picture((256, 128, 3))).tobytes())
    where = f"0 label {FIRST_LABEL} 0x{SIGNED:08x} {BYTES} 0"
    tensors.write_text(f"replace {where}\nget {where}\n")
    assert output_of(run(nor, NpuFiles(tensors=tensors))) != before
    got = np.frombuffer(tensors.with_name("tensors.out").read_bytes(), np.int8)
    # The epoch itself made this from the network's inputs, which are seeded random ones.
    (inputs,) = (nor.parents[2] / BOARD.name).glob("*/inputs/*.npy")
    assert np.array_equal(got, signed(np.load(inputs)[0]).ravel())


def signed(pixels: NDArray[np.uint8]) -> NDArray[np.int8]:
    return (pixels.astype(np.int16) - 128).astype(np.int8)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("put 0 label 2 0x34200000 16", "tensors:1: The line needs seven words"),
        ("set 0 label 2 0x34200000 16 0", "tensors:1: The line does not begin with put, get or replace"),
        ("put 0 layer 2 0x34200000 16 0", "tensors:1: The line does not begin with put, get or replace"),
        ("put 0 label -2 0x34200000 16 0", "tensors:1: The line has an invalid number"),
        ("put 0 label 2 34200000 16 0", "tensors:1: The line has an invalid number"),
        ("put 0 label 2 0xfffffff8 16 0", "tensors:1: The line has no bytes, or goes beyond the last address"),
        ("put 0 label 2 0x34200000 67108865 0", "tensors:1: The line has an invalid number, or one that is too large"),
        ("get 0 label 2 0x34200000 1 0 " + " " * 200, "tensors:1: The line is too long"),
        (
            "\n".join(["get 0 label 2 0x34200000 1 0"] * 4097),
            "tensors:4097: The line is beyond the limit of 4096 lines",
        ),
    ],
)
def test_a_bad_line_ends_the_emulator_with_a_message(line: str, message: str, tmp_path: Path) -> None:
    # The emulator reads the lines before it runs anything.
    erased = write_nor(tmp_path / "nor.bin", {})
    tensors = tmp_path / "tensors"
    tensors.write_text(line + "\n")
    with pytest.raises(N6Error) as raised:
        run(erased, NpuFiles(tensors=tensors))
    assert raised.value.id == "N6-VB-006"
    assert message in str(raised.value)

"""Captured files of every kind, and the outputs that their values belong to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.run.board_capture import Compared, captured_pieces, compare_captures
from n6build.board.run.capture_text import output_lines
from n6build.describe.model import Tolerance
from n6build.judge.compare.captures import Piece, read_capture
from n6build.judge.compare.readings import assignments, readings_of
from n6build.judge.compare.tensors import Port
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
KEYWORD = ROOT / "models/keyword/keyword.tflite"
INPUTS, EXPECTED = ROOT / "models/keyword/inputs.npy", np.load(ROOT / "models/keyword/expected.npy")
LOGITS = Port("logits", "int8", (1, 4), 0.1, 3)
BOXES = Port("boxes", "float32", (1, 2, 3), 1.0, 0)


def raw(*data: int) -> Piece:
    return Piece("out.bin", np.array(data, np.uint8), is_raw=True)


def text(folder: Path, content: str) -> Path:
    path = folder / "console.log"
    path.write_text(content)
    return path


def file(folder: Path, name: str, values: NDArray[np.generic]) -> Path:
    path = folder / name
    np.save(path, values) if path.suffix == ".npy" else values.tofile(path)
    return path


def compared(folder: Path, content: str | NDArray[np.generic], inputs: Path = INPUTS) -> Compared:
    path = text(folder, content) if isinstance(content, str) else file(folder, "out.npy", content)
    return compare_captures(KEYWORD, inputs, [path], Tolerance(), 12)


def lines_of(result: Compared) -> str:
    return "\n".join(" ".join(line) for output in result.outputs for line in output_lines(output, result))


# Files.


def test_bytes_hex_and_arrays_of_the_same_values_are_the_same(tmp_path: Path) -> None:
    values = np.arange(32, dtype=np.uint8)
    (tmp_path / "out.hex").write_text(":1000000000010203040506070809" + "0A0B0C0D0E0F78\n:00000001FF\n")
    found = [
        read_capture(file(tmp_path, "out.bin", values))[0].values,
        read_capture(file(tmp_path, "out.npy", values))[0].values,
        read_capture(text(tmp_path, values.tobytes().hex(" ")))[0].values,
    ]
    assert all(np.array_equal(each, values) for each in found)
    assert read_capture(tmp_path / "out.hex")[0].values.tobytes() == values[:16].tobytes()
    with (tmp_path / "out.npz").open("wb") as stream:
        np.savez(stream, one=values, two=values[:3])
    assert [each.where for each in read_capture(tmp_path / "out.npz")] == ["out.npz: one", "out.npz: two"]


def test_a_log_of_this_project_s_appli_is_read_as_its_runs_are(tmp_path: Path) -> None:
    log = text(
        tmp_path, "n6 appli start model=a\nn6 run 0 output 0 8081\nn6 run 0 cycles=12345678\nn6 run 1 output 0 7f01\n"
    )
    assert [piece.values.tolist() for piece in captured_pieces([log])] == [[0x80, 0x81], [0x7F, 1]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("out.npy", b"\x93NUMPY", "N6-CAPTURE-001: is not a valid NumPy array"),
        ("out.log", b"booted\nready\n", "N6-CAPTURE-001: contains no values"),
        ("out.bin", b"", "N6-CAPTURE-001: contains no values"),
        ("out.npz", b"PK", "N6-CAPTURE-001: is not a valid NumPy array"),
    ],
)
def test_a_file_without_values_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(N6Error, match=message):
        read_capture(tmp_path / name)


def test_an_array_of_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-CAPTURE-001: has values of type <U1"):
        read_capture(file(tmp_path, "out.npy", np.array(["a"])))


@given(st.binary(max_size=300), st.sampled_from(["out.npy", "out.bin", "out.log", "out.npz", "out"]))
def test_any_file_is_read_or_refused(content: bytes, name: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            assert any(piece.values.size for piece in read_capture(path))
        except N6Error as error:
            assert error.id in ("N6-CAPTURE-001", "N6-CAPTURE-002", "N6-HEX-001")


# Assignment of values to outputs.


def test_the_most_likely_assignment_has_all_vectors_and_the_model_s_type() -> None:
    ways = assignments([raw(*range(8))], [LOGITS], 2)
    assert [(way[0].rows, readings_of(way[0])[0].how) for way in ways] == [(2, "int8"), (1, "float16")]
    ways = assignments([raw(*range(16))], [LOGITS], 1)
    assert [(way[0].rows, readings_of(way[0])[0].how) for way in ways] == [(1, "float32")]


def test_a_log_has_a_dump_for_each_vector_and_other_dumps() -> None:
    pieces = [raw(*range(99)), raw(1, 2, 3, 4), raw(7, 7), raw(5, 6, 7, 8)]
    (way,) = assignments(pieces, [LOGITS], 3)
    assert (way[0].rows, way[0].values.tolist()) == (2, [1, 2, 3, 4, 5, 6, 7, 8])


def test_a_dump_that_is_called_output_is_not_one_of_the_input() -> None:
    pieces = [
        Piece("log:1", np.arange(4, dtype=np.uint8), is_raw=True, label="input"),
        Piece("log:2", np.arange(4, 8, dtype=np.uint8), is_raw=True, label="Output:"),
    ]
    assert assignments(pieces, [LOGITS], 2)[0][0].values.tolist() == [4, 5, 6, 7]


def test_several_outputs_are_files_dumps_or_one_behind_another() -> None:
    logits, boxes = np.arange(4, dtype=np.uint8), np.arange(24, dtype=np.uint8)
    files = [Piece("a", logits, is_raw=True), Piece("b", boxes, is_raw=True)]
    for pieces in (files, [Piece("c", np.concatenate([logits, boxes]), is_raw=True)]):
        (way,) = assignments(pieces, [LOGITS, BOXES], 1)
        assert [each.values.tobytes() for each in way] == [logits.tobytes(), boxes.tobytes()]
    (way,) = assignments([*files, *files], [LOGITS, BOXES], 2)
    assert [each.rows for each in way] == [2, 2]


def test_other_sizes_are_refused_with_what_there_is() -> None:
    with pytest.raises(
        N6Error, match=r"3 bytes in out.bin: error N6-CAPTURE-003: no captured .*4 of int8 for 'logits'"
    ):
        assignments([raw(1, 2, 3)], [LOGITS], 2)
    broken = Piece("log:1-3", np.arange(4, dtype=np.uint8), is_raw=True, missing="line 3 goes from 4 to 10")
    with pytest.raises(N6Error, match="N6-CAPTURE-003: .*; a dump is incomplete: line 3 goes from 4 to 10"):
        assignments([broken], [LOGITS], 1)


# The whole comparison, with the interpreter.


def is_within(result: Compared) -> bool:
    return all(each.within for each in result.outputs)


def test_a_console_log_is_compared(tmp_path: Path) -> None:
    dumps = [
        f"vector {number}\n" + "\n".join(f"{at:04x}: {row.tobytes()[at : at + 8].hex(' ')}" for at in (0, 8)) + "\n"
        for number, row in enumerate(EXPECTED.reshape(10, 12))
    ]
    result = compared(tmp_path, "boot\n" + "".join(dumps))
    assert (is_within(result), result.vectors, result.tried) == (True, 10, 0)
    assert lines_of(result).startswith("Output StatefulPartitionedCall_1:0 equal to the reference, 10 vectors")


def test_a_cause_is_named_with_how_near_the_outputs_are_without_it(tmp_path: Path) -> None:
    result = compared(tmp_path, np.asarray(EXPECTED.astype(int) + 128, np.uint8))
    assert not is_within(result)
    said = lines_of(result)
    assert "0.00 % equal, max 128 steps" in said
    assert (
        "Cause uint8/int8 mix every value is 128 higher than the model's int8; without this cause, it is equal"
    ) in said


def test_without_a_cause_nothing_is_guessed(tmp_path: Path) -> None:
    shuffled = np.random.default_rng(2).permutation(EXPECTED.reshape(-1)).reshape(EXPECTED.shape)
    said = lines_of(compared(tmp_path, shuffled))
    assert "Cause unknown no known cause fits; n6build tried 11 changes of the input" in said


def test_an_input_that_was_scaled_otherwise_is_found_with_the_interpreter(tmp_path: Path) -> None:
    from n6build.judge.compare.interpret import reference_rows

    inputs = np.load(INPUTS)
    not_added = np.clip(inputs.astype(int) + 37, -128, 127).astype(np.int8)
    made = np.stack([run[0] for run in reference_rows(KEYWORD, [[row] for row in not_added])])
    assert ("the zero point of the input was not added; without this cause, it is equal") in lines_of(
        compared(tmp_path, made)
    )


def test_inputs_may_be_real_numbers(tmp_path: Path) -> None:
    real = ((np.load(INPUTS).astype(np.float64) + 37) * 0.08187443017959595).astype(np.float32)
    assert is_within(compared(tmp_path, EXPECTED, file(tmp_path, "real.npy", real)))


@pytest.mark.parametrize(
    "inputs", [np.zeros((2, 3), np.int8), np.full((1, 490), 300, np.int64), np.zeros((0, 490), np.int8)]
)
def test_inputs_that_do_not_fit_are_refused(tmp_path: Path, inputs: NDArray[np.generic]) -> None:
    with pytest.raises(N6Error, match="N6-CAPTURE-001|N6-CAPTURE-004"):
        compared(tmp_path, EXPECTED, file(tmp_path, "in.npy", inputs))

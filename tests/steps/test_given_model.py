"""A relocatable model of another tool as a model.

The tests cover its search, its consequences, and refusals by name.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.runtimes import RuntimeVersion
from n6build.describe.choices import Choices, choices_of
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import Model, load_model
from n6build.describe.project_settings import resolve
from n6build.engine.step import Call, Step
from n6build.place.reloc.description import read_description
from n6build.place.reloc.model_format import PARAMS_OFFSET_WORD
from n6build.place.reloc.reader import parse_reloc_file
from n6build.steps.foreign_model import as_the_models_are, given_network, make_foreign_model
from reloc.synthetic import POOLS, synthetic_model

BOARD = load_board("nucleo-n657")
VERSION = (1, 1, 3, 8)
ST = RuntimeVersion("st", VERSION)
WHOLE = synthetic_model(VERSION, tables=True)
RELOC = Choices(loader="reloc")
SECURE, DEBUG_INFO, ASYNC = 1 << 20, 1 << 21, 1 << 22


def with_flags(without: int) -> bytes:
    (flags,) = struct.unpack_from("<I", WHOLE, 4)
    return WHOLE[:4] + struct.pack("<I", flags & ~without) + WHOLE[8:]


def split(data: bytes) -> tuple[bytes, bytes]:
    """Return the model without its weights, and the weights."""
    (start,) = struct.unpack_from("<I", data, 4 * PARAMS_OFFSET_WORD)
    at = 4 * PARAMS_OFFSET_WORD
    return data[:at] + bytes(4) + data[at + 4 : start], data[start:]


def model_of(folder: Path, data: bytes = WHOLE, params: bytes | None = None, name: str = "network_rel.bin") -> Model:
    (folder / name).write_bytes(data)
    if params is not None:
        (folder / name).with_name("network_rel_params.bin").write_bytes(params)
    return load_model(str(folder / name))


def step_of(folder: Path, model: Model, runtime: RuntimeVersion = ST) -> Step:
    return given_network(str(folder / "out"), "network", model, BOARD, runtime).step


def made(step: Step) -> None:
    make_foreign_model(Call(tuple(map(Path, step.outputs)), tuple(map(Path, step.sources)), step.parameters, Path()))


def test_a_file_is_a_model_by_its_suffix_or_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "person.tflite").write_bytes(WHOLE)
    for model in (model_of(tmp_path), load_model(str(tmp_path / "person.tflite"))):
        assert model.relocatable is not None
        assert model.file is None
        assert model.reference is None
    assert load_model(str(tmp_path / "network_rel.bin")).name == "network_rel"


def test_a_model_yaml_names_one_and_the_model_to_compare_it_with(tmp_path: Path) -> None:
    model_of(tmp_path)
    (tmp_path / "net.tflite").write_bytes(b"TFL3")
    (tmp_path / "model.yaml").write_text("name: net\nfile: network_rel.bin\nreference: {model: net.tflite}\n")
    model = load_model(str(tmp_path))
    assert (model.name, model.relocatable) == ("net", tmp_path / "network_rel.bin")
    assert model.reference == tmp_path / "net.tflite"


def test_a_name_that_says_so_is_installed_from_flash(tmp_path: Path) -> None:
    settings = resolve({"model": "build/network_rel.bin", "split": "0", "mode": "xip"}, {}, tmp_path)
    assert choices_of(settings, tmp_path).load == "xip"
    assert resolve({"model": "a.tflite"}, {}, tmp_path)["loader"].value == "linked"
    assert resolve({"model": "a_rel.bin", "loader": "linked"}, {}, tmp_path)["loader"].value == "linked"


def test_the_step_describes_the_network_and_copies_the_files(tmp_path: Path) -> None:
    step = step_of(tmp_path, model_of(tmp_path))
    assert [Path(each).name for each in step.outputs] == [
        *("network_artifacts.json", "network_reloc.json", "network_rel.bin"),
    ]
    (tmp_path / "out").mkdir()
    (tmp_path / "out/network.c").write_text("of another network, built here before")
    made(step)
    artifacts = read_artifacts(tmp_path / "out", "network")
    assert [each.name for each in (*artifacts.inputs, *artifacts.outputs)] == ["in", "out"]
    assert artifacts.source.read_bytes() == WHOLE
    described = read_description(tmp_path / "out/network_reloc.json")
    assert described.outputs == (16,)
    assert [pool.name for pool in described.pools] == ["xSPI2", "AXISRAM5"]


def test_the_weights_of_a_split_model_are_beside_it(tmp_path: Path) -> None:
    step = step_of(tmp_path, model_of(tmp_path, *split(WHOLE)))
    made(step)
    assert Path(step.outputs[3]).read_bytes() == split(WHOLE)[1]


def test_other_weights_do_not_change_the_signature_and_other_code_does(tmp_path: Path) -> None:
    whole, alone = parse_reloc_file(WHOLE, "a"), parse_reloc_file(WHOLE[:-1] + b"\x77", "b")
    other = parse_reloc_file(WHOLE[:0x70] + b"\x00" + WHOLE[0x71:], "c")
    assert whole.code_crc32 == alone.code_crc32 != other.code_crc32


FAR = replace(POOLS[1], destination=0x60000000)
DAMAGED_WEIGHTS = WHOLE[:-8] + bytes(8)


@pytest.mark.parametrize(
    ("data", "runtime", "id", "said", "hint"),
    [
        (
            WHOLE,
            RuntimeVersion("st", (1, 1, 1, 14)),
            "N6-RELOC-044",
            "asks for ll_aton 1.1.3-8",
            "Core 3.0, which has its ABI",
        ),
        (WHOLE, RuntimeVersion("n6build", (1, 1, 3, 262)), "N6-RELOC-044", "1.1.3-262", "STEDGEAI_CORE_DIR"),
        (WHOLE, RuntimeVersion("n6build", VERSION), "N6-LLATON-004", "2 of 3 epochs use the NPU", "STEDGEAI_CORE_DIR"),
        (WHOLE[:-8], ST, "N6-RELOC-041", "8 bytes are missing", "verify"),
        (DAMAGED_WEIGHTS, ST, "N6-RELOC-041", "the CRC of its weights is", "verify"),
        (synthetic_model(VERSION, (POOLS[0], FAR), tables=True), ST, "N6-RELOC-041", "is not in RAM", "verify"),
        (with_flags(ASYNC), ST, "N6-RELOC-041", "differ in polling and waiting for events", "verify"),
        (synthetic_model(VERSION), ST, "N6-RELOC-040", "which has no value", "verify"),
    ],
    ids=[
        "other ABI",
        "other dev number",
        "NPU without ST's runtime",
        "cut off",
        "weights",
        "pool",
        "polling",
        "no tables",
    ],
)
def test_what_the_step_refuses(
    data: bytes, runtime: RuntimeVersion, id: str, said: str, hint: str, tmp_path: Path
) -> None:
    step = step_of(tmp_path, model_of(tmp_path, data), runtime)
    with pytest.raises(N6Error) as error:
        made(step)
    assert error.value.id == id
    assert said in error.value.what
    assert hint in (error.value.hint or "")
    assert not list(tmp_path.glob("out/*"))


def test_weights_of_another_model_and_another_hash(tmp_path: Path) -> None:
    alone, params = split(WHOLE)
    with pytest.raises(N6Error, match="N6-RELOC-041.*the CRC of its weights"):
        made(step_of(tmp_path, model_of(tmp_path, alone, params[:-8] + bytes(8))))
    with pytest.raises(N6Error, match="N6-RELOC-041.*its weights have 56 bytes, but it reports 64"):
        made(step_of(tmp_path, model_of(tmp_path, alone, params[:-8])))
    with pytest.raises(N6Error, match="N6-MODEL-006"):
        made(step_of(tmp_path, replace(model_of(tmp_path), sha256="0" * 64)))


@pytest.mark.parametrize(
    ("data", "id", "said"),
    [
        (b"weights" * 20, "N6-RELOC-030", "does not begin with NBIN"),
        (split(WHOLE)[1], "N6-RELOC-030", "does not begin with NBIN"),
        (WHOLE[:60], "N6-RELOC-031", "ends after 60 bytes"),
        (WHOLE[:300], "N6-RELOC-031", "ends after 300 bytes"),
        (split(WHOLE)[0], "N6-RELOC-042", "'network_rel_params.bin' is missing in the same folder"),
    ],
    ids=["another file", "its weights", "header", "cut off", "without weights"],
)
def test_what_planning_refuses(data: bytes, id: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error) as error:
        step_of(tmp_path, model_of(tmp_path, data))
    assert error.value.id == id
    assert said in error.value.what


def test_what_follows_from_a_model(tmp_path: Path) -> None:
    found = as_the_models_are(RELOC, [model_of(tmp_path, with_flags(SECURE | DEBUG_INFO))])
    assert (found.secure, found.debug_info, found.split) == (False, False, False)
    found = as_the_models_are(RELOC, [model_of(tmp_path, *split(WHOLE))])
    assert (found.secure, found.debug_info, found.split) == (True, True, True)
    assert as_the_models_are(Choices(), []) == Choices()


@pytest.mark.parametrize(
    ("choices", "id", "said"),
    [
        (Choices(), "N6-OPTION-004", "cannot be linked into an Appli"),
        (replace(RELOC, backend="reference"), "N6-RELOC-043", "'backend=reference'"),
        (replace(RELOC, epochs=True), "N6-RELOC-043", "'epochs=1'"),
        (replace(RELOC, name="other"), "N6-RELOC-043", "'name=other'"),
        (replace(RELOC, split=True), "N6-RELOC-043", "'split=1'"),
        (replace(RELOC, secure=False), "N6-RELOC-043", "'secure=0'"),
    ],
)
def test_what_a_linked_model_contradicts(choices: Choices, id: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error) as error:
        as_the_models_are(choices, [model_of(tmp_path)])
    assert error.value.id == id
    assert said in error.value.what


def test_models_of_two_kinds_in_one_application(tmp_path: Path) -> None:
    models = [model_of(tmp_path), model_of(tmp_path, with_flags(DEBUG_INFO), name="other_rel.bin")]
    with pytest.raises(N6Error, match="N6-RELOC-043.*network_rel is whole, secure, with debug fields, other_rel whole"):
        as_the_models_are(RELOC, models)

"""Models that backend neural_art refuses, and a missing model of the NPU."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import one_op_models as ops
import pytest
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.compile.backend import Compilation, ModelSource
from n6build.compile.backends import backend_for
from n6build.compile.board_pools import relocatable
from n6build.compile.ll_aton import own_version
from n6build.compile.neural_art.backend import BACKEND
from n6build.compile.reference.compile_model import graph_of
from n6build.judge.own_blobs import model_program
from n6build.judge.own_blobs.model_program import Exchange, Run, find_program, replay
from n6build.judge.own_blobs.reference_tensors import reference_tensors

from own_blobs import compiled as own
from own_blobs.compiled import BOARD


def source(file: Path | None, vectors: Path | None = None) -> ModelSource:
    return ModelSource("model", file, "", None, None, None, (), vectors)


def test_it_is_never_chosen_by_itself() -> None:
    keyword = own.model_file("keyword")
    found = backend_for(source(keyword, keyword.with_name("inputs.npy")), "auto", read_environment())
    assert found.name != "neural_art"
    assert not BACKEND.suits(source(keyword, keyword), read_environment())


def test_it_wants_a_model_file_with_vectors(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-NET-024: backend neural_art needs the model file"):
        BACKEND.check(source(None))
    with pytest.raises(N6Error, match="N6-NET-024: backend neural_art reads .tflite and .onnx, not .h5"):
        BACKEND.check(source(tmp_path / "model.h5"))
    with pytest.raises(N6Error, match="N6-NET-032: backend neural_art needs vectors"):
        BACKEND.check(source(tmp_path / "model.tflite"))


def test_blobs_have_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = relocatable(own.pools())
    monkeypatch.setattr(own, "pools_of_networks", lambda *_: [pools])
    with pytest.raises(N6Error, match="N6-NET-031: memory pool octoFlash has no address"):
        own.compile_model("keyword")
    # The error comes before anything is built.
    keyword = own.model_file("keyword")
    given = source(keyword, keyword.with_name("inputs.npy"))
    with pytest.raises(N6Error, match="N6-NET-031"):
        BACKEND.step(Compilation(given, "network", "build", pools, own_version(), read_environment(), None))


@pytest.mark.parametrize(
    ("shape", "around", "zero", "why"),
    [
        ((8, 8, 4), ((1, 1), (1, 1), (1, 0)), -128, "more than height and width"),
        ((8, 8, 4), ((7, 1), (1, 1), (0, 0)), -128, "such a padding"),
        ((129, 8, 1), ((1, 1), (1, 1), (0, 0)), -128, "such a padding"),
        ((8, 65, 1), ((1, 1), (1, 1), (0, 0)), -128, "such a padding"),
        ((8, 8, 4), ((1, 1), (1, 1), (0, 0)), 0, "such a padding"),
    ],
)
def test_a_pad_that_was_not_seen_stays_on_the_cpu(
    shape: tuple[int, ...], around: tuple[tuple[int, int], ...], zero: int, why: str, tmp_path: Path
) -> None:
    (tmp_path / "pad.tflite").write_bytes(ops.pad((1, *shape), ((0, 0), *around), ops.Quantisation(1.0, zero)))
    np.save(tmp_path / "inputs.npy", np.zeros((1, *shape), np.int8))
    graph = graph_of(tmp_path / "pad.tflite")
    values = reference_tensors(tmp_path / "pad.tflite", graph, tmp_path / "inputs.npy")
    with pytest.raises(N6Error, match=f"N6-NET-030(.|\n)*{why}"):
        own.compile_file(tmp_path / "pad.tflite", graph, values)


def test_pools_that_are_too_small_say_by_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = own.pools()
    small = tuple(replace(pool, size=min(pool.size, 4096)) if pool.rights == "ACC_WRITE" else pool for pool in pools)
    monkeypatch.setattr(own, "pools_of_networks", lambda *_: [small])
    with pytest.raises(N6Error, match="N6-NET-013: the activations need at least") as caught:
        own.compile_model("miniresnet")
    needed, missing, offered = map(int, re.findall(r"(\d+) bytes", caught.value.what))
    assert needed - missing == offered
    assert "network.pools in model.yaml" in str(caught.value)


def test_flash_that_is_too_small_for_the_weights_says_by_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = own.pools()
    small = tuple(pool if pool.rights == "ACC_WRITE" else replace(pool, size=16384) for pool in pools)
    monkeypatch.setattr(own, "pools_of_networks", lambda *_: [small])
    with pytest.raises(N6Error, match="N6-NET-012: the weights need .* octoFlash has") as caught:
        own.compile_model("keyword")
    needed, missing, offered = map(int, re.findall(r"\d+", caught.value.what))
    assert needed - missing == offered == 16384
    assert "network.pools in model.yaml" in str(caught.value)


def test_without_a_c_compiler_there_is_no_model_of_the_npu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model_program, "user_cache_path", lambda _: tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(N6Error, match="N6-NPU-010: the model of the NPU needs a C compiler"):
        find_program(BOARD.soc)


def test_a_compiler_that_fails_is_told_with_its_first_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model_program, "user_cache_path", lambda _: tmp_path)
    monkeypatch.setattr(model_program, "npu_header", lambda _: "#error no such chip\n")
    with pytest.raises(N6Error, match="N6-NPU-010: the model of the NPU cannot be compiled: .*no such chip"):
        find_program(BOARD.soc)
    assert not list(tmp_path.rglob("n6npu_replay"))


def test_what_the_model_cannot_run_is_refused_with_its_reason() -> None:
    memory = [(0x1000, bytes(64))]
    with pytest.raises(N6Error, match="N6-NPU-011: the model of the NPU rejects a blob"):
        replay(own.program(), memory, [Run(0x1000)])
    with pytest.raises(N6Error, match="N6-NPU-011.*it asks for memory that there is not"):
        replay(own.program(), memory, [Run(0x1000, exchanges=[Exchange(1, 0x2000, 4)])])


def test_a_request_that_is_cut_off_ends_the_program() -> None:
    result = subprocess.run([own.program()], input=b"\1\0\0\0\0", capture_output=True, check=False)
    assert result.returncode == 1
    assert b"the request is cut off" in result.stderr


def test_vectors_of_another_size_are_refused() -> None:
    keyword = own.model_file("keyword")
    with pytest.raises(N6Error, match="N6-NPU-017: a row has 3200 bytes, but the model's inputs have 490"):
        reference_tensors(keyword, own.graph("keyword"), own.model_file("miniresnet").with_name("inputs.npy"))


def test_vectors_without_a_row_or_that_are_no_array_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "none.npy", np.zeros((0, 49, 10, 1), np.int8))
    (tmp_path / "text.npy").write_text("no array")
    for name in ("none.npy", "text.npy"):
        with pytest.raises(N6Error, match=f"{name}(.|\n)*N6-VEC-001"):
            reference_tensors(own.model_file("keyword"), own.graph("keyword"), tmp_path / name)

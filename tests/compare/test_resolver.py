"""Models that the reference kernels of LiteRT refuse, and its optimised ones run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert
from n6build.judge.compare.interpret import ports_of, reference_rows
from n6build.judge.compare.tflite_interpreter import TfliteModel
from one_op_models import Quantisation, Tensor, write_model
from samples import sample

KEYWORD = Path(__file__).resolve().parents[2] / "models/keyword/keyword.tflite"
MISSING = "Didn't find op for builtin opcode 'TILE' version '3'."


def without(*refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interpreter refuse each model with these resolvers."""
    real = litert.Interpreter

    def start(**arguments: Any) -> Any:
        if arguments["experimental_op_resolver_type"] in refused:
            raise ValueError(f"{MISSING}\nRegistration failed.")
        return real(**arguments)

    monkeypatch.setattr(litert, "Interpreter", start)


def test_another_resolver_runs_what_the_reference_kernels_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = TfliteModel(KEYWORD.read_bytes(), all_tensors=False)
    assert plain.instead == ""
    without(litert.OpResolverType.BUILTIN_REF, monkeypatch=monkeypatch)
    other = TfliteModel(KEYWORD.read_bytes(), all_tensors=False)
    assert other.instead == MISSING
    (port,) = other.inputs()
    for each in (plain, other):
        each.run([np.zeros(port.shape, port.type)])
    (first,), (second,) = plain.outputs(), other.outputs()
    assert first.shape == second.shape


def test_a_model_that_both_refuse_is_refused_for_the_first_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    resolvers = litert.OpResolverType
    without(resolvers.BUILTIN_REF, resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES, monkeypatch=monkeypatch)
    with pytest.raises(ValueError, match="TILE"):
        TfliteModel(KEYWORD.read_bytes(), all_tensors=False)


def test_a_lower_version_of_an_operator_computes_the_same() -> None:
    """The reference kernels refuse TILE 3, which only takes further types."""
    values = np.arange(6, dtype=np.int8).reshape(2, 3)
    repeats = np.array([2, 1], np.int32)
    tensors = [
        Tensor("input", values.shape, np.int8, Quantisation(0.1)),
        Tensor("repeats", repeats.shape, np.int32, None, repeats),
        Tensor("output", (4, 3), np.int8, Quantisation(0.1)),
    ]
    model = TfliteModel(write_model("TILE", tensors, version=3), all_tensors=False)
    assert model.instead == ""
    model.run([values])
    assert model.outputs()[0].tolist() == np.tile(values, (2, 1)).tolist()


def test_an_operator_that_the_reference_kernels_lack_names_the_other_resolver(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tensors = [Tensor("input", (1, 4), np.float32), Tensor("output", (1, 4), np.float32)]
    model = tmp_path / "elu.tflite"
    model.write_bytes(write_model("ELU", tensors))
    (port,), _ = ports_of(model)
    assert reference_rows(model, [[np.ones(port.shape, port.type)]])
    said = capsys.readouterr().out
    assert "runs on LiteRT's optimised kernels, its reference kernels refuse it: Didn't find op" in said


@pytest.mark.slow
def test_a_detection_model_of_a_newer_converter_runs_on_the_reference_kernels() -> None:
    model = sample("npu/fallguard-ssd-core-2.1/fall_guard_st_ssd_mobilenet_v1_256v2.tflite")
    assert TfliteModel(model.read_bytes(), all_tensors=False).instead == ""

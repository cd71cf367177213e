"""Models that the reference kernels of LiteRT refuse, and its optimised ones run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import interpreter as litert
from n6build.judge.compare.interpret import ports_of, reference_rows
from n6build.judge.compare.tflite_interpreter import TfliteModel
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


@pytest.mark.slow
def test_the_other_resolver_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    model = sample("npu/fallguard-ssd-core-2.1/fall_guard_st_ssd_mobilenet_v1_256v2.tflite")
    (port,), _ = ports_of(model)
    assert reference_rows(model, [[np.zeros(port.shape, port.type)]])
    assert f"runs on LiteRT's optimised kernels, its reference kernels refuse it: {MISSING}" in capsys.readouterr().out

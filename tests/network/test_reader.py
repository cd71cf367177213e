"""Models that cannot be compiled: one error with operator, tensor and type.

No model causes a traceback.
"""

import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import one_op_models as ops
import pytest
from ai_edge_litert import schema_py_generated as schema
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.reference.compile_model import compile_network
from one_op_models import Quantisation, Tensor

from network.host_network import extflash
from network.network_models import (
    Change,
    as_file,
    chain,
    compile_or_refuse,
    edit,
    model_error,
    mutated,
    own_models,
    set_code,
    set_options,
    set_quantisation,
    set_tensor,
)

IN, OUT = Quantisation(0.05, 3), Quantisation(0.11, -7)


def conv() -> bytes:
    weights = np.random.default_rng(1).integers(-127, 128, (4, 3, 3, 2), dtype=np.int8)
    return ops.conv_2d((6, 6, 2), weights, np.zeros(4, np.int32), [0.01, 0.02, 0.03, 0.04], IN, OUT)


def _weights_from_outside(tree: Any) -> None:
    tree.subgraphs[0].tensors[1].buffer = 0
    tree.subgraphs[0].inputs = [0, 1]


REFUSED: dict[str, tuple[Change, str, tuple[str, ...]]] = {
    "unknown operator": (
        set_code(0, schema.BuiltinOperator.RFFT2D),
        "N6-NET-003",
        ("operator 0 (RFFT2D)", "'output'", "int8"),
    ),
    "operator of a later schema": (set_code(0, 5000), "N6-NET-003", ("operator 0 (number 5000)",)),
    "custom operator": (
        set_code(0, schema.BuiltinOperator.CUSTOM, b"ethos-u"),
        "N6-NET-003",
        ("operator 0 (CUSTOM 'ethos-u')",),
    ),
    "float tensor": (
        set_tensor(0, type=schema.TensorType.FLOAT32),
        "N6-NET-004",
        ("operator 0 (CONV_2D)", "'input'", "float32"),
    ),
    "16-bit tensor": (
        set_tensor(3, type=schema.TensorType.INT16),
        "N6-NET-004",
        ("operator 0 (CONV_2D)", "'output'", "int16"),
    ),
    "open shape": (
        set_tensor(0, shapeSignature=[-1, -1, 6, 2]),
        "N6-NET-005",
        ("operator 0 (CONV_2D)", "'input'", "[-1, -1, 6, 2]"),
    ),
    "batch": (set_tensor(0, shape=[2, 6, 6, 2]), "N6-NET-005", ("operator 0 (CONV_2D)", "'input'", "batch of 2")),
    "no quantisation": (set_tensor(3, quantization=None), "N6-NET-006", ("operator 0 (CONV_2D)", "'output' (int8)")),
    "activation with several scales": (
        set_quantisation(0, scale=[0.1, 0.2], zeroPoint=[0, 0]),
        "N6-NET-006",
        ("'input' (int8)", "2 scales"),
    ),
    "scale zero": (set_quantisation(0, scale=[0.0]), "N6-NET-006", ("'input' (int8)", "scale 0")),
    "infinite scale": (set_quantisation(3, scale=[float("inf")]), "N6-NET-006", ("'output' (int8)", "inf")),
    "scale of no calibration": (set_quantisation(3, scale=[2956686.0]), "N6-NET-006", ("'output' (int8)",)),
    "zero point": (set_quantisation(0, zeroPoint=[300]), "N6-NET-006", ("'input' (int8)", "300")),
    "too few channel scales": (
        set_quantisation(1, scale=[0.1, 0.2], zeroPoint=[0, 0]),
        "N6-NET-006",
        ("operator 0 (CONV_2D)", "'weights' (int8)", "2 scales"),
    ),
    "scales along another dimension": (set_quantisation(1, quantizedDimension=3), "N6-NET-006", ("'weights' (int8)",)),
    "negative channel scale": (set_quantisation(1, scale=[0.1, -1, 0.1, 0.1]), "N6-NET-006", ("'weights'",)),
    "asymmetric weights": (set_quantisation(1, zeroPoint=[0, 0, 5, 0]), "N6-NET-006", ("'weights'", "zero point")),
    "output of another shape": (
        set_tensor(3, shape=[1, 5, 6, 4]),
        "N6-NET-007",
        ("'output' (int8)", "[1, 5, 6, 4]", "[1, 6, 6, 4]"),
    ),
    "weights that are an input": (_weights_from_outside, "N6-NET-007", ("'weights' (int8)", "constant")),
    "activation function": (
        set_options(fusedActivationFunction=schema.ActivationFunctionType.TANH),
        "N6-NET-008",
        ("operator 0 (CONV_2D)", "TANH"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str, tmp_path: Path) -> None:
    change, identity, words = REFUSED[name]
    error = model_error(edit(conv(), change), tmp_path)
    assert error.id == identity
    assert [word for word in words if word not in error.what] == []


def test_a_batch_left_open_is_one(tmp_path: Path) -> None:
    file = as_file(edit(conv(), set_tensor(0, shapeSignature=[-1, 6, 6, 2])), tmp_path)
    compile_network(file, extflash(), tmp_path / "out")
    assert (tmp_path / "out" / "network.c").is_file()


def test_several_subgraphs(tmp_path: Path) -> None:
    error = model_error(edit(conv(), lambda tree: tree.subgraphs.append(tree.subgraphs[0])), tmp_path)
    assert (error.id, "2 subgraphs" in error.what) == ("N6-NET-008", True)


def test_a_softmax_with_another_output_scale(tmp_path: Path) -> None:
    error = model_error(edit(ops.softmax(1, 10, 0.1), set_quantisation(1, scale=[0.01])), tmp_path)
    assert (error.id, "operator 0 (SOFTMAX)" in error.what) == ("N6-NET-006", True)


def test_a_sum_that_the_reference_cannot_scale(tmp_path: Path) -> None:
    model = ops.add((1, 4), (1, 4), Quantisation(100.0, 0), Quantisation(100.0, 0), Quantisation(1e-6, 0))
    error = model_error(model, tmp_path)
    assert (error.id, "operator 0 (ADD)" in error.what) == ("N6-NET-006", True)


@pytest.mark.parametrize(
    "content", [b"", b"TFL3", b"\0\0\0\0TFL3", b"PK\x03\x04" * 20, b"\x08\0\0\0TFL3" + b"\xff" * 64, b"{}" * 10]
)
def test_files_that_are_no_models(content: bytes, tmp_path: Path) -> None:
    assert model_error(content, tmp_path).id in ("N6-NET-001", "N6-NET-002")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="error N6-FILE-002: "):
        compile_network(tmp_path / "absent.tflite", extflash(), tmp_path / "out")


@cache
def _subjects() -> tuple[bytes, ...]:
    def softmax_behind() -> bytes:
        return chain(
            conv(), ops.reshape((1, 6, 6, 4), (1, 144), OUT), ops.softmax(1, 144, OUT.per_tensor, OUT.zero_point)
        )

    whole = [path.read_bytes() for path in own_models() if path.stem == "keyword"]
    return (conv(), softmax_behind(), ops.pad((1, 4, 4, 2), [(0, 0), (1, 1), (1, 1), (0, 0)], IN), *whole)


# CPU time of this process, ten times that of the slowest example: a damaged number must not cause an endless loop.
CPU_S = 5.0


def _compiles_or_is_refused(model: bytes, folder: Path) -> None:
    began = time.process_time()
    compile_or_refuse(model, folder)
    assert time.process_time() - began < CPU_S


@settings(max_examples=250)
@given(data=st.data())
def test_mutated_files_never_end_in_a_traceback(data: st.DataObject, tmp_path: Path) -> None:
    """Bytes and 32-bit words are overwritten anywhere, or the file is cut off.

    Most of them are where the tables are.
    """
    model = mutated(data, data.draw(st.sampled_from(_subjects())), 4)
    if data.draw(st.integers(0, 9)) == 0:
        model = model[: data.draw(st.integers(0, len(model) - 1))]
    _compiles_or_is_refused(model, tmp_path)


def test_every_truncation_of_a_model_is_refused_or_compiles(tmp_path: Path) -> None:
    model = conv()
    for length in range(0, len(model), 7):
        _compiles_or_is_refused(model[:length], tmp_path)


def test_every_word_of_a_model_may_be_an_extreme(tmp_path: Path) -> None:
    model = conv()
    for position in range(0, len(model) - 4, 4):
        for word in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"):
            _compiles_or_is_refused(model[:position] + word + model[position + 4 :], tmp_path)


def _mean_over(*axes: int) -> bytes:
    tensors = [
        Tensor("input", (1, 4, 5, 3), np.int8, IN),
        Tensor("axes", (len(axes),), np.int32, None, np.array(axes, np.int32)),
        Tensor("output", (1, 4, 5, 1), np.int8, OUT),
    ]
    return ops.write_model("MEAN", tensors, "Reducer", keepDims=True)


@pytest.mark.parametrize("axes", [(1, 2, 4), (5, 2), (-7, 2)])
def test_a_mean_over_axes_that_the_input_lacks_is_refused(axes: tuple[int, ...], tmp_path: Path) -> None:
    error = model_error(_mean_over(*axes), tmp_path)
    assert error.id == "N6-NET-007"
    assert "operator 0 (MEAN): tensor 'axes' (int32) names the axes" in error.what

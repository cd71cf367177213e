"""The reference interpreters: all activations in order, and their errors.

A model that they cannot run is an error.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import float_islands
import numpy as np
import one_op_models
import onnx
import pytest
import reference_interpreter
from hypothesis import given, settings
from hypothesis import strategies as st
from movement_models import random_inputs
from n6build.base.errors import N6Error
from n6build.compile.reference.onnx.reader import read_onnx_graph
from n6build.judge.compare.interpret import interpret, ports_of, reference_rows
from n6build.judge.compare.limits import MAX_ACTIVATION_BYTES, missing_interpreter
from n6build.judge.compare.measure import measure
from n6build.judge.compare.onnx_interpreter import OnnxModel
from n6build.judge.compare.tensors import ReferenceTensor
from network import network_models
from network.onnx_equality import outputs_of, random_onnx_inputs
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx_models import qdq_convolution
from samples import sample

ROOT = Path(__file__).resolve().parents[2]
KEYWORD = ROOT / "models/keyword/keyword.tflite"
YAMNET = "npu/yamnet-core-2.2/yamnet_1024_64x96_tl_qdq_int8.onnx"
REID = "npu/reid-mobilenetv2-core-3.0/mobilenetv2_a100_256_128_fft_int8.tflite"


def check_order(tensors: tuple[ReferenceTensor, ...]) -> None:
    names: list[str] = []
    for each in tensors:
        assert set(each.inputs) <= set(names), each.name
        assert (each.operator == "input") <= (len(each.inputs) <= 1)
        assert each.shape == each.values.shape
        assert each.type == each.values.dtype.name
        names.append(each.name)
    assert len(set(names)) == len(names)


# Models of TFLite.


@pytest.mark.parametrize("model", network_models.own_models(), ids=lambda path: path.stem)
def test_every_tensor_of_a_tflite_file_is_that_of_the_reference_resolver(model: Path) -> None:
    inputs = random_inputs(model.read_bytes(), 1)
    oracle = reference_interpreter.load(model.read_bytes(), preserve_all_tensors=True)
    for detail, values in zip(oracle.get_input_details(), inputs, strict=True):
        oracle.set_tensor(detail["index"], values)
    oracle.invoke()
    made = {index for each in oracle._get_ops_details() for index in each["outputs"].tolist()}
    made |= {each["index"] for each in oracle.get_input_details()}
    details = {each["name"]: each for each in oracle.get_tensor_details() if each["index"] in made}

    tensors = interpret(model, inputs)
    check_order(tensors)
    assert {each.name for each in tensors} == set(details)
    for each in tensors:
        detail = details[each.name]
        assert each.channels_last
        if each.type != "float32":
            assert (each.scale, each.zero_point) == pytest.approx(detail["quantization"])
        assert np.array_equal(each.values, oracle.get_tensor(detail["index"])), each.name
    kinds = [each["op_name"] for each in oracle._get_ops_details()]
    assert [each.operator for each in tensors] == ["input"] * len(inputs) + kinds

    (outputs,) = reference_rows(model, [inputs])
    assert [each.tolist() for each in outputs] == [
        each.tolist() for each in reference_interpreter.outputs(model.read_bytes(), *inputs)
    ]


def test_several_inferences_need_one_start() -> None:
    model = ROOT / "models/miniresnet/miniresnet.tflite"
    rows = np.load(model.parent / "inputs.npy")
    expected = np.load(model.parent / "expected.npy")
    found = reference_rows(model, [[row] for row in rows])
    assert np.array_equal(np.concatenate([each[0] for each in found]), expected)


def test_an_operator_with_two_operands_names_both(tmp_path: Path) -> None:
    quantisation = one_op_models.Quantisation(0.5, 3)
    model = network_models.as_file(
        one_op_models.add((1, 4), (1, 4), quantisation, quantisation, quantisation), tmp_path, "add.tflite"
    )
    inputs = random_inputs(model.read_bytes(), 1)
    tensors = interpret(model, inputs)
    assert tensors[-1].operator == "ADD"
    assert len(tensors[-1].inputs) == len(inputs)
    assert (tensors[-1].scale, tensors[-1].zero_point) == (0.5, 3)


# Models of ONNX.


def oracle(x: NDArray[np.float32], weights: NDArray[np.int8], zero_point: int) -> dict[str, NDArray[np.generic]]:
    """Return the tensors of `qdq_convolution`, computed in integers as on a chip."""
    quantised = np.clip(np.rint(x.astype(np.float64) * 2**4) + zero_point, -128, 127).astype(np.int64)
    padded = np.pad(quantised - zero_point, ((0, 0), (0, 0), (1, 1), (1, 1)))
    size = x.shape[-1]
    windows = np.stack([padded[:, :, i : i + size, j : j + size] for i in range(3) for j in range(3)], axis=2)
    sums = np.einsum("bctyx,kct->bkyx", windows, weights.astype(np.int64).reshape(*weights.shape[:2], 9))
    # The factor is 2**-4 * 2**-6 / 2**-2, and ties round to even.
    made = np.clip(np.rint(np.maximum(sums, 0) * 2.0**-8) - 128, -128, 127)
    return {"x": x, "x_q": quantised.astype(np.int8), "y_q": made.astype(np.int8)}


@settings(max_examples=40)
@given(
    channels=st.integers(1, 4),
    kernels=st.integers(1, 4),
    size=st.integers(1, 7),
    zero_point=st.integers(-128, 127),
    seed=st.integers(0, 1000),
)
def test_every_quantised_tensor_of_an_onnx_graph_is_that_of_a_plain_oracle(
    channels: int, kernels: int, size: int, zero_point: int, seed: int
) -> None:
    data = qdq_convolution(channels=channels, kernels=kernels, size=size, zero_point=zero_point, seed=seed)
    weights = numpy_helper.to_array(
        next(t for t in onnx.load_model_from_string(data).graph.initializer if t.name == "w")
    )
    x = np.random.default_rng(seed).normal(0, 4, (1, channels, size, size)).astype(np.float32)
    model = OnnxModel(data, all_tensors=True)
    model.run([x])
    found = {each.name: each.values for each in model.tensors()}
    wanted = oracle(x, weights, zero_point)
    assert list(found) == [*wanted, "y"]
    for name, values in wanted.items():
        assert np.array_equal(found[name], values), name
    (y,) = model.outputs()
    assert np.array_equal(y, (wanted["y_q"].astype(np.float32) + 128) * 0.25)


def test_the_tensors_of_an_onnx_graph_say_what_made_them(tmp_path: Path) -> None:
    model = network_models.as_file(qdq_convolution(), tmp_path, "net.onnx")
    tensors = interpret(model, [np.zeros((1, 2, 5, 5), np.float32)])
    check_order(tensors)
    told = [(t.name, t.operator, t.inputs, t.type, t.scale, t.zero_point, t.channels_last) for t in tensors]
    assert told == [
        ("x", "input", (), "float32", 1.0, 0, False),
        ("x_q", "input", ("x",), "int8", 2**-4, -3, False),
        ("y_q", "Conv+Relu", ("x_q",), "int8", 2**-2, -128, False),
        # An output of real numbers has no QuantizeLinear.
        ("y", "DequantizeLinear", ("y_q",), "float32", 1.0, 0, False),
    ]


def test_weights_are_no_activations_and_scales_of_channels_are_left_out(tmp_path: Path) -> None:
    model = onnx.load_model_from_string(qdq_convolution())
    # The output gets a scale for each channel, and the graph quantises the weights.
    for tensor in model.graph.initializer:
        if tensor.name in ("s_y", "z_y"):
            tensor.CopyFrom(numpy_helper.from_array(np.repeat(numpy_helper.to_array(tensor), 3), tensor.name))
        if tensor.name == "w":
            tensor.CopyFrom(numpy_helper.from_array(np.ones((3, 2, 3, 3), np.float32), "w_f"))
    model.graph.node.insert(2, helper.make_node("QuantizeLinear", ["w_f", "s_w", "z_w"], ["w"], axis=0))
    path = tmp_path / "net.onnx"
    path.write_bytes(model.SerializeToString())
    assert [each.name for each in interpret(path, [np.zeros((1, 2, 5, 5), np.float32)])] == ["x", "x_q", "y"]


# Real networks.


def test_yamnet_has_its_27_convolutions() -> None:
    model = sample(YAMNET)
    x = np.random.default_rng(1).normal(size=(1, 64, 96, 1)).astype(np.float32)
    tensors = interpret(model, [x])
    check_order(tensors)
    assert [each.operator for each in tensors].count("Conv") == 27
    assert (tensors[1].operator, tensors[1].shape, tensors[1].type) == ("Transpose", (1, 1, 96, 64), "int8")
    first = tensors[1]
    wanted = np.clip(np.rint(x.transpose(0, 3, 2, 1) / np.float32(first.scale)) + first.zero_point, -128, 127)
    assert np.array_equal(first.values, wanted.astype(np.int8))
    ((scores,),) = reference_rows(model, [[x]])
    assert scores.sum() == pytest.approx(1, abs=1e-5)
    logits = next(each for each in tensors if each.operator == "Gemm")
    assert logits.values.argmax() == scores.argmax()


def test_reid_has_every_tensor_of_the_reference_resolver() -> None:
    model = sample(REID)
    inputs = random_inputs(model.read_bytes(), 1)
    tensors = interpret(model, inputs)
    check_order(tensors)
    assert tensors[0].type == "uint8"
    assert [each.type for each in tensors[1:]] == ["int8"] * 64
    (wanted,) = reference_interpreter.outputs(model.read_bytes(), *inputs)
    found = measure(tensors[-1].values, wanted, tensors[-1].zero_point)
    assert found.equal == found.elements == 1280


# Models and inputs from outside.


def refusal(model: Path, inputs: list[NDArray[np.generic]]) -> N6Error:
    with pytest.raises(N6Error) as caught:
        interpret(model, inputs)
    return caught.value


def test_an_interpreter_that_is_not_installed_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert missing_interpreter(KEYWORD) == "ai-edge-litert"
    assert missing_interpreter(tmp_path / "net.onnx") == "onnxruntime"
    error = refusal(KEYWORD, [])
    assert error.id == "N6-COMPARE-001"
    assert "run make setup, which installs the extra [compare]" in str(error)


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        ([], "0 inputs, but the model has 1"),
        ([np.zeros(3, np.int8)], "elements, but 3 values are given"),
        ([np.zeros(3, np.float32)], "is int8, but the values are float32"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(inputs: list[NDArray[np.generic]], what: str) -> None:
    error = refusal(KEYWORD, inputs)
    assert error.id == "N6-COMPARE-003"
    assert what in error.what


def test_a_tensor_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    grow = network_models.set_tensor(0, shape=[1 << 20, 1 << 20])
    model = network_models.as_file(network_models.edit(KEYWORD.read_bytes(), grow), tmp_path, "large.tflite")
    error = refusal(model, [])
    assert error.id == "N6-COMPARE-002"
    assert f"more than {MAX_ACTIVATION_BYTES}" in error.what


def write_onnx(path: Path, nodes: list[onnx.NodeProto], initializers: list[onnx.TensorProto]) -> Path:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], initializers)
    path.write_bytes(
        helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    )
    return path


def test_a_graph_that_makes_a_tensor_larger_than_the_memory_ends_its_process_alone(tmp_path: Path) -> None:
    shape = numpy_helper.from_array(np.array([1 << 36], np.int64), "shape")
    nodes = [helper.make_node("Expand", ["x", "shape"], ["y"])]
    error = refusal(write_onnx(tmp_path / "net.onnx", nodes, [shape]), [np.zeros(1, np.float32)])
    assert error.id == "N6-COMPARE-002"


def test_weights_in_another_file_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(4))
    weights = numpy_helper.from_array(np.zeros(1, np.float32), "w")
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="secret")
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    error = refusal(write_onnx(tmp_path / "net.onnx", nodes, [weights]), [np.zeros(1, np.float32)])
    assert error.id == "N6-COMPARE-002"
    assert "its weights are in a separate file" in error.what


def test_an_operator_that_nobody_knows_is_named(tmp_path: Path) -> None:
    nodes = [helper.make_node("Flurb", ["x"], ["y"])]
    error = refusal(write_onnx(tmp_path / "net.onnx", nodes, []), [np.zeros(1, np.float32)])
    assert error.id == "N6-COMPARE-002"
    assert "Flurb" in error.what
    assert "/" not in error.what.replace("ai.onnx", "")


def test_a_newer_set_of_operators_is_said_without_the_interpreter_s_source(tmp_path: Path) -> None:
    model = onnx.load_model_from_string(qdq_convolution())
    model.opset_import[0].version = 99
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    error = refusal(tmp_path / "net.onnx", [np.zeros((1, 2, 5, 5), np.float32)])
    assert error.what.startswith("cannot be run by the reference interpreter: ONNX Runtime only")


def test_tensors_of_one_name_are_told_apart(tmp_path: Path) -> None:
    def call_alike(model: Any) -> None:
        for tensor in model.subgraphs[0].tensors:
            tensor.name = "t"

    model = network_models.as_file(network_models.edit(KEYWORD.read_bytes(), call_alike), tmp_path, "net.tflite")
    check_order(interpret(model, random_inputs(model.read_bytes(), 1)))


# Each example starts a process that loads an interpreter.
@settings(max_examples=settings().max_examples // 5)
@given(st.data(), st.sampled_from(["tflite", "onnx"]))
def test_a_damaged_model_is_an_error_or_a_result_and_never_a_crash(
    tmp_path: Path, data: st.DataObject, kind: str
) -> None:
    whole = KEYWORD.read_bytes() if kind == "tflite" else qdq_convolution()
    inputs = random_inputs(KEYWORD.read_bytes(), 1) if kind == "tflite" else [np.zeros((1, 2, 5, 5), np.float32)]
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    model = tmp_path / f"net.{kind}"
    model.write_bytes(damaged[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else damaged)
    try:
        check_order(interpret(model, list(inputs)))
    except N6Error as error:
        assert re.fullmatch(r"N6-COMPARE-00[23]", error.id), error
        assert "Traceback" not in str(error)


@pytest.mark.parametrize("seed", range(4))
def test_selected_boxes_have_as_many_rows_as_the_network_gives(tmp_path: Path, seed: int) -> None:
    data = float_islands.selection(np.random.default_rng(seed))
    model = network_models.as_file(data, tmp_path, "model.onnx")
    inputs = random_onnx_inputs(data, seed)
    ((made,),) = reference_rows(model, [inputs])
    graph = read_onnx_graph(model)
    assert made.shape == graph.tensors[graph.outputs[0]].shape == ports_of(model)[1][0].shape
    (selected,) = outputs_of(data, inputs)
    assert np.array_equal(made[: len(selected)], selected)
    assert np.all(made[len(selected) :] == -1)
    *_, last = interpret(model, inputs)
    assert np.array_equal(last.values, made)

"""Facts of a model file before it is compiled, in both formats.

The tests also read damaged files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import one_op_models as ops
import onnx
import pytest
from graph_models import Graph
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.model_facts import read_model_facts
from n6build.compile.reference.tflite_reader import read_graph
from n6build.judge.compare.interpret import interpret
from one_op_models import Quantisation, packed, tree_of
from onnx_models import onnx_model

from network.network_models import own_models


def facts_of(folder: Path, name: str, data: bytes):  # type: ignore[no-untyped-def]
    (folder / name).write_bytes(data)
    return read_model_facts(folder / name)


@pytest.mark.parametrize("path", own_models(), ids=lambda path: path.stem)
def test_our_models_are_quantised(path: Path) -> None:
    facts = read_model_facts(path)
    assert (facts.format, facts.ir_version, facts.float_operators) == ("tflite", None, 0)
    assert facts.quantised_operators >= 6
    assert facts.inputs[0].type == "int8"


@pytest.mark.parametrize("field", ["builtinCode", "deprecatedBuiltinCode"])
def test_an_operator_is_known_by_its_code_in_either_field(field: str, tmp_path: Path) -> None:
    graph = Graph(3)
    data = graph.bytes(graph.sum(graph.conv(graph.input((1, 6, 6, 3)), 4), graph.conv(graph.input((1, 6, 6, 3)), 4)))
    tree = tree_of(data)
    for code in tree.operatorCodes:
        code.builtinCode = code.deprecatedBuiltinCode = max(code.builtinCode, code.deprecatedBuiltinCode)
        setattr(code, {"builtinCode": "deprecatedBuiltinCode", "deprecatedBuiltinCode": "builtinCode"}[field], 0)
    assert facts_of(tmp_path, "m.tflite", packed(tree)).quantised_operators == 2
    assert [each.kind for each in read_graph(tmp_path / "m.tflite").operators] == ["CONV_2D", "CONV_2D", "ADD"]
    tensors = interpret(tmp_path / "m.tflite", [np.zeros((1, 6, 6, 3), np.int8)] * 2)
    assert [each.operator for each in tensors if each.operator != "input"] == ["CONV_2D", "CONV_2D", "ADD"]


@pytest.mark.parametrize(("quantised", "counts"), [(True, (1, 0)), (False, (0, 1))])
def test_an_onnx_model_is_quantised_where_its_weights_are(
    tmp_path: Path, quantised: bool, counts: tuple[int, int]
) -> None:
    facts = facts_of(tmp_path, "m.onnx", onnx_model(quantised=quantised, ir_version=10))
    assert (facts.quantised_operators, facts.float_operators) == counts
    assert (facts.format, facts.ir_version) == ("onnx", 10)
    assert (facts.inputs[0].name, facts.inputs[0].type, facts.inputs[0].shape) == ("x", "float32", (-1, 4))


def test_an_operator_that_no_backend_knows_is_no_obstacle(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "m.tflite", ops.softmax(1, 10, 0.1))
    assert (facts.quantised_operators, facts.float_operators) == (0, 0)


@pytest.mark.parametrize("name", ["m.tflite", "m.onnx"])
@pytest.mark.parametrize("data", [b"", b"PK\3\4 something else", bytes(100)])
def test_a_file_of_another_format(tmp_path: Path, name: str, data: bytes) -> None:
    with pytest.raises(N6Error, match=f"N6-MODEL-020: is not a valid {name[2:]} model"):
        facts_of(tmp_path, name, data)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-FILE-002"):
        read_model_facts(tmp_path / "m.onnx")


MODELS = {
    "m.onnx": onnx_model(quantised=True),
    "m.tflite": ops.add((1, 4), (1, 4), Quantisation(0.1, 1), Quantisation(0.2, 2), Quantisation(0.3, -3)),
}


@given(data=st.data())
def test_damage_is_an_error_of_ours_or_none(tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(MODELS)))
    model = bytearray(MODELS[name])
    for position in data.draw(st.lists(st.integers(0, len(model) - 1), max_size=4)):
        model[position] = data.draw(st.integers(0, 255))
    try:
        facts_of(tmp_path, name, bytes(model[: data.draw(st.integers(0, len(model)))]))
    except N6Error as error:
        assert error.id == "N6-MODEL-020"


def test_onnx_is_really_what_is_tested() -> None:
    assert onnx.load_model_from_string(MODELS["m.onnx"]).graph.node

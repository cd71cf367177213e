"""Refused operators are all named at once, with a remedy.

Other models are not quantised, huge or overflow.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import one_op_models as ops
import pytest
from ai_edge_litert import schema_py_generated as schema
from n6build.base.errors import N6Error
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.refusals import nearest_change
from one_op_models import Quantisation

from network.host_network import extflash
from network.network_models import Change, as_file, chain, edit, model_error, set_code
from network.test_reader import IN, OUT, conv


def float_model(*edits: Callable[[Any], object]) -> bytes:
    """Return a float32 model of a convolution and a pooling.

    It has a signature as a converter writes it.
    """

    def to_float(tree: Any) -> None:
        graph = tree.subgraphs[0]
        for tensor in graph.tensors:
            if tensor.type in (schema.TensorType.INT8, schema.TensorType.INT32):
                tensor.type = schema.TensorType.FLOAT32
                tensor.quantization = None
            if tensor.buffer:
                tree.buffers[tensor.buffer].data = np.zeros(4 * int(np.prod(tensor.shape)), np.uint8)
        signature = schema.SignatureDefT()
        signature.signatureKey = "serving_default"
        signature.subgraphIndex = 0
        given, made = schema.TensorMapT(), schema.TensorMapT()
        given.name, given.tensorIndex = "keras_tensor", int(graph.inputs[0])
        made.name, made.tensorIndex = "output_0", int(graph.outputs[0])
        signature.inputs, signature.outputs = [given], [made]
        tree.signatureDefs = [signature]

    model = edit(chain(conv(), ops.pool_2d("MAX", (6, 6, 4), (2, 2), (2, 2), OUT)), to_float)
    for change in edits:
        model = edit(model, change)
    return model


def _lines(error: N6Error) -> list[str]:
    assert error.hint
    return [line.strip() for line in error.hint.splitlines()]


def test_a_float32_model_is_one_sentence_and_the_lines_that_quantise_it(tmp_path: Path) -> None:
    error = model_error(float_model(), tmp_path)
    assert error.id == "N6-NET-004"
    assert error.what == (
        "is a float32 model; this backend computes int8. The first of 2 such operators: operator 0 (CONV_2D): "
        "tensor 'input' (float32) has to be int8"
    )
    sentence, *program = _lines(error)
    assert "pip install ai-edge-quantizer" in sentence
    ast.parse("\n".join(program))
    assert 'Quantizer("subject.tflite"' in program[1]
    assert '"serving_default": [{"keras_tensor": sample} for sample in samples]' in program[2]
    assert '"subject_int8.tflite"' in program[3]


def test_names_in_the_lines_stay_strings(tmp_path: Path) -> None:
    def rename(tree: Any) -> None:
        tree.signatureDefs[0].inputs[0].name = 'x"}); import os #\n\u202e'

    error = model_error(float_model(rename), tmp_path)
    program = _lines(error)[1:]
    assert len(program) == 4
    names = {node.value for node in ast.walk(ast.parse("\n".join(program))) if isinstance(node, ast.Constant)}
    assert 'x"}); import os #\n\u202e' in names


def _without_signature(tree: Any) -> None:
    tree.signatureDefs = []


def _int8_weights(tree: Any) -> None:
    """Change the weights to int8.

    The converter does this without a representative data set.
    """
    weights = tree.subgraphs[0].tensors[1]
    weights.type = schema.TensorType.INT8
    weights.quantization = schema.QuantizationParametersT()
    weights.quantization.scale, weights.quantization.zeroPoint = [0.01], [0]
    tree.buffers[weights.buffer].data = np.zeros(int(np.prod(weights.shape)), np.uint8)


@pytest.mark.parametrize(
    ("change", "begin"),
    [
        (_without_signature, "is a float32 model; "),
        (_int8_weights, "has quantised weights, but computes with float32 (dynamic range); "),
        (lambda tree: ops.halve(tree, 1), "has float16 weights and computes with float32; "),
    ],
)
def test_what_has_to_be_converted_again_comes_with_the_lines_for_it(change: Change, begin: str, tmp_path: Path) -> None:
    error = model_error(float_model(change), tmp_path)
    assert (error.id, error.what.startswith(begin)) == ("N6-NET-004", True), error.what
    _, *program = _lines(error)
    ast.parse("\n".join(program))
    assert [line for line in program if "TFLITE_BUILTINS_INT8" in line]
    assert [line for line in program if "representative_dataset" in line]


def test_a_float_model_says_what_int8_would_not_help(tmp_path: Path) -> None:
    error = model_error(float_model(set_code(1, schema.BuiltinOperator.CONV_3D)), tmp_path)
    assert error.what.endswith("; in int8 it would still have unsupported operators: CONV_3D (1)")


def test_every_refused_operator_is_named_with_tensor_type_and_change(tmp_path: Path) -> None:
    def spoil(tree: Any) -> None:
        set_code(1, schema.BuiltinOperator.CONV_3D)(tree)
        set_code(2, schema.BuiltinOperator.CUSTOM, b"ethos-u")(tree)
        graph = tree.subgraphs[0]
        graph.tensors[int(graph.operators[4].outputs[0])].quantization = None

    same = ops.pool_2d("MAX", (6, 6, 4), (1, 1), (1, 1), OUT)
    error = model_error(edit(chain(conv(), same, same, same, same), spoil), tmp_path)
    first, *lines = error.what.split("\n    ")
    assert (error.id, first) == ("N6-NET-003", "3 of its 5 operators are unsupported:")
    assert lines == [
        "operator 1 (CONV_3D) (makes tensor 'output', int8) is not supported",
        "operator 2 (CUSTOM 'ethos-u') (makes tensor 'output', int8) is not supported",
        "operator 4 (MAX_POOL_2D): tensor 'output' (int8) has no quantisation",
    ]
    changes = _lines(error)
    assert changes[0] == "CONV_3D: replace it by CONV_2D"
    assert changes[1].startswith("CUSTOM 'ethos-u': pass the file from before Vela")
    assert changes[2].startswith("MAX_POOL_2D: quantise the model to int8")


def test_of_very_many_the_last_are_numbers(tmp_path: Path) -> None:
    same = ops.pool_2d("MAX", (6, 6, 4), (1, 1), (1, 1), OUT)

    def spoil(tree: Any) -> None:
        for position in range(1, 61):
            set_code(position, schema.BuiltinOperator.CONV_3D)(tree)

    error = model_error(edit(chain(conv(), *[same] * 60), spoil), tmp_path)
    *_, last = error.what.splitlines()
    assert last.strip() == "and 20 more: CONV_3D (" + ", ".join(map(str, range(41, 61))) + ")"


def test_the_nearest_change_names_only_what_this_backend_knows() -> None:
    every = {name for name in vars(schema.BuiltinOperator) if name.isupper()}
    for kind in every - set(KINDS):
        change = nearest_change(kind)
        assert change
        named = set(re.findall(r"\b[A-Z][A-Z0-9_]{2,}\b", change)) & every
        assert named <= set(KINDS), (kind, change)


def fully_connected(inputs: int, outputs: int) -> bytes:
    weights = np.ones((outputs, inputs), np.int8)
    weights[-1, -1] = 5
    return ops.fully_connected(1, weights, np.zeros(outputs, np.int32), [0.01], IN, OUT)


def test_a_model_of_100_mb(tmp_path: Path) -> None:
    file = tmp_path / "large.tflite"
    file.write_bytes(fully_connected(10_240, 10_240))
    assert file.stat().st_size > 100_000_000
    with pytest.raises(N6Error, match="error N6-NET-012: "):
        compile_network(file, extflash(), tmp_path / "out")
    *ram, _ = extflash()
    flash = MemoryPool("flash", "xSPI2", 0x70000000, 0x8000000, "ACC_READ", cacheable=True, use_for_initializers=True)
    compile_network(file, [*ram, flash], tmp_path / "out")
    weights = (tmp_path / "out" / "network_atonbuf.xSPI2.raw").read_bytes()
    assert len(weights) > 100_000_000
    assert weights.count(b"\x05") >= 1


def _shapes(*shapes: tuple[int, list[int]]) -> Change:
    def change(tree: Any) -> None:
        for position, shape in shapes:
            tree.subgraphs[0].tensors[position].shape = shape

    return change


HUGE = {
    "more elements than 31 bits count": (
        _shapes((0, [1, 65535, 65535, 2]), (3, [1, 65535, 65535, 4])),
        "N6-NET-005",
        "[1, 65535, 65535, 2], 8589672450 elements",
    ),
    "a product that wraps to a small number": (
        _shapes((0, [1, 65536, 65536, 2])),
        "N6-NET-005",
        "8589934592 elements",
    ),
    "more than any memory": (
        _shapes((0, [1, 16000, 16000, 2]), (3, [1, 16000, 16000, 4])),
        "N6-NET-013",
        "",
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_sizes_that_overflow(name: str, tmp_path: Path) -> None:
    change, identity, words = HUGE[name]
    file = as_file(edit(conv(), change), tmp_path)
    with pytest.raises(N6Error) as caught:
        compile_network(file, extflash(), tmp_path / "out")
    assert (caught.value.id, words in caught.value.what) == (identity, True), caught.value.what


def test_a_dilated_window_that_no_descriptor_holds(tmp_path: Path) -> None:
    weights = np.ones((4, 5, 5, 2), np.int8)
    scales = Quantisation(0.05, 3), Quantisation(0.11, -7)
    model = ops.conv_2d((6, 6, 2), weights, np.zeros(4, np.int32), [0.01], *scales, dilation=(40_000, 1))
    error = model_error(model, tmp_path)
    assert (error.id, "out of range" in error.what) == ("N6-NET-007", True)

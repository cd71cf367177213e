"""One error for all refused operators, with the nearest change that helps.

One error for all operators that are refused. For a model that is not quantised at all, it is one
sentence and a way to quantise the model.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from n6build.base.errors import N6Error
from n6build.compile.reference.graph import Graph, Refusal
from n6build.compile.reference.kinds import KINDS

_ACTIVATION = ("RELU6", "RELU", "HARD_SWISH", "LOGISTIC")
_CONTROL_FLOW = "convert one signature without control flow: unroll loops, and make the conditions of branches constant"
_AFTER_THE_NETWORK = "end the network before this operator, and compute it in the application"
_STRINGS = "compute it in the application, before the network"

# Operators that compute something similar, nearest first. A hint only names those that this backend knows.
_INSTEAD = {
    **dict.fromkeys(("ELU", "GELU", "LEAKY_RELU", "PRELU", "HARD_SWISH", "RELU_0_TO_1", "RELU_N1_TO_1"), _ACTIVATION),
    **dict.fromkeys(("RELU", "RELU6"), ("CONV_2D", "DEPTHWISE_CONV_2D", "ADD")),
    "LOGISTIC": ("HARD_SWISH", "RELU6", "SOFTMAX"),
    "TANH": ("LOGISTIC", "RELU_N1_TO_1"),
    "LOG_SOFTMAX": ("SOFTMAX",),
    "L2_POOL_2D": ("AVERAGE_POOL_2D",),
    "LOCAL_RESPONSE_NORMALIZATION": ("L2_NORMALIZATION", "MUL"),
    "CONV_3D": ("CONV_2D",),
    "CONV_3D_TRANSPOSE": ("TRANSPOSE_CONV",),
    "REDUCE_PROD": ("MUL",),
    "CUMSUM": ("SUM", "FULLY_CONNECTED"),
    "POW": ("MUL",),
    "SQUARE": ("MUL",),
    "ADD_N": ("ADD",),
    "ROUND": ("QUANTIZE",),
    "SIN": ("LOGISTIC", "TANH"),
    "COS": ("LOGISTIC", "TANH"),
    "LSTM": ("UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF", "FULLY_CONNECTED"),
    "RNN": ("UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF", "FULLY_CONNECTED"),
    "UNIDIRECTIONAL_SEQUENCE_RNN": ("UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF", "FULLY_CONNECTED"),
    "BIDIRECTIONAL_SEQUENCE_LSTM": ("UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF", "FULLY_CONNECTED"),
    "BIDIRECTIONAL_SEQUENCE_RNN": ("UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF", "FULLY_CONNECTED"),
    "RESIZE_BILINEAR": ("RESIZE_NEAREST_NEIGHBOR", "TRANSPOSE_CONV"),
    "RESIZE_NEAREST_NEIGHBOR": ("RESIZE_BILINEAR",),
    "BROADCAST_TO": ("ADD", "MUL"),
    "SPLIT_V": ("SPLIT", "STRIDED_SLICE"),
}
_WORDS = {
    **dict.fromkeys(("IF", "WHILE", "CALL", "CALL_ONCE", "STABLEHLO_WHILE", "STABLEHLO_CASE"), _CONTROL_FLOW),
    **dict.fromkeys(
        ("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "TOPK_V2", "WHERE", "UNIQUE", "ONE_HOT"),
        _AFTER_THE_NETWORK,
    ),
    **dict.fromkeys(("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_LOOKUP", "LSH_PROJECTION", "SKIP_GRAM"), _STRINGS),
    **dict.fromkeys(
        ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"), "freeze the model's variables before converting it"
    ),
    **dict.fromkeys(
        ("SHAPE", "RANK", "RANGE", "FILL", "ZEROS_LIKE", "SPARSE_TO_DENSE"),
        "convert the model with fixed input shapes and batch 1, so that the converter computes this",
    ),
    **dict.fromkeys(("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"), "pass random numbers as an input"),
    "FAKE_QUANT": "convert with optimizations = [tf.lite.Optimize.DEFAULT], which makes int8 of it",
    "DENSIFY": "convert the model without sparse weights",
    "DELEGATE": "pass the file from before the delegate (Edge TPU, GPU)",
}
_CUSTOM_WORDS = {
    "edgetpu-custom-op": "pass the file from before the Edge TPU compiler",
    "ethos-u": "pass the file from before Vela",
    "Flex": "convert with supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8] alone, without SELECT_TF_OPS",
}


def nearest_change(kind: str) -> str:
    """Return the nearest change of the model that helps with an operator.

    Args:
        kind: Name in the schema of .tflite files, or CUSTOM and the name of a custom operator in
            quotes.
    """
    if kind.startswith("CUSTOM"):
        name = kind.removeprefix("CUSTOM ").strip("'")
        found = (words for known, words in _CUSTOM_WORDS.items() if name.startswith(known))
        return next(found, "replace it by an operator of TensorFlow Lite: the file does not define a custom operator")
    if kind in _WORDS:
        return _WORDS[kind]
    instead = [known for known in _INSTEAD.get(kind, ()) if known in KINDS]
    if instead:
        return f"replace it by {' or '.join(instead[:3])}"
    return f"remove it, or replace it by some of: {', '.join(kind for kind in KINDS if ' ' not in kind)}"


# Number of refusals listed with their text. For the others, the error only has the operators' numbers.
_LINES = 40
_INDENT = "\n    "


def error_of(graph: Graph, refusals: Sequence[Refusal], where: str) -> N6Error:
    """Return the error for all refused operators of a model.

    It has the id of the first refusal.

    Args:
        graph: Graph of the model.
        refusals: At least one, in the order of their operators.
        where: Name of the model file.
    """
    if _is_float(graph, refusals):
        return _float_error(graph, refusals, where)
    return error_of_all(refusals, f"{_operators(graph)} operators", where)


def error_of_all(refusals: Sequence[Refusal], of: str, where: str) -> N6Error:
    """Return the error for all refused operators of a quantised model.

    It has the id of the first refusal.

    Args:
        refusals: At least one, in the order of their operators.
        of: Number and kind of the model's parts, such as '12 operators'.
        where: Name of the model file.
    """
    first = refusals[0]
    if len(refusals) == 1:
        return N6Error(first.id, first.text, where=where, hint=first.hint)
    lines = [refusal.text for refusal in refusals[:_LINES]]
    if len(refusals) > _LINES:
        lines.append(f"and {len(refusals) - _LINES} more: {_by_kind(refusals[_LINES:])}")
    what = f"{len(refusals)} of its {of} are unsupported:{_INDENT}{_INDENT.join(lines)}"
    return N6Error(first.id, what, where=where, hint=_hints(refusals))


def _operators(graph: Graph) -> int:
    return len({operator.index for operator in graph.operators}) + len(graph.refused)


def _by_kind(refusals: Sequence[Refusal]) -> str:
    numbers: dict[str, list[str]] = defaultdict(list)
    for refusal in refusals:
        numbers[refusal.kind].append(str(refusal.operator))
    return "; ".join(f"{kind} ({', '.join(operators)})" for kind, operators in numbers.items())


def _hints(refusals: Sequence[Refusal]) -> str:
    """Return each hint once, after the kinds of the operators that it helps."""
    kinds: dict[str, dict[str, None]] = defaultdict(dict)
    for refusal in refusals:
        kinds[refusal.hint][refusal.kind] = None
    if len(kinds) == 1:
        return refusals[0].hint
    return _INDENT.join(f"{', '.join(names)}: {hint}" for hint, names in kinds.items())


# Models that are not quantised


def _is_float(graph: Graph, refusals: Sequence[Refusal]) -> bool:
    """Return whether no activation is quantised and operators are refused for float."""
    activations = {tensor.dtype for tensor in graph.tensors.values() if tensor.data is None}
    in_the_way = {refusal.dtype for refusal in refusals}
    return "float32" in activations and not activations & {"int8", "uint8", "int16"} and bool(in_the_way & _FLOATS)


_FLOATS = {"float32", "float16", "bfloat16", "float64"}


def _float_error(graph: Graph, refusals: Sequence[Refusal], where: str) -> N6Error:
    types = {refusal.dtype for refusal in refusals}
    weights = {tensor.dtype for tensor in graph.tensors.values() if tensor.data is not None and tensor.quantisation}
    first = next(refusal for refusal in refusals if refusal.dtype in _FLOATS)
    whole = False
    if "float16" in types:
        which = "has float16 weights and computes with float32"
    elif weights & {"int8", "uint8", "int16"} or "int4" in types:
        which = "has quantised weights, but computes with float32 (dynamic range)"
    else:
        which = "is a float32 model"
        whole = True
    unknown = [refusal for refusal in refusals if refusal.id == "N6-NET-003"]
    more = f"; in int8 it would still have unsupported operators: {_by_kind(unknown)}" if unknown else ""
    what = f"{which}; this backend computes int8. The first of {len(refusals)} such operators: {first.text}{more}"
    hint = _INDENT.join(_quantising_the_file(graph, where) if whole and graph.signature else _QUANTISING_THE_SOURCE)
    return N6Error("N6-NET-004", what, where=where, hint=hint)


def _quantising_the_file(graph: Graph, file: str) -> list[str]:
    """Return Python code that makes an int8 model from this float32 model.

    `file` is the name of the model file.
    """
    assert graph.signature
    target = f"{file.removesuffix('.tflite')}_int8.tflite"
    inputs = ", ".join(f"{json.dumps(name)}: sample" for name in graph.signature.inputs)
    return [
        "quantise it to int8 (pip install ai-edge-quantizer); samples are about 100 inputs like those of the "
        "network, with batch 1:",
        "from ai_edge_quantizer import quantizer, recipe",
        f"to_int8 = quantizer.Quantizer({json.dumps(file)}, recipe.static_wi8_ai8())",
        f"ranges = to_int8.calibrate({{{json.dumps(graph.signature.key)}: [{{{inputs}}} for sample in samples]}})",
        f"to_int8.quantize(ranges).export_model({json.dumps(target)})",
    ]


_QUANTISING_THE_SOURCE = (
    "convert the trained model to int8; samples are about 100 inputs like those of the network, with batch 1:",
    "converter = tf.lite.TFLiteConverter.from_keras_model(model)  # or from_saved_model(folder)",
    "converter.optimizations = [tf.lite.Optimize.DEFAULT]",
    "converter.representative_dataset = lambda: ([sample] for sample in samples)",
    "converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]",
    "converter.inference_input_type = converter.inference_output_type = tf.int8",
    'Path("model_int8.tflite").write_bytes(converter.convert())',
)

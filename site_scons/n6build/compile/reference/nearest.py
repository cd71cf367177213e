"""Hints for unsupported operators: the nearest change of the model that helps."""

from __future__ import annotations

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

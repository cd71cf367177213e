"""Common functions of the training scripts: repeatability and int8 models.

They need TensorFlow (the project's extra `models`). Building, running and testing do not need it.
"""

from collections.abc import Iterator

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray


def make_repeatable(seed: int) -> None:
    """Fix every seed and every order of summation.

    Equal runs on one machine then give equal weights.
    """
    keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()


def to_int8(network: keras.Model, samples: NDArray[np.float32], float_output: bool = False) -> bytes:
    """Return a network as a .tflite with int8 weights, activations and input.

    Args:
        network: Its input has batch 1.
        samples: Inputs that set the ranges of the activations, (count, *shape).
        float_output: Whether the output is float32 behind a DEQUANTIZE, instead of int8.
    """

    def one_by_one() -> Iterator[list[NDArray[np.float32]]]:
        for sample in samples:
            yield [sample[None]]

    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = one_by_one
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.float32 if float_output else tf.int8
    return bytes(converter.convert())

"""Random operators of uint8 models, for the kernels that only those need."""

from collections.abc import Callable
from typing import Any

import numpy as np
import one_op_models
from numpy.typing import NDArray
from one_op_models import Quantisation
from uint8_models import raised, to_uint8

from kernels.case_of_call import case_of
from kernels.draws import int8
from kernels.kernel_descriptors import Case

_ACTIVATIONS = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")


def _quantisation(rng: np.random.Generator, scale: float) -> Quantisation:
    return Quantisation(float(np.float32(scale * rng.uniform(0.5, 2))), int(rng.integers(-128, 128)))


def _zero_point(rng: np.random.Generator) -> int:
    """Return any zero point but 128, with which the weights are symmetric."""
    return int(rng.choice([zero for zero in range(256) if zero != 128]))


def window_options(rng: np.random.Generator) -> dict[str, Any]:
    """Return stride, dilation, padding and activation."""

    def pair(most: int) -> tuple[int, int]:
        return int(rng.integers(1, most + 1)), int(rng.integers(1, most + 1))

    dilated = rng.random() < 0.3
    return {
        "stride": (1, 1) if dilated else pair(3),
        "dilation": pair(3) if dilated else (1, 1),
        "padding": str(rng.choice(["SAME", "VALID"])),
        "activation": str(rng.choice(_ACTIVATIONS)),
    }


def image(rng: np.random.Generator, window: tuple[int, int], dilation: tuple[int, int], most: int) -> Any:
    """Return height, width and channels of an image that the window fits in.

    Args:
        most: Upper limit of the channels.
    """
    height, width = ((size - 1) * step + 1 for size, step in zip(window, dilation, strict=True))
    return height + int(rng.integers(6)), width + int(rng.integers(6)), int(rng.integers(1, most))


def window_over(
    rng: np.random.Generator, shape: Any, window: Any, options: dict[str, Any], most: int, *, dilated: bool = True
) -> tuple[Any, tuple[int, int], dict[str, Any]]:
    """Return shape, window and options of a window over an image.

    Draw the missing ones.

    Args:
        most: Upper limit of the channels.
        dilated: True for an operator that has dilations.
    """
    drawn = options or window_options(rng)
    drawn = {key: value for key, value in drawn.items() if dilated or key != "dilation"}
    window = window or (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    return shape or image(rng, window, drawn.get("dilation", (1, 1)), most), window, drawn


def _convolution(kind: str, rng: np.random.Generator, weights: NDArray[np.int8], shape: Any, options: Any) -> Case:
    channels = weights.shape[3 if kind.startswith("D") else 0]
    bias = rng.integers(-3000, 3000, (channels,), dtype=np.int32)
    source, scale = _quantisation(rng, 0.05), float(np.float32(rng.uniform(0.001, 0.02)))
    target = _quantisation(rng, source.per_tensor * scale * 74 * 74 * np.sqrt(weights.size / channels) / 40)
    model = one_op_models.convolution(kind, shape, weights, bias, [scale], source, target, **options)
    name = f"uint8 {kind} {shape} by {weights.shape} {options}"
    return case_of(name, to_uint8(model, _zero_point(rng)), [raised(int8(rng, (1, *shape)))])


def conv_2d(rng: np.random.Generator, shape: Any = None, channels: int = 0, window: Any = None, **options: Any) -> Case:
    shape, window, options = window_over(rng, shape, window, options, 40)
    weights = int8(rng, (channels or int(rng.integers(1, 20)), *window, shape[2]))
    return _convolution("CONV_2D", rng, weights, shape, options)


def depthwise_conv_2d(
    rng: np.random.Generator, shape: Any = None, multiplier: int = 0, window: Any = None, **options: Any
) -> Case:
    shape, window, options = window_over(rng, shape, window, options, 20)
    weights = int8(rng, (1, *window, shape[2] * (multiplier or int(rng.choice([1, 1, 2, 3, 8])))))
    return _convolution("DEPTHWISE_CONV_2D", rng, weights, shape, options)


def fully_connected(rng: np.random.Generator, rows: int = 0, inputs: int = 0, outputs: int = 0) -> Case:
    rows, inputs = rows or int(rng.integers(1, 4)), inputs or int(rng.integers(1, 200))
    outputs = outputs or int(rng.integers(1, 24))
    bias = rng.integers(-3000, 3000, outputs, dtype=np.int32)
    source, scale = _quantisation(rng, 0.05), float(np.float32(rng.uniform(0.001, 0.02)))
    target = _quantisation(rng, source.per_tensor * scale * 74 * 74 * np.sqrt(inputs) / 40)
    activation = str(rng.choice(_ACTIVATIONS))
    weights = int8(rng, (outputs, inputs))
    model = one_op_models.fully_connected(rows, weights, bias, [scale], source, target, activation)
    name = f"uint8 fully connected {rows}x{inputs}->{outputs} {activation}"
    return case_of(name, to_uint8(model, _zero_point(rng)), [raised(int8(rng, (rows, inputs)))])


def average_pool_2d(rng: np.random.Generator, shape: Any = None, window: Any = None, **options: Any) -> Case:
    shape, window, options = window_over(rng, shape, window, options, 40, dilated=False)
    model = one_op_models.pool_2d("AVERAGE", shape, window, quantisation=_quantisation(rng, 0.05), **options)
    name = f"uint8 average pool {shape} window {window} {options}"
    return case_of(name, to_uint8(model), [raised(int8(rng, (1, *shape)))])


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "conv_2d_asymmetric": conv_2d,
    "depthwise_conv_2d_asymmetric": depthwise_conv_2d,
    "fully_connected_asymmetric": fully_connected,
    "average_pool_2d_unsigned": average_pool_2d,
}

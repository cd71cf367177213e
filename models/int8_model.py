"""An int8 .tflite run with LiteRT's reference kernels.

Their results define the outputs of a board, bit for bit.
"""

from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray


class Int8Model:
    """A model with one input, int8 and of batch 1, and one output."""

    def __init__(self, path: Path) -> None:
        self._interpreter = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        self._interpreter.allocate_tensors()
        (self._input,) = self._interpreter.get_input_details()
        (self._output,) = self._interpreter.get_output_details()
        if self._input["dtype"] != np.int8 or self._input["shape"][0] != 1:
            raise ValueError(f"{path.name}: input {self._input['dtype']} {self._input['shape']}, not int8 of batch 1")

    def quantised(self, features: NDArray[np.float32]) -> NDArray[np.int8]:
        """Return real-valued features as int8, with scale and zero point of the input."""
        scale, zero_point = self._input["quantization"]
        integers: NDArray[np.int8] = np.clip(np.rint(features / np.float64(scale)) + zero_point, -128, 127).astype(
            np.int8
        )
        return integers

    def outputs(self, inputs: NDArray[np.int8]) -> NDArray[Any]:
        """Return the raw outputs, (count, n), of inputs (count, *input_shape)."""
        rows = []
        for vector in inputs:
            self._interpreter.set_tensor(self._input["index"], vector[None])
            self._interpreter.invoke()
            rows.append(self._interpreter.get_tensor(self._output["index"])[0].ravel())
        return np.stack(rows)

    def reconstruction_error(self, inputs: NDArray[np.int8], outputs: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean squared difference, in real units, of each input and its output."""
        scale, zero_point = self._input["quantization"]
        wanted = (inputs.astype(np.float64) - zero_point) * scale
        scale, zero_point = self._output["quantization"]
        rebuilt = (outputs.astype(np.float64) - zero_point) * scale
        errors: NDArray[np.float64] = ((rebuilt - wanted) ** 2).mean(axis=1)
        return errors

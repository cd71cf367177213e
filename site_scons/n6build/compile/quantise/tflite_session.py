"""Float .tflite models on LiteRT.

One thread computes, so that sums have one order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray

from n6build.compile.quantise.samples import Sample, as_stored


class TfliteSession:
    """A float model on LiteRT, without delegates.

    Attributes:
        outputs: Names of the outputs.
    """

    def __init__(self, data: bytes, *, all_tensors: bool = False) -> None:
        """Start an interpreter; with `all_tensors`, it keeps the tensors inside."""
        self._interpreter = Interpreter(
            model_content=data,
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            experimental_preserve_all_tensors=all_tensors,
            num_threads=1,
        )
        self._interpreter.allocate_tensors()
        self._outputs = self._interpreter.get_output_details()
        self.outputs = tuple(str(each["name"]) for each in self._outputs)

    def run(self, sample: Sample) -> list[NDArray[np.generic]]:
        """Return the outputs for a sample of real numbers, in their order."""
        for detail in self._interpreter.get_input_details():
            values = as_stored(sample[detail["name"]], np.dtype(detail["dtype"]).name, *detail["quantization"])
            self._interpreter.set_tensor(detail["index"], values)
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(each["index"]) for each in self._outputs]

    def tensors(self, names: Collection[str]) -> Iterator[tuple[str, NDArray[np.generic]]]:
        """Yield the values of named tensors after a run."""
        for detail in self._interpreter.get_tensor_details():
            if detail["name"] in names:
                yield str(detail["name"]), self._interpreter.get_tensor(detail["index"])

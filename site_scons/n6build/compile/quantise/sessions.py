"""Sessions of ONNX Runtime for float models.

One thread computes, so that sums have one order.
"""

from __future__ import annotations

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from n6build.compile.quantise.samples import Sample

_ERRORS_ONLY = 3


class FloatSession:
    """A float model on ONNX Runtime, with its optimisations.

    Attributes:
        outputs: Names of the outputs.
    """

    def __init__(self, model: bytes) -> None:
        self._session = open_session(model, optimised=True)
        self.outputs = tuple(str(each.name) for each in self._session.get_outputs())

    def run(self, sample: Sample) -> list[NDArray[np.generic]]:
        """Return the outputs for a sample, in their order."""
        return [np.asarray(each) for each in self._session.run(self.outputs, sample)]


def open_session(model: bytes, *, optimised: bool = False) -> onnxruntime.InferenceSession:
    """Return a session of ONNX Runtime that computes in one thread."""
    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

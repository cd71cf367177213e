"""Sessions of ONNX Runtime and of LiteRT for float models.

Sessions of ONNX Runtime for float models. One thread computes, so that sums have one order.

Float .tflite models on LiteRT. One thread computes, so that sums have one order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import onnx
import onnxruntime
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


_ERRORS_ONLY = 3


class FloatSession:
    """A float model on ONNX Runtime, with its optimisations.

    Attributes:
        outputs: Names of the outputs.
    """

    def __init__(self, model: bytes, inside: Collection[str] = ()) -> None:
        """Start a session.

        Args:
            model: Bytes of the model.
            inside: Tensors inside, which become further outputs. Those that the model does not have are left out.
        """
        self._session = open_session(_with_outputs(model, inside) if inside else model, optimised=not inside)
        self.outputs = tuple(str(each.name) for each in self._session.get_outputs())

    def run(self, sample: Sample) -> list[NDArray[np.generic]]:
        """Return the outputs for a sample, in their order."""
        return [np.asarray(each) for each in self._session.run(self.outputs, sample)]


def _with_outputs(model: bytes, names: Collection[str]) -> bytes:
    tree = onnx.load_model_from_string(model)
    known = {each.name for each in tree.graph.output}
    made = [name for node in tree.graph.node for name in node.output if name in names and name not in known]
    tree.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in made)
    data: bytes = tree.SerializeToString()
    return data


def open_session(model: bytes, *, optimised: bool = False) -> onnxruntime.InferenceSession:
    """Return a session of ONNX Runtime that computes in one thread."""
    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

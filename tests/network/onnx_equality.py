"""Comparison of a network from an ONNX model with onnxruntime, by tensor."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from n6build.compile.reference.graph import Graph
from n6build.compile.reference.graph_checks import check_graph
from n6build.compile.reference.onnx.reader import read_onnx_graph
from n6build.judge.compare.onnx_interpreter import WEIGHT_QUANTISATION
from n6build.judge.compare.onnx_plan import has_real_weights, has_unsigned_activations
from numpy.typing import NDArray

from network.host_network import HostNetwork
from network.network_models import as_file

Array = NDArray[Any]


# On Arm, onnxruntime computes int8 in integers anyway; on other processors it needs this setting.
IN_INTEGERS = ("session.qdqisint8allowed", "1")
# On x86 processors without VNNI, uint8 activations times int8 weights would saturate: onnxruntime adds two products in
# 16 bits. int8 models do not take that path.
WITHOUT_SATURATION = ("session.x64quantprecision", "1")


def run_onnx(model: bytes, inputs: Sequence[Array], names: Sequence[str] = ()) -> dict[str, Array]:
    """Return onnxruntime's outputs and named tensors, by name.

    The result lacks named tensors that the optimisations remove.
    """
    proto = onnx.load_model_from_string(_optimised(model))
    outputs = [port.name for port in proto.graph.output]
    made = {name for node in proto.graph.node for name in node.output}
    inner = [name for name in dict.fromkeys(names) if name in made and name not in outputs]
    proto.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in inner)
    session = _session(proto.SerializeToString(), onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    given = {port.name: values for port, values in zip(session.get_inputs(), inputs, strict=True)}
    return dict(zip([*outputs, *inner], session.run([*outputs, *inner], given), strict=True))


@cache
def _optimised(model: bytes) -> bytes:
    """Return the model with onnxruntime's integer operators."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "optimised.onnx"
        _session(model, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, file)
        return file.read_bytes()


def _session(model: bytes, level: Any, optimised: Path | None = None) -> Any:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry(*IN_INTEGERS)
    graph = onnx.load_model_from_string(model).graph
    if has_unsigned_activations(graph):
        options.add_session_config_entry(*WITHOUT_SATURATION)
    if optimised:
        options.optimized_model_filepath = str(optimised)
    disabled = [WEIGHT_QUANTISATION] if has_real_weights(graph) else []
    return onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"], disabled_optimizers=disabled
    )


def outputs_of(model: bytes, inputs: Sequence[Array]) -> list[Array]:
    """Return the outputs of a session with all optimisations."""
    session = _session(model, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)
    given = {port.name: values for port, values in zip(session.get_inputs(), inputs, strict=True)}
    return list(session.run(None, given))


def random_onnx_inputs(model: bytes, seed: int, spread: float = 2.0) -> list[Array]:
    rng = np.random.default_rng(seed)
    made: list[Array] = []
    for port in onnx.load_model_from_string(model).graph.input:
        shape = [size.dim_value or 1 for size in port.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
        if dtype == np.float32:
            made.append(rng.normal(0, spread, shape).astype(np.float32))
        else:
            limits = np.iinfo(dtype)
            made.append(rng.integers(limits.min, limits.max + 1, shape, dtype=dtype))
    return made


def onnx_graph(model: bytes, folder: Path) -> Graph:
    """Return the checked graph of a model."""
    file = as_file(model, folder, "model.onnx")
    graph = read_onnx_graph(file)
    check_graph(graph, file.name)
    return graph


def differing(network: HostNetwork, inputs: Sequence[Array]) -> dict[str, int]:
    """Return how many elements of each tensor differ from onnxruntime's.

    The result has the tensors that the network and onnxruntime have in common.
    """
    graph = read_onnx_graph(network.model)
    # A tensor that differs from its source only in the shape or the order of dimensions has the name of that source.
    tensors = {
        f"{each.index}": graph.tensors[each.output]
        for each in graph.operators
        if each.kind not in ("TRANSPOSE", "RESHAPE")
    }
    expected = run_onnx(network.model.read_bytes(), inputs, [tensor.name for tensor in tensors.values()])
    found = {}
    for buffer, data in network.trace(inputs).items():
        match = re.fullmatch(r"\w+?_(\d+)_out_0", buffer)
        assert match, buffer
        tensor = tensors.get(match[1])
        if tensor is None or tensor.name not in expected:
            continue
        wanted = expected[tensor.name]
        if wanted.dtype == np.uint8 and tensor.dtype == "int8":
            wanted = (wanted.astype(np.int16) - 128).astype(np.int8)
        if wanted.dtype != np.dtype(tensor.dtype):
            continue
        mine = np.frombuffer(data, wanted.dtype)
        found[f"{buffer} {tensor.name}"] = min(int(np.sum(mine != each)) for each in _orders(wanted, tensor.shape))
    return found


def _orders(values: Array, shape: tuple[int, ...]) -> list[Array]:
    """Return the values in each order of dimensions that has this shape."""
    perms = itertools.permutations(range(values.ndim)) if values.ndim <= 4 else [tuple(range(values.ndim))]
    fitting = [values.transpose(perm) for perm in perms]
    exact = [each.reshape(-1) for each in fitting if each.shape == shape]
    return exact or [each.reshape(-1) for each in fitting]


def assert_equals_onnxruntime(network: HostNetwork, seeds: Sequence[int] = (0, 1, 2)) -> int:
    """Check that no element differs from onnxruntime's.

    Returns:
        The number of tensors compared for each seed.
    """
    model = network.model.read_bytes()
    compared = 0
    for seed in seeds:
        inputs = random_onnx_inputs(model, seed)
        found = differing(network, inputs)
        assert not any(found.values()), found
        compared = len(found)
        for final, wanted in zip(network.final.values(), outputs_of(model, inputs), strict=True):
            assert final == wanted.tobytes()
    return compared

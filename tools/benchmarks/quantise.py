"""Time and memory of stage 0, which makes an int8 model of a float one."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.measure import FIGURES, Rows, run

_WORKER = """
import sys
from n6build.compile.quantise.jobs import Quantise, QuantiseJob
from n6build.compile.quantise.quantise_onnx import quantised
quantised(QuantiseJob(sys.argv[1], (sys.argv[2],), Quantise(method=sys.argv[3]), True))
"""
# Expansion, channels, repetitions and stride of the blocks of MobileNetV2 (Sandler et al., 2018, table 2).
_BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
_GOALS = "30 s, 1000 MB"


def quantise(alpha: float = 0.35, size: int = 224, samples: int = 100) -> Rows:
    """Yield seconds and megabytes of quantising a MobileNetV2.

    Args:
        alpha: Width of the network.
        size: Height and width of its input.
        samples: Number of samples.
    """
    yield FIGURES
    with tempfile.TemporaryDirectory() as folder:
        model, inputs = Path(folder) / "net.onnx", Path(folder) / "samples.npy"
        onnx.save(_mobilenet(alpha, size), model)
        np.save(inputs, np.random.default_rng(0).normal(0, 1, (samples, 3, size, size)).astype(np.float32))
        for method in ("minmax", "percentile", "entropy"):
            spent = run([sys.executable, "-c", _WORKER, model, inputs, method])
            shown = f"{spent.wall:.1f} s, {spent.cpu:.1f} s of CPU, {spent.megabytes:.0f} MB"
            yield f"MobileNetV2 {alpha}, {size} x {size}, {samples} samples, {method}", shown, _GOALS


class _Net:
    """A network that grows by a convolution at a time, with random weights."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._rng = np.random.default_rng(0)

    def conv(self, name: str, into: int, out: int, size: int = 1, stride: int = 1, group: int = 1) -> str:
        made = f"c{len(self.nodes)}"
        fan = into // group * size * size
        values = self._rng.normal(0, fan**-0.5, (out, into // group, size, size)).astype(np.float32)
        self.weights += [numpy_helper.from_array(values, f"{made}_w")]
        self.weights += [numpy_helper.from_array(self._rng.normal(0, 0.1, out).astype(np.float32), f"{made}_b")]
        how: dict[str, Any] = {
            "kernel_shape": [size, size],
            "strides": [stride, stride],
            "pads": [size // 2] * 4,
            "group": group,
        }
        self.nodes.append(helper.make_node("Conv", [name, f"{made}_w", f"{made}_b"], [made], made, **how))
        return made

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        made = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [made], made, **attributes))
        return made


def _mobilenet(alpha: float, size: int) -> onnx.ModelProto:
    """Return a float MobileNetV2 with 1000 classes."""
    net = _Net()
    net.weights += [
        numpy_helper.from_array(np.array(each, np.float32), name) for name, each in (("low", 0), ("high", 6))
    ]
    channels = _rounded(32 * alpha)
    name = net.node("Clip", net.conv("input", 3, channels, 3, 2), "low", "high")
    for expansion, width, count, first in _BLOCKS:
        for number in range(count):
            out, stride, given = _rounded(width * alpha), first if number == 0 else 1, name
            wide = channels * expansion
            if expansion > 1:
                name = net.node("Clip", net.conv(name, channels, wide), "low", "high")
            name = net.node("Clip", net.conv(name, wide, wide, 3, stride, wide), "low", "high")
            name = net.conv(name, wide, out)
            if stride == 1 and channels == out:
                name = net.node("Add", given, name)
            channels = out
    name = net.node("Clip", net.conv(name, channels, 1280), "low", "high")
    name = net.node("Flatten", net.conv(net.node("GlobalAveragePool", name), 1280, 1000))
    ports = [
        helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, size, size]),
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1000]),
    ]
    graph = helper.make_graph(net.nodes, "mobilenet", ports[:1], ports[1:], net.weights)
    made: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made


def _rounded(channels: float) -> int:
    """Return the nearest multiple of 8, which loses at most a tenth."""
    made = max(8, int(channels + 4) // 8 * 8)
    return made if made >= 0.9 * channels else made + 8

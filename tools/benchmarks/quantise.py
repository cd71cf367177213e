"""Time and memory of stage 0, which makes an int8 model of a float one."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx_models import OnnxGraph
from timing_layers import V2_BLOCKS, rounded_channels

from benchmarks.measure import FIGURES, Rows, run

_WORKER = """
import sys
from n6build.compile.quantise.process import Quantise, QuantiseJob
from n6build.compile.quantise.quantise_onnx import quantised
quantised(QuantiseJob(sys.argv[1], (sys.argv[2],), Quantise(method=sys.argv[3]), True))
"""
_MEASURED = """
import sys
from pathlib import Path
from n6build.compile.quantise.process import Quantise, QuantiseJob
from n6build.compile.quantise.quantise_onnx import quantised
from n6build.judge.accuracy.jobs import AccuracyJob
from n6build.judge.accuracy.run_both import measured
model, train, test, labels, int8, shown = sys.argv[1:]
settings = Quantise(most=1000)
Path(int8).write_bytes(quantised(QuantiseJob(model, (train,), settings, True)).data)
found = measured(AccuracyJob(model, int8, (test,), (labels,), (), settings))
shares = [100 * each / found.labelled for each in (found.float_top1, found.int8_top1)]
Path(shown).write_text(f"{shares[0]:.1f} % float, {shares[1]:.1f} % int8")
"""
_GOALS = "30 s, 1000 MB"
_DROP = "within 1 point"


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
    yield from _labelled()


def _labelled() -> Rows:
    """Yield the accuracy on labelled sets, of which half trains a network."""
    try:
        from sklearn import datasets, neural_network, preprocessing  # noqa: PLC0415
    except ImportError:
        yield "accuracy on labelled sets", "not measured: pip install scikit-learn", _DROP
        return
    for name in ("digits", "wine", "breast_cancer"):
        inputs, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(inputs))
        inputs = preprocessing.scale(inputs)[order].astype(np.float32)
        labels, half = labels[order], len(inputs) // 2
        trained = neural_network.MLPClassifier((64, 32), max_iter=400, random_state=0).fit(inputs[:half], labels[:half])
        # Two classes have one output, which is positive for the second.
        layers: list[tuple[Any, Any]] = [
            (weights.astype(np.float32), bias.astype(np.float32))
            for weights, bias in zip(trained.coefs_, trained.intercepts_, strict=True)
        ]
        if layers[-1][0].shape[1] == 1:
            weights, bias = layers[-1]
            layers[-1] = np.hstack([-weights, weights]), np.concatenate([-bias, bias])
        with tempfile.TemporaryDirectory() as folder:
            names = ("net.onnx", "train.npy", "test.npy", "labels.npy", "int8.onnx", "shown.txt")
            files = [str(Path(folder) / each) for each in names]
            model, train, test, classes, *_, made = files
            onnx.save(_dense(layers), model)
            for path, values in ((train, inputs[:half]), (test, inputs[half:]), (classes, labels[half:])):
                np.save(path, values)
            run([sys.executable, "-c", _MEASURED, *files])
            shown = Path(made).read_text(encoding="utf-8")
        yield f"accuracy on {name}, {len(inputs) - half} inputs that the training has not seen", shown, _DROP


def _dense(layers: Sequence[tuple[Any, Any]]) -> onnx.ModelProto:
    """Return a network of dense layers with ReLU between them."""
    net, name = _Net(), "input"
    for number, (weights, bias) in enumerate(layers):
        name = net.node("Gemm", name, net.constant(weights), net.constant(bias))
        name = net.node("Relu", name) if number < len(layers) - 1 else name
    return net.model([1, len(layers[0][0])], name, [1, len(layers[-1][1])])


class _Net(OnnxGraph):
    """A network that grows by a convolution at a time, with random weights."""

    def __init__(self) -> None:
        super().__init__()
        self._rng = np.random.default_rng(0)

    def conv(self, name: str, into: int, out: int, size: int = 1, stride: int = 1, group: int = 1) -> str:
        fan = into // group * size * size
        values = self._rng.normal(0, fan**-0.5, (out, into // group, size, size)).astype(np.float32)
        constants = self.constant(values), self.constant(self._rng.normal(0, 0.1, out).astype(np.float32))
        places = {"kernel_shape": [size, size], "strides": [stride, stride], "pads": [size // 2] * 4}
        return self.node("Conv", name, *constants, group=group, **places)

    def clip(self, name: str) -> str:
        return self.node("Clip", name, self.constant(np.float32(0)), self.constant(np.float32(6)))

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self.add(kind, inputs, [self.new(kind.lower())], **attributes)[0]

    def model(self, shape: list[int], output: str, made_shape: list[int]) -> onnx.ModelProto:
        ports = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
            for name, sizes in (("input", shape), (output, made_shape))
        ]
        return self.finished(ports[:1], ports[1:], onnx=17)


def _mobilenet(alpha: float, size: int) -> onnx.ModelProto:
    """Return a float MobileNetV2 with 1000 classes."""
    net, channels = _Net(), rounded_channels(32 * alpha)
    name = net.clip(net.conv("input", 3, channels, 3, 2))
    for expansion, width, count, first in V2_BLOCKS:
        for number in range(count):
            out, stride, given = rounded_channels(width * alpha), first if number == 0 else 1, name
            wide = channels * expansion
            if expansion > 1:
                name = net.clip(net.conv(name, channels, wide))
            name = net.clip(net.conv(name, wide, wide, 3, stride, wide))
            name = net.conv(name, wide, out)
            if stride == 1 and channels == out:
                name = net.node("Add", given, name)
            channels = out
    name = net.clip(net.conv(name, channels, 1280))
    name = net.node("Flatten", net.conv(net.node("GlobalAveragePool", name), 1280, 1000))
    return net.model([1, 3, size, size], name, [1, 1000])

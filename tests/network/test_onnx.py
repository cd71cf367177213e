"""Quantised ONNX models compile to what onnxruntime computes of them without optimisations, bit for bit."""

from collections.abc import Callable
from pathlib import Path

import pytest
import qdq_models

from network.host_network import HostNetwork
from network.onnx_equality import assert_equals_onnxruntime

Build = Callable[..., HostNetwork]


@pytest.fixture
def onnx_network(host_network: Build, tmp_path: Path) -> Callable[[bytes], tuple[HostNetwork, Path]]:
    def build(model: bytes) -> tuple[HostNetwork, Path]:
        file = tmp_path / "model.onnx"
        file.write_bytes(model)
        return host_network(file), file

    return build


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("opset", [13, 17, 21])
def test_a_classifier(onnx_network: Callable[..., tuple[HostNetwork, Path]], opset: int, dtype: str) -> None:
    network, file = onnx_network(qdq_models.classifier(opset, opset, dtype))
    assert assert_equals_onnxruntime(network, file) >= 6
    kinds = [epoch.kind for epoch in network.artifacts.epochs]
    assert kinds.count("Transpose") == 1

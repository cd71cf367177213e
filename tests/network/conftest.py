"""Models and host builds that several tests of the network compiler share."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from n6build.compile.memory_pools import MemoryPool

from network.host_network import Build, HostNetwork, extflash
from network.network_models import as_file
from network.target_network import POOLS, BuildTarget, TargetNetwork, kernels_archive


@pytest.fixture(scope="session")
def objects_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the archive for networks on the emulated Cortex-M55."""
    return kernels_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture
def host_network(tmp_path: Path, objects_folder: Path) -> Build:
    """Return a function that compiles and links a model, file or bytes, for the host."""
    made = 0

    def build(model: Path | bytes, pools: list[MemoryPool] | None = None) -> HostNetwork:
        nonlocal made
        made += 1
        folder = tmp_path / f"network{made}"
        folder.mkdir()
        if isinstance(model, bytes):
            model = as_file(model, folder, "model.tflite" if model[4:8] == b"TFL3" else "model.onnx")
        return HostNetwork(model, extflash() if pools is None else pools, folder, objects_folder)

    return build


@pytest.fixture
def target_network(tmp_path: Path, archive: Path) -> BuildTarget:
    """Return a function that makes a program of a model, file or bytes."""

    def build(model: Path | bytes, pools: Sequence[MemoryPool] = POOLS) -> TargetNetwork:
        file = as_file(model, tmp_path) if isinstance(model, bytes) else model
        return TargetNetwork(file, pools, tmp_path, archive)

    return build

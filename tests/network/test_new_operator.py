"""A new operator of the reference backend is two files: a module and a kernel."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The example has the files at the paths that they have in the project.
EXAMPLE = ROOT / "tests/house/examples/operator"

# Compiles models with one NEG, and compares their results on the host with the reference interpreter.
_COMPARE = """
from pathlib import Path

import n6build
import numpy as np
from network.equality import assert_equal_everywhere
from network.host_network import HostNetwork, extflash
from one_op_models import Quantisation, Tensor, write_model

assert n6build.__file__.startswith(str(Path.cwd()))
every = np.arange(-128, 128, dtype=np.int8).reshape(1, 256)
scales = [Quantisation(0.05), Quantisation(0.0625), Quantisation(2.0)]
for number, scale in enumerate(scales):
    tensors = [Tensor("input", every.shape, np.int8, scale), Tensor("output", every.shape, np.int8, scale)]
    model = write_model("NEG", tensors, "Neg")
    folder = Path(f"work{number}")
    folder.mkdir(exist_ok=True)
    (folder / "model.tflite").write_bytes(model)
    network = HostNetwork(folder / "model.tflite", extflash(), folder, Path("objects"))
    assert [epoch.kind for epoch in network.artifacts.epochs] == ["Neg"]
    assert_equal_everywhere(network, model, [every])
"""


def _compared(copy: Path) -> subprocess.CompletedProcess[str]:
    paths = [str(copy / "site_scons"), str(copy / "tests")]
    command = [sys.executable, "-c", f"import sys\nsys.path[:0] = {paths}\n{_COMPARE}"]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)


def test_an_operator_is_two_new_files(tmp_path: Path) -> None:
    copy = tmp_path / "project"
    for name in ("site_scons", "firmware", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "objects").mkdir()
    refused = _compared(copy)
    assert "operator 0 (NEG) (makes tensor 'output', int8) is not supported" in refused.stderr, refused.stderr

    new = [path.relative_to(EXAMPLE) for path in sorted(EXAMPLE.rglob("*")) if path.is_file()]
    assert [path.name for path in new] == ["neg.c", "neg.py"]
    assert not any((copy / path).exists() for path in new)
    shutil.copytree(EXAMPLE, copy, dirs_exist_ok=True)
    result = _compared(copy)
    assert result.returncode == 0, result.stdout + result.stderr

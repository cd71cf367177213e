"""Equal inputs give equal bytes, at any place and time of compilation."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from network.network_models import ROOT, own_models

COMPILE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from network.host_network import extflash
from n6build.compile.reference.compile_model import compile_network
compile_network(Path(sys.argv[1]), extflash(), Path(sys.argv[2]))
"""


def compile_in_a_process(model: Path, folder: Path, hash_seed: str) -> dict[str, bytes]:
    folder.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT / "site_scons")}
    arguments = [str(model.resolve()), "out", str(Path(__file__).parents[1])]
    subprocess.run([sys.executable, "-c", COMPILE, *arguments], cwd=folder, env=environment, check=True)
    return {path.name: path.read_bytes() for path in sorted((folder / "out").iterdir())}


@pytest.mark.parametrize("model", own_models(), ids=lambda path: path.stem)
def test_two_runs_give_the_same_files(model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / model.name
    copy.parent.mkdir()
    copy.write_bytes(model.read_bytes())
    first = compile_in_a_process(model, tmp_path / "one", "1")
    second = compile_in_a_process(copy, tmp_path / "two", "4711")
    assert sorted(first) == [
        "network.c",
        "network.h",
        "network_atonbuf.xSPI2.raw",
        "network_c_info.json",
        "network_generate_report.txt",
    ]
    digests = [{name: hashlib.sha256(data).hexdigest() for name, data in run.items()} for run in (first, second)]
    assert digests[0] == digests[1]
    for name, data in first.items():
        assert str(tmp_path).encode() not in data and str(ROOT).encode() not in data, (
            f"{name} names a path of this host"
        )

"""network.c, the epoch runtime and the Helium kernels on an emulated Cortex-M55: every epoch as the reference has it."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from equality import random_inputs, tensors_of
from host_network import KERNELS, RUNTIME, WARNINGS
from n6build.network.artifacts import NetworkArtifacts, read_artifacts
from n6build.network.memory_pools import MemoryPool
from n6build.network.reference import compile_network
from network_models import own_models
from numpy.typing import NDArray

HERE = Path(__file__).parent
# A stock machine, whose memory is at other addresses than the board's.
POOLS = [
    MemoryPool("ram", "RAM", 0x60100000, 0x100000, "ACC_WRITE"),
    MemoryPool("flash", "FLASH", 0x61000000, 0x1000000, "ACC_READ", use_for_initializers=True),
]
_OPTIONS = ["-M", "mps3-an547", "-nographic", "-monitor", "none", "-serial", "null"]


@pytest.fixture
def tools() -> None:
    for tool in ("qemu-system-arm", "arm-none-eabi-gcc"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")


def program(folder: Path) -> Path:
    """The network in `folder` with all it needs; this machine has no caches."""
    (folder / "n6_cache.h").write_text(
        "#include <stdint.h>\n"
        + "".join(
            f"static inline void n6_dcache_{verb}(uintptr_t a, uint32_t n) {{ (void)a; (void)n; }}\n"
            for verb in ("clean", "invalidate", "clean_invalidate")
        )
    )
    elf = folder / "network.elf"
    sources = [
        folder / "network.c",
        HERE / "target_network.c",
        *sorted(RUNTIME.glob("*.c")),
        *sorted(KERNELS.glob("*.c")),
    ]
    flags = [*WARNINGS, "-O3", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-ffunction-sections"]
    includes = [f"-I{path}" for path in (folder, RUNTIME, KERNELS)]
    link = ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", f"-T{HERE / 'target_network.ld'}"]
    subprocess.run(["arm-none-eabi-gcc", *flags, *includes, *map(str, sources), *link, "-o", str(elf)], check=True)
    return elf


def run(elf: Path, artifacts: NetworkArtifacts, inputs: list[NDArray[np.generic]]) -> bytes:
    folder = elf.parent
    loaded = [(image.file, image.address) for image in artifacts.initializers if image.bytes]
    for number, (port, values) in enumerate(zip(artifacts.inputs, inputs, strict=True)):
        file = folder / f"input{number}.bin"
        file.write_bytes(values.tobytes())
        assert port.address is not None
        loaded.append((file, port.address))
    loaders = [f"loader,file={file},addr={address},force-raw=on" for file, address in loaded]
    devices = [word for loader in loaders for word in ("-device", loader)]
    semihosting = ["-semihosting-config", "enable=on,target=native"]
    command = ["qemu-system-arm", *_OPTIONS, *semihosting, *devices, "-kernel", str(elf)]
    result = subprocess.run(command, cwd=folder, timeout=60, stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, "9: the processor faulted" if result.returncode == 9 else f"exit {result.returncode}"
    return (folder / "outputs.bin").read_bytes()


@pytest.mark.parametrize("model", own_models(), ids=lambda path: path.stem)
def test_every_epoch_has_the_reference_s_bits(tools: None, tmp_path: Path, model: Path) -> None:
    compile_network(model, POOLS, tmp_path)
    artifacts = read_artifacts(tmp_path, "network")
    elf = program(tmp_path)
    data = model.read_bytes()
    given: list[NDArray[np.generic]] = [row[np.newaxis] for row in np.load(model.parent / "inputs.npy")[:2]]
    compared = 0
    for inputs in ([given[0]], [given[1]], random_inputs(data, 1)):
        expected = tensors_of(data, inputs)
        computed = run(elf, artifacts, inputs)
        offset = 0
        for epoch in artifacts.epochs:
            match = re.fullmatch(r"\w+?_(\d+)", epoch.name)
            assert match
            if epoch.kind == "Dequantize":
                continue  # float: only what is quantised is sent, which is what it is made from
            wanted = expected[match[1]]
            assert computed[offset : offset + len(wanted)] == wanted, f"{epoch.name} differs"
            offset += len(wanted)
        assert offset == len(computed)
        compared += offset
    print(f"{model.stem}: {compared} bytes")

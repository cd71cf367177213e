"""network.c, the epoch runtime and the Helium kernels on an emulated Cortex-M55: every epoch as the reference has it."""

import re
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from kernel_headers import write_kernel_headers
from n6build.compiler.toolchain import CPU
from n6build.hardware.boards import load_board
from n6build.network.artifacts.description import NetworkArtifacts
from n6build.network.artifacts.read_artifacts import read_artifacts
from n6build.network.pools.memory_pools import MemoryPool
from n6build.network.reference.compile import compile_network
from n6build.virtual_board.build import find_emulator
from n6build.virtual_board.run import GUEST_TIME_OPTIONS, Limits
from numpy.typing import NDArray
from patience import NET_S

from network.equality import random_inputs, tensors_of, tensors_of_inferences
from network.host_network import KERNELS, RUNTIME, WARNINGS
from network.network_models import own_models
from network.test_sequences import MODELS as SEQUENCES
from network.test_sequences import OTHERS

HERE = Path(__file__).parent
# RAM that is on after reset: this program powers no bank and maps no flash.
POOLS = [
    MemoryPool("ram", "FLEXRAM", 0x34000000, 0x64000, "ACC_WRITE"),
    MemoryPool("flash", "AXISRAM2", 0x34100000, 0x80000, "ACC_READ", use_for_initializers=True),
]
_MACHINE = f"stm32n6virt,{Limits(silence=None).options}"
_OPTIONS = ["-M", _MACHINE, "-nographic", "-monitor", "none", "-serial", "null", *GUEST_TIME_OPTIONS]


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
    flags = [*WARNINGS, "-O3", *CPU, "-ffunction-sections"]
    includes = [f"-I{path}" for path in (write_kernel_headers(folder), RUNTIME)]
    link = ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", f"-T{HERE / 'target_network.ld'}"]
    subprocess.run(["arm-none-eabi-gcc", *flags, *includes, *map(str, sources), *link, "-o", str(elf)], check=True)
    return elf


def run(elf: Path, artifacts: NetworkArtifacts, *runs: list[NDArray[np.generic]]) -> bytes:
    """What the epochs of all inferences make, one after the other. runs: the inputs of each."""
    folder = elf.parent
    loaded = [(image.address, image.file.read_bytes()) for image in artifacts.initializers if image.bytes]
    for number, inputs in enumerate(runs):
        loaded += [(0, b"")] if number else []
        for port, values in zip(artifacts.inputs, inputs, strict=True):
            assert port.address is not None
            loaded.append((port.address, values.tobytes()))
    memory = b"".join(struct.pack("<2I", address, len(data)) + data for address, data in loaded)
    (folder / "memory.bin").write_bytes(memory)
    semihosting = ["-semihosting-config", "enable=on,target=native"]
    command = [str(find_emulator(load_board("nucleo-n657").soc)), *_OPTIONS, *semihosting, "-kernel", str(elf)]
    result = subprocess.run(command, cwd=folder, timeout=NET_S, stdin=subprocess.DEVNULL, check=False)
    assert result.returncode == 0, "9: the processor faulted" if result.returncode == 9 else f"exit {result.returncode}"
    return (folder / "outputs.bin").read_bytes()


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_state_goes_on_from_inference_to_inference(tmp_path: Path, name: str) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(SEQUENCES[name])
    compile_network(model, POOLS, tmp_path)
    artifacts = read_artifacts(tmp_path, "network")
    runs = [random_inputs(SEQUENCES[name], seed) for seed in range(4)]
    computed = run(program(tmp_path), artifacts, *runs)
    expected = tensors_of_inferences(SEQUENCES[name], runs)
    assert computed == b"".join(each[epoch.name.split("_")[-1]] for each in expected for epoch in artifacts.epochs)


# Indices have no scale: only what is quantised is sent.
@pytest.mark.parametrize(
    "name", [name for name in OTHERS if name not in ("class of each pixel", "index of the smallest")]
)
def test_an_operator_alone(tmp_path: Path, name: str) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(OTHERS[name])
    compile_network(model, POOLS, tmp_path)
    inputs = random_inputs(OTHERS[name], 1)
    assert run(program(tmp_path), read_artifacts(tmp_path, "network"), inputs) == tensors_of(OTHERS[name], inputs)["0"]


@pytest.mark.parametrize("model", own_models(), ids=lambda path: path.stem)
def test_every_epoch_has_the_reference_s_bits(tmp_path: Path, model: Path) -> None:
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

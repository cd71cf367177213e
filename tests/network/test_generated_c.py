"""network.c and network.h: no warnings, and the layout of ll_aton.

They are also compiled for the board.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import one_op_models as ops
import pytest
from kernel_headers import write_kernel_headers
from n6build.base.c_format import header_text
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.toolchain import CPU
from n6build.describe.formats import npu_blob
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.soc_header import HEADERS
from one_op_models import Quantisation

from network.host_network import RUNTIME, WARNINGS, Build, extflash, noextmem
from network.network_models import as_file, edit, own_models

CORTEX_M55 = [*CPU, "-O2"]
INCLUDES = [f"-I{RUNTIME}"]
IN, OUT = Quantisation(0.05, 3), Quantisation(0.11, -7)


def conv(weights_seed: int = 1, scales: tuple[float, float] = (0.01, 0.02)) -> bytes:
    weights = np.random.default_rng(weights_seed).integers(-127, 128, (2, 3, 3, 2), dtype=np.int8)
    return ops.conv_2d((6, 6, 2), weights, np.zeros(2, np.int32), scales, IN, OUT)


def compiled(model: bytes | Path, folder: Path, pools: list[MemoryPool] | None = None, name: str = "network") -> str:
    file = as_file(model, folder, "subject.tflite") if isinstance(model, bytes) else model
    compile_network(file, extflash() if pools is None else pools, folder, name)
    write_kernel_headers(folder)
    return (folder / f"{name}.c").read_text()


@pytest.fixture
def cross_compile() -> Callable[..., Path]:
    """Return a function that compiles a source for the Cortex-M55, with further flags.

    Warnings are errors.
    """
    if not shutil.which("arm-none-eabi-gcc"):
        pytest.skip("no arm-none-eabi-gcc")

    def run(source: Path, *flags: str) -> Path:
        target = source.with_suffix(".o")
        command = ["arm-none-eabi-gcc", *CORTEX_M55, *WARNINGS, "-Wpedantic", *INCLUDES, *flags]
        subprocess.run([*command, "-c", str(source), "-o", str(target)], check=True)
        return target

    return run


@pytest.mark.parametrize("profile", [extflash, noextmem])
@pytest.mark.parametrize("model", own_models(), ids=lambda path: path.stem)
def test_it_compiles_for_the_board(
    cross_compile: Callable[..., Path], tmp_path: Path, model: Path, profile: Callable[[], list[MemoryPool]]
) -> None:
    compiled(model, tmp_path, profile())
    cross_compile(tmp_path / "network.c")
    cross_compile(tmp_path / "network.c", "-DLL_ATON_DBG_BUFFER_INFO_EXCLUDED=1", "-DLL_ATON_EB_DBG_INFO")


def test_the_runtime_compiles_for_the_board(cross_compile: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "n6_cache.h").write_text(
        "#include <stdint.h>\nvoid n6_dcache_clean(uintptr_t, uint32_t);\nvoid n6_dcache_invalidate(uintptr_t, uint32_t);\n"
        "void n6_dcache_clean_invalidate(uintptr_t, uint32_t);\n"
    )
    for header in HEADERS:
        (tmp_path / header.name).write_text(header.text(header.of(load_board("nucleo-n657").soc)))
    (tmp_path / npu_blob.FORMAT.header).write_text(header_text(npu_blob.FORMAT))
    shutil.copy(RUNTIME.parent / "bring_up/n6_reg.h", tmp_path)
    for source in RUNTIME.glob("*.c"):
        copy = tmp_path / source.name
        shutil.copy(source, copy)
        cross_compile(copy, f"-I{tmp_path}")


def test_structures_have_the_layout_of_ll_aton(cross_compile: Callable[..., Path], tmp_path: Path) -> None:
    """The offsets are those in public descriptions of ll_aton 1.1.3 for bare metal.

    Enumerations take one byte.
    """
    checks = {
        "sizeof(EpochBlock_ItemTypeDef)": 20,
        "offsetof(EpochBlock_ItemTypeDef, flags)": 16,
        "sizeof(LL_Buffer_InfoTypeDef)": 56,
        "offsetof(LL_Buffer_InfoTypeDef, mem_shape)": 28,
        "offsetof(LL_Buffer_InfoTypeDef, type)": 35,
        "offsetof(LL_Buffer_InfoTypeDef, shape)": 44,
        "offsetof(LL_Buffer_InfoTypeDef, offset)": 52,
    }
    lines = [f'_Static_assert({what} == {value}, "{what}");' for what, value in checks.items()]
    source = tmp_path / "layout.c"
    source.write_text('#include "ll_aton_rt_user_api.h"\n' + "\n".join(lines) + "\n")
    cross_compile(source)


def test_another_version_of_the_runtime_is_refused(tmp_path: Path) -> None:
    compiled(conv(), tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    version = (RUNTIME / "ll_aton_version.h").read_text()
    (other / "ll_aton_version.h").write_text(version.replace("VERSION_DEV 8", "VERSION_DEV 262"))
    for header in RUNTIME.glob("*.h"):
        if header.name != "ll_aton_version.h":
            shutil.copy(header, other)
    command = ["cc", *WARNINGS, f"-I{other}", "-fsyntax-only", str(tmp_path / "network.c")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "#error" in result.stderr and "ll_aton 1.1.3-8" in result.stderr


def test_every_symbol_carries_the_network_s_name(tmp_path: Path) -> None:
    compiled(conv(), tmp_path, name="ears")
    source = tmp_path / "ears.c"
    subprocess.run(["cc", *INCLUDES, "-c", str(source), "-o", str(tmp_path / "ears.o")], check=True)
    symbols = subprocess.run(
        ["nm", "-g", "--defined-only", str(tmp_path / "ears.o")], check=True, capture_output=True, text=True
    )
    names = {line.split()[-1] for line in symbols.stdout.splitlines()}
    assert len(names) == 12
    assert all(name.startswith("LL_ATON_") and name.endswith("_ears") for name in names)


def test_a_relative_pool_is_a_symbol_that_the_loader_gives(cross_compile: Callable[..., Path], tmp_path: Path) -> None:
    flash = MemoryPool(
        "octoFlash", "xSPI2", 0x71000000, 1 << 20, "ACC_READ", mode="USEMODE_RELATIVE", use_for_initializers=True
    )
    source = compiled(conv(), tmp_path, [*extflash()[:4], flash])
    assert "extern unsigned char _mem_pool_xSPI2_network[];" in source
    assert "0x71000000UL" not in source
    cross_compile(tmp_path / "network.c")


def test_new_weights_leave_the_source_as_it_is(tmp_path: Path) -> None:
    """Nothing is compiled again, and the Appli in flash stays."""
    sources, images = set(), set()
    for seed, scales in ((1, (0.01, 0.02)), (2, (0.011, 0.03))):
        folder = tmp_path / str(seed)
        folder.mkdir()
        sources.add(compiled(conv(seed, scales), folder))
        images.add((folder / "network_atonbuf.xSPI2.raw").read_bytes())
    assert (len(sources), len(images)) == (1, 2)


def test_only_what_leaves_the_network_is_cleaned_from_the_cache(tmp_path: Path) -> None:
    source = compiled(next(path for path in own_models() if path.stem == "miniresnet"), tmp_path)
    functions = source.split("static void LL_ATON_End_EpochBlock_")[1:]
    cleaning = [text for text in functions if "LL_ATON_Cache_MCU_" in text]
    assert cleaning == [functions[-1]]
    assert re.search(r"LL_ATON_Cache_MCU_Clean_Range\(.*, 40\);", functions[-1])


def test_the_header_gives_counts_and_sizes(tmp_path: Path) -> None:
    compiled(conv(), tmp_path)
    text = (tmp_path / "network.h").read_text()
    for name, value in {"IN_NUM": 1, "IN_1_SIZE_BYTES": 72, "OUT_NUM": 1, "OUT_1_SIZE_BYTES": 72}.items():
        assert f"#define LL_ATON_NETWORK_{name} ({value})\n" in text
    assert '#define LL_ATON_NETWORK_ORIGIN_MODEL_NAME "subject"\n' in text


def test_names_from_the_model_file_never_reach_the_source(tmp_path: Path) -> None:
    def rename(tree: Any) -> None:
        for tensor in tree.subgraphs[0].tensors:
            tensor.name = b'*/ #error "\\\n'

    source = compiled(edit(conv(), rename), tmp_path)
    assert '#error "\\' not in source
    shutil.copy(tmp_path / "subject.tflite", tmp_path / 'a"\\b??=.tflite')
    compiled(tmp_path / 'a"\\b??=.tflite', tmp_path)
    assert 'ORIGIN_MODEL_NAME "a__b___"' in (tmp_path / "network.h").read_text()


def test_each_inference_starts_anew(host_network: Build) -> None:
    network = host_network(conv())
    first = network.trace([np.full((1, 6, 6, 2), 7, np.int8)])
    other = network.trace([np.full((1, 6, 6, 2), -90, np.int8)])
    assert first != other
    assert network.trace([np.full((1, 6, 6, 2), 7, np.int8)]) == first

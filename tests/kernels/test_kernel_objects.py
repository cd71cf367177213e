"""The allowed content of the kernels' object files."""

import re
from pathlib import Path

import pytest
from compiled_objects import compile_objects
from elf_symbols import symbols_of
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from kernel_headers import write_kernel_headers

from kernels.cortex_m55 import CFLAGS, COMPILER, KERNELS_FOLDER

SOURCES = sorted(KERNELS_FOLDER.glob("*.c"))
CODE_BUDGET = 24 * 1024
FLOAT_BUDGET = 10 * 1024
# These kernels are for int16, for weights with a zero point, or for ONNX models.
_OF_ANOTHER_TYPE = re.compile(r"_int16$|_asymmetric$|_unsigned$|^qlinear_|^real_")
# These have no vectors, so that their plain twins are linked.
_OF_FLOAT32 = re.compile(r"^float_")
POSITION_INDEPENDENT = (
    "-fpic",
    "-msingle-pic-base",
    "-mno-pic-data-is-text-relative",
    "-mpic-register=r9",
)
R_ARM_PREL31, R_ARM_THM_CALL, R_ARM_THM_JUMP24 = 42, 10, 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the headers of the kernels."""
    made = tmp_path_factory.mktemp("kernels")
    write_kernel_headers(made / "include")
    return made


def compiled(source: Path, folder: Path, *options: str) -> Path:
    (name,) = compile_objects(folder, [source], [COMPILER, *CFLAGS, *options, "-Iinclude"])
    return folder / name


def kernel_sections(path: Path, *, plain: bool = False) -> dict[str, int]:
    """Return the bytes of each code section that belongs to the Helium paths.

    Args:
        plain: Whether sections of the plain twins count, too.
    """
    with path.open("rb") as file:
        return {
            section.name: section["sh_size"]
            for section in ELFFile(file).iter_sections()
            if section.name.startswith(".text") and (plain or "n6k_plain_" not in section.name)
        }


# All compile with -Werror. At -O2, test_kernels_fit_the_code_budgets compiles them in every run; at -O3,
# test_helium_kernels.py.
@pytest.mark.slow
@pytest.mark.parametrize("optimisation", ["-O3", "-O0", "-Og", "-Os", "-O2"])
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_compiles_without_a_warning_at_any_optimisation(source: Path, optimisation: str, folder: Path) -> None:
    compiled(source, folder, optimisation)
    compiled(source, folder, optimisation, "-fno-omit-frame-pointer", *POSITION_INDEPENDENT)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_holds_no_data_and_no_address(source: Path, folder: Path) -> None:
    with compiled(source, folder, "-O2", *POSITION_INDEPENDENT).open("rb") as file:
        elf = ELFFile(file)
        data = [
            section.name
            for section in elf.iter_sections()
            if section.name.startswith((".data", ".bss", ".rodata")) and section["sh_size"] > 0
        ]
        relocations = {
            relocation["r_info_type"]
            for section in elf.iter_sections()
            if isinstance(section, RelocationSection)
            for relocation in section.iter_relocations()
        }
    assert data == []
    assert relocations <= {R_ARM_PREL31, R_ARM_THM_CALL, R_ARM_THM_JUMP24}


@pytest.mark.parametrize(
    ("optimisation", "all_together"), [("-O2", 38 << 10), pytest.param("-O3", 51 << 10, marks=pytest.mark.slow)]
)
def test_kernels_fit_the_code_budgets(optimisation: str, all_together: int, folder: Path) -> None:
    """A model links only the kernels that it uses, rarely of more than one family."""
    sources = [source for source in SOURCES if not _OF_FLOAT32.search(source.stem)]
    sizes = {source.stem: sum(kernel_sections(compiled(source, folder, optimisation)).values()) for source in sources}
    int8 = {name: size for name, size in sizes.items() if not _OF_ANOTHER_TYPE.search(name)}
    assert sum(int8.values()) <= CODE_BUDGET, int8
    assert sum(sizes.values()) <= all_together, sizes


def test_kernels_of_float32_fit_a_budget_of_their_own(folder: Path) -> None:
    sources = [source for source in SOURCES if _OF_FLOAT32.search(source.stem)]
    sizes = {
        source.stem: sum(kernel_sections(compiled(source, folder, "-O2"), plain=True).values()) for source in sources
    }
    assert 0 < sum(sizes.values()) <= FLOAT_BUDGET, sizes


def test_a_program_that_names_no_plain_twin_holds_none_but_what_is_plain_alone(runners: dict[str, Path]) -> None:
    with runners["-O2"].open("rb") as file:
        symbols = {symbol.name for symbol in symbols_of(ELFFile(file))}
    alone = {"div", "log_softmax", "logistic_int16", "softmax", "softmax_int16", "tanh_int16"}
    alone |= {"leaky_relu_int16", "transpose_conv_int16"}
    alone |= {"arg_float32", "arithmetic_float32", "compare", "function_float32", "select", "take"}
    alone |= {
        "float_conv",
        "float_function",
        "float_matmul",
        "float_pool",
        "float_reduce",
        "float_resize",
        "float_softmax",
    }
    alone |= {"float_top_k"}
    alone |= {"resize_bilinear_int16", "resize_bilinear_unsigned"}
    assert {name for name in symbols if name.startswith("n6k_plain_")} <= {f"n6k_plain_{name}" for name in alone}

"""The allowed content of the kernels' object files."""

from pathlib import Path

import pytest
from elf_symbols import symbols_of
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from kernels import code_sizes
from kernels.code_sizes import SOURCES, compiled

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
    code_sizes.prepare(made)
    return made


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


@pytest.mark.parametrize("optimisation", ["-O2", pytest.param("-O3", marks=pytest.mark.slow)])
def test_kernels_fit_the_code_budgets(optimisation: str, folder: Path) -> None:
    """A model links only the kernels that it uses, rarely of more than one family."""
    sizes = code_sizes.sizes(folder, optimisation)
    int8, float32 = code_sizes.of_int8(sizes), code_sizes.of_float32(sizes)
    assert sum(int8.values()) <= code_sizes.CODE_BUDGET, int8
    assert sum(sizes.values()) - sum(float32.values()) <= code_sizes.BUDGET_OF_ALL[optimisation], sizes
    if optimisation == "-O2":
        assert 0 < sum(float32.values()) <= code_sizes.FLOAT_BUDGET, float32


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
    alone |= {"float_detections", "float_non_max_suppression", "float_top_k"}
    alone |= {"resize_bilinear_int16", "resize_bilinear_unsigned"}
    assert {name for name in symbols if name.startswith("n6k_plain_")} <= {f"n6k_plain_{name}" for name in alone}

"""Instructions and estimated cycles of kernels and networks, beside CMSIS-NN's.

    .venv/bin/python tools/bench_kernels.py

CMSIS-NN is built from the samples, with GCC and, where it is installed, with Clang; of the builds
that compute n6build's results, within one step, the one with the fewest cycles counts. Without the
samples its instructions are those of an earlier measurement. tools/cortex_m55_cycles.py describes
the counting; neither library's preparations that depend on constants alone count.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from cortex_m55_cycles import Cost, Instruction, cost, disassembled
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from n6build.base.environment import read_environment
from n6build.base.paths import ROOT
from n6build.board.virtual_board.qemu import release_here
from n6build.compile.toolchain import CPU

TESTS = ROOT / "tests"
sys.path.insert(0, str(TESTS))

from kernel_headers import write_kernel_headers  # noqa: E402 - a module of the tests
from kernel_layers import LAYERS, NETWORKS, Layer  # noqa: E402
from kernels import cortex_m55  # noqa: E402
from kernels.host_kernels import HostKernels  # noqa: E402
from kernels.kernel_descriptors import DESCRIPTORS, Case  # noqa: E402
from samples import samples_folder  # noqa: E402

ADAPTERS = ROOT / "tools" / "bench_cmsis_nn.c"
ADAPTED = ("conv_2d", "depthwise_conv_2d", "fully_connected", "max_pool_2d", "average_pool_2d", "add", "softmax")
FOLDERS = ("Convolution", "FullyConnected", "Pooling", "Softmax", "BasicMath", "Transpose")
# These functions belong to the program around the kernels, or an application runs them once.
NOT_COUNTED = ("main", "reset", "fault", "fail", "leave", "count", "nothing", "semihosting", "open_file", "read_file")
OTHER_TYPES = ("f16", "f32", "flt", "s4", "s16", "s64")
CLANG = "clang-16"
CLANG_OPTIONS = (
    "--target=thumbv8.1m.main-none-eabihf",
    "-mcpu=cortex-m55",
    "-mfloat-abi=hard",
)
OPTIONS = ("-std=c11", "-O3", "-ffunction-sections", "-fdata-sections", "-w")


@dataclass(frozen=True)
class Library:
    """A program that runs kernels, on a machine that logs the executed instructions."""

    name: str
    elf: Path
    program: dict[int, Instruction]
    counted: frozenset[int]


@dataclass(frozen=True)
class Measured:
    """The costs of a layer; `theirs` is CMSIS-NN's, None if no build computes it."""

    ours: Cost
    theirs: Cost | None


def kernel_figures() -> Iterator[tuple[str, str]]:
    """Yield name and values of each layer and each network."""
    with tempfile.TemporaryDirectory(prefix="n6kernels-") as name:
        bench = Bench(Path(name))
        yield "kernels: n6build, CMSIS-NN, their ratio", "instructions per unit      cycles per unit"
        for layer in LAYERS:
            yield f"  {layer.name}", _row(bench.measure(layer), layer.ours.work, layer.once)
        yield "networks: sums of their layers, in thousands", "instructions               cycles"
        for title, layers in NETWORKS.items():
            every = [bench.measure(layer) for layer in layers()]
            known = [each.theirs for each in every if each.theirs is not None]
            theirs = _sum(known) if len(known) == len(every) else None
            yield f"  {title}", _row(Measured(_sum([each.ours for each in every]), theirs), 1000, None)


def _row(measured: Measured, work: int, once: float | None) -> str:
    ours, theirs = measured.ours, measured.theirs
    columns = [_three(ours.instructions / work, theirs.instructions / work if theirs else once)]
    columns.append(_three(ours.cycles / work, theirs.cycles / work if theirs else None))
    return "  ".join(columns)


def _three(ours: float, theirs: float | None) -> str:
    return f"{ours:8.3f} {theirs:8.3f} {ours / theirs:5.2f}" if theirs else f"{ours:8.3f}        -     -"


def _sum(costs: Sequence[Cost]) -> Cost:
    return Cost(sum(each.instructions for each in costs), sum(each.cycles for each in costs))


class Bench:
    """A bench that builds the libraries once, and measures each layer once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._machine = cortex_m55.virtual_board()
        self._host = HostKernels(folder)
        self._ours = _library("n6build", cortex_m55.build_runner(self._machine, folder))
        self._theirs = [_library(name, elf) for name, elf in _cmsis_nn(self._machine, folder)]
        self._known: dict[str, Measured] = {}

    def measure(self, layer: Layer) -> Measured:
        """Return the costs of a layer; layers of one name are the same layer."""
        if layer.name not in self._known:
            self._known[layer.name] = self._measured(layer)
        return self._known[layer.name]

    def _measured(self, layer: Layer) -> Measured:
        ours = self._cost(self._ours, layer.ours, tolerance=0)
        assert ours is not None, f"{layer.name}: not the bits of the plain twin"
        builds = [self._cost(library, layer.theirs, tolerance=1) for library in self._theirs]
        right = [each for each in builds if each is not None]
        return Measured(ours, min(right, key=lambda each: each.cycles) if right else None)

    def _cost(self, library: Library, case: Case, tolerance: int) -> Cost | None:
        """Return a cost, None if an element is further than `tolerance` from the twin's.

        The plain twin of the kernel is the reference.
        """
        log = self._folder / "executed"
        one_at_a_time = (
            ("-singlestep",) if release_here().version.startswith("7.") else ("-accel", "tcg,one-insn-per-tb=on")
        )
        base = self._machine.code_base
        options = (*one_at_a_time, "-d", "exec,nochain", "-D", str(log), "-dfilter", f"{base:#x}+0x80000")
        binary, *others = self._machine.command
        machine = replace(self._machine, command=(binary, *options, *others))
        try:
            (result,) = cortex_m55.run(machine, library.elf, [cortex_m55.Call(case)], self._folder)
        except AssertionError:
            return None  # The program faulted, or wrote outside its output.
        expected = np.frombuffer(self._host.run(case).tobytes(), np.int8).astype(int)
        if np.max(np.abs(np.frombuffer(result.output, np.int8) - expected), initial=0) > tolerance:
            return None
        with log.open() as lines:
            executed = (int(line.split("/", 2)[1], 16) for line in lines if line.startswith("Trace"))
            return cost(executed, library.program, library.counted)


def _library(name: str, elf: Path) -> Library:
    counted: set[int] = set()
    program = disassembled(elf)
    with elf.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if not isinstance(section, SymbolTableSection):
                continue
            for symbol in section.iter_symbols():
                if symbol["st_info"]["type"] == "STT_FUNC" and _is_counted(symbol.name):
                    start = symbol["st_value"] & ~1
                    counted.update(range(start, start + symbol["st_size"], 2))
    return Library(name, elf, program, frozenset(counted))


def _is_counted(function: str) -> bool:
    name = function.partition(".")[0]
    return name not in NOT_COUNTED and not name.startswith("bench_")


def _cmsis_nn(machine: cortex_m55.Machine, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield programs with CMSIS-NN in place of the kernels.

    There are none without CMSIS-NN or a compiler for it.
    """
    samples = samples_folder()
    if samples is None or not (samples / "cmsis-nn").is_dir():
        return
    include = write_kernel_headers(folder / "cmsis-nn")
    (include / "kernel_table.h").write_text("".join(map(_table_row, DESCRIPTORS)))
    declared = [f"void bench_{name}(const {DESCRIPTORS[name].name} *op);\n" for name in ADAPTED]
    (include / "bench_cmsis_nn.h").write_text("".join(['#include "n6_kernels.h"\n', *declared]))
    library = samples / "cmsis-nn"
    yield "gcc", _linked(machine, library, include, (cortex_m55.COMPILER, *CPU))
    if shutil.which(CLANG, path=read_environment().path):
        asked = [cortex_m55.COMPILER, "-print-file-name=libc.a"]
        libc = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()).resolve()
        headers = ("-isystem", str(libc.parents[1] / "include"))
        yield "clang", _linked(machine, library, include, (CLANG, *CLANG_OPTIONS, *headers))


def _table_row(kernel: str) -> str:
    return f"{{(void *)bench_{kernel}, sizeof({DESCRIPTORS[kernel].name})}},\n" if kernel in ADAPTED else "{0, 0},\n"


def _linked(machine: cortex_m55.Machine, library: Path, include: Path, compiler: tuple[str, ...]) -> Path:
    """Return a linked program.

    It is made beside `include`, the folder with the generated headers.
    """
    folder = include.parent / compiler[0]
    folder.mkdir()
    sources = [ADAPTERS, TESTS / "kernels" / "target_runner.c"]
    for kind in (*(f"{name}Functions" for name in FOLDERS), "NNSupportFunctions"):
        found = sorted((library / "Source" / kind).glob("*.c"))
        sources += [path for path in found if not set(OTHER_TYPES) & set(path.stem.split("_"))]
    options = [*OPTIONS, f"-I{include}", f"-I{library / 'Include'}", "-include", str(include / "bench_cmsis_nn.h")]

    def compiled(source: Path) -> str:
        target = str(folder / f"{source.stem}.o")
        subprocess.run([*compiler, *options, "-c", str(source), "-o", target], check=True)
        return target

    with ThreadPoolExecutor() as pool:
        objects = list(pool.map(compiled, sources))
    elf = folder / "runner.elf"
    symbols = {"code_base": machine.code_base, "stack_top": machine.stack_top}
    placed = [f"-Wl,--defsym={name}={address:#x}" for name, address in symbols.items()]
    script = str(TESTS / "kernels" / "target_runner.ld")
    link = ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections,--no-warnings", "-T", script]
    subprocess.run([cortex_m55.COMPILER, *CPU, *link, *placed, *objects, "-o", str(elf)], check=True)
    return elf


def main() -> int:
    """Print all figures, and return 0."""
    for name, values in kernel_figures():
        print(f"{name:<56}{values}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

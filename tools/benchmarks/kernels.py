"""Instructions and estimated cycles of kernels and networks, beside CMSIS-NN's.

CMSIS-NN is built from the samples, with GCC and, where it is installed, with Clang; of the builds
that compute n6build's results, within one step, the one with the fewest cycles counts.
cortex_m55_cycles.py describes the counting. Neither library's preparations count that depend on
constants alone.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from compiled_objects import compile_objects
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from kernel_headers import write_kernel_headers
from kernels import cortex_m55
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import DESCRIPTORS, Case
from n6build.base.environment import read_environment
from n6build.board.virtual_board.qemu import release_here
from n6build.compile.toolchain import CPU
from samples import samples_folder

from benchmarks.cortex_m55_cycles import Cost, Instruction, cost, disassembled
from benchmarks.layers import LAYERS, NETWORKS, Layer
from benchmarks.measure import ROOT, Head, Row, Rows

TESTS = ROOT / "tests"
ADAPTERS = Path(__file__).with_name("cmsis_nn.c")
ADAPTED = ("conv_2d", "depthwise_conv_2d", "fully_connected", "max_pool_2d", "average_pool_2d", "add", "softmax")
FOLDERS = ("Convolution", "FullyConnected", "Pooling", "Softmax", "BasicMath", "Transpose")
# These functions belong to the program around the kernels, or an application runs them once.
NOT_COUNTED = ("main", "reset", "fault", "fail", "leave", "count", "nothing", "semihosting", "open_file", "read_file")
OTHER_TYPES = ("f16", "f32", "flt", "s4", "s16", "s64")
CLANG = "clang-16"
CLANG_OPTIONS = ("--target=thumbv8.1m.main-none-eabihf", "-mcpu=cortex-m55", "-mfloat-abi=hard")
OPTIONS = ("-std=c11", "-O3", "-ffunction-sections", "-fdata-sections", "-w")


@dataclass(frozen=True)
class Library:
    """A program that runs kernels, on a machine that logs the executed instructions."""

    elf: Path
    program: dict[int, Instruction]
    counted: frozenset[int]


@dataclass(frozen=True)
class Measured:
    """The costs of a layer; `theirs` is CMSIS-NN's, None if no build computes it."""

    ours: Cost
    theirs: Cost | None


def kernels() -> Rows:
    """Yield instructions, and in brackets cycles, of layers and networks."""
    with tempfile.TemporaryDirectory(prefix="n6kernels-") as name:
        bench = Bench(Path(name))
        yield Head(("layer, for a multiply-accumulate or an element", "CMSIS-NN", "n6build", "ratio"))
        for layer in LAYERS:
            yield _row(layer.name, [bench.measure(layer)], layer.ours.work)
        yield Head(("network, sum of its layers, thousands", "CMSIS-NN", "n6build", "ratio"))
        for title, layers in NETWORKS.items():
            yield _row(title, [bench.measure(layer) for layer in layers()], 1000)


def _row(name: str, layers: Sequence[Measured], unit: int) -> Row:
    ours = _sum([each.ours for each in layers])
    known = [each.theirs for each in layers if each.theirs is not None]
    if len(known) < len(layers):
        return name, "-", _shown(ours, unit), "-"
    theirs = _sum(known)
    ratio = f"{ours.instructions / theirs.instructions:.2f} ({ours.cycles / theirs.cycles:.2f})"
    return name, _shown(theirs, unit), _shown(ours, unit), ratio


def _sum(costs: Sequence[Cost]) -> Cost:
    return Cost(sum(each.instructions for each in costs), sum(each.cycles for each in costs))


def _shown(cost: Cost, unit: int) -> str:
    return f"{cost.instructions / unit:,.3f} ({cost.cycles / unit:,.3f})"


class Bench:
    """A bench that builds the libraries once, and measures each layer once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._machine = cortex_m55.virtual_board()
        self._host = HostKernels(folder)
        self._ours = _library(cortex_m55.build_runner(self._machine, folder))
        self._theirs = [_library(elf) for elf in _cmsis_nn(self._machine, folder)]
        self._known: dict[str, Measured] = {}

    def measure(self, layer: Layer) -> Measured:
        """Return the costs of a layer; layers of one name are the same layer."""
        if layer.name not in self._known:
            ours = self._cost(self._ours, layer.ours, tolerance=0)
            assert ours is not None, f"{layer.name}: not the bits of the plain twin"
            builds = [self._cost(library, layer.theirs, tolerance=1) for library in self._theirs]
            right = [each for each in builds if each is not None]
            self._known[layer.name] = Measured(ours, min(right, key=lambda each: each.cycles) if right else None)
        return self._known[layer.name]

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


def _library(elf: Path) -> Library:
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
    return Library(elf, program, frozenset(counted))


def _is_counted(function: str) -> bool:
    name = function.partition(".")[0]
    return name not in NOT_COUNTED and not name.startswith("bench_")


def _cmsis_nn(machine: cortex_m55.Machine, folder: Path) -> Iterator[Path]:
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
    yield _linked(machine, library, include, (cortex_m55.COMPILER, *CPU))
    if shutil.which(CLANG, path=read_environment().path):
        asked = [cortex_m55.COMPILER, "-print-file-name=libc.a"]
        libc = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()).resolve()
        headers = ("-isystem", str(libc.parents[1] / "include"))
        yield _linked(machine, library, include, (CLANG, *CLANG_OPTIONS, *headers))


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
    objects = [str(folder / name) for name in compile_objects(folder, sources, [*compiler, *options])]
    elf = folder / "runner.elf"
    symbols = {"code_base": machine.code_base, "stack_top": machine.stack_top}
    placed = [f"-Wl,--defsym={name}={address:#x}" for name, address in symbols.items()]
    script = str(TESTS / "kernels" / "target_runner.ld")
    link = ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections,--no-warnings", "-T", script]
    subprocess.run([cortex_m55.COMPILER, *CPU, *link, *placed, *objects, "-o", str(elf)], check=True)
    return elf

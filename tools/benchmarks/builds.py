"""Times, sizes and instructions of the project's models, for docs/how-sure.md."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from inspect import unwrap
from pathlib import Path

from elftools.elf.elffile import ELFFile
from n6build.check.checked_board import checked_board
from n6build.check.run import run_checks
from n6build.check.subject import CheckedModel, NetworkSubject, Subject, given_pools
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.board_pools import pools_of
from n6build.compile.model_facts import read_model_facts
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.runtimes import own_runtime
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model
from n6build.engine.ledger import read_ledger
from n6build.place.memory_plan.board_memory import memory_of
from n6build.place.memory_plan.build_plan import CompiledNetwork, make_plan
from n6build.place.memory_plan.vectors import NO_VECTORS
from rebuilds import a_weight, model_byte, replaced

from benchmarks.measure import FIGURES, REPEATS, Row, Rows, Spent, least, run, scons, temporary_project

BUILD = ("board=nucleo-n657", "model=miniresnet", "probe=virtual")
MODELS = ("miniresnet", "keyword", "anomaly")
MATRIX = ("matrix", "boards=nucleo-n657,stm32n6570-dk", f"models={','.join(MODELS)}")
RELOC = ("loader=reloc", "reloc")
STAGE_1 = """
import sys; from pathlib import Path; from n6build.describe.hardware.boards import load_board
from n6build.compile.board_pools import pools_of; from n6build.compile.reference.compile_model import compile_network
pools = pools_of(load_board("nucleo-n657"), "extflash")
compile_network(Path("models/miniresnet/miniresnet.tflite"), pools, Path(sys.argv[1]))
"""
# It measures itself, because ru_maxrss begins with the memory of the parent.
APPEND_WEIGHTS = """
import struct, sys, time
from dataclasses import replace
from pathlib import Path
from n6build.place.reloc import binary, linked_model, pools
raw, model = Path(sys.argv[2]), Path(sys.argv[3])
began = time.perf_counter()
linked = linked_model.read_linked_model(Path(sys.argv[1]))
data = bytearray(linked.data)
struct.pack_into("<I", data, binary._context_offset(linked) + binary._SIZE_OFFSET, raw.stat().st_size)
parts = [pools.ParamsPart(raw, raw.stat().st_size, raw.stat().st_size)]
checked = binary.crc32_of(pools.params_chunks(parts))
binary.write_model(model, replace(linked, data=bytes(data)), pools.params_chunks(parts), checked)
print(time.perf_counter() - began, int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1000)
"""


def build(project: Path, *arguments: str) -> Spent:
    """Build miniresnet, and return the cost."""
    return scons(project, *BUILD, *arguments)


def pipeline() -> Rows:
    """Yield figures of whole builds and of runs on the virtual board."""
    yield FIGURES
    with temporary_project() as project:
        first = build(project, "flash", "run")
        yield "first build, flash and run on the virtual board", f"{first.wall:.1f} s", ""
        yield "miniresnet, instructions for an inference", f"{_instructions(project, 'miniresnet'):,}", "3,600,000"
        yield "code of all kernels, bytes", f"{_kernel_code(project):,}", "24,576"
        yield from _installed(project)
        yield from _programmed(project)
    yield _warm_matrix()


def _instructions(project: Path, folder: str) -> int:
    """Return the instructions of the longest inference of a run."""
    found = json.loads((project / f"build/nucleo-n657/{folder}/run.json").read_text())
    return max(int(verdict["cycles"]) for network in found["networks"] for verdict in network["verdicts"])


def _kernel_code(project: Path) -> int:
    """Return the size of all kernels as built into the Appli, without plain variants."""
    size = 0
    for path in (project / "build/nucleo-n657/common/kernels").glob("*.o"):
        with path.open("rb") as file:
            sections = [each for each in ELFFile(file).iter_sections() if each.name.startswith(".text")]
            size += sum(each["sh_size"] for each in sections if "plain" not in each.name)
    return size


def _installed(project: Path) -> Rows:
    """Yield instructions of the loader, and of installed and linked models."""
    for model in MODELS:
        build(project, f"model={model}", "flash", "run")
        linked = _instructions(project, model)
        for mode in ("copy", "xip"):
            output = build(project, f"model={model}", "loader=reloc", f"load={mode}", "flash", "run").output
            found = re.search(r"mode=\w+ .* used=(\d+) .* cycles=(\d+)", output)
            assert found
            goal = "100,000" if mode == "copy" else ""
            yield f"installing {model} ({mode}, {int(found[1]):,} bytes), instructions", f"{int(found[2]):,}", goal
            more = 100 * (_instructions(project, f"{model}-reloc") / linked - 1)
            yield f"an inference of it ({mode}) against the linked one", f"{more:+.1f} %", "+2 %"


def _programmed(project: Path) -> Rows:
    """Yield the bytes that a flash programs, compared with the whole image."""
    build(project, "flash-all")
    whole = _flashed(project, "flash-all")
    appli, begin = "firmware/appli/main.c", "n6_console_open();"
    edits = {
        "one weight byte": (model_byte("miniresnet", a_weight), "one sector"),
        "an edit of the Appli": (replaced(appli, "rejects its input", "REJECTS its input"), "one sector"),
        "an edit that makes the Appli larger": (
            replaced(appli, begin, f'{begin}\n    n6_put("larger");\n    n6_put_end();'),
            "two sectors",
        ),
    }
    for name, (edit, goal) in edits.items():
        edit(project)
        yield f"programmed for {name}", f"{_flashed(project, 'flash')} of {whole} KiB", goal


def _flashed(project: Path, target: str) -> int:
    """Return the KiB that a build programs."""
    found = re.search(r"programmed and verified \((\d+)\.\d KiB\)", build(project, target).output)
    return int(found[1]) if found else 0


def _warm_matrix() -> Row:
    with tempfile.TemporaryDirectory() as cache, temporary_project() as first, temporary_project() as second:
        scons(first, *MATRIX, f"cache={cache}")
        warm = scons(second, *MATRIX, f"cache={cache}")
    return f"matrix of 2 boards and {len(MODELS)} models from a warm cache", f"{warm.wall:.1f} s", "10 s"


def stages() -> Rows:
    """Yield the times of single stages."""
    yield FIGURES
    with tempfile.TemporaryDirectory() as folder:
        first = least(run([sys.executable, "-c", STAGE_1, folder]) for _ in range(REPEATS))
        yield "stage 1 of miniresnet, with the start of Python", f"{first.wall:.2f} s", "2 s"
        yield from _large_network(Path(folder))
    with temporary_project() as project:
        yield _stage_2(project)
        yield _large_weights(project)


def _large_network(folder: Path) -> Rows:
    """Yield times for a description of 3.8 MB and a source of 6,000 lines.

    They are made from miniresnet's by repeating its buffers.
    """
    board, model = load_board("nucleo-n657"), load_model("miniresnet")
    pools = pools_of(board, "extflash")
    assert model.file is not None
    compile_network(model.file, pools, folder)
    info, source = folder / "network_c_info.json", folder / "network.c"
    document = json.loads(info.read_text())
    buffers = document["buffers"]
    while len(text := json.dumps(document)) < 3_700_000:
        buffers += [{**buffer, "id": buffer["id"] + 1000 + len(buffers)} for buffer in buffers[:1000]]
    info.write_text(text)
    lines = source.read_text().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if "Internal_Buffers_Info" in line)
    begin = next(number for number in range(first, len(lines)) if ".name = " in lines[number]) - 1
    end = begin + next(number for number, line in enumerate(lines[begin:]) if line.strip() == "},") + 1
    lines[end:end] = lines[begin:end] * (1 + (6000 - len(lines)) // (end - begin))
    source.write_text("".join(lines))
    size = f"{len(text) / 1e6:.1f} MB of c_info and {len(lines):,} lines of network.c"
    # The result of an earlier call would be used again.
    read = unwrap(read_artifacts)
    yield f"reading {size}", f"{_seconds(lambda: read(folder, 'network')):.2f} s", "1 s"

    artifacts, facts = read_artifacts(folder, "network"), read_model_facts(model.file)
    described = CheckedModel(model.name, {}, None, None)
    network = NetworkSubject(described, False, artifacts, given_pools(pools), facts)

    def plan_and_check() -> None:
        plan = make_plan(memory_of(board, {}), "extflash", [CompiledNetwork(model.name, artifacts, NO_VECTORS, True)])
        run_checks(Subject(checked_board(board), (network,), plan, own_runtime().identity))

    yield "its memory plan and all checks", f"{_seconds(plan_and_check):.3f} s", "0.2 s"


def _seconds(call: Callable[[], object]) -> float:
    """Return the least time that a call takes."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def _stage_2(project: Path) -> Row:
    """Return the share of gcc in stage 2, with one job at a time."""
    build(project, "loader=reloc", "network")
    runs = []
    for _ in range(REPEATS):
        shutil.rmtree(project / "build/nucleo-n657/miniresnet-reloc/network_rel", ignore_errors=True)
        shutil.rmtree(project / "build/nucleo-n657/common/model", ignore_errors=True)
        runs.append(build(project, "-j1", *RELOC))
    whole = min(runs, key=lambda each: each.wall)
    null = least(build(project, *RELOC) for _ in range(REPEATS))
    # The summary of a build has these seconds.
    gcc = sum(map(float, re.findall(r"(?:compile|link) (\d+\.\d+)", whole.output)))
    shares = f"{100 * gcc / (whole.wall - null.wall):.0f} % ({100 * gcc / whole.wall:.0f} % with the start of SCons)"
    return "stage 2 of miniresnet from scratch, share of gcc", shares, "80 %"


def _large_weights(project: Path) -> Row:
    """Return the cost of 20 MB of weights behind the relocatable model of stage 2."""
    elf = project / "build/nucleo-n657/miniresnet-reloc/network_rel/network_rel.elf"
    raw = project / "network_atonbuf.xSPI2.raw"
    raw.write_bytes(os.urandom(20_000_000))
    took, memory = map(
        float, run([sys.executable, "-c", APPEND_WEIGHTS, elf, raw, raw.with_name("m.bin")]).output.split()
    )
    return (
        "20 MB of weights put behind a relocatable model",
        f"{took:.2f} s, {memory:.0f} MB of memory",
        "0.5 s, 100 MB",
    )


def null_builds() -> Rows:
    """Yield the time of a build with nothing to do, compared with ninja."""
    yield FIGURES
    with temporary_project() as project:
        # The front would answer without a check by SCons; benchmark front measures it.
        target = ("flash", "front=0")
        build(project, *target)
        build(project, *target)
        null = least(build(project, *target) for _ in range(REPEATS))
        _write_ninja(project)
        ninja = least(run(["ninja"], project) for _ in range(REPEATS))
        beside = f"{null.wall / ninja.wall:.0f} times ninja's {ninja.wall * 1000:.1f} ms on the same graph"
        yield "null build of `flash` with `front=0`", f"{null.wall:.2f} s, {beside}", ""
        empty = project / "build/empty"
        empty.mkdir()
        (empty / "SConstruct").write_text('DefaultEnvironment(tools=[])\nAlias("flash")\n')
        bare = least(build(empty, *target) for _ in range(REPEATS))
        yield "of which CPU above that of an empty SConstruct", f"{(null.cpu - bare.cpu) * 1000:.0f} ms", "80 ms"
        reading = re.search(r"SConscript file execution time: ([\d.]+)", build(project, "--debug=time", *target).output)
        assert reading
        yield "of which reading SConscript files", f"{float(reading[1]):.2f} s", "0.5 s"


def _write_ninja(project: Path) -> None:
    """Write the graph of the ledger, with commands that only touch their output."""
    rules = ["rule touch\n  command = touch $out\n"]
    for entry in read_ledger(project / "build", may_write=False).entries.values():
        # The few names that ninja would have to escape are left out.
        known = sorted(path for path in entry.inputs if re.fullmatch(r"[\w./-]+", path) and (project / path).is_file())
        rules.append(f"build {' '.join(entry.outputs)}: touch {' '.join(known)}\n")
    (project / "build.ninja").write_text("".join(rules))

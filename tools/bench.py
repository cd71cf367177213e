"""The measured figures of the project: code, stage 1, large networks, null builds.

    make bench        or        .venv/bin/python tools/bench.py

Works in a temporary copy that contains only the files that the project declares.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import tflite
from bench_caches import cache_figures
from bench_embed import embedded_speed
from bench_emulator import emulator_speed
from bench_front import front_speed
from bench_kernels import kernel_figures
from bench_npu import npu_speed
from bench_timing import timing_figures
from bench_trust import trust_figures
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

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
BUILD = ("board=nucleo-n657", "model=miniresnet", "probe=virtual")
REPEATS = 7


def main() -> int:
    """Print all figures. Raises SystemExit if a build fails."""
    with tempfile.TemporaryDirectory(prefix="n6bench-") as folder:
        project = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, project / name)
        figure("first build, flash and run", f"{seconds(lambda: scons(project, 'flash', 'run')):.2f} s")
        instructions(project)
        for name, value in (*emulator_speed(), *npu_speed(), *trust_figures(), *cache_figures()):
            figure(name, value)
        kernel_code(project)
        kernels()
        for name, value in kernel_figures():
            figure(name, value)
        stage_1()
        large_network()
        stage_2(project)
        large_model(project)
        installed(project)
        deltas(project)
        matrix(project)
        null_builds(project)
        for name, value in timing_figures():
            figure(name, value)
        for name, value in front_speed(project):
            figure(name, value)
        for name, value in embedded_speed():
            figure(name, value)
    return 0


def figure(name: str, value: str) -> None:
    """Print one line of the table."""
    print(f"{name:<72}{value}", flush=True)


def seconds(call: Callable[[], object]) -> float:
    """Return the host's time that a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def median_seconds(call: Callable[[], object]) -> float:
    """Return the median time of REPEATS calls."""
    return statistics.median(seconds(call) for _ in range(REPEATS))


def scons(project: Path, *arguments: str) -> str:
    """Return the output of scons for a build in the copy, or raise SystemExit."""
    environment = {**os.environ, "PYTHONPATH": str(project / "site_scons")}
    command = [sys.executable, "-m", "SCons", "-Q", "-j2", *BUILD, *arguments]
    result = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(result.stdout + result.stderr)
    return result.stdout


def instructions(project: Path) -> None:
    """Print the instructions of an inference on the virtual board."""
    run = json.loads((project / "build/nucleo-n657/miniresnet/run.json").read_text())
    cycles = max(verdict["cycles"] for verdict in run["networks"][0]["verdicts"])
    figure("miniresnet, whole inference (limit 3,600,000 instructions)", f"{cycles:,}")


def kernel_code(project: Path) -> None:
    """Print the size of all kernels as built into the Appli, without plain variants."""
    size = 0
    for path in sorted((project / "build/nucleo-n657/common/kernels").glob("*.o")):
        with path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if section.name.startswith(".text") and "plain" not in section.name:
                    size += section["sh_size"]
    figure("kernels, code (limit 24,576 bytes)", f"{size:,} bytes")


def kernels() -> None:
    """Print the instructions of each kernel, from the test that limits them."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rP",
        "-p",
        "no:cacheprovider",
        "tests/kernels/test_instruction_budget.py",
    ]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    print("kernels, from tests/kernels/test_instruction_budget.py:")
    for line in output.splitlines():
        if re.match(r"\s*\S.*\d", line) and not line.startswith(("=", "-", "_")):
            print(f"    {line.strip()}")


def stage_1() -> None:
    """Print the time to compile a small model."""
    script = (
        "from pathlib import Path; import sys; from n6build.describe.hardware.boards import load_board;"
        "from n6build.compile.board_pools import pools_of; from n6build.compile.reference.compile_model import compile_network;"
        "pools = pools_of(load_board('nucleo-n657'), 'extflash');"
        "compile_network(Path('models/miniresnet/miniresnet.tflite'), pools, Path(sys.argv[1]))"
    )
    with tempfile.TemporaryDirectory() as folder:
        spent = median_seconds(lambda: subprocess.run([sys.executable, "-c", script, folder], cwd=ROOT, check=True))
    figure("stage 1 of miniresnet with the start of Python (limit 2 s)", f"{spent:.2f} s")


def large_network() -> None:
    """Print times for a description of 3.7 MB and a source of 6,000 lines.

    They are made from miniresnet's by repeating its buffers.
    """
    board, model = load_board("nucleo-n657"), load_model("miniresnet")
    pools = pools_of(board, "extflash")
    assert model.file is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_network(model.file, pools, folder)
        info, source = folder / "network_c_info.json", folder / "network.c"
        document = json.loads(info.read_text())
        buffers = document["buffers"]
        while len(text := json.dumps(document)) < 3_700_000:
            more = [{**buffer, "id": buffer["id"] + 1000 + len(buffers)} for buffer in buffers[:1000]]
            buffers += more
        info.write_text(text)
        lines = source.read_text().splitlines(keepends=True)
        first = next(number for number, line in enumerate(lines) if "Internal_Buffers_Info" in line)
        begin = next(number for number in range(first, len(lines)) if ".name = " in lines[number]) - 1
        end = begin + next(number for number, line in enumerate(lines[begin:]) if line.strip() == "},") + 1
        lines[end:end] = lines[begin:end] * (1 + (6000 - len(lines)) // (end - begin))
        source.write_text("".join(lines))
        size = f"{len(text) / 1e6:.1f} MB c_info and {len(lines):,} lines of network.c"
        reading = median_seconds(lambda: read_artifacts(folder, "network"))
        figure(f"reading {size} (limit 1 s)", f"{reading:.3f} s")

        artifacts = read_artifacts(folder, "network")
        facts = read_model_facts(model.file)

        def plan_and_check() -> None:
            plan = make_plan(
                memory_of(board, {}), "extflash", [CompiledNetwork(model.name, artifacts, NO_VECTORS, True)]
            )
            described = CheckedModel(model.name, model.file, {}, None, None)
            network = NetworkSubject(described, False, artifacts, given_pools(pools), facts)
            run_checks(Subject(checked_board(board), (network,), plan, own_runtime().identity))

        figure("  its plan and all checks (limit 0.2 s)", f"{median_seconds(plan_and_check):.3f} s")


RELOC = ("loader=reloc", "reloc")


def stage_2(project: Path) -> None:
    """Print the time of stage 2, with one job at a time, so that times add up."""
    scons(project, "loader=reloc", "network")
    shares = []
    for _ in range(REPEATS):
        shutil.rmtree(project / "build/nucleo-n657/miniresnet-reloc/network_rel", ignore_errors=True)
        shutil.rmtree(project / "build/nucleo-n657/common/model", ignore_errors=True)
        began = time.perf_counter()
        output = scons(project, "-j1", *RELOC)
        shares.append((in_compiler(output), time.perf_counter() - began))
    compiler, whole = sorted(shares)[len(shares) // 2]
    null = median_seconds(lambda: scons(project, *RELOC))
    figure(
        "stage 2 of miniresnet from scratch, with the start of SCons",
        f"{whole:.2f} s, of which gcc {compiler / whole:.0%}",
    )
    figure(
        "  without what SCons takes to do nothing (goal 80 %)",
        f"{whole - null:.2f} s, gcc {compiler / (whole - null):.0%}",
    )
    again = scons(project, *RELOC).strip()
    figure("  again", f"{null:.2f} s, {'no action' if again.endswith('up to date.') else again}")


def in_compiler(output: str) -> float:
    """Return the seconds that a build's summary gives for compiling and linking."""
    found = re.findall(r"(compile|link) (\d+\.\d+)", output)
    return sum(float(number) for _, number in found)


def large_model(project: Path) -> None:
    """Print the cost of 20 MB of weights appended to a model, in a separate process."""
    elf = project / "build/nucleo-n657/miniresnet-reloc/network_rel/network_rel.elf"
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "network_atonbuf.xSPI2.raw"
        raw.write_bytes(os.urandom(20_000_000))
        program = f"""
import resource, struct, sys, time
from dataclasses import replace
from pathlib import Path
from n6build.place.reloc import binary, elf, pools
began = time.perf_counter()
linked = elf.read_linked_model(Path({str(elf)!r}))
data = bytearray(linked.data)
at = binary._context_offset(linked) + binary._SIZE_OFFSET
struct.pack_into("<I", data, at, 20_000_000)
parts = [pools.ParamsPart(Path({str(raw)!r}), 20_000_000, 20_000_000)]
checked = binary.crc32_of(pools.params_chunks(parts))
binary.write_model(Path({folder!r}) / "model.bin", replace(linked, data=bytes(data)), pools.params_chunks(parts), checked)
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
        took, memory = python(program)
    figure("20 MB of weights behind a model (goal 0.5 s, 100 MB)", f"{took:.2f} s, {memory / 1000:.0f} MB")


def python(program: str) -> list[float]:
    """Return the numbers that a program prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "site_scons")}
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return [float(number) for number in result.stdout.split()]


def installed(project: Path) -> None:
    """Print instructions of the loader, and of installed models compared with linked."""
    for model in ("miniresnet", "keyword", "anomaly"):
        linked = most_instructions(project, model, ())
        for mode in ("copy", "xip"):
            output = scons(project, f"model={model}", "loader=reloc", f"load={mode}", "flash", "run")
            found = re.search(r"mode=\w+ .* used=(\d+) .* cycles=(\d+)", output)
            assert found
            again = most_instructions(project, model, ("loader=reloc", f"load={mode}"))
            figure(
                f"{model}, {mode}: instructions to install {int(found[1]):,} bytes; an inference",
                f"{int(found[2]):,}; {again / linked - 1:+.2%}",
            )


def most_instructions(project: Path, model: str, options: tuple[str, ...]) -> int:
    """Return the instructions of the longest inference of a run."""
    scons(project, f"model={model}", *options, "flash", "run")
    folder = f"{model}-reloc" if options else model
    run = json.loads((project / f"build/nucleo-n657/{folder}/run.json").read_text())
    return max(int(verdict["cycles"]) for network in run["networks"] for verdict in network["verdicts"])


def deltas(project: Path) -> None:
    """Print the bytes that a flash programs, compared with the whole image."""
    scons(project, "flash-all")
    whole = flashed(scons(project, "flash-all"))
    application = project / "firmware/appli/main.c"
    original = application.read_text()
    model = project / "models/miniresnet/miniresnet.tflite"
    described = project / "models/miniresnet/model.yaml"

    def edit(old: str, new: str) -> Callable[[], object]:
        return lambda: application.write_text(original.replace(old, new))

    def one_weight() -> None:
        data = bytearray(model.read_bytes())
        before = hashlib.sha256(data).hexdigest()
        file = tflite.Model.GetRootAs(bytes(data), 0)
        largest = max(
            (file.Buffers(index) for index in range(file.BuffersLength())), key=lambda each: each.DataLength()
        )
        data[bytes(data).index(largest.DataAsNumpy().tobytes()) + largest.DataLength() - 1] ^= 1
        model.write_bytes(data)
        described.write_text(described.read_text().replace(before, hashlib.sha256(data).hexdigest()))

    changes: list[tuple[str, Callable[[], object], tuple[str, ...]]] = [
        ("nothing", lambda: None, ()),
        ("one weight byte", one_weight, ()),
        ("an edit of the Appli of the same size", edit("does not take its", "does not TAKE its"), ()),
        (
            "an edit that makes the Appli larger",
            edit("n6_console_open();", 'n6_console_open();\n    n6_put("larger");\n    n6_put_end();'),
            (),
        ),
        ("another model", lambda: None, ("model=keyword",)),
    ]
    for name, change, options in changes:
        change()
        done = flashed(scons(project, *options, "flash"))
        figure(f"programmed for {name}", f"{done // 1024} KiB of {whole // 1024} KiB")
    application.write_text(original)


def flashed(output: str) -> int:
    """Return the bytes that were programmed, according to the output of a build."""
    found = re.search(r"programmed and verified \((\d+\.\d) KiB\)", output)
    return int(float(found[1]) * 1024) if found else 0


def matrix(project: Path) -> None:
    """Print the time of a matrix whose steps are all in the cache."""
    arguments = ("matrix", "boards=nucleo-n657,stm32n6570-dk", "models=miniresnet,keyword,anomaly")
    with tempfile.TemporaryDirectory() as folder:
        scons(project, *arguments, f"cache={folder}")
        other = project.parent / f"{project.name}-second"
        shutil.copytree(project, other, ignore=shutil.ignore_patterns("build"))
        warm = seconds(lambda: scons(other, *arguments, f"cache={folder}"))
        again = seconds(lambda: scons(other, *arguments, f"cache={folder}"))
        shutil.rmtree(other)
    figure("matrix of 2 boards x 3 models, from a warm cache (goal 10 s)", f"{warm:.1f} s; again {again:.1f} s")


def user_seconds(call: Callable[[], object]) -> float:
    """Return the least CPU time of child processes in twelve calls."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        call()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    return min(once() for _ in range(12))


def null_builds(project: Path) -> None:
    """Print the time of a build with nothing to do, compared with ninja."""
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        print("PYTHONDONTWRITEBYTECODE is set: every call compiles its modules, and the null build takes far longer")
    null = median_seconds(lambda: scons(project, "flash"))
    figure("null build: scons board=... model=... flash", f"{null:.3f} s")
    with tempfile.TemporaryDirectory() as name:
        empty = Path(name)
        (empty / "SConstruct").write_text('DefaultEnvironment(tools=[])\nAlias("flash")\n')
        least = user_seconds(lambda: scons(empty, "flash"))
    whole = user_seconds(lambda: scons(project, "flash"))
    figure(
        "  user CPU above that of an empty SConstruct (goal 80 ms)",
        f"{(whole - least) * 1000:.0f} ms: {whole * 1000:.0f} - {least * 1000:.0f}",
    )
    reading = re.search(r"Total SConscript file execution time: ([\d.]+)", scons(project, "--debug=time", "flash"))
    assert reading
    figure("  of which reading SConscript files (limit 0.5 s)", f"{float(reading[1]):.3f} s")
    write_ninja(project)
    ninja = ["ninja", "-C", str(project)]
    subprocess.run(ninja, check=True, stdout=subprocess.DEVNULL)
    ninja_null = median_seconds(lambda: subprocess.run(ninja, check=True, stdout=subprocess.DEVNULL))
    figure("  ninja on the same graph", f"{ninja_null:.4f} s, ratio {null / ninja_null:.0f}")


def write_ninja(project: Path) -> None:
    """Write the graph of the ledger, with commands that only touch their output."""
    rules = ["rule touch\n  command = touch $out\n"]
    for entry in read_ledger(project / "build", may_write=False).entries.values():
        # The few names that ninja would have to escape are left out.
        known = sorted(path for path in entry.inputs if re.fullmatch(r"[\w./-]+", path) and (project / path).is_file())
        rules.append(f"build {' '.join(entry.outputs)}: touch {' '.join(known)}\n")
    (project / "build.ninja").write_text("".join(rules))


if __name__ == "__main__":
    sys.exit(main())

"""Stage 2 without a build system: network.c and its weights -> network_rel.bin. SCons does the same in tracked steps."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from n6build.captured import run_captured
from n6build.errors import N6Error
from n6build.files import read_bytes, write_atomically, write_chunks_atomically
from n6build.network.network_c import read_network_c
from n6build.network.read_artifacts import read_artifacts
from n6build.network.runtimes import Runtime, check_epochs, check_version
from n6build.paths import ROOT
from n6build.reloc.binary import crc32_of, model_file, write_model
from n6build.reloc.c_file import c_array
from n6build.reloc.compilation import LINK, conf_header_name, model_code
from n6build.reloc.elf import read_linked_model
from n6build.reloc.generated_c import reloc_sources
from n6build.reloc.pools import PoolTable, params_chunks, pool_table
from n6build.reloc.preconditions import check_buffers_known, version_for

# Runs a command line and returns its exit status and what it printed.
Run = Callable[[Sequence[str]], tuple[int, str]]
_CPU = ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard")
_TIMEOUT_S = 300


@dataclass(frozen=True)
class Options:
    """c_file: a C array of the model, too. debug_info: epoch tables have debug fields, as in ST's firmware."""

    secure: bool = True
    split: bool = False
    c_file: bool = False
    debug_info: bool = True


@dataclass(frozen=True)
class Made:
    """params: None where the weights are in `file`. others: what was written beside."""

    file: Path
    params: Path | None
    others: tuple[Path, ...]


def run_command(command: Sequence[str]) -> tuple[int, str]:
    try:
        return run_captured(command, _TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        hint = "`make setup` installs the compiler (gcc-arm-none-eabi)"
        raise N6Error("N6-RELOC-021", f"cannot be run: {error}", where=command[0], hint=hint) from error


def read_pools(folder: Path, name: str, *, secure: bool) -> PoolTable:
    """folder: of stage 1. What `--parse-only` shows. Raises N6-RELOC-00x."""
    artifacts = read_artifacts(folder, name)
    check_buffers_known(artifacts, read_network_c(artifacts.source))
    return pool_table(artifacts, secure=secure)


def make_model(
    folder: Path, name: str, work: Path, out: Path, runtime: Runtime, options: Options, run: Run = run_command
) -> Made:
    """folder: of stage 1, with <name>.c. work: for intermediate files. out: gets <name>_rel.bin and what goes with it.

    Raises N6-RELOC-0xx, N6-LLATON-00x.
    """
    artifacts = read_artifacts(folder, name)
    check_epochs(artifacts, runtime)
    check_version(artifacts.ll_aton, runtime, artifacts.source.name)
    table = read_pools(folder, name, secure=options.secure)
    text = read_bytes(artifacts.source).decode("utf-8", "replace")
    sources = reloc_sources(artifacts, table, version_for(artifacts, runtime.version), text)
    wrapper, pools, script = (work / f"{name}_{part}" for part in ("reloc.c", "reloc_pools.c", "reloc.ld"))
    for path, content in (
        (work / conf_header_name(name), sources.conf),
        (pools, sources.pools),
        (wrapper, sources.wrapper),
        (script, sources.script),
    ):
        write_atomically(path, content)
    elf = _compile_and_link(name, folder, work, (wrapper, pools), script, runtime, options, run)
    linked = read_linked_model(elf, elf.with_suffix(".map"))
    file, params = out / f"{name}_rel.bin", out / f"{name}_rel_params.bin"
    others = []
    if options.split:
        write_atomically(file, model_file(linked, None))
        write_chunks_atomically(params, params_chunks(table.params))
    else:
        write_model(file, linked, params_chunks(table.params), crc32_of(params_chunks(table.params)))
        params.unlink(missing_ok=True)
    if options.c_file:
        others.append(out / f"{name}_rel.c")
        write_atomically(others[0], c_array(read_bytes(file), file.stem))
    return Made(file, params if options.split else None, tuple(others))


def _compile_and_link(
    name: str,
    folder: Path,
    work: Path,
    generated: Sequence[Path],
    script: Path,
    runtime: Runtime,
    options: Options,
    run: Run,
) -> Path:
    code = model_code(runtime, conf_header_name(name), secure=options.secure, debug_info=options.debug_info)
    includes = [f"-I{path}" for path in (*code.include_folders, folder, work)]
    common = ["arm-none-eabi-gcc", *_CPU, "-std=c11", "-g", f"-ffile-prefix-map={ROOT}=.", *includes]
    # As in a build with SCons: the same order gives the same file.
    jobs = [(source, (*code.network_flags, "-w"), code.network_defines) for source in generated]
    jobs += [(source, flags, code.defines) for source, flags in code.shared]
    objects = [work / f"{source.stem}.o" for source, _, _ in jobs]
    commands = [
        [*common, *flags, *(f"-D{define}" for define in defines), "-c", str(source), "-o", str(target)]
        for (source, flags, defines), target in zip(jobs, objects, strict=True)
    ]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for (source, _, _), (status, output) in zip(jobs, pool.map(run, commands), strict=True):
            _check(status, output, source.name)
    elf = work / f"{name}_rel.elf"
    link = ["arm-none-eabi-gcc", *_CPU, *LINK, "-T", str(script), f"-Wl,-Map={elf.with_suffix('.map')}"]
    status, output = run([*link, *map(str, objects), *map(str, code.libraries), "-o", str(elf)])
    _check(status, output, elf.name)
    return elf


def _check(status: int, output: str, where: str) -> None:
    if status:
        hint = "the compiler's own words are above"
        raise N6Error(
            "N6-RELOC-021", f"{output.rstrip()}\nthe compiler ended with status {status}", where=where, hint=hint
        )

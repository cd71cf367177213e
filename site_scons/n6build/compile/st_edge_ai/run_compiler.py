"""One compilation by ST's tool, in a folder of its own.

It writes descriptors, runs the tool, and takes over its output under the names of stage 1.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, write_atomically
from n6build.base.findings import refuse
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.model_facts import KEPT_QUANTISATION
from n6build.compile.mpool import mpool_text
from n6build.compile.st_edge_ai.compiler_profile import profile_text
from n6build.compile.st_edge_ai.find import CoreVersion, Installation
from n6build.compile.st_edge_ai.log import CompilerLog, clean, diagnose, dropped_quantisation, progress_of, read_log
from n6build.compile.st_edge_ai.normalise import normalised_c, normalised_c_info, normalised_text
from n6build.compile.st_edge_ai.st_edge_ai_options import (
    EPOCH_CONTROLLER,
    PROFILE,
    CompilerOptions,
    check_paths,
    compiler_options,
    generate_command,
    scrubbed,
)

TIMEOUT_S = 3600
_LOG_BYTES = 16 << 20
_NO_BLOBS = "/* This network has no epoch controller blobs. */\n"


def initializer_candidates(pools: Sequence[MemoryPool]) -> tuple[MemoryPool, ...]:
    """Return pools for initializers: the marked ones, or all if none is marked."""
    usable = [pool for pool in pools if pool.size]
    return tuple([pool for pool in usable if pool.use_for_initializers] or usable)


def output_names(
    name: str,
    pools: Sequence[MemoryPool],
    options: CompilerOptions,
    version: CoreVersion,
    *,
    relocatable: bool = False,
) -> tuple[str, ...]:
    """Return the names of all files that `compile_network` writes, network.c first.

    They are known before the compiler runs.
    """
    names = [f"{name}.c", f"{name}_c_info.json", f"{name}_generate_report.txt"]
    names += [f"{name}_atonbuf.{pool.fname}.raw" for pool in initializer_candidates(pools)]
    names += [f"{name}_ecblobs.h"] if EPOCH_CONTROLLER in compiler_options(options, version).split() else []
    names += [f"{name}.h", f"stai_{name}.h", f"stai_{name}.c"] if version.writes_stai else []
    names += [f"{name}_rel.bin"] if relocatable else []
    return tuple(names)


def compile_network(
    model: Path,
    pools: Sequence[MemoryPool],
    out: Path,
    name: str,
    options: CompilerOptions,
    installation: Installation,
    version: CoreVersion,
    environment: Mapping[str, str],
    *,
    on_progress: Callable[[int], None],
    on_note: Callable[[str], None],
    waived: Container[str] = (),
    relocatable: bool = False,
    timeout_s: float = TIMEOUT_S,
) -> None:
    """Compile a model and write `output_names` to a folder.

    A pool without initializers leaves an empty file. After an error, `out` is as before, except for
    the log.

    Args:
        model: Model file.
        pools: Memory pools in order of preference.
        out: Output folder.
        name: Name of the network.
        options: Options of the compiler.
        installation: The tool.
        version: Release of the tool.
        environment: Variables for the tool.
        on_progress: Called with the progress in percent.
        on_note: Called with a note for the user.
        waived: Ids of waived checks.
        relocatable: Have the tool make a relocatable model, too.
        timeout_s: Limit in seconds.

    Raises:
        N6Error: N6-STAI-011 and N6-STAI-012 before the tool runs; N6-STAI-042 if it cannot be
            started; N6-STAI-041 if it takes longer than timeout_s; N6-CHECK-017 if it has dropped
            the quantisation; N6-STAI-021 to N6-STAI-034 for errors that it reports; N6-STAI-040 if
            it reports nothing but has not written a file.
    """
    with tempfile.TemporaryDirectory(prefix="n6build-stedgeai-") as folder:
        room = Path(folder).resolve()
        output, workspace = room / "output", room / "workspace"
        output.mkdir()
        workspace.mkdir()
        check_paths(model.resolve(), room)
        mpool, profile = room / "n6build.mpool", room / "neural_art.json"
        write_atomically(mpool, mpool_text(pools))
        write_atomically(profile, profile_text(PROFILE, mpool, compiler_options(options, version)))
        command = generate_command(
            installation,
            model.resolve(),
            options,
            name=name,
            profile=profile,
            output=output,
            workspace=workspace,
            relocatable=relocatable,
        )
        status, text = _run(command, room, scrubbed(environment), on_progress, timeout_s)
        log = read_log(text)
        for note in log.notes:
            on_note(note)
        write_atomically(out / f"{name}_stedgeai.log", "".join(f"{line}\n" for line in clean(text)))
        refuse(KEPT_QUANTISATION, dropped_quantisation(log), waived)
        if error := diagnose(log, status, pool_bytes=sum(pool.size for pool in pools)):
            raise error
        names = output_names(name, pools, options, version, relocatable=relocatable)
        contents = _collect(output, workspace, name, names, version, log)
    for file, content in contents.items():
        write_atomically(out / file, content)


def _run(
    command: Sequence[str],
    room: Path,
    environment: Mapping[str, str],
    on_progress: Callable[[int], None],
    timeout_s: float,
) -> tuple[int, str]:
    """Run the tool and return its status and output.

    The tool stays in the terminal's process group, so that Ctrl-C ends it and its child processes.
    After the time limit, this function ends them.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=room,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise N6Error("N6-STAI-042", f"stedgeai cannot be started: {error.strerror}", where=command[0]) from error
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        _end(process.pid)

    timer = threading.Timer(timeout_s, expire)
    timer.start()
    try:
        text = _follow(process, on_progress)
        status = process.wait()
    finally:
        timer.cancel()
        _end(process.pid)
    if expired.is_set():
        raise N6Error(
            "N6-STAI-041", f"n6build stopped stedgeai after {timeout_s:g} s without a result", where=command[0]
        )
    return status, text


def _follow(process: subprocess.Popen[bytes], on_progress: Callable[[int], None]) -> str:
    """Return all output of a process, or its last megabytes if it is endless."""
    printed = bytearray()
    shown = -1
    assert process.stdout is not None
    while chunk := os.read(process.stdout.fileno(), 4096):
        printed += chunk
        del printed[:-_LOG_BYTES]
        tail = re.split(rb"[\r\n]", bytes(printed[-400:]))
        percents = [
            found for line in tail if (found := progress_of(line.decode("utf-8", "replace").strip())) is not None
        ]
        if percents and percents[-1] != shown:
            shown = percents[-1]
            on_progress(shown)
    return printed.decode("utf-8", "replace")


def _end(pid: int) -> None:
    """End a process and the processes that it started, children first."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for child in children:
            _end(int(child))
        os.kill(pid, signal.SIGKILL)
    except (OSError, ValueError):
        return


def _collect(
    output: Path, workspace: Path, name: str, wanted: Sequence[str], version: CoreVersion, log: CompilerLog
) -> dict[str, bytes | str]:
    """Return the contents of the wanted files; the folders were empty before the run."""
    found = {path.name: path for path in output.iterdir() if path.is_file()}
    c_info = f"{name}_c_info.json"
    if not version.has_c_info_in_output and c_info not in found:
        left = sorted(workspace.rglob("c_info.json"))
        found |= {c_info: left[0]} if left else {}
    # A relocatable model stays where it was linked.
    found = {path.name: path for path in workspace.rglob("*_rel.bin")} | found
    contents: dict[str, bytes | str] = {}
    for file in wanted:
        path = found.get(file)
        if path is not None:
            contents[file] = _content(path, file)
        elif file.endswith(".raw"):
            contents[file] = b""
        elif file.endswith("_ecblobs.h"):
            contents[file] = _NO_BLOBS
        elif file.endswith(".h") or file.startswith("stai_"):
            contents[file] = "/* Not written by this release. */\n"
        else:
            last = f"; its last line: {log.lines[-1][:200]}" if log.lines else ""
            raise N6Error(
                "N6-STAI-040",
                f"stedgeai ended with status 0, but did not write {file}{last}",
                where=f"ST Edge AI Core {version.text}",
                hint="run `stedgeai --version` by hand: the installation may be broken",
            )
    return contents


def _content(path: Path, file: str) -> bytes | str:
    data = read_bytes(path)
    if file.endswith(".json"):
        return normalised_c_info(data, file)
    if file.endswith((".c", ".h")):
        return normalised_c(data.decode("utf-8", "replace"))
    return normalised_text(data.decode("utf-8", "replace")) if file.endswith(".txt") else data

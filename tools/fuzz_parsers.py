"""Damaged inputs for every parser of outside data.

    python tools/fuzz_parsers.py [TARGET...] --seconds N | --inputs N

Prints for each parser the number of inputs, of tracebacks and of hangs, and the longest time. The
parsers and their seeds are those of tests/fuzz. With --guided, coverage leads the mutations, by Atheris
in Python and by libFuzzer in C. Neither is installed by n6build.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "site_scons"), str(ROOT / "tests"), str(ROOT / "tools")]

# The process that Atheris leads, of a single target.
_GUIDED_HERE = "--guided-here"
if _GUIDED_HERE in sys.argv:
    import atheris

    # Only modules imported in the block report the lines that an input reaches.
    _instrumented: contextlib.AbstractContextManager[object] = atheris.instrument_imports(include=["n6build"])
else:
    _instrumented = contextlib.nullcontext()
with _instrumented:
    from fuzz.c_parsers import C_PARSERS, CParser, built
    from fuzz.c_parsers import tried as tried_on_host
    from fuzz.mutation import mutated
    from fuzz.target import Target, Trial, tried
    from fuzz.targets import TARGETS

# The firmware's parsers get so many inputs for each input of a Python parser, since they are faster.
_C_INPUTS_EACH = 10
_C_INPUTS = 1_000_000
_GUIDED_SECONDS = 60.0
# The last lines of libFuzzer and Atheris have it.
_EXECUTED = re.compile(r"stat::number_of_executed_units: (\d+)")
# A parser that needs more memory has no bound.
_MOST_MEMORY = 2 << 30
_SHOWN_BYTES = 200
# Files in this folder stay in memory.
_SCRATCH = Path("/dev/shm")


@dataclass
class Tally:
    """The results of one target.

    Attributes:
        inputs: Number of inputs.
        read: Number of inputs that were read without an error.
        tracebacks: Number of tracebacks.
        hangs: Number of hangs.
        slowest_s: Longest time in seconds.
        found: Place of a traceback or hang -> the trial, and the input.
    """

    inputs: int = 0
    read: int = 0
    tracebacks: int = 0
    hangs: int = 0
    slowest_s: float = 0.0
    found: dict[str, tuple[Trial, bytes]] = field(default_factory=dict)

    def add(self, trial: Trial, data: bytes) -> None:
        """Add a trial of an input."""
        self.inputs += 1
        self.read += trial.result == "read"
        self.slowest_s = max(self.slowest_s, trial.seconds)
        if trial.result in ("traceback", "hang"):
            self.tracebacks += trial.result == "traceback"
            self.hangs += trial.result == "hang"
            known = self.found.get(trial.where)
            if known is None or len(data) < len(known[1]):
                self.found[trial.where] = trial, data


def fuzzed(target: Target, seconds: float | None, inputs: int | None, seed: int, folder: Path) -> Tally:
    """Try the seeds of a target, then mutations of them.

    It ends after so many seconds or inputs.
    """
    random, tally, seeds = Random(f"{target.name} {seed}"), Tally(), list(target.seeds())
    end = time.monotonic() + seconds if seconds else None
    with _silent():
        for data in seeds:
            tally.add(tried(target, data, folder), data)
        while (end is None or time.monotonic() < end) and (inputs is None or tally.inputs < inputs):
            data = mutated(random.choice(seeds), seeds, target.words, random)
            tally.add(tried(target, data, folder), data)
    return tally


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Hide the output of parsers and of the libraries that they call."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        sys.stdout.flush()
        for number, file in enumerate(kept, 1):
            os.dup2(file, number)
            os.close(file)
        os.close(nowhere)


def guided(target: Target, seconds: float, folder: Path, keep: Path | None, seeds: Path | None) -> Tally:
    """Try inputs by Atheris, in a process of its own, because it ends its process."""
    command = [sys.executable, __file__, target.name, _GUIDED_HERE, str(folder), "--seconds", str(seconds)]
    command += [*(["--keep", str(keep)] if keep else []), *(["--seeds", str(seeds)] if seeds else [])]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return _guided_tally(done.returncode != 0, done.stdout + done.stderr, target.name)


def guided_here(target: Target, seconds: float, folder: Path, keep: Path | None) -> None:
    """Let Atheris lead this process, and end it."""

    def one(data: bytes) -> None:
        trial = tried(target, data, folder)
        if trial.result in ("traceback", "hang"):
            raise RuntimeError(trial.said)

    # Files of the parser are in the other folder.
    corpus = folder.with_name(f"{folder.name}-corpus")
    corpus.mkdir()
    for number, data in enumerate(target.seeds()):
        (corpus / str(number)).write_bytes(data)
    atheris.Setup([sys.argv[0], *_options(corpus, seconds, keep)], one)
    atheris.Fuzz()


def _options(corpus: Path, seconds: float, keep: Path | None) -> list[str]:
    """Return the arguments of a program of libFuzzer."""
    kept = [f"-artifact_prefix={keep}/"] if keep else ["-artifact_prefix=/dev/null/"]
    return [str(corpus), f"-max_total_time={int(seconds)}", "-timeout=10", "-print_final_stats=1", *kept]


def _guided_tally(failed: bool, said: str, name: str) -> Tally:
    executed = _EXECUTED.search(said)
    tally = Tally(int(executed[1]) if executed else 0)
    if failed:
        tally.hangs, tally.tracebacks = (1, 0) if "libFuzzer: timeout" in said else (0, 1)
        tally.found[name] = Trial("traceback", 0.0, said, name), b""
    return tally


def guided_on_host(parser: CParser, seconds: float, folder: Path, keep: Path | None) -> Tally:
    """Try a parser of the firmware by libFuzzer; a sanitizer's report is a traceback."""
    program, corpus, seed = built(parser, folder, guided=True), folder / "corpus", folder / "seed"
    corpus.mkdir()
    seed.write_bytes(parser.seed())
    # Choices of the random programs: libFuzzer begins with something, not with nothing.
    for number in range(16):
        (corpus / str(number)).write_bytes(Random(number).randbytes(2048))
    # The programs end messages by jumps, so that blocks of the parser stay reserved.
    environment = {**os.environ, "N6_SEED": str(seed), "ASAN_OPTIONS": "detect_leaks=0"}
    command = [str(program), *_options(corpus, seconds, keep), "-max_len=8192"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    return _guided_tally(done.returncode != 0, done.stderr, parser.program)


def fuzzed_on_host(parser: CParser, inputs: int, seed: int, folder: Path) -> Tally:
    """Try a parser of the firmware; a sanitizer's report counts as a traceback."""
    program = built(parser, folder)
    found = tried_on_host(parser, program, inputs, seed + 1)
    tally = Tally(found.inputs, found.reached, int(bool(found.said)))
    if found.said:
        tally.found[parser.program] = Trial("traceback", 0.0, found.said, parser.program), b""
    return tally


def _row(name: str, tally: Tally) -> str:
    slowest = f"{1000 * tally.slowest_s:.0f} ms" if tally.slowest_s else ""
    return f"| {name} | {tally.inputs:,} | {tally.tracebacks} | {tally.hangs} | {slowest} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all chosen parsers; return 1 if one had a traceback or a hang."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="part of a name; default: all")
    parser.add_argument("--seconds", type=float, help="for each target")
    parser.add_argument("--inputs", type=int, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    parser.add_argument("--keep", type=Path, help="folder for inputs that made a parser fail")
    parser.add_argument("--seeds", type=Path, help="folder of more sound inputs for the chosen targets in Python")
    parser.add_argument("--guided", action="store_true", help="let coverage lead the mutations")
    parser.add_argument(_GUIDED_HERE, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.guided_here:
        target = TARGETS[options.targets[0]]
        seeded = replace(target, seeds=partial(_seeds, target, options.seeds))
        guided_here(seeded, options.seconds, options.guided_here, options.keep)
    if options.guided and (shutil.which("clang") is None or importlib.util.find_spec("atheris") is None):
        parser.error(
            "libFuzzer or Atheris is not installed: on Debian, apt-get install clang libclang-rt-14-dev, and "
            ".venv/bin/python -m pip install atheris"
        )
    wrong = 0
    print("| parser | inputs | tracebacks | hangs | slowest |\n|---|---|---|---|---|", flush=True)
    for name, tally in _tallies(options):
        print(_row(name, tally), flush=True)
        for where, (trial, data) in tally.found.items():
            wrong += 1
            print(f"  {where}: {trial.said.strip().splitlines()[-1]}\n    {data[:_SHOWN_BYTES]!r}", file=sys.stderr)
            if options.keep and data:
                (options.keep / f"{name} {where}".replace("/", "_")).write_bytes(data)
    return min(wrong, 1)


def _tallies(options: argparse.Namespace) -> Iterator[tuple[str, Tally]]:
    """Yield the results of the chosen parsers, one after another."""
    seconds = options.seconds if options.seconds or options.inputs else 2.0
    guide_s = options.seconds or _GUIDED_SECONDS
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)

    def is_chosen(name: str) -> bool:
        return not options.targets or any(part in name for part in options.targets)

    for parser in filter(lambda each: is_chosen(each.name), C_PARSERS):
        with tempfile.TemporaryDirectory() as folder:
            if options.guided:
                yield parser.name, guided_on_host(parser, guide_s, Path(folder), options.keep)
                continue
            inputs = _C_INPUTS_EACH * options.inputs if options.inputs else _C_INPUTS
            yield parser.name, fuzzed_on_host(parser, inputs, options.seed, Path(folder))
    # The limit comes after the sanitizers, which need more address space.
    if not options.guided:
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for target in filter(lambda each: is_chosen(each.name), TARGETS.values()):
        with tempfile.TemporaryDirectory(dir=_SCRATCH if _SCRATCH.is_dir() else None) as folder:
            files = Path(folder, "files")
            files.mkdir()
            if options.guided:
                yield target.name, guided(target, guide_s, files, options.keep, options.seeds)
            else:
                seeded = replace(target, seeds=partial(_seeds, target, options.seeds))
                yield target.name, fuzzed(seeded, seconds, options.inputs, options.seed, files)


def _seeds(target: Target, more: Path | None) -> list[bytes]:
    """Return the sound inputs of a target, and the files of a folder."""
    files = sorted(path for path in more.iterdir() if path.is_file()) if more else []
    return [*target.seeds(), *(path.read_bytes() for path in files)]


if __name__ == "__main__":
    sys.exit(main())

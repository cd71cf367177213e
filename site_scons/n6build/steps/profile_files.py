"""Profile of a run on the virtual board, printed and written as profile.json."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from n6build.base.console import show
from n6build.base.files import to_json, write_atomically
from n6build.board.virtual_board.profile import profile_lines, read_profile
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.choices import Trace
from n6build.steps.npu_trace_files import trace_output

_NAME = "profile.json"


def run_outputs(run: str, trace: Trace) -> tuple[str, ...]:
    """Return the outputs of a run: its result, also as JUnit XML, and its trace.

    Args:
        run: Path of run.json.
        trace: Record of the run that option trace asks for.
    """
    profile = (str(Path(run).with_name(_NAME)),) if trace == "profile" else ()
    return (run, str(Path(run).with_suffix(".xml")), *trace_output(run, trace), *profile)


@contextmanager
def profiled(boot: NorBoot, outputs: Sequence[Path], programs: Sequence[Path]) -> Iterator[NorBoot]:
    """Profile a run if the profile is one of its outputs.

    The profile is written even if the run fails, because it may show the cause.

    Args:
        boot: Images and options of the virtual board.
        outputs: Outputs of the step.
        programs: ELF files, for the names of functions.
    """
    output = next((each for each in outputs if each.name == _NAME), None)
    if output is None:
        yield boot
        return
    raw = boot.nor.with_name("profile.raw")
    # An emulator that does not start writes no file, and an old one must not pass for its own.
    raw.unlink(missing_ok=True)
    try:
        yield replace(boot, profile=raw)
    finally:
        # An emulator that did not end properly leaves an empty file.
        if raw.is_file() and raw.stat().st_size:
            profile = read_profile(raw, programs, boot.board.soc)
            write_atomically(output, to_json(asdict(profile)))
            show("\n".join(profile_lines(profile)))
            raw.unlink()

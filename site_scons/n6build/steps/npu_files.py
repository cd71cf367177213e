"""What the virtual board writes of its NPU in a run, in its folder, and the readable trace among a step's outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from n6build.base.files import is_file, read_lines, write_chunks_atomically
from n6build.hardware.board import Board
from n6build.npu.names import names_of
from n6build.npu.trace import TracedNetwork, trace_lines
from n6build.virtual_board.npu_files import NpuFiles


def trace_output(run: str, trace: str) -> tuple[str, ...]:
    """The file of the trace beside run.json; none without a trace."""
    return (str(Path(run).with_name("npu_trace.txt")),) if trace == "npu" else ()


@contextmanager
def npu_files(
    folder: Path, board: Board, networks: Sequence[TracedNetwork], traces: Sequence[Path], *, record: bool
) -> Iterator[NpuFiles]:
    """For one run. folder: of the virtual board. traces: the trace's output, or none. record: whether epochs are recorded. The
    trace is there after a run that fails, too, which may be why somebody asked for it."""
    files = NpuFiles(
        record=folder / "npu_record.jsonl" if record else None,
        trace=folder / "npu_trace.raw" if traces else None,
    )
    # An emulator that does not start leaves none, and an earlier one's must not pass for it.
    for path in (files.record, files.trace):
        if path is not None:
            path.unlink(missing_ok=True)
    try:
        yield files
    finally:
        if files.trace is not None and is_file(files.trace):
            raw = (line.decode("utf-8", "replace") for line in read_lines(files.trace))
            lines = trace_lines(raw, names_of(board.soc.npu), networks)
            write_chunks_atomically(traces[0], (f"{line}\n".encode() for line in lines))
            files.trace.unlink()

"""Files of the virtual board's NPU in a run: its record, and its readable trace.

The record is in the folder of the virtual board, and the trace is an output of the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from n6build.base.files import is_file, read_lines, write_chunks_atomically
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.describe.hardware.board import Board
from n6build.judge.npu.names import names_of
from n6build.judge.npu.trace import TracedNetwork, trace_lines

_NAME = "npu_trace.txt"


def trace_output(run: str, trace: str) -> tuple[str, ...]:
    """Return the trace file beside run.json, or nothing without a trace."""
    return (str(Path(run).with_name(_NAME)),) if trace == "npu" else ()


@contextmanager
def npu_files(
    folder: Path, board: Board, networks: Sequence[TracedNetwork], outputs: Sequence[Path], *, record: bool
) -> Iterator[NpuFiles]:
    """Provide the NPU files of one run.

    The trace is written even if the run fails, because it may show the cause.

    Args:
        folder: Folder of the virtual board.
        board: Board of the run.
        networks: Networks whose buffers the trace names.
        outputs: Outputs of the step; a trace is made if one of them is its file.
        record: Epochs are recorded.
    """
    output = next((each for each in outputs if each.name == _NAME), None)
    files = NpuFiles(
        record=folder / "npu_record.jsonl" if record else None,
        trace=folder / "npu_trace.raw" if output else None,
    )
    # Remove files of an earlier run: an emulator that does not start writes none, and old ones must not pass for its own.
    for path in (files.record, files.trace):
        if path is not None:
            path.unlink(missing_ok=True)
    try:
        yield files
    finally:
        if output and files.trace and is_file(files.trace):
            raw = (line.decode("utf-8", "replace") for line in read_lines(files.trace))
            lines = trace_lines(raw, names_of(board.soc.npu), networks)
            write_chunks_atomically(output, (f"{line}\n".encode() for line in lines))
            files.trace.unlink()

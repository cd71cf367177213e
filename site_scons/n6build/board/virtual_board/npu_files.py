"""Files by which the emulator records the NPU and exchanges tensors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NpuFiles:
    """Files of a run; None leaves a file out.

    Attributes:
        record: Written: JSON lines of epochs (`npu_record.py`).
        trace: Written: lines of text in the order of events.
        tensors: Read: a line for each tensor that is put into memory, from the file with `.in` after
            its name, or got from memory, to the file with `.out`. The file with `.done` has the numbers
            of the completed lines.
    """

    record: Path | None = None
    trace: Path | None = None
    tensors: Path | None = None

    @property
    def properties(self) -> dict[str, Path]:
        """Return the files by the names of QEMU's machine properties."""
        paths = {"npu-record": self.record, "npu-trace": self.trace, "npu-tensors": self.tensors}
        return {name: path for name, path in paths.items() if path is not None}


NO_FILES = NpuFiles()

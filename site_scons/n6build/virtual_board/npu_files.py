"""Files by which the emulator tells what the NPU did, and exchanges tensors with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NpuFiles:
    """None: without it. record: written, JSON lines of epochs (`npu_record.py`). trace: written, lines of text in the order of
    events. tensors: read, a line for each tensor that is put into memory, from the file with `.in` behind its name, or got from
    it, to the one with `.out`."""

    record: Path | None = None
    trace: Path | None = None
    tensors: Path | None = None

    @property
    def properties(self) -> dict[str, Path]:
        """Of QEMU's machine, by name."""
        paths = {"npu-record": self.record, "npu-trace": self.trace, "npu-tensors": self.tensors}
        return {name: path for name, path in paths.items() if path is not None}


NO_FILES = NpuFiles()

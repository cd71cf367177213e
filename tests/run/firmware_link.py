"""The firmware's side of the link, n6_link.c, as a program of this computer.

It reads the bytes of the line and writes its answers.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from n6build.base.c_format import header_text
from n6build.base.paths import FIRMWARE
from n6build.describe.formats import link

_HERE = Path(__file__).parent
_SOURCES = (
    _HERE / "link_board.c",
    *(FIRMWARE / name for name in ("appli/n6_link.c", "bring_up/n6_frame.c", "bring_up/n6_crc32.c")),
)
_INCLUDES = tuple(FIRMWARE / name for name in ("appli", "runtime", "bring_up"))
_RESTART = 0xFFFFFFFF
CPU_HZ = 64_000_000


@dataclass(frozen=True)
class Firmware:
    """A running firmware.

    Attributes:
        to_it: Pipe to the program.
        from_it: Pipe from the program.
    """

    to_it: IO[bytes]
    from_it: IO[bytes]

    def restart(self, input_bytes: int, output_bytes: int) -> None:
        """Restart with a network that has these numbers of input and output bytes."""
        self._send(struct.pack("<III", _RESTART, input_bytes, output_bytes))

    def hear(self, data: bytes) -> tuple[bytes, int]:
        """Return the answer to these bytes, and the number of inferences since the start."""
        self._send(struct.pack("<I", len(data)) + data)
        inferences, size = struct.unpack("<II", self.from_it.read(8))
        return self.from_it.read(size), inferences

    def _send(self, data: bytes) -> None:
        self.to_it.write(data)
        self.to_it.flush()


@contextmanager
def running_firmware(folder: Path, version: int = link.VERSION) -> Iterator[Firmware]:
    """Compile the firmware in this folder and run it until the block ends.

    Args:
        folder: An empty folder.
        version: Version of the firmware's protocol.
    """
    constants = (
        replace(each, value=version) if each.name == "N6_LINK_VERSION" else each for each in link.FORMAT.constants
    )
    header = header_text(replace(link.FORMAT, constants=tuple(constants)))
    (folder / link.FORMAT.header).write_text(header)
    (folder / "n6_board_clock.h").write_text(f"#define N6_CPU_HZ {CPU_HZ}u\n")
    program = folder / "link_board"
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", *(f"-I{each}" for each in _INCLUDES)]
    subprocess.run(["gcc", *flags, *map(str, _SOURCES), "-o", str(program)], check=True)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # The program ends with its input, which the end of the block closes.
        yield Firmware(process.stdin, process.stdout)

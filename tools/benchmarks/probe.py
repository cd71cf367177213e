"""Real debuggers at the virtual board's debug port."""

from __future__ import annotations

import os
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random

from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.probes import choose_programmer
from n6build.board.flash.sectors import sectors_of
from n6build.describe.hardware.boards import load_board
from patience import wait_until
from probe.real_tools import Server, openocd, probe_server, pyocd

from benchmarks.measure import Head, Rows

BOARD = load_board("nucleo-n657")
_GONE = re.compile(r"Debugger gone, (\d+) transfers")


def probe(kib: str = "320") -> Rows:
    """Yield what programming the NOR through real pyOCD and OpenOCD costs.

    Bytes are random, and each sector has 64 KiB. Transfers are words over the debug port.
    """
    data = Random(0).randbytes(int(kib) << 10)
    yield Head(("programmer", "KiB", "s", "KiB/s", "transfers", "bytes a transfer"))
    for kind, tool in (("pyocd", pyocd), ("openocd", openocd)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.environ["PATH"] = f"{tool().parent}:{os.environ['PATH']}"
            os.environ["XDG_STATE_HOME"] = str(folder / "state")
            with probe_server(folder / "server", BOARD.name) as server:
                port = {"pyocd": server.pyocd_port, "openocd": server.openocd_port}[kind]
                programmer = choose_programmer(f"{kind}:tcp-{port}", BOARD, folder)
                assert isinstance(programmer, ProbeProgrammer)
                begun = time.monotonic()
                # OpenOCD needs 0.2 ms for each word.
                patient = replace(programmer, kind=replace(programmer.kind, seconds_a_sector=60.0))
                patient.program(sectors_of([(BOARD.nor.base, data)], BOARD.nor.sector))
                spent = time.monotonic() - begun
                transfers = _transfers(server)
        yield kind, kib, f"{spent:.1f}", f"{int(kib) / spent:.1f}", str(transfers), f"{len(data) / transfers:.2f}"


def _transfers(server: Server) -> int:
    """Return the transfers of the debugger that has gone."""
    wait_until(lambda: any(_GONE.search(line) for line in server.lines), server.process)
    return sum(int(found[1]) for line in server.lines if (found := _GONE.search(line)))

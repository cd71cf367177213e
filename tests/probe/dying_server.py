"""A probe server that is killed behind a number of transfers.

It stands for a cable that is pulled. Arguments: that number, then the words of `n6build probe-server`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from unittest.mock import patch

from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.cli.probe_server import probe_server

LAST = int(sys.argv[1])


class DyingPort(VirtualDebugPort):
    """A debug port that carries out the first words of a transfer that is too long."""

    def read_dp(self, register: int) -> int:
        self._spend(1)
        return super().read_dp(register)

    def write_dp(self, register: int, value: int) -> None:
        self._spend(1)
        super().write_dp(register, value)

    def read_ap(self, register: int, count: int = 1) -> list[int]:
        if left := self._spend(count):
            super().read_ap(register, left)
            self._die()
        return super().read_ap(register, count)

    def write_ap(self, register: int, values: Sequence[int]) -> None:
        if left := self._spend(len(values)):
            super().write_ap(register, values[:left])
            self._die()
        super().write_ap(register, values)

    def _spend(self, count: int) -> int:
        """Return how many transfers are left if these are too many, else 0."""
        if self.transfers + count <= LAST:
            return 0
        if self.transfers >= LAST:
            self._die()
        return LAST - self.transfers

    def _die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    with patch("n6build.board.probe.board.VirtualDebugPort", DyingPort):
        probe_server(sys.argv[2:])

"""A front of the probe server: the protocol of one kind of debugger."""

from __future__ import annotations

from typing import Protocol


class Front(Protocol):
    """A connection of a debugger.

    Attributes:
        uses_board: Whether it has begun to use the board. One debugger at a time does.
        is_done: Whether the connection is to be closed.
    """

    uses_board: bool
    is_done: bool

    def answer(self, received: bytes, is_free: bool) -> bytes:
        """Return the answer to bytes of the debugger.

        Args:
            is_free: Whether no other debugger uses the board.

        Raises:
            BoardGone: N6-PROBE-003.
        """

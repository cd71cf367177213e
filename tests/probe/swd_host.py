"""A debugger's end of SWD, as characters of remote_bitbang."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.board.probe.openocd_front import OpenocdFront

OK, FAULT, NOTHING = 0b001, 0b100, 0b111
JTAG_TO_SWD, SWD_TO_JTAG = 0xE79E, 0xE73C
DPIDR = 0


@dataclass(frozen=True)
class Answer:
    """Acknowledgement of a transfer, and the value that a read returns."""

    ack: int
    value: int = 0


class SwdHost:
    """A debugger that has chosen SWD."""

    def __init__(self, front: OpenocdFront) -> None:
        self.front = front
        self._ask("O")
        self.write_bits((1 << 50) - 1, 50)
        self.write_bits(JTAG_TO_SWD, 16)
        self.reset_line()

    def reset_line(self, ones: int = 50) -> None:
        self.write_bits((1 << ones) - 1, ones)
        self.write_bits(0, 2)

    def read(self, is_ap: bool, register: int) -> Answer:
        """Read a register.

        A read has all its clocks, also if the chip sends no data.
        """
        self.write_bits(request(is_ap, True, register), 8)
        self._ask("o")
        bits = self.read_bits(1 + 3 + 33 + 1) >> 1
        self._ask("O")
        ack, value = bits & 7, bits >> 3 & 0xFFFF_FFFF
        if ack == OK:
            assert bits >> 35 & 1 == value.bit_count() & 1
            return Answer(OK, value)
        return Answer(ack)

    def write(self, is_ap: bool, register: int, value: int, wrong_parity: bool = False, data: bool = True) -> Answer:
        self.write_bits(request(is_ap, False, register), 8)
        self._ask("o")
        ack = self.read_bits(1 + 3 + 1) >> 1 & 7
        self._ask("O")
        if data:
            self.write_bits(value | (value.bit_count() + wrong_parity & 1) << 32, 33)
        return Answer(ack)

    def write_bits(self, value: int, count: int) -> None:
        for i in range(count):
            bit = value >> i & 1
            self._ask("de"[bit] + "fg"[bit])

    def read_bits(self, count: int) -> int:
        return sum(int(self._ask("dcf")) << i for i in range(count))

    def _ask(self, text: str) -> bytes:
        return self.front.answer(text.encode(), is_free=True)


def request(is_ap: bool, reads: bool, register: int) -> int:
    """Return the eight bits that begin a transfer."""
    told = is_ap << 1 | reads << 2 | (register & 0xC) << 1
    return 0x81 | told | (told.bit_count() & 1) << 5

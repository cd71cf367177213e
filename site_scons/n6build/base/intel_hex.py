"""Reading of Intel hex files, as tools and people make them.

All hex files are read through this module. Merged files are accepted: several start addresses,
which are not content and are skipped; several files one after another, each with its end; the same
bytes twice. The format is the public one: a colon, then length, address, type, data and checksum as
hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.base.files import require_at_most, require_content
from n6build.base.regular_file import open_regular
from n6build.base.span import Span

# Value of the bytes of an erased flash.
ERASED = 0xFF
_PAGE = 1 << 16
# Characters of a line: colon, length, address, type, 255 bytes of data and checksum, with some space at the end.
_LONGEST_LINE = 600
# Characters of a file for each byte of content: a record of 16 bytes has 44 characters, shorter records have more for a byte.
_CHARACTERS_A_BYTE = 3
_DATA, _END, _SEGMENT, _START_SEGMENT, _LINEAR, _START_LINEAR = range(6)
_BYTES_OF_TYPE = {_END: 0, _SEGMENT: 2, _START_SEGMENT: 4, _LINEAR: 2, _START_LINEAR: 4}


class HexMemory:
    """The bytes of a hex file by address, in pages.

    Args:
        most: Largest number of bytes that the content may take.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._pages: dict[int, tuple[bytearray, bytearray]] = {}

    @property
    def start(self) -> int:
        """Return the lowest address that holds a byte; 0 if none does."""
        return min((span.address for span in self.spans()), default=0)

    @property
    def end(self) -> int:
        """Return the address behind the highest byte; 0 if there is none."""
        return max((span.end for span in self.spans()), default=0)

    def spans(self) -> list[Span]:
        """Return the ranges that hold bytes, as long as possible, in ascending order."""
        found: list[Span] = []
        for number in sorted(self._pages):
            held = self._pages[number][1]
            begin = held.find(1)
            while begin >= 0:
                end = held.find(0, begin)
                end = _PAGE if end < 0 else end
                address = number * _PAGE + begin
                if found and found[-1].end == address:
                    address = found.pop().address
                found.append(Span(address, number * _PAGE + end - address))
                begin = held.find(1, end)
        return found

    def chunks(self, begin: int, end: int) -> Iterator[bytes]:
        """Yield [begin, end) in pieces of at most 64 KiB, erased where nothing is."""
        for page in range(begin - begin % _PAGE, end, _PAGE):
            first, last = max(begin - page, 0), min(end - page, _PAGE)
            held = self._pages.get(page // _PAGE)
            yield bytes(held[0][first:last]) if held else bytes([ERASED]) * (last - first)

    def put(self, address: int, data: bytes) -> None:
        """Store bytes at an address.

        Raises:
            ValueError: An address already holds another byte, or there are more pages than allowed.
        """
        while data:
            number, first = divmod(address, _PAGE)
            part, data = data[: _PAGE - first], data[_PAGE - first :]
            if number not in self._pages:
                # Content of `most` bytes may touch one more page at each end.
                if len(self._pages) * _PAGE >= self._most + 2 * _PAGE:
                    raise ValueError(f"has more than {self._most} bytes, or they are too far apart")
                self._pages[number] = bytearray([ERASED]) * _PAGE, bytearray(_PAGE)
            content, held = self._pages[number]
            last = first + len(part)
            if held.find(1, first, last) >= 0:
                for at, byte in enumerate(part, first):
                    if held[at] and content[at] != byte:
                        raise ValueError(f"data overlap at address 0x{number * _PAGE + at:X}")
            content[first:last] = part
            held[first:last] = b"\1" * len(part)
            address += len(part)


def read_intel_hex(path: Path, most: int) -> HexMemory:
    """Read an Intel hex file.

    Args:
        path: The file.
        most: Largest number of bytes of content.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003 or N6-FILE-006 if the file cannot be read, is too large or
            was not downloaded;
            N6-HEX-001, with the line, if a record is damaged or contradicts an earlier one.
    """
    require_at_most(path, _CHARACTERS_A_BYTE * most)
    require_content(path)
    memory = HexMemory(most)
    base = 0
    for number, line in _lines(path):
        text = line.strip()
        if not text or text == b"\x1a":
            continue
        try:
            kind, address, data = _record(text)
            if kind == _DATA:
                memory.put(base + address, data)
            elif kind == _END:
                base = 0
            elif kind in (_SEGMENT, _LINEAR):
                base = int.from_bytes(data, "big") << (4 if kind == _SEGMENT else 16)
        except ValueError as error:
            what = f"is not an Intel hex file: {error}"
            raise N6Error("N6-HEX-001", what, where=f"{path.name}:{number}", hint="generate the file again") from error
    return memory


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    uses.note("content", path)
    try:
        with open_regular(path) as file:
            # A file without line ends must not become one line in memory.
            yield from enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1)
    except OSError as error:
        raise N6Error("N6-FILE-002", f"cannot read: {error.strerror}", where=str(path)) from error


def _record(text: bytes) -> tuple[int, int, bytes]:
    """Return type, address and data of a line, or raise ValueError."""
    if text[:1] != b":":
        raise ValueError("the line does not begin with a colon")
    if not text[1:].isalnum():
        raise ValueError("the line is not in hexadecimal digits")
    record = bytes.fromhex(text[1:].decode("ascii"))
    if len(record) < 5 or len(record) != record[0] + 5:
        raise ValueError(
            f"the line has {len(record)} bytes, but its length field means {record[0] + 5 if record else 5}"
        )
    if sum(record) & 0xFF:
        raise ValueError("the line has an invalid checksum")
    kind, data = record[3], record[4:-1]
    if kind != _DATA and _BYTES_OF_TYPE.get(kind) != len(data):
        raise ValueError(f"the line is of type {kind} with {len(data)} bytes")
    return kind, int.from_bytes(record[1:3], "big"), data

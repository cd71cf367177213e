"""What a probe's board is believed to hold: per sector a hash. Replaced only after the sectors were verified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from n6build.files import sha256, to_json, write_atomically


@dataclass(frozen=True)
class BoardRecord:
    """sectors: address in the memory-mapped window -> SHA-256 of the whole sector."""

    board: str
    sectors: Mapping[int, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        return sha256(_as_json(self).encode())


def read_record(path: Path, board: str) -> BoardRecord:
    """A record that is missing, damaged or of another board means that nothing is known: every sector is programmed."""
    try:
        values = json.loads(path.read_text(encoding="ascii"))
        sectors = {int(address, 16): str(digest) for address, digest in values["sectors"].items()}
        return BoardRecord(board, sectors) if values["board"] == board else BoardRecord(board)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return BoardRecord(board)


def write_record(path: Path, record: BoardRecord) -> None:
    write_atomically(path, _as_json(record), durable=True)


def without(record: BoardRecord, addresses: list[int]) -> BoardRecord:
    """The record while these sectors are being programmed: nothing is known of them."""
    gone = set(addresses)
    return BoardRecord(record.board, {address: held for address, held in record.sectors.items() if address not in gone})


def _as_json(record: BoardRecord) -> str:
    sectors = {f"0x{address:08X}": digest for address, digest in sorted(record.sectors.items())}
    return to_json({"board": record.board, "sectors": sectors})

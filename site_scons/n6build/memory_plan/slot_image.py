"""Data in a flash slot: the bytes, then a trailer that tells an erased, a truncated, a wrong and a damaged image apart.

The trailer follows the data because weights that are read in place have to begin at the address of their memory pool. It stays
with the data, so that new weights leave the Appli unchanged.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from n6build.formats.slot_trailer import ALIGNMENT, MAGIC, TRAILER

TRAILER_BYTES = TRAILER.size


def trailer_offset(data_bytes: int) -> int:
    """From the start of the slot, aligned to ALIGNMENT, in bytes."""
    return -(-data_bytes // ALIGNMENT) * ALIGNMENT


def slot_image(chunks: Iterable[bytes], signature: int) -> Iterator[bytes]:
    """The image in pieces. chunks: of the data, which may be larger than memory. signature: 32 bits that the Appli expects, so
    that data of another network is refused."""
    size = crc32 = 0
    for chunk in chunks:
        size, crc32 = size + len(chunk), zlib.crc32(chunk, crc32)
        yield chunk
    yield bytes(trailer_offset(size) - size)
    yield TRAILER.pack(magic=int.from_bytes(MAGIC, "little"), bytes=size, crc32=crc32, signature=signature)


def weights_slot_file(raw: str, network: str, networks: int) -> str:
    """Name of the file that is programmed; with a single network it does not contain that network's name. raw: name of the file
    of stage 1, such as network_atonbuf.xSPI2.raw. networks: how many the application has."""
    pool = raw.removeprefix(f"{network}_atonbuf").removesuffix(".raw").strip(".")
    return _slot_file("weights", pool, network, networks)


def vectors_slot_file(network: str, networks: int) -> str:
    """Name of the file that is programmed. networks: how many the application has."""
    return _slot_file("vectors", "", network, networks)


def _slot_file(kind: str, pool: str, network: str, networks: int) -> str:
    return "_".join(part for part in (network if networks > 1 else "", kind, pool) if part) + ".bin"
